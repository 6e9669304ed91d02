"""Agents by name. Bundled ones stand in the table of the world that they play in; others come by `module:Class`.

A bundled agent is a pure function of the messages it is shown and of a random generator derived from (seed, step).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from oresight.harness.agents.setup import AgentSetup as AgentSetup
from oresight.harness.agents.setup import Factory as Factory
from oresight.harness.errors import UsageError
from oresight.harness.registry import Registry
from oresight.harness.worlds import World, bundled_worlds

GROUP = "oresight.agents"
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_.:-]*)(?:\(([^()]*)\))?")


class Dialled(Protocol):
    """A factory of agents with dials, which stand in brackets after the name: `frontier(window=8,noise=0.1)`."""

    def with_dials(self, text: str) -> tuple[str, Factory]:
        """Return the one spelling of the dials with their brackets, empty for the usual ones, and the factory.

        Raises:
            UsageError: They are wrong.
        """


@dataclass(frozen=True)
class FoundAgent:
    """An agent that was found by its name.

    Attributes:
        name: The one spelling of it, as it is recorded.
        make: Its factory.
        bundled: Whether it comes with the world.
    """

    name: str
    make: Factory
    bundled: bool


def agent_names(world: type[World]) -> list[str]:
    """Return the names a command may give for a world, as they stand in messages."""
    return [*_registry(world).names(), "package.module:Class"]


def find_agent(name: str, world: type[World]) -> FoundAgent:
    """Return an agent: a bundled one's name, that of an entry point, or `package.module:Class` for one's own.

    The class is called with an `AgentSetup`.

    Args:
        name: For example `scout`, or with dials `frontier(window=8,noise=0.1)`.
        world: That it is to play in.

    Raises:
        UsageError: There is no such agent, it does not play in this world, or its dials are wrong.
        MissingPartError: Something that it needs is not installed.
    """
    registry = _registry(world)
    match = _NAME.fullmatch(name)
    plain, dials = (match[1], match[2]) if match is not None else (name, None)
    if ":" not in plain and plain not in registry.names():
        elsewhere = [other for other in bundled_worlds() if other is not world and plain in other.agents]
        if elsewhere:
            known = ", ".join(agent_names(world))
            raise UsageError(f"agent {name!r} plays {elsewhere[0].kind} and not {world.kind}; there are {known}")
    found: Any = registry.find(plain)
    if dials is None:
        return FoundAgent(plain, cast(Factory, found), plain in world.agents)
    with_dials: Callable[[str], tuple[str, Factory]] | None = getattr(found, "with_dials", None)
    if with_dials is None:
        raise UsageError(f"agent {plain!r} has no dials, found {name!r}; use it without brackets")
    spelling, make = with_dials(dials)
    return FoundAgent(f"{plain}{spelling}", make, plain in world.agents)


def _registry(world: type[World]) -> Registry:
    return Registry("agent", GROUP, world.agents)
