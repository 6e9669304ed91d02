"""The referee's facts on hand-built stages, and what they promise over whole episodes."""

import json
import math
from typing import Any

import pytest

from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.blocks import Block
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.facts import Facts, Referee
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.sim.sight import SIGHT_RADIUS
from support.sim_stage import BUSY, FLOOR, GROUND, fill, hashed_actions, play, stage

IRON = int(Block.IRON_ORE)
COBBLE = int(Block.COBBLESTONE)
ORE = (0, GROUND + 1, 6)


class Game:
    """An engine and its referee, asked after every decision."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.referee = Referee(engine)
        self.start = self.referee.start()

    def play(self, *names: str) -> Facts:
        facts: Facts = {}
        for name in names:
            facts = self.referee.observe(self.engine.run(BY_NAME[name]))
        return facts


def _stage_with_ore(ore: tuple[int, int, int] = ORE, **more: Any) -> Engine:
    engine = stage(**more)
    engine.world.ensure(0, 0, 5)
    engine.world.set(*ore, IRON)
    return engine


def _known(facts: Facts) -> dict[tuple[int, ...], Facts]:
    return {tuple(entry["pos"]): entry for entry in facts["known"]}


def test_the_start_facts_hold_pose_sight_and_known_ores() -> None:
    facts = Game(_stage_with_ore()).start
    assert list(facts) == ["pose", "standing", "first_seen", "ores_in_view", "known", "target"]
    assert facts["pose"] == {"feet": [0.5, GROUND, 0.5], "yaw_deg": 0.0, "pitch_deg": 0.0, "on_ground": True}
    assert facts["standing"] is True
    assert facts["first_seen"]["count"] == sum(facts["first_seen"]["kinds"].values()) > 0
    assert [ore["pos"] for ore in facts["ores_in_view"]] == [list(ORE)]
    assert facts["ores_in_view"][0]["kind"] == "iron_ore"
    (known,) = facts["known"]
    assert known["eye_distance_after"] == pytest.approx(math.dist((0.5, GROUND + 1.62, 0.5), (0.5, GROUND + 1.5, 6.5)))
    assert known["angle_after"] == pytest.approx(math.degrees(math.atan2(0.12, 6.0)), abs=1e-4)
    assert known["walk_after"] == 1  # from the middle of z = 1 the ore's face is 4.5 away
    assert known["standing"] is True
    assert facts["target"] is None


def test_a_decision_has_exactly_the_facts_of_the_contract() -> None:
    facts = Game(_stage_with_ore()).play("move_forward")
    assert list(facts) == [
        *["pose_before", "pose_after", "feet_ticks", "standing_ticks", "blocks_changed", "items", "acquired"],
        *["slot_before", "slot_after", "jumped", "first_seen", "ores_in_view", "known", "target"],
    ]
    (known,) = facts["known"]
    assert sorted(known) == sorted(
        ["pos", "standing"]
        + [
            f"{name}_{when}"
            for name in ("eye_distance", "walk", "angle", "waypoint_angle")
            for when in ("before", "after")
        ]
    )
    assert len(facts["feet_ticks"]) == len(facts["standing_ticks"]) == 20
    assert facts["feet_ticks"][-1] == facts["pose_after"]["feet"]
    assert facts["standing_ticks"] == [True] * 20
    assert facts["jumped"] is False


def test_walking_to_an_ore_lowers_both_distances() -> None:
    (known,) = Game(_stage_with_ore()).play("move_forward")["known"]
    assert (known["walk_before"], known["walk_after"]) == (1, 0)
    assert known["eye_distance_before"] - known["eye_distance_after"] == pytest.approx(4.317, abs=0.01)


def test_turning_away_changes_the_angle_by_thirty_degrees_and_no_distance() -> None:
    (known,) = Game(_stage_with_ore()).play("look_right")["known"]
    assert known["eye_distance_before"] == known["eye_distance_after"]
    assert known["angle_after"] == pytest.approx(30, abs=0.05)


def test_an_ore_is_known_from_the_decision_that_shows_it_and_has_no_before_then() -> None:
    game = Game(_stage_with_ore((0, GROUND + 1, -6)))
    assert game.start["known"] == []
    assert game.play(*["look_right"] * 4)["known"] == []
    facts = game.play("look_right")
    (known,) = facts["known"]
    assert known["pos"] == [0, GROUND + 1, -6]
    assert known["eye_distance_before"] is known["walk_before"] is known["angle_before"] is None
    assert known["waypoint_angle_before"] is known["waypoint_angle_after"] is None
    assert [ore["pos"] for ore in facts["ores_in_view"]] == [[0, GROUND + 1, -6]]
    (known,) = game.play("look_left", "look_left")["known"]  # out of sight, still known
    assert known["eye_distance_before"] is not None


def test_ores_of_other_kinds_are_in_view_and_not_known() -> None:
    engine = stage()
    engine.world.ensure(0, 0, 5)
    engine.world.set(*ORE, int(Block.COAL_ORE))
    facts = Game(engine).start
    assert facts["known"] == []
    assert [ore["kind"] for ore in facts["ores_in_view"]] == ["coal_ore"]


def test_a_mined_ore_is_acquired_gone_once_and_then_forgotten() -> None:
    game = Game(_stage_with_ore((0, GROUND + 1, 3)))
    facts = game.play("mine")
    assert facts["acquired"] == [[0, GROUND + 1, 3]]
    assert facts["items"] == {"iron_ore": 1}
    assert facts["blocks_changed"] == [
        {"pos": [0, GROUND + 1, 3], "before": "iron_ore", "after": "air", "natural": True}
    ]
    (known,) = facts["known"]
    assert known["standing"] is False
    assert known["eye_distance_before"] is not None
    assert known["eye_distance_after"] is known["walk_after"] is known["angle_after"] is None
    assert game.play("wait")["known"] == []


def test_faces_count_as_new_once_over_three_laps() -> None:
    engine = Engine(2, spawn_on_ground(2, 0.5, 0.5))
    game = Game(engine)
    counts = [game.play("look_right")["first_seen"]["count"] for _ in range(36)]
    assert sum(counts[:11]) > 50
    assert counts[11:] == [0] * 25
    assert [game.play("look_left", "look_right")["first_seen"]["count"] for _ in range(10)] == [0] * 10


def test_a_placed_block_is_neither_new_nor_natural() -> None:
    game = Game(stage(radius=3, inventory={COBBLE: 1}))
    fill(game.engine, (0, GROUND + 1, 3), (0, GROUND + 1, 3), Block.BEDROCK)
    game.play("wait")
    facts = game.play("place")
    assert facts["blocks_changed"] == [
        {"pos": [0, GROUND + 1, 2], "before": "air", "after": "cobblestone", "natural": False}
    ]
    assert facts["items"] == {"cobblestone": -1}
    assert facts["first_seen"] == {"count": 0, "kinds": {}}
    assert facts["target"] == {"pos": [0, GROUND + 1, 2], "face": 4, "block": "cobblestone", "natural": False}
    facts = game.play("mine")
    assert facts["blocks_changed"][0]["natural"] is False
    assert facts["first_seen"]["count"] == 0


def test_the_target_is_the_block_under_the_crosshair_after_the_decision() -> None:
    game = Game(stage())
    assert game.start["target"] is None
    facts = game.play("look_down", "look_down")
    assert facts["target"] == {"pos": [0, FLOOR, 3], "face": 3, "block": "stone", "natural": True}


def test_in_the_air_the_walk_is_measured_from_where_the_jump_began() -> None:
    game = Game(_stage_with_ore((0, GROUND + 1, 9)))
    before = game.start["known"][0]["walk_after"]
    assert before == 4
    facts = game.play("jump")
    assert facts["jumped"] is True
    assert facts["pose_after"]["on_ground"] is False
    assert facts["standing_ticks"] == [False] * 8
    assert facts["known"][0]["walk_after"] == before


def test_without_a_way_the_walk_is_null() -> None:
    game = Game(_stage_with_ore((0, GROUND + 1, 20), radius=3))
    (known,) = game.start["known"]
    assert known["walk_after"] is None
    (known,) = game.play("look_right")["known"]
    assert known["walk_before"] is known["walk_after"] is known["waypoint_angle_before"] is None


def test_the_waypoint_angle_falls_when_the_player_turns_to_the_way() -> None:
    # The ore stands behind a wall with a gap at the right end; the way runs along the wall first.
    engine = stage(radius=12)
    engine.world.ensure(0, 0, 5)
    fill(engine, (-4, GROUND, 2), (12, GROUND + 1, 2), Block.STONE)
    engine.world.set(0, GROUND + 4, 9, IRON)
    fill(engine, (-5, GROUND, 3), (12, GROUND, 12), Block.WATER)
    game = Game(engine)
    (known,) = game.start["known"]
    assert known["walk_after"] is not None
    facts = game.play("look_right")
    (known,) = facts["known"]
    assert known["waypoint_angle_before"] is not None
    assert known["waypoint_angle_before"] - known["waypoint_angle_after"] == pytest.approx(30, abs=0.5)


def test_slots_and_selection_are_told() -> None:
    game = Game(stage())
    facts = game.play("slot_4")
    assert (facts["slot_before"], facts["slot_after"]) == (1, 4)
    facts = game.play("slot_4")
    assert (facts["slot_before"], facts["slot_after"]) == (4, 4)


def test_twelve_turns_give_the_very_same_pose() -> None:
    game = Game(stage())
    start = game.start["pose"]
    facts = game.play(*["look_right"] * 12)
    assert facts["pose_after"] == start
    poses = {json.dumps(game.play("look_left")["pose_after"]) for _ in range(36)}
    assert len(poses) == 12


def test_sight_needs_no_more_chunks_than_it_asks_for() -> None:
    assert SIGHT_RADIUS * 16 - 15 >= 48


def _game_with_coal_in_sight(first_seed: int) -> Game:
    """A game on the first world, from a seed on, that shows coal where it starts; the target is coal."""
    for seed in range(first_seed, first_seed + 50):
        engine = Engine(seed, spawn_on_ground(seed, 0.5, 0.5), 0, {COBBLE: 32}, target_item=int(Block.COAL_ORE))
        game = Game(engine)
        if game.start["known"]:
            return game
    raise AssertionError("no world shows coal")


@pytest.mark.parametrize("seed", [0, 100])
def test_what_one_line_says_after_the_next_says_before(seed: int) -> None:
    game = _game_with_coal_in_sight(seed)
    last = game.start
    pose = last["pose"]
    chained = 0
    for action in hashed_actions(seed, 160, BUSY):
        facts = game.play(action.name)
        assert json.loads(json.dumps(facts, allow_nan=False)) == facts
        assert facts["pose_before"] == pose
        pose = facts["pose_after"]
        earlier = {pos: known for pos, known in _known(last).items() if known["standing"]}
        now = _known(facts)
        assert set(earlier) <= set(now)
        for pos, known in now.items():
            for name in ("eye_distance", "walk", "angle"):
                before = earlier[pos][f"{name}_after"] if pos in earlier else None
                assert known[f"{name}_before"] == before, (action.name, pos, name)
                chained += 1
        in_view = {tuple(ore["pos"]) for ore in facts["ores_in_view"] if ore["kind"] == "coal_ore"}
        assert in_view <= set(now)
        assert all(ore["face_px"] >= 16 for ore in facts["ores_in_view"])
        last = facts
    assert chained > 100


def test_facts_change_nothing_of_the_game() -> None:
    engine = Engine(3, spawn_on_ground(3, 0.5, 0.5))
    game = Game(engine)
    before = engine.state_hash()
    game.referee.observe(play(engine, "slot_1"))
    assert engine.state_hash() == before
