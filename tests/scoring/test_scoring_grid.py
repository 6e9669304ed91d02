import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oresight.gridenv.mapfile import MapError
from oresight.scoring.core import Case
from oresight.scoring.grid.adapter import GridScenario, GridScorer
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import Outcome
from support.grid_twin import (
    MOVES,
    TwinState,
    depth_first,
    follower,
    random_episode,
    random_map,
    random_moves,
    twin_score,
    walked,
)
from support.places import DATA

VECTORS = json.loads((DATA / "grid-episodes.json").read_text())
STEP_FIELDS = ("case", "gain", "progress", "stale", "error")
COUNTS = (
    "success",
    "explore_errors",
    "explore_eligible",
    "exploit_errors",
    "exploit_eligible",
    "steps_taken",
    "budget",
)
SEEDS = st.integers(0, 2**32)


def scored(episode, alpha=3, k=2):
    """An episode's `expected`, in the form of the published vectors."""
    scorer = GridScorer(Parameters(alpha=alpha, k=k), episode)
    steps = [step.to_json() for step in map(scorer.score, episode["moves"]) if step.scored]
    summary = scorer.summary().to_json()
    plain = [{name: step[name] for name in STEP_FIELDS} for step in steps]
    return {"steps": plain, **{name: summary[name] for name in COUNTS}}


def rates(result):
    return {name: result[name] for name in COUNTS}


def corridor(moves, nodes, goal="G", visibility="partial", start=0, length=6):
    """Cells in a row; nodes as (id, x, options)."""
    made = [{"id": name, "cell": [x, 0], "options": options} for name, x, options in nodes]
    cells = [[x, 0] for x in range(length)]
    map_ = {"cells": cells, "start": [start, 0], "nodes": made, "goal": goal}
    return {"kind": "grid", "visibility": visibility, "map": map_, "moves": moves}


# --- exactness -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("episode", VECTORS["episodes"], ids=lambda episode: episode["name"])
def test_the_published_episodes_come_out_exactly(episode):
    assert scored(episode, VECTORS["alpha"], VECTORS["k"]) == episode["expected"]


@pytest.mark.parametrize("episode", VECTORS["episodes"], ids=lambda episode: episode["name"])
def test_the_slow_twin_knows_the_published_episodes_too(episode):
    assert twin_score(episode, VECTORS["alpha"], VECTORS["k"]) == episode["expected"]


def compare(seed, most_cells):
    draw = random.Random(seed)
    episode = random_episode(draw, most_cells)
    alpha, k = draw.choice((0.7, 1, 2, 3, 3, 4)), draw.choice((1, 2, 2, 3))
    assert scored(episode, alpha, k) == twin_score(episode, alpha, k), seed


@pytest.mark.parametrize("block", range(8))
def test_every_step_of_random_walks_equals_the_slow_twin(block):
    for seed in range(250):
        compare(1000 * block + seed, 20)


def test_large_maps_equal_the_slow_twin():
    for seed in range(12):
        compare(10**6 + seed, 120)


def test_with_many_nodes_to_look_up_the_search_gives_the_same(monkeypatch):
    monkeypatch.setattr("oresight.scoring.grid.ways.FIELDS_MAX", 1)
    for seed in range(300):
        compare(10**8 + seed, 20)


@pytest.mark.soak
@pytest.mark.parametrize("block", range(20))
def test_every_step_of_many_more_random_walks_equals_the_slow_twin(block):
    for seed in range(5000):
        compare(10**7 + 5000 * block + seed, 34)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_drawn_episodes_equal_the_slow_twin(data):
    # What shrinks to a small counterexample, should there be one.
    cells = data.draw(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=20))
    start = min(cells)
    reached, front = {start}, [start]
    for x, y in front:
        for dx, dy in MOVES.values():
            if (x + dx, y + dy) in cells and (x + dx, y + dy) not in reached:
                reached.add((x + dx, y + dy))
                front.append((x + dx, y + dy))
    places = data.draw(st.lists(st.sampled_from(sorted(reached)), min_size=1, max_size=4, unique=True))
    nodes = []
    for index, place in enumerate(places):
        parents = st.lists(st.sampled_from([f"N{i}" for i in range(index)]), max_size=2) if index else st.just([])
        nodes.append({"id": f"N{index}", "cell": list(place), "options": data.draw(st.lists(parents, max_size=2))})
    episode = {
        "kind": "grid",
        "visibility": data.draw(st.sampled_from(("partial", "full"))),
        "map": {"cells": [list(c) for c in cells], "start": list(start), "nodes": nodes, "goal": nodes[-1]["id"]},
        "moves": data.draw(st.lists(st.sampled_from([*MOVES, None]), max_size=30)),
    }
    assert scored(episode) == twin_score(episode)


