"""Which moves bring an agent nearer to what it may go for: the distances of the grid's adapter, fast.

Two graphs are asked, both as they were known before the move:

- The *known* graph: cells observed or seen from an observed one, an edge where two are neighbours and one is observed.
- The *optimistic* graph: every cell of the known cells' bounding box widened by one, but those known to be blocked.

No distance is written down where a comparison will do. Both graphs are bipartite and a move follows an edge, so that of
its two ends exactly one is nearer to any given cell: whichever reaches it first in a search from both ends at once.
Answers are kept until something new is known, and a cell becomes known but once, so that the searches of a whole walk
are bounded by the size of the map and not by the length of the walk. The slow twin, which looks up every distance at
every step, stands in the tests.
"""

from collections.abc import Set

from oresight.gridenv.model import DIRECTIONS, Cell, Exploration, beside

# With nothing left to explore, so many nodes' distances are looked up once and kept; of more, a search is left to pick.
FIELDS_MAX = 32

Move = tuple[Cell, Cell]
_STEPS = tuple(DIRECTIONS.values())


class NearerToAny:
    """Tells whether a move brings the agent nearer to at least one of several cells, in the known graph.

    Args:
        walk: What is known; read at every question.
    """

    def __init__(self, walk: Exploration) -> None:
        self._walk = walk
        self._ways = walk.map.ways
        self._answers: dict[Move, bool] = {}
        self._fields: dict[Cell, dict[Cell, int]] = {}

    def forget(self) -> None:
        """Drop all answers, because something new is known or the cells that are asked about are others."""
        self._answers.clear()

    def ask(self, before: Cell, after: Cell, cells: Set[Cell]) -> bool:
        """Return whether `after` is nearer than `before` to an unobserved cell or to one of `cells`.

        Args:
            before: Where the agent stands; observed.
            after: A neighbour, observed, and not itself one of those asked about.
            cells: Known cells beside the unobserved ones. Not to be changed between two calls of `forget`.
        """
        answer = self._answers.get((before, after))
        if answer is None:
            if not self._walk.unobserved and len(self._fields.keys() | cells) <= FIELDS_MAX:
                self._answers[before, after] = self._look_up(before, after, cells)
            else:
                self._search(before, after, cells)
            answer = self._answers[before, after]
        return answer

    def _look_up(self, before: Cell, after: Cell, cells: Set[Cell]) -> bool:
        """Compare distances in a graph that cannot change any more."""
        for cell in cells:
            field = self._fields.get(cell)
            if field is None:
                field = self._fields[cell] = {cell: 0}
                _spread(self._walk, field, [cell])
            if field[after] < field[before]:
                return True
        return False

    def _search(self, before: Cell, after: Cell, cells: Set[Cell]) -> None:
        ways, observed, answers = self._ways, self._walk.observed, self._answers
        came_from = {after: before}
        behind = {before}
        front, front_behind = [after], [before]
        while front:
            reached: list[Cell] = []
            for cell in front:
                for other in ways[cell].values():
                    if other not in came_from and other not in behind:
                        came_from[other] = cell
                        if other not in observed or other in cells:
                            # Each step of this shortest way leads nearer to its end.
                            while other != before:
                                answers[came_from[other], other] = True
                                other = came_from[other]
                            return
                        reached.append(other)
            front = reached
            reached = []
            for cell in front_behind:
                inside = cell in observed
                for other in ways[cell].values():
                    # No edge joins two unobserved cells.
                    if other not in came_from and other not in behind and (inside or other in observed):
                        behind.add(other)
                        reached.append(other)
            front_behind = reached
        # All of them lie behind, so that going back leads nearer to each.
        answers[before, after] = False
        answers[after, before] = True


