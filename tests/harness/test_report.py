"""Reports: figures of a study and what they say of themselves, files, folders, and the command that makes them."""

import csv
import io
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.analysis.compare import Difference
from oresight.harness.errors import ForeignFolderError, OresightError
from oresight.harness.records import folder as run_folder
from oresight.harness.report import tables
from oresight.harness.report.build import ReportOptions, make_report
from oresight.harness.report.conditions import (
    BOTH_ERROR,
    EXPLOIT_ERROR,
    EXPLORE_ERROR,
    GAIN,
    PROGRESS,
    UNSCORED,
    key_of,
)
from oresight.harness.report.contrasts import by_memory, by_prompts, two_episodes
from oresight.harness.report.figures import COLOURS, darkened, draw_panel
from oresight.harness.report.folder import report_folder
from oresight.harness.report.levels import by_demand, by_kind, by_size
from oresight.harness.report.panels import (
    ALL,
    Change,
    Changes,
    Exhibit,
    Lines,
    NotEnoughData,
    Panel,
    Scatter,
    Series,
    Timelines,
)
from oresight.harness.report.pictures import PicturePlan, find_pictures
from oresight.harness.report.plots import FAINT, GRID, INK
from oresight.harness.report.sparkline import strip, strip_words
from oresight.harness.report.study import PAIRS, parameters, sensitivity, study_world, success_against_error
from oresight.harness.report.tables import difference_rows
from oresight.harness.running.plan import Condition, PlayOptions, condition_plan
from oresight.harness.running.runner import run_all
from oresight.harness.running.selection import Selection
from oresight.harness.worlds import about
from oresight.scoring.statistics import success_figure
from support.report_stage import conditions, dead_links, play_model, play_study, side

MARKS = (EXPLORE_ERROR, EXPLOIT_ERROR, BOTH_ERROR, PROGRESS, GAIN, UNSCORED)
GOOD = (True, (0, 10), (0, 5))
BAD = (False, (5, 10), (4, 5))


def lines(exhibit: Exhibit | NotEnoughData, name: str) -> Lines:
    assert isinstance(exhibit, Exhibit)
    found = next(panel for panel in exhibit.panels if panel.name == name)
    assert isinstance(found, Lines)
    return found


def values(panel: Lines) -> dict[str, list[float | None]]:
    return {
        series.label: [None if ratio is None else ratio.value for ratio in series.values] for series in panel.series
    }


# ---- conditions


def test_conditions_are_lettered_and_have_folders_of_their_own() -> None:
    assert [key_of(number) for number in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]
    found = conditions(side("a", {"x-0": GOOD}), side("a", {"x-0": GOOD}), side("A", {"x-0": GOOD}))
    assert [each.id for each in found] == ["a-raw-base", "a-raw-base-2", "A-raw-base-3"]


def test_counts_tell_missing_from_unreadable_episodes() -> None:
    (found,) = conditions(side("a", {"x-0": GOOD, "x-1": None, "x-2": None}, unreadable=("x-2 is torn",)))
    counts = found.counts
    assert (counts.planned, counts.scored, counts.missing, counts.unreadable) == (3, 1, 1, 1)


# ---- success against an error


def test_success_against_an_error_needs_three_conditions() -> None:
    rows = study_world("grid", conditions(side("a", {"x-0": GOOD}), side("b", {"x-0": BAD}))).rows
    absent = success_against_error(rows)
    assert isinstance(absent, NotEnoughData)
    assert absent.needs == "it takes 3 conditions or more with different error rates; here are 2"


