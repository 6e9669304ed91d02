"""A person's session is played again in its world, cut into decisions and scored like an agent's episode."""

import json
import tracemalloc

import pytest

from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.scenarios.suites import get_scenario
from oresight.craftenv.sim.engine import Controls, Engine, Happenings, controls_of
from oresight.craftenv.sim.facts import Referee
from oresight.harness.worlds import find_worlds
from oresight.harness.worlds.craft.refereed import Refereed
from oresight.harness.worlds.craft.session_score import score_session
from oresight.harness.worlds.craft.ticks import controls_json, state_json
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import SessionHeader
from oresight.scoring.score import score_paths
from support.scoring_facts import score_facts

FORWARD = Controls(forward=1)
MINE = Controls(mine=True)
RIGHT = Controls(yaw_counts=50)
WAIT = Controls()
SCENARIO = "outcrop-0"


def header_of(mode="real-time"):
    world = find_worlds("craft", [SCENARIO])[0]
    engine = Refereed(SessionHeader.model_construct(versions=world.versions, scenario=world.scenario, mode=mode))
    return {
        "format": "oresight.session",
        "version": 1,
        "kind": "craft-session",
        "mode": mode,
        "agent": "human",
        "scenario": world.scenario,
        "actions": list(world.action_rows),
        "ticks_per_second": 20,
        "score_inputs": world.score_inputs,
        "versions": world.versions,
        "start": engine.start(),
    }


class Player:
    """Plays ticks in the world and writes them down."""

    def __init__(self, mode="real-time"):
        scenario = get_scenario(SCENARIO)
        self.engine = Engine(
            scenario.world_seed, scenario.spawn, round(scenario.yaw_deg / 0.15), scenario.inventory_items,
            scenario.target_item,
        )  # fmt: skip
        self.records = [header_of(mode)]
        self.tick = 0

    def play(self, *controls, action=None):
        for place, held in enumerate(controls):
            happened = Happenings()
            if action is not None and place == 0:
                self.engine.let_go()
            self.engine.tick(held, happened)
            self.tick += 1
            line = {"tick": self.tick}
            if action is not None and place == 0:
                line["action"] = action
            with_hash = self.tick % 20 == 0
            self.records.append(
                line | {"controls": controls_json(held)} | state_json(self.engine, happened, with_hash=with_hash)
            )
        return self

    def decide(self, name):
        action = BY_NAME[name]
        return self.play(*(controls_of(action, tick) for tick in range(action.ticks)), action=name)

    def end(self, how="left"):
        self.records.append({"end": how, "tick": self.tick, "state_hash": self.engine.state_hash()})
        return self

    def write(self, folder):
        path = folder / "session.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in self.records))
        return path


def scored(path):
    return score_paths([path], score_session=score_session)


def actions(report):
    return [step.action for step in report.episodes[0].steps]


def test_a_turn_based_session_is_scored_exactly_like_an_agents_episode(tmp_path):
    names = ["move_forward", "look_right", "look_left", "mine", "wait", "jump", "move_forward", "slot_2", "look_down"]
    player = Player("turn-based")
    for name in names:
        player.decide(name)
    report = scored(player.end().write(tmp_path))
    assert report.complete, report.problems
    scenario = get_scenario(SCENARIO)
    engine = Engine(
        scenario.world_seed, scenario.spawn, round(scenario.yaw_deg / 0.15), scenario.inventory_items,
        scenario.target_item,
    )  # fmt: skip
    referee = Referee(engine)
    start = referee.start()
    decisions = [(name, referee.observe(engine.run(BY_NAME[name]))) for name in names]
    expected, summary = score_facts(Parameters(), scenario.model_dump(mode="json"), start, decisions)
    found = report.episodes[0]
    assert [step.to_json() | {"ticks": 0} for step in found.steps] == [
        step.to_json() | {"ticks": 0} for step in expected
    ]
    assert found.summary.tally == summary.tally
    assert str(found.summary.outcome) == "failure: agent ended the episode"


def test_real_time_play_of_whole_actions_is_those_decisions(tmp_path):
    player = Player().play(*[FORWARD] * 20, *[RIGHT] * 4, *[MINE] * 40, *[WAIT] * 20, Controls(slot=3), *[WAIT] * 3)
    report = scored(player.end().write(tmp_path))
    assert report.complete, report.problems
    assert actions(report) == ["move_forward", "look_right", "mine", "wait", "slot_3"]
    assert [step.ticks for step in report.episodes[0].steps] == [(1, 20), (21, 24), (25, 64), (65, 84), (85, 85)]


def test_turning_while_walking_is_both_and_each_is_judged_by_what_it_did(tmp_path):
    both = Controls(forward=1, yaw_counts=20)
    report = scored(Player().play(*[both] * 40).end().write(tmp_path))
    found = report.episodes[0].steps
    assert actions(report) == ["move_forward", "look_right", "look_right", "move_forward", "look_right", "look_right"]
    walked, first, second, *_ = found
    # The looks keep the place and turn by a step each.
    assert first.node[:3] == second.node[:3] == walked.node[:3]
    assert [(step.node[3] - walked.node[3]) % 12 for step in (first, second)] == [1, 2]
    assert all(step.error is None for step in found)


def test_spinning_and_idling_are_what_they_are_for_agents(tmp_path):
    idle = scored(Player().play(*[WAIT] * 400).end().write(tmp_path))
    assert idle.episodes[0].summary.tally.explore == (20, 20)
    spin = scored(Player().play(*[RIGHT] * 4 * 60).end().write(tmp_path))
    assert actions(spin) == ["look_right"] * 60
    assert all(step.error for step in spin.episodes[0].steps[-20:])


def test_a_session_that_was_cut_off_is_incomplete_and_a_torn_line_is_left_out(tmp_path):
    player = Player().play(*[FORWARD] * 40)
    path = player.write(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    report = scored(path)
    assert report.counts.incomplete == 1
    assert any("line 41 was cut short" in problem for problem in report.problems)
    assert any("was cut off before its end" in problem for problem in report.problems)
    assert actions(report) == ["move_forward", "move_forward"]


@pytest.mark.parametrize("line", [10, 41])
def test_a_session_that_was_changed_is_refused_with_line_and_field(tmp_path, line):
    player = Player().play(*[FORWARD] * 60).end()
    player.records[line - 1]["pose"]["feet"][0] += 0.5
    path = player.write(tmp_path)
    problem = scored(path).problems[0]
    assert problem.startswith(f"{path}, line {line}, field pose.feet[0]: found ")
    assert "when the session is played again" in problem


def test_another_terrain_or_scenario_is_one_sentence(tmp_path):
    player = Player().play(WAIT).end()
    player.records[0]["versions"] = {"oresight": "9", "terrain": 99}
    assert "terrain version 99" in scored(player.write(tmp_path)).problems[0]
    player.records[0]["versions"] = header_of()["versions"]
    player.records[0]["scenario"] = {**player.records[0]["scenario"], "spawn": [0.5, 1.0, 0.5]}
    assert "cannot be played" in scored(player.write(tmp_path)).problems[0]
    player.records[0]["scenario"] = {"name": "x"}
    assert "line 1, field scenario.target" in scored(player.write(tmp_path)).problems[0]


def test_memory_does_not_grow_with_the_length_of_a_session(tmp_path):
    def peak(ticks):
        path = Player().play(*([WAIT] * ticks)).end().write(tmp_path)
        tracemalloc.start()
        try:
            score_paths([path], score_session=score_session, keep_steps=False)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    assert peak(2000) < 1.3 * peak(400) + 200_000
