"""Raw, with the last n turns alone: older ones are not shown at all."""

from collections.abc import Sequence

from oresight.harness.context.assembly import observation_parts, system_message
from oresight.harness.context.raw import with_chat
from oresight.harness.protocols import DEFAULT_BUDGET, AnswerForm, ContextBudget, Message, Observation, Turn

DEFAULT_TURNS = 8
MOST_TURNS = 9999


class Window:
    """Instructions, at most n past turns, the current observation; with n = 0 no past turn at all."""

    past_pictures = 0
    answer = AnswerForm()

    def __init__(self, instructions: str, turns: int = DEFAULT_TURNS) -> None:
        self._turns = turns
        self._system = system_message(instructions)

    def messages(
        self, history: Sequence[Turn], current: Observation, budget: ContextBudget = DEFAULT_BUDGET
    ) -> list[Message]:
        """Return the instructions, the last turns of the chat, and the current observation."""
        # A slice from -0 would be everything.
        shown = history[max(len(history) - self._turns, 0) :]
        return with_chat(self._system, shown, Message("user", observation_parts(history, current)), budget)
