"""Recordings of the real game: what can be decided without its world is decided, and each quirk is survived."""

import json

import pytest

from oresight.scoring.core import Case
from oresight.scoring.score import score_paths
from oresight.scoring.vpt.ores import Target
from oresight.scoring.vpt.reader import VptTick
from support.vpt_stage import Hand, actions, score


def steps(report):
    return report.episodes[0].steps


def rate(report):
    return report.episodes[0].summary.tally.explore


# --- attack held from the first line, the wheel -----------------------------------------------------------------------


@pytest.mark.parametrize("new_on_first", [(0,), ()])
def test_attack_held_from_the_first_line_counts_from_its_first_press(tmp_path, new_on_first):
    hand = Hand()
    for tick in range(60):
        new = new_on_first if tick == 0 else (0,) if tick == 30 else ()
        hand.line(buttons=(0,) if tick <= 45 else (), new=new)
    report = score(tmp_path, hand)
    assert [(step.action, step.ticks) for step in steps(report)] == [("wait", (0, 19)), ("mine", (30, 45))]


def test_attack_that_is_let_go_and_held_again_is_a_press(tmp_path):
    hand = Hand()
    hand.idle(10, buttons=(0,)).idle(3).idle(10, buttons=(0,))
    assert actions(score(tmp_path, hand)) == ["mine"]


@pytest.mark.parametrize("keys", [[], ["key.keyboard.7"]])
def test_a_change_of_slot_is_one_selection_however_it_was_made(tmp_path, keys):
    hand = Hand(hotbar=4)
    hand.idle(10)
    hand.hotbar = 6
    hand.line()
    hand.lines[-1]["keyboard"]["newKeys"] = keys
    hand.idle(49)
    assert [action for action in actions(score(tmp_path, hand)) if action.startswith("slot")] == ["slot_7"]


def test_a_wheel_past_several_slots_is_a_selection_each_and_the_second_no_preparation(tmp_path):
    hand = Hand().idle(2)
    for hotbar in (1, 2):
        hand.hotbar = hotbar
        hand.line()
    found = steps(score(tmp_path, hand))
    assert [(step.action, step.scored) for step in found] == [("slot_2", False), ("slot_3", True)]


# --- novelty, nodes and errors ----------------------------------------------------------------------------------------


def test_every_decision_is_case_1_and_exploitation_is_undefined_with_the_reason(tmp_path):
    report = score(tmp_path, Hand().walk(60).idle(60))
    assert {step.case for step in steps(report)} == {Case.EXPLORE}
    assert report.episodes[0].summary.tally.exploit == (0, 0)
    assert report.pooled.error("exploitation").value is None
    told = report.to_json()["episodes"][0]
    assert any("exploitation error: no world comes with the recording" in words for words in told["undecided"])
    assert told["summary"]["budget"] is None and told["summary"]["target_count"] is None
    assert report.pooled.success.denominator == 0 and report.pooled["budget_used"].value is None


def test_walking_over_new_ground_is_progress_and_idling_an_error(tmp_path):
    found = steps(score(tmp_path, Hand().walk(60).idle(40)))
    assert [(step.action, step.error) for step in found] == [("move_forward", None)] * 3 + [("wait", "explore")] * 2
    assert all("position" in step.reasons and step.progress for step in found[:3])


def test_pacing_is_an_error_after_the_first_pass(tmp_path):
    hand = Hand()
    for _ in range(20):
        hand.walk(20).turn(yaw=180.0, ticks=24)
    found = steps(score(tmp_path, hand))
    late = [step for step in found if step.step > 30]
    assert sum(step.error is not None for step in late) >= 0.9 * len(late)


def test_spinning_is_forgiven_a_second_lap_and_piles_up_from_the_third(tmp_path):
    hand = Hand().line()
    for _ in range(60):
        hand.turn(yaw=30.0)
    found = steps(score(tmp_path, hand))
    assert actions_of(found) == ["look_right"] * 60
    # Eleven new views; then two laps of known ones, in which closing the circle alone is an error.
    assert [step.error for step in found[:11]] == [None] * 11
    assert sum(step.error is not None for step in found[11:34]) == 1
    assert all(step.error for step in found[35:])


def actions_of(found):
    return [step.action for step in found]


def test_float_drift_and_yaw_across_180_make_no_new_pose(tmp_path):
    hand = Hand(yaw=170.0).line()
    for _ in range(24):
        hand.turn(yaw=30.0000004, ticks=3)
        if hand.yaw > 180.0:
            hand.yaw -= 360.0
    found = steps(score(tmp_path, hand))
    assert actions_of(found) == ["look_right"] * 24
    assert [step.node for step in found[:12]] == [step.node for step in found[12:]]
    assert len({step.node for step in found}) == 12


def test_turning_left_while_walking_is_a_look_beside_it(tmp_path):
    found = steps(score(tmp_path, Hand().walk(20, turn=-1.6)))
    assert actions_of(found) == ["move_forward", "look_left"]
    assert found[0].reasons[0] == "position" and "view" in found[1].reasons


