"""The chat so far, text only for past turns, and the current screenshot alone."""

import json
from collections.abc import Sequence

from harness.protocols import ImagePart, Message, Observation, TextPart, Turn

# Past turns are dropped, the oldest first, once their text is longer than this; some 50,000 tokens.
CHAT_LIMIT_CHARACTERS = 200_000


class Raw:
    """Instructions, the past turns that fit, the current observation."""

    past_pictures = 0

    def __init__(self, instructions: str, limit_characters: int = CHAT_LIMIT_CHARACTERS) -> None:
        self._instructions = instructions
        self._limit_characters = limit_characters

    def messages(self, history: Sequence[Turn], current: Observation) -> list[Message]:
        """See `ContextStrategy.messages`."""
        parts: tuple[TextPart | ImagePart, ...] = (TextPart(current.text),)
        if current.image is not None:
            parts += (current_picture(history, current),)
        return [*self.chat(history), Message("user", parts)]

    def chat(self, history: Sequence[Turn]) -> list[Message]:
        """The instructions and the past turns that fit, in text alone."""
        kept: list[Message] = []
        characters = 0
        for turn in reversed(history):
            reply = reply_text(turn)
            characters += len(turn.observation.text) + len(reply)
            if characters > self._limit_characters:
                break
            kept.append(Message("assistant", (TextPart(reply),)))
            kept.append(Message("user", (TextPart(turn.observation.text),)))
        return [Message("system", (TextPart(self._instructions),)), *reversed(kept)]


def reply_text(turn: Turn) -> str:
    """What the agent answered; an agent that says nothing is shown by its action alone."""
    return turn.decision.said or json.dumps({"action": turn.decision.action})


def current_picture(history: Sequence[Turn], current: Observation) -> ImagePart:
    """The current screenshot, with the decision that led to it."""
    assert current.image is not None
    return picture(history[-1] if history else None, current)


def picture(led_to_it: Turn | None, seen: Observation) -> ImagePart:
    """The picture of an observation, labelled with the turn whose result it shows (none: the start)."""
    assert seen.image is not None
    if led_to_it is None:
        return ImagePart(seen.image, seen.step)
    return ImagePart(seen.image, seen.step, led_to_it.decision.action, led_to_it.outcome)
