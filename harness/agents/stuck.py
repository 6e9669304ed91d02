"""One action for ever: the agent that never notices that nothing happens."""

from collections.abc import Sequence

from oresight.harness.protocols import Decision, Message


class Stuck:
    """Repeats the action that it is given."""

    def __init__(self, action: str) -> None:
        self._action = action

    async def act(self, messages: Sequence[Message], step: int, actions: Sequence[str] = ()) -> Decision:
        """See `Agent.act`."""
        return Decision(self._action)
