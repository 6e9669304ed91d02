"""Notes that a model writes on its own past actions, each with a tag or none: what a reply may say, and how it reads.

The tags and the idea are from "Clearing the Fog: Towards Installing and Refining Proactive Exploration Capabilities in
LLM Agents" (SaFaRi), appendix A.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from oresight.harness.context.assembly import quoted
from oresight.harness.context.reply_fields import shown, whole_number

TAGS = ("SUCCESS", "FAILED", "DEAD END", "SUB-OPTIMAL")
LONGEST_NOTE = 500
_BY_LETTERS = {re.sub(r"[^A-Z]", "", tag): tag for tag in TAGS}
_LEADING_TAG = re.compile(r"\s*\[([^\[\]]{1,20})\]\s*")


@dataclass(frozen=True)
class Note:
    """What the model wrote on one of its actions."""

    tag: str | None
    text: str

    def __str__(self) -> str:
        tag = f"[{self.tag}]" if self.tag else ""
        return " ".join(part for part in (tag, quoted(self.text) if self.text else "") if part)


def notes_schema(key: str) -> dict[str, Any]:
    """Return the JSON schema of the field `notes`.

    Args:
        key: What the place of a note is called: `step` or `node`.
    """
    return {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                key: {"type": "integer"},
                "tag": {"type": ["string", "null"], "enum": [*TAGS, None]},
                "text": {"type": "string"},
            },
            "required": [key, "tag", "text"],
            "additionalProperties": False,
        },
    }


def take_notes(
    fields: Mapping[str, Any], key: str, known: Collection[int], default: int, notes: dict[int, Note]
) -> list[str]:
    """Add the notes of one reply; a later note on a place replaces the earlier one.

    Args:
        fields: Of the reply.
        key: What the place of a note is called.
        known: The places that there are.
        default: The place of a note that names none.
        notes: All notes by place; changed here. One that says nothing takes away what stood there.

    Returns:
        Remarks on what was ignored.
    """
    given = fields.get("notes", fields.get("note"))
    if given is None:
        return []
    remarks: list[str] = []
    for item in given if isinstance(given, list) else [given]:
        if isinstance(item, str):
            item = {"text": item}
        if (
            not isinstance(item, Mapping)
            or not item.keys() & {"tag", "text"}
            or not isinstance(item.get("text", ""), str)
        ):
            remarks.append(f'a note was ignored: {shown(item)} is no object with "{key}", "tag" and "text".')
            continue
        place = default if item.get(key) is None else whole_number(item[key])
        if place is None or place not in known:
            remarks.append(f"a note was ignored: there is no {key} {shown(item.get(key))}.")
            continue
        remarks += _write(item, place, notes)
    return remarks


def _write(item: Mapping[str, Any], place: int, notes: dict[int, Note]) -> list[str]:
    text, tag = item.get("text", "").strip(), item.get("tag")
    if tag is None or tag == "":
        tag = None
        # A tag in front of the text, as the method's authors write it, is one too.
        leading = _LEADING_TAG.match(text)
        if leading is not None and (known := _known_tag(leading[1])) is not None:
            tag, text = known, text[leading.end() :]
    elif (known := _known_tag(tag)) is not None:
        tag = known
    else:
        return [f"a note was ignored: {shown(tag)} is no tag; the tags are {', '.join(TAGS)}, or null for none."]
    remarks = []
    if len(text) > LONGEST_NOTE:
        text = text[:LONGEST_NOTE]
        remarks.append(f"a note was cut after {LONGEST_NOTE} characters.")
    if tag is None and not text:
        notes.pop(place, None)
    else:
        notes[place] = Note(tag, text)
    return remarks


def _known_tag(text: object) -> str | None:
    """Return the tag for a spelling, whatever its case, brackets and hyphens; None if it is not a tag."""
    return _BY_LETTERS.get(re.sub(r"[^A-Z]", "", text.upper())) if isinstance(text, str) else None


def remark_lines(remarks: list[str]) -> list[str]:
    """Return what the next message says about them; a long list is cut."""
    most = 5
    more = [f"{len(remarks) - most} more things in it were ignored."] if len(remarks) > most else []
    return [f"About your last answer: {remark}" for remark in [*remarks[:most], *more]]
