"""Following a run by what is on disk: while it is played, after it was killed, when it goes on, whatever it says."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from oresight.harness import files
from oresight.harness.analysis.tail import Tail
from oresight.harness.analysis.watch import Begun, Condition, Look, State, Watch
from oresight.harness.cli import watch as command
from oresight.harness.errors import OresightError, Outcome, RecordError, UsageError
from oresight.harness.models.base import Reply, Usage
from oresight.harness.protocols import Decision
from oresight.harness.records import folder as run_folder
from oresight.harness.running.runner import RunPlan, run
from support.fake_world import corridor
from support.places import ROOT
from support.run_stage import MODEL, fake_model, lines, model_plan, saying

__all__ = ["fake_model"]

HOSTILE = "\x1b[2J\u202e[red]boo[/red]\nnext"
SLOW_AGENT = """
import asyncio
from oresight.harness.protocols import Decision

class Slow:
    def __init__(self, setup):
        self.seed = setup.seed

    async def act(self, messages, step, actions):
        await asyncio.sleep(0.02)
        return Decision(sorted(actions)[(step * 7 + self.seed) % len(actions)], f"said {step}")
"""


class Walker:
    """Walks to the ore, and lets a test look in before each decision."""

    def __init__(self, peek: Callable[[int], None] = lambda step: None, said: str = "on") -> None:
        self._peek = peek
        self._said = said

    async def act(self, messages: Any, step: int, actions: Any) -> Decision:
        self._peek(step)
        return Decision("move_forward", self._said)


def plan(*numbers: int, agent: str = "spinner", **options: Any) -> RunPlan:
    return RunPlan(agent, "raw", tuple(corridor(f"corridor-{number}") for number in numbers), size=None, **options)


def walking(*numbers: int, peek: Callable[[int], None] = lambda step: None, said: str = "on") -> RunPlan:
    return plan(*numbers, agent="walker", make_agent=lambda setup: Walker(peek, said))


def episode(out: Path, number: int = 0) -> Path:
    return out / run_folder.EPISODES_NAME / f"corridor-{number}"


def one(look: Look) -> Condition:
    (condition,) = look.conditions
    return condition


def only(condition: Condition) -> Begun:
    (begun,) = condition.begun
    return begun


def interrupted(out: Path, steps: int = 3, *numbers: int, said: str = "on") -> None:
    """Leaves a run whose first episode was broken off after so many decisions."""

    def stop(step: int) -> None:
        if step > steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(walking(*(numbers or (0,)), peek=stop, said=said), out)


# --- the lines of a growing file -------------------------------------------------------------------------------------


class Reader:
    """What a reader has of a file, and how often it had to forget it."""

    def __init__(self, path: Path) -> None:
        self.tail = Tail(path)
        self.have: list[bytes] = []
        self.forgot = 0

    def forget(self) -> None:
        self.have.clear()
        self.forgot += 1

    def look(self) -> list[bytes]:
        self.have += list(self.tail.lines(self.forget))
        return self.have


def test_a_torn_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    reader = Reader(path)
    assert reader.look() == []
    path.write_bytes(b"one\ntw")
    assert reader.look() == [b"one\n"]
    path.write_bytes(b"one\ntwo\n")
    assert reader.look() == [b"one\n", b"two\n"]
    assert reader.forgot == 0


def test_a_torn_end_that_is_cut_and_written_otherwise_is_read_as_it_is_then(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntorn, and long")
    reader = Reader(path)
    reader.look()
    with path.open("r+b") as stream:
        stream.truncate(4)
        stream.seek(0, os.SEEK_END)
        stream.write(b"2\n")
    assert reader.look() == [b"one\n", b"2\n"]
    assert reader.forgot == 0


@pytest.mark.parametrize("content", [b"", b"one\n", b"one\nTWO, and longer than before\nthree\n"])
def test_a_file_that_was_cut_into_what_was_read_is_read_again(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\n")
    reader = Reader(path)
    reader.look()
    with path.open("r+b") as stream:
        stream.truncate(0)
        stream.write(content)
    assert reader.look() == content.splitlines(keepends=True)
    assert reader.forgot == 1


def test_another_file_in_its_place_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")
    reader = Reader(path)
    reader.look()
    path.unlink()
    assert reader.look() == []
    (tmp_path / "other").write_bytes(b"one\nand more\n")
    (tmp_path / "other").rename(path)
    assert reader.look() == [b"one\n", b"and more\n"]


def test_a_line_longer_than_any_record_is_left_out_and_what_follows_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oresight.harness.analysis.tail.LINE_BYTES_MAX", 10)
    path = tmp_path / "lines"
    path.write_bytes(b"x" * 35)
    reader = Reader(path)
    assert reader.look() == []
    with path.open("ab") as stream:
        stream.write(b"x" * 9 + b"\nshort\n")
    assert reader.look() == [b"short\n"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"one\n")
    (tmp_path / "lines").symlink_to(tmp_path / "secret")
    assert Reader(tmp_path / "lines").look() == []


# --- a run that is played --------------------------------------------------------------------------------------------


def test_a_run_is_seen_while_it_is_played(tmp_path: Path) -> None:
    looks: list[Look] = []
    watching = Watch(tmp_path / "run")
    run(walking(0, 1, peek=lambda step: looks.append(watching.look())), tmp_path / "run")
    assert {look.state for look in looks} == {State.GOING}
    seen = [(one(look).finished, only(one(look)).id, only(one(look)).steps) for look in looks]
    assert seen == [(0, "corridor-0", n) for n in range(5)] + [(1, "corridor-1", n) for n in range(5)]
    begun = only(one(looks[3]))
    assert (begun.action, begun.outcome, begun.said, begun.budget) == ("move_forward", "You moved.", "on", 20)
    last = watching.look()
    assert (last.state, one(last).finished, one(last).successes, one(last).steps) == (State.COMPLETE, 2, 2, 10)


def test_the_figures_are_those_of_the_summary(tmp_path: Path) -> None:
    summary = run(plan(0, 1, 2, agent="random"), tmp_path)
    found = one(Watch(tmp_path).look())
    pooled = summary.pooled()
    for reading in ("lenient", "strict"):
        for kind in ("exploration", "exploitation"):
            assert found.tallies[reading].counts(kind) == pooled.error(kind, reading).counts
    assert found.success == pooled.success
    assert (found.label, found.kind, found.steps) == ("random, raw", "craft", pooled.decisions)


def test_a_world_with_one_reading_is_told_in_one(tmp_path: Path, oresight: Any) -> None:
    oresight("run", "grid", "--agent", "frontier", "--scenario", "low-small-0", "--out", tmp_path / "run")
    assert list(one(Watch(tmp_path / "run").look()).tallies) == ["lenient"]


def test_what_a_model_has_cost_so_far_is_told_of_episodes_under_way_too(tmp_path: Path, fake_model: Any) -> None:
    watching = Watch(tmp_path)
    looks: list[Look] = []

    def answer(request: Any) -> Reply:
        looks.append(watching.look())
        return Reply(saying("move_forward"), usage=Usage(1000, 100))

    fake_model(answer)
    summary = run(model_plan("corridor-0", "corridor-1"), tmp_path)
    seen = one(looks[7]).usage
    assert (seen.input_tokens, seen.output_tokens) == (7000, 700)
    assert seen.cost == pytest.approx(7 * 0.0012)
    last, told = one(watching.look()).usage, summary.usage()
    assert told is not None
    assert (last.input_tokens, last.output_tokens) == (told["input_tokens"], told["output_tokens"])
    assert last.cost == pytest.approx(told["cost"])
    assert MODEL.price is not None


def test_a_reply_that_is_no_answer_is_told_before_it_is_acted_on(tmp_path: Path, fake_model: Any) -> None:
    watching = Watch(tmp_path)
    seen: list[Begun] = []

    def answer(request: Any) -> str:
        if request.number == 3:
            seen.append(only(one(watching.look())))
        return "I would rather not" if request.number == 2 else saying("move_forward", "well then")

    fake_model(answer)
    run(model_plan("corridor-0"), tmp_path)
    (begun,) = seen
    assert (begun.steps, begun.said) == (2, "I would rather not")
    assert begun.fault is not None


def test_decisions_a_minute_are_those_of_the_last_minute(tmp_path: Path) -> None:
    now = [0.0]
    watching = Watch(tmp_path, monotonic=lambda: now[0])
    paces: list[float | None] = []

    def peek(step: int) -> None:
        paces.append(one(watching.look()).pace)
        now[0] += 30.0

    run(walking(0, peek=peek), tmp_path)
    assert paces == [None, 2.0, 2.0, 2.0, 2.0]
    now[0] += 600.0
    watching.look()
    now[0] += 60.0
    assert one(watching.look()).pace == 0.0


def test_an_episode_that_broke_counts_as_broken_and_is_under_way_when_it_is_played_again(tmp_path: Path) -> None:
    worlds = (corridor("corridor-0", breaks_at=4),)
    run(RunPlan("walker", "raw", worlds, size=None, make_agent=lambda setup: Walker()), tmp_path)
    watching = Watch(tmp_path)
    broken = one(watching.look())
    assert (broken.finished, broken.broken, broken.begun, broken.steps) == (0, 1, (), 3)
    assert broken.last[0].result.outcome is Outcome.INFRASTRUCTURE
    seen: list[Condition] = []
    run(walking(0, peek=lambda step: seen.append(one(watching.look()))), tmp_path)
    assert [(each.broken, only(each).steps) for each in seen] == [(0, 3), (0, 4)]
    after = one(watching.look())
    assert (after.finished, after.broken, after.steps) == (1, 0, 5)


def test_nothing_is_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(plan(*range(6)), tmp_path)
    interrupted(tmp_path / "left", 4)
    read: list[str] = []
    opened = os.open

    def counted_open(path: Any, *more: Any) -> int:
        name = Path(path).name
        read.append(Path(path).parent.name if name == "result.json" else name)
        return opened(path, *more)

    monkeypatch.setattr(os, "open", counted_open)
    watches = [Watch(tmp_path), Watch(tmp_path / "left")]
    for watching in watches:
        watching.look()
    assert sorted(set(read) - {"run.json"}) == [f"corridor-{n}" for n in range(6)] + ["trajectory.jsonl"]
    read.clear()
    for watching in watches:
        for _ in range(3):
            watching.look()
    assert read == []


def test_an_episode_that_begins_after_the_folder_was_listed_is_found(tmp_path: Path) -> None:
    # The folder's time may not tell: two changes within a grain of the clock look like one.
    run(plan(0, 1), tmp_path)
    shutil.move(episode(tmp_path, 1), tmp_path / "aside")
    watching = Watch(tmp_path)
    assert one(watching.look()).finished == 1
    changed = (tmp_path / "episodes").stat()
    shutil.move(tmp_path / "aside", episode(tmp_path, 1))
    os.utime(tmp_path / "episodes", ns=(changed.st_atime_ns, changed.st_mtime_ns))
    assert one(watching.look()).finished == 2


def test_results_and_episodes_that_are_removed_are_taken_out_of_the_figures(tmp_path: Path) -> None:
    run(walking(0, 1, 2), tmp_path)
    watching = Watch(tmp_path)
    assert one(watching.look()).finished == 3
    (episode(tmp_path, 0) / "result.json").unlink()
    shutil.rmtree(episode(tmp_path, 1))
    found = one(watching.look())
    assert (found.finished, found.successes, only(found).id, found.steps) == (1, 1, "corridor-0", 10)
    assert found.tallies["lenient"].explore == (0, 5)
    assert [ended.id for ended in found.last] == ["corridor-2"]


@pytest.mark.parametrize("content", ["", '{"format": "ores', "[]", '{"format": "oresight.result", "version": 1}'])
def test_a_broken_result_is_none_and_is_noted_once_it_stands(tmp_path: Path, content: str) -> None:
    run(plan(0), tmp_path)
    (episode(tmp_path) / "result.json").write_text(content)
    watching = Watch(tmp_path)
    for _ in range(2):
        found = one(watching.look())
        assert (found.finished, found.unreadable, found.begun) == (0, 1, ())
        assert len(found.notes) == 1 and "result.json" in found.notes[0]


def test_the_result_of_another_episode_is_noted_and_does_not_count(tmp_path: Path) -> None:
    run(plan(0, 1), tmp_path)
    shutil.copy(episode(tmp_path, 1) / "result.json", episode(tmp_path, 0) / "result.json")
    found = one(Watch(tmp_path).look())
    assert found.finished == 1
    assert "is the result of 'corridor-1'" in found.notes[0] and found.unreadable == 1


def test_torn_and_damaged_records_tell_what_is_good_of_them(tmp_path: Path) -> None:
    interrupted(tmp_path, 4)
    path = episode(tmp_path) / "trajectory.jsonl"
    written = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*written[:3], b'{"step": "x"}', b"\xff", written[3], written[4][:20]]))
    (episode(tmp_path) / "replies.jsonl").write_bytes(b'nonsense\n{"reply": 3}\n{"reply": {}}\n')
    begun = only(one(Watch(tmp_path).look()))
    assert (begun.steps, begun.action, begun.said) == (3, "move_forward", "on")


def test_a_cost_or_a_count_that_is_none_counts_as_none(tmp_path: Path, fake_model: Any) -> None:
    def answer(request: Any) -> Reply:
        if request.number == 2:
            raise KeyboardInterrupt
        return Reply(saying("move_forward"), usage=Usage(1000, 100))

    fake_model(answer)
    with pytest.raises(KeyboardInterrupt):
        run(model_plan("corridor-0"), tmp_path)
    path = episode(tmp_path) / "trajectory.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"cost":0.0012', b'"cost":1' + b"0" * 400, 1))
    path.write_bytes(path.read_bytes().replace(b'"input_tokens":1000', b'"input_tokens":1' + b"0" * 400, 1))
    usage = one(Watch(tmp_path).look()).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost) == (1000, 200, None)


def test_links_in_the_place_of_records_are_not_followed(tmp_path: Path) -> None:
    run(walking(0, 1, 2), tmp_path / "run")
    shutil.move(episode(tmp_path / "run", 0), tmp_path / "aside")
    episode(tmp_path / "run", 0).symlink_to(tmp_path / "aside")
    shutil.move(episode(tmp_path / "run", 1) / "result.json", tmp_path / "result.json")
    (episode(tmp_path / "run", 1) / "result.json").symlink_to(tmp_path / "result.json")
    found = one(Watch(tmp_path / "run").look())
    assert (found.finished, found.unreadable, found.begun) == (1, 2, ())
    assert all("never followed" in note for note in found.notes)


# --- a folder that is not there yet, or holds something else ---------------------------------------------------------


def test_a_run_that_has_not_begun_is_waited_for(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "later"
    watching = Watch(out)
    assert watching.look().state is State.WAITING
    out.mkdir(parents=True)
    assert watching.look().state is State.WAITING
    lock = files.FolderLock(out)
    (out / ".run.json.tmp").write_text('{"form')
    assert watching.look().state is State.WAITING
    lock.close()
    run(plan(0), out)
    assert watching.look().state is State.COMPLETE


def test_a_removed_folder_is_told_and_a_new_run_in_its_place_is_another(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(plan(0, 1), out)
    watching = Watch(out)
    watching.look()
    shutil.rmtree(out)
    assert watching.look().state is State.GONE
    run(walking(3), out)
    found = one(watching.look())
    assert (found.label, found.planned, found.finished) == ("walker, raw", 1, 1)


def test_a_folder_with_other_things_and_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match=r"'letter\.txt'.*no run; name the folder"):
        Watch(tmp_path).look()
    with pytest.raises(UsageError, match="is a file; name the folder"):
        Watch(tmp_path / "letter.txt").look()


@pytest.mark.parametrize("change", [{"episodes": ["../../etc"]}, {"episodes": 3}, {"unheard": 1}])
def test_a_run_file_that_is_none_is_one_clear_error(tmp_path: Path, change: dict[str, Any]) -> None:
    run(plan(0), tmp_path)
    told = json.loads((tmp_path / "run.json").read_text())
    told["config"] |= change
    (tmp_path / "run.json").write_text(json.dumps(told))
    with pytest.raises(RecordError):
        Watch(tmp_path).look()


# --- who plays -------------------------------------------------------------------------------------------------------


def test_a_lock_is_seen_and_not_taken(tmp_path: Path) -> None:
    assert files.is_locked(tmp_path) is False
    lock = files.FolderLock(tmp_path)
    assert files.is_locked(tmp_path) is True
    lock.close()
    assert files.is_locked(tmp_path) is False
    files.FolderLock(tmp_path).close()


def test_looking_writes_nothing_and_leaves_the_lock_to_others(tmp_path: Path) -> None:
    interrupted(tmp_path, 3, 0, 1)
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    watching = Watch(tmp_path)
    watching.look()
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    lock = files.FolderLock(tmp_path)
    assert watching.look().state is State.GOING
    lock.close()
    assert watching.look().state is State.LEFT


def test_where_the_system_lists_no_locks_a_run_is_taken_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(tmp_path)
    monkeypatch.setattr(files, "is_locked", lambda folder: None)
    assert Watch(tmp_path).look().state is State.GOING


def test_a_process_that_begins_between_looking_for_it_and_reading_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(tmp_path)
    answers = iter([False, True])
    monkeypatch.setattr(files, "is_locked", lambda folder: next(answers))
    assert Watch(tmp_path).look().state is State.GOING


# --- the command -----------------------------------------------------------------------------------------------------


def test_once_prints_how_it_stands_and_what_is_left(tmp_path: Path, oresight: Any) -> None:
    interrupted(tmp_path, 3, 0, 1, 2)
    done = oresight("watch", tmp_path, "--once")
    assert done.code == 3
    printed = done.out.splitlines()
    assert printed[:2] == ["walker, raw", "  0 of 3 episodes finished, 0 broken, 1 incomplete, 2 missing"]
    assert printed[2] == "  3 decisions"
    assert printed[4] == "incomplete"
    assert printed[5].startswith("  corridor-0: decision 3 of 20, move_forward: You moved. (")
    assert printed[6] == "    said: on"
    assert printed[-1] == "Nobody is playing this run; rerun the same command to resume it."


def test_once_prints_both_readings_of_a_complete_run(tmp_path: Path, oresight: Any) -> None:
    run(walking(0, 1), tmp_path)
    done = oresight("watch", tmp_path, "--once")
    assert done.code == 0
    assert "  success 2/2 = 1.00 [0.34, 1.00]\n" in done.out
    assert "  exploration error lenient 0/10 = 0.00, strict 0/10 = 0.00\n" in done.out
    assert "  corridor-1: success after 5 of 20 decisions; exploration error 0/10 = 0.00" not in done.out
    assert "  corridor-1: success after 5 of 20 decisions; exploration error 0/5 = 0.00; " in done.out
    assert done.out.endswith("\n\nThe run is complete.\n")


def test_a_run_that_has_not_begun_is_said_so(tmp_path: Path, oresight: Any) -> None:
    done = oresight("watch", tmp_path / "later", "--once")
    assert (done.code, done.out) == (3, f"{tmp_path}/later: not begun yet; waiting for its run.json\n")


def test_what_agents_say_cannot_steer_the_terminal(tmp_path: Path, oresight: Any) -> None:
    interrupted(tmp_path, said=HOSTILE)
    assert lines(episode(tmp_path) / "trajectory.jsonl")[-1]["said"] == HOSTILE
    done = oresight("watch", tmp_path, "--once")
    assert "    said: \\x1b[2J\\u202e[red]boo[/red]\\nnext\n" in done.out


def test_what_stands_in_run_and_result_files_cannot_either(tmp_path: Path, oresight: Any) -> None:
    worlds = (corridor("corridor-0", breaks_at=2),)
    run(RunPlan(f"agent{HOSTILE}", "raw", worlds, size=None, make_agent=lambda setup: Walker()), tmp_path)
    path = episode(tmp_path) / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"reason": HOSTILE}))
    done = oresight("watch", tmp_path, "--once")
    assert "\x1b" not in done.out and "\u202e" not in done.out
    assert done.out.count("[red]boo[/red]\\nnext") == 2


def test_a_machine_is_told_in_json(tmp_path: Path, oresight: Any) -> None:
    interrupted(tmp_path, 3, 0, 1)
    done = oresight("watch", tmp_path, "--json")
    told = json.loads(done.out)
    (condition,) = told["conditions"]
    assert (done.code, told["format"], told["version"], told["state"]) == (3, "oresight.watch", 1, "left")
    assert (condition["planned"], condition["finished"], condition["usage"]) == (2, 0, None)
    (begun,) = condition["under_way"]
    assert (begun["episode"], begun["steps"], begun["budget"], begun["said"]) == ("corridor-0", 3, 20, "on")


def test_a_study_is_told_condition_by_condition(tmp_path: Path, oresight: Any) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'world = "grid"\nagents = ["frontier", "random", "depth-first"]\nscenarios = ["low-small-0", "low-small-1"]\n'
    )
    assert oresight("run", study, "--out", tmp_path / "study").code == 0
    done = oresight("watch", tmp_path / "study", "--once")
    assert done.code == 0
    found = Watch(tmp_path / "study").look()
    assert [each.label for each in found.conditions] == ["frontier, raw", "random, raw", "depth-first, raw"]
    assert [each.finished for each in found.conditions] == [2, 2, 2]
    assert "random, raw: 2 of 2 episodes finished, 0 broken, 0 under way, 0 missing\n" in done.out


def test_without_a_terminal_there_is_a_line_for_each_episode_that_ends(
    tmp_path: Path, oresight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    stages = iter([True, False])

    def play(seconds: float) -> None:
        if next(stages):
            interrupted(out, 3, 0, 1)
        else:
            run(walking(0, 1), out)

    monkeypatch.setattr(files, "is_locked", lambda folder: None)
    monkeypatch.setattr(time, "sleep", play)
    done = oresight("watch", out, "--interval", "5")
    printed = done.out.splitlines()
    assert done.code == 0
    assert printed[:2] == [f"{out}: not begun yet; waiting for its run.json", "The run has begun."]
    assert [line.split(" after")[0] for line in printed[2:4]] == ["corridor-0: success", "corridor-1: success"]
    assert printed[4:6] == ["walker, raw", "  2 of 2 episodes finished, 0 broken, 0 under way, 0 missing"]
    assert printed[-1] == "The run is complete."


def test_a_terminal_shows_what_goes_on_and_fits_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"
    interrupted(out, 3, 0, 1)
    answers = iter([True] * 3 + [False] * 9)
    monkeypatch.setattr(files, "is_locked", lambda folder: next(answers))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    stream = io.StringIO()
    console = Console(
        file=stream, force_terminal=True, width=60, height=5, highlight=False, _environ={"TERM": "xterm-256color"}
    )
    look = command._follow_live(console, Watch(out), out, 1.0)
    assert look.state is State.LEFT
    shown = stream.getvalue()
    assert "walker, raw\n  0 of 2 episodes finished, 0 broken, 1 under way, 1 missing\n  3 decisions" in shown
    assert "\n… 6 more lines; --once prints all" in shown
    # At the end everything is printed, however high the terminal is.
    assert "    said: on\n\nNobody is playing this run; rerun the same command to resume\nit.\n" in shown


def test_a_folder_that_is_removed_ends_the_command_in_one_sentence(
    tmp_path: Path, oresight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    interrupted(out)
    monkeypatch.setattr(files, "is_locked", lambda folder: True)
    monkeypatch.setattr(time, "sleep", lambda seconds: shutil.rmtree(out))
    done = oresight("watch", out)
    assert done.code == 1
    assert done.one_sentence() == f"oresight: {out}: the run was removed while it was watched"


def test_a_wrong_folder_is_one_sentence(tmp_path: Path, oresight: Any) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    done = oresight("watch", tmp_path)
    assert done.code == 2
    assert "no run; name the folder of a run or of a study" in done.one_sentence()


# --- other processes -------------------------------------------------------------------------------------------------


class Player:
    """A run in a process of its own, of an agent that takes its time."""

    def __init__(self, folder: Path) -> None:
        (folder / "unhurried.py").write_text(SLOW_AGENT)
        self.out = folder / "run"
        self._environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "oresight.harness.cli.main", *map(str, arguments)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self._environment
        )

    def play(self) -> subprocess.Popen[str]:
        return self.start("run", "grid", "--agent", "unhurried:Slow", "--scenario", "low-small-0", "--out", self.out)


def until(watching: Watch, reached: Callable[[Look], bool]) -> Look:
    """Looks again and again; the number of looks is bounded by time alone."""
    end = time.monotonic() + 60
    while not reached(look := watching.look()):
        assert time.monotonic() < end, look
        time.sleep(0.02)
    return look


def test_a_run_is_followed_until_it_is_killed_and_again_when_it_goes_on(tmp_path: Path) -> None:
    player = Player(tmp_path)
    watching = Watch(player.out)
    assert watching.look().state is State.WAITING
    process = player.play()
    seen = until(watching, lambda look: any(c.begun and c.begun[0].steps >= 3 for c in look.conditions))
    assert seen.state is State.GOING
    assert only(one(seen)).said == f"said {only(one(seen)).steps}"
    process.kill()
    process.communicate()
    left = watching.look()
    assert left.state is State.LEFT
    steps = only(one(left)).steps
    # What a crash tears is cut by who goes on.
    with (episode_of(player) / "trajectory.jsonl").open("ab") as stream:
        stream.write(b'{"step": 99, "act')
    assert only(one(watching.look())).steps == steps
    process = player.play()
    until(watching, lambda look: look.state is State.GOING)
    done = until(watching, lambda look: look.state is not State.GOING)
    out, _ = process.communicate()
    assert done.state is State.COMPLETE
    summary = json.loads((player.out / "summary.json").read_text())
    assert one(done).steps == summary["episodes"][0]["steps"] > steps
    told = summary["pooled"]["exploration_error"]
    assert one(done).tallies["lenient"].explore == (told["numerator"], told["denominator"])
    assert "1 of 1 episodes scored" in out


def episode_of(player: Player) -> Path:
    return player.out / run_folder.EPISODES_NAME / "low-small-0"


def test_an_interrupt_ends_watching_quietly(tmp_path: Path) -> None:
    player = Player(tmp_path)
    process = player.start("watch", player.out, "--interval", "0.1")
    assert process.stdout is not None
    assert "not begun yet" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")


def test_errors_are_errors_of_the_project(tmp_path: Path) -> None:
    run(plan(0), tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(OresightError, match=r"run\.json"):
        Watch(tmp_path).look()