class NearerToGoal:
    """Tells whether a move brings the agent nearer to the goal, in the known or in the optimistic graph.

    Once the goal is pending it stays so: its distances in the known graph are looked up once and then only mended.

    Args:
        walk: What is known; read at every question.
        goal: The goal's cell, which is known.
    """

    def __init__(self, walk: Exploration, goal: Cell) -> None:
        self._walk = walk
        self._ways = walk.map.ways
        self._goal = goal
        self._distances = {goal: 0}
        _spread(walk, self._distances, [goal])
        self._answers: dict[Move, bool] = {}
        self._blocked: set[Cell] = set()
        # The sides of the optimistic graph's box: left, right, bottom, top.
        self._box = (goal[0], goal[0], goal[1], goal[1])
        if walk.unobserved:
            for cell in walk.observed:
                self._see(cell)

    def observe(self, cell: Cell) -> None:
        """Take in that `cell`, unobserved until now, is observed."""
        self._answers.clear()
        self._see(cell)
        # Every new edge is one of this cell's, so that what becomes nearer does so through it.
        distances = self._distances
        nearest = min(distances.get(other, distances[cell]) for other in self._ways[cell].values())
        distances[cell] = min(distances[cell], nearest + 1)
        _spread(self._walk, distances, [cell])

    def known(self, before: Cell, after: Cell) -> bool:
        """Return whether `after` is nearer than `before`, its neighbour, in the known graph."""
        return self._distances[after] < self._distances[before]

    def possible(self, before: Cell, after: Cell) -> bool:
        """Return whether `after` is nearer than `before`, its neighbour, in the optimistic graph."""
        if not self._walk.unobserved:
            # All that can be reached is known, so that both graphs agree.
            return self.known(before, after)
        answer = self._answers.get((before, after))
        if answer is None:
            answer = self._answers[before, after] = self._search(before, after)
        return answer

    def _see(self, cell: Cell) -> None:
        """Widen the box by an observed cell's neighbours, and note which of them are blocked."""
        ways = self._ways[cell]
        left, right, bottom, top = self._box
        for direction, other in beside(cell):
            if direction in ways:
                x, y = other
                left, right, bottom, top = min(left, x - 1), max(right, x + 1), min(bottom, y - 1), max(top, y + 1)
            else:
                self._blocked.add(other)
        x, y = cell
        self._box = (min(left, x - 1), max(right, x + 1), min(bottom, y - 1), max(top, y + 1))

    def _search(self, before: Cell, after: Cell) -> bool:
        straight = (before, after) if self._straight(before) < self._straight(after) else (after, before)
        nearer, farther = straight
        detours = self._detours(nearer, None)
        # The two distances differ by one. The farther end as the crow flies is nearer on foot only with a detour less.
        if detours and self._detours(farther, detours - 1) is not None:
            nearer = farther
        return nearer == after

    def _straight(self, cell: Cell) -> int:
        return abs(cell[0] - self._goal[0]) + abs(cell[1] - self._goal[1])

    def _detours(self, start: Cell, at_most: int | None) -> int | None:
        """Return the fewest steps away from the goal on a way there, or None if there are more than `at_most`.

        The length of a way is the straight distance and two for each of them, so that a search which puts steps away
        off as long as it can finds a shortest way, and mostly without looking aside.
        """
        left, right, bottom, top = self._box
        blocked, (goal_x, goal_y) = self._blocked, self._goal
        detours = 0
        now, later = [start], list[Cell]()
        settled: set[Cell] = set()
        while now:
            cell = now.pop()
            if cell not in settled:
                settled.add(cell)
                x, y = cell
                if x == goal_x and y == goal_y:
                    return detours
                for dx, dy in _STEPS:
                    other = (x + dx, y + dy)
                    if (
                        left <= other[0] <= right
                        and bottom <= other[1] <= top
                        and other not in blocked
                        and other not in settled
                    ):
                        nearer = (goal_x - x) * dx + (goal_y - y) * dy > 0
                        (now if nearer else later).append(other)
            if not now and detours != at_most:
                now, later = later, []
                detours += 1
        return None


def _spread(walk: Exploration, distances: dict[Cell, int], front: list[Cell]) -> None:
    """Pass the distances of `front` on in the known graph, to all that is nearer through it than they say."""
    observed, ways = walk.observed, walk.map.ways
    for cell in front:
        inside = cell in observed
        further = distances[cell] + 1
        for other in ways[cell].values():
            if (inside or other in observed) and further < distances.get(other, further + 1):
                distances[other] = further
                front.append(other)
