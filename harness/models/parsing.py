"""Reply to action: the last complete JSON object of the answer proper, its action compared whole.

Reasoning is not an answer: tagged reasoning is skipped, and what stands before a closing tag without an opening one was
reasoning too (some servers keep the opening tag to themselves). An object inside a string or inside
a broken object does not count: better ask again than run what the model merely mentioned.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from oresight.harness.protocols import ActionSpace

_NAMES = r"(?:[a-z]{1,8}:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis|scratchpad)"
_OPENING = re.compile(
    rf"<{_NAMES}(?:\s[^<>]*)?>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>(?:analysis|commentary)[^<]*<\|message\|>",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"</{_NAMES}\s*>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|end\|>|<\|channel\|>final[^<]*<\|message\|>",
    re.IGNORECASE,
)
_MARK = re.compile(rf"(?P<open>{_OPENING.pattern})|(?P<close>{_CLOSING.pattern})|(?P<brace>\{{)", re.IGNORECASE)
_BRACE = re.compile(r"[{}]")
_LOOKS_LIKE_OBJECT = re.compile(r"\{\s*[\"}]")
_SHOWN_CHARACTERS = 80
_PART_CHARACTERS = 256
# No token that the decoder looks at as a whole, a string apart, is longer.
_TOKEN_CHARACTERS = 16


@dataclass(frozen=True)
class Answer:
    """What a reply decided.

    Attributes:
        action: An admissible action.
        fields: Everything else in the object.
        said: The answer proper, reasoning taken out.
    """

    action: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    said: str = ""


@dataclass(frozen=True)
class Fault:
    """Why a reply decides nothing.

    Attributes:
        kind: In a few fixed words, for records.
        reason: For the model, briefly; it may quote it.
    """

    kind: str
    reason: str


def parse_answer(text: str, admissible: ActionSpace) -> Answer | Fault:
    """Parse a reply.

    Args:
        text: The answer as the protocol gives it; tagged reasoning may stand in it.
        admissible: What is admissible now.
    """
    said, found = _scan(text)
    if not said.strip():
        return Fault("reasoning alone", "your reply held no answer beside reasoning")
    deciding = [item for item in found if "action" in item.names]
    if not deciding:
        return Fault("unparsable reply", 'your reply held no complete JSON object with an "action"')
    last = deciding[-1]
    action = last.value["action"]
    if last.names.count("action") > 1:
        return Fault("unparsable reply", 'the object in your reply held "action" more than once')
    if not isinstance(action, str) or not admissible.admits(action):
        return Fault("inadmissible action", f"{_shown(action)} is no action that is possible now")
    return Answer(action, {name: value for name, value in last.value.items() if name != "action"}, said.strip())


@dataclass(frozen=True)
class _Object:
    value: dict[str, Any]
    # As they stand, repetitions included.
    names: tuple[str, ...]


class _Pairs(dict[str, Any]):
    names: tuple[str, ...] = ()


def _pairs(pairs: list[tuple[str, Any]]) -> _Pairs:
    found = _Pairs(pairs)
    found.names = tuple(name for name, _ in pairs)
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


# Line breaks inside strings are let through: models write them.
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=_no_constant)


def _scan(text: str) -> tuple[str, list[_Object]]:
    """Return the answer without reasoning, and its complete top-level objects; linear in the text's length."""
    kept: list[str] = []
    found: list[_Object] = []
    at = 0
    while (mark := _MARK.search(text, at)) is not None:
        kept.append(text[at : mark.start()])
        at = mark.end()
        if mark["open"]:
            at = _end_of_thought(text, at)
        elif mark["close"]:
            # It closes what was opened before the reply began: all of it so far was reasoning.
            kept, found = [], []
        elif _LOOKS_LIKE_OBJECT.match(text, mark.start()):
            at = _take_object(text, mark.start(), found)
            kept.append(text[mark.start() : at])
        else:
            kept.append(mark[0])
    return "".join((*kept, text[at:])), found


def _end_of_thought(text: str, at: int) -> int:
    """Return the index after the tag that closes a thought, nested ones included; the text's end if none does."""
    depth = 1
    while depth:
        closing = _CLOSING.search(text, at)
        if closing is None:
            return len(text)
        opened = len(_OPENING.findall(text, at, closing.start()))
        depth += opened - 1
        at = closing.end()
    return at


def _take_object(text: str, start: int, found: list[_Object]) -> int:
    """Add the object that begins here, if it is complete; return where to continue."""
    try:
        value, end = _decoded(text, start)
    # Whole numbers of thousands of digits are refused as a ValueError too.
    except (ValueError, RecursionError):
        return _end_of_broken(text, start)
    assert isinstance(value, _Pairs)
    found.append(_Object(dict(value), value.names))
    return end


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """Decode the object that begins at `start`, and return it with its end.

    The decoder's errors count the lines before them, from the beginning of the text that it was given. It is given a
    part that doubles for as long as an error may come from where the part was cut, so that a text of many broken
    objects is looked at a constant number of times.
    """
    size = _PART_CHARACTERS
    while True:
        part = text[start : start + size]
        try:
            value, end = _DECODER.raw_decode(part)
        except json.JSONDecodeError as error:
            may_be_cut = error.msg.startswith("Unterminated") or error.pos + _TOKEN_CHARACTERS > len(part)
            if start + size >= len(text) or not may_be_cut:
                raise
            size *= 2
        else:
            return value, start + end


def _end_of_broken(text: str, start: int) -> int:
    """Return where a broken object ends by its braces: nothing inside it is an answer by itself."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
