"""Branches: episodes that play on from a decision of a recorded one, and what is counted of them."""

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.analysis.compare import compare, load_conditions
from oresight.harness.errors import UsageError
from oresight.harness.models.prices import Price
from oresight.harness.models.registry import ModelName
from oresight.harness.records.folder import RunFolder
from oresight.harness.running.attempt import ModelChoice
from oresight.harness.running.fork import BranchPoints, find_points
from oresight.harness.running.plan import forecast
from oresight.harness.running.replay import replay
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds import find_worlds
from oresight.scoring.grid.adapter import GridScorer
from oresight.scoring.parameters import Parameters
from oresight.scoring.rescoring import Settings
from oresight.scoring.score import score_paths
from support.run_stage import fake_model, lines, saying, shown, summary

__all__ = ["fake_model"]

SCENARIO = "high-small-0"
BUDGET = 18
AT = 10
FOUND_WHOLE = (1, 11, 5, 7)
FOUND_AFTER = (0, 1, 5, 7)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """An episode of the random agent, which spends its budget of 18 moves."""
    run(RunPlan("random", "window(5)", find_worlds("grid", [SCENARIO]), "none", None), tmp_path / "first")
    return tmp_path / "first/episodes" / SCENARIO


def points(recorded: Path, *at: int, rollouts: int = 1) -> BranchPoints:
    return find_points([recorded], at or (AT,), rollouts)


def plan(points: BranchPoints, agent: str = "random", memory: str = "window(5)", **options: Any) -> RunPlan:
    return RunPlan(agent, memory, points.worlds(), "none", None, **options)


def model_plan(points: BranchPoints, memory: str = "raw", seed: int | None = None) -> RunPlan:
    model = ModelChoice(ModelName("scripted", "test"), price=Price(input=1.0, output=2.0))
    model = replace(model, settings=replace(model.settings, seed=seed))
    return plan(points, "scripted:test", memory, model=model)


def branch(out: Path, at: int = AT, rollout: int = 0) -> Path:
    return out / "episodes" / f"{SCENARIO}.at{at}.r{rollout}"


def wandering(request: Any) -> str:
    """One of the admissible moves, by the number of the request."""
    ways = request.schema["properties"]["action"]["enum"]
    return saying(ways[request.number % len(ways)], "here")


def counts(score: Any) -> tuple[int, ...]:
    return (score["explore_errors"], score["explore_eligible"], score["exploit_errors"], score["exploit_eligible"])


def test_the_recorded_agent_decides_in_rollout_0_as_it_did(recorded: Path, tmp_path: Path) -> None:
    for at in (0, 7, BUDGET - 1):
        run(plan(points(recorded, at)), tmp_path / f"branch-{at}")
        again = lines(branch(tmp_path / f"branch-{at}", at) / "trajectory.jsonl")
        assert again[1:] == lines(recorded / "trajectory.jsonl")[1:]


def test_rollouts_share_the_recorded_decisions_and_differ_after_them(recorded: Path, tmp_path: Path) -> None:
    run(plan(points(recorded, rollouts=4)), tmp_path / "branch")
    ways = [
        [line["action"] for line in lines(branch(tmp_path / "branch", rollout=each) / "trajectory.jsonl")[1:]]
        for each in range(4)
    ]
    assert len({tuple(way[:AT]) for way in ways}) == 1
    assert len({tuple(way[AT:]) for way in ways}) == 3


def test_counted_are_the_decisions_after_the_branch_point_under_the_budget_that_is_left(
    recorded: Path, tmp_path: Path
) -> None:
    whole = json.loads((recorded / "result.json").read_text())["score"]
    result = run(plan(points(recorded)), tmp_path / "branch").results[0]
    assert (counts(whole), counts(result.score)) == (FOUND_WHOLE, FOUND_AFTER)
    assert (result.steps, result.budget) == (BUDGET - AT, BUDGET - AT)
    assert [result.score[name] for name in ("decisions", "scored_decisions", "steps_taken", "budget")] == [8, 8, 8, 8]
    # The rest are those before it.
    before = GridScorer(Parameters(), find_worlds("grid", [SCENARIO])[0].scenario)
    for line in lines(recorded / "trajectory.jsonl")[1 : AT + 1]:
        before.score(line["action"])
    together = [one + other for one, other in zip(counts(before.tally.to_json()), counts(result.score), strict=True)]
    assert tuple(together) == FOUND_WHOLE


