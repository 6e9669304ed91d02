"""Where episodes are played makes no difference; what is spent is counted across all of them."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.errors import InfrastructureError, StoreError, UsageError, WorkersDiedError
from oresight.harness.models.base import Reply, Usage
from oresight.harness.models.prices import read_prices
from oresight.harness.models.retry import LIMIT_S
from oresight.harness.running.attempt import ModelChoice
from oresight.harness.running.budget import Budget, Limits
from oresight.harness.running.executors import Executor, Inline, Processes, make_executor
from oresight.harness.running.executors.dispatch import Worker, serve
from oresight.harness.running.runner import Progress, RunPlan, run
from oresight.harness.settings import shared_cores
from oresight.harness.worlds import World
from support.fake_world import Corridor, CorridorWorld, corridor
from support.loopback import Loopback
from support.run_stage import PRICE, compass, fake_model, last_step, lines, model_plan, saying, summary

__all__ = ["fake_model"]
NAMES = tuple(f"corridor-{number}" for number in range(5))


def plan(agent: str = "random", *names: str, world: Any = corridor) -> RunPlan:
    return RunPlan(agent, "raw", tuple(world(name) for name in names or NAMES), size=(6, 4))


def files(out: Path) -> dict[str, bytes]:
    """Everything of the episodes but their results."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted((out / "episodes").rglob("*"))
        if path.is_file() and path.name != "result.json"
    }


@pytest.mark.parametrize("executor", [Inline(3), Processes(2, 2), Processes(4, 7)], ids=["one", "two", "four"])
def test_workers_and_order_change_nothing(tmp_path: Path, executor: Executor) -> None:
    run(plan(), tmp_path / "plain")
    run(plan(), tmp_path / "other", executor=executor)
    assert summary(tmp_path / "other") == summary(tmp_path / "plain")
    assert files(tmp_path / "other") == files(tmp_path / "plain")


def test_requests_are_under_way_side_by_side(tmp_path: Path, fake_model: Any) -> None:
    model = fake_model(lambda request: saying("move_forward"))
    run(model_plan(*NAMES), tmp_path, executor=Inline(5))
    # All episodes have asked once before any asks again.
    assert [last_step(request) for request in model.asked] == [step for step in range(5) for _ in NAMES]


def test_few_workers_are_one_process() -> None:
    assert isinstance(make_executor(1, 8), Inline)
    assert isinstance(make_executor(2, 1), Processes)


class Warned(Progress):
    def __init__(self) -> None:
        self.words: list[str] = []

    def warned(self, words: str) -> None:
        self.words.append(words)


def test_more_workers_than_cores_are_told_of_and_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oresight.harness.running.executors.cores", lambda: 2)
    names = tuple(f"corridor-{number}" for number in range(100))
    display = Warned()
    seen: set[int] = set()
    started = display.started

    def count(*told: Any) -> None:
        seen.add(len(multiprocessing.active_children()))
        started(*told)

    monkeypatch.setattr(display, "started", count)
    found = run(plan("stuck", *names), tmp_path, display, make_executor(100, 1))
    assert (found.counts.scored, found.complete) == (100, True)
    assert max(seen) <= 2
    (words,) = display.words
    assert words.startswith("--workers is 100, and this machine has cores for 2")


def test_few_episodes_are_spread_over_all_workers() -> None:
    pool = Idle(places=4)
    serve([None] * 4, pool, pool)  # type: ignore[list-item]
    assert pool.given == [(0, 0), (1, 1), (0, 2), (1, 3)]


class Idle:
    """A crew of two that plays nothing: all it was given is finished once it is asked for news."""

    size = 2

    def __init__(self, places: int) -> None:
        self.workers = [Worker(0, places), Worker(1, places)]
        self.given: list[tuple[int, int]] = []

    def give(self, worker: Worker, number: int, task: Any) -> None:
        self.given.append((worker.index, number))

    def hear(self) -> Any:
        for worker in self.workers:
            for number in sorted(worker.playing):
                yield worker, ("finished", number, None)

    def dismiss(self, worker: Worker, replaced: bool) -> None:
        raise AssertionError

    def finished(self, number: int, result: Any) -> None:
        pass


class Doomed(Corridor):
    """Takes its process down at once."""

    def reset(self, seed: int | None = None) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class DoomedWorld(CorridorWorld):
    def open(self, size: Any) -> Any:
        return Doomed(size, self.name)


