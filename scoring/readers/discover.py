"""Finds the episodes that a path stands for: a trajectory, an episode file, or the folder of an episode, run or study.

A study's folder holds a run's folder for each condition.

Which of the two a file is, its beginning says: a trajectory's header names its format, an episode file has a map and
moves. A file that shows neither is told by its name.

Nothing in a file is a path, ids are plain, and links inside a folder are not followed: what could lead out of it is
reported as a fault and not opened.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oresight.scoring.readers.faults import BadInput, read_object, unreadable, validated
from oresight.scoring.records import LINE_BYTES_MAX, SESSION_FORMAT, TRAJECTORY_FORMAT, EpisodeResult, RunFile

TRAJECTORY = "trajectory.jsonl"
RESULT = "result.json"
RUN = "run.json"
EPISODES = "episodes"
STUDY = "study.json"

_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")
_BEGINNING_BYTES = 1 << 16
_OF_A_TRAJECTORY = f'"{TRAJECTORY_FORMAT}"'.encode()
_OF_A_SESSION = f'"{SESSION_FORMAT}"'.encode()
_OF_A_RECORDING = re.compile(rb'"(mouse|keyboard|isGuiOpen)"\s*:')
_LINES_SUFFIXES = (".jsonl", ".ndjson")
_FILM_SUFFIXES = (".mp4", ".mkv", ".webm", ".avi", ".mov")
# Deeper than anybody sorts recordings.
_DEPTH_MAX = 16
_OF_EPISODES = re.compile(rb'"(map|moves|episodes|visibility|alpha|k)"\s*:')


def is_plain_id(name: str) -> bool:
    """Whether a name may be an episode's id."""
    return _ID.fullmatch(name) is not None and name not in (".", "..")


@dataclass(frozen=True)
class EpisodeSource:
    """One episode on disk.

    Attributes:
        name: Its id, or the file's name.
        trajectory: The file with its decisions.
        result: The file with its result, whether or not it exists; None for a trajectory that stands alone.
        result_required: Whether the episode is incomplete without a result: in a folder it is written last.
    """

    name: str
    trajectory: Path
    result: Path | None
    result_required: bool


@dataclass(frozen=True)
class MissingEpisode:
    """An episode that was planned and never begun."""

    name: str
    run: Path


@dataclass(frozen=True)
class EpisodeFile:
    """A file of whole episodes, see `readers.episodes`."""

    path: Path


@dataclass(frozen=True)
class Recording:
    """A VPT-style recording of the real game, see `readers.vpt`."""

    path: Path


@dataclass(frozen=True)
class SessionFile:
    """A person's session in the window, see `readers.session`."""

    path: Path


Found = EpisodeSource | EpisodeFile | Recording | SessionFile | MissingEpisode | BadInput


def find_episodes(path: Path) -> Iterator[Found]:
    """Yield what a path stands for; a fault spoils nothing beside it.

    A run's episodes come as they were planned, so that figures which depend on the order, such as the resamples of a
    bootstrap, are those of its summary; everything else comes in the order of names.
    """
    try:
        if path.is_file():
            yield _file(path)
        elif not path.is_dir():
            yield BadInput(
                path,
                "no such file or folder",
                "a trajectory, a recording, an episode file, or a folder of such (an episode's, a run's, any mix)",
            )
        else:
            nothing = True
            for found in _folder(path, 0):
                nothing = False
                yield found
            if nothing:
                expected = f"{TRAJECTORY} (an episode's folder) or {RUN} and {EPISODES} (a run's folder) in it"
                yield BadInput(path, "neither", f"{expected}, or recordings and episode files")
    except OSError as error:
        yield unreadable(path, error)


def _folder(path: Path, depth: int) -> Iterator[Found]:
    if (path / TRAJECTORY).exists() or (path / TRAJECTORY).is_symlink():
        yield _episode(path)
    elif (path / RUN).exists() or (path / EPISODES).is_dir():
        yield from _run(path)
    elif (path / STUDY).is_file():
        # Beside its runs a study has a summary, which is no recording.
        for item in sorted(path.iterdir()):
            if item.is_dir() and not item.is_symlink() and (item / RUN).is_file():
                yield from _run(item)
    else:
        yield from _mix(path, depth)


def _mix(path: Path, depth: int) -> Iterator[Found]:
    for item in sorted(path.iterdir()):
        if item.name.startswith("."):
            continue
        try:
            suffix = item.suffix.lower()
            is_lines = suffix in _LINES_SUFFIXES
            if item.is_symlink():
                if is_lines or suffix == ".json" or item.is_dir():
                    yield BadInput(item, "a link", "a plain file or folder; links are not followed")
            elif item.is_dir():
                if depth >= _DEPTH_MAX:
                    yield BadInput(item, "one folder more", f"at most {_DEPTH_MAX} folders in each other")
                else:
                    yield from _folder(item, depth + 1)
            elif item.is_file() and (is_lines or (suffix == ".json" and _is_episodes(item))):
                yield _file(item)
        except OSError as error:
            yield unreadable(item, error)


