"""Scores what paths stand for, episode by episode, and pools it: what the `score` command prints and writes.

A fault in one file spoils no other; every fault is kept in words, and the counts say how many episodes stand behind the
figures. Without `keep_steps` memory does not grow with the length of episodes.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scoring.craft import CraftScorer
from scoring.parameters import Parameters, RecordedInputs
from scoring.rates import EpisodeCounts, PooledRates, pool
from scoring.readers.faults import BadInput, shown, shown_path, unreadable, validated
from scoring.readers.folders import EpisodeSource, MissingEpisode, find_episodes, read_result
from scoring.readers.trajectory import Trajectory, read_trajectory
from scoring.records import CraftFacts, CraftScenario, Header, Json, Outcome, StartFacts
from scoring.summary import EpisodeSummary, ScoredDecision


@dataclass(frozen=True)
class EpisodeReport:
    """One scored episode.

    Attributes:
        file: Its trajectory, as it was given or found.
        name: Its id.
        kind: The world.
        scenario: The scenario's name.
        agent: Who played.
        memory: With which context strategy.
        summary: The episode in numbers; the outcome is `summary.outcome`.
        steps: The classified decisions; empty if they were not kept.
        recorded: What the facts were recorded under.
        notes: What a reader has to know: a torn line left out, a result missing or at odds with the facts.
    """

    file: str
    name: str
    kind: str
    scenario: str
    agent: str
    memory: str
    summary: EpisodeSummary
    steps: tuple[ScoredDecision, ...]
    recorded: RecordedInputs
    notes: tuple[str, ...]

    def to_json(self) -> Json:
        """Return the episode as plain JSON."""
        return {
            "file": self.file,
            "name": self.name,
            "kind": self.kind,
            "scenario": self.scenario,
            "agent": self.agent,
            "memory": self.memory,
            "outcome": str(self.summary.outcome),
            "summary": self.summary.to_json(),
            "steps": [step.to_json() for step in self.steps],
            "recorded": self.recorded.model_dump(mode="json"),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class ScoreReport:
    """Everything that was asked to be scored.

    Attributes:
        episodes: In the order of the paths, and of names within a folder.
        pooled: The figures over those with a result.
        counts: How many episodes stand behind them, and how many do not.
        problems: Every fault and every missing episode, a sentence each.
        parameters: What it was scored under.
    """

    episodes: tuple[EpisodeReport, ...]
    pooled: PooledRates
    counts: EpisodeCounts
    problems: tuple[str, ...]
    parameters: Parameters

    @property
    def complete(self) -> bool:
        """Whether every episode has a result and nothing was at fault."""
        return self.counts.complete and not self.problems

    def to_json(self) -> Json:
        """Return the report as plain JSON."""
        return {
            "episodes": [episode.to_json() for episode in self.episodes],
            "pooled": {
                **self.pooled.to_json(),
                "counts": self.counts.to_json(),
                "complete": self.complete,
                "problems": list(self.problems),
            },
            "parameters": self.parameters.model_dump(mode="json"),
        }


@dataclass(frozen=True)
class LostEpisode:
    """An episode that the machine broke off before its first line: an infrastructure error with nothing to score."""

    file: str
    reason: str | None


def score_paths(
    paths: Iterable[Path],
    parameters: Parameters | None = None,
    *,
    keep_steps: bool = True,
    on_episode: Callable[[EpisodeReport], None] | None = None,
) -> ScoreReport:
    """Score every episode that the paths stand for.

    Args:
        paths: Files and folders.
        parameters: Of the metric; the defaults if None.
        keep_steps: Keep every classified decision.
        on_episode: Called after each episode, for a progress display.
    """
    parameters = parameters or Parameters()
    episodes: list[EpisodeReport] = []
    problems: list[str] = []
    unreadable = missing = lost = 0
    for found in _episodes(paths, parameters, keep_steps):
        if isinstance(found, EpisodeReport):
            episodes.append(found)
            problems.extend(f"{found.file}: {note}" for note in found.notes)
            if on_episode is not None:
                on_episode(found)
        elif isinstance(found, MissingEpisode):
            missing += 1
            name = shown_path(found.name)
            problems.append(
                f"{shown_path(found.run)}: episode {name} is missing; run the same command again to play it"
            )
        elif isinstance(found, LostEpisode):
            lost += 1
            problems.append(f"{found.file}: {_infrastructure_note(found.reason)}")
        else:
            unreadable += 1
            problems.append(str(found))
    summaries = [episode.summary for episode in episodes]
    outcomes = [summary.outcome for summary in summaries] + [Outcome.INFRASTRUCTURE] * lost
    return ScoreReport(
        episodes=tuple(episodes),
        pooled=pool(summaries),
        counts=EpisodeCounts.of(outcomes, unreadable, missing),
        problems=tuple(problems),
        parameters=parameters,
    )


def score_episode(source: EpisodeSource, parameters: Parameters, *, keep_steps: bool = True) -> EpisodeReport:
    """Score one episode from disk, a line at a time.

    Raises:
        BadInput: Its trajectory is at fault. A faulty result is none: it makes the episode incomplete, with a note.
    """
    notes: list[str] = []
    recorded, reason = _recorded_outcome(source, notes)
    steps: list[ScoredDecision] = []
    with read_trajectory(source.trajectory) as trajectory:
        inputs = _inputs(trajectory.header, source.trajectory, parameters)
        scorer = _scorer(trajectory.header, source.trajectory, parameters)
        for step in _score_lines(trajectory, scorer):
            if keep_steps:
                steps.append(step)
        if trajectory.torn is not None:
            notes.append(f"line {trajectory.torn.line} was cut short and is left out")
        header = trajectory.header
    summary = scorer.summary(recorded, reason)
    if summary.outcome is Outcome.INFRASTRUCTURE:
        notes.append(_infrastructure_note(reason))
    if summary.outcome is Outcome.INCOMPLETE and recorded is not Outcome.INCOMPLETE:
        told = "there is no result" if recorded is None else f"the result says {str(recorded)!r}"
        notes.append(
            f"{told}, but the facts end at decision {summary.steps_taken} of {summary.budget} with {summary.acquired}"
            f" of {summary.target_count} ores; counted as incomplete"
        )
    return EpisodeReport(
        file=shown_path(source.trajectory),
        name=source.name,
        kind=header.kind,
        scenario=scorer.scenario.name,
        agent=header.agent,
        memory=header.memory,
        summary=summary,
        steps=tuple(steps),
        recorded=inputs,
        notes=tuple(notes),
    )


def _episodes(
    paths: Iterable[Path], parameters: Parameters, keep_steps: bool
) -> Iterator[EpisodeReport | LostEpisode | MissingEpisode | BadInput]:
    seen: set[Path] = set()
    for path in paths:
        for found in find_episodes(path):
            if not isinstance(found, EpisodeSource):
                yield found
                continue
            # A file named twice, or a folder and a file in it, is one episode.
            place = found.trajectory.resolve()
            if place in seen:
                continue
            seen.add(place)
            try:
                yield _lost(found) or score_episode(found, parameters, keep_steps=keep_steps)
            except BadInput as fault:
                yield fault
            except OSError as error:
                yield unreadable(found.trajectory, error)


def _lost(source: EpisodeSource) -> LostEpisode | None:
    if source.result is None or source.trajectory.stat().st_size:
        return None
    try:
        result = read_result(source.result)
    except BadInput:
        return None
    if result is None or result.outcome is not Outcome.INFRASTRUCTURE:
        return None
    return LostEpisode(shown_path(source.trajectory), result.reason)


def _infrastructure_note(reason: str | None) -> str:
    words = f" ({shown(reason)})" if reason else ""
    return f"ended by an infrastructure error{words}, which is no result; run the same command again"


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


def _inputs(header: Header, path: Path, parameters: Parameters) -> RecordedInputs:
    inputs = validated(RecordedInputs, header.score_inputs, path, 1, "score_inputs")
    if inputs.face_px_min > parameters.discovery_px:
        raise BadInput(
            path,
            f"{inputs.face_px_min}",
            f"at most discovery_px, {parameters.discovery_px}",
            1,
            "score_inputs.face_px_min",
        )
    return inputs


def _scorer(header: Header, path: Path, parameters: Parameters) -> CraftScorer:
    if header.kind != "craft":
        raise BadInput(path, shown(header.kind), "'craft'", 1, "kind")
    scenario = validated(CraftScenario, header.scenario, path, 1, "scenario")
    start = validated(StartFacts, header.start.facts, path, 1, "start.facts")
    return CraftScorer(parameters, scenario, start)


def _score_lines(trajectory: Trajectory, scorer: CraftScorer) -> Iterator[ScoredDecision]:
    names = {action.name for action in trajectory.header.actions}
    for number, line in trajectory:
        if line.action not in names:
            raise BadInput(trajectory.path, shown(line.action), "an action of the header's table", number, "action")
        facts = validated(CraftFacts, line.facts, trajectory.path, number, "facts")
        yield scorer.score(line.action, facts)
