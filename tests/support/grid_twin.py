"""The grid metric a second time, slow and as the definitions read: explicit graphs, a search for every distance.

It shares no code with the package. It also draws the maps and walks that both are compared on, and knows the two kinds
of walker that never err.
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

Cell = tuple[int, int]
Graph = dict[Cell, set[Cell]]
MOVES = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}


def around(cell: Cell) -> list[Cell]:
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in MOVES.values()]


def distance(graph: Graph, start: Cell, end: Cell) -> float:
    found, queue = {start: 0}, deque([start])
    while queue:
        cell = queue.popleft()
        if cell == end:
            return found[cell]
        for other in graph.get(cell, ()):
            if other not in found:
                found[other] = found[cell] + 1
                queue.append(other)
    return float("inf")


class TwinState:
    """What the agent knows."""

    def __init__(self, episode: dict[str, Any]) -> None:
        data = episode["map"]
        self.cells = {(x, y) for x, y in data["cells"]}
        self.nodes = {node["id"]: node for node in data["nodes"]}
        self.goal = data["goal"]
        self.full = episode["visibility"] == "full"
        self.observed = set(self.cells) if self.full else set()
        self.seen = set(self.nodes) if self.full else set()
        self.achieved: set[str] = set()
        self.position: Cell = tuple(data["start"])
        self.arrive()

    def place(self, name: str) -> Cell:
        x, y = self.nodes[name]["cell"]
        return x, y

    def holds(self, name: str) -> bool:
        options = self.nodes[name]["options"]
        return not options or any(all(parent in self.achieved for parent in option) for option in options)

    def arrive(self) -> None:
        self.observed.add(self.position)
        for name in self.nodes:
            if self.place(name) == self.position:
                self.seen.add(name)
                if self.holds(name):
                    self.achieved.add(name)

    def go(self, move: str | None) -> bool:
        if move is None:
            return False
        dx, dy = MOVES[move]
        cell = (self.position[0] + dx, self.position[1] + dy)
        if cell not in self.cells:
            return False
        self.position = cell
        self.arrive()
        return True

    @property
    def unobserved(self) -> set[Cell]:
        return {o for cell in self.observed for o in around(cell) if o in self.cells and o not in self.observed}

    @property
    def pending(self) -> set[str]:
        return {name for name in self.seen if name not in self.achieved and self.holds(name)}

    @property
    def success(self) -> bool:
        return self.goal in self.achieved

    def case(self) -> int:
        if self.goal in self.pending:
            return 2
        if not self.pending:
            assert self.unobserved
            return 1
        return 4 if self.unobserved else 3

    def targets(self) -> set[Cell]:
        waiting = {self.place(name) for name in self.pending}
        return {
            1: lambda: self.unobserved,
            2: lambda: {self.place(self.goal)},
            3: lambda: waiting,
            4: lambda: waiting | self.unobserved,
        }[self.case()]()

    def known(self) -> Graph:
        vertices = self.observed | self.unobserved
        return {
            cell: {o for o in around(cell) if o in vertices and (cell in self.observed or o in self.observed)}
            for cell in vertices
        }

    def optimistic(self) -> Graph:
        vertices = self.observed | self.unobserved
        xs, ys = [x for x, _ in vertices], [y for _, y in vertices]
        box = {(x, y) for x in range(min(xs) - 1, max(xs) + 2) for y in range(min(ys) - 1, max(ys) + 2)}
        box -= {o for cell in self.observed for o in around(cell) if o not in self.cells}
        return {cell: {o for o in around(cell) if o in box} for cell in box}


def stale_of(path: list[Cell], k: int) -> int:
    visits = Counter(path)
    edges = Counter(frozenset(pair) for pair in pairwise(path))
    extra = sum(max(m - k, 0) for m in edges.values()) + sum(max(m - k, 0) for m in visits.values())
    return len(edges) - len(visits) + 1 + extra


def twin_score(episode: dict[str, Any], alpha: float = 3, k: int = 2) -> dict[str, Any]:
    """The episode's `expected`, in the form of the published vectors."""
    state = TwinState(episode)
    budget = int(Fraction(str(alpha)) * len(state.cells))
    segment = [state.position]
    steps: list[dict[str, Any]] = []
    rates = dict.fromkeys(("explore_errors", "explore_eligible", "exploit_errors", "exploit_eligible"), 0)
    for move in episode["moves"]:
        if state.success or len(steps) == budget:
            break
        case, targets, before = state.case(), state.targets(), state.position
        graphs = [state.known()] + ([state.optimistic()] if case == 2 else [])
        moved = state.go(move)
        after = state.position
        progress = moved and after in targets
        gain = progress or (
            moved and any(distance(graph, after, t) < distance(graph, before, t) for graph in graphs for t in targets)
        )
        old = stale_of(segment, k)
        segment = [after] if progress else [*segment, after]
        stale = stale_of(segment, k)
        wrong = not progress and (not gain or stale > old)
        for kind, cases in (("explore", (1, 4)), ("exploit", (2, 3, 4))):
            rates[f"{kind}_eligible"] += case in cases
            rates[f"{kind}_errors"] += case in cases and wrong
        error = {1: "explore", 2: "exploit", 3: "exploit", 4: "both"}[case] if wrong else None
        steps.append({"case": case, "gain": gain, "progress": progress, "stale": stale, "error": error})
    return {"steps": steps, "success": state.success, **rates, "steps_taken": len(steps), "budget": budget}


