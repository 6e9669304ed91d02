"""Generated maps: distributed as specified, the same everywhere, and proved solvable."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from oresight.gridenv.dag import depth_weight, draw_names
from oresight.gridenv.draws import Draws, mix
from oresight.gridenv.generate import DEMANDS, SIZES, GenerationError, GridParameters, generate, generate_from, preset
from oresight.gridenv.layout import grid_sides
from oresight.gridenv.mapfile import map_to_json, parse_map
from oresight.gridenv.model import GridMap, reached
from oresight.gridenv.proof import explore
from oresight.gridenv.solver import solve, verify
from oresight.gridenv.suites import get_scenario, scenario_names
from support.places import DATA, ROOT

GOLDEN = DATA / "golden_maps.json"
NODES = {"small": 4, "medium": 6, "large": 8}
DENSITY = {"low": 0.10, "medium": 0.25, "high": 0.40}
WIDTHS = {"low": (2, 3), "medium": (1, 2, 3), "high": (1,)}
OPTION_COUNTS = {"small": {1: 1.0}, "medium": {1: 0.8, 2: 0.2}, "large": {1: 0.6, 2: 0.4}}
PARENT_COUNTS = {"small": {1: 1 / 2, 2: 1 / 2}, "medium": {1: 1 / 2, 2: 1 / 2}, "large": {1: 1 / 3, 2: 1 / 3, 3: 1 / 3}}


def map_hash(map_: GridMap) -> str:
    return hashlib.sha256(json.dumps(map_to_json(map_), sort_keys=True).encode()).hexdigest()


def drawn_of(map_: GridMap) -> dict[str, Any]:
    assert map_.drawn is not None
    return map_.drawn


def chi_squared(counts: Mapping[int, int], expected: Mapping[int, float]) -> float:
    total = sum(counts.values())
    assert set(counts) <= set(expected)
    return sum((counts.get(key, 0) - total * share) ** 2 / (total * share) for key, share in expected.items())


def check_map(map_: GridMap, demand: str, size: str) -> None:
    """Everything that the specification promises about a single map."""
    drawn = drawn_of(map_)
    layers, options = drawn["layers"], drawn["options"]
    depth = {name: number for number, layer in enumerate(layers) for name in layer}
    assert len(map_.nodes) == len(depth) == NODES[size]
    assert max(map(len, layers)) <= 3
    assert layers[-1] == [map_.goal]
    assert all(len(name) == 4 and name.isascii() and name.upper() == name and name.isalnum() for name in depth)
    for name in depth:
        assert bool(options[name]) == (depth[name] > 0)
        for option in options[name]:
            assert len(set(option)) == len(option)
            assert max(depth[parent] for parent in option) == depth[name] - 1
    # The repair, and nothing else, lies between what was drawn and the map.
    useful = {map_.goal}
    for _ in depth:
        useful |= {parent for name in useful for option in options[name] for parent in option}
    assert set(drawn["repaired"]) == set(depth) - useful
    for node in map_.nodes:
        extra = set(drawn["repaired"]) if node.id == map_.goal else set()
        assert [set(option) for option in node.options] == [set(option) | extra for option in options[node.id]]
    # Every node matters: the goal can be reached from it.
    assert all(map_.dependents[name] for name in depth if name != map_.goal)
    width, height = drawn["grid"]
    assert abs(width - height) <= 1
    asked = NODES[size] / DENSITY[demand]
    assert abs(width * height - asked) <= max(width, height) / 2
    assert all(0 <= x < width and 0 <= y < height for x, y in map_.cells)
    assert map_.node_at(map_.start) is None
    assert len({node.cell for node in map_.nodes}) == len(map_.nodes)
    assert {node.cell for node in map_.nodes} <= map_.cells
    assert reached(map_, map_.start) == map_.cells
    assert all(corridor["width"] in WIDTHS[demand] for corridor in drawn["corridors"])
    solution = solve(map_)
    assert verify(map_, solution.moves)
    assert solution.shortest and len(solution.moves) == drawn["solution"] <= map_.budget()
    assert explore(map_, map_.budget()) == drawn["explorer"] <= map_.budget()


def check_distributions(maps: Iterable[tuple[str, str, GridMap]]) -> None:
    """Chi-squared of every drawn quantity; 30 is far beyond chance for up to two degrees of freedom."""
    option_counts: dict[str, Counter[int]] = {size: Counter() for size in SIZES}
    parent_counts: dict[tuple[str, bool], Counter[int]] = {(size, goal): Counter() for size in SIZES for goal in (0, 1)}
    widths: dict[str, Counter[int]] = {demand: Counter() for demand in DEMANDS}
    for demand, size, map_ in maps:
        drawn = drawn_of(map_)
        depth = {name: number for number, layer in enumerate(drawn["layers"]) for name in layer}
        for name, options in drawn["options"].items():
            if depth[name]:
                option_counts[size][len(options)] += 1
            for option in options:
                parent_counts[size, name == map_.goal][len(option)] += 1
        widths[demand].update(corridor["width"] for corridor in drawn["corridors"])
    for size in SIZES:
        assert chi_squared(option_counts[size], OPTION_COUNTS[size]) < 30
        for goal in (False, True):
            assert chi_squared(parent_counts[size, goal], PARENT_COUNTS[size]) < 30
    for demand in DEMANDS:
        assert chi_squared(widths[demand], dict.fromkeys(WIDTHS[demand], 1 / len(WIDTHS[demand]))) < 30


def combinations(each: int) -> Iterable[tuple[str, str, GridMap]]:
    for demand, size in product(DEMANDS, SIZES):
        for seed in range(each):
            yield demand, size, generate(demand, size, seed)


def test_the_main_suite_is_golden() -> None:
    golden = json.loads(GOLDEN.read_text("utf-8"))
    assert list(golden) == scenario_names("main")
    assert {name: map_hash(get_scenario(name).map) for name in golden} == golden


def test_maps_are_as_specified() -> None:
    for demand, size, map_ in combinations(12):
        check_map(map_, demand, size)
        assert parse_map(json.loads(json.dumps(map_to_json(map_)))) == map_


def test_what_is_drawn_is_distributed_as_specified() -> None:
    check_distributions(combinations(120))


@pytest.mark.soak
def test_ten_thousand_maps_are_as_specified() -> None:
    maps = list(combinations(1112))
    assert len(maps) > 10_000
    for demand, size, map_ in maps:
        check_map(map_, demand, size)
    check_distributions(maps)


def test_extra_parents_come_from_near_layers_by_the_exponential_weight() -> None:
    # Three layers of one node under the goal would be forced; a chain of single nodes leaves two gaps to draw from.
    parameters = GridParameters(5, 0.4, 1, 1, parent_counts={1: 1.0}, goal_parent_counts={2: 1.0}, max_layer=1)
    gaps: Counter[int] = Counter()
    for seed in range(1500):
        drawn = drawn_of(generate_from(parameters, seed))
        depth = {name: number for number, layer in enumerate(drawn["layers"]) for name in layer}
        (option,) = drawn["options"][drawn["layers"][-1][0]]
        gaps[3 - min(depth[parent] for parent in option)] += 1
    # Weights e^-1, e^-2, e^-3 for the layers one, two and three above the nearest.
    shares = {gap: 2.718281828459045**-gap for gap in (1, 2, 3)}
    total = sum(shares.values())
    assert chi_squared(gaps, {gap: share / total for gap, share in shares.items()}) < 15


def test_weights_are_exact_integers() -> None:
    # e^-1 = 0.367879441171442 3..., e^-2 = 0.135335283236612 6...
    assert [depth_weight(gap, 1.0) for gap in range(3)] == [10**15, 367_879_441_171_442, 135_335_283_236_612]
    assert depth_weight(5, 0.0) == 10**15
    assert depth_weight(90, 100.0) == 1


def test_the_hash_is_splitmix64() -> None:
    # The published generator's first outputs for the seed 1234567.
    state, outputs = 1234567, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        outputs.append(mix(state))
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_keys_that_differ_give_other_streams() -> None:
    keys = [(), (0,), (0, 0), (1,), (-1,), (2**64,), (2**64 + 1,), (1, 1), (1, 0), (0, 1), (2**128,)]
    assert len({Draws(*key).bits() for key in keys}) == len(keys)


def test_draws_below_a_limit_are_even() -> None:
    draws = Draws(7)
    counts = Counter(draws.below(3) for _ in range(9000))
    assert chi_squared(counts, {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}) < 20
    assert draws.below(1) == 0
    assert sorted(draws.sample(range(10), 10)) == list(range(10))


def test_names_are_unique_and_no_words() -> None:
    names = draw_names(Draws(1), 2000)
    assert len(set(names)) == 2000
    assert all(any(c.isdigit() for c in name) and any(c.isalpha() for c in name) for name in names)


def test_the_order_of_nodes_says_nothing_about_layers() -> None:
    for demand, size, map_ in combinations(3):
        names = [node.id for node in map_.nodes]
        assert names == sorted(names), (demand, size)


@pytest.mark.parametrize(
    ("cells", "sides"),
    [(10, (3, 3)), (15, (4, 4)), (16, (4, 4)), (20, (5, 4)), (24, (5, 5)), (60, (8, 8)), (1, (1, 1))],
)
def test_grids_are_near_square_and_near_the_asked_size(cells: int, sides: tuple[int, int]) -> None:
    assert grid_sides(cells) == sides


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_another_process_makes_the_same_maps(hash_seed: str) -> None:
    code = (
        "import sys; sys.path[:0] = ['tests', 'tests/gridenv']\n"
        "from test_grid_generate import generate, map_hash\n"
        "print(map_hash(generate('medium', 'large', 77)), map_hash(generate('low', 'medium', -5)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=True,
    )
    assert done.stdout.split() == [map_hash(generate("medium", "large", 77)), map_hash(generate("low", "medium", -5))]


def test_seeds_demands_and_sizes_give_different_maps() -> None:
    hashes = {map_hash(map_) for _, _, map_ in combinations(4)}
    assert len(hashes) == 36


BASE = preset("medium", "medium")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (replace(BASE, nodes=1), "nodes is 1"),
        (replace(BASE, nodes=10**9), "nodes is 1000000000"),
        (replace(BASE, nodes=True), "nodes is True"),
        (replace(BASE, density=0.0), "density is 0.0"),
        (replace(BASE, density=float("nan")), "density is nan"),
        (replace(BASE, density=1.0), "no room for the start and 6 nodes"),
        (replace(BASE, density=1e-9), "raise the density"),
        (replace(BASE, narrowest=0), "corridor widths are 0 to 3"),
        (replace(BASE, narrowest=3, widest=2), "corridor widths are 3 to 2"),
        (replace(BASE, widest=6), "the shorter side of the grid"),
        (replace(BASE, max_layer=0), "max_layer is 0"),
        (replace(BASE, beta=-1.0), "beta is -1.0"),
        (replace(BASE, option_counts={}), "option_counts has probabilities that sum to 0"),
        (replace(BASE, option_counts={0: 1.0}), "option_counts has the count 0"),
        (replace(BASE, option_counts={1: 0.7}), "sum to 0.7"),
        (replace(BASE, parent_counts={1: -0.5, 2: 1.5}), "the probability -0.5"),
        (replace(BASE, parent_counts={4: 1.0}), "raise max_layer or allow fewer parents"),
        (replace(BASE, goal_parent_counts={6: 1.0}), "there are 5 other nodes"),
        (replace(BASE, option_counts={10**6: 1.0}), "at most 60"),
    ],
)
def test_parameters_that_cannot_be_satisfied_are_refused_at_once(parameters: GridParameters, words: str) -> None:
    begun = time.monotonic()
    with pytest.raises(GenerationError, match=words):
        generate_from(parameters, 0)
    assert time.monotonic() - begun < 3


def test_unknown_presets_are_refused() -> None:
    with pytest.raises(GenerationError, match="unknown demand 'huge'; expected one of low, medium, high"):
        generate("huge", "small", 0)
    with pytest.raises(GenerationError, match="unknown size 'tiny'; expected one of small, medium, large"):
        generate("low", "tiny", 0)


def test_other_parameters_are_possible() -> None:
    made = generate_from(
        GridParameters(20, 0.2, 1, 2, {1: 0.5, 3: 0.5}, {1: 0.25, 4: 0.75}, {5: 1.0}, max_layer=5, beta=0.3), 1
    )
    assert len(made.nodes) == 20
    assert verify(made, solve(made).moves)


if __name__ == "__main__":
    # Makes the golden hashes anew; only after GENERATOR_VERSION was raised.
    GOLDEN.write_text(
        json.dumps({name: map_hash(get_scenario(name).map) for name in scenario_names("main")}, indent=1) + "\n",
        "utf-8",
    )
