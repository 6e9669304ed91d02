"""A run that was broken off goes on: nothing that is recorded is asked again, and the end is the same."""

import json
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.errors import ContextTooLongError, InfrastructureError, RunStoppedError
from oresight.harness.models.base import FinishReason, Reply, Usage
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.protocols import ContextBudget
from oresight.harness.records import resume
from oresight.harness.running.runner import run
from support.fake_world import BUDGET
from support.run_stage import ODD, Killing, fake_model, last_step, lines, model_plan, saying, shown, summary

__all__ = ["fake_model"]

LOOKS = 9


def walking(request: Any) -> str:
    """Looks about for nine decisions, then walks to the ore."""
    return saying("look_right" if last_step(request) < LOOKS else "move_forward")


def trajectory(out: Path, name: str = "corridor-0") -> Path:
    return out / "episodes" / name / "trajectory.jsonl"


def replies(out: Path, name: str = "corridor-0") -> Path:
    return out / "episodes" / name / "replies.jsonl"


def broken_off(model: Any, out: Path, at: int, **options: Any) -> None:
    model.dies_at = at
    with pytest.raises(KeyboardInterrupt):
        run(model_plan(**options), out)


def test_a_run_that_is_interrupted_goes_on_and_nothing_is_asked_twice(tmp_path: Path, fake_model: Any) -> None:
    model = fake_model(walking)
    run(model_plan(memory="screenshots:3"), tmp_path / "whole")
    whole = [shown(request) for request in model.asked]
    model.asked.clear()
    broken_off(model, tmp_path / "parts", 7, memory="screenshots:3")
    broken_off(model, tmp_path / "parts", 11, memory="screenshots:3")
    run(model_plan(memory="screenshots:3"), tmp_path / "parts")
    # Every request is the very one of the undisturbed run: history, pictures, captions, number.
    assert [shown(request) for request in model.asked] == whole
    assert summary(tmp_path / "parts") == summary(tmp_path / "whole")
    for name in ("trajectory.jsonl", "replies.jsonl"):
        one, other = (tmp_path / part / "episodes/corridor-0" / name for part in ("whole", "parts"))
        assert one.read_bytes() == other.read_bytes()
    frames = [sorted((tmp_path / part / "episodes/corridor-0/frames").iterdir()) for part in ("whole", "parts")]
    assert [path.read_bytes() for path in frames[0]] == [path.read_bytes() for path in frames[1]]
    assert len(frames[1]) == LOOKS + 5 + 1


def cut_in_line(content: bytes) -> bytes:
    return content[: len(content) - 20]


def cut_in_character(content: bytes) -> bytes:
    # As a writer that does not escape would have left it.
    return content[:-20] + "\U0001f600".encode()[:2]


def cut_newline(content: bytes) -> bytes:
    return content[:-1]


def nuls(content: bytes) -> bytes:
    return content + b"\0" * 4096


def glued(content: bytes) -> bytes:
    return content + content[-30:]


@pytest.mark.parametrize("tear", [cut_in_line, cut_in_character, cut_newline, nuls, glued])
@pytest.mark.parametrize("torn_file", ["trajectory.jsonl", "replies.jsonl"])
def test_a_torn_tail_is_cut_and_a_second_crash_survived(
    tmp_path: Path, fake_model: Any, tear: Callable[[bytes], bytes], torn_file: str
) -> None:
    model = fake_model(walking)
    broken_off(model, tmp_path, 6)
    episode = tmp_path / "episodes/corridor-0"
    (episode / torn_file).write_bytes(tear((episode / torn_file).read_bytes()))
    (episode / "result.json").write_text("")
    (episode / ".result.json.tmp").write_text("{")
    broken_off(model, tmp_path, 9)
    assert run(model_plan(), tmp_path).complete
    read = lines(trajectory(tmp_path))
    assert [line["step"] for line in read[1:]] == list(range(1, LOOKS + 6))
    assert all(json.loads(line["said"])["reason"] == ODD for line in read[1:])
    # A reply that was lost from its own file is asked for again only if it was not acted on.
    assert len(model.asked) == LOOKS + 5
    assert json.loads((episode / "result.json").read_text())["outcome"] == "success"