# --- known properties ------------------------------------------------------------------------------------------------


def errors(result):
    return result["explore_errors"] + result["exploit_errors"]


@pytest.mark.parametrize("visibility", ["partial", "full"])
def test_whoever_follows_shortest_known_paths_to_any_target_never_errs(visibility):
    for seed in range(150):
        draw = random.Random(seed)
        episode = {"kind": "grid", "visibility": visibility, "map": random_map(draw, 22)}
        result = scored(walked(episode, follower, draw))
        assert errors(result) == 0, seed


def test_a_depth_first_walk_on_a_tree_never_errs_while_exploring_is_allowed():
    # Once the goal is pending, or all is explored, going on with the walk may well lead away from what is asked for.
    trees = 0
    for seed in range(2000):
        draw = random.Random(seed)
        data = random_map(draw, 16)
        cells = cells_of(data)
        if sum(((x + 1, y) in cells) + ((x, y + 1) in cells) for x, y in cells) != len(cells) - 1:
            continue
        trees += 1
        result = scored(walked({"kind": "grid", "visibility": "partial", "map": data}, depth_first, draw))
        assert result["explore_errors"] == 0, seed
        # Without prerequisites nothing is ever pending, so that the walk goes on until it finds the goal.
        data["nodes"] = [node | {"options": []} for node in data["nodes"]]
        result = scored(walked({"kind": "grid", "visibility": "partial", "map": data}, depth_first, draw))
        assert (errors(result), result["success"]) == (0, True), seed
    assert trees > 100


def cells_of(data):
    return {tuple(cell) for cell in data["cells"]}


def test_a_depth_first_walk_with_cycles_may_err():
    found = set()
    for seed in range(300):
        draw = random.Random(seed)
        episode = {"kind": "grid", "visibility": "partial", "map": random_map(draw, 22)}
        found.add(errors(scored(walked(episode, depth_first, draw))) > 0)
    assert found == {True, False}


@settings(max_examples=80, deadline=None)
@given(seed=SEEDS, cut=st.integers(0, 60), longer=st.integers(0, 60))
def test_a_longer_trajectory_never_changes_earlier_steps(seed, cut, longer):
    draw = random.Random(seed)
    episode = random_episode(draw, 24)
    moves = random_moves(draw, episode["map"], cut + longer)
    whole = scored({**episode, "moves": moves})["steps"]
    assert whole[:cut] == scored({**episode, "moves": moves[:cut]})["steps"]


@settings(max_examples=80, deadline=None)
@given(seed=SEEDS)
def test_progress_is_never_an_error_and_always_a_gain_with_a_score_of_0(seed):
    for step in scored(random_episode(random.Random(seed), 24))["steps"]:
        if step["progress"]:
            assert (step["gain"], step["stale"], step["error"]) == (True, 0, None)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_with_everything_visible_only_cases_2_and_3_occur(seed):
    episode = {**random_episode(random.Random(seed), 24), "visibility": "full"}
    result = scored(episode)
    assert {step["case"] for step in result["steps"]} <= {2, 3}
    assert result["explore_eligible"] == 0


