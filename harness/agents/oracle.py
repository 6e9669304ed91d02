"""Plays a solution that was found with full knowledge of the world: for proofs, and as a ceiling in tables."""

from collections.abc import Sequence

from oresight.harness.protocols import Decision, Message


class Oracle:
    """Takes the actions of a solution one by one, and one and the same action once they are used up."""

    def __init__(self, solution: Sequence[str], then: str = "wait") -> None:
        self._solution = tuple(solution)
        self._then = then

    async def act(self, messages: Sequence[Message], step: int, actions: Sequence[str] = ()) -> Decision:
        """See `Agent.act`."""
        return Decision(self._solution[step - 1] if step <= len(self._solution) else self._then)
