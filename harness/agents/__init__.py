"""Bundled agents, by name; each file is imported when its agent is chosen.

A bundled agent is a pure function of the messages it is shown and of a random generator derived from (seed, step).
"""

import importlib
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from oresight.harness.errors import MissingPartError, UnknownNameError, UsageError
from oresight.harness.protocols import Agent


@dataclass(frozen=True)
class AgentSetup:
    """What an agent may be made from.

    Attributes:
        seed: For its random choices.
        actions: Names of every action of the world, in table order.
        proof: Gives the full-knowledge solution of the scenario; for the oracle and the solver alone.
    """

    seed: int
    actions: tuple[str, ...]
    proof: Callable[[], Sequence[str]]


Factory = Callable[[AgentSetup], Agent]
_NAME = re.compile(r"([a-z][a-z-]*)(?:\(([^()]*)\))?")


def _random(setup: AgentSetup) -> Agent:
    from oresight.harness.agents.random_agent import RandomAgent

    return RandomAgent(setup.seed, setup.actions)


def _stuck(setup: AgentSetup) -> Agent:
    from oresight.harness.agents.stuck import Stuck

    return Stuck(setup.actions[0])


def _spinner(setup: AgentSetup) -> Agent:
    from oresight.harness.agents.spinner import Spinner

    return Spinner()


def _scout(setup: AgentSetup) -> Agent:
    try:
        from oresight.harness.agents.scout.scout import Scout
    except ImportError as error:
        raise MissingPartError(
            f"scout needs OpenCV, which cannot be loaded ({error}); on Debian or Ubuntu install the packages libgl1 and"
            " libglib2.0-0"
        ) from error
    return Scout(setup.seed)


def _oracle(setup: AgentSetup) -> Agent:
    from oresight.harness.agents.oracle import Oracle

    return Oracle(setup.proof())


def _random_way(setup: AgentSetup) -> Agent:
    from oresight.harness.agents.random_way import RandomWay

    return RandomWay(setup.seed)


def _depth_first(setup: AgentSetup) -> Agent:
    from oresight.harness.agents.grid.depth_first import DepthFirst

    return DepthFirst()


def _frontier(dials: str) -> Factory:
    from oresight.harness.agents.grid.frontier import Dials, Frontier

    chosen = Dials.parse(dials)
    return lambda setup: Frontier(setup.seed, chosen)


def _plain_frontier(setup: AgentSetup) -> Agent:
    return _frontier("")(setup)


def _solver(setup: AgentSetup) -> Agent:
    from oresight.harness.agents.oracle import Oracle

    return Oracle(setup.proof(), then=setup.actions[0])


AGENTS: dict[str, dict[str, Factory]] = {
    "craft": {"random": _random, "stuck": _stuck, "spinner": _spinner, "scout": _scout, "oracle": _oracle},
    "grid": {"random": _random_way, "depth-first": _depth_first, "frontier": _plain_frontier, "solver": _solver},
}
# Agents with dials, set in brackets after the name.
DIALLED: dict[str, Callable[[str], Factory]] = {"frontier": _frontier}


def agent_names(kind: str) -> list[str]:
    """Names a command may give for a kind of world, as they stand in messages."""
    dialled = [f"{name}(window=N,noise=P)" for name in AGENTS[kind] if name in DIALLED]
    return [*AGENTS[kind], *dialled, "package.module:Class"]


def canonical_agent(name: str, kind: str) -> str:
    """The one spelling of an agent's name, as it is recorded; one's own stays as it is.

    Raises:
        UsageError: The dials of a bundled agent are wrong.
    """
    if is_bundled(name, kind) and name.partition("(")[0] in DIALLED:
        from oresight.harness.agents.grid.frontier import Dials

        return Dials.parse(name.partition("(")[2].removesuffix(")")).name
    return name


def is_bundled(name: str, kind: str) -> bool:
    """Whether a name is that of an agent that comes with a kind of world."""
    match = _NAME.fullmatch(name)
    return match is not None and match[1] in AGENTS.get(kind, {}) and (match[2] is None or match[1] in DIALLED)


def find_agent(name: str, kind: str = "craft") -> Factory:
    """The factory of an agent: a bundled one's name, or `package.module:Class` for one's own.

    One's own class is called with an `AgentSetup` and is looked for in the current folder as well.

    Args:
        name: For example `scout`, or with dials `frontier(window=8,noise=0.1)`.
        kind: Of the world that it is to play in.

    Raises:
        UsageError: There is no such agent, or it does not play in this kind of world.
    """
    if kind not in AGENTS:
        raise UnknownNameError("world", kind, list(AGENTS))
    match = _NAME.fullmatch(name)
    if match is not None and is_bundled(name, kind):
        return AGENTS[kind][match[1]] if match[2] is None else DIALLED[match[1]](match[2])
    module_name, colon, class_name = name.partition(":")
    if not colon:
        elsewhere = [other for other in AGENTS if other != kind and is_bundled(name, other)]
        if elsewhere:
            known = ", ".join(agent_names(kind))
            raise UsageError(f"agent {name!r} plays {elsewhere[0]} and not {kind}; for {kind} there are {known}")
        raise UnknownNameError("agent", name, agent_names(kind))
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except (ImportError, ValueError, TypeError) as error:
        raise UsageError(f"agent {name!r}: module {module_name!r} cannot be imported ({error})") from error
    factory = getattr(module, class_name, None)
    if not callable(factory):
        raise UsageError(f"agent {name!r}: module {module_name!r} has no class {class_name!r}")
    return cast(Factory, factory)