@pytest.mark.parametrize("agent", ["random", "frontier", "depth-first"])
def test_a_branch_is_scored_the_same_live_and_from_its_file_and_replays_without_a_difference(
    recorded: Path, tmp_path: Path, agent: str
) -> None:
    live = run(plan(points(recorded, 3, AT), agent, "raw"), tmp_path / "branch").results
    report = score_paths([tmp_path / "branch"])
    assert report.problems == ()
    assert [each.summary.to_json() for each in report.episodes] == [each.score for each in live]
    assert [sum(step.scored for step in each.steps) for each in report.episodes] == [each.steps for each in live]
    replayed = replay(branch(tmp_path / "branch"))
    assert (replayed.decisions, replayed.difference) == (AT + live[1].steps, None)


def test_a_branch_in_the_3d_world_is_scored_the_same_live_and_from_its_file(tmp_path: Path) -> None:
    run(RunPlan("random", "raw", find_worlds("craft", ["outcrop-0"]), "none", None), tmp_path / "first")
    found = points(tmp_path / "first/episodes/outcrop-0", 5)
    live = run(plan(found, memory="raw"), tmp_path / "branch").results[0]
    assert (live.steps, live.budget) == (95, 95)
    assert score_paths([tmp_path / "branch"]).episodes[0].summary.to_json() == live.score
    first = lines(tmp_path / "first/episodes/outcrop-0/trajectory.jsonl")[1:6]
    assert lines(tmp_path / "branch/episodes/outcrop-0.at5.r0/trajectory.jsonl")[1:6] == first


def test_a_budget_that_ends_before_the_branch_point_leaves_nothing_to_count(recorded: Path, tmp_path: Path) -> None:
    run(plan(points(recorded), "frontier", "raw"), tmp_path / "branch")
    whole, cut = (
        score_paths([tmp_path / "branch"], settings=Settings(alphas=(alpha,))).episodes[0].summary
        for alpha in (3.0, 1.0)
    )
    assert (str(whole.outcome), whole.steps_taken, whole.budget) == ("success", 5, 8)
    assert (str(cut.outcome), cut.scored_decisions, cut.budget) == ("failure: budget spent", 0, 0)


def test_a_model_is_shown_what_was_recorded_as_its_own_past_and_asked_only_after_it(
    recorded: Path, tmp_path: Path, fake_model: Any
) -> None:
    first = fake_model(
        lambda request: saying(request.schema["properties"]["action"]["enum"][0], f"no {request.number}")
    )
    run(model_plan(BranchPoints(points(recorded, 0).recordings, (0,), 1)), tmp_path / "talker")
    assert len(first.asked) == BUDGET
    second = fake_model(wandering)
    result = run(model_plan(points(branch(tmp_path / "talker", 0), 3)), tmp_path / "branch").results[0]
    assert [request.number for request in second.asked] == list(range(BUDGET - 3))
    assert shown(second.asked[0])[0] == shown(first.asked[3])[0]
    assert [
        json.loads(message.text)["reason"] for message in second.asked[0].messages if message.role == "assistant"
    ] == [
        "no 0",
        "no 1",
        "no 2",
    ]
    # Its usage is that of its own requests.
    assert result.usage is not None
    assert (result.usage["replies"], result.usage["input_tokens"]) == (BUDGET - 3, 100 * (BUDGET - 3))
    told = [line["usage"] is None for line in lines(branch(tmp_path / "branch", 3) / "trajectory.jsonl")[1:]]
    assert told == [True] * 3 + [False] * (BUDGET - 3)


