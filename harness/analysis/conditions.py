"""The conditions of a comparison as they lie on disk: folders of runs and of studies, and people's sessions.

Plays nothing but sessions, which are scored when they are read; what is made of the conditions is `compare`'s business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oresight.harness.analysis.summary import RunSummary, summarise, summarise_run
from oresight.harness.errors import RecordError, UsageError
from oresight.harness.protocols import Json
from oresight.harness.records.people import Played, read_sessions
from oresight.harness.records.reader import Run, open_runs, plain_episode
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.run_folder import EPISODES_NAME, RUN_NAME, STUDY_NAME, TRAJECTORY_NAME
from oresight.scoring.readers.trajectory import read_trajectory
from oresight.scoring.records import EpisodeResult, RunFile
from oresight.scoring.sessions.reader import SessionReader


@dataclass(frozen=True)
class ConditionRun:
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
    def scored(self) -> dict[str, EpisodeResult]:
        """Episodes with a result, by id."""
        return {result.id: result for result in self.summary.results if result.outcome.counts}

    def record(self, name: str) -> Path:
        """The file with the decisions of an episode: a trajectory, or a session.

        Raises:
            RecordError: A link stands in place of the episode's folder.
        """
        if self.sessions is not None:
            return self.sessions[name]
        return plain_episode(self.folder / EPISODES_NAME / name) / TRAJECTORY_NAME

    def scenario(self, name: str) -> Json | None:
        """The scenario of an episode as its record has it; None where that cannot be read."""
        try:
            path = self.record(name)
            with SessionReader(path) if self.is_person else read_trajectory(path) as record:
                return record.header.scenario
        except (BadInput, RecordError):
            return None


def load_conditions(paths: Sequence[Path]) -> list[ConditionRun]:
    """Read run folders, every condition of the folders of studies, and people's sessions.

    Raises:
        OresightError: There is neither at a path.
    """
    found: list[_Found] = []
    for path in paths:
        if (path / STUDY_NAME).is_file() or (path / RUN_NAME).is_file():
            found += [_of_run(run) for run in open_runs(path)]
        else:
            found.append(_person(path))
    labels = _labels(found)
    return [
        ConditionRun(
            label,
            each.summary,
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
    summary: RunSummary
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    sessions: Mapping[str, Path] | None = None
    person: str = ""

    @property
    def run(self) -> RunFile:
        return self.summary.run


def _of_run(run: Run) -> _Found:
    problems = dict.fromkeys(each.problem for each in run.episodes if each.is_faulty and each.problem is not None)
    return _Found(run.path, summarise_run(run), tuple(problems))


def _person(place: Path) -> _Found:
    played: Played | None = read_sessions(place)
    if played is None:
        raise UsageError(
            f"{place}: holds no {RUN_NAME} and no session; name the folder of a run, of a study or of sessions"
        )
    folder = place if place.is_dir() else place.parent
    summary = summarise(played.run, played.results)
    return _Found(folder, summary, played.faults, played.notes, played.files, played.name)


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
    return f"{config.agent}, {config.memory}" + (
        f", {config.prompts}" if with_prompts and config.prompts is not None else ""
    )
