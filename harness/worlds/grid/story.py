"""The referee's reasoning in words for the grid: frontiers, nodes and ways."""

from collections.abc import Sequence

from oresight.harness.records.scored import Story, StoryStep
from oresight.harness.worlds.grid.account import GridAccount, Moment, Way
from oresight.harness.worlds.segment import Segment
from oresight.harness.worlds.story import Explanation, count, listed, stale_sentence, verdict_of
from oresight.scoring.core import Case
from oresight.scoring.grid.adapter import GridScenario


def grid_words(story: Story, scenario: GridScenario, account: GridAccount) -> list[Explanation]:
    """Describe every decision of a grid episode."""
    segment = Segment(story.parameters.k, scenario.map.start, leaves_out_staying=False)
    told = []
    for step, moment in zip(story.steps, account.moments, strict=True):
        before, scored = segment.parts(), step.judged
        after = segment.take(scored)
        told.append(
            Explanation(
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
    left = count(moment.frontier, "known cell")
    if case is Case.EXPLORE:
        return f"Case 1: explore. Nothing known can be achieved now, and {left} {_is(moment.frontier)} unobserved."
    if case is Case.GOAL:
        return "Case 2: go for the goal. Its place is known and its prerequisites hold."
    pending = count(len(moment.pending), "known node")
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
    return f": {_cell(way.cell)} was {count(way.before, 'step')} away and is {way.after}"


def _nearest(ways: Sequence[Way]) -> str:
    return f"; the nearest{_way(ways[0])[1:]}" if ways and ways[0].after is not None else ""


def _cell(cell: tuple[int, int]) -> str:
    return f"[{cell[0]}, {cell[1]}]"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