def doomed(name: str) -> World:
    return corridor(name, kind=DoomedWorld)


def test_where_workers_keep_dying_the_run_ends_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WorkersDiedError, match="3 worker processes died, the last one of signal SIGKILL; free memory"):
        run(plan("stuck", world=doomed), tmp_path, executor=Processes(1, 1))
    assert json.loads((tmp_path / "summary.json").read_text())["counts"]["infrastructure"] == 3


class Deadly(Corridor):
    """Takes its process down at the third step."""

    def step(self, action: str, on_tick: Any = None) -> Any:
        if self.steps == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(action, on_tick)


class DeadlyWorld(CorridorWorld):
    def open(self, size: Any) -> Any:
        return Deadly(size, self.name)


def deadly(name: str) -> World:
    if name != "corridor-1":
        return corridor(name)
    return corridor(name, kind=DeadlyWorld)


def test_a_worker_that_dies_breaks_its_episode_and_no_other(tmp_path: Path) -> None:
    found = run(plan("stuck", world=deadly), tmp_path, executor=Processes(2, 2))
    assert [result.outcome.counts for result in found.results] == [True, False, True, True, True]
    (broken,) = found.broken
    assert (broken.reason, broken.steps) == ("its worker process died (signal SIGKILL)", 2)
    assert run(plan("stuck"), tmp_path).complete


def test_what_stops_a_run_in_a_worker_stops_it_here_in_the_same_words(tmp_path: Path) -> None:
    run(plan("stuck", NAMES[0]), tmp_path / "a")
    foreign = tmp_path / "run/episodes/corridor-3"
    foreign.mkdir(parents=True)
    (foreign / "thesis.tex").write_text("years")
    (tmp_path / "run/run.json").write_text(
        json.dumps(plan("stuck").run_file().model_dump(mode="json"), allow_nan=False)
    )
    with pytest.raises(StoreError, match=r"thesis\.tex.*move it away"):
        run(plan("stuck"), tmp_path / "run", executor=Processes(2, 2))
    assert json.loads((tmp_path / "run/summary.json").read_text())["complete"] is False


def test_workers_share_the_cores_and_leave_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("LP_NUM_THREADS", raising=False)
    with shared_cores(3):
        assert (os.environ["OMP_NUM_THREADS"], os.environ["LP_NUM_THREADS"]) == ("5", "2")
    assert "LP_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_is_one_sentence_and_the_run_goes_on_later(tmp_path: Path, workers: str) -> None:
    (tmp_path / "slow_agent.py").write_text(
        "import asyncio\nfrom oresight.harness.protocols import Decision\n"
        "class Slow:\n    def __init__(self, setup): pass\n"
        "    async def act(self, messages, step, actions):\n"
        "        await asyncio.sleep(0.2)\n        return Decision(actions[0])\n"
    )
    command = [sys.executable, "-m", "oresight.harness.cli.main", "run", "grid", "--agent", "slow_agent:Slow"]
    command += ["--suite", "main", "--out", "run", "--workers", workers]
    child = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until = time.monotonic() + 30
    while time.monotonic() < until and not list(tmp_path.glob("run/episodes/*/trajectory.jsonl")):
        time.sleep(0.05)
    time.sleep(0.3)
    # As a terminal does it: to all processes of the group.
    os.killpg(child.pid, signal.SIGINT)
    began = time.monotonic()
    out, err = child.communicate(timeout=20)
    assert time.monotonic() - began < 2.0
    assert child.returncode == 3
    assert "Interrupted; rerun the same command to resume" in out
    assert "Traceback" not in out + err
    assert gone(child.pid)