def test_a_rate_of_zero_stands_at_the_floor_and_the_report_says_so() -> None:
    sides = (side("a", {"x-0": GOOD}), side("b", {"x-0": BAD}), side("c", {"x-0": (False, (2, 10), (0, 0))}))
    found = success_against_error(study_world("grid", conditions(*sides)).rows)
    assert isinstance(found, Exhibit)
    exploration, exploitation = found.panels
    assert isinstance(exploration, Scatter) and isinstance(exploitation, Scatter)
    # Half an error in the largest number of eligible decisions.
    assert exploration.regression.all.floor == 0.05
    assert exploration.regression.all.n == 3 and exploration.regression.with_errors.n == 2
    told = "\n".join(found.notes)
    assert "Exploration error: A made no error" in told
    assert "The exploitation error is undefined (not one decision was eligible for it) for: C c, raw." in told
    assert "Exploitation error: no line, since there are fewer than 3 different error rates." in told


# ---- levels


def test_demand_is_read_from_a_scenarios_name() -> None:
    assert about("grid").demand_of("low-small-0", "exploitation") == "low"
    assert about("grid").demand_of("semantic-low-small-12", "exploration") == "high"
    assert about("craft").demand_of("dials-low-high-3", "exploration") == "low"
    assert about("craft").demand_of("dials-low-high-3", "exploitation") == "high"
    assert about("craft").demand_of("outcrop-0", "exploration") is None
    assert about("grid").demand_of("mine", "exploration") is None


def test_errors_by_demand_are_pooled_by_level_and_over_all_conditions() -> None:
    one = side("a", {"low-small-0": (True, (1, 4), (2, 10)), "high-small-0": (True, (3, 6), (1, 2))})
    two = side("b", {"low-small-0": (True, (3, 4), (0, 10)), "high-small-0": (True, (0, 6), (0, 2))})
    panel = lines(by_demand("grid", conditions(one, two)), "demand-exploration")
    assert panel.ticks == ("low", "high")
    # A low demand on exploitation is a high one on exploration.
    assert values(panel) == {"A a, raw": [0.5, 0.25], "B b, raw": [0.0, 0.75], "all conditions": [0.25, 0.5]}
    pooled = panel.series[-1].values[1]
    assert pooled is not None and (pooled.numerator, pooled.denominator, pooled.n) == (4, 8, 1)
    assert "over maps" in pooled.method


def test_levels_need_two_of_them() -> None:
    alone = conditions(side("a", {"low-small-0": GOOD, "low-small-1": BAD}))
    assert isinstance(by_demand("grid", alone), NotEnoughData)
    assert isinstance(by_size("grid", alone), NotEnoughData)
    assert isinstance(by_kind(conditions(side("a", {"cave-0": GOOD}, world="craft"))), NotEnoughData)


def test_the_3d_world_is_told_by_kind_of_scenario_and_in_both_readings() -> None:
    found = by_kind(conditions(side("a", {"cave-0": GOOD, "outcrop-1": BAD}, world="craft")))
    assert values(lines(found, "kind-success")) == {"A a, raw": [1.0, 0.0]}
    assert values(lines(found, "kind-exploration-strict")) == {"A a, raw": [0.0, 0.5]}


# ---- contrasts


def test_prompt_sets_are_compared_on_the_same_episodes() -> None:
    def under(prompts: str, **episodes: Any) -> Any:
        return side(
            "m", {f"low-small-{name[1:]}": played for name, played in episodes.items()}, prompts=prompts, model=True
        )

    found = by_prompts(
        conditions(
            under("base", x0=BAD, x1=GOOD, x2=GOOD),
            under("base-reasoning", x0=GOOD, x1=GOOD, x2=None),
            under("balance", x0=GOOD, x1=BAD, x2=GOOD),
            side("frontier", {"low-small-0": GOOD}),
        ),
    )
    assert isinstance(found, Exhibit) and found.caption.startswith(
        "The same 2 episodes under each prompt set, of 1 pairs"
    )
    panel = lines(found, "prompts-success")
    assert panel.ticks == ("base", "balance")
    assert values(panel) == {"without reasoning": [0.5, 0.5], "with reasoning": [1.0, None]}


def test_agents_read_no_prompts_so_that_they_are_not_compared_by_them() -> None:
    found = by_prompts(conditions(side("a", {"x-0": GOOD}), side("b", {"x-0": GOOD}, prompts="balance")))
    assert isinstance(found, NotEnoughData)