def turned(episode, turns, mirrored, dx, dy):
    """The episode on a map that is mirrored, turned by quarters and moved."""

    def place(cell):
        x, y = cell
        x = -x if mirrored else x
        for _ in range(turns):
            x, y = -y, x
        return [x + dx, y + dy]

    names = {vector: name for name, vector in MOVES.items()}

    def move(name):
        if name is None:
            return None
        x, y = place(MOVES[name])
        return names[x - dx, y - dy]

    data = episode["map"]
    nodes = [node | {"cell": place(node["cell"])} for node in data["nodes"]]
    cells = [place(cell) for cell in data["cells"]]
    return {
        **episode,
        "map": {**data, "cells": cells, "start": place(data["start"]), "nodes": nodes},
        "moves": [move(name) for name in episode["moves"]],
    }


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, turns=st.integers(0, 3), mirrored=st.booleans(), dx=st.integers(-99, 99), dy=st.integers(-9, 9))
def test_steps_do_not_change_under_rotation_reflection_and_shift(seed, turns, mirrored, dx, dy):
    episode = random_episode(random.Random(seed), 24)
    assert scored(turned(episode, turns, mirrored, dx, dy)) == scored(episode)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_steps_do_not_change_under_renaming_and_reordering(seed):
    draw = random.Random(seed)
    episode = random_episode(draw, 24)
    data = episode["map"]
    names = [node["id"] for node in data["nodes"]]
    new = dict(zip(names, draw.sample([f"\u00e9 {i}" for i in range(99)], len(names)), strict=True))
    nodes = [
        {**node, "id": new[node["id"]], "options": [[new[p] for p in option] for option in node["options"]]}
        for node in draw.sample(data["nodes"], len(names))
    ]
    cells = draw.sample(data["cells"], len(data["cells"]))
    renamed = {**data, "nodes": nodes, "goal": new[data["goal"]], "cells": cells}
    assert scored({**episode, "map": renamed}) == scored(episode)


def test_k_changes_nothing_but_stale_scores_and_their_errors():
    for seed in range(100):
        episode = random_episode(random.Random(seed), 20)
        results = [scored(episode, k=k)["steps"] for k in (1, 2, 3)]
        for one, two, three in zip(*results, strict=True):
            assert [one[name] for name in ("case", "gain", "progress")] == [
                three[n] for n in ("case", "gain", "progress")
            ]
            assert one["stale"] >= two["stale"] >= three["stale"]


# --- single rules ----------------------------------------------------------------------------------------------------


def test_the_start_is_an_arrival_and_may_be_the_end():
    episode = corridor(["right"], [("G", 0, [])])
    result = scored(episode)
    assert (result["success"], result["steps"], result["steps_taken"]) == (True, [], 0)


def test_a_node_at_the_start_is_achieved_at_once():
    episode = corridor(["right"] * 5, [("A", 0, []), ("G", 5, [["A"]])])
    assert scored(episode)["success"]


def test_moves_after_success_and_past_the_budget_are_not_scored():
    after = scored(corridor(["right"] * 9, [("G", 5, [])]))
    assert (after["steps_taken"], len(after["steps"])) == (5, 5)
    past = scored(corridor(["left"] * 40, [("G", 5, [])]))
    assert (past["steps_taken"], past["budget"], past["success"]) == (18, 18, False)


def test_an_option_without_parents_holds():
    assert scored(corridor(["right"], [("A", 5, []), ("G", 1, [["A"], []])]))["success"]


def test_equal_options_and_nodes_that_nothing_needs_are_allowed():
    nodes = [("A", 1, []), ("X", 2, [["A"], ["A"]]), ("G", 5, [["A"], ["A"]])]
    assert scored(corridor(["right"] * 5, nodes))["success"]


def test_no_move_is_a_self_loop_and_no_gain():
    steps = scored(corridor([None, None], [("G", 5, [])]))["steps"]
    assert [(step["gain"], step["stale"], step["error"]) for step in steps] == [
        (False, 1, "explore"),
        (False, 2, "explore"),
    ]


@pytest.mark.parametrize(("alpha", "budget"), [(3, 18), (1, 6), (0.5, 3), (0.1, 0), (2.5, 15), (1000, 6000)])
def test_the_budget_is_alpha_times_the_number_of_cells_rounded_down(alpha, budget):
    assert scored(corridor([], [("G", 5, [])]), alpha)["budget"] == budget


def test_the_budget_reads_alpha_as_it_is_written():
    # 0.29 x 100 is 28.999999999999996 in floating point.
    assert GridScorer(Parameters(alpha=0.29), corridor([], [("G", 5, [])], length=100)).budget == 29


