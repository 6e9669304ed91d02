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

from oresight.scoring.readers.faults import BadInput, unreadable
from oresight.scoring.readers.run_folder import (
    EPISODES_NAME,
    RESULT_NAME,
    RUN_NAME,
    STUDY_NAME,
    TRAJECTORY_NAME,
    EpisodeRecord,
    RunReader,
    read_episode,
    read_study,
)
from oresight.scoring.records import SESSION_FORMAT, TRAJECTORY_FORMAT, is_plain_id

_BEGINNING_BYTES = 1 << 16
_OF_A_TRAJECTORY = f'"{TRAJECTORY_FORMAT}"'.encode()
_OF_A_SESSION = f'"{SESSION_FORMAT}"'.encode()
_OF_A_RECORDING = re.compile(rb'"(mouse|keyboard|isGuiOpen)"\s*:')
_LINES_SUFFIXES = (".jsonl", ".ndjson")
_FILM_SUFFIXES = (".mp4", ".mkv", ".webm", ".avi", ".mov")
# Deeper than anybody sorts recordings.
_DEPTH_MAX = 16
_OF_EPISODES = re.compile(rb'"(map|moves|episodes|visibility|alpha|k)"\s*:')


@dataclass(frozen=True)
class EpisodeSource:
    """One episode on disk that is to be scored.

    Attributes:
        name: Its id, or the file's name.
        trajectory: The file with its decisions.
        record: How its folder says that it stands; None of a trajectory that stands alone.
    """

    name: str
    trajectory: Path
    record: EpisodeRecord | None = None


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


# Of an episode that has nothing to score there is its record alone, which says why.
Found = EpisodeSource | EpisodeRecord | EpisodeFile | Recording | SessionFile | BadInput


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
                expected = f"{TRAJECTORY_NAME} (an episode's folder) or {RUN_NAME} and {EPISODES_NAME} (a run's)"
                yield BadInput(path, "neither", f"{expected} in it, or recordings and episode files")
    except OSError as error:
        yield unreadable(path, error)


def _folder(path: Path, depth: int) -> Iterator[Found]:
    if (path / TRAJECTORY_NAME).exists() or (path / TRAJECTORY_NAME).is_symlink():
        yield _episode(path)
    elif (path / RUN_NAME).exists() or (path / EPISODES_NAME).is_dir():
        yield from _run(path)
    elif (path / STUDY_NAME).is_file():
        # Beside its runs a study has a summary, which is no recording.
        try:
            folders = sorted(path / condition.id for condition in read_study(path).conditions)
        except BadInput as fault:
            yield fault
            return
        for item in folders:
            if item.is_symlink():
                yield BadInput(item, "a link", "a plain folder; links are not followed")
            elif (item / RUN_NAME).is_file():
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


def _file(path: Path) -> Found:
    if path.name == RUN_NAME or path.name == RESULT_NAME:
        return BadInput(path, f"the {path.name} of a folder", "the folder itself, or its trajectory: name that one")
    if path.suffix.lower() in _FILM_SUFFIXES:
        return BadInput(path, "a film", "the recording that lies beside it, a .jsonl file: a film is not needed")
    if path.name != TRAJECTORY_NAME and (found := _recognised(path)) is not None:
        return found
    if path.name != TRAJECTORY_NAME:
        return EpisodeSource(path.name, path)
    if (path.parent / RESULT_NAME).exists():
        return _episode(path.parent)
    return EpisodeSource(path.resolve().parent.name, path)


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
    return path.name not in (RUN_NAME, RESULT_NAME) and (
        _OF_EPISODES.search(beginning) is not None
        or _OF_A_TRAJECTORY in beginning
        or _OF_A_SESSION in beginning
        or _OF_A_RECORDING.search(beginning) is not None
    )


def _beginning(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_BEGINNING_BYTES)


def _episode(folder: Path) -> Found:
    return _found(read_episode(folder))


def _found(record: EpisodeRecord) -> EpisodeSource | EpisodeRecord:
    if record.is_scored:
        return EpisodeSource(record.name, record.trajectory, record)
    return record


def _run(folder: Path) -> Iterator[Found]:
    planned: list[str] = []
    run: RunReader | None = None
    if (folder / RUN_NAME).exists() or (folder / RUN_NAME).is_symlink():
        try:
            run = RunReader(folder)
            planned += run.file.config.episodes
        except BadInput as fault:
            yield fault
    episodes = folder / EPISODES_NAME
    if episodes.is_symlink():
        yield BadInput(episodes, "a link", "a folder; links are not followed")
        return
    there = {item.name for item in episodes.iterdir()} if episodes.is_dir() else set()
    for name in dict.fromkeys([*planned, *sorted(there)]):
        if not is_plain_id(name):
            expected = "up to 80 letters, digits, dots, hyphens and underscores"
            yield BadInput(episodes / name, "a name that is no id", expected)
        else:
            yield _found(read_episode(episodes / name) if run is None else run.episode(name))
