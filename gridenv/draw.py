"""Maps for people, as text; `picture` draws them with the task DAG beside.

Both can show what an agent knows, from a state. They are for referees and reports; no agent sees them.
"""

from dataclasses import dataclass

from oresight.gridenv.model import Cell, GridMap, Node, State, beside

MAX_DRAWN_CELLS = 250_000
MAX_DRAWN_SIDE = 2000
_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class DrawingError(ValueError):
    """A map is too large to draw."""


@dataclass(frozen=True)
class Bounds:
    """The smallest rectangle with all cells; both ends are included."""

    left: int
    bottom: int
    right: int
    top: int

    @property
    def width(self) -> int:
        """Columns."""
        return self.right - self.left + 1

    @property
    def height(self) -> int:
        """Rows."""
        return self.top - self.bottom + 1


def bounds(map_: GridMap) -> Bounds:
    """Return the rectangle that a map's cells span; for a generated map its whole grid.

    Raises:
        DrawingError: It is too large to draw.
    """
    xs = [x for x, _ in map_.cells]
    ys = [y for _, y in map_.cells]
    found = Bounds(min(xs), min(ys), max(xs), max(ys))
    grid = (map_.drawn or {}).get("grid")
    if isinstance(grid, list) and len(grid) == 2 and all(type(side) is int for side in grid):
        right, top = max(grid[0] - 1, found.right), max(grid[1] - 1, found.top)
        found = Bounds(min(0, found.left), min(0, found.bottom), right, top)
    if found.width * found.height > MAX_DRAWN_CELLS or max(found.width, found.height) > MAX_DRAWN_SIDE:
        raise DrawingError(
            f"the map spans {found.width:,} x {found.height:,} cells; at most {MAX_DRAWN_CELLS:,} can be drawn, "
            f"and no more than {MAX_DRAWN_SIDE:,} in a row"
        )
    return found


def labels(map_: GridMap) -> dict[str, str]:
    """Return a letter per node: A, B, ... in the map's order, and * for the goal; beyond 52 nodes #."""
    letters = iter(_LABELS)
    return {node.id: "*" if node.id == map_.goal else next(letters, "#") for node in map_.nodes}


def draw_text(map_: GridMap, state: State | None = None) -> str:
    """Return a map as lines of characters, top row first, with a legend.

    ``#`` obstacle, ``.`` cell, ``S`` start, letters nodes, ``*`` goal; with a state also ``@`` the agent, ``?`` an
    unobserved neighbour, and a blank for what is not known yet.
    """
    area = bounds(map_)
    letters = labels(map_)
    lines = []
    for y in range(area.top, area.bottom - 1, -1):
        lines.append("".join(_character(map_, (x, y), letters, state) for x in range(area.left, area.right + 1)))
    lines.append("")
    for node in map_.nodes:
        known = "" if state is None else f" [{node_state(node, state)}]"
        lines.append(f"{letters[node.id]} {node.id} at {list(node.cell)}{known}: {needs_text(node)}")
    lines.append(f"start {list(map_.start)}, {len(map_.cells)} cells, budget {map_.budget()}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def node_state(node: Node, state: State) -> str:
    """Return "undiscovered", "discovered" or "achieved"."""
    if node.id in state.achieved:
        return "achieved"
    return "discovered" if node.id in state.seen else "undiscovered"


def needs_text(node: Node) -> str:
    """Return a node's prerequisites in one line."""
    if not node.options:
        return "no prerequisites"
    return " OR ".join(" AND ".join(option) if option else "nothing" for option in node.options)


def _character(map_: GridMap, cell: Cell, letters: dict[str, str], state: State | None) -> str:
    if state is not None:
        if cell == state.position:
            return "@"
        if cell in state.unobserved:
            return "?"
        if cell not in state.observed:
            bumped = any(other in state.observed for _, other in beside(cell))
            return "#" if bumped and cell not in map_.cells else " "
    if cell not in map_.cells:
        return "#"
    node = map_.node_at(cell)
    if node is not None:
        return letters[node.id]
    return "S" if cell == map_.start else "."