def test_memory_is_compared_with_raw_of_the_same_player_alone() -> None:
    names = ("low-small-0", "low-small-1")
    found = by_memory(
        conditions(
            side("a", dict.fromkeys(names, BAD)),
            side("a", dict.fromkeys(names, GOOD), memory="list"),
            side("b", dict.fromkeys(names, GOOD), memory="list"),
        ),
    )
    assert isinstance(found, Exhibit)
    success = found.panels[0]
    assert isinstance(success, Changes)
    assert [(change.label, change.difference.value) for change in success.changes] == [("B a, list − A", 1.0)]


def test_a_condition_without_a_result_does_not_keep_the_others_from_being_compared() -> None:
    sides = [
        side("a", {"low-small-0": None}),
        side("b", {"low-small-0": GOOD}),
        side("c", {"low-small-0": None}),
        side("d", {"low-small-0": BAD}),
    ]
    study = study_world("grid", conditions(*sides))
    assert [row.condition.key for row in study.compared] == ["B", "D"]
    rows = difference_rows([study])
    assert {(row["key"], row["minus"]) for row in rows} == {("D", "b, raw")}
    assert next(row["value"] for row in rows if row["measure"] == "success") == -1.0
    assert "Differences are without A a, raw; C c, raw, which have no result." in study.notes


def test_with_one_result_there_is_nothing_to_compare_and_the_report_says_so() -> None:
    study = study_world("grid", conditions(side("a", {"low-small-0": GOOD}), side("b", {"low-small-0": None})))
    assert study.comparison is None and study.compared == ()
    assert "Differences are left out: fewer than two conditions have a result." in study.notes


def test_the_two_episodes_are_those_whose_shares_of_errors_lie_furthest_apart() -> None:
    one = side("a", {"x-0": GOOD, "x-1": GOOD, "x-2": None})
    two = side("b", {"x-0": GOOD, "x-1": BAD, "x-2": BAD})
    found = two_episodes(conditions(one, two, marks="gxP"))
    assert isinstance(found, Exhibit)
    (panel,) = found.panels
    assert isinstance(panel, Timelines)
    assert panel.title == "x-1" and [row.label for row in panel.rows] == ["A a, raw", "B b, raw"]
    assert isinstance(two_episodes(conditions(one, two)), NotEnoughData), "without recordings"
    assert isinstance(two_episodes(conditions(one, marks="g")), NotEnoughData), "with one condition"


def test_sensitivity_takes_every_pair_and_shows_two_lines_through_the_usual_one() -> None:
    assert PAIRS[0] == (3.0, 2) and len(set(PAIRS)) == 9
    assert [(each.alpha, each.k) for each in parameters()] == list(PAIRS)
    rows = study_world("grid", conditions(side("a", {"x-0": BAD}), marks="gg")).rows
    panel = lines(sensitivity(rows), "sensitivity-alpha-exploration")
    assert panel.ticks == ("1", "2", "3") and values(panel) == {"A a, raw": [0.5, 0.5, 0.5]}
    assert isinstance(sensitivity(study_world("grid", conditions(side("a", {"x-0": BAD}))).rows), NotEnoughData)


# ---- drawing


def test_a_strip_has_a_path_a_kind_of_mark_and_runs_are_joined() -> None:
    assert strip("gxx-pbP") == [
        ("explore", "M1 0h2v5h-2z"),
        ("exploit", "M4 5h1v5h-1z"),
        ("both", "M5 0h1v10h-1z"),
        ("progress", "M6 10h1v2h-1z"),
    ]
    assert strip("gg-") == []
    assert strip_words("gxxpP") == "5 decisions; errors: 2 exploration, 1 exploitation"


