"""Reads episode files: whole grid episodes of anybody's, as one object, a list under "episodes", or JSON Lines.

An episode is ``{"kind": "grid", "visibility": "partial", "map": {...}, "moves": [...]}`` and may have a "name". alpha
and k may stand at the file's top; an episode's own, if it has them, go before those. JSON Lines stream: one line at a
time is in memory, and a first line without an episode is the file's top. A fault in one episode spoils no other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

from pydantic import Field

from gridenv.mapfile import MapError, parse_map
from gridenv.model import DIRECTIONS
from scoring.grid import GridScenario
from scoring.readers.faults import BadInput, read_object, shown, shown_path, too_long, unreadable, validated
from scoring.records import LINE_BYTES_MAX, Json, Record, Text

# A file that is no JSON Lines is held in memory whole.
FILE_BYTES_MAX = 4 * LINE_BYTES_MAX

_EPISODE = 'an episode with "kind", "visibility", "map" and "moves", or a list of such under "episodes"'
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES_SUFFIXES = (".jsonl", ".ndjson")


class Top(Record):
    """What may stand at a file's top beside the episodes."""

    alpha: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None
    k: Annotated[int, Field(strict=True, ge=1)] | None = None


class _Fields(Top):
    kind: Literal["grid"]
    visibility: Literal["partial", "full"]
    map: Json
    moves: list[object]
    name: Text | None = None


@dataclass(frozen=True)
class EpisodeEntry:
    """One episode of a file, checked.

    Attributes:
        name: Its name, or one made of the file's and its place in it.
        scenario: Map and visibility.
        moves: The directions, None for no move.
        alpha: As the file says, or None.
        k: As the file says, or None.
    """

    name: str
    scenario: GridScenario
    moves: tuple[str | None, ...]
    alpha: float | None
    k: int | None


def read_episodes(path: Path) -> Iterator[EpisodeEntry | BadInput]:
    """Yield the episodes of a file in their order, and a fault in place of each that is malformed."""
    try:
        with path.open("rb") as stream:
            yield from _read(stream, path)
    except BadInput as fault:
        yield fault
    except OSError as error:
        yield unreadable(path, error)


def _read(stream: BinaryIO, path: Path) -> Iterator[EpisodeEntry | BadInput]:
    first = _read_line(stream, path, 1).removeprefix(_BYTE_ORDER_MARK)
    try:
        read_object(first, path, 1, _EPISODE, unique_keys=True)
    except BadInput:
        if path.suffix not in _LINES_SUFFIXES or first.strip() in (b"{", b""):
            yield from _document(_read_whole(first, stream, path), path, None, Top())
            return
    top = Top()
    number, data = 1, first
    while data:
        if data.strip():
            try:
                record = _parse_line(data, path, number)
                if number == 1 and _is_top(record):
                    top = validated(Top, record, path, number)
                else:
                    yield from _document(record, path, number, top)
            except BadInput as fault:
                yield fault
        number += 1
        data = _read_line(stream, path, number)


def _parse_line(data: bytes, path: Path, number: int) -> Json:
    try:
        return read_object(data, path, number, _EPISODE, unique_keys=True)
    except BadInput as fault:
        if data.endswith(b"\n"):
            raise
        raise BadInput(
            path, f"{fault.found} and the end of the file", f"{_EPISODE}; the file may be truncated", number
        ) from None


def _is_top(record: Json) -> bool:
    return bool(record.keys() & {"alpha", "k"}) and not record.keys() & {
        "kind",
        "visibility",
        "map",
        "moves",
        "episodes",
    }


def _document(record: Json, path: Path, line: int | None, above: Top) -> Iterator[EpisodeEntry | BadInput]:
    """Yield what one object holds: an episode, or a list of them."""
    if "episodes" not in record:
        yield _entry(record, path, line, "", above)
        return
    own = validated(Top, record, path, line)
    top = _beneath(own, above)
    episodes = record["episodes"]
    if not isinstance(episodes, list) or not episodes:
        raise BadInput(path, shown(episodes), "a list of at least one episode", line, "episodes")
    for place in range(len(episodes)):
        # Each is dropped once it is read, because what is made of it is as large.
        episode, episodes[place] = episodes[place], None
        try:
            yield _entry(episode, path, line, f"episodes[{place}]", top)
        except BadInput as fault:
            yield fault


def _entry(record: object, path: Path, line: int | None, where: str, top: Top) -> EpisodeEntry:
    if not isinstance(record, dict):
        raise BadInput(
            path, shown(record), 'an episode with "kind", "visibility", "map" and "moves"', line, where or None
        )
    fields = validated(_Fields, record, path, line, where)
    prefix = f"{where}." if where else ""
    try:
        map_ = parse_map(fields.map, f"{prefix}map")
    except MapError as fault:
        raise BadInput(path, shown_path(fault.found), fault.expected, line, shown_path(fault.field)) from None
    for index, move in enumerate(fields.moves):
        if move is not None and (not isinstance(move, str) or move not in DIRECTIONS):
            expected = f"{', '.join(DIRECTIONS)} or null"
            raise BadInput(path, shown(move), expected, line, f"{prefix}moves[{index}]", index + 1)
    place = where or ("" if line is None else f"line {line}")
    name = fields.name or (f"{path.stem} {place}" if place else path.stem)
    used = _beneath(fields, top)
    moves: list[str | None] = [move if isinstance(move, str) else None for move in fields.moves]
    return EpisodeEntry(name, GridScenario(map_, fields.visibility, name), tuple(moves), used.alpha, used.k)


def _beneath(own: Top, above: Top) -> Top:
    return Top(alpha=above.alpha if own.alpha is None else own.alpha, k=above.k if own.k is None else own.k)


def _read_line(stream: BinaryIO, path: Path, number: int) -> bytes:
    data = stream.readline(LINE_BYTES_MAX + 1)
    if len(data) > LINE_BYTES_MAX:
        raise too_long(path, number)
    return data


def _read_whole(first: bytes, stream: BinaryIO, path: Path) -> Json:
    lines, size, number = [first], len(first), 1
    while lines[-1] or number == 1:
        number += 1
        lines.append(_read_line(stream, path, number))
        size += len(lines[-1])
        if size > FILE_BYTES_MAX:
            expected = f"at most {FILE_BYTES_MAX // 2**20} MB in one piece; write JSON Lines, an episode a line"
            raise BadInput(path, "more bytes", expected)
    data = b"".join(lines)
    try:
        return read_object(data, path, None, _EPISODE, unique_keys=True)
    except BadInput as fault:
        if fault.line is None or fault.line <= data.rstrip().count(b"\n"):
            raise
        raise BadInput(
            path, f"{fault.found} and the end of the file", f"{_EPISODE}; the file may be truncated", fault.line
        ) from None
