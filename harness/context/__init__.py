"""Context strategies: what an agent is shown of what happened so far. One file each, all behind one protocol."""

import re
from collections.abc import Callable

from harness.context.raw import Raw
from harness.context.screenshots import DEFAULT_PICTURES, Screenshots
from harness.context.window import DEFAULT_TURNS, Window
from harness.errors import UnknownNameError, UsageError
from harness.protocols import ContextStrategy

_NAME = re.compile(r"(?P<name>[a-z+]+)(?:\((?P<number>\d{1,3})\)|:(?P<colon>\d{1,3}))?")

STRATEGIES: dict[str, Callable[[str, int | None], ContextStrategy]] = {
    "raw": lambda instructions, number: Raw(instructions),
    "screenshots": lambda instructions, number: Screenshots(
        instructions, DEFAULT_PICTURES if number is None else number
    ),
    "window": lambda instructions, number: Window(instructions, DEFAULT_TURNS if number is None else number),
}
# The strategies that take a number, each with the one that holds where none is given.
TAKES_NUMBER = {"screenshots": DEFAULT_PICTURES, "window": DEFAULT_TURNS}


def strategy_names() -> list[str]:
    """Names a command may give, as they stand in messages."""
    return [f"{name}:N" if name in TAKES_NUMBER else name for name in STRATEGIES]


def canonical_name(text: str) -> str:
    """The one spelling of a strategy's name, as it is recorded: `raw`, `screenshots(8)`, `window(8)`.

    Raises:
        UsageError: There is no such strategy, or it takes no number.
    """
    name, number = _split(text)
    if name in TAKES_NUMBER:
        return f"{name}({TAKES_NUMBER[name] if number is None else number})"
    return name


def make_strategy(text: str, instructions: str) -> ContextStrategy:
    """A fresh strategy by name.

    Args:
        text: `raw`, `screenshots`, `screenshots:4` or `screenshots(4)`.
        instructions: The system message.

    Raises:
        UsageError: There is no such strategy, or it takes no number.
    """
    name, number = _split(text)
    return STRATEGIES[name](instructions, number)


def _split(text: str) -> tuple[str, int | None]:
    match = _NAME.fullmatch(text)
    if match is None or match["name"] not in STRATEGIES:
        raise UnknownNameError("memory", text, strategy_names())
    digits = match["number"] or match["colon"]
    if digits is not None and match["name"] not in TAKES_NUMBER:
        raise UsageError(f"memory {match['name']!r} takes no number, found {text!r}; give it without one")
    return match["name"], None if digits is None else int(digits)