# --- maps and walks --------------------------------------------------------------------------------------------------


def random_map(draw: random.Random, most_cells: int = 30) -> dict[str, Any]:
    """A connected map (corridors, caves or rooms) with tasks on it; sometimes with an island that nothing needs."""
    number = draw.randint(2, most_cells)
    start = (draw.randint(-3, 3), draw.randint(-3, 3))
    cells = [start]
    reach = draw.choice((1, 2, 3, 10**6))  # how far back a new cell may be joined on: corridors, or blobs
    while len(cells) < number:
        cell = draw.choice(around(draw.choice(cells[-reach:] if draw.random() < 0.9 else cells)))
        if cell not in cells:
            cells.append(cell)
    names = [f"N{index}" for index in range(draw.randint(1, min(6, number - 1)))]
    places = draw.sample(cells if draw.random() < 0.2 else cells[1:], len(names))
    nodes: list[dict[str, Any]] = []
    for index, name in enumerate(names):
        options = [
            draw.sample(names[:index], draw.randint(1, min(2, index)))
            for _ in range(draw.randint(0, 2) if index else 0)
        ]
        nodes.append({"id": name, "cell": list(places[index]), "options": options})
    goal = draw.choice(names) if draw.random() < 0.3 else names[-1]
    if draw.random() < 0.1:
        cells.append((max(x for x, _ in cells) + draw.randint(2, 4), start[1]))
    draw.shuffle(nodes)
    draw.shuffle(cells)
    return {"cells": [list(cell) for cell in cells], "start": list(start), "nodes": nodes, "goal": goal}


def random_moves(draw: random.Random, data: dict[str, Any], number: int) -> list[str | None]:
    """A walk of one of several tempers, from erratic to purposeful, with waits and bumps now and then."""
    cells = {tuple(cell) for cell in data["cells"]}
    position, last = tuple(data["start"]), None
    persistence, carelessness = draw.choice((0.0, 0.5, 0.8)), draw.choice((0.0, 0.1, 0.4))
    visits: Counter[Any] = Counter()
    moves: list[str | None] = []
    for _ in range(number):
        open_ = [move for move, (dx, dy) in MOVES.items() if (position[0] + dx, position[1] + dy) in cells]
        if draw.random() < carelessness or not open_:
            move = draw.choice([*MOVES, None])
        elif last in open_ and draw.random() < persistence:
            move = last
        elif draw.random() < 0.5:
            move = min(open_, key=lambda m: (visits[position[0] + MOVES[m][0], position[1] + MOVES[m][1]], m))
        else:
            move = draw.choice(open_)
        if move in open_:
            position = (position[0] + MOVES[move][0], position[1] + MOVES[move][1])
            last = move
            visits[position] += 1
        moves.append(move)
    return moves


def random_episode(draw: random.Random, most_cells: int = 30) -> dict[str, Any]:
    data = random_map(draw, most_cells)
    moves = random_moves(draw, data, draw.randint(0, 3 * len(data["cells"]) + 2))
    return {"kind": "grid", "visibility": draw.choice(("partial", "partial", "full")), "map": data, "moves": moves}


def direction(before: Cell, after: Cell) -> str:
    return next(name for name, (dx, dy) in MOVES.items() if (before[0] + dx, before[1] + dy) == after)


def follower(state: TwinState, draw: random.Random) -> Iterator[str]:
    """Picks any target and goes there by a shortest known path until it enters a target."""
    while not state.success:
        targets = sorted(state.targets())
        aim = draw.choice(targets)
        while True:
            graph = state.known()
            here = distance(graph, state.position, aim)
            ahead = [cell for cell in sorted(graph[state.position]) if distance(graph, cell, aim) < here]
            cell = draw.choice(ahead)
            yield direction(state.position, cell)
            if cell in targets:
                break


def depth_first(state: TwinState, draw: random.Random) -> Iterator[str]:
    """Goes to any unobserved neighbour, else back the way it came."""
    way: list[Cell] = []
    while not state.success:
        fresh = [cell for cell in sorted(state.unobserved) if cell in around(state.position)]
        if not fresh and not way:
            return
        cell = draw.choice(fresh) if fresh else way.pop()
        if fresh:
            way.append(state.position)
        yield direction(state.position, cell)


def walked(
    episode: dict[str, Any], walker: Callable[[TwinState, random.Random], Iterator[str]], draw: random.Random
) -> dict[str, Any]:
    """The episode with the moves of a walker, up to success or three times the number of cells."""
    state = TwinState(episode)
    moves: list[str] = []
    for move in walker(state, draw):
        moves.append(move)
        state.go(move)
        if len(moves) >= 3 * len(state.cells):
            break
    return {**episode, "moves": moves}
