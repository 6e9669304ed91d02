"""The grid world itself: a map, the tasks on it, and what a move reveals.

Maps, nodes and states are immutable; `Exploration` alone changes, so that a step costs the same however long the walk
is. Nothing here draws random numbers, reads files or finds words: see `generate`, `mapfile` and `text`.

Coordinates are (x, y); right is x + 1, up is y + 1.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

Cell = tuple[int, int]
Visibility = Literal["partial", "full"]

DIRECTIONS: dict[str, Cell] = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
DIRECTION_NAMES: tuple[str, ...] = tuple(DIRECTIONS)
VISIBILITIES: tuple[Visibility, ...] = ("partial", "full")
ALPHA = 3


@dataclass(frozen=True)
class Node:
    """A task that lies on a cell.

    Attributes:
        id: Its name, unique on the map.
        cell: Where it lies.
        options: Alternative sets of parents. One whole option must be achieved first; without options there is nothing
            to wait for.
    """

    id: str
    cell: Cell
    options: tuple[tuple[str, ...], ...] = ()

    @property
    def parents(self) -> frozenset[str]:
        """Every node that some option names."""
        return frozenset(parent for option in self.options for parent in option)


def satisfied(node: Node, achieved: Set[str]) -> bool:
    """Tell whether a node's prerequisites hold: no option at all, or one whose parents are all achieved."""
    if not node.options:
        return True
    for option in node.options:
        for parent in option:
            if parent not in achieved:
                break
        else:
            return True
    return False


def beside(cell: Cell) -> Iterator[tuple[str, Cell]]:
    """Yield the four directions from a cell with the cells that they lead to, traversable or not."""
    x, y = cell
    for direction, (dx, dy) in DIRECTIONS.items():
        yield direction, (x + dx, y + dy)


class _Ways(dict[Cell, dict[str, Cell]]):
    """The traversable neighbours of a cell by direction, worked out when first asked for."""

    def __init__(self, cells: frozenset[Cell]) -> None:
        super().__init__()
        self._cells = cells

    def __missing__(self, cell: Cell) -> dict[str, Cell]:
        ways = {direction: other for direction, other in beside(cell) if other in self._cells}
        self[cell] = ways
        return ways