def read_result(path: Path) -> EpisodeResult | None:
    """Return an episode's result, or None if it has none.

    Raises:
        BadInput: The file is there, but is no result (empty, cut short, a link).
    """
    if not path.exists() and not path.is_symlink():
        return None
    return validated(EpisodeResult, _read_small(path, "a result"), path, None)


def _file(path: Path) -> Found:
    if path.name == RUN or path.name == RESULT:
        return BadInput(path, f"the {path.name} of a folder", "the folder itself, or its trajectory: name that one")
    if path.suffix.lower() in _FILM_SUFFIXES:
        return BadInput(path, "a film", "the recording that lies beside it, a .jsonl file: a film is not needed")
    if path.name != TRAJECTORY and (found := _recognised(path)) is not None:
        return found
    beside = path.parent / RESULT
    result = beside if path.name == TRAJECTORY and beside.exists() else None
    name = path.resolve().parent.name if path.name == TRAJECTORY else path.name
    return EpisodeSource(name, path, result, result_required=False)


def _recognised(path: Path) -> Found | None:
    """Return what a file's beginning says that it is; None for a trajectory, or what may be one."""
    beginning = _beginning(path)
    first = beginning.partition(b"\n")[0]
    if _OF_A_TRAJECTORY in first:
        return None
    if _OF_A_SESSION in first:
        return SessionFile(path)
    if _OF_A_RECORDING.search(first):
        return Recording(path)
    if _OF_EPISODES.search(beginning) or path.suffix == ".json":
        return EpisodeFile(path)
    return Recording(path) if _OF_A_RECORDING.search(beginning) else None


def _is_episodes(path: Path) -> bool:
    beginning = _beginning(path)
    return path.name not in (RUN, RESULT) and (
        _OF_EPISODES.search(beginning) is not None
        or _OF_A_TRAJECTORY in beginning
        or _OF_A_SESSION in beginning
        or _OF_A_RECORDING.search(beginning) is not None
    )


def _beginning(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_BEGINNING_BYTES)


def _episode(folder: Path) -> Found:
    trajectory = folder / TRAJECTORY
    if trajectory.is_symlink() or not trajectory.is_file():
        return BadInput(trajectory, "a link or no plain file", "a plain file; links are not followed")
    return EpisodeSource(folder.resolve().name, trajectory, folder / RESULT, result_required=True)


def _run(folder: Path) -> Iterator[Found]:
    planned: list[str] = []
    if (folder / RUN).exists() or (folder / RUN).is_symlink():
        try:
            planned = _planned(folder / RUN)
        except BadInput as fault:
            yield fault
    episodes = folder / EPISODES
    if episodes.is_symlink():
        yield BadInput(episodes, "a link", "a folder; links are not followed")
        return
    there = {item.name for item in episodes.iterdir()} if episodes.is_dir() else set()
    for name in dict.fromkeys([*planned, *sorted(there)]):
        item = episodes / name
        if name not in there:
            yield MissingEpisode(name, folder)
        elif not is_plain_id(name):
            yield BadInput(item, "a name that is no id", "up to 80 letters, digits, dots, hyphens and underscores")
        elif item.is_symlink() or not item.is_dir():
            yield BadInput(item, "a link or a file", "an episode's folder; links are not followed")
        elif not (item / TRAJECTORY).exists() and not (item / TRAJECTORY).is_symlink():
            yield MissingEpisode(name, folder)
        else:
            yield _episode(item)


def _planned(path: Path) -> list[str]:
    run = validated(RunFile, _read_small(path, "what was asked of a run"), path, None)
    for place, name in enumerate(run.config.episodes):
        if not is_plain_id(name):
            expected = "up to 80 letters, digits, dots, hyphens and underscores"
            raise BadInput(path, "a name that is no id", expected, field=f"config.episodes[{place}]")
    return run.config.episodes


def _read_small(path: Path, what: str) -> dict[str, object]:
    if path.is_symlink() or not path.is_file():
        raise BadInput(path, "a link or no plain file", "a plain file; links are not followed")
    try:
        with path.open("rb") as stream:
            data = stream.read(LINE_BYTES_MAX + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) > LINE_BYTES_MAX:
        raise BadInput(path, "more bytes", f"at most {LINE_BYTES_MAX // 2**20} MB")
    return read_object(data, path, None, what)
