"""The committed scenarios are what their kind says, their proofs work, and others are made on first use."""

import json
from pathlib import Path

import pytest

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import EYE_HEIGHT
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.planner import PLAN_RADIUS, engine_for, find_ores, plan, plan_from
from oresight.craftenv.scenarios.maker import (
    SHORTEST_PROOF,
    cache_folder,
    faults,
    first_ore,
    make_or_load_cached,
    make_scenario,
    write_scenario,
)
from oresight.craftenv.scenarios.scenario import Scenario, UnknownScenarioError, load_scenario
from oresight.craftenv.scenarios.suites import get_scenario, scenario_names
from oresight.craftenv.sim.places import ores_around
from oresight.craftenv.sim.terrain import surface_height
from oresight.craftenv.sim.world import Position, World

NAMES = scenario_names("craft-mine")


def ore_of(scenario: Scenario) -> Position:
    found = first_ore(scenario)
    assert found is not None
    return found[0]


def world_of(scenario: Scenario) -> World:
    world = World(scenario.world_seed)
    world.ensure_around(scenario.spawn[0], scenario.spawn[2], PLAN_RADIUS)
    return world


def test_the_suite_has_three_kinds_with_three_seeds_each() -> None:
    assert len(NAMES) == 9
    assert {name.rsplit("-", 1)[0] for name in NAMES} == {"outcrop", "valley", "cave"}


@pytest.mark.parametrize("name", NAMES)
def test_the_proof_acquires_the_target_within_half_the_budget(name: str) -> None:
    scenario = get_scenario(name)
    assert SHORTEST_PROOF <= len(scenario.proof) <= scenario.budget // 2 == 50
    with CraftEnv(scenario, pictures=False) as env:
        env.reset()
        for action in scenario.proof[:-1]:
            transition = env.step(action)
            assert not transition.terminated and transition.reward == 0
        last = env.step(scenario.proof[-1])
        assert last.terminated and last.reward == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_start_shows_no_target_ore_however_one_turns(name: str) -> None:
    scenario = get_scenario(name)
    x, y, z = scenario.spawn
    assert ores_around(world_of(scenario), (x, y + EYE_HEIGHT, z), Block.IRON_ORE) == {}


