"""Name to environment: the one package that names the environment packages and the scorers that go with them.

One file per kind of world, imported when a world of that kind is asked for; what is common stands in `world`.
"""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from oresight.harness.errors import ReplayRefusedError, UnknownNameError
from oresight.harness.protocols import Json
from oresight.harness.worlds.base import Branch as Branch
from oresight.harness.worlds.base import Size as Size
from oresight.harness.worlds.base import World as World
from oresight.harness.worlds.base import own_version as own_version
from oresight.harness.worlds.prompts import OwnPrompts
from oresight.scoring import records

KINDS = ("craft", "grid")


def find_worlds(
    kind: str, names: Sequence[str], prompts: str | None = None, own: OwnPrompts | None = None
) -> tuple[World, ...]:
    """Worlds by the names of their scenarios.

    Args:
        kind: `craft` or `grid`.
        names: Of their scenarios.
        prompts: Name of a prompt set; None for the plain one.
        own: Texts in place of some of its parts.

    Raises:
        UsageError: No such kind, scenario or prompt set.
    """
    _check_kind(kind)
    worlds: tuple[World, ...] = _module(kind).find(names, prompts, own)
    return worlds


def kind_of(suite: str | None = None, scenario: str | None = None) -> str | None:
    """The kind of world that has a suite or a scenario, with or without its number; None if none has."""
    return next((kind for kind in KINDS if _module(kind).knows(suite, scenario)), None)


def prompt_parts(kind: str) -> tuple[str, ...]:
    """What the prompts of a kind of world are made of.

    Raises:
        UnknownNameError: There is no such kind.
    """
    _check_kind(kind)
    parts: tuple[str, ...] = _module(kind).PROMPT_PARTS
    return parts


def world_of_map(path: Path, prompts: str | None = None, own: OwnPrompts | None = None) -> World:
    """The grid world of a map file.

    Raises:
        UsageError: The map is malformed, or there is no such prompt set.
        OresightError: It cannot be read.
    """
    from oresight.harness.worlds.grid import world as worlds

    return worlds.of_map(path, prompts, own)


def suite_names(kind: str, suite: str, seeds: Sequence[int] | None = None) -> list[str]:
    """Names of a suite's scenarios, for its own seeds or for others.

    Raises:
        UsageError: No such kind or suite.
    """
    _check_kind(kind)
    names: list[str] = _module(kind).suite(suite, seeds)
    return names


def dial_levels() -> Json:
    """What each level of the 3D world's two demands means: for each demand and level its ranges, both ends in it."""
    from oresight.harness.worlds.craft import world as worlds

    return worlds.dial_levels()


def world_of_header(header: records.Header, prompts: str | None = None, own: OwnPrompts | None = None) -> World:
    """The world that a trajectory was recorded in.

    Args:
        header: The trajectory's.
        prompts: Name of a prompt set; None, without texts of one's own, for the recorded one where that is known.
        own: Texts in place of some of its parts.

    Raises:
        ReplayRefusedError: It was another terrain, or a world that is not known here.
        UsageError: There is no such prompt set.
    """
    if header.kind not in KINDS:
        raise ReplayRefusedError(f"this is a trajectory of kind {header.kind!r}; replay knows {', '.join(KINDS)}")
    world: World = _module(header.kind).of_header(header, prompts, own)
    return world


def opengl() -> tuple[str, str]:
    """Name and version of the OpenGL renderer that draws the pictures.

    Raises:
        MissingPartError: There is none; says what to install.
    """
    from oresight.harness.worlds.craft import world as worlds

    return worlds.opengl()


def on_desktop(world: World) -> World:
    """The same world, played through a real window.

    Raises:
        UsageError: It has none.
    """
    from oresight.harness.worlds.craft import desktop as desktops

    return desktops.on_desktop(world)


def desktop() -> str:
    """What would drive a real window.

    Raises:
        MissingPartError: There is no display, or it cannot be driven; says what to do.
    """
    from oresight.harness.worlds.craft import desktop as desktops

    return desktops.describe()


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise UnknownNameError("world", kind, list(KINDS))


def _module(kind: str) -> ModuleType:
    if kind == "grid":
        from oresight.harness.worlds.grid import world as grid

        return grid
    from oresight.harness.worlds.craft import world as craft

    return craft
