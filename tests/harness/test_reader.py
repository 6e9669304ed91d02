"""A run is opened by its folder; how each of its episodes stands is said once, and alike by every command."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.analysis.conditions import load_conditions
from oresight.harness.analysis.watch import Watch
from oresight.harness.errors import RecordError, UsageError
from oresight.harness.records.reader import State, open_episode, open_run, open_runs
from oresight.harness.records.requests import requests_of
from oresight.scoring.score import score_paths
from support.report_stage import play_model, play_study

NAMES = tuple(f"low-small-{number}" for number in range(3))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_study(tmp_path_factory.mktemp("reader") / "study", "grid", ["frontier"], NAMES)


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    (run,) = (item for item in played.iterdir() if item.is_dir())
    return Path(shutil.copytree(run, tmp_path / "run"))


def change(file: Path, **fields: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def cut(file: Path, lines: int) -> None:
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:lines]))


def test_a_run_gives_its_episodes_as_they_were_planned(folder: Path) -> None:
    run = open_run(folder)
    assert [(each.name, each.state, each.problem) for each in run.episodes] == [
        (name, State.FINISHED, None) for name in NAMES
    ]
    first = run.episode("low-small-0")
    assert first.result is not None
    assert [line.step for line in first.decisions()] == list(range(1, first.result.steps + 1))
    assert (first.header.agent, first.replies(), first.frames) == ("frontier", (), {})
    with pytest.raises(UsageError, match="has no episode 'x'; planned are low-small-0"):
        run.episode("x")


def test_a_study_is_opened_as_its_runs(played: Path) -> None:
    (run,) = open_runs(played)
    assert (run.label, len(run.episodes)) == ("frontier, raw", 3)


FAULTS: dict[str, tuple[Callable[[Path], object], State, str]] = {
    "never begun": (shutil.rmtree, State.MISSING, "is missing; rerun the same command"),
    "no result": (lambda at: (at / "result.json").unlink(), State.INCOMPLETE, "result.json is missing"),
    "torn result": (lambda at: (at / "result.json").write_text('{"a'), State.UNREADABLE, "truncated"),
    "torn header": (lambda at: cut(at / "trajectory.jsonl", 0), State.UNREADABLE, "found nothing"),
    "another's result": (
        lambda at: change(at / "result.json", id="low-small-1"),
        State.CONTRADICTORY,
        "is the result of 'low-small-1'",
    ),
    "lines are missing": (
        lambda at: cut(at / "trajectory.jsonl", 3),
        State.CONTRADICTORY,
        "decisions, and trajectory.jsonl holds 2; rerun",
    ),
    "no trajectory": (lambda at: (at / "trajectory.jsonl").unlink(), State.CONTRADICTORY, "there is no trajectory"),
    "another agent": (
        lambda at: change(at / "result.json", agent="random"),
        State.CONTRADICTORY,
        "says agent 'random', and the header of trajectory.jsonl says 'frontier'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_said_alike_by_every_command(folder: Path, fault: str) -> None:
    break_it, state, words = FAULTS[fault]
    break_it(folder / "episodes/low-small-0")
    episode = open_run(folder).episodes[0]
    assert episode.state is state
    assert episode.problem is not None and words in episode.problem
    wanted = {"missing": 0, "incomplete": 0, "unreadable": 0, "scored": 2}
    wanted["unreadable" if episode.is_faulty else str(state)] = 1
    (side,) = load_conditions([folder])
    for counts in (score_paths([folder]).counts, side.summary.counts):
        assert {name: getattr(counts, name) for name in wanted} == wanted
    assert side.summary.rows()[0]["outcome"] == str(state)
    (watched,) = Watch(folder).look().conditions
    assert (watched.finished, len(watched.begun), watched.unreadable) == (2, wanted["incomplete"], wanted["unreadable"])


def test_a_success_that_the_facts_do_not_bear_out_is_no_result(folder: Path) -> None:
    at = folder / "episodes/low-small-0"
    cut(at / "trajectory.jsonl", 3)
    change(at / "result.json", steps=2)
    report = score_paths([folder])
    assert (report.counts.scored, report.counts.unreadable) == (2, 1)
    assert "expected what result.json says, 'success'" in report.problems[0]


def test_a_result_is_read_once_and_again_when_it_has_changed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_run(folder)
    again = run.again()
    assert [a.result is b.result for a, b in zip(run.episodes, again.episodes, strict=True)] == [True] * 3
    (folder / "episodes/low-small-1/result.json").unlink()
    assert [each.state for each in again.again().episodes] == [State.FINISHED, State.INCOMPLETE, State.FINISHED]


def test_a_torn_last_line_is_left_out(folder: Path) -> None:
    with (folder / "episodes/low-small-0/trajectory.jsonl").open("a") as stream:
        stream.write('{"step": 99, "act')
    episode = open_run(folder).episodes[0]
    assert episode.result is not None
    assert (episode.state, len(list(episode.decisions()))) == (State.FINISHED, episode.result.steps)


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    at = folder / "episodes/low-small-0"
    at.rename(tmp_path / "elsewhere")
    at.symlink_to(tmp_path / "elsewhere")
    episode = open_run(folder).episodes[0]
    assert episode.state is State.UNREADABLE and "never followed" in str(episode.problem)
    with pytest.raises(RecordError, match="never followed"):
        list(episode.decisions())


def test_a_folder_without_a_run_or_an_episode_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no run\.json; name the folder of a run"):
        open_run(tmp_path)
    with pytest.raises(RecordError, match=r"holds no trajectory\.jsonl; name an episode's folder"):
        open_episode(tmp_path)


def test_every_request_that_a_model_saw_can_be_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = play_model(tmp_path / "run", ['{"action": "up"}'] * 4)

    from oresight import open_run

    for episode in open_run(path).episodes:
        for step, messages in enumerate(requests_of(episode), 1):
            print(f"--- {episode.name}, request {step}")
            for message in messages:
                for part in message.parts:
                    print(f"{message.role}: {getattr(part, 'text', '(a picture)')}")

    printed = capsys.readouterr().out
    steps = len(list(open_run(path).episodes[0].decisions()))
    assert printed.count("--- low-small-0, request ") == steps >= 1
    assert printed.count("system: ") == steps
