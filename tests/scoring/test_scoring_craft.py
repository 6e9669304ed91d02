import json

import pytest
from pydantic import ValidationError

from oresight.scoring.core import Case, ErrorKind
from oresight.scoring.craft.adapter import CraftScorer, node_of, on_the_way
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import Outcome, Pose
from support.scoring_facts import FEET, Episode, Ore, ore, placed, pose, removed, score_facts, target

FAR: tuple[int, int, int] = (0, 30, 20)


def node(**changed):
    return node_of(Pose.model_validate(pose(**changed)), Parameters())


# --- nodes -----------------------------------------------------------------------------------------------------------


def test_a_node_is_feet_block_yaw_step_and_pitch_step():
    assert node(feet=(-0.5, 30.0, 2.9), yaw=30.0, pitch=-15.0) == (-1, 30, 2, 1, -1)


@pytest.mark.parametrize(("one", "other"), [(180.0, -180.0), (0.0, 360.0), (345.0, -15.0), (359.9, 0.0)])
def test_yaw_wraps_so_that_these_are_one_node(one, other):
    assert node(yaw=one) == node(yaw=other)


def test_float_drift_after_twelve_turns_is_no_new_node():
    yaw = sum([29.999999999999996] * 12)
    assert node(yaw=yaw, feet=(0.5, 29.999999999, 0.5)) == node()


def test_angles_round_to_the_nearest_step():
    assert [node(yaw=angle)[3] for angle in (14.9, 15.0, 44.9, 45.1)] == [0, 1, 1, 2]
    assert [node(pitch=angle)[4] for angle in (-7.6, -7.4, 7.4, 7.5)] == [-1, 0, 0, 1]


# --- exploration (case 1) --------------------------------------------------------------------------------------------


def test_entering_a_new_position_cell_is_gain_and_progress():
    step = Episode().walk(dz=2.0)
    assert (step.case, step.reasons, step.progress) == (Case.EXPLORE, ("position", "repositioning"), True)


def test_a_cell_passed_in_the_air_is_not_entered():
    episode = Episode(at=pose(ground=False))
    step = episode.walk(dz=2.0, standing=False)
    assert (step.reasons, step.progress) == (("repositioning",), False)


def test_the_start_counts_as_entered():
    episode = Episode(at=pose(feet=(1.9, 30.0, 0.5)))
    episode.walk(dx=0.5)
    assert "position" not in episode.walk(dx=-0.5).reasons


def test_eight_new_faces_are_a_new_view_and_seven_are_not():
    assert Episode().do("wait", new_faces=8).reasons == ("view",)
    assert Episode().do("wait", new_faces=7).error is ErrorKind.EXPLORATION


def test_a_discovery_is_progress_and_ends_case_1_with_the_next_decision():
    episode = Episode()
    step = episode.do("look_left", yaw=330.0, sees=(ore(FAR, 64.0),))
    assert (step.case, step.reasons, step.progress) == (Case.EXPLORE, ("ore", "repositioning"), True)
    assert episode.do("wait").case is Case.GOAL
    found = episode.scorer.discoveries
    assert [(item.pos, item.step, item.face_px) for item in found] == [(FAR, 1, 64.0)]


def test_an_ore_below_64_pixels_or_of_another_kind_is_no_discovery():
    episode = Episode()
    episode.do("wait", sees=(ore(FAR, 63.9), ore((1, 30, 9), 500.0, "coal_ore")))
    assert episode.do("wait").case is Case.EXPLORE


def test_an_ore_in_view_at_the_start_is_known_before_decision_1():
    assert Episode(ores=(Ore(FAR),)).do("wait").case is Case.GOAL


def test_an_ore_is_discovered_once():
    episode = Episode(count=2)
    episode.do("wait", sees=(ore(FAR),))
    assert "ore" not in episode.do("wait", sees=(ore(FAR),)).reasons


# --- repositioning and the two readings ------------------------------------------------------------------------------


def test_moving_half_a_block_or_turning_a_step_is_a_lenient_gain_without_progress():
    for step in (Episode().walk(dx=0.5), Episode().do("look_left", yaw=330.0), Episode().do("look_up", pitch=-15.0)):
        assert (step.reasons, step.progress, step.error) == (("repositioning",), False, None)


