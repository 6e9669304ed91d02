"""Reads the folders that runs and studies are recorded in, and says of every planned episode how it stands.

    study.json           the conditions, each a run's folder beside it
    run.json             what was asked
    episodes/<id>/       trajectory.jsonl, replies.jsonl, frames/, and result.json once it is finished

Whether an episode is finished, broken, incomplete, missing, unreadable or at odds with itself is decided here and
nowhere else. For that a result and two lines of a trajectory are read, its first and its last; whoever reads the lines
between may find more. Nothing in a file is a path, ids are plain, and links inside a folder are not followed.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from oresight.scoring.readers.faults import BadInput, read_object, shown, shown_path, unreadable, validated
from oresight.scoring.readers.trajectory import read_trajectory
from oresight.scoring.records import LINE_BYTES_MAX, EpisodeResult, Outcome, RunFile, StudyFolder

TRAJECTORY_NAME = "trajectory.jsonl"
REPLIES_NAME = "replies.jsonl"
RESULT_NAME = "result.json"
FRAMES_NAME = "frames"
RUN_NAME = "run.json"
EPISODES_NAME = "episodes"
STUDY_NAME = "study.json"
NOT_FOLLOWED = "is a link, which is never followed; put the folder itself in its place"

_FILE_BYTES_MAX = 64_000_000
_BLOCK_BYTES = 1 << 16
Signature = tuple[int, int]


class State(StrEnum):
    """How an episode stands."""

    FINISHED = "finished"
    BROKEN = "broken"
    INCOMPLETE = "incomplete"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    CONTRADICTORY = "contradictory"


@dataclass(frozen=True)
class EpisodeRecord:
    """One episode of a run, as it lies on disk.

    Attributes:
        name: Its id.
        folder: Where it lies, whether or not it is there.
        state: How it stands; only a finished one counts in figures.
        result: Of a finished or a broken one, and of one that is at odds with itself; else None.
        problem: What is wrong with it and what to do, in a sentence; None of a finished one.
        written_s: When the result was written, in seconds since the epoch; None without one.
    """

    name: str
    folder: Path
    state: State
    result: EpisodeResult | None = None
    problem: str | None = None
    written_s: float | None = None

    @property
    def trajectory(self) -> Path:
        """The file with its decisions."""
        return self.folder / TRAJECTORY_NAME

    @property
    def is_scored(self) -> bool:
        """Whether there are decisions to be read and scored; unless it is finished they are no result."""
        if link_in(self.folder) is not None or _signature(self.trajectory) is None:
            return False
        return self.trajectory.stat().st_size > 0

    @property
    def is_faulty(self) -> bool:
        """Whether it is there and cannot be trusted: unreadable or contradictory."""
        return self.state in (State.UNREADABLE, State.CONTRADICTORY)


class RunReader:
    """The episodes of a run's folder; results are read once, and again when their files have changed."""

    def __init__(self, path: Path) -> None:
        """Read run.json.

        Raises:
            BadInput: It is missing, or none.
        """
        self.path = path
        self.file = read_run(path)
        self._results: dict[str, tuple[Signature, EpisodeRecord]] = {}

    def episodes(self) -> Iterator[EpisodeRecord]:
        """Yield the planned episodes in their order, as they stand now."""
        for name in self.file.config.episodes:
            yield self.episode(name)

    def episode(self, name: str) -> EpisodeRecord:
        """Return an episode as it stands now."""
        folder = self.path / EPISODES_NAME / name
        signature = _signature(folder / RESULT_NAME)
        kept = self._results.get(name)
        if kept is not None and signature == kept[0] and not link_in(folder):
            return kept[1]
        found = read_episode(folder, self.file)
        if signature is not None and found.result is not None and signature == _signature(folder / RESULT_NAME):
            self._results[name] = signature, found
        return found


def read_run(folder: Path) -> RunFile:
    """Return what was asked of the run in a folder.

    Raises:
        BadInput: Its run.json is missing, or none.
    """
    return validated(RunFile, read_file(folder / RUN_NAME, "what was asked of a run"), folder / RUN_NAME, None)


