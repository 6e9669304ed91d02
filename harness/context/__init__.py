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
from oresight.harness.registry import Registry

GROUP = "oresight.memories"
_NAME = re.compile(
    r"(?P<name>[A-Za-z0-9_.+-]+(?::[A-Za-z_][A-Za-z0-9_]*)?)(?:\((?P<number>[0-9]{1,4})\)|:(?P<colon>[0-9]{1,4}))?"
)


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


@dataclass(frozen=True)
class Memory:
    """A strategy as a command names it.

    Attributes:
        make: Makes a fresh one.
        number: The number that holds where its name gives none, and the greatest; None for one that takes none.
        needs_pictures: Whether it makes sense only where there are pictures to remember.
    """

    make: Callable[[Setup], ContextStrategy]
    number: tuple[int, int] | None = None
    needs_pictures: bool = False


def _structured(setup: Setup) -> ContextStrategy:
    if setup.digest is None:
        raise UsageError("memory 'structured' sums a world up, and this world has nothing that does; choose another")
    return Structured(setup.instructions, setup.digest)


STRATEGIES: dict[str, Memory] = {
    "raw": Memory(lambda setup: Raw(setup.instructions)),
    "window": Memory(lambda setup: Window(setup.instructions, setup.number), (DEFAULT_TURNS, MOST_TURNS)),
    "screenshots": Memory(
        lambda setup: Screenshots(setup.instructions, setup.number),
        (DEFAULT_PICTURES, MOST_PICTURES),
        needs_pictures=True,
    ),
    "structured": Memory(_structured),
    "list": Memory(lambda setup: ListHistory(setup.instructions, with_notes=False)),
    "list+notes": Memory(lambda setup: ListHistory(setup.instructions, with_notes=True)),
    "tree": Memory(lambda setup: TreeHistory(setup.instructions, with_notes=False)),
    "tree+notes": Memory(lambda setup: TreeHistory(setup.instructions, with_notes=True)),
}
_OTHERS = Registry("memory", GROUP, {})


def strategy_names() -> list[str]:
    """Return the names that a command accepts, as they stand in messages."""
    bundled = [f"{name}:N" if memory.number else name for name, memory in STRATEGIES.items()]
    return [*bundled, *_OTHERS.names()]


def canonical_name(text: str) -> str:
    """Return the one spelling of a strategy's name, as it is recorded: `raw`, `screenshots(8)`, `window(8)`.

    Raises:
        UsageError: There is no such strategy, or its number is wrong.
    """
    name, memory, number = _found(text)
    return f"{name}({number})" if memory.number else name


def needs_pictures(text: str) -> bool:
    """Return whether a strategy makes sense only where there are pictures to remember.

    Raises:
        UsageError: There is no such strategy, or its number is wrong.
    """
    return _found(text)[1].needs_pictures


def make_strategy(text: str, instructions: str, digest: Digest | None = None) -> ContextStrategy:
    """Make a new strategy by name.

    Args:
        text: `raw`, `list+notes`, `screenshots`, `screenshots:4` or `screenshots(4)`; or one's own, by the name of its
            entry point or as `package.module:Class`, which is called with a `Setup`.
        instructions: The system message.
        digest: That of the world, for `structured`.

    Raises:
        UsageError: There is no such strategy, its number is wrong, or `structured` is given no digest.
    """
    _, memory, number = _found(text)
    return memory.make(Setup(instructions, number, digest))


def _found(text: str) -> tuple[str, Memory, int]:
    match = _NAME.fullmatch(text)
    if match is None:
        raise UnknownNameError("memory", text, strategy_names())
    name, digits = match["name"], match["number"] or match["colon"]
    memory = STRATEGIES.get(name) or _other(text, name)
    if memory.number is None:
        if digits is not None:
            raise UsageError(f"memory {name!r} takes no number, found {text!r}; use it without one")
        return name, memory, 0
    usual, most = memory.number
    number = usual if digits is None else int(digits)
    if number > most:
        raise UsageError(f"memory {text!r}: {name} takes a number from 0 to {most}")
    return name, memory, number


def _other(text: str, name: str) -> Memory:
    """Return a memory that is not bundled; its class may have `number` and `needs_pictures` as a `Memory` does."""
    if ":" not in name and name not in _OTHERS.names():
        raise UnknownNameError("memory", text, [*strategy_names(), "package.module:Class"])
    made = _OTHERS.find(name)
    return Memory(made, getattr(made, "number", None), bool(getattr(made, "needs_pictures", False)))
