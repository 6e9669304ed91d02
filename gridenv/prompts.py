"""The system prompts of the grid world, put together from the files under assets/prompts/grid.

A prompt is an environment description, at most one strategy sentence (the only difference between the four strategies),
the request for reasoning where it is wanted, and the form of the answer.
"""

from typing import Literal

import assets
from gridenv.model import Visibility

Strategy = Literal["base", "exploration", "exploitation", "balance"]
STRATEGIES: tuple[Strategy, ...] = ("base", "exploration", "exploitation", "balance")


def system_prompt(strategy: Strategy = "base", reasoning: bool = False, visibility: Visibility = "partial") -> str:
    """Return what a model is told before the first turn.

    Args:
        strategy: What the strategy sentence asks for; "base" has none.
        reasoning: Whether reasoning is asked for before the answer.
        visibility: "full" describes the exploit-only setting.

    Raises:
        ValueError: There is no such strategy.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")
    names = ["environment_full" if visibility == "full" else "environment"]
    if strategy != "base":
        names.append(strategy)
    if reasoning:
        names.append("reasoning")
    names.append("answer")
    return "\n\n".join(assets.path("prompts", "grid", f"{name}.txt").read_text("utf-8").strip() for name in names)