@pytest.mark.parametrize("name", NAMES)
def test_spawn_and_ore_lie_as_the_kind_says(name: str) -> None:
    assert faults(get_scenario(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_spawn_stands_on_natural_ground_under_the_open_sky(name: str) -> None:
    scenario = get_scenario(name)
    world = world_of(scenario)
    x, y, z = (int(value // 1) for value in scenario.spawn)
    assert world.get(x, y - 1, z) in (Block.GRASS, Block.DIRT, Block.SAND, Block.GRAVEL, Block.STONE)
    assert all(world.get(x, level, z) == Block.AIR for level in range(y, 96))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_outcrop_is_16_to_32_blocks_away_at_the_surface(seed: int) -> None:
    scenario = get_scenario(f"outcrop-{seed}")
    ore = ore_of(scenario)
    distance = sum((ore[axis] + 0.5 - scenario.spawn[axis]) ** 2 for axis in range(3)) ** 0.5
    assert 16.0 <= distance <= 32.0
    assert ore[1] >= surface_height(scenario.world_seed, ore[0], ore[2]) - 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_valley_lies_behind_a_hill_of_three_blocks_above_the_eye(seed: int) -> None:
    scenario = get_scenario(f"valley-{seed}")
    ore = ore_of(scenario)
    x, y, z = scenario.spawn
    heights = [
        surface_height(
            scenario.world_seed, int((x + (ore[0] - x) * n / 40) // 1), int((z + (ore[2] - z) * n / 40) // 1)
        )
        for n in range(41)
    ]
    assert max(heights) + 1 >= y + EYE_HEIGHT + 3.0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_cave_ore_lies_below_the_surface(seed: int) -> None:
    scenario = get_scenario(f"cave-{seed}")
    ore = ore_of(scenario)
    assert ore[1] <= surface_height(scenario.world_seed, ore[0], ore[2]) - 2


@pytest.mark.parametrize("name", ["outcrop", "desert-0", "outcrop-", "outcrop--1", "outcrop-x", "../outcrop-0", ""])
def test_an_unknown_name_is_one_clear_error(name: str) -> None:
    with pytest.raises(UnknownScenarioError, match="unknown scenario"):
        get_scenario(name)


def test_an_unknown_kind_or_suite_names_the_known_ones() -> None:
    with pytest.raises(UnknownScenarioError, match="outcrop, valley, cave"):
        make_scenario("desert", 0)
    with pytest.raises(UnknownScenarioError, match="craft-mine"):
        scenario_names("craft-fly")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["outcrop", "valley", "cave"])
def test_another_seed_is_made_proved_and_kept(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = get_scenario(f"{kind}-3")
    assert (made.kind, made.seed) == (kind, 3)
    assert faults(made) == []
    assert [path.name for path in cache_folder().iterdir()] == [f"{kind}-3.json"]
    assert get_scenario(f"{kind}-3") == made


@pytest.mark.slow
def test_making_twice_gives_the_committed_scenario() -> None:
    assert make_scenario("valley", 2) == get_scenario("valley-2")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "valley-2"}', "\x00"])
def test_a_broken_cache_file_is_made_anew(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = get_scenario("valley-2")
    monkeypatch.setattr("oresight.craftenv.scenarios.maker.make_scenario", lambda kind, seed: good)
    (tmp_path / "valley-2.json").write_text(text, encoding="utf-8")
    assert make_or_load_cached("valley", 2, tmp_path) == good
    assert load_scenario((tmp_path / "valley-2.json").read_text(encoding="utf-8"), "cache") == good


def test_a_cached_scenario_under_another_name_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = get_scenario("valley-2")
    monkeypatch.setattr("oresight.craftenv.scenarios.maker.make_scenario", lambda kind, seed: good)
    write_scenario(get_scenario("valley-1"), tmp_path / "valley-2.json")
    assert make_or_load_cached("valley", 2, tmp_path) == good


def test_a_cache_that_cannot_be_written_still_gives_the_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = get_scenario("valley-2")
    monkeypatch.setattr("oresight.craftenv.scenarios.maker.make_scenario", lambda kind, seed: good)
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert make_or_load_cached("valley", 2, tmp_path / "file" / "folder") == good


@pytest.mark.parametrize("base", ["", "relative/folder"])
def test_an_empty_or_relative_cache_home_is_ignored(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert cache_folder().is_absolute()
    assert ".cache" in cache_folder().parts


def test_the_planner_gets_any_ore_by_a_plan_that_works() -> None:
    scenario = get_scenario("outcrop-0")
    actions = plan(scenario)
    assert actions is not None
    played = scenario.model_copy(update={"proof": actions})
    found = first_ore(played)
    assert found is not None and found[1] == len(actions) <= len(scenario.proof)


def test_the_planner_says_none_when_the_limit_is_too_low_or_no_ore_is_named() -> None:
    scenario = get_scenario("outcrop-0")
    engine = engine_for(scenario)
    assert plan_from(engine, 3, [ore_of(scenario)]) is None
    assert plan_from(engine, 50, []) is None
    assert plan(scenario, 0) is None


def test_planning_leaves_the_game_as_it_was() -> None:
    scenario = get_scenario("outcrop-1")
    engine = engine_for(scenario)
    before, blocks = engine.state_hash(), engine.world.blocks
    engine.world.ensure_around(engine.player.x, engine.player.z, PLAN_RADIUS)
    kept = blocks.copy()
    assert plan_from(engine, 50) is not None
    assert engine.state_hash() == before
    assert (kept == blocks).all()


def test_ores_are_listed_while_they_stand() -> None:
    scenario = get_scenario("outcrop-0")
    engine = engine_for(scenario)
    ore = ore_of(scenario)
    engine.world.ensure_around(engine.player.x, engine.player.z, PLAN_RADIUS)
    assert ore in find_ores(engine.world, Block.IRON_ORE)
    engine.world.set(*ore, Block.AIR)
    assert ore not in find_ores(engine.world, Block.IRON_ORE)


def test_the_committed_files_are_plain_json_with_their_own_names() -> None:
    for name in NAMES:
        scenario = get_scenario(name)
        assert scenario.name == name == f"{scenario.kind}-{scenario.seed}"
        assert json.loads(scenario.model_dump_json())["target"] == "iron_ore"


def test_an_ore_that_no_walk_leads_to_is_dug_for() -> None:
    scenario = get_scenario("outcrop-0")
    buried = (-4, 18, 8)
    engine = engine_for(scenario)
    assert plan_from(engine, 50, [buried], shafts=False) is None
    actions = plan(scenario, ores=[buried])
    assert actions is not None and actions.count("look_down") == 6
    found = first_ore(scenario.model_copy(update={"proof": actions}))
    assert found is not None and found[1] == len(actions)


def test_a_plan_for_several_ores_acquires_as_many() -> None:
    scenario = get_scenario("valley-1").model_copy(update={"target_count": 3})
    actions = plan(scenario)
    assert actions is not None
    with CraftEnv(scenario, pictures=False) as env:
        env.reset()
        assert [env.step(action).terminated for action in actions].count(True) == 1
        assert env.acquired == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": "a-0", "kind": "a", "seed": 0, "world_seed": 1, "spawn": [1e300, 60, 0]}', "^file: spawn.0: .*less"),
        (
            '{"name": "a-0", "kind": "a", "seed": 0, "world_seed": 1, "spawn": [0, 60, 0], "budget": 1e10}',
            "budget",
        ),
        ('{"seed": ' + "9" * 5000 + "}", "^file is not JSON: "),
        ("[" * 100_000, "^file is not JSON: "),
        ("{", "^file is not JSON: "),
    ],
    ids=["far away", "no end", "digits", "nesting", "torn"],
)
def test_a_scenario_file_that_nothing_can_be_worked_out_with_is_refused(text: str, said: str) -> None:
    with pytest.raises(UnknownScenarioError, match=said):
        load_scenario(text, "file")