@pytest.mark.parametrize("kept", [1, 4, AT + 1, AT + 3])
def test_a_branch_that_is_broken_off_goes_on_and_nothing_is_asked_twice(
    recorded: Path, tmp_path: Path, fake_model: Any, kept: int
) -> None:
    model = fake_model(wandering)
    run(model_plan(points(recorded)), tmp_path / "whole")
    whole = [shown(request) for request in model.asked]
    model.asked.clear()
    model.dies_at = 5
    with pytest.raises(KeyboardInterrupt):
        run(model_plan(points(recorded)), tmp_path / "parts")
    path = branch(tmp_path / "parts") / "trajectory.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:kept]) + b'{"step":')
    run(model_plan(points(recorded)), tmp_path / "parts")
    assert [shown(request) for request in model.asked] == whole
    assert summary(tmp_path / "parts") == summary(tmp_path / "whole")
    assert path.read_bytes() == (branch(tmp_path / "whole") / "trajectory.jsonl").read_bytes()


def test_each_rollout_asks_a_model_with_the_next_seed(recorded: Path, tmp_path: Path) -> None:
    for seed, seeds in ((7, [7, 8, 9]), (None, [None, None, None])):
        chosen = model_plan(points(recorded, rollouts=3), seed=seed)
        with RunFolder(tmp_path / f"branch-{seed}", chosen.run_file()) as folder:
            models = [chosen.task(world, folder).model for world in chosen.worlds]
        assert [model.settings.seed for model in models if model is not None] == seeds


def test_what_a_model_ended_is_played_on_from_its_last_decision(
    recorded: Path, tmp_path: Path, fake_model: Any
) -> None:
    fake_model(lambda request: wandering(request) if request.number < 4 else "hm")
    ended = run(model_plan(points(recorded, 0)), tmp_path / "ended").results[0]
    assert (str(ended.outcome), ended.steps) == ("failure: agent ended the episode", 4)
    result = run(plan(points(branch(tmp_path / "ended", 0), 4), "frontier", "raw"), tmp_path / "branch").results[0]
    assert (str(result.outcome), result.budget) == ("success", BUDGET - 4)


def test_a_branch_can_be_branched(recorded: Path, tmp_path: Path) -> None:
    run(plan(points(recorded), "depth-first", "raw"), tmp_path / "one")
    run(plan(points(branch(tmp_path / "one"), 12)), tmp_path / "two")
    one, two = (lines(branch(tmp_path / out, at) / "trajectory.jsonl") for out, at in (("one", AT), ("two", 12)))
    assert two[1:13] == one[1:13]
    assert (two[0]["branch"]["of"], two[0]["branch"]["agent"]) == (f"one/{SCENARIO}.at{AT}.r0", "depth-first")


def test_a_branch_can_be_sent_to_another_process(recorded: Path) -> None:
    world = points(recorded, rollouts=2).worlds("balance")[1]
    again = pickle.loads(pickle.dumps(world))
    assert (again.name, again.seed, again.branch, again.instructions) == (
        world.name,
        world.seed,
        world.branch,
        world.instructions,
    )


def test_a_branch_point_that_is_reached_in_another_state_is_no_result(recorded: Path, tmp_path: Path) -> None:
    found = points(recorded)
    hashes = (*found.recordings[0].state_hashes[:AT], "0" * 16)
    odd = replace(found, recordings=(replace(found.recordings[0], state_hashes=hashes),))
    result = run(plan(odd), tmp_path / "branch").results[0]
    assert str(result.outcome) == "infrastructure error"
    assert result.reason is not None and "led to another state than the recorded one" in result.reason


