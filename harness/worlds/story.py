"""The referee's reasoning in words, decision by decision: what was required, and why it was a gain or an error.

The scorer decides, and `harness.wording` has the short words; here the numbers behind a verdict are told as well. This
file has what both worlds share and the grid; the 3D world's words stand in `craft_words`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oresight.harness.report.scored import Story, StoryStep
from oresight.harness.worlds.grid.account import GridAccount, Moment, Way
from oresight.harness.worlds.segment import Parts, Segment
from oresight.scoring.core import Case, ErrorKind
from oresight.scoring.decisions import Reading, ScoredDecision
from oresight.scoring.grid.adapter import GridScenario

ERRORS = {
    ErrorKind.EXPLORATION: "Exploration error",
    ErrorKind.EXPLOITATION: "Exploitation error",
    ErrorKind.BOTH: "Exploration and exploitation error",
}
_SHOWN = 6


@dataclass(frozen=True)
class Told:
    """A decision in words; an empty text says that there is nothing to say.

    Attributes:
        verdict: What it was.
        required: The case, and what follows from it.
        targets: What there was to go for.
        why: Why it was a gain by itself, or that it was none.
        stale: The stale score and its parts, before and after.
        patience: Scored decisions since the last progress, where there is a limit.
        strict: What the strict reading says, where there is one.
        parts: The stale score's parts after it.
    """

    verdict: str
    required: str
    targets: str
    why: str
    stale: str
    patience: str
    strict: str
    parts: Parts

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield what there is to say under its heading."""
        told = (
            ("Verdict", self.verdict),
            ("Required", self.required),
            ("Targets", self.targets),
            ("Gain", self.why),
            ("Stale score", self.stale),
            ("Patience", self.patience),
            ("Strict reading", self.strict),
        )
        return ((heading, text) for heading, text in told if text)


def verdict_of(step: StoryStep, stale_before: int, unscored: str) -> str:
    """What a decision was, in the first reading."""
    verdict = verdict_sentence(step.judged, stale_before, unscored)
    if step.judged.scored and not step.scored.scored:
        return f"Not counted: it was decided in the recording that this branch plays on from. There: {verdict}"
    return verdict


def verdict_sentence(scored: ScoredDecision, stale_before: int, unscored: str) -> str:
    """What a decision was by itself."""
    if not scored.scored:
        return unscored
    if scored.error is not None:
        return f"{ERRORS[scored.error]}: {_causes(scored.causes, scored.stale, stale_before)}."
    return "Gain and progress." if scored.progress else "Gain, without progress."


def strict_sentence(scored: ScoredDecision, strict: Reading, stale_before: int) -> str:
    """What the other reading says."""
    if strict.error is None:
        return "The same." if scored.error is None else "No error."
    causes = _causes(strict.causes, scored.stale, stale_before)
    if strict.error is scored.error and strict.causes == scored.causes:
        return "The same."
    return f"{ERRORS[strict.error]}: {causes}."


def stale_sentence(scored: ScoredDecision, before: Parts, after: Parts, k: int) -> str:
    """The stale score and what it is made of, before and after a decision."""
    if not scored.scored:
        return f"{_sum(after)}, as before: the decision is not in the segment."
    if scored.progress:
        return f"0: progress begins a new segment here (before: {_sum(before)})."
    length = f"k = {k}; the segment has {_count(after.moves, 'move')} since {_since(after.since)}"
    if after == before:
        return f"{_sum(after)}, as before: the decision ended where it began and adds nothing ({length})."
    change = "unchanged" if before.stale == after.stale else f"was {_sum(before)}"
    return f"{_sum(after)}, {change} ({length})."


def listed(names: Sequence[str], of: int | None = None) -> str:
    """The first few of some names, and how many more there are."""
    total = len(names) if of is None else of
    shown = ", ".join(names[:_SHOWN])
    return shown if total <= min(len(names), _SHOWN) else f"{shown} and {total - min(len(names), _SHOWN)} more"


