"""What a move reveals and achieves."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oresight.gridenv.model import Exploration, GridMap, Node, State, achievable, move, reached, satisfied, start_state
from support.grid_stage import PlainWalk, maps, moves, stage

LINE = stage("S.A.G", {"G": [["A"]]})


def test_the_start_is_an_arrival() -> None:
    state = start_state(LINE)
    assert state == State((0, 0), frozenset({(0, 0)}), frozenset({(1, 0)}), frozenset(), frozenset())


def test_a_node_at_the_start_without_prerequisites_is_achieved_at_once() -> None:
    map_ = GridMap(frozenset({(0, 0), (1, 0)}), (0, 0), (Node("G", (0, 0)),), "G")
    walk = Exploration(map_)
    assert walk.success
    assert walk.start.achieved and walk.start.found and not walk.start.moved


def test_arriving_reveals_and_achieves_a_node() -> None:
    walk = Exploration(LINE)
    walk.move("right")
    arrival = walk.move("right")
    assert arrival == ((2, 0), True, True, LINE.node("A"), True, True)
    assert walk.seen == walk.achieved == {"A"}
    assert walk.unobserved == {(3, 0)}


def test_a_node_is_achieved_only_when_visited_after_its_prerequisites() -> None:
    walk = Exploration(stage("GSA", {"G": [["A"]]}))
    assert walk.move("left") == ((0, 0), True, True, walk.map.node("G"), True, False)
    assert walk.pending == ()
    walk.move("right")
    walk.move("right")
    assert [node.id for node in walk.pending] == ["G"]
    walk.move("left")
    assert not walk.success
    assert walk.move("left") == ((0, 0), True, False, walk.map.node("G"), False, True)
    assert walk.success


def test_a_move_into_a_wall_or_no_move_changes_nothing() -> None:
    walk = Exploration(LINE)
    before = walk.state()
    for direction in ("up", "down", "left", None):
        assert walk.move(direction) == ((0, 0), False, False, None, False, False)
    assert walk.state() == before


def test_standing_still_does_not_achieve_a_node() -> None:
    # Prerequisites can only be met elsewhere, so staying on the cell is no arrival.
    walk = Exploration(stage("GSA", {"G": [["A"]]}))
    walk.move("left")
    assert not walk.move("left").achieved


@pytest.mark.parametrize(
    ("options", "achieved", "expected"),
    [
        ((), "", True),
        ((("A",),), "", False),
        ((("A", "B"),), "A", False),
        ((("A", "B"),), "AB", True),
        ((("A", "B"), ("C",)), "C", True),
        ((("A", "B"), ("C", "D")), "AC", False),
    ],
)
def test_options_are_or_and_parents_within_one_are_and(
    options: tuple[tuple[str, ...], ...], achieved: str, expected: bool
) -> None:
    assert satisfied(Node("X", (0, 0), options), set(achieved)) is expected


def test_with_full_visibility_everything_is_known_but_nothing_achieved() -> None:
    state = start_state(LINE, "full")
    assert state.observed == LINE.cells
    assert not state.unobserved
    assert state.seen == {"A", "G"}
    assert not state.achieved


def test_up_is_plus_y_and_admissible_directions_have_one_order() -> None:
    map_ = stage(
        """
        .A.
        .SG
        ...
        """
    )
    assert map_.admissible((1, 1)) == ("up", "down", "left", "right")
    assert tuple(map_.ways[1, 1].values()) == ((1, 2), (1, 0), (0, 1), (2, 1))
    assert map_.node_at((1, 2)) == map_.node("A")
    assert map_.admissible((0, 0)) == ("up", "right")


@pytest.mark.parametrize(("alpha", "budget"), [(1, 5), (2, 10), (3, 15), (1.5, 7), (2.3, 11), (0.1, 0)])
def test_the_budget_is_rounded_down(alpha: float, budget: int) -> None:
    assert LINE.budget(alpha) == budget


def test_the_budget_reads_alpha_as_it_is_written() -> None:
    # In binary floating point 2.3 x 100 is 229.99999999999997.
    hundred = GridMap(frozenset((x, 0) for x in range(100)), (0, 0), (Node("G", (9, 0)),), "G")
    assert hundred.budget(2.3) == 230


@given(maps(), moves, st.sampled_from(["partial", "full"]))
def test_a_walk_follows_the_rules_as_they_are_defined(map_: GridMap, path: list[str | None], visibility: str) -> None:
    fast = Exploration(map_, visibility)  # type: ignore[arg-type]
    plain = PlainWalk(map_, full=visibility == "full")
    for direction in [None, *path]:
        fast.move(direction)
        plain.move(direction)
        assert fast.position == plain.position
        assert fast.observed == plain.visited
        assert fast.unobserved == plain.unobserved
        assert fast.seen == plain.seen
        assert fast.achieved == plain.achieved
        assert {node.id for node in fast.pending} == plain.pending


@given(maps(), moves)
def test_the_pure_form_says_the_same_and_leaves_its_argument_alone(map_: GridMap, path: list[str | None]) -> None:
    walk = Exploration(map_)
    state = start_state(map_)
    for direction in path:
        before = state
        copy = State(before.position, before.observed, before.unobserved, before.seen, before.achieved)
        state, arrival = move(map_, before, direction)
        assert before == copy
        assert arrival == walk.move(direction)
        assert state == walk.state()


def test_maps_and_walks_can_be_copied_and_pickled() -> None:
    walk = Exploration(LINE)
    walk.move("right")
    for twin in (copy.deepcopy(walk), pickle.loads(pickle.dumps(walk))):
        assert twin.map == LINE
        assert twin.move("right").achieved
        assert twin.achieved == {"A"} and walk.achieved == set()


def test_reached_stops_at_gaps() -> None:
    map_ = stage("S.#.G")
    assert reached(map_, (0, 0)) == {(0, 0), (1, 0)}


def test_a_cycle_can_never_be_achieved() -> None:
    nodes = [Node("A", (0, 0), (("B",),)), Node("B", (1, 0), (("A",), ("C",))), Node("D", (2, 0)), Node("C", (3, 0))]
    assert achievable(nodes) == {"A", "B", "C", "D"}
    assert achievable(nodes[:3]) == {"D"}
