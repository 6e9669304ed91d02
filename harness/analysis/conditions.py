"""The conditions of a comparison as they lie on disk: folders of runs and of studies, and people's sessions.

Plays nothing but sessions, which are scored when they are read; what is made of the conditions is `compare`'s business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oresight.harness import files
from oresight.harness.analysis.summary import RunSummary, summarise
from oresight.harness.errors import OresightError, RecordError, UsageError
from oresight.harness.protocols import Json
from oresight.harness.records import folder as run_folder
from oresight.harness.records.people import Played, read_sessions
from oresight.harness.running.study_file import STUDY_NAME, condition_folders
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.trajectory import read_trajectory
from oresight.scoring.sessions.reader import SessionReader


@dataclass(frozen=True)
class Side:
    """One condition.

    Attributes:
        label: In words.
        summary: What became of its episodes.
        folder: Of the run, or of a person's sessions.
        unreadable: What is wrong with result files or sessions, in sentences.
        notes: What else a reader has to know, in sentences.
        sessions: Of a person: the session of each episode, by id. None for a run, whose episodes have folders.
    """

    label: str
    summary: RunSummary
    folder: Path
    unreadable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sessions: Mapping[str, Path] | None = None

    @property
    def is_person(self) -> bool:
        """Whether a person has played it: then there are sessions, and no trajectories, replies and pictures."""
        return self.sessions is not None

    @property
    def scored(self) -> dict[str, run_folder.EpisodeResult]:
        """Episodes with a result, by id."""
        return {result.id: result for result in self.summary.results if result.outcome.counts}

    def record(self, name: str) -> Path:
        """The file with the decisions of an episode: a trajectory, or a session.

        Raises:
            RecordError: A link stands in place of the episode's folder.
        """
        if self.sessions is not None:
            return self.sessions[name]
        return _no_link(_episode_folder(self.folder, name)) / run_folder.TRAJECTORY_NAME

    def scenario(self, name: str) -> Json | None:
        """The scenario of an episode as its record has it; None where that cannot be read."""
        try:
            path = self.record(name)
            with SessionReader(path) if self.is_person else read_trajectory(path) as record:
                return record.header.scenario
        except (BadInput, RecordError):
            return None


def load_sides(paths: Sequence[Path]) -> list[Side]:
    """Reads run folders, every condition of the folders of studies, and people's sessions.

    Raises:
        OresightError: There is neither at a path.
    """
    folders: list[Path] = []
    for path in paths:
        folders += condition_folders(path) if (path / STUDY_NAME).is_file() else [path]
    found = [_load(folder) for folder in folders]
    labels = _labels(found)
    return [
        Side(
            label,
            summarise(each.run, each.results),
            each.folder,
            each.problems,
            tuple(f"{label}: {note}" for note in each.notes),
            each.sessions,
        )
        for label, each in zip(labels, found, strict=True)
    ]


@dataclass(frozen=True)
class _Found:
    """A condition before it has a label."""

    folder: Path
    run: run_folder.RunFile
    results: tuple[run_folder.EpisodeResult, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    sessions: Mapping[str, Path] | None = None
    person: str = ""


def _load(folder: Path) -> _Found:
    file = folder / run_folder.RUN_NAME
    if not file.is_file():
        return _person(folder)
    run = run_folder.load_run(file)
    results: list[run_folder.EpisodeResult] = []
    problems: list[str] = []
    for name in run.config.episodes:
        episode = _episode_folder(folder, name)
        path = episode / run_folder.RESULT_NAME
        if not path.exists() and not path.is_symlink():
            continue
        try:
            _no_link(episode)
            result = run_folder.load_result(path)
        except OresightError as error:
            problems.append(str(error))
            continue
        if result.id == name:
            results.append(result)
        else:
            problems.append(f"{path}: is the result of {result.id!r}; run the episode again")
    return _Found(folder, run, tuple(results), tuple(problems))


def _episode_folder(folder: Path, name: str) -> Path:
    return folder / run_folder.EPISODES_NAME / files.checked_id(name)


def _no_link(episode: Path) -> Path:
    """The folder of an episode, if neither it nor what holds it is a link that leads elsewhere.

    Raises:
        RecordError: One of them is.
    """
    for place in (episode.parent, episode):
        if place.is_symlink():
            raise RecordError(f"{place}: is a link, which is never followed; put the folder itself in its place")
    return episode


def _person(place: Path) -> _Found:
    played: Played | None = read_sessions(place)
    if played is None:
        raise UsageError(
            f"{place}: holds no {run_folder.RUN_NAME} and no session; name the folder of a run, of a study or of"
            " sessions"
        )
    folder = place if place.is_dir() else place.parent
    return _Found(folder, played.run, played.results, played.faults, played.notes, played.files, played.name)


def _labels(found: Sequence[_Found]) -> list[str]:
    """What tells the conditions apart: agent and memory, prompts where they differ, else the folders' names."""
    prompts = {each.run.config.prompts for each in found if each.sessions is None}
    labels = [_label(each, with_prompts=len(prompts) > 1) for each in found]
    if len(set(labels)) < len(labels):
        labels = [
            label if each.person else f"{label} ({each.folder.name})" for label, each in zip(labels, found, strict=True)
        ]
    if len(set(labels)) < len(labels):
        labels = [f"{number}: {label}" for number, label in enumerate(labels, 1)]
    return labels


def _label(found: _Found, *, with_prompts: bool) -> str:
    config = found.run.config
    if found.sessions is not None:
        return f"{found.person}, {config.agent}"
    return f"{config.agent}, {config.memory}" + (f", {config.prompts}" if with_prompts else "")
