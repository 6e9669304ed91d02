"""Turns on the spot for ever: it sees everything around it once, and then again."""

from collections.abc import Sequence

from oresight.harness.protocols import Decision, Message


class Spinner:
    """Always looks to the right; the world must have that action."""

    async def act(self, messages: Sequence[Message], step: int, actions: Sequence[str] = ()) -> Decision:
        """See `Agent.act`."""
        return Decision("look_right")
