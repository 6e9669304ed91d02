"""The 3D world as the harness meets it: recorded, scored live and from the file, and replayed."""

import json
from pathlib import Path

import pytest

from oresight.harness.errors import Outcome, UsageError
from oresight.harness.running.replay import replay
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds import find_worlds, suite_names, world_of_header
from oresight.scoring.readers.trajectory import read_trajectory
from oresight.scoring.score import score_paths
from support.fake_world import with_open


def test_the_suite_is_nine_episodes() -> None:
    assert suite_names("craft", "craft-mine") == [
        f"{kind}-{seed}" for kind in ("outcrop", "valley", "cave") for seed in (0, 1, 2)
    ]
    assert suite_names("craft", "craft-mine", [7]) == ["outcrop-7", "valley-7", "cave-7"]


def test_unknown_names_are_one_sentence() -> None:
    with pytest.raises(UsageError, match="unknown suite"):
        suite_names("craft", "moon")
    with pytest.raises(UsageError, match="unknown scenario"):
        find_worlds("craft", ["moon-1"])
    with pytest.raises(UsageError, match="unknown world"):
        find_worlds("moon", ["outcrop-0"])


def test_the_instructions_name_every_action_and_tell_nothing_private() -> None:
    world = find_worlds("craft", ["outcrop-0"])[0]
    assert len(world.action_names) == 21
    assert all(f"- {name}: " in world.instructions for name in world.action_names)
    assert str(world.budget) not in world.instructions
    assert str(world.scenario["world_seed"]) not in world.instructions


def test_the_solution_is_in_no_record() -> None:
    world = find_worlds("craft", ["outcrop-0"])[0]
    assert "proof" not in world.scenario


@pytest.mark.parametrize("agent", ["random", "oracle"])
def test_an_episode_is_scored_the_same_live_and_from_its_file_and_replays_without_a_difference(
    tmp_path: Path, agent: str
) -> None:
    worlds = find_worlds("craft", ["outcrop-0"])
    summary = run(RunPlan(agent, "raw", worlds, size=None), tmp_path / "run")
    live = summary.results[0]
    assert live.outcome is (Outcome.SUCCESS if agent == "oracle" else Outcome.BUDGET_SPENT)

    report = score_paths([tmp_path / "run"])
    assert report.problems == ()
    assert report.episodes[0].summary.to_json() == live.score
    written = json.loads((tmp_path / "run/summary.json").read_text())
    assert written["pooled"] == json.loads(json.dumps(report.pooled.to_json()))

    replayed = replay(tmp_path / "run/episodes/outcrop-0")
    assert (replayed.decisions, replayed.difference) == (live.steps, None)


def test_a_world_is_found_again_by_the_header_of_a_record(tmp_path: Path) -> None:
    world = find_worlds("craft", ["cave-1"])[0]
    run(RunPlan("spinner", "raw", (world,), size=None), tmp_path / "run")
    with read_trajectory(tmp_path / "run/episodes/cave-1/trajectory.jsonl") as trajectory:
        again = world_of_header(trajectory.header)
    assert (again.name, again.scenario, again.actions) == (world.name, world.scenario, world.actions)


@pytest.mark.gl
def test_scout_plays_with_pictures_and_frames_carry_the_step_that_the_text_tells(tmp_path: Path) -> None:
    world = find_worlds("craft", ["outcrop-0"])[0]
    short = with_open(world, lambda size: _short(world.open(size), 3))
    run(RunPlan("scout", "screenshots:2", (short,), size=(160, 120)), tmp_path / "run")
    episode = tmp_path / "run/episodes/outcrop-0"
    lines = [json.loads(line) for line in (episode / "trajectory.jsonl").read_text().split("\n")[1:-1]]
    frames = sorted(int(path.stem) for path in (episode / "frames").iterdir())
    told = [int(line["observation"].split("Step: ")[1].split("\n")[0]) for line in lines]
    assert frames == [*told, told[-1] + 1]


def _short(environment: object, budget: int) -> object:
    from dataclasses import replace

    environment.spec = replace(environment.spec, budget=budget)  # type: ignore[attr-defined]
    return environment
