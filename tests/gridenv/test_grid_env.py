"""The environment, its scenarios and suites, and gymnasium's view of it."""

import json
import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given

from oresight.gridenv.env import GridEnv
from oresight.gridenv.generate import DEMANDS, SIZES, generate
from oresight.gridenv.gymenv import ENV_ID, GridGymEnv, register
from oresight.gridenv.mapfile import MapError, map_to_json, parse_map
from oresight.gridenv.proof import prove
from oresight.gridenv.solver import solve
from oresight.gridenv.suites import (
    GridScenario,
    UnknownScenarioError,
    get_scenario,
    scenario_from_json,
    scenario_names,
    scenario_of_map,
)
from support.grid_stage import moves, stage

LINE = scenario_of_map(stage("S.A.G", {"G": [["A"]]}), "line")


def test_an_episode_from_start_to_success() -> None:
    with GridEnv(LINE) as env:
        assert (env.spec.name, env.spec.actions, env.spec.budget) == (
            "grid/line",
            ("up", "down", "left", "right"),
            15,
        )
        first = env.reset()
        assert (first.step, first.actions, first.image) == (1, ("right",), None)
        assert env.facts() == {"cell": [0, 0], "node": None, "achieved": []}
        done = env.step("right")
        assert (done.observation.step, done.observation.actions) == (2, ("left", "right"))
        assert (done.reward, done.terminated, done.truncated) == (0, False, False)
        done = env.step("right")
        assert done.outcome == 'You moved right to [2, 0] and activated "A".'
        assert done.reward == 1
        assert env.facts() == {"cell": [2, 0], "moved": True, "node": "A", "achieved": ["A"]}
        env.step("right")
        done = env.step("right")
        assert (done.reward, done.terminated, done.truncated) == (1, True, False)


def test_a_wall_stays_and_costs_a_decision() -> None:
    env = GridEnv(LINE)
    before = env.reset().text
    done = env.step("up")
    assert done.outcome == "There is no way up; you are still at [0, 0]."
    assert done.observation.text == before
    assert done.observation.step == 2
    assert env.facts() == {"cell": [0, 0], "moved": False, "node": None, "achieved": []}


def test_the_budget_truncates() -> None:
    env = GridEnv(LINE)
    env.reset()
    ends = [env.step("up").truncated for _ in range(15)]
    assert ends == [False] * 14 + [True]


def test_success_with_the_last_move_is_no_truncation() -> None:
    env = GridEnv(LINE)
    env.reset()
    for _ in range(11):
        env.step("up")
    for _ in range(3):
        env.step("right")
    done = env.step("right")
    assert (done.terminated, done.truncated) == (True, False)


def test_names_and_order_of_calls_are_checked() -> None:
    env = GridEnv(LINE)
    for call in (lambda: env.step("up"), env.facts, env.state_hash, lambda: env.walk):
        with pytest.raises(RuntimeError, match="call reset"):
            call()
    env.reset()
    with pytest.raises(ValueError, match="unknown action 'north'; expected one of up, down, left, right"):
        env.step("north")
    env.close()
    with pytest.raises(RuntimeError, match="call reset"):
        env.step("up")
    assert env.reset().step == 1


@given(moves)
def test_the_same_moves_give_the_same_texts_and_hashes(path: list[str | None]) -> None:
    first, second = GridEnv(get_scenario("medium-small-1")), GridEnv(get_scenario("medium-small-1"))
    assert first.reset().text == second.reset().text
    for direction in path:
        if direction is not None:
            assert first.step(direction).observation.text == second.step(direction).observation.text
            assert first.state_hash() == second.state_hash()


def test_the_state_hash_tells_states_maps_and_settings_apart() -> None:
    hashes = set()
    for name in ("low-small-0", "low-small-1", "full-low-small-0"):
        env = GridEnv(get_scenario(name))
        env.reset()
        for direction in ("up", "down", "left", "right", "right"):
            hashes.add(env.state_hash())
            env.step(direction)
    assert len(hashes) == 15
    assert all(len(value) == 32 for value in hashes)


