"""Worlds by name. A world has a folder here, or comes from elsewhere by an entry point or as `module:Class`."""

from collections.abc import Mapping, Sequence
from typing import Any

from oresight.harness.errors import ReplayRefusedError, UsageError
from oresight.harness.registry import Registry
from oresight.harness.worlds.base import Branch as Branch
from oresight.harness.worlds.base import EpisodeRequest as EpisodeRequest
from oresight.harness.worlds.base import Size as Size
from oresight.harness.worlds.base import World as World
from oresight.harness.worlds.base import own_version as own_version
from oresight.harness.worlds.prompts import OwnPrompts
from oresight.scoring import records

GROUP = "oresight.worlds"
BUNDLED: Mapping[str, str] = {
    "craft": "oresight.harness.worlds.craft.world:CraftWorld",
    "grid": "oresight.harness.worlds.grid.world:GridWorld",
}
_REGISTRY = Registry("world", GROUP, BUNDLED)


def world_names() -> list[str]:
    """Return the names of all worlds that are installed, the bundled ones first."""
    return _REGISTRY.names()


def find_world(name: str) -> type[World]:
    """Return a world by its name, or as `package.module:Class`.

    Raises:
        UsageError: There is no such name, or it is not a world.
    """
    found: Any = _REGISTRY.find(name)
    if not (isinstance(found, type) and issubclass(found, World)):
        raise UsageError(f"world {name!r}: {found!r} is not a subclass of oresight's World; see docs/extending.md")
    if ":" in name and found.kind not in world_names():
        # What a record says of its world has to lead back to it.
        found.kind = name
    return found


def bundled_worlds() -> list[type[World]]:
    """Return the worlds that come along."""
    return [find_world(name) for name in BUNDLED]


def find_worlds(
    kind: str, names: Sequence[str], prompts: str | None = None, own: OwnPrompts | None = None
) -> tuple[World, ...]:
    """Return worlds by the names of their scenarios.

    Raises:
        UsageError: No such world, scenario or prompt set.
    """
    world = find_world(kind)
    return tuple(each for name in names for each in world.find(EpisodeRequest(name, prompts=prompts, own=own)))


def suite_names(kind: str, suite: str, seeds: Sequence[int] | None = None) -> list[str]:
    """Return the names of a suite's scenarios, for its own seeds or for others.

    Raises:
        UsageError: No such world or suite.
    """
    asked = EpisodeRequest(suite=suite, seeds=None if seeds is None else tuple(seeds))
    return [world.name for world in find_world(kind).find(asked)]


def kind_of(suite: str | None = None, scenario: str | None = None) -> str | None:
    """Return the name of the world that has a suite or a scenario, with or without its number; None if none has."""
    for name in world_names():
        try:
            if find_world(name).knows(suite, scenario):
                return name
        except UsageError:
            # Another package's world that cannot be imported; asking for it by name reports why.
            continue
    return None


def world_of_header(header: records.Header, prompts: str | None = None, own: OwnPrompts | None = None) -> World:
    """Return the world that a trajectory was recorded in.

    Args:
        header: The trajectory's.
        prompts: Name of a prompt set; None, without a user's own texts, for the recorded one where that is known.
        own: Texts in place of some of its parts.

    Raises:
        ReplayRefusedError: It was another terrain, or a world that is not known here.
        UsageError: There is no such prompt set.
    """
    try:
        world = find_world(header.kind)
    except UsageError as error:
        raise ReplayRefusedError(f"this is a trajectory of another world: {error}") from error
    return world.of_header(header, prompts, own)


def about(name: str) -> type[World]:
    """Return a world by its name for what is said of it, where it need not be installed any more."""
    try:
        return find_world(name)
    except UsageError:
        return _Gone


class _Gone(World):
    """Stands in for a world that is not installed here: its records can be read, and nothing be played."""

    title = "a world that is not installed here"
