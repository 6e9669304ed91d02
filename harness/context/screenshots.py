"""Raw, plus the last K screenshots before the current one, each under a caption with its true step.

The idea of a buffer of past screenshots is from section 7 of "Exploration and Exploitation Errors Are Measurable for
Language Model Agents".
"""

from collections.abc import Sequence

from harness.context.raw import CHAT_LIMIT_CHARACTERS, Raw, current_picture, picture
from harness.protocols import ImagePart, Message, Observation, TextPart, Turn

DEFAULT_PICTURES = 8


class Screenshots:
    """At most K past pictures, oldest first; with K = 0 the same as `Raw`."""

    def __init__(
        self,
        instructions: str,
        pictures: int = DEFAULT_PICTURES,
        limit_characters: int = CHAT_LIMIT_CHARACTERS,
    ) -> None:
        self.past_pictures = pictures
        self._raw = Raw(instructions, limit_characters)

    def messages(self, history: Sequence[Turn], current: Observation) -> list[Message]:
        """See `ContextStrategy.messages`."""
        parts: list[TextPart | ImagePart] = []
        # A slice from -0 would be everything.
        first = max(len(history) - self.past_pictures, 0)
        for index in range(first, len(history)):
            seen = history[index].observation
            if seen.image is not None:
                part = picture(history[index - 1] if index else None, seen)
                parts += [TextPart(caption(part)), part]
        parts.append(TextPart(current.text))
        if current.image is not None:
            parts.append(current_picture(history, current))
        return [*self._raw.chat(history), Message("user", tuple(parts))]


def caption(part: ImagePart) -> str:
    """The line above a past picture."""
    if part.action is None:
        return f"Earlier picture, step {part.step}, at the start:"
    return f"Earlier picture, step {part.step}, after {part.action}: {part.outcome}"