def test_poses_decide_over_the_mouse_and_the_mouse_where_there_is_no_pose(tmp_path):
    hand = Hand().line()
    for _ in range(8):
        hand.yaw += 3.75
        hand.line()
        hand.lines[-1]["mouse"]["dx"] = 500.0
    assert actions(score(tmp_path, hand)) == ["look_right"]
    for line in hand.lines[1:]:
        line["mouse"]["dx"] = 25.0
    for line in hand.lines:
        del line["yaw"], line["pitch"]
    assert actions(score(tmp_path, hand)) == ["look_right"]


def test_without_positions_views_alone_count_and_that_is_said(tmp_path):
    hand = Hand().walk(40).turn(yaw=60.0)
    for line in hand.lines:
        del line["xpos"], line["ypos"], line["zpos"]
    report = score(tmp_path, hand)
    assert all("position" not in step.reasons for step in steps(report))
    assert any(words.startswith("position novelty") for words in report.episodes[0].undecided)


def test_the_air_is_no_new_position_and_the_landing_of_a_hop_is(tmp_path):
    rise = [0.42, 0.753, 1.001, 1.166, 1.249, 1.252, 1.177, 1.024, 0.796, 0.495, 0.121, 0.0]
    hand = Hand().idle(1)
    for height in rise:
        hand.y = 64.0 + height
        hand.line(keys=("space",))
    found = steps(score(tmp_path, hand))
    # The first jump is a preparation; what is left of the press is a second one, and no gain.
    assert [(step.action, step.scored) for step in found] == [("jump", False), ("jump", True)]
    assert found[1].error == "explore"
    hopping = Hand().idle(1)
    for _ in range(4):
        for height in rise:
            hopping.y = 64.0 + height
            hopping.z += 0.28
            hopping.line(keys=("space", "w"))
    assert all("position" in step.reasons for step in steps(score(tmp_path, hopping)) if step.step <= 2)


def test_patience_ends_where_nothing_new_turns_up(tmp_path):
    hand = Hand(stats={"minecraft.mine_block:minecraft.stone": 8}).line()
    for _ in range(40):
        hand.count("minecraft.mine_block:minecraft.stone").hold(0, 40).idle(1)
    found = steps(score(tmp_path, hand))
    assert [step.error for step in found[:24]] == [None] * 24
    assert all(step.causes == ("patience",) for step in found[24:])


def test_a_block_placed_and_mined_again_shows_nothing(tmp_path):
    hand = Hand(stats={"minecraft.use_item:minecraft.dirt": 5}).idle(1)
    for _ in range(10):
        hand.count("minecraft.use_item:minecraft.dirt").hold(1, 2).idle(2)
        hand.count("minecraft.mine_block:minecraft.dirt").hold(0, 20).idle(2)
    found = steps(score(tmp_path, hand))
    mined = [step for step in found if step.action == "mine"]
    assert len(mined) == 10 and all(step.error for step in mined)
    assert [step.scored for step in found if step.action == "place"] == [False] * 10


# --- acquisitions -----------------------------------------------------------------------------------------------------

MINED = "minecraft.mine_block:minecraft.iron_ore"
PICKED = "minecraft.pickup:minecraft.iron_ore"


def gained(hand: Hand, by: str) -> None:
    if "mined" in by:
        hand.count(MINED)
    if "picked" in by:
        hand.count(PICKED)
    if "carried" in by:
        hand.inventory = [{"type": "iron_ore", "quantity": 1}]


@pytest.mark.parametrize("by", ["mined", "picked", "carried", "mined and picked", "mined and picked and carried"])
def test_an_acquisition_by_counter_or_inventory_is_progress_once(tmp_path, by):
    hand = Hand().idle(20).hold(0, 30)
    gained(hand, by)
    hand.hold(0, 10).idle(40)
    report = score(tmp_path, hand)
    assert ["acquired" in step.reasons for step in steps(report)] == [False, True, False, False]
    assert report.episodes[0].summary.details["acquired"] == 1


def test_the_target_decides_and_any_ore_is_the_default(tmp_path):
    hand = Hand().idle(20)
    gained(hand, "mined and picked and carried")
    hand.idle(20)
    names = {None: 1, "iron_ore": 1, "iron": 1, "minecraft:iron_ore": 1, "coal_ore": 0, "diamond": 0}
    for name, number in names.items():
        assert score(tmp_path, hand, target=Target.parse(name)).episodes[0].summary.details["acquired"] == number
    with pytest.raises(ValueError, match="expected the name of a block"):
        Target.parse("../x")


def test_what_is_thrown_away_and_picked_up_again_is_no_acquisition(tmp_path):
    hand = Hand(inventory=[{"type": "stone_pickaxe", "quantity": 1}]).idle(1)
    gained(hand, "mined and picked")
    for _ in range(5):
        hand.idle(20).count(PICKED)
    assert score(tmp_path, hand).episodes[0].summary.details["acquired"] == 1