def test_figures_take_any_text_and_come_out_the_same() -> None:
    label = "$\\frac{1}{2}$ <script> \u202e " + "x" * 200
    ratio, nothing = success_figure(1, 3), Difference(None, None, 0)
    panels: list[Panel] = [
        Lines("a", "A", "x", ("one", "two"), (Series(label, 0, (ratio, None)), Series("all", ALL, (ratio, ratio)))),
        Changes("b", "B", "x", (Change(label, 1, Difference(0.5, (0.1, 0.9), 3)), Change("b", 2, nothing))),
    ]
    for panel in panels:
        one, other = draw_panel(panel), draw_panel(panel)
        assert one == other
        assert one.png.startswith(b"\x89PNG") and b"<svg" in one.light


def test_the_dark_drawing_has_none_of_the_light_colours() -> None:
    light = " ".join([INK, FAINT, GRID, *(pair[0] for pair in COLOURS)]).encode()
    dark = darkened(light)
    assert len(dark) == len(light)
    assert not set(re.findall(rb"#[0-9a-f]{6}", light)) & set(re.findall(rb"#[0-9a-f]{6}", dark))


def test_the_pages_colours_are_those_of_the_figures() -> None:
    from oresight import assets

    style = assets.path("report", "index.css").read_text()
    light, dark = style.split("prefers-color-scheme: dark", 1)
    for number, (in_light, in_dark) in enumerate(COLOURS):
        assert f"--c{number}: {in_light};" in light
        assert f"--c{number}: {in_dark};" in dark


# ---- tables


def test_a_table_is_the_same_as_csv_and_as_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    rows = [{"name": "=1+1", "value": 0.5}, {"name": "b", "n": 3}]
    assert tables.write_table(tmp_path, "t", rows) == ["t.csv", "t.parquet"]
    found = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert found == [{"name": "'=1+1", "value": "0.5", "n": ""}, {"name": "b", "value": "", "n": "3"}]
    # How an episode's decisions stand in a table: none begins it as a formula would.
    assert [run_folder.to_csv([{"decisions": mark}]).splitlines()[1] for mark in MARKS] == list(MARKS)
    assert parquet.read_table(tmp_path / "t.parquet").to_pylist() == [
        {"name": "=1+1", "value": 0.5, "n": None},
        {"name": "b", "value": None, "n": 3},
    ]


def test_without_pyarrow_tables_are_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert tables.write_table(tmp_path, "t", [{"a": 1}]) == ["t.csv"]
    assert [item.name for item in tmp_path.iterdir()] == ["t.csv"]


# ---- the folder


def test_a_report_replaces_an_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "report"
    for number in (1, 2):
        with report_folder(out) as aside:
            (aside / "report.json").write_text('{"format": "oresight.report"}')
            (aside / "index.html").write_text(str(number))
        assert (out / "index.html").read_text() == str(number)
        assert [item.name for item in tmp_path.iterdir()] == ["report"]
        assert sorted(item.name for item in out.iterdir()) == ["index.html", "report.json"]
    (out / "thesis.txt").write_text("mine")
    with (
        pytest.raises(ForeignFolderError, match=r"holds other things \('thesis.txt'\) beside an earlier report"),
        report_folder(out),
    ):
        pass
    assert (out / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize("content", [{"notes.txt": "mine"}, {"index.html": "<p>mine"}, {"report.json": "{}"}])
def test_a_folder_with_other_things_is_refused_and_stays(tmp_path: Path, content: dict[str, str]) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ForeignFolderError, match="choose another --out folder"), report_folder(tmp_path):
        pass
    assert {item.name: item.read_text() for item in tmp_path.iterdir()} == content


