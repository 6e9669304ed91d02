"""Raw, plus the last K screenshots before the current one, each under a caption with its true step.

The idea of a buffer of past screenshots is from section 7 of "Exploration and Exploitation Errors Are Measurable for
Language Model Agents".
"""

from collections.abc import Sequence

from oresight.harness.context.assembly import (
    Parts,
    message_tokens,
    observation_parts,
    parts_tokens,
    picture,
    system_message,
)
from oresight.harness.context.raw import with_chat
from oresight.harness.protocols import (
    DEFAULT_BUDGET,
    AnswerForm,
    ContextBudget,
    ImagePart,
    Message,
    Observation,
    TextPart,
    Turn,
)

DEFAULT_PICTURES = 8
# With the current one as many as the default budget takes.
MOST_PICTURES = DEFAULT_BUDGET.max_pictures - 1


class Screenshots:
    """At most K past pictures, oldest first; with K = 0 the same as `Raw`."""

    answer = AnswerForm()

    def __init__(self, instructions: str, pictures: int = DEFAULT_PICTURES) -> None:
        self.past_pictures = pictures
        self._system = system_message(instructions)

    def messages(
        self, history: Sequence[Turn], current: Observation, budget: ContextBudget = DEFAULT_BUDGET
    ) -> list[Message]:
        """Return the instructions, the chat, and the past pictures with the current one.

        Pictures have priority over the chat: where both do not fit, the chat is shortened.
        """
        now = observation_parts(history, current)
        room = budget.max_tokens - message_tokens((self._system, Message("user", now)))
        last = Message("user", self._past(history, budget.max_pictures - 1, room) + now)
        return with_chat(self._system, history, last, budget)

    def _past(self, history: Sequence[Turn], most: int, room_tokens: int) -> Parts:
        """Return the newest past pictures that fit, each under its caption, oldest first."""
        # A slice from -0 would be everything.
        first = max(len(history) - min(self.past_pictures, most), 0)
        parts: Parts = ()
        for index in range(len(history) - 1, first - 1, -1):
            seen = history[index].observation
            if seen.image is None:
                continue
            part = picture(history[index - 1] if index else None, seen)
            captioned: Parts = (TextPart(caption(part)), part)
            room_tokens -= parts_tokens(captioned)
            if room_tokens < 0:
                break
            parts = captioned + parts
        return parts


def caption(part: ImagePart) -> str:
    """Return the line above a past picture."""
    if part.action is None:
        return f"Earlier picture, step {part.step}, at the start:"
    return f"Earlier picture, step {part.step}, after {part.action}: {part.outcome}"
