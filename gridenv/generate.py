"""From demand, DAG size and seed to a map that is proved solvable.

The presets are the two tables of `DEMANDS` and `SIZES`; `GridParameters` takes others. What was drawn is kept with the
map, as it was before the goal was repaired.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from oresight.gridenv.dag import TaskDag, draw_dag
from oresight.gridenv.draws import Draws
from oresight.gridenv.layout import Layout, draw_layout, grid_sides
from oresight.gridenv.model import GridMap, Node
from oresight.gridenv.proof import Proof, prove

GENERATOR_VERSION = 1
MAX_NODES = 60
MAX_GRID_CELLS = 2500
MIN_ATTEMPTS = 3
ATTEMPTS = 40
MAX_PROVED_CELLS = 8000
# Streams of draws by purpose.
_DAG, _LAYOUT = 1, 2


class GenerationError(ValueError):
    """No map can be made from some parameters; the message says which one to change."""


@dataclass(frozen=True)
class GridParameters:
    """What a map is drawn from.

    Attributes:
        nodes: How many nodes the task DAG has, the goal included.
        density: Nodes per grid cell; the grid has nodes / density cells, as nearly as sides that differ by at
            most one allow.
        narrowest: The least width of a corridor, in cells.
        widest: Its greatest width.
        option_counts: Probabilities of how many alternative options (OR) a non-primitive node has.
        parent_counts: Probabilities of how many parents (AND) each of its options has.
        goal_parent_counts: The same for the goal's options.
        max_layer: How many nodes of a depth there are at most.
        beta: How strongly parents are taken from near layers: exp(-beta x layers skipped).
    """

    nodes: int
    density: float
    narrowest: int
    widest: int
    option_counts: Mapping[int, float] = field(default_factory=lambda: {1: 1.0})
    parent_counts: Mapping[int, float] = field(default_factory=lambda: {1: 0.5, 2: 0.5})
    goal_parent_counts: Mapping[int, float] = field(default_factory=lambda: {1: 0.5, 2: 0.5})
    max_layer: int = 3
    beta: float = 1.0


@dataclass(frozen=True)
class _Demand:
    density: float
    narrowest: int
    widest: int


@dataclass(frozen=True)
class _Size:
    nodes: int
    option_counts: Mapping[int, float]
    parent_counts: Mapping[int, float]


_ONE_OR_TWO = {1: 0.5, 2: 0.5}
_ONE_TO_THREE = {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}
# By exploitation demand; a low one is a high demand for exploration.
DEMANDS: Mapping[str, _Demand] = {
    "low": _Demand(0.10, 2, 3),
    "medium": _Demand(0.25, 1, 3),
    "high": _Demand(0.40, 1, 1),
}
SIZES: Mapping[str, _Size] = {
    "small": _Size(4, {1: 1.0}, _ONE_OR_TWO),
    "medium": _Size(6, {1: 0.8, 2: 0.2}, _ONE_OR_TWO),
    "large": _Size(8, {1: 0.6, 2: 0.4}, _ONE_TO_THREE),
}


def preset(demand: str, size: str) -> GridParameters:
    """Return the parameters of an exploitation demand and a DAG size.

    Raises:
        GenerationError: There is no such demand or size.
    """
    if demand not in DEMANDS:
        raise GenerationError(f"unknown demand {demand!r}; expected one of {', '.join(DEMANDS)}")
    if size not in SIZES:
        raise GenerationError(f"unknown size {size!r}; expected one of {', '.join(SIZES)}")
    ground, tasks = DEMANDS[demand], SIZES[size]
    return GridParameters(
        nodes=tasks.nodes,
        density=ground.density,
        narrowest=ground.narrowest,
        widest=ground.widest,
        option_counts=tasks.option_counts,
        parent_counts=tasks.parent_counts,
        goal_parent_counts=tasks.parent_counts,
    )


def generate(demand: str, size: str, seed: int) -> GridMap:
    """Make the map of an exploitation demand, a DAG size and a seed.

    Raises:
        GenerationError: There is no such demand or size.
    """
    return generate_from(preset(demand, size), seed, name=f"{demand}-{size}-{seed}")


def generate_from(parameters: GridParameters, seed: int, name: str = "") -> GridMap:
    """Make the map of some parameters and a seed: the first layout drawn that is proved solvable within the budget.

    Raises:
        GenerationError: The parameters cannot be satisfied.
    """
    sides = check_parameters(parameters)
    key = _key(parameters, seed)
    dag = draw_dag(
        Draws(_DAG, *key),
        nodes=parameters.nodes,
        max_layer=parameters.max_layer,
        option_counts=parameters.option_counts,
        parent_counts=parameters.parent_counts,
        goal_parent_counts=parameters.goal_parent_counts,
        beta=parameters.beta,
    )
    attempt = proved_cells = 0
    # A large map takes long to prove: fewer attempts there, so that giving up takes seconds and not minutes.
    while attempt < MIN_ATTEMPTS or (attempt < ATTEMPTS and proved_cells < MAX_PROVED_CELLS):
        layout = draw_layout(
            Draws(_LAYOUT, attempt, *key), parameters.nodes, sides, (parameters.narrowest, parameters.widest)
        )
        made = _assemble(dag, layout, name)
        proof = prove(made)
        if proof is not None:
            drawn = _drawn(parameters, seed, attempt, dag, layout, proof)
            return GridMap(made.cells, made.start, made.nodes, made.goal, name, drawn)
        attempt += 1
        proved_cells += len(made.cells)
    raise GenerationError(
        f"none of {attempt} layouts drawn for seed {seed} could be solved within the budget; "
        "try another seed or density"
    )


def check_parameters(parameters: GridParameters) -> tuple[int, int]:
    """Check that some parameters can be satisfied.

    Returns:
        The longer and the shorter side of the grid.

    Raises:
        GenerationError: They cannot; the message names the parameter.
    """
    _check_types(parameters)
    if not 2 <= parameters.nodes <= MAX_NODES:
        raise GenerationError(f"nodes is {parameters.nodes}; expected 2 to {MAX_NODES}")
    if not 0 < parameters.density <= 1:
        raise GenerationError(f"density is {parameters.density}; expected more than 0 and at most 1")
    if not 0 <= parameters.beta <= 100:
        raise GenerationError(f"beta is {parameters.beta}; expected 0 to 100")
    if parameters.max_layer < 1:
        raise GenerationError(f"max_layer is {parameters.max_layer}; expected 1 or more")
    _most(parameters.option_counts, "option_counts")
    parents = _most(parameters.parent_counts, "parent_counts")
    goal_parents = _most(parameters.goal_parent_counts, "goal_parent_counts")
    others = parameters.nodes - 1
    if goal_parents > others:
        raise GenerationError(f"goal_parent_counts allows {goal_parents} parents, but there are {others} other nodes")
    if others > parameters.max_layer and parents > parameters.max_layer:
        raise GenerationError(
            f"parent_counts allows {parents} parents, but the first layer has max_layer = {parameters.max_layer} nodes "
            "at most; raise max_layer or allow fewer parents"
        )
    cells = parameters.nodes / parameters.density
    if cells > MAX_GRID_CELLS:
        raise GenerationError(
            f"{parameters.nodes} nodes at density {parameters.density} need {cells:.0f} grid cells; "
            f"expected at most {MAX_GRID_CELLS}: raise the density"
        )
    sides = grid_sides(round(cells))
    if sides[0] * sides[1] <= parameters.nodes:
        raise GenerationError(
            f"a grid of {sides[0]} x {sides[1]} has no room for the start and {parameters.nodes} nodes; "
            "lower the density"
        )
    if not 1 <= parameters.narrowest <= parameters.widest <= sides[1]:
        raise GenerationError(
            f"corridor widths are {parameters.narrowest} to {parameters.widest}; expected from 1 to {sides[1]}, the "
            "shorter side of the grid, the narrowest first"
        )
    return sides


def _check_types(parameters: GridParameters) -> None:
    for name in ("nodes", "narrowest", "widest", "max_layer"):
        if type(getattr(parameters, name)) is not int:
            raise GenerationError(f"{name} is {getattr(parameters, name)!r}; expected a whole number")
    for name in ("density", "beta"):
        value = getattr(parameters, name)
        if type(value) not in (int, float) or not math.isfinite(value):
            raise GenerationError(f"{name} is {value!r}; expected a finite number")


def _most(probabilities: Mapping[int, float], name: str) -> int:
    """Check a table of probabilities, and return the largest count that can be drawn."""
    for count, chance in probabilities.items():
        if type(count) is not int or count < 1:
            raise GenerationError(f"{name} has the count {count!r}; expected whole numbers from 1 on")
        if type(chance) not in (int, float) or not 0 <= chance <= 1:
            raise GenerationError(f"{name} gives {count} the probability {chance!r}; expected 0 to 1")
    total = sum(probabilities.values())
    if not abs(total - 1) < 1e-6:
        raise GenerationError(f"{name} has probabilities that sum to {total}; expected 1")
    most = max(count for count, chance in probabilities.items() if chance > 0)
    if most > MAX_NODES:
        raise GenerationError(f"{name} allows {most}; expected at most {MAX_NODES}")
    return most


def _key(parameters: GridParameters, seed: int) -> list[int]:
    """Return the integers that a map's draws depend on: the seed and every parameter, numbers as exact fractions."""
    key = [GENERATOR_VERSION, seed]
    for entry in fields(parameters):
        value = getattr(parameters, entry.name)
        if isinstance(value, Mapping):
            key.append(len(value))
            for count in sorted(value):
                key += [count, *float(value[count]).as_integer_ratio()]
        else:
            key += float(value).as_integer_ratio()
    return key


