"""Scores one recorded episode: a trajectory of either world with its result, or an entry of an episode file.

Decisions are read and scored a line at a time. The outcome is the recorded one as far as the decisions bear it out.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from oresight.scoring.adapters import Adapter, find_adapter
from oresight.scoring.branch import after_branch
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision
from oresight.scoring.grid.adapter import GridScorer
from oresight.scoring.measures import Following
from oresight.scoring.parameters import Parameters, RecordedInputs
from oresight.scoring.readers.discover import EpisodeSource
from oresight.scoring.readers.episode_file import EpisodeEntry
from oresight.scoring.readers.faults import BadInput, shown, shown_path
from oresight.scoring.readers.run_folder import RESULT_NAME, State, broken_words
from oresight.scoring.readers.trajectory import Trajectory, read_trajectory
from oresight.scoring.records import Branch, DecisionLine, Header, Json, Outcome, TextActions
from oresight.scoring.rescoring import PairResult, Rescoring
from oresight.scoring.vpt.adapter import VptScorer
from oresight.scoring.vpt.ores import Target
from oresight.scoring.vpt.play import VptPlay
from oresight.scoring.vpt.reader import VptRecording


class Follower(Protocol):
    """Receives what is read of an episode while it is scored, so that it need not be read twice."""

    def header(self, header: Header) -> None:
        """Receive the first line."""

    def decision(self, line: DecisionLine, facts: Any) -> None:
        """Receive the next decision, with its facts as the world's adapter reads them."""


@dataclass(frozen=True)
class EpisodeReport:
    """One scored episode.

    Attributes:
        file: Its trajectory or episode file, as it was given or found.
        name: Its id.
        kind: The world.
        scenario: The scenario's name.
        agent: Who played; empty if nobody says.
        memory: With which context strategy; empty if nobody says.
        results: Under each pair of alpha and k, at least one.
        recorded: What the facts were recorded under; None in the grid, where map and moves say it all.
        notes: What a reader has to know: a torn line left out, a result missing or at odds with the facts.
        undecided: What the recording does not say, so that it is not scored; with the reason.
        remarks: What is as it should be and worth knowing, such as how much of a recording was no play.
    """

    file: str
    name: str
    kind: str
    scenario: str
    agent: str
    memory: str
    results: tuple[PairResult, ...]
    recorded: RecordedInputs | None
    notes: tuple[str, ...]
    undecided: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def summary(self) -> EpisodeSummary:
        """The episode in numbers, under the first alpha and k; the outcome is `summary.outcome`."""
        return self.results[0].summary

    @property
    def steps(self) -> tuple[ScoredDecision, ...]:
        """The classified decisions under the first alpha and k; empty if they were not kept."""
        return self.results[0].steps

    def to_json(self) -> Json:
        """Return the episode as plain JSON: under one alpha and k the result flat, under several one each."""
        if len(self.results) == 1:
            return {**self._told(), **self.results[0].to_json()}
        return {**self._told(), "results": [result.to_json() for result in self.results]}

    def json_parts(self) -> Iterator[str]:
        """Yield the JSON of `to_json` in pieces, so that a million steps are never in memory as text."""
        told = _dumps(self._told())[:-1]
        if len(self.results) == 1:
            yield f"{told}, "
            yield from _result_parts(self.results[0])
        else:
            yield f'{told}, "results": ['
            for number, result in enumerate(self.results):
                yield ", {" if number else "{"
                yield from _result_parts(result)
            yield "]}"

    def _told(self) -> Json:
        return {
            "file": self.file,
            "name": self.name,
            "kind": self.kind,
            "scenario": self.scenario,
            "agent": self.agent,
            "memory": self.memory,
            "recorded": None if self.recorded is None else self.recorded.model_dump(mode="json"),
            "notes": list(self.notes),
            "undecided": list(self.undecided),
            "remarks": list(self.remarks),
        }


def _result_parts(result: PairResult) -> Iterator[str]:
    """Yield the JSON of a result without its opening brace."""
    yield f'{_dumps(result.told())[1:-1]}, "steps": ['
    for number, step in enumerate(result.steps):
        yield (",\n " if number else "\n ") + _dumps(step.to_json())
    yield "]}"


def _dumps(value: Json) -> str:
    return json.dumps(value, allow_nan=False)


def score_entry(
    entry: EpisodeEntry, file: Path, parameters: Sequence[Parameters], keep_steps: bool = True
) -> EpisodeReport:
    """Score an episode of an episode file; where its moves end early without success, it is a failure."""
    rescoring = Rescoring(
        parameters, lambda each: GridScorer(each, entry.scenario), keep_steps=keep_steps, keep_rest=False
    )
    for move in entry.moves:
        rescoring.score(move)
    return EpisodeReport(
        file=shown_path(file),
        name=entry.name,
        kind=entry.kind,
        scenario=entry.scenario.name,
        agent="",
        memory="",
        results=rescoring.results(Outcome.AGENT_ENDED, None),
        recorded=None,
        notes=(),
    )


