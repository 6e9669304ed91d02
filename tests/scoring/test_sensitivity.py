import json
import random
import sys

import pytest
from test_episode_files import EPISODE, trajectory, write

from oresight.harness.cli import main as cli
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import Outcome, to_line
from oresight.scoring.rescoring import Settings
from oresight.scoring.score import score_paths
from support.grid_twin import random_episode, twin_score
from support.places import DATA
from support.run_files import result_json
from support.scoring_facts import Episode, Ore

VECTORS_FILE = DATA / "grid-episodes.json"
PAIRS = [(alpha, k) for alpha in (1.0, 2.0, 3.0) for k in (1, 2, 3)]
ALL = Settings.parse("1,2,3", "1,2,3")


def test_lists_are_read():
    assert Settings.parse("1,2.5, 3", "1, 2") == Settings((1.0, 2.5, 3.0), (1, 2))
    assert Settings.parse(None, None) == Settings()


@pytest.mark.parametrize(
    ("alpha", "k", "words"),
    [
        ("1,,2", None, "'' is no value"),
        ("0", None, "'0' is no value"),
        ("-1", None, "'-1' is no value"),
        ("nan", None, "'nan' is no value"),
        ("1e3", None, "'1e3' is no value"),
        (None, "0", "whole numbers of 1 or more"),
        (None, "1.5", "'1.5' is no value"),
        ("1,1.0", None, "a value stands twice"),
        (None, "2,2", "a value stands twice"),
    ],
)
def test_what_is_no_list_is_refused_in_a_sentence(alpha, k, words):
    with pytest.raises(ValueError, match=words):
        Settings.parse(alpha, k)


def test_every_pair_has_a_result_alpha_by_alpha():
    report = score_paths([VECTORS_FILE], settings=ALL)
    for episode in report.episodes:
        assert [(result.alpha, result.k) for result in episode.results] == PAIRS
    assert [(each.alpha, each.k) for each in report.figures] == PAIRS


def test_each_result_is_what_that_pair_alone_gives():
    report = score_paths([VECTORS_FILE], settings=ALL)
    for index, (alpha, k) in enumerate(PAIRS):
        alone = score_paths([VECTORS_FILE], settings=Settings((alpha,), (k,)))
        assert [e.results[index] for e in report.episodes] == [e.results[0] for e in alone.episodes]
        figures, own = report.figures[index], alone.figures[0]
        assert (figures.counts, figures.pooled.to_json()) == (own.counts, own.pooled.to_json())


def test_each_result_equals_the_slow_twin(tmp_path):
    episodes = [random_episode(random.Random(seed), 16) for seed in range(40)]
    report = score_paths([write(tmp_path / "e.jsonl", *episodes)], settings=ALL)
    for episode, scored in zip(episodes, report.episodes, strict=True):
        for result in scored.results:
            expected = twin_score(episode, result.alpha, result.k)
            summary = result.summary.to_json()
            assert len(result.steps) == expected.pop("steps_taken")
            assert [step.stale for step in result.steps] == [step["stale"] for step in expected.pop("steps")]
            assert {name: summary[name] for name in expected} == expected


def test_a_cut_keeps_the_first_steps_and_success_only_if_reached_by_then():
    report = score_paths([VECTORS_FILE], settings=Settings((1.0, 3.0), ()))
    for episode in report.episodes:
        cut, whole = episode.results
        assert cut.steps == whole.steps[: cut.summary.budget]
        assert cut.summary.success == (whole.summary.success and whole.summary.steps_taken <= cut.summary.budget)
        if not cut.summary.success:
            assert cut.summary.steps_taken == min(cut.summary.budget, len(whole.steps))


def test_early_failures_stay_failures_under_every_budget(tmp_path):
    folder = trajectory(tmp_path / "a", ["left"], str(Outcome.AGENT_ENDED))
    results = score_paths([folder], settings=Settings.parse("0.25,1,3,100", None)).episodes[0].results
    assert [str(result.summary.outcome)[:7] for result in results] == ["failure"] * 4
    assert [result.summary.budget for result in results] == [1, 4, 12, 400]


def test_alpha_above_3_goes_on_with_a_long_trajectory(tmp_path):
    path = write(tmp_path / "e.json", {**EPISODE, "moves": ["up"] * 50})
    results = score_paths([path], settings=Settings.parse("3,10", None)).episodes[0].results
    assert [result.summary.steps_taken for result in results] == [12, 40]