def test_a_report_that_fails_leaves_the_earlier_one(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with report_folder(out) as aside:
        (aside / "report.json").write_text('{"format": "oresight.report"}')
    with pytest.raises(OresightError), report_folder(out) as aside:
        (aside / "index.html").write_text("half")
        raise OresightError("the disk is full")
    assert [item.name for item in tmp_path.iterdir()] == ["report"]
    assert [item.name for item in out.iterdir()] == ["report.json"]


def test_a_link_is_no_place_for_a_report(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "report").symlink_to("elsewhere")
    with pytest.raises(ForeignFolderError, match="is a link or a file"), report_folder(tmp_path / "report"):
        pass


def test_the_folder_that_somebody_stands_in_is_not_pulled_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "report/tables").mkdir(parents=True)
    (tmp_path / "report/report.json").write_text('{"format": "oresight.report"}')
    for place in (tmp_path / "report", tmp_path / "report/tables"):
        monkeypatch.chdir(place)
        for out in (Path(os.path.relpath(tmp_path / "report")), tmp_path / "report"):
            with pytest.raises(ForeignFolderError, match="the folder that this command runs in"), report_folder(out):
                pass
    assert (tmp_path / "report/tables").is_dir()


# ---- pictures


def plan(root: Path, **options: Any) -> PicturePlan:
    return PicturePlan(
        root / "run it/frames",
        root / "aside/pictures/a/b",
        root / "report/pictures/a/b",
        root / "report/episodes/a",
        **{"copied": False, "drawn": False, **options},
    )


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    folder = tmp_path / "run it/frames"
    folder.mkdir(parents=True)
    for name in ("000001.png", "000003.png", "000009.png", "notes.txt"):
        (folder / name).write_bytes(name.encode())
    (folder / "000002.png").symlink_to("/etc/hostname")
    return tmp_path


def test_pictures_are_linked_to_relatively_and_links_on_the_disk_are_not_followed(frames: Path) -> None:
    found = find_pictures(frames / "run it", 3, plan(frames))
    assert found.links == {
        1: "../../../run%20it/frames/000001.png",
        3: "../../../run%20it/frames/000003.png",
    }


def test_copied_pictures_lie_in_the_report(frames: Path) -> None:
    found = find_pictures(frames / "run it", 3, plan(frames, copied=True))
    assert found.links == {1: "../../pictures/a/b/000001.png", 3: "../../pictures/a/b/000003.png"}
    assert (frames / "aside/pictures/a/b/000003.png").read_bytes() == b"000003.png"
    assert found.copied == 2


def test_pictures_that_cannot_be_drawn_are_a_sentence(frames: Path) -> None:
    found = find_pictures(frames / "run it", 3, plan(frames, drawn=True))
    assert found.problem is not None and found.problem.startswith("pictures cannot be drawn again: ")
    assert sorted(found.links) == [1, 3] and not (frames / "aside/pictures/a/b").exists()


# ---- whole reports


SCENARIOS = ("low-small-0", "high-small-0", "high-medium-0")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play_study(
        tmp_path_factory.mktemp("played") / "study", "grid", ("random", "depth-first", "frontier"), SCENARIOS
    )


@pytest.fixture(scope="module")
def made(study: Path) -> Path:
    """A report of that study, with one result torn, one trajectory broken and one episode never begun."""
    root = study.parent / "broken"
    shutil.copytree(study, root / "study")
    first, second, third = sorted(item for item in (root / "study").iterdir() if item.is_dir())
    (first / "episodes/low-small-0/result.json").write_text('{"format": "ores')
    (second / "episodes/low-small-0/trajectory.jsonl").write_text("{}\n")
    shutil.rmtree(third / "episodes/low-small-0")
    make_report([root / "study"], root / "report", ReportOptions())
    return root


def test_a_report_holds_a_page_a_replay_each_tables_and_figures(made: Path) -> None:
    report = made / "report"
    told = json.loads((report / "report.json").read_text())
    assert told["pages"] == 8 and not told["complete"]
    for name in (*told["tables"], *told["figures"]):
        assert (report / name).is_file()
    pages = [report / "index.html", *report.glob("episodes/*/*.html")]
    assert len(pages) == 9
    assert {str(page): dead for page in pages if (dead := dead_links(page))} == {}


