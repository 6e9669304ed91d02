"""The reference solver: knows map and DAG, and finds the shortest way to achieve the goal.

It searches over (nodes achieved, node last visited). That is exact: passing a node on the way is a visit of its own at
no extra cost, and achieving more never hinders. Beyond `EXACT_NODES` nodes that the goal may need, it goes to the
nearest that can be achieved, drops what turned out not to be needed, and says that the solution is not proved shortest.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from oresight.gridenv.model import Cell, Exploration, GridMap, Node, Visibility, beside, satisfied

EXACT_NODES = 12


class UnsolvableError(ValueError):
    """No way achieves the goal."""


@dataclass(frozen=True)
class Solution:
    """A way to achieve the goal.

    Attributes:
        moves: The directions, from the start on.
        order: The nodes that it goes for, in that order.
        shortest: Whether it is proved that no shorter one exists.
    """

    moves: tuple[str, ...]
    order: tuple[str, ...]
    shortest: bool


def solve(map_: GridMap) -> Solution:
    """Find the shortest known solution of a map.

    Raises:
        UnsolvableError: The goal cannot be achieved.
    """
    if Exploration(map_).success:
        return Solution((), (), True)
    needed = _ancestors(map_)
    fields = {node.cell: distances(map_, node.cell) for node in needed}
    needed = [node for node in needed if map_.start in fields[node.cell]]
    exact = len(needed) <= EXACT_NODES
    order = _exact(map_, needed, fields) if exact else _greedy(map_, needed, fields)
    if order is None:
        raise UnsolvableError(f"the goal {map_.goal!r} cannot be achieved from {list(map_.start)}")
    moves: list[str] = []
    position = map_.start
    for node in order:
        moves += downhill(map_, fields[node.cell], position)
        position = node.cell
    return Solution(tuple(moves), tuple(node.id for node in order), exact)


def verify(map_: GridMap, moves: Sequence[str], visibility: Visibility = "partial") -> bool:
    """Tell whether some moves, played by the rules, achieve the goal."""
    walk = Exploration(map_, visibility)
    for direction in moves:
        walk.move(direction)
    return walk.success


def distances(map_: GridMap, target: Cell) -> dict[Cell, int]:
    """Return how many moves it takes from each cell to a target; cells without a way are left out."""
    found = {target: 0}
    front = [target]
    cells = map_.cells
    for cell in front:
        x, y = cell
        further = found[cell] + 1
        for other in ((x, y + 1), (x, y - 1), (x - 1, y), (x + 1, y)):
            if other in cells and other not in found:
                found[other] = further
                front.append(other)
    return found


def downhill(map_: GridMap, field: dict[Cell, int], cell: Cell) -> list[str]:
    """Return the moves of a shortest way along a field of distances, from a cell to the field's target."""
    moves: list[str] = []
    while field[cell]:
        direction, cell = next(
            (direction, other) for direction, other in beside(cell) if field.get(other, -1) == field[cell] - 1
        )
        moves.append(direction)
    return moves


def _ancestors(map_: GridMap) -> list[Node]:
    """Return the goal and every node that it may need, in the map's order."""
    found = {map_.goal}
    front = [map_.goal]
    while front:
        for parent in map_.node(front.pop()).parents:
            if parent not in found:
                found.add(parent)
                front.append(parent)
    return [node for node in map_.nodes if node.id in found]


def _exact(map_: GridMap, nodes: list[Node], fields: dict[Cell, dict[Cell, int]]) -> list[Node] | None:
    """Search best first, guided by the distance to the goal, which never overrates what is left."""
    number = {node.id: index for index, node in enumerate(nodes)}
    if map_.goal not in number:
        return None
    # Options as bit masks; those with a parent that cannot be reached are left out.
    options = [
        [sum(1 << number[parent] for parent in set(option)) for option in node.options if set(option) <= number.keys()]
        if node.options
        else [0]
        for node in nodes
    ]
    goal = number[map_.goal]
    to_goal = fields[nodes[goal].cell]
    here = map_.node_at(map_.start)
    first = 1 << number[here.id] if here is not None and here.id in number and satisfied(here, frozenset()) else 0
    best: dict[tuple[int, Cell], int] = {(first, map_.start): 0}
    before: dict[tuple[int, Cell], tuple[tuple[int, Cell], int]] = {}
    queue = [(to_goal[map_.start], 0, first, map_.start)]
    while queue:
        _, cost, achieved, cell = heapq.heappop(queue)
        state = (achieved, cell)
        if achieved >> goal & 1:
            return [nodes[index] for index in _steps(before, state)]
        if cost > best[state]:
            continue
        for index, node in enumerate(nodes):
            if achieved >> index & 1 or not any(achieved & mask == mask for mask in options[index]):
                continue
            after = cost + fields[node.cell][cell]
            reached = (achieved | 1 << index, node.cell)
            if after < best.get(reached, after + 1):
                best[reached] = after
                before[reached] = (state, index)
                heapq.heappush(queue, (after + to_goal[node.cell], after, *reached))
    return None


def _steps(before: dict[tuple[int, Cell], tuple[tuple[int, Cell], int]], state: tuple[int, Cell]) -> list[int]:
    steps: list[int] = []
    while state in before:
        state, index = before[state]
        steps.append(index)
    return steps[::-1]


def _greedy(map_: GridMap, nodes: list[Node], fields: dict[Cell, dict[Cell, int]]) -> list[Node] | None:
    achieved = set(Exploration(map_).achieved)
    at_start = set(achieved)
    order: list[Node] = []
    cell = map_.start
    while map_.goal not in achieved:
        ready = [node for node in nodes if node.id not in achieved and satisfied(node, achieved)]
        if not ready:
            return None
        goal = [node for node in ready if node.id == map_.goal]
        chosen = min(goal or ready, key=lambda node: (fields[node.cell][cell], node.id))
        achieved.add(chosen.id)
        order.append(chosen)
        cell = chosen.cell
    return _without_detours(order, at_start)


def _without_detours(order: list[Node], at_start: set[str]) -> list[Node]:
    """Keep of an order only what the goal, its last node, turns out to need."""
    rank = dict.fromkeys(at_start, -1) | {node.id: place for place, node in enumerate(order)}
    needed = {order[-1].id}
    for place in range(len(order) - 1, -1, -1):
        node = order[place]
        if node.id in needed and node.options:
            met = [option for option in node.options if all(rank.get(parent, place) < place for parent in option)]
            needed.update(min(met, key=lambda option: len(set(option) - needed)))
    return [node for node in order if node.id in needed]