def test_conditions_are_paired_by_point_and_rollout_and_other_pasts_are_left_out(
    recorded: Path, tmp_path: Path
) -> None:
    run(plan(points(recorded, 3, AT, rollouts=2)), tmp_path / "random")
    run(plan(points(recorded, 3, AT, rollouts=2), "frontier", "raw"), tmp_path / "frontier")
    found = compare(load_conditions([tmp_path / "random", tmp_path / "frontier"]))
    assert found.shared == tuple(f"{SCENARIO}.at{at}.r{rollout}" for at in (3, AT) for rollout in (0, 1))
    assert found.notes[0].startswith("branches (so many: 4; points that they play on from: 2): counted are the")
    assert found.notes[1].startswith("frontier, raw: 2 of 4 branches took the very decisions of another rollout")
    assert len(found.notes) == 2
    run(RunPlan("frontier", "raw", find_worlds("grid", [SCENARIO]), "none", None), tmp_path / "other")
    run(plan(points(tmp_path / "other/episodes" / SCENARIO, 3)), tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="1 episodes are of one name but not the same"):
        compare(load_conditions([tmp_path / "random", tmp_path / "elsewhere"]))


def test_a_forecast_counts_what_is_left(recorded: Path) -> None:
    told = forecast(model_plan(points(recorded, 4, AT, rollouts=3)))
    assert (told.episodes, told.decisions, told.requests) == (6, 3 * (14 + 8), 3 * (14 + 8))


# --- the command ---


def test_branches_are_played_compared_and_gone_on_with_by_one_command(
    oresight: Any, recorded: Path, tmp_path: Path
) -> None:
    command = ("branch", recorded, "--at", AT, "--agent", "same,frontier", "--rollouts", 3, "--out", tmp_path / "out")
    ran = oresight(*command, "--workers", 2)
    assert ran.code == 0, ran.err
    assert f"Playing on from decision 10 of first/{SCENARIO} (random, window(5)), 3 times each." in ran.out
    assert "difference from random, window(5), paired by episode" in ran.out
    assert oresight(*command).out.count("(played before)") == 6
    told = json.loads(oresight("compare", tmp_path / "out", "--json").out)
    assert [each["counts"]["succeeded"] for each in told["conditions"]] == [0, 3]
    header = lines(next((tmp_path / "out").glob(f"frontier*/episodes/{SCENARIO}.at10.r2")) / "trajectory.jsonl")[0]
    assert {name: header["branch"][name] for name in ("at", "rollout", "of", "agent", "memory")} == {
        "at": AT,
        "rollout": 2,
        "of": f"first/{SCENARIO}",
        "agent": "random",
        "memory": "window(5)",
    }
    assert str(tmp_path) not in "".join(path.read_text() for path in (tmp_path / "out").rglob("*.json*"))
    scored = oresight("score", tmp_path / "out")
    assert f"{SCENARIO}.at10.r0: plays on from decision 10 of 'first/{SCENARIO}'; what is counted comes" in scored.out
    other = oresight(*command[:3], 11, *command[4:])
    assert "holds another run (its episodes, branch differ)" in other.one_sentence()


def test_one_condition_is_told_as_json_too(oresight: Any, recorded: Path, tmp_path: Path) -> None:
    ran = oresight("branch", recorded, "--at", 5, "--out", tmp_path / "out", "--json")
    (told,) = json.loads(ran.out)["conditions"]
    assert (told["label"], told["counts"]["scored"]) == ("random, window(5)", 1)
    dry = oresight("branch", recorded, "--at", 5, "--dry-run", "--json")
    assert json.loads(dry.out) == [
        {
            "label": "random, window(5)",
            "episodes": 1,
            "decisions_at_most": 13,
            "requests_at_most": 0,
            "pictures_at_most": 0,
        }
    ]


