"""Moves in a random direction among those it is shown, all equally likely."""

from collections.abc import Sequence

from oresight.harness.agents.baselines import NOTHING
from oresight.harness.agents.grid.messages import choose, draws, turns_told
from oresight.harness.agents.setup import AgentSetup
from oresight.harness.protocols import ActionSpace, Decision, Message


class RandomWay:
    """Reads nothing of the text but the directions."""

    def __init__(self, setup: AgentSetup) -> None:
        self._seed = setup.seed

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace = NOTHING) -> Decision:
        """Draw a direction."""
        ways = turns_told(messages[-1:])[-1].ways
        return Decision(choose(ways, draws("random", self._seed, step).random()))
