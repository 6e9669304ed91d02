"""The loop and the runner, in a corridor in place of a world."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.agents import AgentSetup, find_agent
from oresight.harness.agents.baselines import Oracle, RandomAgent, Stuck
from oresight.harness.context import make_strategy
from oresight.harness.errors import ForeignFolderError, InfrastructureError, OresightError, StoreError, UsageError
from oresight.harness.protocols import Agent, Decision, Message, Step
from oresight.harness.running import episode
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds.craft.world import CraftWorld
from oresight.harness.worlds.grid.world import GridWorld
from oresight.scoring.records import Outcome
from support.fake_world import ACTIONS, BUDGET, Corridor, corridor
from support.places import TESTS


def play(agent: Agent, memory: str = "raw", size: tuple[int, int] | None = (6, 4)) -> tuple[episode.Ending, list[Step]]:
    steps: list[Step] = []
    ending = asyncio.run(
        episode.play(Corridor(size), agent, make_strategy(memory, "R."), lambda *_: None, steps.append)
    )
    return ending, steps


class Listener:
    """Keeps what it is shown and walks on."""

    def __init__(self) -> None:
        self.heard: list[list[Message]] = []

    async def act(self, messages: Sequence[Message], step: int, actions: Sequence[str] = ()) -> Decision:
        self.heard.append(list(messages))
        return Decision("look_right" if step < 10 else "move_forward")


class Saying:
    """Says one thing, then walks on."""

    def __init__(self, said: str, action: str = "move_forward") -> None:
        self.said, self.action = said, action

    async def act(self, messages: Sequence[Message], step: int, actions: Sequence[str] = ()) -> Decision:
        return Decision(self.action, self.said, {"tokens": step})


class Breaking:
    """Raises at its second decision."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def act(self, messages: Sequence[Message], step: int, actions: Sequence[str] = ()) -> Decision:
        if step == 2:
            raise self.error
        return Decision("move_forward")


def plan(agent: Any, *names: str, **options: Any) -> RunPlan:
    worlds = tuple(corridor(name) for name in names or ("corridor-0",))
    return RunPlan("test", "raw", worlds, make_agent=lambda setup: agent, size=(6, 4), **options)


def setup(*actions: str, seed: int = 0) -> AgentSetup:
    return AgentSetup(seed, actions, lambda: ())


def test_the_world_saying_so_is_success() -> None:
    ending, steps = play(Stuck(setup("move_forward")))
    assert (ending.outcome, ending.steps) == (Outcome.SUCCESS, 5)
    assert [step.state_hash for step in steps] == ["0001", "0002", "0003", "0004", "0005"]
    assert [step.observed.text for step in steps] == [f"Step {n}." for n in range(5)]


def test_a_spent_budget_is_failure() -> None:
    ending, steps = play(Stuck(setup("wait")))
    assert (ending.outcome, ending.steps, len(steps)) == (Outcome.BUDGET_SPENT, BUDGET, BUDGET)


def test_an_inadmissible_action_is_never_executed_and_ends_the_episode() -> None:
    ending, steps = play(Stuck(setup("fly")))
    assert (ending.outcome, ending.steps, steps) == (Outcome.AGENT_ENDED, 0, [])
    assert ending.reason is not None and "'fly'" in ending.reason


def test_every_request_ends_with_the_current_picture_and_the_history_keeps_no_more_than_memory_asks() -> None:
    listener = Listener()
    play(listener, "screenshots:3")
    for number, messages in enumerate(listener.heard):
        assert [image.step for image in messages[-1].images] == list(range(max(number - 3, 0), number + 1))


def test_bundled_random_depends_on_seed_and_step_alone() -> None:
    async def actions(agent: Agent, order: Sequence[int]) -> dict[int, str]:
        return {step: (await agent.act([], step)).action for step in order}

    forward = asyncio.run(actions(RandomAgent(setup(*ACTIONS, seed=3)), range(1, 50)))
    backward = asyncio.run(actions(RandomAgent(setup(*ACTIONS, seed=3)), range(49, 0, -1)))
    assert forward == backward
    assert forward != asyncio.run(actions(RandomAgent(setup(*ACTIONS, seed=4)), range(1, 50)))
    assert set(forward.values()) == set(ACTIONS)


def test_the_oracle_waits_once_its_solution_is_used_up() -> None:
    oracle = Oracle(AgentSetup(0, ACTIONS, lambda: ["move_forward"]))
    assert [asyncio.run(oracle.act([], step)).action for step in (1, 2, 3)] == ["move_forward", "wait", "wait"]


