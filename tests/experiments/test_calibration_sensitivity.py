"""The sensitivity of the calibration table: what is scored once from facts under every setting, and how it is told."""

import json
from pathlib import Path

import pytest

from experiments.calibration.order import order_faults
from experiments.calibration.sensitivity import SETTINGS, Moves, Play, Sensitivity, Tallies, moves_of, score_run
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds import find_worlds
from oresight.scoring.decisions import Tally
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import CraftFacts, CraftScenario, StartFacts
from support.places import ROOT
from support.scoring_facts import Episode, Ore

COMMITTED = json.loads((ROOT / "docs" / "calibration.json").read_text())
NAMES = [setting.name for setting in SETTINGS]


def play_of(episode: Episode, counted_from: int = 0) -> Play:
    return Play(
        CraftScenario.model_validate(episode.scenario),
        StartFacts.model_validate(episode.start),
        tuple((action, CraftFacts.model_validate(facts)) for action, facts in episode.lines),
        counted_from,
    )


def counts(tally: Tally) -> tuple[int, int, int, int]:
    return *tally.explore, *tally.exploit


def moving(name: str, lenient: dict[str, tuple[int, int]], case: int | None = 1) -> Moves:
    cells = tuple(lenient.get(setting, lenient["defaults"]) for setting in NAMES)
    return Moves(name, case, "exploration", cells, cells)


def test_each_parameter_is_changed_alone_and_the_defaults_come_first() -> None:
    assert NAMES == [
        "defaults",
        "position cell 1",
        "position cell 4",
        "new faces 4",
        "new faces 16",
        "k 1",
        "k 3",
        "patience 16",
        "patience 40",
        "discovery px 16",
        "discovery px 256",
    ]
    plain = Parameters().model_dump()
    for setting in SETTINGS:
        changed = {name for name, value in setting.parameters.model_dump().items() if value != plain[name]}
        assert changed == ({setting.parameter} if setting.parameter else set())


def test_a_play_is_scored_as_the_scorer_scores_it_live() -> None:
    episode = Episode()
    for _ in range(30):
        episode.do("wait")
    found = play_of(episode).score(Parameters())
    assert counts(found.lenient) == counts(episode.scorer.tally) == (30, 30, 0, 0)
    assert counts(found.strict) == counts(episode.scorer.strict_tally)


def test_what_only_makes_the_place_known_is_scored_and_not_counted() -> None:
    episode = Episode()
    for _ in range(30):
        episode.do("wait")
    play = play_of(episode, counted_from=12)
    assert play.counted == 18
    assert counts(play.score(Parameters()).lenient) == (18, 18, 0, 0)


def test_a_play_that_ends_in_the_warm_up_counts_nothing() -> None:
    episode = Episode()
    episode.do("wait")
    assert play_of(episode, counted_from=5).counted == 0


def test_a_setting_reaches_the_scorer() -> None:
    episode = Episode(ores=(Ore((0, 30, 20)),), see_px=100.0)
    episode.do("wait")
    play = play_of(episode)
    found = {setting.name: counts(play.score(setting.parameters).lenient) for setting in SETTINGS}
    # Known under the defaults, so that waiting is no exploiting; not discovered where a larger face is asked for.
    assert found["defaults"] == (0, 0, 1, 1)
    assert found["discovery px 256"] == (1, 1, 0, 0)


def test_episodes_are_pooled_setting_by_setting() -> None:
    one = [Tallies(Tally(place, 10), Tally(place + 1, 10)) for place in range(len(SETTINGS))]
    other = [Tallies(Tally(1, 5), Tally(2, 5)) for _ in SETTINGS]
    found = moves_of("idle", 1, "exploration", [one, other])
    assert found.lenient == tuple((place + 1, 15) for place in range(len(SETTINGS)))
    assert found.strict[0] == (3, 15)


def test_a_runs_episodes_under_the_defaults_have_the_counts_of_the_run(tmp_path: Path) -> None:
    plan = RunPlan("random", "raw", find_worlds("craft", ["outcrop-0"]), frames="none", size=None)
    summary = run(plan, tmp_path / "run")
    (scored,) = score_run(tmp_path / "run")
    recorded = summary.results[0].score["lenient"]
    assert scored[0].lenient.to_json() == recorded
    patient = scored[NAMES.index("patience 40")].lenient
    assert patient.explore_errors <= recorded["explore_errors"]