def test_what_is_at_fault_is_named_and_stops_nothing(made: Path) -> None:
    told = json.loads((made / "report/report.json").read_text())
    counts = {each["label"]: each["counts"] for each in told["conditions"]}
    assert {label: (each["scored"], each["missing"], each["unreadable"]) for label, each in counts.items()} == {
        "depth-first, raw": (2, 0, 1),
        "frontier, raw": (2, 0, 1),
        "random, raw": (2, 1, 0),
    }
    torn, unreadable, broken_one = told["problems"]
    assert unreadable.startswith("C frontier-raw-") and "trajectory.jsonl, line 1" in unreadable
    assert torn.startswith("B depth-first-raw-") and "result.json: found no JSON" in torn
    assert broken_one.startswith("C frontier-raw-") and "low-small-0: no replay: " in broken_one
    page = (made / "report/index.html").read_text()
    assert "result.json: found no JSON" in page
    assert "this study is incomplete" in page
    broken = next((made / "report/episodes").glob("frontier-raw*/low-small-0.html")).read_text()
    assert "its recording cannot be read" in broken


def test_a_result_without_its_recording_is_named_and_figures_say_who_is_left_out(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study, tmp_path / "study")
    first = next((tmp_path / "study").glob("frontier*"))
    trajectory = first / "episodes/low-small-0/trajectory.jsonl"
    head, _, *rest = trajectory.read_text().splitlines(keepends=True)
    trajectory.write_text("".join([head, "{}\n", *rest]))
    told = make_report([tmp_path / "study"], tmp_path / "report", ReportOptions()).told
    (problem,) = told["problems"]
    assert "low-small-0: no replay: " in problem and "trajectory.jsonl" in problem
    page = (tmp_path / "report/index.html").read_text()
    assert "C frontier, raw: over 2 of 3 results; the recordings of the others cannot be read." in page
    assert told["complete"] and dead_links(tmp_path / "report/index.html") == []


def test_no_file_of_a_report_tells_where_it_was_made(made: Path) -> None:
    for file in (made / "report").rglob("*"):
        if file.is_file():
            assert str(made).encode() not in file.read_bytes(), file


def test_the_tables_say_what_the_study_came_to(made: Path) -> None:
    with (made / "report/tables/episodes.csv").open() as stream:
        episodes = list(csv.DictReader(stream))
    assert len(episodes) == 9
    assert [row["outcome"] for row in episodes if row["replay"] == ""] == ["missing"]
    with (made / "report/tables/conditions.csv").open() as stream:
        rows = {row["condition"]: row for row in csv.DictReader(stream)}
    frontier = rows["frontier, raw"]
    assert (frontier["success_value"], frontier["success_n"], frontier["success_method"]) == (
        "1.0",
        "2",
        "Wilson, 95 %",
    )
    assert frontier["exploration_error_lenient_numerator"] == "0"
    with (made / "report/tables/sensitivity.csv").open() as stream:
        assert len(list(csv.DictReader(stream))) == 3 * 9


def test_a_report_is_the_same_whatever_the_number_of_workers(tmp_path: Path) -> None:
    played = play_study(tmp_path / "study", "grid", ["frontier"], [f"low-small-{number}" for number in range(24)])
    contents = []
    for workers in (1, 2):
        out = tmp_path / f"report-{workers}"
        make_report([played], out, ReportOptions(workers=workers))
        contents.append({file.relative_to(out): file.read_bytes() for file in out.rglob("*") if file.is_file()})
    assert len(contents[0]) > 24 and contents[0] == contents[1]


