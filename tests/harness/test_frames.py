"""Pictures drawn again from a record: those that were seen before each decision, in full or not at all."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from oresight.craftenv.env import CraftEnv
from oresight.craftenv.scenarios.suites import get_scenario
from oresight.harness.agents import AgentSetup
from oresight.harness.agents.baselines import Oracle
from oresight.harness.errors import UsageError
from oresight.harness.film.frames import FrameFolder, export_episode, export_session
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds.craft.session_replay import decisions_of
from oresight.scoring.records import Header
from support.cli_stage import Ran
from support.fake_world import corridor
from support.session_stage import WALK_AND_TURN, record

SMALL = (64, 48)


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """A recorded episode in a corridor, with its pictures."""
    ways = ["look_right", "wait", "move_forward", "move_backward"] * 5
    agent = Oracle(AgentSetup(0, (), lambda: ways))
    plan = RunPlan("script", "raw", (corridor(),), frames="all", size=SMALL, make_agent=lambda setup: agent)
    run(plan, tmp_path / "run")
    return tmp_path / "run/episodes/corridor-0"


def found(header: Header) -> Any:
    return corridor()


def pictures(folder: Path) -> dict[str, Any]:
    return {path.name: np.asarray(Image.open(path)) for path in sorted(folder.iterdir())}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return list(one) == list(other) and all(np.array_equal(one[name], other[name]) for name in one)


def test_the_pictures_of_an_episode_are_those_of_its_run(episode: Path, tmp_path: Path) -> None:
    drawn: list[int] = []
    replayed, count = export_episode(episode, tmp_path / "new/drawn", None, drawn.append, found)
    assert (replayed.difference, replayed.decisions, count) == (None, 20, 21)
    assert drawn == list(range(1, 21))
    again, kept = pictures(tmp_path / "new/drawn"), pictures(episode / "frames")
    assert list(again) == [f"{number:06}.png" for number in range(1, 22)]
    assert all(np.array_equal(one, other) for one, other in zip(again.values(), kept.values(), strict=True))
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["drawn"]


def test_another_size_can_be_asked_for_and_a_trajectory_alone_has_the_usual_one(episode: Path, tmp_path: Path) -> None:
    export_episode(episode, tmp_path / "a", (100, 60), find_world=found)
    assert pictures(tmp_path / "a")["000001.png"].shape == (60, 100, 3)
    alone = (episode / "trajectory.jsonl").rename(tmp_path / "alone.jsonl")
    export_episode(alone, tmp_path / "b", find_world=found)
    assert pictures(tmp_path / "b")["000001.png"].shape == (480, 640, 3)


def test_a_folder_that_holds_anything_is_refused_and_left_as_it_is(episode: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    export_episode(episode, taken, find_world=found)
    before = pictures(taken)
    with pytest.raises(UsageError, match=r"taken: holds '000001\.png'; choose a new or empty folder"):
        export_episode(episode, taken, (100, 60), find_world=found)
    assert same(pictures(taken), before)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("file", "link"):
        with pytest.raises(UsageError, match="is a link or a file"):
            export_episode(episode, tmp_path / name, find_world=found)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_record_that_differs_leaves_no_pictures(episode: Path, tmp_path: Path) -> None:
    path = episode / "trajectory.jsonl"
    lines = path.read_text().splitlines()
    lines[7] = json.dumps(json.loads(lines[7]) | {"state_hash": "9999"})
    path.write_text("\n".join(lines) + "\n")
    replayed, count = export_episode(episode, tmp_path / "drawn", find_world=found)
    assert replayed.difference is not None and replayed.difference.step == 7
    assert count == 0
    assert [item.name for item in tmp_path.iterdir()] == ["run"]


def test_an_export_that_is_broken_off_leaves_nothing(episode: Path, tmp_path: Path) -> None:
    def stop(step: int) -> None:
        if step == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_episode(episode, tmp_path / "drawn", on_decision=stop, find_world=found)
    assert [item.name for item in tmp_path.iterdir()] == ["run"]


def test_two_exports_into_one_folder_do_not_mix(tmp_path: Path) -> None:
    black = np.zeros((4, 6, 3), dtype=np.uint8)
    with FrameFolder(tmp_path / "drawn") as frames:
        with pytest.raises(UsageError, match="is being written, or was left"):
            FrameFolder(tmp_path / "drawn")
        frames.add(black, 1, 2)
        frames.keep()
    assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == ["000001.png", "000002.png"]


def test_the_pictures_of_the_grid_are_maps_of_their_own_size(oresight: Any, tmp_path: Path) -> None:
    oresight("run", "grid", "--agent", "frontier", "--scenario", "low-small-0", "--out", tmp_path / "run")
    episode = tmp_path / "run/episodes/low-small-0"
    decisions = len((episode / "trajectory.jsonl").read_text().splitlines()) - 1
    ran: Ran = oresight("replay", episode, "--frames", tmp_path / "drawn")
    assert ran.code == 0
    assert f"{decisions + 1} pictures in {tmp_path / 'drawn'}" in ran.out
    drawn = pictures(tmp_path / "drawn")
    assert len(drawn) == decisions + 1
    assert not np.array_equal(drawn["000001.png"], drawn["000002.png"])
    ran = oresight("replay", episode, "--frames", tmp_path / "other", "--size", "64x48")
    assert ran.code == 2
    assert "the pictures of the grid have a size of their own" in ran.one_sentence()
    ran = oresight("replay", episode, "--size", "64x48")
    assert ran.code == 2
    assert "--size is of the pictures that --frames DIR writes" in ran.one_sentence()


@pytest.mark.gl
def test_the_pictures_of_an_episode_in_the_3d_world_are_those_of_its_run(oresight: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ("run", "craft", "--agent", "oracle", "--scenario", "outcrop-0", "--size", "64x48", "--frames", "all")
    assert oresight(*command, "--out", out).code == 0
    ran: Ran = oresight("replay", out / "episodes/outcrop-0", "--frames", tmp_path / "drawn")
    assert ran.code == 0, ran.err
    assert same(pictures(tmp_path / "drawn"), pictures(out / "episodes/outcrop-0/frames"))


@pytest.mark.gl
def test_the_pictures_of_a_session_are_those_that_an_agent_deciding_alike_sees(tmp_path: Path) -> None:
    names = ["move_forward", "look_right", "mine", "jump", "slot_2", "look_down", "wait", "move_left"]
    session = record(tmp_path / "me", "outcrop-0", names)
    replayed, count = export_session(session / "session.jsonl", tmp_path / "drawn", SMALL)
    assert (replayed.difference, count) == (None, len(names) + 1)
    with CraftEnv(get_scenario("outcrop-0"), width=SMALL[0], height=SMALL[1]) as env:
        seen = [env.reset().image, *(env.step(name).observation.image for name in names)]
    expected = {f"{number:06}.png": picture for number, picture in enumerate(seen, 1)}
    assert same(pictures(tmp_path / "drawn"), expected)


@pytest.mark.gl
def test_decisions_made_at_the_same_time_were_made_on_the_same_picture(oresight: Any, tmp_path: Path) -> None:
    session = record(tmp_path / "me", "outcrop-0", [WALK_AND_TURN] * 2, turn_based=False)
    groups = decisions_of(session / "session.jsonl")
    assert [[cut.action for cut in group] for group in groups] == [["move_forward", "look_right", "look_right"]] * 2
    ran: Ran = oresight("replay", session, "--frames", tmp_path / "drawn", "--size", "64x48")
    assert ran.code == 0, ran.err
    assert "7 pictures" in ran.out
    drawn = list(pictures(tmp_path / "drawn").values())
    alike = [[np.array_equal(one, other) for other in drawn] for one in drawn]
    assert alike == [[one // 3 == other // 3 for other in range(7)] for one in range(7)]


@pytest.mark.gl
def test_a_session_that_was_changed_leaves_no_pictures(oresight: Any, tmp_path: Path) -> None:
    session = record(tmp_path / "me", "outcrop-0", ["move_forward"] * 2)
    file = session / "session.jsonl"
    lines = file.read_text().splitlines()
    tick = json.loads(lines[30])
    tick["pose"]["feet"][0] += 0.5
    lines[30] = json.dumps(tick)
    file.write_text("\n".join(lines) + "\n")
    ran: Ran = oresight("replay", session, "--frames", tmp_path / "drawn", "--size", "64x48")
    assert ran.code == 1
    assert "outcrop-0: the replay differs: tick 30 differs in pose.feet[0]" in ran.out
    assert "No pictures are written." in ran.out
    assert [item.name for item in tmp_path.iterdir()] == ["me"]