def test_a_text_that_is_read_late_tells_of_its_own_moment() -> None:
    env = GridEnv(scenario_of_map(stage("GSA", {"G": [["A"]]}), "late"))
    env.reset()
    early = env.step("left").observation
    for direction in ("right", "right", "left", "left"):
        env.step(direction)
    assert env.walk.success
    assert "It is not activated" in early.text


def test_another_seed_is_another_map_of_the_family() -> None:
    env = GridEnv(get_scenario("low-small-0"))
    env.reset(seed=7)
    assert env.scenario == get_scenario("low-small-7")
    assert (env.spec.name, env.spec.budget) == ("grid/low-small-7", get_scenario("low-small-7").budget)
    env.reset()
    assert env.scenario.seed == 7
    fixed = GridEnv(LINE)
    fixed.reset(seed=7)
    assert fixed.scenario is LINE


def test_the_first_text_of_the_exploit_only_setting_lists_everything() -> None:
    env = GridEnv(get_scenario("full-low-small-0"))
    first = env.reset().text
    assert first.startswith(env.briefing)
    assert all(f"[{x}, {y}]" in first for x, y in env.scenario.map.cells)
    assert all(f'"{node.id}"' in first for node in env.scenario.map.nodes)
    assert env.briefing not in env.step("up").observation.text
    assert GridEnv(get_scenario("low-small-0")).briefing == ""


def test_the_main_suite_is_27_episodes_and_the_exploit_only_one_has_the_same_maps() -> None:
    names = scenario_names("main")
    assert len(names) == len(set(names)) == 27
    assert names == [f"{demand}-{size}-{seed}" for demand in DEMANDS for size in SIZES for seed in (0, 1, 2)]
    full = scenario_names("exploit-only")
    assert full == [f"full-{name}" for name in names]
    for name in names[:3]:
        partial, shown = get_scenario(name), get_scenario(f"full-{name}")
        assert partial.map == shown.map
        assert (partial.visibility, shown.visibility) == ("partial", "full")
        assert not partial.count_steps
    assert scenario_names("main", (7,))[:2] == ["low-small-7", "low-medium-7"]


def test_the_semantic_suite_is_four_maps_in_two_variants_with_five_seeds() -> None:
    names = scenario_names("semantic")
    assert len(names) == len(set(names)) == 40
    assert names[0] == "custom-201-semantic-0"
    assert names[-1] == "custom-204-symbolic-4"
    assert all(get_scenario(name).count_steps for name in names)


@pytest.mark.parametrize("number", [201, 202, 203, 204])
def test_hand_made_maps_are_proved_and_their_variants_differ_in_names_alone(number: int) -> None:
    semantic = get_scenario(f"custom-{number}-semantic-0").map
    parse_map(map_to_json(semantic))
    proof = prove(semantic)
    assert proof is not None and semantic.drawn is not None
    assert (proof.solution, proof.explorer) == (semantic.drawn["solution"], semantic.drawn["explorer"])
    assert get_scenario(f"custom-{number}-semantic-3").map == semantic
    by_cell = {node.cell: node for node in semantic.nodes}
    seen = set()
    for seed in range(5):
        symbolic = get_scenario(f"custom-{number}-symbolic-{seed}").map
        assert (symbolic.cells, symbolic.start) == (semantic.cells, semantic.start)
        meaning = {node.id: by_cell[node.cell].id for node in symbolic.nodes}
        assert meaning[symbolic.goal] == semantic.goal
        for node in symbolic.nodes:
            assert len(node.id) == 4
            renamed = [{meaning[parent] for parent in option} for option in node.options]
            assert renamed == [set(option) for option in by_cell[node.cell].options]
        assert len(solve(symbolic).moves) == proof.solution
        seen.add(frozenset(meaning))
    assert len(seen) == 5


def test_the_step_count_is_told_where_it_is_on() -> None:
    env = GridEnv(get_scenario("custom-201-semantic-0"))
    assert env.reset().text.endswith("Steps used so far: 0.")
    assert env.step("up").observation.text.endswith("Steps used so far: 1.")


