"""Reads episode files: whole grid episodes of anybody's, as one object, a list under "episodes", or JSON Lines.

An episode is ``{"kind": "grid", "visibility": "partial", "map": {...}, "moves": [...]}`` and may have a "name". alpha
and k may stand at the file's top; an episode's own, if it has them, go before those. JSON Lines stream: one line at a
time is in memory, and a first line without an episode is the file's top. A fault in one episode spoils no other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar

from oresight.gridenv.mapfile import MapError, parse_map
from oresight.gridenv.model import DIRECTIONS
from oresight.scoring.grid.adapter import GridScenario
from oresight.scoring.readers.faults import BadInput, read_object, shown, shown_path, too_long, unreadable, validated
from oresight.scoring.records import LINE_BYTES_MAX, EpisodesTop, GridEpisode, Json

# A file that is no JSON Lines is held in memory whole.
FILE_BYTES_MAX = 4 * LINE_BYTES_MAX

_EPISODE = 'an episode with "kind", "visibility", "map" and "moves", or a list of such under "episodes"'
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES_SUFFIXES = (".jsonl", ".ndjson")
_TOP_KEYS = {"alpha", "k"}
_EPISODE_KEYS = {"kind", "visibility", "map", "moves", "episodes"}


@dataclass(frozen=True)
class EpisodeEntry:
    """One episode of a file, checked.

    Attributes:
        name: Its name, or one made of the file's and its place in it.
        scenario: Map and visibility.
        moves: The directions, None for no move.
        alpha: As the file says, or None.
        k: As the file says, or None.
        kind: The world that it is of.
    """

    kind: ClassVar[str] = "grid"

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
    data = _read_line(stream, path, 1).removeprefix(_BYTE_ORDER_MARK)
    top = EpisodesTop()
    try:
        record = _object(data, path, 1)
        if _TOP_KEYS & record.keys() and not _EPISODE_KEYS & record.keys():
            top = validated(EpisodesTop, record, path, 1)
        else:
            yield from _document(record, path, 1, top)
    except BadInput as fault:
        # An object that goes on over many lines is no JSON Lines; the first of them says nothing about it.
        if fault.field is None and (path.suffix not in _LINES_SUFFIXES or data.strip() in (b"{", b"")):
            yield from _document(_read_whole(data, stream, path), path, None, top)
            return
        yield fault
    record = {}
    number = 1
    while data := _read_line(stream, path, number + 1):
        number += 1
        if data.strip():
            try:
                yield from _document(_object(data, path, number), path, number, top)
            except BadInput as fault:
                yield fault


def _object(data: bytes, path: Path, line: int | None) -> Json:
    return read_object(data, path, line, _EPISODE, unique_keys=True)


def _document(record: Json, path: Path, line: int | None, above: EpisodesTop) -> Iterator[EpisodeEntry | BadInput]:
    """Yield what one object holds: an episode, or a list of them."""
    if "episodes" not in record:
        yield _entry(record, path, line, "", above)
        return
    own = validated(EpisodesTop, record, path, line)
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


def _entry(record: object, path: Path, line: int | None, where: str, top: EpisodesTop) -> EpisodeEntry:
    if not isinstance(record, dict):
        raise BadInput(path, shown(record), "an object that is an episode", line, where)
    fields = validated(GridEpisode, record, path, line, where)
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


def _beneath(own: EpisodesTop, above: EpisodesTop) -> EpisodesTop:
    return EpisodesTop(alpha=above.alpha if own.alpha is None else own.alpha, k=above.k if own.k is None else own.k)


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
    return _object(b"".join(lines), path, None)
