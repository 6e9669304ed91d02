"""The gymnasium environment: the checker, the spaces, the seeds, the ends."""

import subprocess
import sys
import warnings
from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from oresight.craftenv.actions import ACTION_NAMES
from oresight.craftenv.blocks import Block
from oresight.craftenv.gymenv import ENV_ID, CraftMineEnv
from oresight.craftenv.scenarios.scenario import UnknownScenarioError
from support.sim_stage import fill, scenario

WAIT = np.int64(ACTION_NAMES.index("wait"))


@pytest.fixture
def env() -> Iterator[CraftMineEnv]:
    """A small environment on a scenario of five decisions."""
    made = CraftMineEnv(scenario(3, budget=5, inventory={"torch": 2}), width=80, height=60, render_mode="rgb_array")
    yield made
    made.close()


def test_there_are_twenty_one_actions_and_a_picture_with_text(env: CraftMineEnv) -> None:
    assert env.action_space == gymnasium.spaces.Discrete(21)
    image = env.observation_space["image"]
    assert (image.shape, image.dtype) == ((60, 80, 3), np.uint8)


@pytest.mark.gl
def test_gymnasiums_checker_finds_nothing_to_complain_about() -> None:
    made = gymnasium.make(ENV_ID, scenario=scenario(3), width=80, height=60, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Its look at every render mode needs a display: tests/craftenv/test_play.py has one.
        check_env(made.unwrapped, skip_render_check=True)
    made.close()


@pytest.mark.gl
def test_observations_lie_in_the_space_whatever_is_done(env: CraftMineEnv) -> None:
    observation, info = env.reset()
    assert observation in env.observation_space
    assert info == {"step": 0, "action": None, "outcome": "", "acquired": 0}
    for number, name in enumerate(ACTION_NAMES):
        observation, reward, _, _, info = env.step(np.int64(number))
        assert observation in env.observation_space, observation["text"]
        assert reward == 0.0
        assert (info["step"], info["action"], info["acquired"]) == (number + 1, name, 0)
        assert sorted(info) == ["acquired", "action", "outcome", "step"]


@pytest.mark.gl
def test_no_seed_is_the_scenarios_own_and_a_seed_makes_its_own_world(env: CraftMineEnv) -> None:
    first, _ = env.reset()
    other, _ = env.reset(seed=77)
    again, _ = env.reset(seed=77)
    last, _ = env.reset()
    assert (first["image"] == last["image"]).all()
    assert (other["image"] == again["image"]).all()
    assert (first["image"] != other["image"]).any()


@pytest.mark.gl
def test_the_budget_truncates(env: CraftMineEnv) -> None:
    env.reset()
    assert [env.step(WAIT)[2:4] for _ in range(5)] == [(False, False)] * 4 + [(False, True)]


@pytest.mark.gl
def test_an_acquired_target_is_rewarded_and_terminates(env: CraftMineEnv) -> None:
    env.reset()
    engine = env._env.engine
    x, y, z = int(engine.player.x // 1), int(engine.player.y) + 1, int(engine.player.z // 1)
    fill(engine, (x, y, z + 1), (x, y, z + 1), Block.AIR)
    engine.world.set(x, y, z + 2, int(Block.IRON_ORE))
    _, reward, terminated, truncated, info = env.step(np.int64(ACTION_NAMES.index("mine")))
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["acquired"] == 1


@pytest.mark.gl
def test_a_picture_belongs_to_the_caller(env: CraftMineEnv) -> None:
    observation, _ = env.reset()
    picture = env.render()
    assert picture is not None
    assert (picture == observation["image"]).all()
    picture[:] = 0
    observation["image"][:] = 0
    kept = env.render()
    assert kept is not None
    assert kept.any()


@pytest.mark.gl
def test_without_a_render_mode_nothing_is_rendered_and_closing_twice_is_fine() -> None:
    made = CraftMineEnv(scenario(3), width=64, height=48)
    made.reset()
    assert made.render() is None
    made.close()
    made.close()


@pytest.mark.gl
def test_the_name_of_a_scenario_is_enough() -> None:
    made = gymnasium.make(f"oresight.craftenv.gymenv:{ENV_ID}", scenario="valley-1", width=64, height=48)
    observation, _ = made.reset()
    assert "Task: acquire 1 iron_ore" in observation["text"]
    assert observation["image"].shape == (48, 64, 3)
    made.close()


@pytest.mark.gl
def test_a_picture_out_of_range_is_refused() -> None:
    made = CraftMineEnv(scenario(3), width=63, height=48)
    with pytest.raises(ValueError, match="63 x 48"):
        made.reset()


def test_an_unknown_render_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 'rgb_array'"):
        CraftMineEnv(scenario(3), render_mode="ascii")


def test_unknown_scenarios_actions_and_options_are_refused(env: CraftMineEnv) -> None:
    with pytest.raises(UnknownScenarioError, match="nowhere-0"):
        CraftMineEnv("nowhere-0")
    for action in (np.int64(21), np.int64(-1), 2.0, "wait"):
        with pytest.raises(ValueError, match="expected a whole number from 0 to 20"):
            env.step(action)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown reset options"):
        env.reset(options={"easy": True})


def test_importing_the_module_registers_once_and_loads_no_opengl() -> None:
    code = (
        "import sys, importlib, gymnasium, oresight.craftenv.gymenv as g; importlib.reload(g);"
        "assert g.ENV_ID in gymnasium.registry; assert 'pyglet' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=120)
