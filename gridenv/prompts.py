"""The system prompts of the grid world, put together from the files under assets/prompts/grid.

A prompt is an environment description, at most one strategy sentence (the only difference between the four strategies),
the request for reasoning where it is wanted, and the form of the answer.
"""

from collections.abc import Mapping
from typing import Literal

from oresight import assets
from oresight.gridenv.model import Visibility

Strategy = Literal["base", "exploration", "exploitation", "balance"]
STRATEGIES: tuple[Strategy, ...] = ("base", "exploration", "exploitation", "balance")
# What one's own prompts may replace or add; the order is that of the prompt.
PARTS = ("environment", "strategy", "reasoning", "answer")


def system_prompt(
    strategy: Strategy = "base",
    reasoning: bool = False,
    visibility: Visibility = "partial",
    own: Mapping[str, str] | None = None,
) -> str:
    """Return what a model is shown before the first turn.

    Args:
        strategy: What the strategy sentence asks for; "base" has none.
        reasoning: Whether reasoning is asked for before the answer.
        visibility: "full" describes the exploit-only setting.
        own: Texts in place of the bundled parts, by name; an empty text leaves its part out.

    Raises:
        ValueError: There is no such strategy or part.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")
    texts = dict(own or {})
    if unknown := texts.keys() - set(PARTS):
        raise ValueError(f"unknown parts {', '.join(sorted(unknown))} of a prompt; expected {', '.join(PARTS)}")
    texts.setdefault("environment", _bundled("environment_full" if visibility == "full" else "environment"))
    if strategy != "base":
        texts.setdefault("strategy", _bundled(strategy))
    if reasoning:
        texts.setdefault("reasoning", _bundled("reasoning"))
    texts.setdefault("answer", _bundled("answer"))
    return "\n\n".join(text for name in PARTS if (text := texts.get(name, "").strip()))


def _bundled(name: str) -> str:
    return assets.path("prompts", "grid", f"{name}.txt").read_text("utf-8")
