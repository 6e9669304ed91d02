"""The study without a model: how it counts, that workers change nothing, and that what is committed was measured."""

import json

import pytest

from experiments.study.family import FAMILY, PAIRS, SOLVER, TEXT_AGENTS, Played, play_all
from experiments.study.figures import draw_figures
from experiments.study.measure import MAIN_SEEDS, Study, study
from experiments.study.pairs import choose_example, choose_pair
from experiments.study.words import to_markdown
from oresight.harness.running.executors.map import work_through
from oresight.harness.worlds import suite_names
from oresight.scoring.decisions import EpisodeSummary, Tally
from oresight.scoring.records import Outcome
from support.places import ROOT

DOCS = ROOT / "docs"
COMMITTED = json.loads((DOCS / "study.json").read_text())


@pytest.fixture(scope="module")
def small() -> Study:
    return study(MAIN_SEEDS)


def summary(success: bool, explore: tuple[int, int], exploit: tuple[int, int]) -> EpisodeSummary:
    tally = Tally(explore[0], explore[1], exploit[0], exploit[1], 0)
    outcome = Outcome.SUCCESS if success else Outcome.BUDGET_SPENT
    return EpisodeSummary(outcome, None, {"lenient": tally, "strict": tally}, 30, 30, 30, 90, float(success))


def played(agent: str, seed: int, *one: object) -> Played:
    return Played(agent, f"low-small-{seed}", seed, (summary(*one),) * len(PAIRS))  # type: ignore[arg-type]


def test_workers_change_nothing() -> None:
    names = suite_names("grid", "main", [0])
    assert play_all(names, TEXT_AGENTS[5:9], workers=2) == play_all(names, TEXT_AGENTS[5:9], workers=1)
    assert list(work_through(abs, [-3, 2, -1], workers=2)) == [3, 2, 1]


def test_the_main_suite_is_measured_as_committed(small: Study) -> None:
    assert small.main.to_json()["agents"] == COMMITTED["samples"][0]["agents"]
    fits = COMMITTED["samples"][0]["success_against_log10_error"]
    for kind, regression in small.main.fits.items():
        assert regression.with_errors.r2 == pytest.approx(fits[kind]["with_errors"]["r2"])
        assert regression.all.r2 == pytest.approx(fits[kind]["all"]["r2"])
    assert (small.example is not None) and small.example.to_json() == COMMITTED["example"]


def test_the_solver_is_in_no_fit_and_every_text_agent_is_in_both(small: Study) -> None:
    for regression in small.main.fits.values():
        names = {point.name for point in regression.all.points} | set(regression.undefined)
        assert names == set(TEXT_AGENTS)
    assert {row.agent for row in small.main.rows} == {*TEXT_AGENTS, SOLVER}


def test_agents_without_an_error_are_floored_and_counted(small: Study) -> None:
    for regression in small.main.fits.values():
        assert [point.name for point in regression.all.points if point.floored] == ["frontier"]
        assert regression.all.floored == 1
        assert regression.with_errors.floored == 0


def test_demand_on_exploration_grows_the_other_way(small: Study) -> None:
    assert [level.name for level in small.demand.levels("exploitation")] == ["low", "medium", "high"]
    assert [level.name for level in small.demand.levels("exploration")] == ["high", "medium", "low"]
    assert [level.name for level in small.size.levels("exploration")] == ["small", "medium", "large"]
    assert [level.episodes for level in small.demand.family] == [9 * len(FAMILY)] * 3


def test_the_words_say_what_was_measured(small: Study) -> None:
    text = to_markdown(small)
    frontier = small.main.row("frontier").error("exploration")
    assert f"0/{frontier.denominator} = 0.000 [0.000, 0.000]" in text
    assert max(len(line) for line in text.split("\n") if not line.startswith(("|", "-", "#", "!"))) <= 120


def test_figures_come_out_the_same_and_read_no_text_as_a_formula(small: Study) -> None:
    first, second = draw_figures(small), draw_figures(small)
    assert first == second
    assert {name.partition(".")[2] for name in first} == {"svg", "png"}
    assert b"mathdefault" not in first["success-main.svg"]


def test_a_pair_is_chosen_on_even_seeds_and_told_by_odd_ones() -> None:
    one, other = TEXT_AGENTS[0], TEXT_AGENTS[1]
    episodes = [
        *(played(one, seed, seed < 6, (1, 20), (8, 20)) for seed in range(10)),
        *(played(other, seed, seed < 6, (7, 20), (2, 20)) for seed in range(10)),
        *(played(agent, seed, False, (9, 20), (9, 20)) for agent in TEXT_AGENTS[2:] for seed in range(10)),
    ]
    pair = choose_pair(episodes)
    assert pair is not None
    assert (pair.explorer, pair.exploiter, pair.confirmed) == (one, other, True)
    assert pair.differences["exploration"].value == pytest.approx(-0.3)
    assert pair.differences["exploitation"].value == pytest.approx(0.3)
    turned = [
        played(each.agent, each.seed, each.summary.success, each.summary.tally.exploit, each.summary.tally.explore)
        if each.seed % 2
        else each
        for each in episodes
    ]
    contradicted = choose_pair(turned)
    assert contradicted is not None
    assert not contradicted.confirmed


def test_without_equal_success_or_without_opposite_errors_there_is_no_pair() -> None:
    better = [played(TEXT_AGENTS[0], seed, seed < 6, (1, 20), (1, 20)) for seed in range(10)]
    worse = [played(agent, seed, seed < 6, (7, 20), (8, 20)) for agent in TEXT_AGENTS[1:] for seed in range(10)]
    assert choose_pair([*better, *worse]) is None


def test_an_example_needs_two_successes_and_enough_decisions_of_each_kind() -> None:
    one, other = TEXT_AGENTS[0], TEXT_AGENTS[1]
    clear = [played(one, 0, True, (0, 20), (9, 20)), played(other, 0, True, (9, 20), (0, 20))]
    found = choose_example(clear)
    assert found is not None
    assert (found.scenario, found.explorer, found.exploiter, found.cases, found.maps) == (
        "low-small-0",
        one,
        other,
        1,
        1,
    )
    assert choose_example([clear[0], played(other, 0, False, (9, 20), (0, 20))]) is None
    assert choose_example([clear[0], played(other, 0, True, (4, 9), (0, 20))]) is None


def test_the_committed_study_has_its_figures_and_its_words() -> None:
    text = (DOCS / "study.md").read_text()
    for line in text.split("\n"):
        if line.startswith("!["):
            assert (DOCS / line.partition("(")[2].rstrip(")")).is_file(), line
    assert f"--seeds {COMMITTED['seeds']}`" in text
