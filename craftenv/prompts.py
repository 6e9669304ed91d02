"""The system prompts of the 3D world, put together from the files under assets/prompts/craft.

A prompt is an environment description, the table of actions, at most one strategy sentence (the only difference between
the four strategies), the request for reasoning where it is wanted, and the form of the answer.
"""

from collections.abc import Mapping
from typing import Literal

from oresight import assets
from oresight.craftenv.actions import ACTIONS

Strategy = Literal["base", "exploration", "exploitation", "balance"]
STRATEGIES: tuple[Strategy, ...] = ("base", "exploration", "exploitation", "balance")
# What one's own prompts may replace or add; the order is that of the prompt.
PARTS = ("environment", "actions", "strategy", "reasoning", "answer")
ACTIONS_MARK = "{actions}"


def system_prompt(strategy: Strategy = "base", reasoning: bool = False, own: Mapping[str, str] | None = None) -> str:
    """Return what a model is shown before the first decision.

    Args:
        strategy: What the strategy sentence asks for; "base" has none.
        reasoning: Whether reasoning is asked for before the answer.
        own: Texts in place of the bundled parts, by name; the table of actions stands wherever one says "{actions}". An
            empty text leaves its part out.

    Raises:
        ValueError: There is no such strategy or part.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")
    texts = dict(own or {})
    if unknown := texts.keys() - set(PARTS):
        raise ValueError(f"unknown parts {', '.join(sorted(unknown))} of a prompt; expected {', '.join(PARTS)}")
    wanted = ["environment", "actions", *(["reasoning"] if reasoning else []), "answer"]
    for name in wanted:
        texts.setdefault(name, _bundled(name))
    if strategy != "base":
        texts.setdefault("strategy", _bundled(strategy))
    prompt = "\n\n".join(text for name in PARTS if (text := texts.get(name, "").strip()))
    return prompt.replace(ACTIONS_MARK, action_table())


def action_table() -> str:
    """Return the declared actions, a line each."""
    return "\n".join(f"- {action.name}: {action.description}" for action in ACTIONS)


def _bundled(name: str) -> str:
    return assets.path("prompts", "craft", f"{name}.txt").read_text("utf-8")