def test_the_command_says_what_it_made_and_replaces_its_own(oresight: Any, study: Path, tmp_path: Path) -> None:
    run = next(item for item in sorted(study.iterdir()) if item.is_dir())
    out = tmp_path / "report"
    ran = oresight("report", run, "--out", out, "--workers", 1, "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["folder"] == str(out) and told["complete"] and told["pages"] == 3
    assert [each["title"] for each in told["not_drawn"]] == [
        "Success against each error",
        "Success and errors by prompt set",
        "Two episodes side by side",
        "Memory against raw context",
    ]
    again = oresight("report", run, "--out", out, "--workers", 1)
    assert again.code == 0
    assert "depth-first, raw: 3 of 3 episodes scored" in again.out and "Written to" in again.out


def test_a_condition_that_was_never_begun_is_named(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study, tmp_path / "study")
    folders = sorted(item for item in (tmp_path / "study").iterdir() if item.is_dir())
    for folder in folders[1:]:
        shutil.rmtree(folder)
    made = make_report([tmp_path / "study"], tmp_path / "report", ReportOptions())
    assert [each["label"] for each in made.told["conditions"]] == ["depth-first, raw"]
    assert sorted(made.told["problems"]) == [
        f"study: the condition {folder.name} was never begun; run the study again" for folder in folders[1:]
    ]
    shutil.rmtree(folders[0])
    with pytest.raises(OresightError, match="no condition of it was begun"):
        make_report([tmp_path / "study"], tmp_path / "other", ReportOptions())


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["nowhere", "--out", "report"], "holds no run.json"),
        (["study", "--out", "study"], "holds other things"),
        (["study", "--out", "study/{run}/episodes/report"], "lies among the episodes of "),
        (["study", "--out", "report", "--pictures", "all"], "unknown choice for --pictures 'all'"),
    ],
)
def test_a_wrong_report_is_one_sentence_and_leaves_nothing(
    oresight: Any, study: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(study.parent)
    before = sorted(str(item) for item in study.parent.rglob("*"))
    run = next(study.glob("frontier*")).name
    ran = oresight("report", *(each.format(run=run) for each in arguments))
    assert ran.code == 2
    assert said in ran.one_sentence()
    assert sorted(str(item) for item in study.parent.rglob("*")) == before


def test_text_of_a_model_is_escaped_on_every_page(tmp_path: Path) -> None:
    said = "</script><script>alert(1)</script>"
    run = play_model(tmp_path / "run", [json.dumps({"reason": said, "action": "up"}), said])
    file = run / "run.json"
    file.write_text(file.read_text().replace('"agent": "scripted', '"agent": "</script><img src=x>scripted'))
    make_report([run], tmp_path / "report", ReportOptions())
    for page in (tmp_path / "report").rglob("*.html"):
        text = page.read_text()
        assert "<script>alert" not in text and "<img src=x>" not in text, page


@pytest.mark.gl
def test_missing_pictures_are_drawn_again_from_the_recording(tmp_path: Path) -> None:
    import numpy as np
    from PIL import Image

    arm = condition_plan(
        Condition("spinner", None), [Selection("craft", scenario="cave-0")], PlayOptions("all", (64, 48))
    )
    run_all([(arm.plan, tmp_path / "run it")])
    episode = tmp_path / "run it/episodes/cave-0"
    trajectory = episode / "trajectory.jsonl"
    trajectory.write_bytes(b"".join(trajectory.read_bytes().splitlines(keepends=True)[:4]))
    recorded = {number: np.asarray(Image.open(episode / f"frames/{number:06d}.png"), int) for number in (1, 2, 3, 4)}
    (episode / "frames/000002.png").unlink()
    (episode / "frames/000004.png").unlink()
    drawing = replace(plan(tmp_path, drawn=True, size=(64, 48)), recorded=episode / "frames")
    found = find_pictures(episode, 3, drawing)
    assert found.problem is None and found.drawn == 2
    assert found.links[1].endswith("/run%20it/episodes/cave-0/frames/000001.png")
    assert found.links[2] == "../../pictures/a/b/000002.webp"
    for number in (2, 4):
        drawn = np.asarray(Image.open(tmp_path / f"aside/pictures/a/b/{number:06d}.webp").convert("RGB"), int)
        assert drawn.shape == recorded[number].shape
        # WebP is lossy; the picture of another step is far off.
        distances = {step: float(np.abs(drawn - picture).mean()) for step, picture in recorded.items()}
        assert min(distances, key=distances.__getitem__) == number
        assert sorted(distances.values())[1] > 3 * distances[number]