def test_an_episode_that_is_no_result_is_left_out(tmp_path: Path) -> None:
    plan = RunPlan("stuck", "raw", find_worlds("craft", ["outcrop-0"]), frames="none", size=None)
    run(plan, tmp_path / "run")
    (tmp_path / "run/episodes/outcrop-0/result.json").unlink()
    assert score_run(tmp_path / "run") == []


def test_a_setting_in_which_the_order_breaks_is_named() -> None:
    rows = (
        moving("idle", {"defaults": (10, 10)}),
        moving("spinning", {"defaults": (7, 10), "k 3": (4, 10)}),
        moving("one of the 21 at random", {"defaults": (5, 10)}),
        moving("random moves and looks", {"defaults": (3, 10)}),
        moving("agent random, memory raw", {"defaults": (3, 10)}, None),
        moving("agent scout, memory screenshots(8)", {"defaults": (1, 10)}, None),
    )
    sentence = "spinning has 0.400, not above one of the 21 at random with 0.500"
    table = Sensitivity(rows)
    assert table.order_faults() == [f"k 3, lenient: {sentence}", f"k 3, strict: {sentence}"]
    page = "\n".join(table.to_markdown())
    assert f"It does not hold:\n\n- k 3, lenient: {sentence}\n" in page


def test_idle_may_equal_spinning_and_nobody_else_may_equal_the_next() -> None:
    rates = {
        "idle": 0.5,
        "spinning": 0.5,
        "one of the 21 at random": 0.4,
        "random moves and looks": 0.4,
        "agent random, memory raw": 0.4,
        "agent scout, memory screenshots(8)": 0.1,
    }
    assert order_faults(rates) == []
    assert order_faults(rates | {"agent random, memory raw": 0.5}) == [
        "spinning has 0.500, not above agent random, memory raw with 0.500"
    ]
    del rates["idle"]
    assert order_faults(rates) == ["idle or spinning was not measured"]


def test_the_page_tells_what_moves_and_by_how_much_and_names_what_does_not() -> None:
    rows = (
        moving("idle", {"defaults": (10, 10)}),
        moving("pacing", {"defaults": (40, 100), "k 1": (50, 100), "k 3": (199, 500), "discovery px 256": (0, 0)}),
    )
    lines = Sensitivity(rows).to_markdown()
    (line,) = {line for line in lines if line.startswith("| case 1, pacing |")}
    cells = [cell.strip() for cell in line.strip("|").split("|")][2:]
    assert dict(zip(NAMES, cells, strict=True)) == dict.fromkeys(NAMES, "=") | {
        "defaults": "40/100 = 0.40",
        "k 1": "0.50 (+0.10)",
        "k 3": "0.40 (-<0.01) of 500",
        "discovery px 256": "– of 0",
    }
    assert lines.count("Nothing moves these: case 1, idle, exploration.") == 2
    reach = "| k 1 | 1 of 2 | +0.10, case 1, pacing, exploration | 1 of 2 | +0.10, case 1, pacing, exploration |"
    assert reach in lines


def test_the_committed_table_has_every_rate_under_every_setting_and_agrees_with_the_rates_beside_it() -> None:
    committed = COMMITTED["sensitivity"]
    assert [each["parameter"] for each in committed["settings"]] == [setting.parameter for setting in SETTINGS]
    assert [each["value"] for each in committed["settings"]] == [setting.value for setting in SETTINGS]
    measured = [row for row in COMMITTED["rows"] if not row["name"].startswith("person")]
    keys = ("name", "case", "kind")
    assert [[row[key] for key in keys] for row in committed["rows"]] == [[row[key] for key in keys] for row in measured]
    for row, beside in zip(committed["rows"], measured, strict=True):
        for reading in ("lenient", "strict"):
            assert len(row[reading]) == len(SETTINGS)
            assert row[reading][0] == [beside[reading]["numerator"], beside[reading]["denominator"]]


@pytest.mark.parametrize("reading", ["lenient", "strict"])
def test_in_the_committed_table_the_order_holds_under_every_setting(reading: str) -> None:
    committed = COMMITTED["sensitivity"]
    assert committed["order_faults"] == []
    for place in range(len(SETTINGS)):
        rates = {
            row["name"]: row[reading][place][0] / row[reading][place][1]
            for row in committed["rows"]
            if row["kind"] == "exploration" and row["case"] != 2 and row[reading][place][1]
        }
        assert rates["idle"] >= rates["spinning"] > rates["one of the 21 at random"]
        assert rates["random moves and looks"] > rates["agent scout, memory screenshots(8)"]