@dataclass(frozen=True)
class GridMap:
    """A map and its task DAG. `mapfile.parse_map` checks one from outside; here it is taken to be sound.

    Attributes:
        cells: The traversable cells.
        start: Where the agent begins.
        nodes: The tasks.
        goal: The name of the node to achieve.
        name: What the map is called, or an empty string.
        drawn: What the generator drew (JSON-ready), or None for maps from elsewhere. Like the name, it does not count
            when two maps are compared.
    """

    cells: frozenset[Cell]
    start: Cell
    nodes: tuple[Node, ...]
    goal: str
    name: str = field(default="", compare=False)
    drawn: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def ways(self) -> dict[Cell, dict[str, Cell]]:
        """Per cell the admissible directions, in the order up, down, left, right, and where each leads."""
        return _Ways(self.cells)

    @cached_property
    def nodes_by_id(self) -> dict[str, Node]:
        """The nodes by name."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def nodes_by_cell(self) -> dict[Cell, Node]:
        """The nodes by the cell they lie on."""
        return {node.cell: node for node in self.nodes}

    @cached_property
    def dependents(self) -> dict[str, tuple[str, ...]]:
        """Per node the names of those that name it in one of their options, in alphabetical order."""
        found: dict[str, list[str]] = {node.id: [] for node in self.nodes}
        for node in self.nodes:
            for parent in node.parents:
                found[parent].append(node.id)
        return {name: tuple(sorted(children)) for name, children in found.items()}

    @property
    def goal_node(self) -> Node:
        """The node to achieve."""
        return self.nodes_by_id[self.goal]

    def node(self, name: str) -> Node:
        """Return a node by name.

        Raises:
            KeyError: There is no such node.
        """
        return self.nodes_by_id[name]

    def node_at(self, cell: Cell) -> Node | None:
        """Return the node on a cell, if any."""
        return self.nodes_by_cell.get(cell)

    def admissible(self, cell: Cell) -> tuple[str, ...]:
        """Return the directions that lead somewhere, in the order up, down, left, right."""
        return tuple(self.ways[cell])

    def budget(self, alpha: float | Fraction = ALPHA) -> int:
        """Return how many moves an episode has: floor(alpha x number of cells), alpha read as it is written."""
        exact = alpha if isinstance(alpha, Fraction) else Fraction(str(alpha))
        return int(exact * len(self.cells))


class Arrival(NamedTuple):
    """What one move led to.

    Attributes:
        cell: Where the agent is now.
        moved: Whether it left its cell; a move into a wall, or no move, changes nothing.
        fresh: Whether this cell was observed for the first time.
        node: The node on this cell, if any.
        found: Whether that node was seen for the first time.
        achieved: Whether it was achieved by this arrival.
    """

    cell: Cell
    moved: bool
    fresh: bool
    node: Node | None
    found: bool
    achieved: bool


@dataclass(frozen=True)
class State:
    """What an agent knows and has done, at one moment.

    Attributes:
        position: Where it stands.
        observed: Cells it has stood on (with full visibility: all).
        unobserved: Neighbours of those that it has not stood on.
        seen: Names of the nodes whose place it knows.
        achieved: Names of the nodes it has achieved.
    """

    position: Cell
    observed: frozenset[Cell]
    unobserved: frozenset[Cell]
    seen: frozenset[str]
    achieved: frozenset[str]


class Exploration:
    """A walk over a map: the one place that says what a move reveals. The start counts as an arrival.

    Attributes:
        map: The map walked on.
        position: Where the agent stands.
        observed: See `State`; these sets are the walk's own, so read them only.
        unobserved: See `State`.
        seen: See `State`.
        achieved: See `State`.
        start: What the arrival at the start led to.
    """

    __slots__ = (
        "_again",
        "_pending",
        "_ways",
        "achieved",
        "map",
        "observed",
        "position",
        "seen",
        "start",
        "unobserved",
    )

    def __init__(self, map_: GridMap, visibility: Visibility = "partial") -> None:
        """Stand on the start cell of a map; with visibility "full" every cell and node is known."""
        self.map = map_
        self.position = map_.start
        self.observed: set[Cell] = set()
        self.unobserved: set[Cell] = set()
        self.seen: set[str] = set()
        self.achieved: set[str] = set()
        self._ways = map_.ways
        self._again: dict[Cell, Arrival] = {}
        self._pending: tuple[Node, ...] | None = None
        if visibility == "full":
            self.observed.update(map_.cells)
            self.seen.update(map_.nodes_by_id)
        self.start = self._arrive(map_.start, moved=False)

    @classmethod
    def resume(cls, map_: GridMap, state: State) -> "Exploration":
        """Continue from a state, which is left as it is."""
        walk = cls(map_)
        walk.position = state.position
        walk.observed = set(state.observed)
        walk.unobserved = set(state.unobserved)
        walk.seen = set(state.seen)
        walk.achieved = set(state.achieved)
        walk._again = {}
        walk._pending = None
        return walk

    @property
    def success(self) -> bool:
        """Whether the goal is achieved."""
        return self.map.goal in self.achieved

    @property
    def pending(self) -> tuple[Node, ...]:
        """The nodes that are seen, not achieved, and have their prerequisites satisfied, in the map's order."""
        if self._pending is None:
            self._pending = tuple(
                node
                for node in self.map.nodes
                if node.id in self.seen and node.id not in self.achieved and satisfied(node, self.achieved)
            )
        return self._pending

    def state(self) -> State:
        """Return this moment as an immutable value; takes time in proportion to what is known."""
        return State(
            self.position,
            frozenset(self.observed),
            frozenset(self.unobserved),
            frozenset(self.seen),
            frozenset(self.achieved),
        )

    def move(self, direction: str | None) -> Arrival:
        """Go one cell; stay where there is no cell, or with None.

        Args:
            direction: "up", "down", "left", "right" or None. Any other word leads nowhere either: callers check names.
        """
        target = self._ways[self.position].get(direction)  # type: ignore[arg-type]  # None is just no key
        if target is None:
            return Arrival(self.position, False, False, self.map.nodes_by_cell.get(self.position), False, False)
        self.position = target
        again = self._again.get(target)
        return self._arrive(target, moved=True) if again is None else again

    def _arrive(self, cell: Cell, *, moved: bool) -> Arrival:
        fresh = cell not in self.observed
        if fresh:
            self.observed.add(cell)
            self.unobserved.discard(cell)
            for other in self._ways[cell].values():
                if other not in self.observed:
                    self.unobserved.add(other)
        node = self.map.nodes_by_cell.get(cell)
        found = achieved = False
        if node is not None and node.id not in self.achieved:
            found = node.id not in self.seen
            achieved = satisfied(node, self.achieved)
            if found:
                self.seen.add(node.id)
                self._pending = None
            if achieved:
                self.achieved.add(node.id)
                self._pending = None
        if node is None or node.id in self.achieved:
            # Nothing can happen here any more: later arrivals all look the same.
            self._again[cell] = Arrival(cell, True, False, node, False, False)
        return Arrival(cell, moved, fresh, node, found, achieved)


def start_state(map_: GridMap, visibility: Visibility = "partial") -> State:
    """Return what is known after the arrival at the start."""
    return Exploration(map_, visibility).state()


def move(map_: GridMap, state: State, direction: str | None) -> tuple[State, Arrival]:
    """Return the state after a move, and what the move led to; it copies, `Exploration` does not."""
    walk = Exploration.resume(map_, state)
    arrival = walk.move(direction)
    return walk.state(), arrival


def reached(map_: GridMap, start: Cell) -> frozenset[Cell]:
    """Return the cells that are connected with one, itself included."""
    found = {start}
    front = [start]
    cells = map_.cells
    while front:
        x, y = front.pop()
        for other in ((x, y + 1), (x, y - 1), (x - 1, y), (x + 1, y)):
            if other in cells and other not in found:
                found.add(other)
                front.append(other)
    return frozenset(found)


def achievable(nodes: Iterable[Node]) -> frozenset[str]:
    """Return the names of the nodes that can be achieved at all, wherever they lie; linear in the options' lengths."""
    waiting: dict[str, list[tuple[str, int]]] = {}
    missing: dict[tuple[str, int], int] = {}
    ready: list[str] = []
    for node in nodes:
        if not node.options:
            ready.append(node.id)
        for number, option in enumerate(node.options):
            parents = set(option)
            if not parents:
                ready.append(node.id)
            missing[node.id, number] = len(parents)
            for parent in parents:
                waiting.setdefault(parent, []).append((node.id, number))
    found: set[str] = set()
    while ready:
        name = ready.pop()
        if name in found:
            continue
        found.add(name)
        for option_of in waiting.get(name, ()):
            missing[option_of] -= 1
            if not missing[option_of]:
                ready.append(option_of[0])
    return frozenset(found)
