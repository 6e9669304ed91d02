"""A measure in one file, installed beside us: it stands wherever figures are printed, written or drawn."""

import csv
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oresight.scoring import measures
from oresight.scoring.measures import MEASURES, Measure, add
from support.places import DATA


@pytest.fixture(autouse=True)
def site(tmp_path: Path) -> Iterator[None]:
    """A folder of installed packages with the measure in it, as pip leaves one."""
    folder = tmp_path / "site"
    about = folder / "returns_measure-1.0.dist-info"
    about.mkdir(parents=True)
    shutil.copy(DATA / "outside" / "returns_measure.py", folder)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: returns-measure\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[oresight.measures]\nreturns = returns_measure:RETURNS\n")
    sys.path.insert(0, str(folder))
    measures._installed.cache_clear()
    yield
    sys.path.remove(str(folder))
    sys.modules.pop("returns_measure", None)
    measures._added.clear()
    measures._installed.cache_clear()


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def kept(folder: Path) -> tuple[float, float]:
    result = json.loads((folder / "episodes/low-small-0/result.json").read_text())
    returns, decisions = result["score"]["measures"]["returns"]
    return returns, decisions


def line_of(text: str, title: str) -> str:
    return next(line for line in text.splitlines() if line.strip().startswith(title))


def test_it_stands_wherever_the_bundled_ones_do(oresight: Any, tmp_path: Path) -> None:
    runs = {agent: tmp_path / agent for agent in ("frontier", "random")}
    for agent, folder in runs.items():
        ran = oresight("run", "grid", "--agent", agent, "--scenario", "low-small-0", "--out", str(folder))
        assert ran.code == 0, ran.err
        assert "returns" in line_of(ran.out, "low-small-0") and line_of(ran.out, "returns")

    returns, decisions = kept(runs["random"])
    assert 0 < returns < decisions
    words = f"{returns:g}/{decisions:g} = {returns / decisions:.2f}"

    summary = json.loads((runs["random"] / "summary.json").read_text())
    assert summary["pooled"]["measures"]["returns"]["value"] == returns / decisions
    (row,) = table(runs["random"] / "summary.csv")
    told = [float(row[name]) for name in ("returns", "returns_numerator", "returns_denominator")]
    assert told == [returns / decisions, returns, decisions]

    # From the files alone it is the same as live.
    scored = oresight("score", str(runs["random"])).out
    assert words in line_of(scored, "returns") and words in line_of(scored, "low-small-0")
    pooled = json.loads(oresight("score", str(runs["random"]), "--json").out)["pooled"]
    assert pooled["measures"]["returns"]["numerator"] == returns

    compared = [str(folder) for folder in runs.values()]
    assert words in line_of(oresight("compare", *compared).out, "returns")
    _, second = json.loads(oresight("compare", *compared, "--json").out)["conditions"]
    assert second["shared"]["measures"]["returns"]["numerator"] == returns
    before, of = kept(runs["frontier"])
    assert second["difference_from_first"]["returns"]["value"] == returns / decisions - before / of

    watched = oresight("watch", str(runs["random"]), "--once").out
    assert f"returns {words}" in watched
    (condition,) = json.loads(oresight("watch", str(runs["random"]), "--json").out)["conditions"]
    assert condition["measures"]["returns"]["value"] == returns / decisions

    ran = oresight("report", *compared, "--out", str(tmp_path / "report"), "--pictures", "none", "--workers", "1")
    assert ran.code == 0, ran.err
    page = (tmp_path / "report/index.html").read_text()
    assert "Returns" in page and f"{returns:g}/{decisions:g}" in page
    rows = table(tmp_path / "report/tables/conditions.csv")
    assert [float(row["returns_numerator"]) for row in rows if row["agent"] == "random"] == [returns]
    assert "returns" in {row["measure"] for row in table(tmp_path / "report/tables/differences.csv")}


def first_share(folder: Path) -> float:
    returns, decisions = json.loads((folder / "episodes/low-small-0/result.json").read_text())["score"]["measures"][
        "returns"
    ]
    return float(returns / decisions)


def test_a_measure_that_is_added_follows_the_bundled_ones() -> None:
    first = add("returns_measure:RETURNS")
    mine = Measure("steps", "steps", "decisions, mean over episodes", lambda summary: (summary.decisions, 1))
    assert add(mine) is mine and add(mine) is mine
    assert measures.table() == (*MEASURES, first, mine)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere:IDLE", "no measure can be loaded from 'nowhere:IDLE'"),
        ("returns_measure:NONE", "no measure can be loaded from 'returns_measure:NONE'"),
        ("returns_measure:Returns", "'returns_measure:Returns' is type; expected an oresight.scoring.measures.Measure"),
    ],
)
def test_a_measure_that_is_none_is_refused(place: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        add(place)


def test_two_measures_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two measures are called 'success'; rename one of them"):
        add(Measure("success", "success", "another", lambda summary: (1, 1)))


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("My Measure", {"of": lambda summary: (1, 1)}, "expected lower case letters, digits and underscores"),
        ("mine", {}, "the measure mine needs either `of` or `follow`; give one of them"),
    ],
)
def test_a_measure_without_a_name_or_a_source_is_refused(name: str, given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Measure(name, "title", "words", **given)
