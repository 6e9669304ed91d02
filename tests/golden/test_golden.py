"""Records that version 0.1.0 made are read by whatever came after, and say what they said: every number, every hash."""

import csv
import hashlib
import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from oresight.scoring.score import score_paths
from support import golden_stage as stage
from support.golden_stage import GOLDEN, expected, missing


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the golden folder, in which the commands are typed."""
    folder = tmp_path / "golden"
    shutil.copytree(GOLDEN, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are typed in the golden folder itself: those that only read."""
    monkeypatch.chdir(GOLDEN)


def test_no_golden_file_was_changed() -> None:
    found = {
        file.relative_to(GOLDEN).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in GOLDEN.rglob("*")
        if file.is_file() and file.name not in ("README.md", "manifest.json")
    }
    assert found == expected("manifest")


# --- scores ---


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", stage.SCORED)
def test_scores_are_what_they_were_step_by_step(oresight: Any, name: str) -> None:
    ran = oresight("score", *stage.SCORED[name], "--json")
    said = expected(f"scores-{name}")
    found = stage.scores(json.loads(ran.out), name)
    assert missing(said["scores"], found) == []
    assert ran.code == said["exit"]


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", ["forgetful", "broken", "craft-branches", "scout", "vpt", "corridors"])
def test_scores_from_python_are_those_of_the_command(name: str) -> None:
    report = score_paths([Path(path) for path in stage.SCORED[name]])
    said = expected(f"scores-{name}")
    assert missing(said["scores"], stage.scores(json.loads(json.dumps(report.to_json())), name)) == []
    assert report.complete == (said["exit"] == 0)


@pytest.mark.parametrize("name", [*stage.RUNS, *stage.BRANCHES, "broken"])
def test_the_scores_of_records_are_those_that_stand_in_the_summaries(name: str) -> None:
    rows = stage.rows(GOLDEN / "played" / name)
    episodes = expected(f"scores-{name}")["scores"]["episodes"]
    assert episodes
    for episode in episodes:
        row, result = rows[episode["agent"], episode["memory"], episode["name"]], episode["results"][0]
        summary = result["summary"]
        if result["outcome"] == "incomplete":
            # For its run it has yet to be played.
            assert (row["outcome"], row["steps"]) == ("missing", None)
            continue
        assert row["outcome"] == result["outcome"]
        assert (row["steps"], row["budget"]) == (summary["steps_taken"], summary["budget"])
        if row["outcome"] == "infrastructure error":
            # Which is no result, and in no rate.
            assert row["lenient_explore_eligible"] is None
            continue
        for reading in ("lenient", "strict"):
            for count in ("explore_errors", "explore_eligible", "exploit_errors", "exploit_eligible"):
                assert row[f"{reading}_{count}"] == summary[reading][count], (episode["name"], reading, count)


# --- conditions side by side ---


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", stage.COMPARED)
def test_comparisons_are_what_they_were(oresight: Any, name: str) -> None:
    ran = oresight("compare", *stage.COMPARED[name], "--json")
    said = expected("comparisons")[name]
    assert missing(said["comparison"], stage.comparison(json.loads(ran.out))) == []
    assert ran.code == said["exit"]


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", stage.WATCHED)
def test_whoever_watches_sees_what_was_seen(oresight: Any, name: str) -> None:
    ran = oresight("watch", f"played/{name}", "--json")
    assert missing(expected("watches")[name], stage.watched(json.loads(ran.out))) == []


# Version 0.1.0 made these intervals from shares that were rounded to millionths.
ROUNDED = {f"{name}_{end}": 1e-6 for name in ("budget_used", "budget_used_success") for end in ("low", "high")}


def test_the_tables_of_a_report_hold_the_same_numbers(oresight: Any, golden: Path) -> None:
    ran = oresight("report", *stage.REPORTED, "--out", "made", "--pictures", "none", "--workers", "1", "--json")
    assert ran.code == 0, ran.err
    said, found = (json.loads((golden / place / "report.json").read_bytes()) for place in ("report", "made"))
    for key in ("complete", "pages", "pictures"):
        assert found[key] == said[key]
    assert [each["counts"] for each in found["conditions"]] == [each["counts"] for each in said["conditions"]]
    tables = sorted(path.name for path in (golden / "report/tables").iterdir())
    for name in tables:
        before, now = (read_table(golden / place / "tables" / name) for place in ("report", "made"))
        # What version 0.1.0 did not measure has no row there.
        measured = {row.get("measure") for row in before}
        now = [row for row in now if row.get("measure") in measured]
        assert len(now) == len(before), name
        for number, (row, other) in enumerate(zip(before, now, strict=True)):
            for column, value in row.items():
                assert column in other, (name, column)
                assert same(value, other[column], ROUNDED.get(column, 0.0)), (name, number, column)


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a table without what was measured with a clock, is said in words, or leads to a page."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {
                column: value
                for column, value in row.items()
                if not column.startswith("timing_")
                and column.rpartition("_")[2] not in ("method", "reason")
                and column not in ("replay", "condition", "series", "minus")
            }
            for row in csv.DictReader(file)
        ]


def same(one: str, other: str, rounded: float = 0.0) -> bool:
    """Whether two values of a table are the same; slopes are fitted by libraries that differ in the last digit."""
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-12, abs_tol=rounded)
    except ValueError:
        return one == other


# --- played again, and gone on with ---


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("file", list(stage.recordings()), ids=str)
def test_every_record_is_replayed_without_a_difference(oresight: Any, file: Path) -> None:
    said = expected("replays")[file.as_posix()]
    assert (len(stage.records(GOLDEN / file)), stage.last_hash(GOLDEN / file)) == (said["lines"], said["last_hash"])
    ran = oresight("replay", file.parent)
    assert ran.code == 0, ran.out + ran.err


@pytest.mark.parametrize("name", [*stage.RUNS, *stage.BRANCHES])
def test_the_command_that_made_a_run_finds_nothing_left_to_play(oresight: Any, golden: Path, name: str) -> None:
    run = golden / "played" / name
    before = {file: file.read_bytes() for file in run.rglob("*") if file.name in ("trajectory.jsonl", "result.json")}
    assert before
    for file in run.rglob("summary.*"):
        file.unlink()
    ran = oresight(*stage.command_of(name, f"played/{name}"))
    assert ran.code == 0, ran.err
    assert {file: file.read_bytes() for file in before} == before
    assert missing(stage.summaries(GOLDEN / "played" / name), stage.summaries(run)) == []


@pytest.mark.parametrize("name", stage.PLAYED_ANEW)
def test_the_same_command_plays_the_same_today(oresight: Any, golden: Path, name: str) -> None:
    ran = oresight(*stage.command_of(name, "anew"))
    assert ran.code == 0, ran.err
    old, new = (sorted((golden / place).rglob("trajectory.jsonl")) for place in (f"played/{name}", "anew"))
    assert [file.parent.name for file in new] == [file.parent.name for file in old]
    assert [stage.way(file) for file in new] == [stage.way(file) for file in old]


def test_a_run_that_was_killed_is_gone_on_with_and_ends_like_the_one_that_was_not(oresight: Any, golden: Path) -> None:
    ran = oresight(*stage.command_of("frontier", "played/torn"))
    assert ran.code == 0, ran.err
    whole, mended = (sorted((golden / "played" / name).rglob("trajectory.jsonl")) for name in ("frontier", "torn"))
    assert [stage.way(file) for file in mended] == [stage.way(file) for file in whole]
    assert missing(stage.summaries(GOLDEN / "played/frontier"), stage.summaries(golden / "played/torn")) == []