def test_an_island_far_away_changes_nothing_and_costs_nothing():
    episode = corridor(["right", "left", "right", "right"], [("A", 1, []), ("G", 5, [["A"]])], visibility="full")
    island = json.loads(json.dumps(episode))
    island["map"]["cells"].append([10**9, -(10**9)])
    assert scored(island)["steps"] == scored(episode)["steps"] == twin_score(episode)["steps"]


def test_a_move_that_is_none_is_refused():
    scorer = GridScorer(Parameters(), corridor([], [("G", 5, [])]))
    with pytest.raises(ValueError, match="'jump' is no move; expected up, down, left, right or None"):
        scorer.score("jump")


def test_reasons_causes_and_nodes_are_told():
    nodes = [("A", 5, []), ("G", 0, [["A"]])]
    scorer = GridScorer(Parameters(), corridor([], nodes, start=1))
    steps = [scorer.score(move) for move in ["left", *["right"] * 5, "left", "right", None]]
    assert [step.reasons for step in steps[:2]] == [("target",), ("nearer",)]
    assert (steps[6].case, steps[6].reasons, steps[6].node) == (Case.GOAL, ("nearer",), (4, 0))
    assert (steps[7].causes, steps[8].causes) == (("no gain",), ("no gain", "stale"))


def test_both_readings_are_one():
    scorer = GridScorer(Parameters(), corridor([], [("G", 5, [])]))
    step = scorer.score("left")
    summary = scorer.summary()
    assert step.strict is None
    assert list(summary.readings) == ["lenient"]
    assert summary.to_json()["strict"] == summary.to_json()["lenient"]
    assert summary.to_json()["strict"]["explore_errors"] == 1


# --- outcomes --------------------------------------------------------------------------------------------------------

A_CORRIDOR = corridor(["right"] * 5, [("G", 5, [])])


def outcome(moves, recorded, alpha=3.0, budget=18):
    scorer = GridScorer(Parameters(alpha=alpha), {**A_CORRIDOR, "budget": budget})
    for move in moves:
        scorer.score(move)
    return scorer.summary(recorded).outcome


def test_outcomes_follow_the_moves_and_what_is_recorded():
    assert outcome(["right"] * 5, Outcome.SUCCESS) is Outcome.SUCCESS
    assert outcome(["right"] * 5, Outcome.SUCCESS, alpha=0.5) is Outcome.BUDGET_SPENT
    assert outcome(["right"] * 4, Outcome.SUCCESS) is Outcome.INCOMPLETE
    assert outcome(["left"] * 18, Outcome.BUDGET_SPENT) is Outcome.BUDGET_SPENT
    assert outcome(["left"] * 17, Outcome.BUDGET_SPENT) is Outcome.INCOMPLETE
    assert outcome(["left"] * 3, Outcome.AGENT_ENDED) is Outcome.AGENT_ENDED
    assert outcome(["left"] * 3, None) is Outcome.INCOMPLETE
    assert outcome(["right"] * 5, Outcome.INFRASTRUCTURE) is Outcome.INFRASTRUCTURE


def test_a_spent_budget_stays_a_failure_under_a_larger_one():
    assert outcome(["left"] * 18, Outcome.BUDGET_SPENT, alpha=9.0) is Outcome.BUDGET_SPENT


def test_a_faulty_scenario_is_refused():
    with pytest.raises(ValueError, match=r"scenario.visibility is 'half'"):
        GridScorer(Parameters(), {**A_CORRIDOR, "visibility": "half"})
    with pytest.raises(ValueError, match=r"scenario.budget is 'many'"):
        GridScorer(Parameters(), {**A_CORRIDOR, "budget": "many"})
    with pytest.raises(MapError, match=r"scenario.map"):
        GridScenario.from_json({"visibility": "full"})


def test_the_twin_state_starts_as_the_rules_say():
    state = TwinState(corridor([], [("A", 0, []), ("G", 5, [["A"]])]))
    assert (state.achieved, state.unobserved, state.case()) == ({"A"}, {(1, 0)}, 1)