def grid_words(story: Story, scenario: GridScenario, account: GridAccount) -> list[Told]:
    """Every decision of a grid episode in words."""
    segment = Segment(story.parameters.k, scenario.map.start, leaves_out_staying=False)
    told = []
    for step, moment in zip(story.steps, account.moments, strict=True):
        before, scored = segment.parts(), step.judged
        after = segment.take(scored)
        told.append(
            Told(
                verdict=verdict_of(step, before.stale, "Not scored: it comes after the end."),
                required=_grid_required(scored.case, moment),
                targets=_grid_targets(scored.case, moment, scenario),
                why=_grid_why(step, moment) if scored.scored else "",
                stale=stale_sentence(scored, before, after, story.parameters.k),
                patience="",
                strict="",
                parts=after,
            )
        )
    return told


def _grid_required(case: Case | None, moment: Moment) -> str:
    if case is None:
        return ""
    left = _count(moment.frontier, "known cell")
    if case is Case.EXPLORE:
        return f"Case 1: explore. Nothing known can be achieved now, and {left} {_is(moment.frontier)} unobserved."
    if case is Case.GOAL:
        return "Case 2: go for the goal. Its place is known and its prerequisites hold."
    pending = _count(len(moment.pending), "known node")
    if case is Case.EXPLOIT:
        return f"Case 3: exploit. {pending} can be achieved, and nothing is left to explore."
    return f"Case 4: explore or exploit. {pending} can be achieved, and {left} {_is(moment.frontier)} unobserved."


def _grid_targets(case: Case | None, moment: Moment, scenario: GridScenario) -> str:
    if case is None:
        return ""
    goal = scenario.map.goal_node
    if case is Case.GOAL:
        return f"the goal {goal.id} at {_cell(goal.cell)}"
    parts = []
    if case.exploit_eligible:
        parts.append("nodes " + listed([f"{node.id} at {_cell(node.cell)}" for node in moment.pending]))
    if case.explore_eligible:
        parts.append("unobserved cells " + listed([_cell(cell) for cell in moment.some_frontier], moment.frontier))
    return "; ".join(parts)


def _grid_why(step: StoryStep, moment: Moment) -> str:
    scored = step.judged
    moved = f"It moved to {_cell(moment.after)}" if moment.after != moment.before else "It did not move"
    if scored.progress:
        entered = "an unobserved cell"
        if moment.achieved is not None:
            entered = f"the cell of {moment.achieved}, which it achieved"
        elif moment.found is not None:
            entered = f"an unobserved cell and found {moment.found} there"
        return f"{moved}, {entered}: a target was entered."
    if "nearer" in scored.reasons:
        return f"{moved}, nearer to a target{_way(moment.ways[-1]) if moment.ways else ''}."
    if "possibly nearer" in scored.reasons:
        known = f" The known way to the goal{_way(moment.ways[0])}." if moment.ways else ""
        return f"{moved}, where a way through unobserved cells may be shorter.{known}"
    if moment.after == moment.before:
        return f"None. {moved}: there is no way {step.line.action} from {_cell(moment.before)}."
    return f"None. {moved}, nearer to no target{_nearest(moment.ways)}."


def _way(way: Way) -> str:
    if way.before is None or way.after is None:
        return ""
    return f": {_cell(way.cell)} was {_count(way.before, 'step')} away and is {way.after}"


def _nearest(ways: Sequence[Way]) -> str:
    return f"; the nearest{_way(ways[0])[1:]}" if ways and ways[0].after is not None else ""


def _causes(causes: Sequence[str], stale: int, before: int) -> str:
    words = {
        "no gain": "no gain",
        "stale": f"the stale score rose from {before} to {stale}",
        "patience": "the patience is used up",
    }
    return ", ".join(words.get(cause, cause) for cause in causes)


def _sum(parts: Parts) -> str:
    return f"{parts.stale} = c {parts.cycles} + e {parts.edges} + n {parts.nodes}"


def _since(step: int) -> str:
    return f"decision {step}" if step else "the start"


def _cell(cell: tuple[int, int]) -> str:
    return f"[{cell[0]}, {cell[1]}]"


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
