"""Conditions side by side: on what they share, paired, with what they do not share named."""

import json
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.analysis.compare import compare, load_conditions
from oresight.harness.errors import RecordError, UsageError
from oresight.harness.models.base import Reply, Usage
from oresight.harness.running.runner import RunPlan, run
from support.cli_stage import Ran
from support.fake_world import corridor
from support.run_stage import fake_model, model_plan, saying

__all__ = ["fake_model"]


def played(out: Path, agent: str, *numbers: int) -> Path:
    worlds = tuple(corridor(f"corridor-{number}") for number in numbers)
    run(RunPlan(agent, "raw", worlds, size=None), out)
    return out


def test_figures_and_differences_are_those_of_the_shared_episodes(tmp_path: Path) -> None:
    sides = load_conditions([played(tmp_path / "a", "stuck", 0, 1, 2), played(tmp_path / "b", "spinner", 1, 2, 3, 4)])
    found = compare(sides)
    assert found.shared == ("corridor-1", "corridor-2")
    first, second = found.columns
    assert (first.label, second.label) == ("stuck, raw", "spinner, raw")
    assert (first.pooled.success.numerator, first.pooled.success.denominator) == (2, 2)
    assert (second.pooled.success.numerator, second.pooled["decisions_used"].value) == (0, 20.0)
    assert second.differences["success"].value == -1.0
    assert second.differences["success"].interval == (-1.0, -1.0)
    assert second.differences["exploration_error_lenient"].value == 1.0
    assert second.differences["exploitation_error_strict"].value is None
    assert second.differences["decisions_used"].value == 15.0
    assert first.differences == {}
    assert any("stuck, raw has 1 episodes that not all have: corridor-0" in note for note in found.notes)
    assert any("the sets differ: compared on the 2 episodes" in note for note in found.notes)
    assert found.complete
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (told["same_episodes"], told["shared_episodes"]) == (False, ["corridor-1", "corridor-2"])
    assert [each["counts"]["planned"] for each in told["conditions"]] == [3, 4]


def test_an_incomplete_run_is_called_so_and_a_broken_result_is_named(tmp_path: Path) -> None:
    one, other = played(tmp_path / "a", "stuck", 0, 1, 2), played(tmp_path / "b", "spinner", 0, 1, 2)
    (one / "episodes/corridor-0/result.json").unlink()
    (one / "episodes/corridor-1/result.json").write_text('{"format": "ores')
    found = compare(load_conditions([one, other]))
    assert found.shared == ("corridor-2",)
    assert not found.complete
    notes = "\n".join(found.notes)
    assert "stuck, raw is incomplete: 1 of 3 episodes scored" in notes
    assert "corridor-1/result.json: found no JSON" in notes


@pytest.mark.parametrize("linked", ["episodes", "episodes/corridor-0"])
def test_a_link_in_the_place_of_a_folder_is_named_and_not_followed(tmp_path: Path, linked: str) -> None:
    one, other = played(tmp_path / "a", "stuck", 0), played(tmp_path / "b", "stuck", 0)
    (other / linked).rename(tmp_path / "elsewhere")
    (other / linked).symlink_to(tmp_path / "elsewhere")
    first, second = load_conditions([one, other])
    assert first.scored and not second.scored
    assert second.unreadable == (
        f"{other / linked}: is a link, which is never followed; put the folder itself in its place",
    )
    assert first.scenario("corridor-0") is not None and second.scenario("corridor-0") is None
    with pytest.raises(RecordError, match="is a link"):
        second.record("corridor-0")


def test_cost_is_compared_where_both_have_a_price(tmp_path: Path, fake_model: Any) -> None:
    fake_model(lambda request: Reply(saying("move_forward"), usage=Usage(100, 10)))
    run(model_plan("corridor-0", "corridor-1"), tmp_path / "a")
    fake_model(lambda request: Reply(saying("move_forward"), usage=Usage(300, 10)))
    run(model_plan("corridor-0", "corridor-1", memory="list"), tmp_path / "b")
    found = compare(load_conditions([tmp_path / "a", tmp_path / "b"]))
    assert [column.cost for column in found.columns] == [pytest.approx(0.0012), pytest.approx(0.0032)]
    assert found.columns[1].differences["cost_per_episode"].value == pytest.approx(0.001)


def test_what_cannot_be_compared_is_one_sentence(tmp_path: Path) -> None:
    one, other = played(tmp_path / "a", "stuck", 0), played(tmp_path / "b", "stuck", 1)
    with pytest.raises(UsageError, match="share no episode"):
        compare(load_conditions([one, other]))
    with pytest.raises(UsageError, match="two or more conditions; found 1"):
        compare(load_conditions([one]))
    with pytest.raises(UsageError, match=r"holds no run\.json"):
        load_conditions([tmp_path])