def _assemble(dag: TaskDag, layout: Layout, name: str) -> GridMap:
    # In the order of their names, which says nothing about layers.
    names = [node for layer in dag.layers for node in layer]
    nodes = [Node(node, cell, dag.options[node]) for node, cell in zip(names, layout.places, strict=True)]
    return GridMap(layout.cells, layout.start, tuple(sorted(nodes, key=lambda node: node.id)), dag.goal, name)


def _drawn(
    parameters: GridParameters, seed: int, attempt: int, dag: TaskDag, layout: Layout, proof: Proof
) -> dict[str, Any]:
    """Return what was drawn, as JSON-ready data; keys of tables are strings, as JSON has them."""
    asked = {entry.name: getattr(parameters, entry.name) for entry in fields(parameters)}
    return {
        "generator": GENERATOR_VERSION,
        "parameters": {
            name: {str(count): value[count] for count in sorted(value)} if isinstance(value, Mapping) else value
            for name, value in asked.items()
        },
        "seed": seed,
        "attempt": attempt,
        "layers": [list(layer) for layer in dag.layers],
        "options": {name: [list(option) for option in dag.drawn_options[name]] for name in sorted(dag.drawn_options)},
        "repaired": list(dag.repaired),
        "grid": [layout.width, layout.height],
        "corridors": [
            {
                "from": list(corridor.begin),
                "to": list(corridor.end),
                "width": corridor.width,
                "horizontal_first": corridor.horizontal_first,
            }
            for corridor in layout.corridors
        ],
        "solution": proof.solution,
        "solution_shortest": proof.shortest,
        "explorer": proof.explorer,
    }
