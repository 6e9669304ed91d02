"""The reference solver: shortest where it says so, and always a solution by the rules."""

import pytest
from hypothesis import given

from oresight.gridenv import solver
from oresight.gridenv.generate import generate
from oresight.gridenv.mapfile import MapError, map_to_json, parse_map
from oresight.gridenv.model import GridMap, Node
from oresight.gridenv.proof import Proof, explore, prove
from oresight.gridenv.solver import UnsolvableError, solve, verify
from support.grid_stage import fewest_moves, maps, stage


@given(maps())
def test_it_is_as_short_as_a_search_over_everything(map_: GridMap) -> None:
    try:
        parse_map(map_to_json(map_))
    except MapError:
        return
    solution = solve(map_)
    assert solution.shortest
    assert len(solution.moves) == fewest_moves(map_)
    assert verify(map_, solution.moves)
    assert not verify(map_, solution.moves[:-1]) or not solution.moves


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", ["small", "medium", "large"])
def test_it_is_as_short_on_generated_maps(size: str, seed: int) -> None:
    map_ = generate("medium", size, seed)
    assert len(solve(map_).moves) == fewest_moves(map_)


def test_it_takes_the_nearer_option() -> None:
    map_ = stage("A....SBG", {"G": [["A"], ["B"]]})
    assert solve(map_).moves == ("right", "right")


def test_a_node_passed_on_the_way_counts() -> None:
    map_ = stage("SAG", {"G": [["A"]]})
    assert solve(map_).order == ("A", "G")


def test_a_goal_at_the_start_needs_no_moves() -> None:
    map_ = GridMap(frozenset({(0, 0), (1, 0)}), (0, 0), (Node("G", (0, 0)),), "G")
    assert solve(map_) == solver.Solution((), (), True)
    assert prove(map_) == Proof(0, True, 0)


@pytest.mark.parametrize("exact_nodes", [12, 0])
@pytest.mark.parametrize("text", ["SA#G", "S.G#A"])
def test_what_cannot_be_reached_makes_a_map_unsolvable(
    monkeypatch: pytest.MonkeyPatch, text: str, exact_nodes: int
) -> None:
    monkeypatch.setattr(solver, "EXACT_NODES", exact_nodes)
    map_ = stage(text, {"G": [["A"]]})
    with pytest.raises(UnsolvableError, match="'G' cannot be achieved"):
        solve(map_)
    assert prove(map_) is None
    assert explore(map_, 50) is None


@given(maps())
def test_beyond_the_exact_limit_it_still_solves_but_does_not_claim_the_shortest(map_: GridMap) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "EXACT_NODES", 0)
        solution = solve(map_)
    assert verify(map_, solution.moves)
    assert len(solution.moves) >= len(solve(map_).moves)
    assert solution.shortest is (not solution.moves)


def test_a_solution_that_is_longer_than_the_budget_is_no_proof() -> None:
    map_ = stage("A..SG", {"G": [["A"]]})
    assert prove(map_) == Proof(7, True, explorer=explore(map_, 15))
    # Seven moves are needed; one per cell is five.
    assert prove(map_, alpha=1) is None
