"""What every strategy does alike: the fixed messages, estimates of their size, and keeping the newest that fit."""

import json
from collections.abc import Callable, Iterable, Sequence

from oresight.harness.protocols import (
    MESSAGE_TOKENS,
    PICTURE_TOKENS,
    ContextBudget,
    ImagePart,
    Message,
    Observation,
    TextPart,
    Turn,
    text_tokens,
)

Parts = tuple[TextPart | ImagePart, ...]


def system_message(instructions: str, sentence: str = "") -> Message:
    """Return the instructions, with what a strategy adds to them."""
    return Message("system", (TextPart(f"{instructions}\n\n{sentence}" if sentence else instructions),))


def observation_parts(history: Sequence[Turn], current: Observation) -> Parts:
    """Return the current observation: its text, and its picture where there is one."""
    text = TextPart(current.text)
    if current.image is None:
        return (text,)
    return (text, picture(history[-1] if history else None, current))


def picture(led_to_it: Turn | None, seen: Observation) -> ImagePart:
    """Return the picture of an observation, labelled with the turn whose result it shows (none: the start)."""
    assert seen.image is not None
    if led_to_it is None:
        return ImagePart(seen.image, seen.step)
    return ImagePart(seen.image, seen.step, led_to_it.decision.action, led_to_it.outcome)


def message_tokens(messages: Iterable[Message]) -> int:
    """Return the estimated tokens of messages, pictures included."""
    return sum(MESSAGE_TOKENS + parts_tokens(message.parts) for message in messages)


def parts_tokens(parts: Iterable[TextPart | ImagePart]) -> int:
    """Return the estimated tokens of the parts of a message."""
    return sum(text_tokens(part.text) if isinstance(part, TextPart) else PICTURE_TOKENS for part in parts)


def lines_tokens(lines: Iterable[str]) -> int:
    """Return the estimated tokens of lines, each with its line break."""
    return sum(text_tokens(f"{line}\n") for line in lines)


def picture_count(messages: Iterable[Message]) -> int:
    """Return how many pictures messages hold."""
    return sum(len(message.images) for message in messages)


def newest(lines: Sequence[str], room_tokens: int) -> list[str]:
    """Return the last of some lines that fit together, oldest first. Each is priced with its line break."""
    kept: list[str] = []
    for line in reversed(lines):
        room_tokens -= text_tokens(f"{line}\n")
        if room_tokens < 0:
            break
        kept.append(line)
    return kept[::-1]


def whole_characters(text: str) -> str:
    """Return a text that can be sent: half of a surrogate pair becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def quoted(text: str) -> str:
    """Quote a text of the model's own on one line, so that it cannot pass for anything else."""
    return json.dumps(whole_characters(text), ensure_ascii=False)


def with_record(
    system: Message, record: Callable[[int], Sequence[str]], extra: Sequence[str], now: Parts, budget: ContextBudget
) -> list[Message]:
    """Return the instructions, and one message with a record of what happened before the current observation.

    Args:
        system: The instructions.
        record: Returns the lines of the record, of at most the given number of tokens.
        extra: Lines below it, such as remarks on the last answer.
        now: The current observation; it comes last.
        budget: The bound; where not even `extra` fits, nothing but the observation is shown.
    """
    below = "".join(f"{line}\n" for line in extra)
    room = budget.max_tokens - message_tokens((system, Message("user", (*now, TextPart(below)))))
    if room < 0:
        return [system, Message("user", now)]
    lines = [*record(room), *extra]
    return [system, Message("user", (TextPart("\n".join(lines) + "\n"), *now) if lines else now)]


def list_lines(head: str, lines: Sequence[str], room_tokens: int) -> list[str]:
    """Return a heading, the newest lines that fit, and how many are left out; nothing where no line fits."""
    left_out = "({} earlier ones are left out)"
    kept = newest(lines, room_tokens - text_tokens(f"{head}\n"))
    if len(kept) < len(lines):
        room = room_tokens - text_tokens(f"{head}\n{left_out.format(len(lines))}\n")
        kept = newest(lines, room)
        kept = [left_out.format(len(lines) - len(kept)), *kept] if kept else []
    return [head, *kept] if kept else []