def read_study(folder: Path) -> StudyFolder:
    """Return the conditions of the study in a folder.

    Raises:
        BadInput: Its study.json is missing, or none.
    """
    return validated(
        StudyFolder, read_file(folder / STUDY_NAME, "the conditions of a study"), folder / STUDY_NAME, None
    )


def read_result(path: Path) -> EpisodeResult:
    """Return an episode's result.

    Raises:
        BadInput: The file is no result (empty, cut short, a link).
    """
    return validated(EpisodeResult, read_file(path, "a result"), path, None)


def read_episode(folder: Path, run: RunFile | None = None) -> EpisodeRecord:
    """Return the episode in a folder.

    Args:
        folder: Of the episode; its name is the episode's id.
        run: What was asked of the run that it belongs to, where that is known.
    """
    name = folder.name or folder.resolve().name
    link = link_in(folder)
    if link is not None:
        return EpisodeRecord(name, folder, State.UNREADABLE, problem=f"{shown_path(link)}: {NOT_FOLLOWED}")
    result_file = folder / RESULT_NAME
    if not _is_there(result_file):
        return _without_result(name, folder)
    try:
        signature = _signature(result_file)
        result = read_result(result_file)
    except BadInput as fault:
        # It may have been removed meanwhile by who plays the episode again.
        if not _is_there(result_file):
            return _without_result(name, folder)
        return EpisodeRecord(name, folder, State.UNREADABLE, problem=f"{fault}; rerun the same command to play it anew")
    written_s = None if signature is None else signature[1] / 1e9
    if not result.outcome.counts:
        problem = f"{shown_path(folder)}: {broken_words(result.reason)}"
        return EpisodeRecord(name, folder, State.BROKEN, result, problem, written_s)
    try:
        odds = _odds(name, folder, result, run)
    except BadInput as fault:
        return EpisodeRecord(name, folder, State.UNREADABLE, result, str(fault), written_s)
    except OSError as error:
        return EpisodeRecord(name, folder, State.UNREADABLE, result, str(unreadable(folder, error)), written_s)
    if odds is not None:
        odds = f"{shown_path(result_file)}: {odds}; rerun the same command to play it anew"
        return EpisodeRecord(name, folder, State.CONTRADICTORY, result, odds, written_s)
    return EpisodeRecord(name, folder, State.FINISHED, result, None, written_s)


def run_around(place: Path) -> RunFile | None:
    """Return what was asked of the run that an episode's folder or file lies in; None where nobody says."""
    folder = place.absolute() if place.is_dir() else place.absolute().parent
    if folder.parent.name != EPISODES_NAME:
        return None
    try:
        return read_run(folder.parent.parent)
    except BadInput:
        return None


def broken_words(reason: str | None) -> str:
    """Say that an infrastructure error is no result, and what to do."""
    words = f" ({shown(reason)})" if reason else ""
    return f"ended by an infrastructure error{words}, which is no result; rerun the same command to resume it"