def craft_folder(path):
    episode = Episode(ores=(Ore((0, 31, 2), walk=3),), budget=6)
    for _ in range(6):
        episode.walk(dz=0.3)
    path.mkdir()
    lines = [episode.header(), *episode.decision_lines()]
    (path / "trajectory.jsonl").write_bytes(b"".join(map(to_line, lines)))
    told = result_json(path.name, "failure: budget spent", 6, 6, scenario="flat-0")
    (path / "result.json").write_text(json.dumps(told))
    return path


def test_the_3d_world_is_cut_at_alpha_thirds_of_its_budget(tmp_path):
    report = score_paths([craft_folder(tmp_path / "e")], settings=Settings.parse("1,2,3", "2"))
    assert report.complete
    assert [result.summary.budget for result in report.episodes[0].results] == [2, 4, 6]
    assert [result.summary.steps_taken for result in report.episodes[0].results] == [2, 4, 6]


def test_the_3d_world_cannot_be_prolonged(tmp_path):
    report = score_paths([craft_folder(tmp_path / "e")], settings=Settings.parse("4", None))
    assert "use 3 or less" in report.problems[0]
    assert report.counts.unreadable == 1


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def score(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["oresight", "score", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return run


def test_the_command_prints_one_result_flat_as_json(score):
    code, out, _ = score(VECTORS_FILE, "--json")
    found = json.loads(out)
    assert code == 0
    assert found == score_paths([VECTORS_FILE]).to_json()
    assert {"file", "name", "kind", "outcome", "summary", "steps"} <= set(found["episodes"][0])
    assert found["pooled"]["exploration_error"]["denominator"] == 95
    assert (found["parameters"]["alpha"], found["parameters"]["k"]) == (3.0, 2)


def test_the_command_prints_a_result_per_pair_as_json(score):
    code, out, _ = score(VECTORS_FILE, "--json", "--alpha", "1,2,3", "--k", "1,2,3")
    found = json.loads(out)
    assert code == 0
    assert found == score_paths([VECTORS_FILE], settings=ALL).to_json()
    for episode in found["episodes"]:
        assert [(result["alpha"], result["k"]) for result in episode["results"]] == PAIRS
        assert {"summary", "steps", "outcome"} <= set(episode["results"][0])
    assert [(result["alpha"], result["k"]) for result in found["pooled"]["results"]] == PAIRS
    assert found["parameters"]["alpha"] == [1, 2, 3]


def test_the_command_prints_a_row_per_pair(score):
    code, out, _ = score(VECTORS_FILE, "--alpha", "1,3")
    assert code == 0
    assert "oscillates-in-case-4, alpha 1, k 2" in out
    assert "7/16 = 0.44" in out and "7/10 = 0.70" in out
    assert "\nalpha 3, k 2\n" in out


def test_the_command_names_a_fault_and_exits_1(score, tmp_path):
    path = write(tmp_path / "e.jsonl", EPISODE, {**EPISODE, "moves": ["left", "fly"]})
    code, out, err = score(path, "--json")
    assert code == 1
    assert len(json.loads(out)["episodes"]) == 1
    words = "field moves[1], step 2: found 'fly'; expected up, down, left, right or null"
    assert err == f"oresight: {path}, line 2, {words}\n"


@pytest.mark.parametrize("arguments", [("--alpha", "0"), ("--k", "two"), ("--alpha", "1,1")])
def test_the_command_refuses_wrong_lists_in_one_sentence(score, arguments):
    code, out, err = score(VECTORS_FILE, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"oresight: {arguments[0]} is ") and err.count("\n") == 1


def test_no_episode_at_all_is_a_report_too(score, tmp_path):
    code, out, err = score(tmp_path / "nowhere", "--json")
    assert code == 1
    assert json.loads(out)["pooled"]["success"]["value"] is None
    assert "no such file or folder" in err


def test_defaults_hold_where_nobody_says():
    assert Settings().parameters(Parameters()) == (Parameters(),)
    assert [p.k for p in Settings(ks=(1, 2)).parameters(Parameters(), alpha=1.0, k=9)] == [1, 2]
