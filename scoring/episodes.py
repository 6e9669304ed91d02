"""Scores one recorded episode: a trajectory of either world with its result, or an entry of an episode file.

Decisions are read and scored a line at a time. The outcome is the recorded one as far as the decisions bear it out.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from oresight.gridenv.mapfile import MapError
from oresight.gridenv.model import DIRECTIONS
from oresight.scoring.branch import after_branch
from oresight.scoring.craft.adapter import CraftScorer
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision
from oresight.scoring.grid.adapter import GridScenario, GridScorer
from oresight.scoring.parameters import Parameters, RecordedInputs
from oresight.scoring.readers.discover import EpisodeSource, read_result
from oresight.scoring.readers.episode_file import EpisodeEntry
from oresight.scoring.readers.faults import BadInput, shown, shown_path, validated
from oresight.scoring.readers.trajectory import Trajectory, read_trajectory
from oresight.scoring.records import Branch, CraftFacts, CraftScenario, DecisionLine, Header, Json, Outcome, StartFacts
from oresight.scoring.rescoring import PairResult, Rescoring, Scorer
from oresight.scoring.vpt.adapter import VptScorer
from oresight.scoring.vpt.ores import Target
from oresight.scoring.vpt.play import VptPlay
from oresight.scoring.vpt.reader import VptRecording

KINDS = ("craft", "grid")


class Follower(Protocol):
    """Told what is read of an episode while it is scored, so that nobody has to read it twice."""

    def header(self, header: Header) -> None:
        """The first line."""

    def decision(self, line: DecisionLine, facts: CraftFacts | None) -> None:
        """The next decision, with its facts where the world has any."""


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


@dataclass(frozen=True)
class LostEpisode:
    """An episode that the machine broke off before its first line: an infrastructure error with nothing to score."""

    file: str
    reason: str | None


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
        kind="grid",
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
        BadInput: Its trajectory is at fault. A faulty result is none: it makes the episode incomplete, with a note.
    """
    notes: list[str] = []
    recorded, reason = _recorded_outcome(source, notes)
    with read_trajectory(source.trajectory) as trajectory:
        header = trajectory.header
        world = _world(header, source.trajectory, parameters)
        # In the 3D world every decision is told; what comes after a grid episode's end is no step of it.
        branch = header.model_dump(include={"branch"})
        rescoring = Rescoring(
            parameters,
            lambda each: after_branch(world.scorer(each), branch),
            keep_steps=keep_steps,
            keep_rest=header.kind == "craft",
        )
        if follower is not None:
            follower.header(header)
        for line, facts in _decisions(trajectory):
            rescoring.score(line.action, facts)
            if follower is not None:
                follower.decision(line, facts)
        if trajectory.torn is not None:
            notes.append(f"line {trajectory.torn.line} was cut short and is left out")
    results = rescoring.results(recorded, reason)
    summary = results[0].summary
    if summary.outcome is Outcome.INFRASTRUCTURE:
        notes.append(infrastructure_note(reason))
    if summary.outcome is Outcome.INCOMPLETE and recorded is not Outcome.INCOMPLETE:
        told = "there is no result" if recorded is None else f"the result says {str(recorded)!r}"
        notes.append(
            f"{told}, but the facts end at decision {summary.steps_taken} of {summary.budget} with"
            f" {world.reached(summary)}; counted as incomplete"
        )
    return EpisodeReport(
        file=shown_path(source.trajectory),
        name=source.name,
        kind=header.kind,
        scenario=world.name,
        agent=header.agent,
        memory=header.memory,
        results=results,
        recorded=world.recorded,
        notes=tuple(notes),
        remarks=() if header.branch is None else (branch_remark(header.branch),),
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


def lost(source: EpisodeSource) -> LostEpisode | None:
    """Return the episode as lost if it is: nothing was written of it but a result that says so."""
    try:
        if source.result is None or source.trajectory.stat().st_size:
            return None
        result = read_result(source.result)
    except BadInput:
        return None
    if result is None or result.outcome is not Outcome.INFRASTRUCTURE:
        return None
    return LostEpisode(shown_path(source.trajectory), result.reason)


def infrastructure_note(reason: str | None) -> str:
    """Say that an infrastructure error is no result, and what to do."""
    words = f" ({shown(reason)})" if reason else ""
    return f"ended by an infrastructure error{words}, which is no result; run the same command again"


def branch_remark(branch: Branch) -> str:
    """Say what of a branch is counted."""
    return f"plays on from decision {branch.at} of {shown(branch.of)}; what is counted comes after it"


def _recorded_outcome(source: EpisodeSource, notes: list[str]) -> tuple[Outcome | None, str | None]:
    if source.result is None:
        return None, None
    try:
        result = read_result(source.result)
    except BadInput as fault:
        notes.append(f"its result is none and the episode counts as incomplete: {fault}")
        return Outcome.INCOMPLETE, None
    if result is not None:
        return result.outcome, result.reason
    if not source.result_required:
        return None, None
    notes.append(f"{source.result.name} is missing, so the episode is not finished; run the same command again")
    return Outcome.INCOMPLETE, None


@dataclass(frozen=True)
class _World:
    """What differs between the worlds: how to make a scorer, and a few words."""

    name: str
    scorer: Callable[[Parameters], Scorer]
    reached: Callable[[EpisodeSummary], str]
    recorded: RecordedInputs | None


def _world(header: Header, path: Path, parameters: Sequence[Parameters]) -> _World:
    if header.kind == "craft":
        return _craft(header, path, parameters)
    if header.kind == "grid":
        return _grid(header, path)
    raise BadInput(path, shown(header.kind), " or ".join(repr(kind) for kind in KINDS), 1, "kind")


def _craft(header: Header, path: Path, parameters: Sequence[Parameters]) -> _World:
    inputs = validated(RecordedInputs, header.score_inputs, path, 1, "score_inputs")
    if inputs.face_px_min > (smallest := min(each.discovery_px for each in parameters)):
        expected = f"at most discovery_px, {smallest}"
        raise BadInput(path, f"{inputs.face_px_min}", expected, 1, "score_inputs.face_px_min")
    scenario = validated(CraftScenario, header.scenario, path, 1, "scenario")
    start = validated(StartFacts, header.start.facts, path, 1, "start.facts")

    def scorer(each: Parameters) -> Scorer:
        try:
            return CraftScorer(each, scenario, start)
        except ValueError as error:
            raise BadInput(path, "an episode of the 3D world", f"another alpha: {error}", 1, "kind") from None

    return _World(scenario.name, scorer, _ores_words, inputs)


def _ores_words(summary: EpisodeSummary) -> str:
    return f"{summary.details['acquired']} of {summary.details['target_count']} ores"


def _grid(header: Header, path: Path) -> _World:
    try:
        scenario = GridScenario.from_json(header.scenario)
    except MapError as fault:
        raise BadInput(path, shown_path(fault.found), fault.expected, 1, shown_path(fault.field)) from None
    except ValueError as error:
        raise BadInput(path, shown_path(str(error)), "a scenario of the grid", 1, "scenario") from None
    return _World(
        scenario.name,
        lambda each: GridScorer(each, scenario),
        lambda summary: "the goal achieved" if summary.success else "the goal not achieved",
        None,
    )


def _decisions(trajectory: Trajectory) -> Iterator[tuple[DecisionLine, CraftFacts | None]]:
    names = {action.name for action in trajectory.header.actions}
    is_craft = trajectory.header.kind == "craft"
    for number, line in trajectory:
        if line.action not in names:
            raise BadInput(trajectory.path, shown(line.action), "an action of the header's table", number, "action")
        if not is_craft and line.action not in DIRECTIONS:
            raise BadInput(trajectory.path, shown(line.action), " or ".join(DIRECTIONS), number, "action")
        facts = validated(CraftFacts, line.facts, trajectory.path, number, "facts") if is_craft else None
        yield line, facts