def test_moving_less_than_half_a_block_is_none():
    assert Episode().walk(dx=0.49).error is ErrorKind.EXPLORATION


def test_removing_a_natural_block_is_repositioning_only_if_it_showed_a_new_face():
    block = (0, 31, 1)
    assert Episode().do("mine", changed=(removed(block),), new_faces=1).reasons == ("repositioning",)
    assert Episode().do("mine", changed=(removed(block),)).error is ErrorKind.EXPLORATION
    assert Episode().do("mine", changed=(removed(block, natural=False),), new_faces=1).gain is False


def test_strict_has_no_repositioning_in_case_1():
    step = Episode().walk(dx=0.5)
    assert step.error is None
    assert step.strict is not None and step.strict.error is ErrorKind.EXPLORATION
    assert step.strict.causes == ("no gain",)


def test_strict_keeps_repositioning_in_case_4():
    step = Episode(ores=(Ore(FAR),), count=2).walk(dx=-0.5)
    assert (step.case, step.reasons) == (Case.EITHER, ("repositioning",))
    assert step.strict is not None and step.strict.error is None


def test_both_readings_stand_in_the_summary_with_their_own_counts():
    episode = Episode()
    episode.walk(dx=0.5)
    episode.do("wait")
    summary = episode.scorer.summary().to_json()
    assert (summary["explore_errors"], summary["explore_eligible"]) == (1, 2)
    assert summary["lenient"]["explore_errors"] == 1
    assert summary["strict"]["explore_errors"] == 2
    assert (summary["exploit_errors"], summary["exploit_eligible"]) == (0, 0)


# --- patience --------------------------------------------------------------------------------------------------------


def creep(episode, number):
    """Turn on the spot over ever other pitches, so that no node comes again: repositioning and nothing else."""
    errors = []
    for index in range(number):
        at = episode.at
        turned = (at["yaw_deg"] + 30.0) % 360.0 if (index + 1) % 12 else at["yaw_deg"]
        pitched = at["pitch_deg"] + (0.0 if (index + 1) % 12 else 15.0)
        errors.append(episode.do("look_right", yaw=turned, pitch=pitched).error is not None)
    return errors


def test_the_25th_scored_decision_since_the_last_progress_is_the_first_error():
    errors = creep(Episode(at=pose(pitch=-45.0)), 26)
    assert errors == [False] * 24 + [True] * 2


def test_free_preparations_do_not_use_patience():
    episode = Episode(at=pose(pitch=-45.0))
    episode.do("slot_2", slot=2)
    assert creep(episode, 25) == [False] * 24 + [True]


def test_progress_gives_patience_back():
    episode = Episode(at=pose(pitch=-45.0))
    creep(episode, 20)
    assert episode.do("wait", new_faces=8).progress
    assert creep(episode, 24) == [False] * 24


