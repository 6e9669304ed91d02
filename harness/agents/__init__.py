"""Bundled agents, by name; each file is imported when its agent is chosen.

A bundled agent is a pure function of the messages it is shown and of a random generator derived from (seed, step).
"""

import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from harness.errors import MissingPartError, UnknownNameError, UsageError
from harness.protocols import Agent


@dataclass(frozen=True)
class AgentSetup:
    """What an agent may be made from.

    Attributes:
        seed: For its random choices.
        actions: Names of every action of the world, in table order.
        proof: Gives the committed full-knowledge solution of the scenario; for the oracle alone.
    """

    seed: int
    actions: tuple[str, ...]
    proof: Callable[[], Sequence[str]]


def _random(setup: AgentSetup) -> Agent:
    from harness.agents.random_agent import RandomAgent

    return RandomAgent(setup.seed, setup.actions)


def _stuck(setup: AgentSetup) -> Agent:
    from harness.agents.stuck import Stuck

    return Stuck(setup.actions[0])


def _spinner(setup: AgentSetup) -> Agent:
    from harness.agents.spinner import Spinner

    return Spinner()


def _scout(setup: AgentSetup) -> Agent:
    try:
        from harness.agents.scout import Scout
    except ImportError as error:
        raise MissingPartError(
            f"scout needs OpenCV, which cannot be loaded ({error}); on Debian or Ubuntu install the packages libgl1 and"
            " libglib2.0-0"
        ) from error
    return Scout(setup.seed)


def _oracle(setup: AgentSetup) -> Agent:
    from harness.agents.oracle import Oracle

    return Oracle(setup.proof())


AGENTS: dict[str, Callable[[AgentSetup], Agent]] = {
    "random": _random,
    "stuck": _stuck,
    "spinner": _spinner,
    "scout": _scout,
    "oracle": _oracle,
}


def find_agent(name: str) -> Callable[[AgentSetup], Agent]:
    """The factory of an agent: a bundled one's name, or `package.module:Class` for one's own.

    One's own class is called with an `AgentSetup` and is looked for in the current folder as well.

    Raises:
        UsageError: There is no such agent.
    """
    if name in AGENTS:
        return AGENTS[name]
    module_name, colon, class_name = name.partition(":")
    if not colon:
        raise UnknownNameError("agent", name, [*AGENTS, "package.module:Class"])
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
    return cast(Callable[[AgentSetup], Agent], factory)