def score_episode(
    source: EpisodeSource,
    parameters: Sequence[Parameters],
    *,
    keep_steps: bool = True,
    follower: Follower | None = None,
) -> EpisodeReport:
    """Score one episode from disk, a line at a time.

    Args:
        source: Where it lies.
        parameters: One or more.
        keep_steps: Keep every classified decision.
        follower: Told of header and decisions as they are read.

    Raises:
        BadInput: Its trajectory is at fault, or does not bear out the success that its result tells.
    """
    notes: list[str] = []
    recorded, reason = _recorded_outcome(source, notes)
    with read_trajectory(source.trajectory) as trajectory:
        header = trajectory.header
        adapter = find_adapter(header.kind)
        recording = adapter.read(header, source.trajectory, parameters)
        branch = header.model_dump(include={"branch"})
        rescoring = Rescoring(
            parameters,
            lambda each: after_branch(adapter.scorer(each, recording.scenario, recording.start), branch),
            keep_steps=keep_steps,
            keep_rest=adapter.scores_rest,
            follow=lambda: Following(
                header.kind, header.start.state_hash, 0 if header.branch is None else header.branch.at
            ),
        )
        if follower is not None:
            follower.header(header)
        for line, facts in _decisions(trajectory, adapter):
            rescoring.score(line.action, facts, line.ticks, line.state_hash)
            if follower is not None:
                follower.decision(line, facts)
        if trajectory.torn is not None:
            notes.append(f"line {trajectory.torn.line} was cut short and is left out")
    results = rescoring.results(recorded, reason)
    summary = results[0].summary
    if summary.outcome is Outcome.INFRASTRUCTURE:
        notes.append(broken_words(reason))
    if summary.outcome is Outcome.INCOMPLETE and recorded is not Outcome.INCOMPLETE:
        if recorded is Outcome.SUCCESS:
            found = f"{adapter.reached(summary)} at decision {summary.steps_taken} of {summary.budget}, where it ends"
            raise BadInput(source.trajectory, found, f"what {RESULT_NAME} says, {str(recorded)!r}; rerun the command")
        told = "there is no result" if recorded is None else f"the result says {str(recorded)!r}"
        notes.append(
            f"{told}, but the facts end at decision {summary.steps_taken} of {summary.budget} with"
            f" {adapter.reached(summary)}; counted as incomplete"
        )
    return EpisodeReport(
        file=shown_path(source.trajectory),
        name=source.name,
        kind=header.kind,
        scenario=recording.name,
        agent=header.agent,
        memory=header.memory,
        results=results,
        recorded=recording.inputs,
        notes=tuple(notes),
        remarks=tuple(_remarks(header, adapter)),
    )


def score_recording(
    path: Path, target: Target, parameters: Sequence[Parameters], *, keep_steps: bool = True
) -> EpisodeReport:
    """Score a VPT-style recording, a line at a time.

    Args:
        path: Its file.
        target: What counts as acquired.
        parameters: One or more.
        keep_steps: Keep every classified decision.

    Raises:
        BadInput: The file is at fault.
    """
    with VptRecording(path) as recording:
        play = VptPlay(recording, target)
        rescoring: Rescoring | None = None
        for facts in play:
            if rescoring is None:
                rescoring = _recording_scorers(play, parameters, keep_steps)
            rescoring.score(facts.cut.action, facts, (facts.cut.first, facts.cut.last))
        if rescoring is None:
            rescoring = _recording_scorers(play, parameters, keep_steps)
    return EpisodeReport(
        file=shown_path(path),
        name=path.stem,
        kind="vpt",
        scenario=target.name,
        agent="",
        memory="",
        results=rescoring.results(None, None),
        recorded=None,
        notes=(),
        undecided=play.undecided(),
        remarks=(*play.remarks(), *recording.remarks()),
    )


def _recording_scorers(play: VptPlay, parameters: Sequence[Parameters], keep_steps: bool) -> Rescoring:
    start = play.start
    return Rescoring(parameters, lambda each: VptScorer(each, start), keep_steps=keep_steps)


def branch_remark(branch: Branch) -> str:
    """Say what of a branch is counted."""
    return f"plays on from decision {branch.at} of {shown(branch.of)}; what is counted comes after it"


def _remarks(header: Header, adapter: Adapter) -> Iterator[str]:
    if header.branch is not None:
        yield branch_remark(header.branch)
    if not adapter.readings:
        yield (
            f"the error metric is not defined in the world {shown(header.kind)}, for which no adapter is installed;"
            " success, score and budget are"
        )


def _recorded_outcome(source: EpisodeSource, notes: list[str]) -> tuple[Outcome | None, str | None]:
    record = source.record
    if record is None:
        return None, None
    if record.state is State.INCOMPLETE:
        notes.append("is incomplete: its result is missing; rerun the same command to finish it")
        return Outcome.INCOMPLETE, None
    if record.is_faulty and record.problem is not None:
        notes.append(record.problem)
        return Outcome.INCOMPLETE if record.result is None else record.result.outcome, None
    return (None, None) if record.result is None else (record.result.outcome, record.result.reason)


def _decisions(trajectory: Trajectory, adapter: Adapter) -> Iterator[tuple[DecisionLine, Any]]:
    header = trajectory.header
    names = None if isinstance(header.actions, TextActions) else {action.name for action in header.actions}
    for number, line in trajectory:
        if names is None and not header.admits(line.action):
            raise BadInput(trajectory.path, shown(line.action), "a text as the header bounds it", number, "action")
        if names is not None and line.action not in names:
            raise BadInput(trajectory.path, shown(line.action), "an action of the header's table", number, "action")
        yield line, adapter.facts(line, trajectory.path, number)
