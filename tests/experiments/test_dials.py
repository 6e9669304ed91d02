"""The dials of the 3D world: worlds have the demands that they are named after, and the study says what it counted."""

import json
from itertools import pairwise
from typing import Any

import pytest

from experiments.study.dials import AGENTS, DialsFile, EpisodeRow, cell, trend
from experiments.study.dials_figures import draw_figures
from experiments.study.dials_words import to_markdown
from oresight.craftenv.blocks import Block
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.scenarios.dials import (
    EXPLOITATION,
    EXPLORATION,
    KINDS,
    LEVELS,
    SIGHT_RINGS,
    budget_for,
    faults,
    levels_of,
    make,
    measure,
)
from oresight.craftenv.scenarios.scenario import UnknownScenarioError
from oresight.craftenv.scenarios.search import acquired_by_proof
from oresight.craftenv.scenarios.suites import get_scenario, scenario_names
from oresight.craftenv.sim.digging import covers
from oresight.craftenv.sim.terrain import surface_height
from oresight.craftenv.sim.world import Position, World
from oresight.harness.worlds import kind_of, suite_names
from oresight.harness.worlds.craft.world import dial_levels
from support.places import ROOT

NAMES = scenario_names("craft-dials")
DOCS = ROOT / "docs"


# --- worlds ----------------------------------------------------------------------------------------------------------


def test_the_suite_has_nine_settings_with_three_seeds_each() -> None:
    assert len(NAMES) == 27
    assert NAMES[:4] == ["dials-low-low-0", "dials-low-low-1", "dials-low-low-2", "dials-low-medium-0"]
    assert suite_names("craft", "craft-dials") == NAMES
    assert kind_of(suite="craft-dials") == kind_of(scenario="dials-low-high") == kind_of(scenario=NAMES[0]) == "craft"