def gone(group: int) -> bool:
    """Whether no process of a group is left, or will be in a moment."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


# --- what a run may cost ---


def walking(request: Any) -> Reply:
    return Reply(saying("move_forward"), usage=Usage(100, 10))


class Stopped(Progress):
    reason = ""

    def stopped(self, reason: str) -> None:
        self.reason = reason


@pytest.mark.parametrize("caps", [Limits(tokens=700), Limits(cost=7 * 120e-6)])
def test_a_cap_stops_the_run_cleanly_and_holds_for_the_run_and_not_for_the_command(
    tmp_path: Path, fake_model: Any, caps: Limits
) -> None:
    model = fake_model(walking)
    display = Stopped()
    found = run(model_plan("corridor-0", "corridor-1"), tmp_path, display, caps=caps)
    assert len(model.asked) == 7
    assert (found.counts.scored, found.counts.incomplete, found.complete) == (1, 1, False)
    assert "stopped at the cap on" in display.reason
    # The same command asks nothing more; with a higher cap it goes on where it was.
    run(model_plan("corridor-0", "corridor-1"), tmp_path, caps=caps)
    assert len(model.asked) == 7
    found = run(model_plan("corridor-0", "corridor-1"), tmp_path, caps=Limits(cost=1.0, tokens=10_000))
    assert (len(model.asked), found.complete) == (10, True)
    usage = found.usage()
    assert usage is not None
    assert (usage["input_tokens"], usage["output_tokens"], usage["cost"]) == (1000, 100, pytest.approx(10 * 120e-6))


def test_replies_that_are_on_their_way_when_a_cap_is_reached_still_come_in(tmp_path: Path) -> None:
    def slow(heard: Any) -> Any:
        time.sleep(0.1)
        return compass(heard)

    with Loopback(slow) as server:
        for workers in ("1", "2"):
            server.heard.clear()
            command = [
                sys.executable,
                "-m",
                "oresight.harness.cli.main",
                "run",
                "grid",
                "--suite",
                "main",
                "--max-tokens",
                "9000",
            ]
            command += ["--model", server.name("compatible"), "--workers", workers, "--concurrency", "4"]
            done = subprocess.run(
                [*command, "--out", workers], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (3, "")
            assert "stopped at the cap on tokens" in done.stdout
            kept = [lines(path)[1:] for path in (tmp_path / workers).rglob("replies.jsonl")]
            assert 10 <= sum(map(len, kept)) == len(server.heard) <= 13


def test_a_cap_on_cost_without_a_price_is_refused_before_anything(tmp_path: Path) -> None:
    from oresight.harness.running.plan import check_caps

    plan = model_plan()
    assert plan.model is not None
    unpriced = replace(plan, model=ModelChoice(plan.model.name))
    with pytest.raises(UsageError, match=r"has no price.*--prices FILE"):
        check_caps(Limits(cost=1.0), [unpriced])
    check_caps(Limits(tokens=5), [unpriced])
    check_caps(Limits(cost=1.0), [plan])
    with pytest.raises(UsageError, match="none plays"):
        check_caps(Limits(cost=1.0), [replace(plan, model=None)])
    assert read_prices().price("openai:gpt-4.1-mini") is not None


@pytest.mark.parametrize("caps", [{"cost": 0.0}, {"cost": float("nan")}, {"cost": -1.0}, {"tokens": 0}])
def test_a_cap_that_is_none_is_refused(caps: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cap on"):
        Limits(**caps)


def test_an_account_adds_up_what_all_processes_spend() -> None:
    shared = [0.0] * 6
    one, other = (Budget(Limits(tokens=50), shared, place) for place in (1, 2))
    one.add(0.5, 20)
    other.add(None, 29)
    assert (one.cost, other.tokens) == (0.5, 49)
    one.check()
    other.add(PRICE.cost(Usage(1_000_000, 0)), 1)
    assert one.cost == 1.5


# --- some episodes have no result ---


def test_broken_episodes_stay_in_the_count_and_the_same_command_plays_them_alone(
    tmp_path: Path, fake_model: Any
) -> None:
    down = True
    names = tuple(f"corridor-{number}" for number in range(6))

    def answer(request: Any) -> Reply:
        if down and len(model.asked) > 2 * 5:
            raise InfrastructureError(f"status 500 for ever; given up after {LIMIT_S:.0f} s")
        return walking(request)

    model = fake_model(answer)
    found = run(model_plan(*names), tmp_path)
    assert found.counts_sentence() == "2 of 6 episodes scored (2 succeeded, 0 failed), 4 broken, 0 missing"
    written = json.loads((tmp_path / "summary.json").read_text())
    assert (written["complete"], written["counts"]["planned"], written["counts"]["infrastructure"]) == (False, 6, 4)
    assert written["pooled"]["success"]["denominator"] == 2
    (tmp_path / "episodes/corridor-0/result.json").unlink()
    (tmp_path / "episodes/corridor-1/result.json").write_text('{"format": "oresig')
    kept = {path: len(lines(path)) for path in tmp_path.glob("episodes/*/replies.jsonl")}
    down = False
    model.asked.clear()
    assert run(model_plan(*names), tmp_path).complete
    assert len(model.asked) == 6 * 5 - sum(count - 1 for count in kept.values())
