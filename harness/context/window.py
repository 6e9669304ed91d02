"""Raw, with the last n turns alone: older ones are not shown at all."""

from collections.abc import Sequence

from harness.context.raw import CHAT_LIMIT_CHARACTERS, Raw
from harness.protocols import Message, Observation, Turn

DEFAULT_TURNS = 8


class Window:
    """Instructions, at most n past turns, the current observation; with n = 0 no past turn at all."""

    past_pictures = 0

    def __init__(
        self, instructions: str, turns: int = DEFAULT_TURNS, limit_characters: int = CHAT_LIMIT_CHARACTERS
    ) -> None:
        self._turns = turns
        self._raw = Raw(instructions, limit_characters)

    def messages(self, history: Sequence[Turn], current: Observation) -> list[Message]:
        """See `ContextStrategy.messages`."""
        # A slice from -0 would be everything.
        return self._raw.messages(history[max(len(history) - self._turns, 0) :], current)
