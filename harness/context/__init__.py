"""Context strategies: what an agent is shown of what happened so far. One file each, all behind one protocol.

A strategy is a pure function of the history, the current observation and a budget, so that an episode which is replayed
and continued asks exactly what an undisturbed one would have asked.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from oresight.harness.context.list_history import ListHistory
from oresight.harness.context.raw import Raw
from oresight.harness.context.screenshots import DEFAULT_PICTURES, MOST_PICTURES, Screenshots
from oresight.harness.context.structured import Digest, Structured
from oresight.harness.context.tree_history import TreeHistory
from oresight.harness.context.window import DEFAULT_TURNS, MOST_TURNS, Window
from oresight.harness.errors import UnknownNameError, UsageError
from oresight.harness.protocols import ContextStrategy

_NAME = re.compile(r"(?P<name>[a-z+]+)(?:\((?P<number>[0-9]{1,4})\)|:(?P<colon>[0-9]{1,4}))?")


@dataclass(frozen=True)
class Setup:
    """What a strategy is made from.

    Attributes:
        instructions: The system message.
        number: That of its name, or its default; 0 where it takes none.
        digest: That of the world.
    """

    instructions: str
    number: int
    digest: Digest | None


def _structured(setup: Setup) -> ContextStrategy:
    if setup.digest is None:
        raise UsageError("memory 'structured' sums up a world and was given no world; choose raw or another memory")
    return Structured(setup.instructions, setup.digest)


STRATEGIES: dict[str, Callable[[Setup], ContextStrategy]] = {
    "raw": lambda setup: Raw(setup.instructions),
    "window": lambda setup: Window(setup.instructions, setup.number),
    "screenshots": lambda setup: Screenshots(setup.instructions, setup.number),
    "structured": _structured,
    "list": lambda setup: ListHistory(setup.instructions, with_notes=False),
    "list+notes": lambda setup: ListHistory(setup.instructions, with_notes=True),
    "tree": lambda setup: TreeHistory(setup.instructions, with_notes=False),
    "tree+notes": lambda setup: TreeHistory(setup.instructions, with_notes=True),
}
# The strategies that take a number, each with the one that holds where none is given, and the greatest.
TAKES_NUMBER = {"screenshots": DEFAULT_PICTURES, "window": DEFAULT_TURNS}
_MOST = {"screenshots": MOST_PICTURES, "window": MOST_TURNS}


def strategy_names() -> list[str]:
    """Names a command may give, as they stand in messages."""
    return [f"{name}:N" if name in TAKES_NUMBER else name for name in STRATEGIES]


def canonical_name(text: str) -> str:
    """The one spelling of a strategy's name, as it is recorded: `raw`, `screenshots(8)`, `window(8)`.

    Raises:
        UsageError: There is no such strategy, or its number is wrong.
    """
    name, number = _split(text)
    return f"{name}({number})" if name in TAKES_NUMBER else name


def needs_pictures(text: str) -> bool:
    """Whether a strategy makes sense only where there are pictures to remember.

    Raises:
        UsageError: There is no such strategy, or its number is wrong.
    """
    return _split(text)[0] == "screenshots"


def make_strategy(text: str, instructions: str, digest: Digest | None = None) -> ContextStrategy:
    """A fresh strategy by name.

    Args:
        text: `raw`, `list+notes`, `screenshots`, `screenshots:4` or `screenshots(4)`.
        instructions: The system message.
        digest: That of the world, for `structured`.

    Raises:
        UsageError: There is no such strategy, its number is wrong, or `structured` is given no digest.
    """
    name, number = _split(text)
    return STRATEGIES[name](Setup(instructions, number, digest))


def _split(text: str) -> tuple[str, int]:
    match = _NAME.fullmatch(text)
    if match is None or match["name"] not in STRATEGIES:
        raise UnknownNameError("memory", text, strategy_names())
    name, digits = match["name"], match["number"] or match["colon"]
    if name not in TAKES_NUMBER:
        if digits is not None:
            raise UsageError(f"memory {name!r} takes no number, found {text!r}; give it without one")
        return name, 0
    number = TAKES_NUMBER[name] if digits is None else int(digits)
    if number > _MOST[name]:
        raise UsageError(f"memory {text!r}: {name} takes a number from 0 to {_MOST[name]}")
    return name, number
