"""The environment around the simulation: its words, its episode, its refusals."""

import json

import pytest

from oresight.craftenv.actions import ACTION_NAMES, BY_NAME
from oresight.craftenv.blocks import Block
from oresight.craftenv.config import WALK_PER_TICK
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.player import Stack
from oresight.craftenv.text import describe, outcome
from support.sim_stage import GROUND, fill, scenario, stage


def _say(engine: Engine, *names: str) -> str:
    """Play actions and return the last one's outcome."""
    words = ""
    for name in names:
        before = engine.player.feet
        action = BY_NAME[name]
        words = outcome(action, engine.run(action), engine.player, before, WALK_PER_TICK * action.ticks)
    return words


def test_walking_says_moved_blocked_or_something_between() -> None:
    engine = stage()
    assert _say(engine, "move_forward") == "moved"
    fill(engine, (-3, GROUND, 7), (3, GROUND + 1, 7), Block.STONE)
    assert _say(engine, "move_forward") == "moved a little, then blocked"
    assert _say(engine, "move_forward") == "blocked"


def test_swimming_is_moving() -> None:
    engine = stage(radius=8)
    fill(engine, (-8, GROUND, -8), (8, GROUND + 3, 8), Block.WATER)
    assert _say(engine, "wait", "move_forward") == "moved; swimming"


def test_going_down_is_said_and_landing_from_a_jump_is_not_going_down() -> None:
    engine = stage(radius=2)
    fill(engine, (-4, GROUND - 4, -9), (4, GROUND - 4, 9), Block.STONE)
    assert _say(engine, "jump", "wait", "jump", "move_left", "move_right") == "moved"
    assert _say(engine, "jump", "move_forward", "move_backward", "move_forward", "jump") == "jumped"
    engine = stage(radius=2)
    fill(engine, (-4, GROUND - 4, -9), (4, GROUND - 4, 9), Block.STONE)
    assert _say(engine, "move_forward") == "moved; went down"


def test_climbing_a_step_says_moved() -> None:
    engine = stage()
    fill(engine, (-3, GROUND, 1), (3, GROUND, 9), Block.STONE)
    assert _say(engine, "jump") == "jumped"
    assert _say(engine, "move_forward") == "moved"
    assert engine.player.y == GROUND + 1


def test_jumping_in_the_air_says_so_and_in_water_swims() -> None:
    engine = stage()
    assert _say(engine, "jump", "jump") == "could not jump"
    fill(engine, (-3, GROUND, -3), (3, GROUND + 5, 3), Block.WATER)
    assert _say(engine, "wait", "jump", "jump") == "swam up"


def test_looking_says_turned_and_names_the_end_of_the_way() -> None:
    engine = stage()
    assert _say(engine, "look_left") == "turned"
    assert _say(engine, *["look_down"] * 6) == "the view is straight down now"
    assert _say(engine, *["look_up"] * 12) == "the view is straight up now"


def test_mining_says_what_broke_and_what_was_picked_up() -> None:
    engine = stage()
    assert _say(engine, "mine") == "nothing within reach"
    fill(engine, (0, GROUND + 1, 2), (0, GROUND + 1, 3), Block.STONE)
    assert _say(engine, "mine") == "broke 2 stone; picked up 2 cobblestone"
    engine.world.set(0, GROUND + 1, 2, int(Block.BEDROCK))
    assert _say(engine, "mine") == "this block does not break"
    engine.world.set(0, GROUND + 1, 2, int(Block.LEAVES))
    assert _say(engine, "mine") == "broke 1 leaves"


def test_a_full_hotbar_is_said() -> None:
    engine = stage()
    engine.player.hotbar.slots = [Stack(int(Block.DIRT), 64) for _ in range(9)]
    engine.world.set(0, GROUND + 1, 2, int(Block.SAND))
    assert _say(engine, "mine") == "broke 1 sand; the hotbar is full, lost 1 sand"
    engine.world.set(0, GROUND + 1, 2, int(Block.IRON_ORE))
    assert _say(engine, "mine") == "broke 1 iron_ore; picked up 1 iron_ore; the hotbar is full, lost 64 dirt"


