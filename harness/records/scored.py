"""Reads one episode as a whole, in one pass: decisions, what a model said to them, and how they are scored.

Words, drawings and pages are made of a `Story` elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oresight.harness.errors import InfrastructureError, RecordError
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.records import resume
from oresight.scoring.adapters import find_adapter
from oresight.scoring.craft.adapter import Discovery, discoveries_of
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision
from oresight.scoring.episodes import score_episode
from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.discover import EpisodeSource, SessionFile, find_episodes
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.run_folder import REPLIES_NAME, EpisodeRecord, run_around
from oresight.scoring.records import CraftFacts, DecisionLine, Header
from oresight.scoring.rescoring import PairResult

_FOREIGN = "the folder of an episode (with a trajectory.jsonl) or of a person's session (with a session.jsonl)"


@dataclass(frozen=True)
class StoryStep:
    """One decision.

    Attributes:
        line: As it is recorded.
        facts: Its facts, checked; None in the grid, where map and moves say it all.
        scored: How it is classified under the first parameters.
        judged: The same, but for what a branch plays on from: how that was classified in its own recording.
        replies: What the model replied to it, re-asks included; empty where no model plays.
    """

    line: DecisionLine
    facts: CraftFacts | None
    scored: ScoredDecision
    judged: ScoredDecision
    replies: tuple[ReplyRecord, ...] = ()


@dataclass(frozen=True)
class Story:
    """One episode.

    Attributes:
        folder: Where it lies.
        name: Its id.
        header: Of its trajectory.
        steps: Its decisions, in order.
        parameters: The first ones that it was scored under; `steps` tells of these.
        results: Under each of the parameters, in their order.
        discoveries: Target ores discovered, in their order; in a branch also those of before.
        notes: What a reader has to know: a torn line left out, a result missing or at odds with the facts.
        unanswered: The last replies of a model whose decision never came; they ended the episode.
        shrunk: When what the model is shown was made to shrink, and to what; None if it never was.
        with_pictures: Whether the agent was shown pictures; None where nobody says.
        by_a_person: Whether it is a session that a person played.
    """

    folder: Path
    name: str
    header: Header
    steps: tuple[StoryStep, ...]
    parameters: Parameters
    results: tuple[PairResult, ...]
    discoveries: tuple[Discovery, ...] = ()
    notes: tuple[str, ...] = ()
    unanswered: tuple[ReplyRecord, ...] = ()
    shrunk: resume.Shrunk | None = None
    with_pictures: bool | None = None
    by_a_person: bool = False

    @property
    def summary(self) -> EpisodeSummary:
        """The episode in numbers, under the first parameters."""
        return self.results[0].summary

    @property
    def before(self) -> int:
        """How many decisions a branch plays on from, which are not counted; 0 in an episode of its own."""
        return 0 if self.header.branch is None else self.header.branch.at

    @property
    def by_a_model(self) -> bool:
        """Whether replies of a model are recorded."""
        return bool(self.unanswered) or any(step.replies for step in self.steps)


def read_story(folder: Path, parameters: Sequence[Parameters]) -> Story:
    """Reads an episode, or a person's session.

    Args:
        folder: Of the episode.
        parameters: One or more; `Story.results` has a result for each, and the steps are classified by the first.

    Raises:
        BadInput: Its trajectory is at fault, or there is none.
        OresightError: It cannot be read.
    """
    found = next(iter(find_episodes(folder)), None)
    if isinstance(found, BadInput):
        raise found
    if isinstance(found, EpisodeRecord):
        raise BadInput(folder, found.state, _FOREIGN) if found.problem is None else RecordError(found.problem)
    if isinstance(found, SessionFile):
        return _session(found.path, parameters)
    if not isinstance(found, EpisodeSource):
        raise BadInput(folder, "something else", _FOREIGN)
    heard = _Heard()
    report = score_episode(found, parameters, follower=heard)
    assert heard.head is not None
    notes = [*report.notes, *report.remarks]
    replies = _replies(found.trajectory.parent, notes)
    by_step: dict[int, list[ReplyRecord]] = {}
    for record in replies.replies:
        by_step.setdefault(record.step, []).append(record)
    scored = [_scored(report.results[0].steps, place, line) for place, (line, _) in enumerate(heard.decisions)]
    judged, discoveries = scored, discoveries_of(report.summary)
    if heard.head.branch is not None:
        judged, discoveries = _whole(heard, parameters[0])
    steps = tuple(
        StoryStep(line, facts, one, whole, tuple(by_step.pop(line.step, ())))
        for (line, facts), one, whole in zip(heard.decisions, scored, judged, strict=True)
    )
    return Story(
        folder=found.trajectory.parent,
        name=found.name,
        header=heard.head,
        steps=steps,
        parameters=parameters[0],
        results=report.results,
        discoveries=discoveries,
        notes=tuple(notes),
        unanswered=tuple(record for records in by_step.values() for record in records),
        shrunk=replies.shrunk,
        with_pictures=None if (run := run_around(found.trajectory)) is None else run.config.size is not None,
    )


class _Heard:
    """Keeps what is read while an episode is scored."""

    def __init__(self) -> None:
        self.head: Header | None = None
        self.decisions: list[tuple[DecisionLine, CraftFacts | None]] = []

    def header(self, header: Header) -> None:
        self.head = header

    def decision(self, line: DecisionLine, facts: CraftFacts | None) -> None:
        self.decisions.append((line, facts))


def _scored(scored: Sequence[ScoredDecision], place: int, line: DecisionLine) -> ScoredDecision:
    """The classification of a decision; what comes after a grid episode's end has none."""
    if place < len(scored):
        return scored[place]
    return ScoredDecision.unscored(line.step, line.action, scored[-1].stale if scored else 0)


def _whole(heard: _Heard, parameters: Parameters) -> tuple[list[ScoredDecision], tuple[Discovery, ...]]:
    """A branch as one episode from its start: what was decided before it tells what is a gain after it."""
    assert heard.head is not None
    adapter = find_adapter(heard.head.kind)
    scorer = adapter.scorer(parameters, heard.head.scenario, heard.head.start.facts)
    judged = [scorer.score(line.action, facts) for line, facts in heard.decisions]
    return judged, discoveries_of(scorer.summary())


def _replies(folder: Path, notes: list[str]) -> resume.KeptReplies:
    try:
        return resume.read_replies(folder / REPLIES_NAME)
    except (InfrastructureError, RecordError) as error:
        notes.append(f"what the model replied is left out: {error}")
        return resume.KeptReplies((), None, 0)


def _session(path: Path, parameters: Sequence[Parameters]) -> Story:
    # Imported here, since it needs the world and no episode does.
    from oresight.harness.worlds.craft.session_score import score_session

    heard = _Heard()
    report = score_session(path, parameters, follower=heard)
    assert heard.head is not None
    scored = [_scored(report.results[0].steps, place, line) for place, (line, _) in enumerate(heard.decisions)]
    return Story(
        folder=path.parent,
        name=report.name,
        header=heard.head,
        steps=tuple(
            StoryStep(line, facts, one, one) for (line, facts), one in zip(heard.decisions, scored, strict=True)
        ),
        parameters=parameters[0],
        results=report.results,
        discoveries=discoveries_of(report.summary),
        notes=report.notes,
        by_a_person=True,
    )