def test_unknown_agents_are_one_sentence() -> None:
    for name in ("pilot", "no_such_module:Agent", "fake_world:NoSuchAgent", ":x"):
        with pytest.raises(UsageError, match="agent"):
            find_agent(name, CraftWorld)
    assert set(CraftWorld.agents) == {"random", "stuck", "spinner", "scout", "oracle"}
    assert set(GridWorld.agents) == {"random", "depth-first", "frontier", "solver"}


def test_ones_own_agent_is_made_from_the_setup() -> None:
    assert find_agent("oresight.harness.agents.baselines:Stuck", GridWorld).make(setup(*ACTIONS)) is not None


def test_a_run_leaves_the_files_of_every_episode_and_a_summary(tmp_path: Path) -> None:
    summary = run(plan(Stuck(setup("move_forward")), "corridor-0", "corridor-1"), tmp_path)
    counts = summary.counts
    assert (counts.planned, counts.scored, counts.missing, counts.succeeded) == (2, 2, 0, 2)
    lines = [json.loads(line) for line in (tmp_path / "episodes/corridor-1/trajectory.jsonl").read_text().splitlines()]
    assert lines[0]["start"] == {"state_hash": "0000", "facts": {"place": 0}}
    assert (lines[0]["agent"], lines[0]["memory"], lines[0]["kind"]) == ("test", "raw", "craft")
    assert [(line["step"], line["observation"], line["outcome"]) for line in lines[1:3]] == [
        (1, "Step 0.", "You moved."),
        (2, "Step 1.", "You moved."),
    ]
    frames = sorted(path.name for path in (tmp_path / "episodes/corridor-1/frames").iterdir())
    assert frames == [f"{step:06d}.png" for step in range(6)]
    result = json.loads((tmp_path / "episodes/corridor-1/result.json").read_text())
    assert (result["outcome"], result["steps"], result["parameters"]) == ("success", 5, {"k": 2})
    written = json.loads((tmp_path / "summary.json").read_text())
    assert (written["counts"]["planned"], written["counts"]["scored"], written["complete"]) == (2, 2, True)
    assert written["pooled"]["lenient"]["exploration_error"]["denominator"] == 10
    assert written["pooled"]["lenient"]["exploitation_error"]["value"] is None
    assert (tmp_path / "summary.csv").read_text().splitlines()[1].startswith("corridor-0,success,,5,20,5,0,5,0.0")


def test_what_an_agent_says_is_kept_whole(tmp_path: Path) -> None:
    said = "a\u2028b\n\x00\ud800[red]"
    run(plan(Saying(said)), tmp_path)
    line = (tmp_path / "episodes/corridor-0/trajectory.jsonl").read_bytes().split(b"\n")[1]
    assert json.loads(line)["said"] == "a\u2028b\n\x00?[red]"
    assert json.loads(line)["usage"] == {"tokens": 1}


def test_the_same_command_keeps_what_is_finished(tmp_path: Path) -> None:
    run(plan(Stuck(setup("move_forward")), "corridor-0", "corridor-1"), tmp_path)
    kept = tmp_path / "episodes/corridor-0/trajectory.jsonl"
    before = kept.stat().st_mtime_ns
    summary = json.loads((tmp_path / "summary.json").read_text())
    (tmp_path / "episodes/corridor-1/result.json").write_text("")
    run(plan(Stuck(setup("move_forward")), "corridor-0", "corridor-1"), tmp_path)
    assert kept.stat().st_mtime_ns == before
    again = json.loads((tmp_path / "summary.json").read_text())
    for row in (*summary["episodes"], *again["episodes"]):
        row.pop("timing_seconds")
    assert again == summary


def test_what_breaks_in_an_episode_is_an_infrastructure_error_and_the_run_goes_on(tmp_path: Path) -> None:
    broken = plan(Stuck(setup("move_forward")), "corridor-0", "corridor-1")
    worlds = (corridor("corridor-0", breaks_at=3), corridor("corridor-1"))
    summary = run(RunPlan(broken.agent, "raw", worlds, make_agent=broken.make_agent, size=(6, 4)), tmp_path)
    counts = summary.counts
    assert (counts.scored, counts.infrastructure, counts.missing, summary.complete) == (1, 1, 0, False)
    result = json.loads((tmp_path / "episodes/corridor-0/result.json").read_text())
    assert (result["outcome"], result["steps"]) == ("infrastructure error", 2)
    assert result["reason"] == "RuntimeError: the floor gave way"
    assert "the floor gave way" in result["traceback"]
    written = json.loads((tmp_path / "summary.json").read_text())
    assert written["pooled"]["exploration_error"]["denominator"] == 5
    assert written["episodes"][0]["lenient_explore_errors"] is None
    # The same command plays the broken one again, and it alone.
    assert run(plan(Stuck(setup("move_forward")), "corridor-0", "corridor-1"), tmp_path).complete


