"""Replay and film: record and world agree, or the first place where they part is named."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oresight.harness.agents import AgentSetup
from oresight.harness.agents.baselines import Oracle
from oresight.harness.errors import RecordError, ReplayRefusedError
from oresight.harness.film.film import film
from oresight.harness.film.video import PANEL_WIDTH_PX, Panel, VideoWriter, draw_panel
from oresight.harness.running.replay import Difference, first_difference, replay
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds import world_of_header
from oresight.scoring.records import Header
from support.fake_world import Corridor, corridor


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """A recorded episode in a corridor."""
    ways = ["look_right", "wait", "move_forward", "move_backward"] * 5
    agent = Oracle(AgentSetup(0, (), lambda: ways))
    run(RunPlan("script", "raw", (corridor(),), size=(64, 48), make_agent=lambda setup: agent), tmp_path / "run")
    return tmp_path / "run/episodes/corridor-0"


def change(episode: Path, line: int, edit: Any) -> None:
    path = episode / "trajectory.jsonl"
    lines = [json.loads(text) for text in path.read_text().split("\n")[:-1]]
    edit(lines[line])
    path.write_text("".join(json.dumps(value) + "\n" for value in lines))


def found(header: Header) -> Any:
    return corridor()


def test_an_untouched_record_replays_without_a_difference(episode: Path) -> None:
    replayed = replay(episode, find_world=found)
    assert (replayed.decisions, replayed.difference, replayed.torn) == (20, None, False)
    assert replay(episode / "trajectory.jsonl", find_world=found) == replayed


@pytest.mark.parametrize(
    "line, edit, expected",
    [
        (0, lambda value: value["start"].update(state_hash="x"), Difference(0, "state_hash", "x", "0000")),
        (0, lambda value: value["start"]["facts"].update(place=1), Difference(0, "facts.place", 1, 0)),
        (3, lambda value: value.update(state_hash="9999"), Difference(3, "state_hash", "9999", "0001")),
        (3, lambda value: value["facts"].update(place=7), Difference(3, "facts.place", 7, 1)),
        (3, lambda value: value["facts"].update(more=1), Difference(3, "facts.more", 1, "nothing")),
        (3, lambda value: value["facts"].pop("place"), Difference(3, "facts.place", "nothing", 1)),
        (3, lambda value: value.update(outcome="You flew."), Difference(3, "outcome", "You flew.", "You moved.")),
        (3, lambda value: value.update(observation="x"), Difference(3, "observation", "x", "Step 2.")),
        (3, lambda value: value.update(action="fly"), Difference(3, "action", "fly", "an action of this world")),
    ],
)
def test_the_first_difference_is_named_by_decision_and_field(
    episode: Path, line: int, edit: Any, expected: Difference
) -> None:
    change(episode, line, edit)
    assert replay(episode, find_world=found).difference == expected


def test_another_version_may_use_other_words_but_no_other_facts(episode: Path) -> None:
    change(episode, 0, lambda value: value["versions"].update(oresight="0.0.9"))
    change(episode, 3, lambda value: value.update(outcome="You went."))
    assert replay(episode, find_world=found).difference is None
    change(episode, 3, lambda value: value["facts"].update(place=7))
    assert replay(episode, find_world=found).difference == Difference(3, "facts.place", 7, 1)


def test_another_action_shows_in_the_state(episode: Path) -> None:
    change(episode, 3, lambda value: value.update(action="wait"))
    difference = replay(episode, find_world=found).difference
    assert difference is not None
    assert difference.sentence() == 'decision 3 differs in state_hash: recorded "0001", replayed "0000"'


def test_values_that_python_calls_equal_are_not_the_same_in_a_record() -> None:
    assert first_difference({"a": [1, 2]}, {"a": [1, 2]}) is None
    assert first_difference({"a": [1, {"b": 2.0}]}, {"a": [1, {"b": 2}]}) == ("a[1].b", 2.0, 2)
    assert first_difference([True], [1]) == ("[0]", True, 1)
    assert first_difference([1], [1, 2]) == (" (its length)", 1, 2)


def test_a_torn_last_line_is_left_out_and_said(episode: Path) -> None:
    path = episode / "trajectory.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    replayed = replay(episode, find_world=found)
    assert (replayed.decisions, replayed.difference, replayed.torn) == (19, None, True)


def test_a_decision_after_the_end_is_a_difference(tmp_path: Path) -> None:
    run(RunPlan("stuck", "raw", (corridor(),), size=(64, 48)), tmp_path / "run")
    episode = tmp_path / "run/episodes/corridor-0"
    path = episode / "trajectory.jsonl"
    last = json.loads(path.read_text().split("\n")[-2]) | {"step": 6}
    path.write_text(path.read_text() + json.dumps(last) + "\n")
    difference = replay(episode, find_world=found).difference
    assert difference is not None
    assert (difference.step, difference.replayed) == (6, "the end of the episode")


def test_a_folder_without_a_trajectory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="name an episode's folder"):
        replay(tmp_path)


def test_another_terrain_is_refused_in_one_sentence(episode: Path) -> None:
    change(episode, 0, lambda value: value["versions"].update(terrain=999))
    with pytest.raises(ReplayRefusedError, match="terrain version 999"):
        replay(episode, find_world=world_of_header)


def test_a_film_plays_in_a_browser_and_shows_every_decision(episode: Path, tmp_path: Path) -> None:
    import av

    filmed: list[int] = []
    film(episode, tmp_path / "film.mp4", filmed.append, find_world=found)
    assert filmed == list(range(1, 21))
    content = (tmp_path / "film.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat"), "the index must come first for a browser to start at once"
    with av.open(str(tmp_path / "film.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height) == (640 + PANEL_WIDTH_PX, 480)
        assert float(stream.duration * stream.time_base) == pytest.approx(1.5 + 20 * 0.5 + 3.0, abs=0.2)
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


def test_a_film_that_cannot_be_finished_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="stop"), VideoWriter(tmp_path / "film.mp4", 10) as writer:
        writer.add(np.zeros((49, 65, 3), dtype=np.uint8))
        raise RuntimeError("stop")
    assert list(tmp_path.iterdir()) == []


def test_a_panel_has_the_height_of_its_picture_and_survives_any_text() -> None:
    panel = Panel("\u202e\x1b" + "x" * 500, 3, 100, "move_forward", "a very long outcome " * 50, closing="y" * 300)
    for height in (48, 480, 1080):
        assert draw_panel(panel, height).shape == (height, PANEL_WIDTH_PX, 3)


def test_corridors_close() -> None:
    world = Corridor(None)
    world.close()
    assert world.closed