@pytest.mark.parametrize(
    "name",
    ["low-small", "low-huge-0", "low-small-01", "low-small--1", "custom-205-semantic-0", "custom-201-plain-0", ""],
)
def test_unknown_scenarios_are_refused(name: str) -> None:
    with pytest.raises(
        UnknownScenarioError, match=r"unknown scenario .* expected DEMAND-SIZE-SEED such as low-small-0"
    ):
        get_scenario(name)


def test_unknown_suites_are_refused() -> None:
    with pytest.raises(UnknownScenarioError, match="unknown suite 'moon'; there is main, semantic, exploit-only"):
        scenario_names("moon")


@pytest.mark.parametrize("name", ["low-medium-2", "full-high-large-1", "custom-203-symbolic-2"])
def test_a_scenario_is_the_same_after_writing_and_reading(name: str) -> None:
    scenario = get_scenario(name)
    read = scenario_from_json(json.loads(json.dumps(scenario.to_json())))
    assert read.to_json() == scenario.to_json()
    assert read.map == scenario.map
    assert (read.count_steps, read.visibility) == (scenario.count_steps, scenario.visibility)


@pytest.mark.parametrize(
    ("field", "value"), [("name", 3), ("visibility", "half"), ("count_steps", 1), ("seed", "0"), ("map", None)]
)
def test_a_malformed_scenario_is_named_by_its_field(field: str, value: object) -> None:
    with pytest.raises(MapError) as caught:
        scenario_from_json({**LINE.to_json(), field: value})
    assert caught.value.field == f"scenario.{field}"


def make(**settings: object) -> gymnasium.Env[str, int]:
    register()
    return gymnasium.make(ENV_ID, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"demand": "low", "size": "large", "visibility": "full"},
        {"scenario": "custom-204-semantic-0"},
        {"scenario": GridScenario("line", LINE.map), "render_mode": "ansi"},
    ],
)
def test_gymnasiums_checker_passes(settings: dict[str, object]) -> None:
    with warnings.catch_warnings():
        # It warns that a text is neither an image nor a vector, and that two ways of rendering would be better.
        warnings.simplefilter("ignore", UserWarning)
        check_env(GridGymEnv(**settings))  # type: ignore[arg-type]
        check_env(make(**settings).unwrapped, skip_render_check=True)


def test_gymnasium_counts_nodes_and_ends_with_the_goal() -> None:
    env = make(scenario="medium-medium-0")
    text, info = env.reset()
    assert text.startswith("You are at ")
    map_ = get_scenario("medium-medium-0").map
    rewards, ends = [], []
    for direction in solve(map_).moves:
        assert direction in info["actions"]
        _, reward, terminated, truncated, info = env.step(("up", "down", "left", "right").index(direction))
        rewards.append(reward)
        ends.append(terminated)
        assert not truncated
    assert ends == [False] * (len(ends) - 1) + [True]
    assert set(rewards) == {0.0, 1.0}


def test_gymnasium_truncates_at_the_budget() -> None:
    env = make(scenario=LINE)
    env.reset()
    ends = [env.step(0)[3] for _ in range(15)]
    assert ends == [False] * 14 + [True]


def test_gymnasium_plays_the_map_of_a_seed_and_fresh_ones_after_it() -> None:
    env = make(demand="low", size="small")
    _, info = env.reset(seed=5)
    assert info["scenario"] == "low-small-5"
    assert env.unwrapped.env.scenario.map == generate("low", "small", 5)  # type: ignore[attr-defined]
    following = [env.reset()[1]["scenario"] for _ in range(3)]
    assert len(set(following)) == 3
    env.reset(seed=5)
    assert [env.reset()[1]["scenario"] for _ in range(3)] == following


def test_gymnasium_refuses_what_it_does_not_know() -> None:
    with pytest.raises(UnknownScenarioError, match="unknown demand 'huge'"):
        GridGymEnv(demand="huge")
    with pytest.raises(ValueError, match="unknown render_mode 'human'"):
        GridGymEnv(render_mode="human")
    env = GridGymEnv()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="unknown action 4"):
        env.step(4)


def test_gymnasium_draws_the_map_as_text() -> None:
    env = GridGymEnv(scenario=LINE, render_mode="ansi")
    env.reset()
    assert env.render() is not None
    assert str(env.render()).startswith("@?\n")
    assert GridGymEnv(scenario=LINE).render() is None
