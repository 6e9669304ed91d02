"""The display of long work, on a terminal and without one."""

import io
from pathlib import Path

from rich.console import Console

from oresight.harness.cli.progress import EpisodeLines
from oresight.harness.models.base import Reply, Usage
from oresight.harness.running.runner import RunPlan, run
from support.fake_world import corridor
from support.run_stage import fake_model, model_plan, saying

__all__ = ["fake_model"]


def displayed(out: Path, plan: RunPlan, terminal: bool) -> str:
    stream = io.StringIO()
    # A terminal that can be written over, wherever the tests run.
    environ = {"TERM": "xterm-256color"} if terminal else {}
    console = Console(file=stream, force_terminal=terminal, width=200, markup=False, highlight=False, _environ=environ)
    display = EpisodeLines(console)
    run(plan, out, display)
    display.close()
    return stream.getvalue()


def test_a_terminal_is_told_how_far_and_how_well_it_goes_and_the_cost(tmp_path: Path, fake_model: object) -> None:
    fake_model(lambda request: Reply(saying("move_forward"), usage=Usage(1000, 100)))  # type: ignore[operator]
    shown = displayed(tmp_path, model_plan("corridor-0", "corridor-1"), terminal=True)
    assert "1 of 2 episodes, 1 of 1 succeeded, exploration error 0.00, $0.0060, about" in shown
    assert " left, corridor-1" in shown


def test_without_a_terminal_there_is_a_line_an_episode(tmp_path: Path) -> None:
    plan = RunPlan("stuck", "raw", (corridor("corridor-0"), corridor("corridor-1")), size=None)
    shown = displayed(tmp_path, plan, terminal=False)
    assert [line.split()[0] for line in shown.splitlines()] == ["corridor-0", "corridor-1"]
    assert displayed(tmp_path, plan, terminal=False).count("(played before)") == 2


def test_episodes_that_were_played_before_tell_nothing_of_the_time_that_is_left(tmp_path: Path) -> None:
    plan = RunPlan("stuck", "raw", (corridor("corridor-0"), corridor("corridor-1")), size=None)
    run(plan, tmp_path)
    (tmp_path / "episodes/corridor-1/result.json").unlink()
    assert "about" not in displayed(tmp_path, plan, terminal=True)