@pytest.mark.parametrize("name", NAMES)
def test_a_world_has_the_demands_of_its_name_and_its_proof_works(name: str) -> None:
    assert faults(get_scenario(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_proof_ends_the_episode_with_success_within_half_the_budget(name: str) -> None:
    scenario = get_scenario(name)
    assert scenario.budget == max(100, 2 * len(scenario.proof))
    with CraftEnv(scenario, pictures=False) as env:
        env.reset()
        ended = [env.step(action).terminated for action in scenario.proof]
        assert ended.index(True) == len(ended) - 1
        assert env.acquired >= scenario.target_count


@pytest.mark.parametrize("name", NAMES)
def test_as_many_ores_are_needed_as_the_exploitation_demand_says(name: str) -> None:
    exploitation = name.split("-")[2]
    assert get_scenario(name).target_count == {"low": 1, "medium": 2, "high": 3}[exploitation]


def test_levels_do_not_overlap_and_rise() -> None:
    for lower, higher in pairwise(LEVELS):
        assert EXPLORATION[lower].distance_blocks[1] < EXPLORATION[higher].distance_blocks[0]
        assert EXPLORATION[lower].share_of_sight[0] > EXPLORATION[higher].share_of_sight[1]
        assert EXPLOITATION[lower].target_count < EXPLOITATION[higher].target_count
        assert EXPLOITATION[lower].digging_blocks[1] < EXPLOITATION[higher].digging_blocks[0]


def test_a_world_under_another_demands_name_is_found_out() -> None:
    low = get_scenario("dials-low-low-0")
    hidden = faults(low.model_copy(update={"kind": "dials-high-low"}))
    assert [complaint.split(" is ")[0] for complaint in hidden] == ["the distance", "the share of sight"]
    deep = faults(low.model_copy(update={"kind": "dials-low-medium"}))
    assert deep == ["1 ores are needed; 2 are wanted", "the digging is 0; 1 to 1 is wanted"]


def test_a_proof_that_goes_on_or_stops_short_is_found_out() -> None:
    scenario = get_scenario("dials-low-high-0")
    short = scenario.model_copy(update={"proof": scenario.proof[:-1]})
    long = scenario.model_copy(update={"proof": (*scenario.proof, "wait")})
    assert len(faults(short)) == len(faults(long)) == 1
    assert "the proof of" in faults(short)[0] and "the proof of" in faults(long)[0]


def test_a_wrong_budget_is_found_out() -> None:
    wrong = get_scenario("dials-medium-low-0").model_copy(update={"budget": 90})
    assert faults(wrong) == [f"the budget is 90; 100 is wanted for {len(wrong.proof)} decisions"]


@pytest.mark.parametrize("length, budget", [(7, 100), (50, 100), (51, 102), (80, 160)])
def test_the_budget_is_twice_the_proof_and_a_hundred_at_least(length: int, budget: int) -> None:
    assert budget_for(length) == budget


@pytest.mark.parametrize("kind", ["dials-low", "dials-low-huge", "outcrop", "dials-low-low-0"])
def test_a_kind_that_names_no_levels_is_one_clear_error(kind: str) -> None:
    with pytest.raises(UnknownScenarioError, match="dials-low-low, dials-low-medium"):
        levels_of(kind)


@pytest.mark.parametrize("name", ["dials-0", "dials-low-0", "dials-low-huge-0", "dials-low-low", "dials-low-low--1"])
def test_an_unknown_name_tells_how_names_are_made(name: str) -> None:
    with pytest.raises(UnknownScenarioError, match="dials-EXPLORATION-EXPLOITATION-SEED"):
        get_scenario(name)


def test_a_search_that_takes_too_long_ends_in_one_sentence() -> None:
    with pytest.raises(UnknownScenarioError, match="no solvable world for this seed: dials-medium-low-0 was given up"):
        make("dials-medium-low", 0, give_up_s=-1.0)


@pytest.mark.slow
def test_making_again_gives_the_committed_scenario() -> None:
    assert make("dials-medium-high", 1, give_up_s=600.0) == get_scenario("dials-medium-high-1")


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [3, 4, 5])
def test_other_seeds_have_the_demands_of_their_names(kind: str, seed: int) -> None:
    assert faults(make(kind, seed, give_up_s=600.0)) == []


def test_where_no_ore_lies_on_the_surface_nothing_is_measured() -> None:
    world = World(1)
    world.ensure(0, 0, 2)
    for sx, sz in zip(*world.ore_counts.nonzero(), strict=True):
        world.ore_counts[sx, sz] = 0
    assert measure(world, (0.5, 40.0, 0.5), 1) is None


def _buried(below: int) -> tuple[World, Position]:
    """A world and a place so many blocks below flat ground without caves."""
    world = World(3)
    world.ensure(0, 0, 3)
    for x in range(-24, 25):
        for z in range(-24, 25):
            for y in range(1, 95):
                world.set(x, y, z, Block.STONE if y <= surface_height(3, x, z) else Block.AIR)
    return world, (0, surface_height(3, 0, 0) - below, 0)


def test_what_lies_bare_is_covered_by_nothing() -> None:
    world, place = _buried(0)
    assert covers(world, place, [place]) == [0]


def test_a_shaft_bares_what_it_leads_to() -> None:
    world, (x, y, z) = _buried(12)
    deep = covers(world, (x, y, z), [(x, y, z)])[0]
    for level in range(y + 2, surface_height(3, x, z) + 1):
        world.set(x, level, z, Block.AIR)
    assert deep > 2
    assert covers(world, (x, y, z), [(x, y, z), (x, y + 1, z)]) == [1, 0]


def test_water_is_no_cover() -> None:
    world, (x, y, z) = _buried(12)
    for level in range(y + 1, surface_height(3, x, z) + 1):
        world.set(x, level, z, Block.WATER)
    assert covers(world, (x, y, z), [(x, y, z)]) == [0]


def test_a_cave_that_leads_nowhere_lies_as_deep_as_the_ground_over_it() -> None:
    world, (x, y, z) = _buried(12)
    before = covers(world, (x, y, z), [(x, y, z)])[0]
    world.set(x, y + 1, z, Block.AIR)
    assert covers(world, (x, y, z), [(x, y, z)])[0] == before - 1


# --- the study -------------------------------------------------------------------------------------------------------


def _row(exploration: str, seed: int, lenient: tuple[int, int, int, int], **other: Any) -> EpisodeRow:
    told = {"player": "p, raw", "exploration": exploration, "exploitation": "low", "seed": seed, "success": False}
    numbers = {"steps": 50, "budget": 100, "decisions_scored": 50, "first_seen": None}
    return EpisodeRow.model_validate({**told, **numbers, "lenient": lenient, "strict": lenient, **other})


def _file(*rows: EpisodeRow) -> DialsFile:
    return DialsFile(oresight="0", seeds=2, levels={}, proofs={}, episodes=rows)


def _turned(low: int, medium: int, high: int) -> DialsFile:
    levels = {"low": low, "medium": medium, "high": high}
    return _file(*(_row(level, seed, (errors, 10, 0, 0)) for level, errors in levels.items() for seed in range(5)))


@pytest.mark.parametrize(
    "errors, verdict, steps",
    [
        ((1, 2, 5), "grows", True),
        ((1, 6, 5), "grows", False),
        ((5, 2, 1), "falls", False),
        ((3, 4, 3), "not told apart", False),
    ],
)
def test_a_verdict_compares_high_with_low_demand(errors: tuple[int, int, int], verdict: str, steps: bool) -> None:
    found = trend(_turned(*errors), "p, raw", "exploration", "lenient", "exploration")
    assert found.values == tuple(each / 10 for each in errors)
    assert found.difference == pytest.approx((errors[2] - errors[0]) / 10)
    assert (found.verdict, found.step_by_step) == (verdict, steps)


def test_a_rate_without_an_eligible_decision_has_no_verdict() -> None:
    found = trend(_turned(1, 2, 3), "p, raw", "exploitation", "strict", "exploration")
    assert (found.values, found.verdict) == ((None, None, None), "undefined")


def test_a_difference_that_rests_on_too_few_episodes_has_no_verdict() -> None:
    few = _turned(1, 2, 5).episodes
    kept = _file(*few[:-1], few[-1].model_copy(update={"lenient": (0, 0, 0, 0)}))
    found = trend(kept, "p, raw", "exploration", "lenient", "exploration")
    assert (found.episodes, found.values[-1], found.verdict) == ((5, 5, 4), 0.5, "undefined")


def test_a_search_that_finds_nothing_lasts_as_long_as_its_episode() -> None:
    rows = [_row(level, 0, (0, 1, 0, 0), first_seen=at) for level, at in (("low", 7), ("medium", 20), ("high", None))]
    assert trend(_file(*rows), "p, raw", "search", None, "exploration").values == (7, 20, 50)


def test_half_of_the_episodes_count_as_seen_only_if_half_saw_one() -> None:
    seen = [_row("low", seed, (0, 1, 0, 0), first_seen=at) for seed, at in enumerate((7, 3, None))]
    assert cell(seen).first_seen == 7
    assert cell([*seen, _row("low", 3, (0, 1, 0, 0)), _row("low", 4, (0, 1, 0, 0))]).first_seen is None


def test_the_committed_page_and_figures_are_what_the_committed_numbers_say() -> None:
    told = json.loads((DOCS / "dials.json").read_text())
    file = DialsFile.model_validate({name: told[name] for name in DialsFile.model_fields})
    assert (DOCS / "dials.md").read_text() == to_markdown(file)
    assert told == json.loads(json.dumps(file.to_json()))
    assert told["levels"] == json.loads(json.dumps(dial_levels()))
    assert "8 each at {}, {} and {} blocks".format(*SIGHT_RINGS) in to_markdown(file).replace("\n", " ")
    assert len(file.episodes) == len(AGENTS) * 9 * file.seeds
    assert set(draw_figures(file)) == {path.name for path in (DOCS / "figures").glob("dials-*")}


def test_the_committed_study_is_of_these_worlds() -> None:
    told = json.loads((DOCS / "dials.json").read_text())
    for name in NAMES:
        _, exploration, exploitation, seed = name.split("-")
        assert told["proofs"][f"{exploration}-{exploitation}"][int(seed)] == len(get_scenario(name).proof)
    oracle = [row for row in told["episodes"] if row["player"] == "oracle, raw"]
    assert all(row["success"] for row in oracle)
    proof = acquired_by_proof(get_scenario("dials-low-low-0"))
    assert next(row["steps"] for row in oracle) == proof[-1][1]