def test_an_infrastructure_error_that_an_agent_reports_has_no_traceback(tmp_path: Path) -> None:
    summary = run(plan(Breaking(InfrastructureError("the server is gone"))), tmp_path)
    assert (summary.broken[0].reason, summary.broken[0].traceback, summary.broken[0].steps) == (
        "the server is gone",
        None,
        1,
    )


@pytest.mark.parametrize("error", [StoreError("the disk is full"), KeyboardInterrupt()])
def test_what_concerns_more_than_one_episode_stops_the_run_and_leaves_it_to_be_continued(
    tmp_path: Path, error: Exception
) -> None:
    with pytest.raises(type(error)):
        run(plan(Breaking(error), "corridor-0", "corridor-1"), tmp_path)
    written = json.loads((tmp_path / "summary.json").read_text())
    counts = written["counts"]
    # The first was begun, the second never.
    assert (counts["planned"], counts["scored"], written["complete"]) == (2, 0, False)
    assert (counts["incomplete"], counts["missing"]) == (1, 1)
    assert run(plan(Stuck(setup("move_forward")), "corridor-0", "corridor-1"), tmp_path).complete


def test_a_wrong_name_leaves_nothing_behind(tmp_path: Path) -> None:
    for agent, memory in (("pilot", "raw"), ("stuck", "elephant")):
        with pytest.raises(UsageError):
            run(RunPlan(agent, memory, (corridor(),)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_another_command_is_refused_in_the_same_folder(tmp_path: Path) -> None:
    run(plan(Stuck(setup("move_forward"))), tmp_path)
    with pytest.raises(ForeignFolderError, match="episodes"):
        run(plan(Stuck(setup("move_forward")), "corridor-1"), tmp_path)


def test_all_errors_are_of_one_family() -> None:
    assert issubclass(UsageError, OresightError)
    assert UsageError.exit_code == 2
    assert StoreError.exit_code == 1


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from support.fake_world import corridor
from oresight.harness.protocols import Decision
from oresight.harness.running.runner import RunPlan, run

class Walker:
    async def act(self, messages, step, actions):
        if step == {step} and "Step" in messages[-1].text and os.path.exists({first!r}):
            os.kill(os.getpid(), signal.SIGKILL)
        return Decision("move_forward")

worlds = (corridor("corridor-0"), corridor("corridor-1"))
run(RunPlan("walker", "raw", worlds, size=(6, 4), make_agent=lambda setup: Walker()), Path({out!r}))
"""


def test_after_a_kill_the_same_command_goes_on_and_ends_with_the_same_summary(tmp_path: Path) -> None:
    def command(out: str, step: int) -> int:
        first = str(tmp_path / out / "episodes/corridor-0/result.json")
        code = KILLED.format(tests=str(TESTS), step=step, first=first, out=str(tmp_path / out))
        return subprocess.run([sys.executable, "-c", code], check=False).returncode

    def summary(out: str) -> Any:
        written = json.loads((tmp_path / out / "summary.json").read_text())
        for row in written["episodes"]:
            row.pop("timing_seconds")
        return written

    assert command("undisturbed", step=99) == 0
    assert command("killed", step=4) == -signal.SIGKILL
    assert (tmp_path / "killed/episodes/corridor-0/result.json").exists()
    assert not (tmp_path / "killed/episodes/corridor-1/result.json").exists()
    kept = (tmp_path / "killed/episodes/corridor-0/result.json").stat().st_mtime_ns
    assert command("killed", step=99) == 0
    assert (tmp_path / "killed/episodes/corridor-0/result.json").stat().st_mtime_ns == kept
    assert summary("killed") == summary("undisturbed")
    for name in ("corridor-0", "corridor-1"):
        one, other = (tmp_path / out / "episodes" / name / "trajectory.jsonl" for out in ("killed", "undisturbed"))
        assert one.read_bytes() == other.read_bytes()