def test_placing_selecting_and_waiting_say_so() -> None:
    engine = stage(inventory={int(Block.PLANKS): 1})
    assert _say(engine, "place") == "nothing was placed"
    engine.world.set(0, GROUND + 1, 3, int(Block.STONE))
    assert _say(engine, "place") == "placed planks"
    assert _say(engine, "slot_7") == "selected slot 7"
    assert _say(engine, "wait") == "waited"


def test_the_text_holds_task_step_last_action_slot_and_inventory_and_nothing_else() -> None:
    with CraftEnv(scenario(3, inventory={"torch": 3}), pictures=False) as env:
        assert env.reset().text.splitlines() == [
            "Task: acquire 1 iron_ore (0 so far).",
            "Step: 1",
            "Last action: none",
            "Selected slot: 1",
            "Inventory: slot 1: 3 torch",
        ]
        observation = env.step("slot_2").observation
        assert observation.step == 2
        assert observation.text.splitlines()[1:4] == [
            "Step: 2",
            "Last action: slot_2 -> selected slot 2",
            "Selected slot: 2",
        ]
        assert observation.image is None
        assert observation.actions == ACTION_NAMES


def test_coordinates_are_told_only_when_asked_for() -> None:
    engine = stage()
    plain = describe(engine, 1, 1, 0, None, coordinates=False)
    told = describe(engine, 1, 1, 0, None, coordinates=True)
    assert "Position" not in plain
    assert told.splitlines()[-1] == f"Position: x 0.5, y {GROUND:.1f}, z 0.5"
    assert plain.splitlines()[-1] == "Inventory: empty"


def test_the_budget_truncates_and_an_acquired_target_terminates() -> None:
    with CraftEnv(scenario(3, budget=3), pictures=False) as env:
        env.reset()
        ends = [(t.terminated, t.truncated) for t in (env.step("wait") for _ in range(3))]
        assert ends == [(False, False), (False, False), (False, True)]
        env.reset()
        engine = env.engine
        x, y, z = engine.player.x, engine.player.y, engine.player.z
        ore = (int(x // 1), int(y) + 1, int(z // 1) + 2)
        fill(engine, (ore[0], ore[1], ore[2] - 1), (ore[0], ore[1], ore[2] - 1), Block.AIR)
        engine.world.set(*ore, int(Block.IRON_ORE))
        transition = env.step("mine")
        assert (transition.reward, transition.terminated, transition.truncated) == (1, True, False)
        assert env.acquired == 1
        assert "Task: acquire 1 iron_ore (1 so far)." in transition.observation.text


def test_an_unknown_action_and_a_step_before_reset_are_refused() -> None:
    with CraftEnv(scenario(3), pictures=False) as env:
        with pytest.raises(RuntimeError, match="call reset"):
            env.step("wait")
        env.reset()
        with pytest.raises(ValueError, match="unknown action 'fly'"):
            env.step("fly")


def test_facts_asked_for_late_or_with_gaps_are_refused() -> None:
    with CraftEnv(scenario(3), pictures=False) as env:
        env.reset()
        env.step("wait")
        with pytest.raises(RuntimeError, match="from the start on"):
            env.facts()
        env.reset()
        start = env.facts()
        assert env.facts() is start
        env.step("wait")
        first = env.facts()
        assert env.facts() is first
        env.step("wait")
        with pytest.raises(RuntimeError, match="after every decision"):
            env.step("wait")


def test_a_closed_environment_can_be_reset_and_used_again() -> None:
    env = CraftEnv(scenario(3), pictures=False)
    env.reset()
    before = env.state_hash()
    env.close()
    env.close()
    with pytest.raises(RuntimeError, match="call reset"):
        env.state_hash()
    env.reset()
    assert env.state_hash() == before
    env.close()


def test_another_seed_makes_another_world_and_none_the_scenarios_own() -> None:
    with CraftEnv(scenario(3), pictures=False) as env:
        env.reset()
        own = env.state_hash()
        env.reset(seed=3)
        assert env.state_hash() == own
        env.reset(seed=12)
        assert env.engine.world.seed == 12
        assert env.engine.player.on_ground or env.engine.player.in_water
        env.reset()
        assert env.state_hash() == own


def test_facts_are_plain_json() -> None:
    with CraftEnv(scenario(3), pictures=False) as env:
        env.reset()
        facts = env.facts()
        assert json.loads(json.dumps(facts, allow_nan=False)) == facts