def read_file(path: Path, what: str) -> dict[str, object]:
    """Return the JSON object in a file of a run.

    Args:
        path: The file; a link is not followed.
        what: What it should be, for the message.

    Raises:
        BadInput: It is something else.
    """
    if path.is_symlink():
        raise BadInput(path, "a link, which is never followed", "the file itself; remove it or choose another folder")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            data = stream.read(_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(data) > _FILE_BYTES_MAX:
        raise BadInput(path, "more bytes", f"at most {_FILE_BYTES_MAX // 10**6} MB")
    return read_object(data, path, None, what)


def _without_result(name: str, folder: Path) -> EpisodeRecord:
    if _is_there(folder / TRAJECTORY_NAME):
        if _signature(folder / TRAJECTORY_NAME) is None:
            problem = f"{shown_path(folder / TRAJECTORY_NAME)}: is a link or no plain file; links are not followed"
            return EpisodeRecord(name, folder, State.UNREADABLE, problem=problem)
        problem = (
            f"{shown_path(folder)}: is incomplete: {RESULT_NAME} is missing; run the same command again to finish it"
        )
        return EpisodeRecord(name, folder, State.INCOMPLETE, problem=problem)
    if _is_there(folder) and not folder.is_dir():
        problem = f"{shown_path(folder)}: is a file where an episode's folder is expected; remove it"
        return EpisodeRecord(name, folder, State.UNREADABLE, problem=problem)
    problem = f"{shown_path(folder.parent.parent)}: episode {shown_path(name)} is missing; rerun the same command"
    return EpisodeRecord(name, folder, State.MISSING, problem=f"{problem} to play it")


def _odds(name: str, folder: Path, result: EpisodeResult, run: RunFile | None) -> str | None:
    """Say where a result and what lies beside it contradict each other; None if they do not."""
    # A folder that was taken elsewhere may be called anything.
    if result.id != name and folder.parent.name == EPISODES_NAME:
        return f"is the result of {shown(result.id)}"
    if not _is_there(folder / TRAJECTORY_NAME):
        return f"says {result.steps} decisions, and there is no {TRAJECTORY_NAME}"
    if _signature(folder / TRAJECTORY_NAME) is None:
        raise BadInput(folder / TRAJECTORY_NAME, "a link or no plain file", "a plain file; links are not followed")
    with read_trajectory(folder / TRAJECTORY_NAME) as trajectory:
        header = trajectory.header
    told: list[tuple[str, object, object]] = [
        ("agent", result.agent, header.agent),
        ("memory", result.memory, header.memory),
        ("scenario", result.scenario, header.scenario.get("name")),
    ]
    for field, own, other in told:
        if own != other:
            return f"says {field} {shown(own)}, and the header of {TRAJECTORY_NAME} says {shown(other)}"
    if run is not None:
        config = run.config
        for field, asked, found in (
            ("world", config.world, header.kind),
            ("agent", config.agent, header.agent),
            ("memory", config.memory, header.memory),
        ):
            if asked != found:
                return f"is of {field} {shown(found)}, and {RUN_NAME} asked for {shown(asked)}"
    expected = result.steps + (0 if header.branch is None else header.branch.at)
    if (held := _last_step(folder / TRAJECTORY_NAME)) != expected:
        return f"says {expected} decisions, and {TRAJECTORY_NAME} holds {held}"
    score = result.score.get("score", 1)
    missed = isinstance(score, int | float) and score < 1
    if result.outcome is Outcome.SUCCESS and (missed or result.score.get("success") is False):
        return f"says {str(result.outcome)!r}, and its score does not"
    return None


def _last_step(trajectory: Path) -> int:
    """Return the number of the last whole decision; only the end of the file is read.

    Raises:
        BadInput: The last line is none.
    """
    with trajectory.open("rb") as stream:
        end = stream.seek(0, os.SEEK_END)
        tail = b""
        while end and tail.count(b"\n") < 3 and len(tail) <= 2 * LINE_BYTES_MAX:
            start = max(0, end - _BLOCK_BYTES)
            stream.seek(start)
            tail = stream.read(end - start) + tail
            end = start
    lines = tail.split(b"\n")
    # What follows the last newline is empty, a torn line, or a whole one that lacks its newline alone.
    for data in reversed(lines if end == 0 else lines[1:]):
        try:
            record = read_object(data, trajectory, None, "a decision")
        except BadInput:
            if data is lines[-1]:
                continue
            raise
        step = record.get("step", 0)
        return step if isinstance(step, int) else 0
    return 0


def link_in(folder: Path) -> Path | None:
    """Return the link that leads away where an episode's folder, or the folder of all, should be."""
    for place in (folder.parent, folder):
        # Of a folder by itself the place where it lies is nobody's business.
        if place.is_symlink() and (place == folder or place.name == EPISODES_NAME):
            return place
    return None


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _signature(path: Path) -> Signature | None:
    """Return what tells a file from one that is put in its place: inode and time; None if there is no regular file."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