def test_runs_of_one_condition_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    one, other = played(tmp_path / "a", "stuck", 0), played(tmp_path / "b", "stuck", 0)
    assert [side.label for side in load_conditions([one, other])] == ["stuck, raw (a)", "stuck, raw (b)"]


# --- the command ---


def test_compare_plays_what_is_asked_for_and_reads_it_again(
    oresight: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ("compare", "--agent", "random,frontier(window=2,noise=0.1)", "--suite", "main", "--seeds", "0")
    ran: Ran = oresight(*asked)
    assert ran.code == 0, ran.err
    assert "over the 9 episodes that all conditions have a result of" in ran.out
    assert "difference from random, raw, paired by episode" in ran.out
    assert "strict" not in ran.out
    (folder,) = (tmp_path / "runs").iterdir()
    again = oresight(*asked, "--json")
    told = json.loads(again.out)
    assert [each["label"] for each in told["conditions"]] == ["random, raw", "frontier(window=2,noise=0.1), raw"]
    assert "(played before)" in again.err
    assert json.loads((folder / "summary.json").read_text()) == told
    assert len((folder / "summary.csv").read_text().splitlines()) == 1 + 2 * 9
    by_folder = oresight("compare", folder, "--json")
    assert json.loads(by_folder.out) == told
    runs = sorted(path for path in folder.iterdir() if path.is_dir())
    assert len(json.loads(oresight("compare", *runs, "--json").out)["conditions"]) == 2


def test_compare_of_an_incomplete_run_exits_with_3(oresight: Any, tmp_path: Path) -> None:
    one, other = played(tmp_path / "a", "stuck", 0, 1), played(tmp_path / "b", "spinner", 0, 1)
    assert oresight("compare", one, other).code == 0
    (one / "episodes/corridor-1/result.json").unlink()
    ran = oresight("compare", one, other)
    assert ran.code == 3
    assert "1 of 2 episodes scored" in ran.out


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--agent", "random", "--suite", "main"], "two or more conditions, found 1"),
        (["--agent", "random,random", "--suite", "main"], "two or more conditions, found 1"),
        (["--suite", "main"], "two or more conditions, found 0"),
        (["--agent", "random,frontier"], "give --suite or --scenario"),
        (["--agent", "random,frontier", "--suite", "moon"], "is of no world that is known"),
        (["--agent", "random,scout", "--suite", "main"], "plays craft and not grid"),
        (["--agent", "random", "--memory", "raw,screenshots", "--suite", "main"], "a memory of pictures"),
        (["--agent", "random", "--memory", "raw,elephant", "--suite", "main"], "unknown memory 'elephant'"),
        (["--agent", "random,frontier", "--suite", "main", "--max-cost", "1"], "none plays"),
        (["nowhere", "elsewhere"], "holds no run.json"),
        (["nowhere", "elsewhere", "--dry-run"], "folders are only read"),
    ],
)
def test_a_wrong_comparison_is_one_sentence_and_leaves_nothing(
    oresight: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = oresight("compare", *arguments)
    assert ran.code == 2
    assert said in ran.one_sentence()
    assert not list(tmp_path.iterdir())


def test_models_are_counted_before_they_are_compared(oresight: Any, tmp_path: Path) -> None:
    models = "openai:a,gemini:b"
    out = tmp_path / "never"
    done = oresight("compare", "--model", models, "--suite", "main", "--out", str(out), "--dry-run")
    assert done.code == 0
    assert "openai:a, raw" in done.out
    assert "gemini:b, raw" in done.out
    assert "in all" in done.out
    assert not out.exists()


def test_what_is_asked_of_a_compared_model_is_asked_of_each(oresight: Any, tmp_path: Path) -> None:
    (tmp_path / "up.txt").write_text('{"action": "up"}\n', encoding="utf-8")
    out = tmp_path / "study"
    model = f"scripted:{tmp_path / 'up.txt'}"
    asked = (
        "--memory",
        "raw,window:2",
        "--scenario",
        "low-small-0",
        "--temperature",
        "0.5",
        "--max-output-tokens",
        "77",
    )
    oresight("compare", "--model", model, *asked, "--out", str(out))
    settings = [json.loads(path.read_text())["config"]["model"] for path in out.glob("*/run.json")]
    assert [(each["temperature"], each["max_output_tokens"]) for each in settings] == [(0.5, 77)] * 2