def test_an_ore_taken_out_of_a_chest_is_none_and_counters_of_before_do_not_count(tmp_path):
    hand = Hand(stats={MINED: 7, PICKED: 7}, inventory=[{"type": "iron_ore", "quantity": 7}]).idle(20)
    hand.line(gui=True)
    hand.inventory = [{"type": "iron_ore", "quantity": 20}]
    hand.line(gui=True).idle(20)
    assert score(tmp_path, hand).episodes[0].summary.details["acquired"] == 0


def test_counters_may_be_nested(tmp_path):
    hand = Hand(stats={"mine_block": {"iron_ore": 0}, "pickup": {"iron_ore": 0}}).idle(20)
    hand.stats = {"mine_block": {"iron_ore": 1}, "pickup": {"iron_ore": 1}}
    hand.idle(20)
    assert score(tmp_path, hand).episodes[0].summary.details["acquired"] == 1


# --- what is no play --------------------------------------------------------------------------------------------------


def test_ticks_with_a_gui_open_are_not_scored_and_end_the_decision(tmp_path):
    hand = Hand().line().hold(0, 10)
    for _ in range(100):
        hand.yaw += 5.0
        hand.line(gui=True, buttons=(0,), keys=("w",))
    hand.hold(0, 10)
    report = score(tmp_path, hand)
    assert [(step.action, step.ticks) for step in steps(report)] == [("mine", (1, 10)), ("mine", (111, 120))]
    assert report.episodes[0].remarks == ("100 ticks with a GUI open are not scored",)


def test_idle_ticks_on_both_sides_of_a_gui_are_not_in_a_row(tmp_path):
    hand = Hand().idle(12).line(gui=True).idle(12)
    assert actions(score(tmp_path, hand)) == []


def test_a_gap_is_no_long_step(tmp_path):
    hand = Hand().walk(10)
    hand.tick += 500
    hand.z += 100.0
    hand.yaw += 90.0
    hand.walk(10).idle(1)
    report = score(tmp_path, hand)
    found = steps(report)
    assert [(step.action, step.ticks) for step in found] == [("move_forward", (0, 9)), ("move_forward", (510, 519))]
    assert report.episodes[0].remarks == ("1 gaps in the ticks; play goes on after each",)


@pytest.mark.parametrize("how", ["warp", "death"])
def test_a_warp_or_a_death_is_a_break_without_gain_or_error(tmp_path, how):
    hand = Hand().walk(20)
    before = hand.lines[-1]["zpos"]
    hand.z += 300.0 if how == "warp" else 2.5
    if how == "death":
        hand.count("minecraft.custom:minecraft.deaths")
    hand.idle(60)
    report = score(tmp_path, hand)
    found = steps(report)
    assert [step.action for step in found] == ["move_forward", "wait", "wait", "wait"]
    assert found[0].node[2] == int(before) and found[0].error is None
    # Being somewhere else is no gain of the wait; each wait is judged by itself.
    assert [step.reasons for step in found[1:]] == [()] * 3
    assert [step.stale for step in found[1:]] == [0, 0, 0]
    assert report.episodes[0].remarks == ("1 warps or deaths; play goes on after each",)


def test_a_fall_is_no_warp(tmp_path):
    hand = Hand(y=200.0).idle(20)
    for _ in range(20):
        hand.y -= 3.9
        hand.line()
    assert score(tmp_path, hand).episodes[0].remarks == ()


def test_a_last_line_that_was_cut_short_is_left_out_and_said_so(tmp_path):
    hand = Hand().walk(40)
    path = tmp_path / "cut.jsonl"
    for cut in (1, 7, 200):
        path.write_bytes(hand.text()[:-cut])
        report = score_paths([path])
        assert report.complete
        torn = () if cut == 1 else ("line 40 was cut short and is left out",)
        assert report.episodes[0].remarks == torn
        assert len(report.episodes[0].steps) == 2


def test_a_line_that_repeats_a_tick_is_left_out(tmp_path):
    hand = Hand().idle(20)
    hand.lines.insert(5, hand.lines[5])
    report = score(tmp_path, hand)
    assert actions(report) == ["wait"]
    assert report.episodes[0].remarks == ("1 lines repeat the tick before them and are left out",)


def test_a_recording_of_one_line_has_no_decision_and_no_rate(tmp_path):
    report = score(tmp_path, Hand().line())
    assert steps(report) == () and rate(report) == (0, 0)


def test_several_k_are_scored_in_one_go(tmp_path):
    from oresight.scoring.rescoring import Settings

    hand = Hand()
    for _ in range(30):
        hand.turn(yaw=30.0)
    report = score(tmp_path, hand, settings=Settings.parse(None, "1,2,3"))
    errors = [result.summary.tally.explore_errors for result in report.episodes[0].results]
    assert errors == sorted(errors, reverse=True) and errors[0] > errors[2]


def test_the_model_takes_lines_as_they_are_written():
    line = Hand().line().lines[0]
    assert VptTick.model_validate(json.loads(json.dumps(line))).feet == (0.5, 64.0, 0.5)
