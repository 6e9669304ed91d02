"""Text maps for the tests of the grid world, and slow, plain twins of its rules."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from hypothesis import strategies as st

from oresight.gridenv.model import Cell, GridMap, Node

STEPS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}
Needs = Mapping[str, Sequence[Sequence[str]]]


def stage(text: str, needs: Needs | None = None, goal: str = "G") -> GridMap:
    """A map from lines, the top row first: S start, letters nodes, . cells, anything else no cell."""
    rows = [row.strip() for row in text.strip().splitlines()]
    cells: set[Cell] = set()
    nodes: list[Node] = []
    start: Cell | None = None
    for line, row in enumerate(rows):
        for x, character in enumerate(row):
            cell = (x, len(rows) - 1 - line)
            if character == "S":
                start = cell
            if character.isalpha() and character != "S":
                options = (needs or {}).get(character, ())
                nodes.append(Node(character, cell, tuple(tuple(option) for option in options)))
            if character == "." or character.isalpha():
                cells.add(cell)
    assert start is not None, "a stage needs a start"
    return GridMap(frozenset(cells), start, tuple(nodes), goal)


def allowed(node: Node, achieved: Iterable[str]) -> bool:
    return not node.options or any(set(option) <= set(achieved) for option in node.options)


class PlainWalk:
    """The rules of the grid, written down as they are defined, with no thought of speed."""

    def __init__(self, map_: GridMap, full: bool = False) -> None:
        self.map = map_
        self.position = map_.start
        self.visited: set[Cell] = set(map_.cells) if full else set()
        self.seen: set[str] = {node.id for node in map_.nodes} if full else set()
        self.achieved: set[str] = set()
        self._arrive()

    def move(self, direction: str | None) -> None:
        if direction is None:
            return
        dx, dy = STEPS[direction]
        target = (self.position[0] + dx, self.position[1] + dy)
        if target in self.map.cells:
            self.position = target
            self._arrive()

    def _arrive(self) -> None:
        self.visited.add(self.position)
        for node in self.map.nodes:
            if node.cell == self.position:
                self.seen.add(node.id)
                if allowed(node, self.achieved):
                    self.achieved.add(node.id)

    @property
    def unobserved(self) -> set[Cell]:
        near = {(x + dx, y + dy) for x, y in self.visited for dx, dy in STEPS.values()}
        return (near & self.map.cells) - self.visited

    @property
    def pending(self) -> set[str]:
        return {
            node.id
            for node in self.map.nodes
            if node.id in self.seen and node.id not in self.achieved and allowed(node, self.achieved)
        }


def fewest_moves(map_: GridMap) -> int | None:
    """The length of the shortest solution, by breadth-first search over position and achieved nodes."""
    by_cell = {node.cell: node for node in map_.nodes}

    def arrive(cell: Cell, achieved: frozenset[str]) -> frozenset[str]:
        node = by_cell.get(cell)
        return achieved | {node.id} if node is not None and allowed(node, achieved) else achieved

    first = (map_.start, arrive(map_.start, frozenset()))
    found = {first: 0}
    queue = deque([first])
    while queue:
        state = queue.popleft()
        (x, y), achieved = state
        if map_.goal in achieved:
            return found[state]
        for dx, dy in STEPS.values():
            cell = (x + dx, y + dy)
            if cell in map_.cells:
                after = (cell, arrive(cell, achieved))
                if after not in found:
                    found[after] = found[state] + 1
                    queue.append(after)
    return None


@st.composite
def maps(draw: st.DrawFn, sides: int = 5, most_nodes: int = 6) -> GridMap:
    """Any sound map: connected cells, nodes that need earlier ones, some that the goal does not need, equal options."""
    cells: list[Cell] = [(draw(st.integers(-3, 3)), draw(st.integers(-3, 3)))]
    origin = cells[0]
    for _ in range(draw(st.integers(1, sides * sides))):
        x, y = draw(st.sampled_from(cells))
        dx, dy = draw(st.sampled_from(list(STEPS.values())))
        cell = (x + dx, y + dy)
        if cell not in cells and max(abs(cell[0] - origin[0]), abs(cell[1] - origin[1])) < sides:
            cells.append(cell)
    places = draw(st.permutations(cells))[: draw(st.integers(1, min(most_nodes, len(cells))))]
    names = draw(st.permutations(["A", "B", "C", "D", "E", "F", "G", "H"]))[: len(places)]
    nodes = []
    for number, (name, place) in enumerate(zip(names, places, strict=True)):
        options: list[tuple[str, ...]] = []
        if number:
            for _ in range(draw(st.integers(0, 3))):
                count = draw(st.integers(1, min(3, number)))
                options.append(tuple(draw(st.permutations(names[:number]))[:count]))
        nodes.append(Node(name, place, tuple(options)))
    order = tuple(draw(st.permutations(nodes)))
    return GridMap(frozenset(cells), draw(st.sampled_from(cells)), order, draw(st.sampled_from(names)))


moves = st.lists(st.sampled_from([*STEPS, None]), max_size=40)