def test_a_model_that_is_not_told_to_sample_is_warned_of(oresight: Any, recorded: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.txt"
    script.write_text('{"action": "up"}\n{"action": "down"}\n')
    command = (
        "branch",
        recorded,
        "--at",
        2,
        "--model",
        f"scripted:{script}",
        "--rollouts",
        2,
        "--out",
        tmp_path / "out",
    )
    ran = oresight(*command)
    assert "At temperature 0 a model's rollouts may be alike" in ran.out
    run_file = json.loads(next((tmp_path / "out").glob("*/run.json")).read_text())
    assert (run_file["config"]["model"]["seed"], run_file["config"]["prompts"]) == (0, "base")


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--at", "19"], "--at is 19, and its episode ends with decision 18; give a number from 0 to 17"),
        (["--at", "18"], "--at is 18, and its episode ends with decision 18; give a number from 0 to 17"),
        (["--at", "2,x"], "'x' is no number of decisions"),
        (["--at", "2,2"], "where a number of decisions stands twice"),
        (["--at", "2", "--agent", "solver"], "plays a solution from the start"),
        (["--at", "2", "--agent", "scout"], "agent 'scout' plays craft and not grid"),
        (["--at", "2", "--memory", "screenshots"], "is a memory of pictures, and the grid has none"),
        (["--at", "2", "--size", "640x480"], "the grid has none"),
        (["--at", "2", "--model", "openai:m", "--prompts", "loud"], "unknown prompt set 'loud'"),
        (["--at", "2", "--max-tokens", "10"], "are for models, and none plays"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_leaves_nothing(
    oresight: Any, recorded: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    ran = oresight("branch", recorded, "--out", tmp_path / "out", *arguments)
    assert ran.code == 2
    assert said in ran.one_sentence()
    assert not (tmp_path / "out").exists()


def test_an_unfinished_record_is_played_on_from_as_far_as_it_goes(
    oresight: Any, recorded: Path, tmp_path: Path
) -> None:
    path = recorded / "trajectory.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:8]) + b'{"st')
    assert oresight("branch", recorded, "--at", 7, "--out", tmp_path / "out").code == 0
    ran = oresight("branch", recorded, "--at", 8, "--out", tmp_path / "more")
    assert "--at is 8, and it holds 7 decisions; give a number from 0 to 7" in ran.one_sentence()


def test_two_recordings_of_one_scenario_are_refused_and_of_two_scenarios_played(
    oresight: Any, recorded: Path, tmp_path: Path
) -> None:
    ran = oresight("branch", recorded, recorded, "--at", 2, "--out", tmp_path / "out")
    assert "are both of scenario 'high-small-0'" in ran.one_sentence()
    run(RunPlan("frontier", "raw", find_worlds("grid", ["low-small-0"]), "none", None), tmp_path / "second")
    both = (recorded, tmp_path / "second/episodes/low-small-0")
    ran = oresight("branch", *both, "--at", 2, "--out", tmp_path / "out")
    assert "recorded with more than one agent (frontier, random); say with --agent" in ran.one_sentence()
    ran = oresight("branch", *both, "--at", 2, "--agent", "random", "--memory", "raw", "--out", tmp_path / "out")
    assert "2 of 2 episodes scored" in ran.out


def test_a_record_of_another_world_or_player_is_refused(oresight: Any, recorded: Path, tmp_path: Path) -> None:
    path = recorded / "trajectory.jsonl"
    content = path.read_text()
    kept = content.split("\n")
    changed = json.loads(kept[3])
    changed["state_hash"] = "elsewhere"
    path.write_text("\n".join([*kept[:3], json.dumps(changed), *kept[4:]]))
    ran = oresight("branch", recorded, "--at", 4, "--out", tmp_path / "out")
    assert "decision 3 differs in state_hash" in ran.one_sentence()
    assert oresight("branch", recorded, "--at", 2, "--out", tmp_path / "before").code == 0
    for agent, said in (
        ("openai:gpt-4.1", "is the model openai:gpt-4.1; give it with --model"),
        ("scripted:f", "a script"),
    ):
        path.write_text(content.replace('"agent":"random"', f'"agent":"{agent}"', 1))
        assert said in oresight("branch", recorded, "--at", 4, "--out", tmp_path / "out").one_sentence()
    path.write_text(content.replace('"kind":"grid"', '"kind":"craft"', 1))
    ran = oresight("branch", recorded, "--at", 4, "--out", tmp_path / "out")
    assert "recorded with terrain version None" in ran.one_sentence()
    assert not (tmp_path / "out").exists()


def test_help_shows_an_example(oresight: Any) -> None:
    assert "Example: oresight branch runs/" in oresight("branch", "--help").out
