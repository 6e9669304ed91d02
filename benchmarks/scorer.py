"""Measures of the grid's scorer: its speed and the memory that JSON Lines take.

Steps a second on maps of 100 cells up to a million steps (alpha raised so that the budget holds them), for several
walkers that put it to different work; the peak memory of `score_stream` over files of growing length.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from oresight.gridenv.mapfile import map_to_json, parse_map
from oresight.gridenv.model import DIRECTION_NAMES, Cell, Exploration, GridMap
from oresight.scoring.grid.adapter import GridScenario, GridScorer
from oresight.scoring.parameters import Parameters

CELLS = 100
LENGTHS = (300, 10_000, 100_000, 1_000_000)
TRIES = 3
FILE_EPISODES = (500, 2_000, 8_000)

# Peak memory of a process of its own, in MiB: nothing that other parts of the benchmark needed is counted.
_MEMORY = """
import resource, sys
from pathlib import Path
from oresight.scoring.parameters import Parameters
from oresight.scoring.score import Totals, score_stream
totals = Totals(Parameters())
for found in score_stream([Path(sys.argv[1])], totals.parameters, keep_steps=False):
    totals.add(found)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def make_map(shape: str, seed: int) -> GridMap:
    """Make a map of 100 cells: a square room, a cave of corridors, or one long way; the goal waits for a task."""
    draw = random.Random(seed)
    if shape == "room":
        cells = [(x, y) for x in range(10) for y in range(10)]
    elif shape == "line":
        cells = [(x, 0) for x in range(CELLS)]
    else:
        cells = [(0, 0)]
        while len(cells) < CELLS:
            x, y = draw.choice(cells[-4:])
            dx, dy = draw.choice(((1, 0), (-1, 0), (0, 1), (0, -1)))
            if (x + dx, y + dy) not in cells:
                cells.append((x + dx, y + dy))
    tasks: list[tuple[str, Cell, list[list[str]]]] = [
        ("A", cells[30], []),
        ("B", cells[60], [["A"]]),
        ("G", cells[-1], [["A", "B"]]),
    ]
    nodes = [{"id": name, "cell": list(cell), "options": options} for name, cell, options in tasks]
    data = {"cells": [list(cell) for cell in cells], "start": list(cells[0]), "nodes": nodes, "goal": "G"}
    return parse_map(data)


def make_moves(map_: GridMap, number: int, walker: str, seed: int) -> list[str | None]:
    """Make a walk that never ends the episode, because it does not enter the goal's cell.

    Args:
        map_: The map.
        number: How many moves.
        walker: "random" over all moves, or "least visited", which sees everything soon and then goes round for ever.
        seed: Of the draws.
    """
    draw = random.Random(seed)
    walk, goal = Exploration(map_), map_.goal_node.cell
    visits: dict[Cell, int] = {}
    moves: list[str | None] = []
    while len(moves) < number:
        ways = map_.ways[walk.position]
        if walker == "random":
            move = draw.choice(DIRECTION_NAMES)
        else:
            move = min((w for w in ways if ways[w] != goal), key=lambda w: (visits.get(ways[w], 0), draw.random()))
        if ways.get(move) != goal:
            walk.move(move)
            visits[walk.position] = visits.get(walk.position, 0) + 1
            moves.append(move)
    return moves


def steps_per_second(map_: GridMap, moves: list[str | None], visibility: str, repeats: int) -> float:
    """Return scored steps a second, the making of the scorer included; the best of a few tries."""
    scenario = GridScenario(map_, "full" if visibility == "full" else "partial")
    parameters = Parameters(alpha=float(len(moves) // CELLS + 1))
    best = 0.0
    for _ in range(TRIES if len(moves) <= LENGTHS[1] else 1):
        begin = time.perf_counter()
        for _ in range(repeats):
            scorer = GridScorer(parameters, scenario)
            for move in moves:
                scorer.score(move)
        best = max(best, repeats * len(moves) / (time.perf_counter() - begin))
        assert scorer.summary().steps_taken == len(moves)
    return best


def speed(length: int) -> dict[str, float]:
    """Return scored steps a second of a walk of some length, for every combination of map, visibility and walker."""
    rates: dict[str, float] = {}
    for shape in ("room", "cave", "line"):
        map_ = make_map(shape, 1)
        for walker in ("random", "least visited"):
            moves = make_moves(map_, length, walker, 2)
            for visibility in ("partial", "full"):
                rates[f"{shape}, {walker}, {visibility}"] = steps_per_second(
                    map_, moves, visibility, max(1, 20_000 // length)
                )
    return rates


def memory() -> dict[str, float]:
    """Return the peak MiB of scoring JSON Lines, by the number of episodes of 300 moves in the file."""
    map_ = make_map("cave", 1)
    line = json.dumps(
        {
            "kind": "grid",
            "visibility": "partial",
            "map": map_to_json(map_),
            "moves": make_moves(map_, 300, "least visited", 2),
        }
    )
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in FILE_EPISODES:
            path = Path(folder) / "episodes.jsonl"
            with path.open("w", encoding="utf-8") as stream:
                for _ in range(number):
                    stream.write(line + "\n")
            done = subprocess.run(
                [sys.executable, "-c", _MEMORY, str(path)], capture_output=True, text=True, check=True
            )
            found[str(number)] = float(done.stdout)
    return found
