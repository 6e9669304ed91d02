"""Laying tasks out on a grid: their cells, and corridors of drawn widths that join them; the rest is obstacles.

From the start outwards, the terminal nearest to those already joined is joined to the nearest of them (ties are drawn)
by a corridor with one bend. Paths therefore stay long and narrow where the width is 1, and open up where it is 2 or 3.
"""

from dataclasses import dataclass

from oresight.gridenv.draws import Draws
from oresight.gridenv.model import Cell


@dataclass(frozen=True)
class Corridor:
    """A way of one width between two terminals.

    Attributes:
        begin: The terminal that was joined already.
        end: The terminal that it joins.
        width: How many cells wide it is.
        horizontal_first: Whether it leaves `begin` sideways.
    """

    begin: Cell
    end: Cell
    width: int
    horizontal_first: bool


@dataclass(frozen=True)
class Layout:
    """Where everything lies.

    Attributes:
        width: Columns of the grid.
        height: Its rows.
        start: The start cell.
        places: A cell per node, in the order of the nodes.
        corridors: What was carved, in that order.
        cells: All traversable cells.
    """

    width: int
    height: int
    start: Cell
    places: tuple[Cell, ...]
    corridors: tuple[Corridor, ...]
    cells: frozenset[Cell]


def grid_sides(cells: int) -> tuple[int, int]:
    """Return the longer and the shorter side of a grid with about this many cells; they differ by one at most."""
    side = 1
    while side * side < cells:
        side += 1
    # The candidates just above and below; of two equally near ones the larger.
    sides = [(side, side), (side, side - 1), (side - 1, side - 1)]
    return min((pair for pair in sides if pair[1] > 0), key=lambda pair: (abs(pair[0] * pair[1] - cells), -sum(pair)))


def draw_layout(draws: Draws, nodes: int, sides: tuple[int, int], widths: tuple[int, int]) -> Layout:
    """Draw where start and nodes lie and the corridors that join them.

    Args:
        draws: Where the draws come from.
        nodes: How many nodes there are.
        sides: The longer and the shorter side; which of them is the width is drawn.
        widths: The narrowest and the widest corridor, neither wider than the shorter side.
    """
    width, height = sides if draws.below(2) else (sides[1], sides[0])
    everywhere = [(x, y) for y in range(height) for x in range(width)]
    start, *places = draws.sample(everywhere, nodes + 1)
    joined = [start]
    left = list(places)
    corridors: list[Corridor] = []
    cells: set[Cell] = {start}
    while left:
        apart = [(abs(a[0] - b[0]) + abs(a[1] - b[1]), a, b) for a in joined for b in left]
        nearest = min(pair[0] for pair in apart)
        _, begin, end = draws.choice([pair for pair in apart if pair[0] == nearest])
        corridor = Corridor(begin, end, draws.between(*widths), bool(draws.below(2)))
        cells |= _carve(draws, corridor, width, height)
        corridors.append(corridor)
        joined.append(end)
        left.remove(end)
    return Layout(width, height, start, tuple(places), tuple(corridors), frozenset(cells))


def _carve(draws: Draws, corridor: Corridor, width: int, height: int) -> set[Cell]:
    (x0, y0), (x1, y1) = corridor.begin, corridor.end
    row, column = (y0, x1) if corridor.horizontal_first else (y1, x0)
    low_row = _band(draws, row, corridor.width, height)
    low_column = _band(draws, column, corridor.width, width)
    sideways = {(x, y) for x in range(min(x0, x1), max(x0, x1) + 1) for y in range(low_row, low_row + corridor.width)}
    upright = {
        (x, y) for x in range(low_column, low_column + corridor.width) for y in range(min(y0, y1), max(y0, y1) + 1)
    }
    # A straight corridor has one leg; the other would only be a stub across its end.
    if y0 == y1:
        return sideways
    return upright if x0 == x1 else sideways | upright


def _band(draws: Draws, line: int, width: int, size: int) -> int:
    """Draw where a band of some width that holds a line begins, so that it stays on the grid."""
    return draws.between(max(0, line - width + 1), min(line, size - width))