def test_patience_holds_in_case_2_too():
    episode = Episode(ores=(Ore(FAR, angle=90.0),), at=pose(pitch=-45.0))
    aims = []
    for index in range(26):
        yaw = (episode.at["yaw_deg"] + 30.0) % 360.0
        pitch = -45.0 + 15.0 * (index // 12)
        aims.append(episode.do("look_right", yaw=yaw, pitch=pitch, angles={FAR: 90.0 - 2 * index - 2}))
    assert [step.reasons for step in aims] == [("aimed",)] * 26
    assert [step.error for step in aims[23:]] == [None, ErrorKind.EXPLOITATION, ErrorKind.EXPLOITATION]
    assert aims[24].causes == ("patience",)


# --- preparations ----------------------------------------------------------------------------------------------------


def test_the_first_preparation_of_each_kind_is_not_scored():
    episode = Episode()
    steps = [
        episode.do("slot_3", slot=3),
        episode.jump(),
        episode.do("place", changed=(placed((0, 30, 0)),)),
    ]
    assert [(step.scored, step.case, step.error) for step in steps] == [(False, None, None)] * 3
    summary = episode.scorer.summary()
    assert (summary.decisions, summary.scored_decisions, summary.tally.explore_eligible) == (3, 0, 0)


def test_what_follows_is_judged_from_the_state_before_the_run():
    episode = Episode()
    episode.jump()
    step = episode.walk(dz=1.0, standing=True)  # from the apex onto a step: 1.25 up, 1 ahead
    assert step.reasons == ("repositioning",)
    episode = Episode()
    episode.jump()
    landed = episode.land()
    assert (landed.reasons, landed.error) == ((), ErrorKind.EXPLORATION)


def test_what_a_preparation_showed_is_judged_with_the_next_scored_decision():
    episode = Episode()
    episode.do("slot_2", slot=2)
    x, y, z = FEET
    episode.do("jump", feet=(x, y + 1.25, z), jumped=True, standing=False, new_faces=5)
    assert episode.land(new_faces=3).reasons == ("view",)


def test_an_ore_discovered_in_a_preparation_counts_with_the_next_scored_decision():
    episode = Episode()
    x, y, z = FEET
    episode.do("jump", feet=(x, y + 1.25, z), jumped=True, standing=False, sees=(ore(FAR),))
    step = episode.land()
    assert (step.case, step.reasons, step.progress) == (Case.EXPLORE, ("ore",), True)
    assert episode.do("wait").case is Case.GOAL


def test_a_second_slot_selection_in_a_row_is_an_error():
    episode = Episode()
    scored = [episode.do(f"slot_{number}", slot=number).scored for number in (2, 3, 2, 3)]
    assert scored == [False, True, True, True]
    assert episode.scorer.tally.explore == (3, 3)


def test_any_other_action_ends_the_run():
    episode = Episode()
    steps = [episode.do("slot_2", slot=2), episode.do("wait"), episode.do("slot_1", slot=1), episode.do("wait")]
    assert [step.scored for step in steps] == [False, True, False, True]
    assert [step.error for step in steps if step.scored] == [ErrorKind.EXPLORATION] * 2


def test_a_preparation_without_effect_is_scored_and_no_gain():
    episode = Episode(at=pose(ground=False))
    steps = [episode.do("slot_1", new_faces=50), episode.do("jump"), episode.do("place")]
    assert [(step.scored, step.gain, step.error) for step in steps] == [(True, False, ErrorKind.EXPLORATION)] * 3


def test_a_preparation_without_effect_does_not_use_up_its_kind():
    episode = Episode()
    assert episode.do("slot_1").scored
    assert not episode.do("slot_2", slot=2).scored


def test_a_repeated_preparation_is_no_gain_whatever_its_stretch_showed():
    episode = Episode()
    episode.do("slot_2", slot=2, new_faces=100)
    step = episode.do("slot_3", slot=3, new_faces=100)
    assert (step.gain, step.progress, step.error) == (False, False, ErrorKind.EXPLORATION)
    assert episode.do("wait").gain is False


def test_a_pillar_with_a_wait_after_each_block_is_progress_towards_an_ore_above():
    above = (0, 45, 0)
    episode = Episode(ores=(Ore(above),))
    scored = []
    for _ in range(3):
        x, y, z = episode.at["feet"]
        episode.jump()
        episode.do("place", changed=(placed((int(x), int(y), int(z))),), feet=(x, y + 1.05, z), standing=False)
        scored.append(episode.do("wait", feet=(x, y + 1.0, z)))
    assert [(step.reasons, step.progress, step.error) for step in scored] == [(("nearer",), True, None)] * 3


# --- exploitation ----------------------------------------------------------------------------------------------------


def test_new_ground_is_neither_gain_nor_progress_in_case_2():
    episode = Episode(ores=(Ore((0, 30, -20)),))
    step = episode.walk(dz=2.0, new_faces=100)
    assert (step.case, step.reasons, step.progress, step.error) == (Case.GOAL, (), False, ErrorKind.EXPLOITATION)


def test_ground_entered_in_case_2_is_not_new_later():
    episode = Episode(ores=(Ore(FAR),))
    episode.walk(dz=2.0)
    episode.known[FAR].standing = False
    episode.do("wait")
    assert episode.walk(dz=-2.0).case is Case.EXPLORE
    assert "position" not in episode.walk(dz=2.0).reasons


def test_a_quarter_block_nearer_is_a_gain_and_a_whole_one_progress():
    ahead = (0, 31, 20)
    ground = pose(feet=(0.5, 31.5 - 1.62, 0.5))  # the eye as high as the ore's centre
    for moved, reasons, progress in ((0.2, (), False), (0.25, ("nearer",), False), (1.0, ("nearer",), True)):
        step = Episode(ores=(Ore(ahead),), at=ground).walk(dz=moved)
        assert (step.reasons, step.progress) == (reasons, progress)


def test_a_step_less_to_walk_is_a_gain_and_progress():
    step = Episode(ores=(Ore(FAR, walk=12),)).do("move_left", walks={FAR: 11})
    assert (step.reasons, step.progress) == (("nearer",), True)


def test_progress_needs_a_distance_below_its_smallest_value_so_far():
    episode = Episode(ores=(Ore(FAR, walk=12),))
    walked = [episode.do("move_left", walks={FAR: steps}) for steps in (10, 11, 12, 11, 10, 9)]
    assert [step.progress for step in walked] == [True, False, False, False, False, True]
    assert [step.gain for step in walked] == [True, False, False, True, True, True]


def test_an_infinite_walking_distance_neither_grows_nor_falls():
    episode = Episode(ores=(Ore(FAR, walk=None),))
    appeared = episode.do("mine", walks={FAR: 7})
    assert (appeared.gain, appeared.progress) == (False, False)
    assert episode.do("wait", walks={FAR: None}).gain is False
    assert episode.do("wait", walks={FAR: 7}).gain is False
    assert episode.do("move_left", walks={FAR: 6}).progress is True


def test_the_top_of_a_free_jump_does_not_become_the_smallest_distance():
    above = (0, 45, 0)
    episode = Episode(ores=(Ore(above),))
    episode.jump()
    assert episode.land().gain is False
    assert episode.do("wait", feet=(0.5, 31.0, 0.5)).progress is True


def test_digging_on_the_way_is_a_gain_but_no_progress():
    step = Episode(ores=(Ore(FAR),)).do("mine", changed=(removed((0, 31, 1)),))
    assert (step.reasons, step.progress) == (("dug",), False)


def test_digging_away_from_the_ore_or_through_a_block_of_ones_own_is_no_gain():
    assert Episode(ores=(Ore(FAR),)).do("mine", changed=(removed((0, 31, -2)),)).gain is False
    assert Episode(ores=(Ore(FAR),)).do("mine", changed=(removed((0, 31, 1), natural=False),)).gain is False


def test_on_the_way_compares_with_the_farther_of_feet_and_eye():
    at = Pose.model_validate(pose(feet=(0.5, 30.0, 0.5)))
    below_the_feet_of_one_who_looks_up = on_the_way((0, 30, 0), (0, 40, 0), at, 1.62)
    assert below_the_feet_of_one_who_looks_up is True
    assert on_the_way((0, 29, 0), (0, 40, 0), at, 1.62) is False


def test_turning_towards_the_ore_by_a_degree_while_staying_is_aiming():
    def turn(by, feet=None, waypoint=None):
        episode = Episode(ores=(Ore(FAR, angle=40.0),))
        return episode.do("look_left", yaw=330.0, angles={FAR: 40.0 - by}, feet=feet, waypoints=waypoint)

    assert (turn(1.0).reasons, turn(1.0).progress) == (("aimed",), False)
    assert turn(0.9).gain is False
    assert turn(30.0, feet=(0.5, 30.0, 0.1)).gain is False  # moved by 0.4
    assert turn(-30.0, waypoint={FAR: (50.0, 20.0)}).reasons == ("aimed",)


def test_the_crosshair_coming_to_rest_on_the_way_is_aiming_and_resting_there_is_not():
    episode = Episode(ores=(Ore(FAR),))
    wall = target((0, 31, 2))
    assert episode.do("look_down", pitch=15.0, crosshair=wall).reasons == ("aimed",)
    assert episode.do("wait", crosshair=wall).error is ErrorKind.EXPLOITATION


def test_the_crosshair_on_a_block_of_ones_own_or_off_the_way_is_not_aiming():
    assert Episode(ores=(Ore(FAR),)).do("look_up", crosshair=target((0, 31, 2), natural=False)).gain is False
    assert Episode(ores=(Ore(FAR),)).do("look_up", crosshair=target((0, 31, -3))).gain is False


def test_acquiring_the_target_is_success_and_what_follows_is_not_scored():
    near = (0, 31, 2)
    episode = Episode(ores=(Ore(near),))
    step = episode.do("mine", changed=(removed(near, block="iron_ore"),), acquired=(near,))
    assert (step.reasons, step.progress) == (("acquired", "dug"), True)
    assert episode.do("wait").scored is False
    summary = episode.scorer.summary(Outcome.SUCCESS)
    assert (summary.success, summary.steps_taken, summary.decisions) == (True, 1, 2)
    assert summary.tally.exploit == (0, 1)


def test_an_ore_never_discovered_may_be_acquired_in_case_1():
    step = Episode().do("mine", acquired=(FAR,))
    assert (step.case, step.reasons, step.progress) == (Case.EXPLORE, ("acquired",), True)
    assert step.strict is not None and step.strict.error is None


def test_fewer_known_ores_than_needed_are_case_4_where_an_error_is_one_of_both():
    episode = Episode(ores=(Ore(FAR),), count=2)
    assert episode.do("wait").error is ErrorKind.BOTH
    assert episode.walk(dz=2.0).reasons == ("position", "nearer", "repositioning")
    tally = episode.scorer.tally
    assert (tally.explore, tally.exploit) == ((1, 2), (1, 2))


def test_needed_falls_with_each_acquired_ore():
    first, second = (0, 31, 2), (0, 31, 9)
    episode = Episode(ores=(Ore(first),), count=2)
    assert episode.do("mine", acquired=(first,)).case is Case.EITHER
    assert episode.do("wait").case is Case.EXPLORE
    episode.do("wait", sees=(ore(second),))
    assert episode.do("wait").case is Case.GOAL


# --- walking to and fro ----------------------------------------------------------------------------------------------


def share_of_errors(steps):
    scored = [step for step in steps if step.scored]
    return sum(step.error is not None for step in scored) / len(scored)


def test_spinning_is_forgiven_a_second_lap_and_an_error_from_the_third():
    episode = Episode()
    steps = [
        episode.do("look_right", yaw=30.0 * (turn + 1) % 360.0, new_faces=20 if turn < 11 else 0) for turn in range(36)
    ]
    errors = [step.step for step in steps if step.error]
    # The last new view is decision 11; the loop closes with 23, is complete a second time with 35; patience ends at 35.
    assert errors == [23, 35, 36]


def test_spinning_on_is_an_error_every_time():
    episode = Episode()
    steps = [episode.do("look_right", yaw=30.0 * (turn + 1) % 360.0) for turn in range(60)]
    assert all(step.error for step in steps[24:])


@pytest.mark.parametrize("known", [False, True])
def test_looking_to_and_fro_is_an_error_from_the_third_decision(known):
    episode = Episode(ores=(Ore(FAR, angle=30.0),) if known else ())
    steps = [
        episode.do("look_left", yaw=330.0 if turn % 2 == 0 else 0.0, angles={FAR: 30.0 if turn % 2 else 0.0})
        for turn in range(40)
    ]
    assert share_of_errors(steps) >= 0.9


def test_pacing_on_known_ground_is_an_error_after_the_first_pass():
    episode = Episode()
    steps = [episode.walk(dz=4.3 if turn % 2 == 0 else -4.3) for turn in range(40)]
    assert share_of_errors(steps) >= 0.9


def test_hopping_is_an_error():
    episode = Episode()
    steps = [episode.jump() if turn % 2 == 0 else episode.land("jump") for turn in range(40)]
    assert share_of_errors(steps) >= 0.9


def test_placing_and_mining_one_block_is_an_error():
    episode, block = Episode(), (0, 30, 1)
    steps = []
    for _ in range(20):
        steps.append(episode.do("place", changed=(placed(block),)))
        steps.append(episode.do("mine", changed=(removed(block, natural=False, block="planks"),), new_faces=1))
    assert [step.scored for step in steps] == [False, True] * 20
    assert share_of_errors(steps) == 1.0


def test_a_decision_that_ends_where_it_began_adds_nothing_to_the_segment():
    episode = Episode()
    assert [episode.do("wait").stale for _ in range(10)] == [0] * 10


def test_undoing_a_change_is_the_same_node_again():
    episode = Episode()
    there = episode.do("look_left", yaw=-30.0)
    back = episode.do("look_right", yaw=0.0)
    again = episode.do("look_left", yaw=330.0)
    assert there.node == again.node != back.node


# --- budget, rescoring, records --------------------------------------------------------------------------------------


def test_decisions_past_the_budget_are_not_scored():
    episode = Episode(budget=3)
    assert [episode.do("wait").scored for _ in range(5)] == [True, True, True, False, False]
    assert episode.scorer.summary().outcome is Outcome.BUDGET_SPENT


def test_alpha_cuts_the_budget_and_success_after_the_cut_is_failure():
    near = (0, 31, 2)
    episode = Episode(ores=(Ore(near),), budget=100)
    for _ in range(40):
        episode.do("wait")
    episode.do("mine", acquired=(near,))
    outcomes = {}
    for alpha in (1, 2, 3):
        _, summary = score_facts(Parameters(alpha=alpha), episode.scenario, episode.start, episode.lines)
        outcomes[alpha] = (summary.outcome, summary.budget, summary.steps_taken)
    assert outcomes == {
        1: (Outcome.BUDGET_SPENT, 33, 33),
        2: (Outcome.SUCCESS, 66, 41),
        3: (Outcome.SUCCESS, 100, 41),
    }


def test_an_early_end_stays_a_failure_and_an_infrastructure_error_no_result():
    episode = Episode()
    episode.do("wait")
    assert episode.scorer.summary(Outcome.AGENT_ENDED).outcome is Outcome.AGENT_ENDED
    assert episode.scorer.summary(Outcome.INFRASTRUCTURE).outcome.counts is False
    assert episode.scorer.summary().outcome is Outcome.INCOMPLETE


def test_a_trajectory_cannot_be_prolonged():
    with pytest.raises(ValueError, match="use 3 or less"):
        Episode(parameters=Parameters(alpha=4))


@pytest.mark.parametrize(
    ("changed", "before", "after"),
    [
        ({"discovery_px": 200.0}, Case.GOAL, Case.EXPLORE),
        ({"discovery_px": 32.0}, Case.GOAL, Case.GOAL),
    ],
)
def test_rescoring_with_another_discovery_size_changes_the_case(changed, before, after):
    episode = Episode(ores=(Ore(FAR),), see_px=100.0)
    assert episode.do("wait").case is before
    steps, _ = score_facts(Parameters(**changed), episode.scenario, episode.start, episode.lines)
    assert steps[0].case is after


def test_rescoring_with_other_cells_faces_and_patience_needs_the_facts_alone():
    episode = Episode()
    episode.walk(dz=2.0, new_faces=8)
    steps, _ = score_facts(
        Parameters(position_cell_blocks=8, new_faces_min=9, patience=0), episode.scenario, episode.start, episode.lines
    )
    assert (steps[0].reasons, steps[0].causes) == (("repositioning",), ("patience",))


def test_live_facts_and_facts_from_a_file_give_the_same_result():
    episode = Episode(ores=(Ore(FAR),), count=2)
    live = [episode.walk(dz=2.0), episode.jump(), episode.land(), episode.do("wait")]
    again, summary = score_facts(
        Parameters(), episode.scenario, json.loads(json.dumps(episode.start)), json.loads(json.dumps(episode.lines))
    )
    assert again == live
    assert summary == episode.scorer.summary()


def test_a_scored_decision_as_json_has_the_lenient_reading_flat_and_the_strict_one_beside_it():
    assert Episode().walk(dx=0.5).to_json() == {
        "step": 1,
        "action": "move_forward",
        "scored": True,
        "case": 1,
        "gain": True,
        "progress": False,
        "stale": 0,
        "error": None,
        "causes": [],
        "reasons": ["repositioning"],
        "node": [1, 30, 0, 0, 0],
        "strict": {"gain": False, "error": "explore", "causes": ["no gain"]},
    }


def test_facts_with_a_missing_field_or_a_tick_too_few_are_refused():
    episode = Episode()
    episode.do("wait")
    _, facts = episode.lines[0]
    scorer = CraftScorer(Parameters(), episode.scenario, episode.start)
    with pytest.raises(ValidationError, match="slot_after"):
        scorer.score("wait", {name: value for name, value in facts.items() if name != "slot_after"})
    with pytest.raises(ValidationError, match="one a tick"):
        scorer.score("wait", {**facts, "standing_ticks": [True]})


def test_parameters_out_of_range_or_unknown_are_refused():
    for wrong in ({"k": 0}, {"patience": -1}, {"pateince": 3}, {"yaw_step_deg": 50.0}, {"discovery_px": 8.0}):
        with pytest.raises(ValidationError):
            Parameters(**wrong)
