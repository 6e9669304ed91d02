r"""Reads what an earlier attempt at an episode left, however it ended: where it may be continued, and what was said.

    trajectory.jsonl   a header, then a line a decision
    replies.jsonl      a header, then a line for each reply of the model, re-asks included, and for each time that what
                       is sent was made to shrink; a reply stands here before it is acted on

Lines end at the byte ``\n`` and nowhere else. What follows the last good line is a torn tail and is to be cut; good
lines behind a bad one are damage that no crash makes, and nothing is cut then.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from oresight.harness import files
from oresight.harness.errors import InfrastructureError, RecordError
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.protocols import ContextBudget, Json
from oresight.scoring.records import LINE_BYTES_MAX, DecisionLine, Header, parse_json

REPLIES_FORMAT = "oresight.replies"
REPLIES_HEADER: Json = {"format": REPLIES_FORMAT, "version": 1}
_Line = TypeVar("_Line")


@dataclass(frozen=True)
class Shrunk:
    """What is sent was made to shrink before a decision."""

    step: int
    budget: ContextBudget

    def to_json(self) -> Json:
        """As a line of the file."""
        told = {"max_tokens": self.budget.max_tokens, "max_pictures": self.budget.max_pictures}
        return {"step": self.step, "shrunk": told}


@dataclass(frozen=True)
class KeptTrajectory:
    """What is good of a trajectory.

    Attributes:
        header: The first line as it stands, or None if there is none.
        lines: The decisions.
        size: Bytes up to the end of the last good line.
    """

    header: Json | None
    lines: tuple[DecisionLine, ...]
    size: int


@dataclass(frozen=True)
class KeptReplies:
    """What is good of the replies.

    Attributes:
        replies: In their order.
        shrunk: The last time that what is sent was made to shrink, or None.
        size: Bytes up to the end of the last good line.
    """

    replies: tuple[ReplyRecord, ...]
    shrunk: Shrunk | None
    size: int


def read_trajectory(path: Path) -> KeptTrajectory:
    """Reads a trajectory that may be torn, empty or missing.

    Raises:
        InfrastructureError: It is damaged before its last line.
    """
    header: Json | None = None
    lines: list[DecisionLine] = []

    def take(value: Json) -> None:
        nonlocal header
        if header is None:
            Header.model_validate(value)
            header = value
            return
        line = DecisionLine.model_validate(value)
        if line.step != len(lines) + 1:
            raise ValueError(f"decision {line.step} where {len(lines) + 1} was expected")
        lines.append(line)

    size = _take_lines(path, take)
    return KeptTrajectory(header, tuple(lines), size)


def read_replies(path: Path) -> KeptReplies:
    """Reads the replies, which may be torn, empty or missing.

    Raises:
        InfrastructureError: They are damaged before the last line.
    """
    replies: list[ReplyRecord] = []
    shrunk: list[Shrunk] = []
    headed = False

    def take(value: Json) -> None:
        nonlocal headed
        if not headed:
            if value != REPLIES_HEADER:
                raise ValueError("no header of a file of replies")
            headed = True
        elif "shrunk" in value:
            shrunk.append(Shrunk(int(value["step"]), ContextBudget(**value["shrunk"])))
        else:
            replies.append(ReplyRecord.from_json(value))

    size = _take_lines(path, take)
    return KeptReplies(tuple(replies), shrunk[-1] if shrunk else None, size)


def _take_lines(path: Path, take: Callable[[Json], None]) -> int:
    """Hands over line by line up to the first bad one; returns the size of what was good."""
    size = 0
    bad: int | None = None
    for number, line in enumerate(_lines(path), 1):
        value = _object(line)
        if bad is not None:
            if value is not None:
                raise InfrastructureError(
                    f"{path}: line {bad} is damaged and good ones follow it, which no crash does; put the file back"
                    " from a copy, or remove the episode's folder to play it afresh"
                )
            continue
        if value is None or not _taken(value, take):
            bad = number
            continue
        size += len(line)
    return size


def _taken(value: Json, take: Callable[[Json], None]) -> bool:
    try:
        take(value)
    except (ValidationError, ValueError, KeyError, TypeError):
        return False
    return True


def _lines(path: Path) -> Iterator[bytes]:
    if path.is_symlink():
        raise RecordError(f"{path}: is a link, which is never followed; remove it or choose another folder")
    if not path.exists():
        return
    with files.disk_errors(path), path.open("rb") as stream:
        while line := stream.readline(LINE_BYTES_MAX + 1):
            yield line


def _object(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a whole line, or None if it is none."""
    if not line.endswith(b"\n") or len(line) > LINE_BYTES_MAX:
        return None
    try:
        value = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
