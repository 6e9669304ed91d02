"""What a researcher is shown of a recorded grid episode: what was known before each move, and since when.

Full knowledge, for pages and never for agents. How a move is judged is the scorer's business; here the distances are
looked up that its reasons speak of.
"""

import heapq
from collections.abc import Sequence, Set
from dataclasses import dataclass

from oresight.gridenv.model import Cell, Exploration, Node
from oresight.scoring.core import Case
from oresight.scoring.grid.adapter import GridScenario

# Distances are searched again at each move; on a larger known map they are left out.
DISTANCES_MAX_CELLS = 400
# How many unobserved cells are named.
SHOWN_CELLS = 6


@dataclass(frozen=True)
class Way:
    """How far a target was before and after a move, over what was known before it; None where no way was known."""

    cell: Cell
    before: int | None
    after: int | None


@dataclass(frozen=True)
class Moment:
    """One move.

    Attributes:
        before: The cell it began on.
        after: The cell it ended on.
        frontier: How many cells were unobserved before it.
        some_frontier: The first of these, in reading order.
        pending: The nodes that could be achieved before it.
        goal_pending: Whether the goal was one of them.
        ways: To the nearest target, and to the nearest one that came nearer; empty where they are not looked up.
        found: The node that it discovered, or None.
        achieved: The node that it achieved, or None.
    """

    before: Cell
    after: Cell
    frontier: int
    some_frontier: tuple[Cell, ...]
    pending: tuple[Node, ...]
    goal_pending: bool
    ways: tuple[Way, ...]
    found: str | None
    achieved: str | None


@dataclass(frozen=True)
class GridAccount:
    """An episode on a map; times are numbers of decisions after which something holds, 0 for the start.

    Attributes:
        moments: A move each.
        seen: Per cell when it was known to exist.
        observed: Per cell when it was stood on.
        found: Per node when it was discovered.
        achieved: Per node when it was achieved.
    """

    moments: tuple[Moment, ...]
    seen: dict[Cell, int]
    observed: dict[Cell, int]
    found: dict[str, int]
    achieved: dict[str, int]


def account(scenario: GridScenario, moves: Sequence[str | None], cases: Sequence[Case | None]) -> GridAccount:
    """Replay the moves of an episode again.

    Args:
        scenario: Map and visibility.
        moves: The directions, None for no move.
        cases: Per move the case that it was judged in; None for one that was not judged.
    """
    map_ = scenario.map
    walk = Exploration(map_, scenario.visibility)
    observed = dict.fromkeys(walk.observed, 0)
    seen = dict.fromkeys((*walk.observed, *walk.unobserved), 0)
    found = dict.fromkeys(walk.seen, 0)
    achieved = dict.fromkeys(walk.achieved, 0)
    frontier, some_frontier = len(walk.unobserved), _first(walk.unobserved)
    moments: list[Moment] = []
    for step, (direction, case) in enumerate(zip(moves, cases, strict=True), 1):
        before, pending = walk.position, walk.pending
        targets = _targets(case, walk, pending)
        after = map_.ways[before].get(direction, before) if direction else before
        ways = _ways(walk, before, after, targets) if targets and len(seen) <= DISTANCES_MAX_CELLS else ()
        known_frontier, known_some = frontier, some_frontier
        arrival = walk.move(direction)
        if arrival.fresh:
            observed[arrival.cell] = step
            for cell in map_.ways[arrival.cell].values():
                seen.setdefault(cell, step)
            frontier, some_frontier = len(walk.unobserved), _first(walk.unobserved)
        node = arrival.node
        if node is not None and arrival.found:
            found[node.id] = step
        if node is not None and arrival.achieved:
            achieved[node.id] = step
        moments.append(
            Moment(
                before=before,
                after=arrival.cell,
                frontier=known_frontier,
                some_frontier=known_some,
                pending=pending,
                goal_pending=any(each.id == map_.goal for each in pending),
                ways=ways,
                found=node.id if node is not None and arrival.found else None,
                achieved=node.id if node is not None and arrival.achieved else None,
            )
        )
    return GridAccount(tuple(moments), seen, observed, found, achieved)


def _first(cells: Set[Cell]) -> tuple[Cell, ...]:
    """Return the first few in reading order: from the top, and from the left."""
    return tuple(heapq.nsmallest(SHOWN_CELLS, cells, key=lambda cell: (-cell[1], cell[0])))


def _targets(case: Case | None, walk: Exploration, pending: Sequence[Node]) -> frozenset[Cell]:
    if case is None:
        return frozenset()
    if case is Case.GOAL:
        return frozenset({walk.map.goal_node.cell})
    cells = {node.cell for node in pending} if case.exploit_eligible else set()
    return frozenset(cells | walk.unobserved) if case.explore_eligible else frozenset(cells)


def _ways(walk: Exploration, before: Cell, after: Cell, targets: Set[Cell]) -> tuple[Way, ...]:
    one = _distances(walk, before)
    other = one if after == before else _distances(walk, after)
    reached = sorted((one[cell], cell) for cell in targets if cell in one)
    if not reached:
        return ()
    nearest = Way(reached[0][1], reached[0][0], other.get(reached[0][1]))
    fell = ((other[cell], cell, far) for far, cell in reached if cell in other and other[cell] < far)
    nearer = min(fell, default=None)
    if nearer is None or nearer[1] == nearest.cell:
        return (nearest,)
    return nearest, Way(nearer[1], nearer[2], nearer[0])


def _distances(walk: Exploration, start: Cell) -> dict[Cell, int]:
    """Return the steps from a cell to every other over known ground, where one end of each step is observed."""
    observed, ways = walk.observed, walk.map.ways
    distances = {start: 0}
    front = [start]
    for cell in front:
        inside = cell in observed
        further = distances[cell] + 1
        for other in ways[cell].values():
            if other not in distances and (inside or other in observed):
                distances[other] = further
                front.append(other)
    return distances