def test_a_reply_that_was_recorded_and_not_executed_is_executed_without_asking(tmp_path: Path, fake_model: Any) -> None:
    model = fake_model(walking)
    broken_off(model, tmp_path, 6)
    path = trajectory(tmp_path)
    path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:3]) + b"\n")
    asked = len(model.asked)
    assert run(model_plan(), tmp_path).complete
    assert len(model.asked) - asked == LOOKS + 5 - 6
    path.unlink()
    (tmp_path / "episodes/corridor-0/result.json").unlink()
    assert run(model_plan(), tmp_path).complete
    assert len(model.asked) - asked == LOOKS + 5 - 6
    assert len(lines(path)) == 1 + LOOKS + 5


def test_damage_that_no_crash_makes_is_told_and_nothing_is_cut(tmp_path: Path, fake_model: Any) -> None:
    model = fake_model(walking)
    broken_off(model, tmp_path, 6)
    path = trajectory(tmp_path)
    damaged = path.read_bytes().replace(b'{"step":3,', b'{"step":3;', 1)
    path.write_bytes(damaged)
    result = run(model_plan(), tmp_path).results[0]
    assert str(result.outcome) == "infrastructure error"
    assert result.reason is not None and "line 4 is damaged" in result.reason
    assert path.read_bytes() == damaged


