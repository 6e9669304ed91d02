"""Studies as files: what they ask for, the folder they leave, and what is said of one that is none."""

import json
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.running.plan import forecast
from oresight.harness.running.study_file import load_study, parse_study

STUDY = """
world = "grid"
suite = "main"
seeds = [0]
agents = ["random", "depth-first"]
models = ["scripted:replies.txt"]
memories = ["raw", "tree+notes"]
prompts = ["base", "balance"]

[[conditions]]
agent = "solver"
memory = "window:0"
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "replies.txt").write_text(
        "\n".join(f'{{"action": "{way}"}}' for way in ("up", "left", "down", "right"))
    )
    path = tmp_path / "first.toml"
    path.write_text(STUDY)
    return path


def test_conditions_are_agents_and_models_by_memories_and_models_by_prompts_too(study: Path) -> None:
    assert [arm.label for arm in load_study(study).arms()] == [
        "random, raw",
        "random, tree+notes",
        "depth-first, raw",
        "depth-first, tree+notes",
        "scripted:replies.txt, raw, base",
        "scripted:replies.txt, raw, balance",
        "scripted:replies.txt, tree+notes, base",
        "scripted:replies.txt, tree+notes, balance",
        "solver, window(0)",
    ]
    arms = load_study(study).arms()
    assert len({arm.id for arm in arms}) == len(arms)
    assert {len(arm.plan.worlds) for arm in arms} == {9}


def test_a_dry_run_counts_and_leaves_nothing(oresight: Any, study: Path) -> None:
    budgets = sum(world.budget for world in load_study(study).arms()[0].plan.worlds)
    ran = oresight("run", study, "--dry-run")
    assert ran.code == 0
    assert [line.split()[-4:] for line in ran.out.splitlines() if line.startswith("in all")] == [
        [str(9 * 9), str(9 * budgets), str(4 * budgets), "0"]
    ]
    assert sorted(path.name for path in study.parent.iterdir()) == ["first.toml", "replies.txt"]


def test_a_forecast_counts_the_pictures_of_a_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    asked = {"world": "craft", "scenarios": ["outcrop-0"], "models": ["openai:m"], "memories": ["screenshots:2"]}
    (arm,) = parse_study(asked, "x").arms()
    assert forecast(arm.plan).pictures == 1 + 2 + 98 * 3


def test_a_study_is_played_in_one_folder_and_gone_on_with(oresight: Any, study: Path) -> None:
    ran = oresight("run", study, "--workers", "2")
    assert ran.code == 0, ran.err
    out = study.parent / "runs/first"
    assert "Written to runs/first" in ran.out
    told = json.loads((out / "summary.json").read_text())
    assert (len(told["conditions"]), told["complete"], len(told["shared_episodes"])) == (9, True, 9)
    runs = [path for path in out.iterdir() if path.is_dir()]
    assert all(json.loads((path / "summary.json").read_text())["complete"] for path in runs)
    next(runs[0].glob("episodes/*/result.json")).unlink()
    again = oresight("run", study)
    assert again.code == 0
    assert again.out.count("(played before)") == 9 * 9 - 1
    assert json.loads((out / "summary.json").read_text()) == told
    study.write_text(STUDY.replace('"depth-first"', '"frontier"'))
    ran = oresight("run", study)
    assert (ran.code, "holds another study" in ran.one_sentence()) == (2, True)


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "field 'world'"),
        ("world = ", "not valid TOML"),
        ("\xff", "holds another"),
        ('world = "moon"', "field 'world'"),
        ('world = "grid"', "one of suite, scenarios and maps; found none"),
        ('world = "grid"\nsuite = "main"', "at least one of agents, models and conditions"),
        (
            'world = "grid"\nsuite = "main"\nscenarios = ["low-small-0"]\nagents = ["random"]',
            "found suite and scenarios",
        ),
        ('world = "grid"\nsuite = "main"\nagent = "random"', "unknown field 'agent'"),
        ('world = "grid"\nsuite = "main"\nagents = "random"', "field 'agents'"),
        ('world = "grid"\nsuite = "main"\nagents = [1]', "field 'agents.0'"),
        ('world = "grid"\nsuite = "main"\nagents = ["pilot"]', "unknown agent 'pilot'"),
        ('world = "grid"\nsuite = "main"\nagents = ["random"]\nmemories = []', "field 'memories'"),
        ('world = "grid"\nsuite = "main"\nagents = ["random"]\nmemories = ["screenshots"]', "a memory of pictures"),
        ('world = "grid"\nsuite = "main"\nmodels = ["gpt"]', "unknown model 'gpt'"),
        ('world = "grid"\nsuite = "main"\nmodels = ["openai:m"]', "OPENAI_API_KEY"),
        ('world = "grid"\nsuite = "main"\nagents = ["random"]\n[model]\ntemperature = 9', "temperature is 9"),
        ('world = "grid"\nsuite = "main"\nagents = ["random"]\n[limits]\nmax_cost = 1', "none plays"),
        ('world = "grid"\nsuite = "main"\nagents = ["random"]\n[limits]\nmax_cost = -1', "cap on cost is -1"),
        ('world = "grid"\nscenarios = ["low-small-0", "low-small-0"]\nagents = ["random"]', "is asked for twice"),
        ('world = "grid"\nmaps = ["nowhere.json"]\nagents = ["random"]', "nowhere.json"),
        ('world = "grid"\nsuite = "main"\n[[conditions]]\nmemory = "raw"', "give either --agent"),
        ("a = " + "[" * 5000, "not valid TOML"),
    ],
)
def test_a_malformed_study_is_one_sentence_and_leaves_nothing(
    oresight: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = tmp_path / "x.toml"
    if text == "\xff":
        path.write_bytes(b"\xff")
        said = "not valid TOML"
    else:
        path.write_text(text)
    ran = oresight("run", path)
    assert ran.code in (1, 2)
    assert said in ran.one_sentence()
    assert [each.name for each in tmp_path.iterdir()] == ["x.toml"]


def test_a_study_that_is_missing_and_options_that_it_says_itself_are_one_sentence(oresight: Any, study: Path) -> None:
    assert "no such file" in oresight("run", "nowhere.toml").one_sentence()
    assert "says what is played" in oresight("run", study, "--agent", "random").one_sentence()


def test_the_folder_of_a_study_is_scored_like_that_of_a_run(oresight: Any, study: Path) -> None:
    study.write_text('world = "grid"\nscenarios = ["low-small-0", "low-small-1"]\nagents = ["random", "solver"]')
    assert oresight("run", study).code == 0
    ran = oresight("score", "runs/first")
    assert ran.code == 0, ran.err
    assert "4 of 4 episodes scored (2 succeeded, 2 failed)" in ran.out
