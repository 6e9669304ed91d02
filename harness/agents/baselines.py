"""Agents that read nothing: floors and ceilings for tables, and stand-ins for tests."""

import random
from collections.abc import Sequence

from oresight.harness.agents.setup import AgentSetup
from oresight.harness.errors import UsageError
from oresight.harness.protocols import ActionSpace, Choice, Decision, Message

NOTHING = Choice()


class RandomAgent:
    """Any of the actions, each as likely as the other.

    It draws from a generator of its own for every step, so that a decision depends on nothing but seed and step.
    """

    def __init__(self, setup: AgentSetup) -> None:
        if not setup.actions:
            raise UsageError("agent 'random' draws from a table of actions, and in this world actions are texts")
        self._seed = setup.seed
        self._actions = setup.actions

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace = NOTHING) -> Decision:
        """Draw."""
        # Only `random()` is promised to give the same numbers on every version of Python.
        draw = random.Random(f"random:{self._seed}:{step}").random()
        return Decision(self._actions[int(draw * len(self._actions))])


class Stuck:
    """The first action for ever: the agent that never notices that nothing happens."""

    def __init__(self, setup: AgentSetup) -> None:
        self._action = setup.actions[0]

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace = NOTHING) -> Decision:
        """Repeat it."""
        return Decision(self._action)


class Spinner:
    """Turns on the spot for ever: it sees everything around it once, and then again."""

    def __init__(self, setup: AgentSetup) -> None:
        pass

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace = NOTHING) -> Decision:
        """Look to the right."""
        return Decision("look_right")


class Oracle:
    """Takes the actions of a solution that was found with full knowledge, and then waits."""

    def __init__(self, setup: AgentSetup) -> None:
        self._solution = tuple(setup.proof())

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace = NOTHING) -> Decision:
        """Take the next one."""
        return Decision(self._solution[step - 1] if step <= len(self._solution) else self._then())

    def _then(self) -> str:
        return "wait"


class Solver(Oracle):
    """An oracle for a world without a waiting action: once its solution is used up, it repeats the first action."""

    def __init__(self, setup: AgentSetup) -> None:
        super().__init__(setup)
        self._first = setup.actions[0]

    def _then(self) -> str:
        return self._first