def test_a_record_that_the_world_does_not_bear_out_is_not_gone_on_with(tmp_path: Path, fake_model: Any) -> None:
    model = fake_model(walking)
    broken_off(model, tmp_path, 6)
    path = trajectory(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"state_hash":"0000"', b'"state_hash":"0007"'))
    result = run(model_plan(), tmp_path).results[0]
    assert result.reason is not None and "the start differs in start.state_hash" in result.reason
    assert len(model.asked) == 6


def test_reasks_are_recorded_and_not_asked_again(tmp_path: Path, fake_model: Any) -> None:
    model = fake_model(lambda request: "hm" if request.number % 3 else walking(request))
    run(model_plan(), tmp_path / "whole")
    whole = [shown(request) for request in model.asked]
    for kill in range(1, 8):
        model.asked.clear()
        out = tmp_path / f"parts-{kill}"
        broken_off(model, out, kill)
        run(model_plan(), out)
        assert [shown(request) for request in model.asked] == whole
        assert summary(out) == summary(tmp_path / "whole")


def test_an_episode_that_the_model_ended_just_before_the_crash_ends_so_without_a_request(
    tmp_path: Path, fake_model: Any
) -> None:
    model = fake_model(lambda request: "hm")
    result = run(model_plan(), tmp_path).results[0]
    assert (str(result.outcome), len(model.asked)) == ("failure: agent ended the episode", 4)
    (tmp_path / "episodes/corridor-0/result.json").unlink()
    again = run(model_plan(), tmp_path).results[0]
    assert (again.outcome, again.reason, again.usage) == (result.outcome, result.reason, result.usage)
    assert len(model.asked) == 4


def test_what_is_sent_shrinks_as_it_did_before_the_crash(tmp_path: Path, fake_model: Any) -> None:
    def choosy(request: Any) -> str:
        if len(request.messages[-1].images) > 3:
            raise ContextTooLongError("too long")
        return walking(request)

    model = fake_model(choosy)
    run(model_plan(memory="screenshots:8"), tmp_path / "whole")
    whole = [shown(request) for request in model.asked]
    # The request that was too long is counted too.
    assert len(whole) == LOOKS + 5 + 1
    for kill in (3, 5, 9):
        model.asked.clear()
        broken_off(model, tmp_path / f"parts-{kill}", kill, memory="screenshots:8")
        run(model_plan(memory="screenshots:8"), tmp_path / f"parts-{kill}")
        asked = [shown(request) for request in model.asked]
        assert [each for number, each in enumerate(asked) if each not in asked[:number]] == whole
        assert len(asked) - len(whole) <= 1


def test_an_episode_that_the_provider_broke_is_gone_on_with(tmp_path: Path, fake_model: Any) -> None:
    down = True

    def failing(request: Any) -> str:
        if down and last_step(request) == 4:
            raise InfrastructureError("status 500 for ever")
        return walking(request)

    model = fake_model(failing)
    result = run(model_plan(), tmp_path).results[0]
    assert (str(result.outcome), result.steps) == ("infrastructure error", 4)
    down = False
    assert run(model_plan(), tmp_path).complete
    # The one that failed is asked once more, and no other.
    assert len(model.asked) == LOOKS + 5 + 1


def test_a_provider_that_will_not_serve_stops_the_run_and_the_same_command_goes_on(
    tmp_path: Path, fake_model: Any
) -> None:
    serving = False

    def refusing(request: Any) -> str:
        if not serving and last_step(request) == 4:
            raise RunStoppedError("no such key (status 401)")
        return walking(request)

    model = fake_model(refusing)
    with pytest.raises(RunStoppedError, match="no such key"):
        run(model_plan("corridor-0", "corridor-1"), tmp_path)
    counts = json.loads((tmp_path / "summary.json").read_text())["counts"]
    assert (counts["scored"], counts["infrastructure"], counts["incomplete"], counts["missing"]) == (0, 0, 1, 1)
    serving = True
    assert run(model_plan("corridor-0", "corridor-1"), tmp_path).complete
    assert len(model.asked) == 2 * (LOOKS + 5) + 1


def test_records_of_replies_come_back_as_they_were(tmp_path: Path) -> None:
    told = Reply("half \ud800 " + ODD, FinishReason.LENGTH, Usage(1, 2, 3, 4, 5, True), "note", True, 0.5, 2, 1)
    record = ReplyRecord(3, 1, 7, told, "allowance exhausted")
    from oresight.harness.records.folder import EpisodeFolder

    folder = EpisodeFolder(tmp_path / "e", "none")
    folder.reply(record.to_json())
    folder.reply(resume.Shrunk(4, ContextBudget(10, 2)).to_json())
    kept = folder.kept()[1]
    folder.close()
    assert kept.replies == (record,)
    assert kept.shrunk == resume.Shrunk(4, ContextBudget(10, 2))
    assert kept.size == (tmp_path / "e/replies.jsonl").stat().st_size


# --- with real processes and real kills ---


def test_kill_9_loses_at_most_the_request_in_flight(tmp_path: Path) -> None:
    killing = Killing()
    with killing.server:
        scenario = ("--scenario", "low-small-1", "--memory", "list")
        assert killing.run(tmp_path / "whole", *scenario) == 0
        whole = killing.tally
        killing.server.heard.clear()
        killing.kill_at = {5}
        assert killing.run(tmp_path / "parts", *scenario) == -signal.SIGKILL
        killing.kill_at = {9}
        assert killing.run(tmp_path / "parts", *scenario) == -signal.SIGKILL
        killing.kill_at = set()
        assert killing.run(tmp_path / "parts", *scenario) == 0
        assert set(killing.tally) == set(whole)
        assert killing.tally.total() - whole.total() == 2
    assert summary(tmp_path / "parts") == summary(tmp_path / "whole")
    read = lines(trajectory(tmp_path / "parts", "low-small-1"))
    assert [line["step"] for line in read[1:]] == list(range(1, len(read)))


def kill_at_random(tmp_path: Path, kills: int, requests: int) -> None:
    """Kills one run of many episodes again and again, in two workers with several requests each in flight."""
    draw = random.Random(11)
    killing = Killing(delay_s=0.002)
    arguments = ("--suite", "main", "--seeds", "0", "--memory", "window:5", "--workers", "2", "--concurrency", "4")
    with killing.server:
        assert killing.run(tmp_path / "whole", *arguments) == 0
        whole = killing.tally
        killing.server.heard.clear()
        for _ in range(kills):
            killing.kill_at = {len(killing.server.heard) + draw.randrange(requests)}
            killing.kill_after_s = draw.choice((0.0, draw.uniform(0.0, 0.05)))
            assert killing.run(tmp_path / "parts", *arguments) == -signal.SIGKILL
        killing.kill_at = set()
        assert killing.run(tmp_path / "parts", *arguments) == 0
        again = killing.tally
    assert summary(tmp_path / "parts") == summary(tmp_path / "whole")
    assert set(again) == set(whole)
    assert again.total() - whole.total() <= 4 * kills
    for name in (tmp_path / "parts/episodes").iterdir():
        one, other = (lines(trajectory(tmp_path / part, name.name)) for part in ("whole", "parts"))
        for line in (*one[1:], *other[1:]):
            line["usage"].pop("latency_s")
        assert one == other


@pytest.mark.slow
def test_kills_at_random_moments_change_nothing(tmp_path: Path) -> None:
    kill_at_random(tmp_path, 3, 60)


@pytest.mark.soak
def test_fifty_kills_change_nothing(tmp_path: Path) -> None:
    kill_at_random(tmp_path, 50, 9)


def test_the_budget_holds_across_attempts(tmp_path: Path, fake_model: Any) -> None:
    model = fake_model(lambda request: saying("wait"))
    for at in (3, 8, 19):
        broken_off(model, tmp_path, at)
    result = run(model_plan(), tmp_path).results[0]
    assert (str(result.outcome), result.steps, len(model.asked)) == ("failure: budget spent", BUDGET, BUDGET)
