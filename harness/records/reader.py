"""A recorded run, read: `open_run(folder)` gives its episodes with decisions, replies, pictures and results.

How an episode stands is said by `scoring.readers.run_folder`, for every command alike; here are the records of the
harness beside it. Nothing is written, nothing locked, no link followed.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from oresight.harness.errors import RecordError, UsageError
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.records import resume
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.run_folder import (
    EPISODES_NAME,
    FRAMES_NAME,
    NOT_FOLLOWED,
    REPLIES_NAME,
    RUN_NAME,
    STUDY_NAME,
    TRAJECTORY_NAME,
    EpisodeRecord,
    RunReader,
    link_in,
    read_episode,
    read_study,
)
from oresight.scoring.readers.run_folder import State as State
from oresight.scoring.readers.trajectory import read_trajectory
from oresight.scoring.records import DecisionLine, Header, RunConfig, RunFile

_FRAME = re.compile(r"([0-9]{6,9})\.png")


@dataclass(frozen=True)
class Episode(EpisodeRecord):
    """One episode of a run; what is in its files is read when it is asked for."""

    @property
    def header(self) -> Header:
        """The first line of its trajectory.

        Raises:
            RecordError: There is none.
        """
        try:
            with read_trajectory(_plain(self.trajectory)) as trajectory:
                return trajectory.header
        except BadInput as fault:
            raise RecordError(str(fault)) from fault

    def decisions(self) -> Iterator[DecisionLine]:
        """Yield its decisions, a line at a time; a last line that was cut short is left out.

        Raises:
            RecordError: The trajectory is missing or damaged.
        """
        try:
            with read_trajectory(_plain(self.trajectory)) as trajectory:
                for _, line in trajectory:
                    yield line
        except BadInput as fault:
            raise RecordError(str(fault)) from fault

    def kept_replies(self) -> resume.KeptReplies:
        """Return what a model replied, and when what it is sent was made to shrink.

        Raises:
            InfrastructureError: It is damaged before its last line.
        """
        return resume.read_replies(self.folder / REPLIES_NAME)

    def replies(self) -> tuple[ReplyRecord, ...]:
        """Return what a model replied, re-asks included; empty where none played.

        Raises:
            InfrastructureError: It is damaged before its last line.
        """
        return self.kept_replies().replies

    @property
    def frames(self) -> dict[int, Path]:
        """The pictures that were kept, by the number of the decision that they were seen before."""
        return frames_in(self.folder / FRAMES_NAME)


class Run:
    """A run's folder, as it stood when it was opened.

    Attributes:
        path: The folder.
        label: The condition in words, where it is one of a study; else None.
        file: Its run.json.
        episodes: The planned episodes, in their order.
    """

    def __init__(self, reader: RunReader, label: str | None = None) -> None:
        self.path = reader.path
        self.label = label
        self.file: RunFile = reader.file
        self.episodes = tuple(Episode(**vars(record)) for record in reader.episodes())
        self._reader = reader

    @property
    def config(self) -> RunConfig:
        """What was asked for."""
        return self.file.config

    @property
    def versions(self) -> dict[str, str | int]:
        """The versions that it was played with."""
        return self.file.versions

    def episode(self, name: str) -> Episode:
        """Return the episode of this name.

        Raises:
            UsageError: None is planned.
        """
        found = next((episode for episode in self.episodes if episode.name == name), None)
        if found is None:
            planned = ", ".join(self.config.episodes[:5])
            raise UsageError(f"{self.path}: has no episode {name[:80]!r}; planned are {planned}")
        return found

    def again(self) -> "Run":
        """Return the run as it stands now; results that have not changed are not read again."""
        return Run(self._reader, self.label)


def open_run(path: Path | str) -> Run:
    """Open the folder of a run.

    Raises:
        UsageError: It holds no run.
        RecordError: Its run.json is broken.
    """
    return _open(Path(path))


def open_runs(path: Path | str) -> list[Run]:
    """Open the folder of a run, or of a study: one run for each condition, in the study's order.

    Raises:
        UsageError: It holds neither, or a condition that was never begun.
        RecordError: A file of it is broken.
    """
    folder = Path(path)
    if not (folder / STUDY_NAME).is_file():
        return [_open(folder)]
    return [_open(each, label) for each, label in labelled_folders(folder).items()]


def open_episode(path: Path | str) -> Episode:
    """Open an episode by itself: its folder, or the trajectory in it.

    Raises:
        RecordError: It holds no trajectory.
    """
    place = Path(path)
    folder = place if place.is_dir() else place.parent
    _plain(folder / TRAJECTORY_NAME)
    return Episode(**vars(read_episode(folder)))


def labelled_folders(path: Path) -> dict[Path, str]:
    """Return the run folders of a study's folder, each with its condition in words.

    Raises:
        RecordError: Its study.json is none.
    """
    try:
        return {path / condition.id: condition.label for condition in read_study(path).conditions}
    except BadInput as fault:
        raise RecordError(f"{fault}; rerun the same command") from fault


def frames_in(folder: Path) -> dict[int, Path]:
    """Return the pictures in a folder by their numbers; links are not followed."""
    if folder.is_symlink() or not folder.is_dir():
        return {}
    matches = ((entry, _FRAME.fullmatch(entry.name)) for entry in os.scandir(folder))
    return {
        int(match[1]): folder / entry.name
        for entry, match in matches
        if match is not None and entry.is_file(follow_symlinks=False)
    }


def _open(folder: Path, label: str | None = None) -> Run:
    if not (folder / RUN_NAME).is_file():
        raise UsageError(f"{folder}: holds no {RUN_NAME}; name the folder of a run, in which {EPISODES_NAME}/ lies")
    try:
        return Run(RunReader(folder), label)
    except BadInput as fault:
        raise RecordError(str(fault)) from fault


def plain_episode(folder: Path) -> Path:
    """Return the folder of an episode, if neither it nor what holds it is a link that leads elsewhere.

    Raises:
        RecordError: One of them is.
    """
    link = link_in(folder)
    if link is not None:
        raise RecordError(f"{link}: {NOT_FOLLOWED}")
    return folder


def _plain(path: Path) -> Path:
    """Return a record's path, if it is a plain file."""
    plain_episode(path.parent)
    if path.is_symlink() or not path.is_file():
        raise RecordError(
            f"{path.parent}: holds no {path.name}; name an episode's folder, such as runs/demo/episodes/outcrop-0"
        )
    return path
