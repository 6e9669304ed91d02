"""Any of the given actions, each as likely as the other, whatever is seen."""

import random
from collections.abc import Sequence

from oresight.harness.protocols import Decision, Message


class RandomAgent:
    """Draws from a generator of its own for every step, so that a decision depends on nothing but seed and step."""

    def __init__(self, seed: int, actions: Sequence[str]) -> None:
        self._seed = seed
        self._actions = tuple(actions)

    async def act(self, messages: Sequence[Message], step: int, actions: Sequence[str] = ()) -> Decision:
        """See `Agent.act`."""
        # Only `random()` is promised to give the same numbers on every version of Python.
        draw = random.Random(f"random:{self._seed}:{step}").random()
        return Decision(self._actions[int(draw * len(self._actions))])
