"""The grid behind the commands: runs, records, replays, scores, and the maps."""

import json
from pathlib import Path
from typing import Any

import pytest

from oresight.gridenv.mapfile import load_map
from oresight.harness.film.film import film
from oresight.harness.running.replay import replay
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds import find_worlds, suite_names, world_of_header
from oresight.scoring.readers.trajectory import read_trajectory
from oresight.scoring.score import score_paths


def test_the_main_suite_is_one_command(oresight: Any, tmp_path: Path) -> None:
    ran = oresight("run", "grid", "--agent", "frontier", "--suite", "main", "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    assert "27 of 27 episodes scored (27 succeeded, 0 failed), 0 broken, 0 missing" in ran.out
    assert "strict" not in ran.out
    again = oresight("run", "grid", "--agent", "frontier()", "--suite", "main", "--out", tmp_path / "run")
    assert again.out.count("(played before)") == 27


@pytest.mark.parametrize("agent", ["random", "depth-first", "frontier(window=8,noise=0.1)", "solver"])
@pytest.mark.parametrize("scenario", ["medium-large-2", "full-low-small-0", "custom-203-symbolic-1"])
def test_an_episode_is_scored_the_same_live_and_from_its_file_and_replays_without_a_difference(
    tmp_path: Path, agent: str, scenario: str
) -> None:
    worlds = find_worlds("grid", [scenario], "balance-reasoning")
    live = run(RunPlan(agent, "window(20)", worlds, "none", None), tmp_path / "run").results[0]
    report = score_paths([tmp_path / "run"])
    assert report.problems == ()
    assert report.episodes[0].summary.to_json() == live.score
    replayed = replay(tmp_path / "run/episodes" / scenario)
    assert (replayed.decisions, replayed.difference) == (live.steps, None)
    with read_trajectory(tmp_path / "run/episodes" / scenario / "trajectory.jsonl") as trajectory:
        again = world_of_header(trajectory.header)
    assert (again.scenario, again.instructions, again.prompts) == (
        worlds[0].scenario,
        worlds[0].instructions,
        "balance-reasoning",
    )


def test_a_changed_record_is_found_at_its_decision(tmp_path: Path) -> None:
    run(RunPlan("frontier", "raw", find_worlds("grid", ["high-small-0"]), "none", None), tmp_path / "run")
    path = tmp_path / "run/episodes/high-small-0/trajectory.jsonl"
    lines = path.read_text().split("\n")
    third = json.loads(lines[3])
    third["facts"]["moved"] = False
    lines[3] = json.dumps(third)
    path.write_text("\n".join(lines))
    difference = replay(path).difference
    assert difference is not None
    assert (difference.step, difference.field) == (3, "facts.moved")


def test_a_film_shows_the_map_with_the_referee_beside_it(tmp_path: Path) -> None:
    run(RunPlan("frontier", "raw", find_worlds("grid", ["high-small-1"]), "none", None), tmp_path / "run")
    filmed: list[int] = []
    replayed = film(tmp_path / "run/episodes/high-small-1", tmp_path / "film.mp4", filmed.append)
    assert replayed.difference is None
    assert filmed == list(range(1, replayed.decisions + 1))
    assert (tmp_path / "film.mp4").stat().st_size > 10_000


def test_a_map_file_is_played_with_its_own_visibility_and_another_map_is_another_run(
    oresight: Any, tmp_path: Path
) -> None:
    file, out = tmp_path / "my map.json", tmp_path / "run"
    make = ("maps", "make", "--demand", "high", "--size", "small", "--out", file)
    assert oresight(*make, "--full", "--seed", 1).code == 0
    play = ("run", "grid", "--agent", "solver", "--map", file, "--out", out)
    first = oresight(*play)
    assert first.code == 0
    assert "my-map" in first.out
    assert "exploration error undefined (0 decisions)" in first.out
    assert oresight(*make, "--full", "--seed", 2).code == 0
    assert "another run (its map differ)" in oresight(*play).one_sentence()


def test_generated_maps_are_played_by_demand_and_size(oresight: Any, tmp_path: Path) -> None:
    arguments = ("--demand", "high", "--size", "small", "--seeds", "5,0", "--prompts", "exploration")
    ran = oresight("run", "grid", "--agent", "frontier", *arguments, "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    config = json.loads((tmp_path / "run/run.json").read_text())["config"]
    assert (config["episodes"], config["prompts"]) == (["high-small-5", "high-small-0"], "exploration")


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "give one of --suite main"),
        (["--suite", "main", "--scenario", "low-small-0"], "give one of --suite main"),
        (["--demand", "low"], "--demand and --size go together"),
        (["--suite", "main", "--size", "small"], "--demand and --size go together"),
        (["--demand", "low", "--size", "640x480"], "unknown scenario 'low-640x480-0'"),
        (["--suite", "moon"], "unknown suite 'moon'"),
        (["--suite", "main", "--prompts", "loud"], "unknown prompt set 'loud'; known: base, exploration"),
        (["--suite", "main", "--prompts", "base-"], "unknown prompt set 'base-'"),
        (["--suite", "main", "--frames", "all"], "the grid has none"),
        (["--map", "nowhere.json"], "nowhere.json: cannot be written or read"),
    ],
)
def test_wrong_arguments_are_one_sentence_and_leave_nothing(
    oresight: Any, tmp_path: Path, arguments: list[str], said: str
) -> None:
    ran = oresight("run", "grid", "--agent", "frontier", "--out", tmp_path / "run", *arguments)
    assert ran.code != 0
    assert said in ran.one_sentence()
    assert not (tmp_path / "run").exists()


def test_grid_options_are_refused_in_the_3d_world(oresight: Any, tmp_path: Path) -> None:
    for option in (["--map", "x.json"], ["--demand", "low"]):
        ran = oresight("run", "craft", "--agent", "stuck", "--out", tmp_path / "run", *option)
        assert "is for the grid" in ran.one_sentence()
    ran = oresight(
        *("run", "craft", "--agent", "stuck", "--scenario", "outcrop-0", "--prompts", "loud", "--no-pictures"),
        *("--out", tmp_path / "run"),
    )
    assert ran.code == 2


def test_a_suite_is_exported_as_files_that_check_and_load(oresight: Any, tmp_path: Path) -> None:
    assert oresight("maps", "export", "--suite", "exploit-only", "--seeds", "4", "--out", tmp_path).code == 0
    files = sorted(tmp_path.iterdir())
    assert [file.stem for file in files] == sorted(suite_names("grid", "exploit-only", [4]))
    ran = oresight("maps", "check", *files)
    assert ran.code == 0
    assert ran.out.count(": sound; ") == 9
    assert load_map(files[0]).name == "high-large-4"


@pytest.mark.parametrize(
    "change, said",
    [
        ({"start": [9, 9]}, "map.start: found [9, 9], which is not a cell"),
        ({"goal": "Z"}, 'map.goal: found "Z"'),
        ({"cells": []}, "map.cells: found an empty list"),
        ({"start": [2, 0]}, "the goal is achieved at the start"),
        ({"nodes": [{"id": "G", "cell": [2, 0], "options": [["G"]]}]}, "a cycle"),
    ],
)
def test_every_faulty_map_gets_a_sentence(oresight: Any, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    map_ = {
        "cells": [[0, 0], [1, 0], [2, 0]],
        "start": [0, 0],
        "nodes": [{"id": "G", "cell": [2, 0], "options": []}],
        "goal": "G",
    }
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(map_))
    bad.write_text(json.dumps(map_ | change))
    ran = oresight("maps", "check", good, bad)
    assert ran.code == 1
    assert "good.json: sound; 3 cells, 1 nodes, budget 9 (3 a cell); the shortest solution takes 2 moves" in ran.out
    assert "bad.json" in ran.one_sentence()
    assert said in ran.one_sentence()
    told = json.loads(oresight("maps", "check", good, bad, "--json").out)
    assert [each["sound"] for each in told["maps"]] == [True, False]


def test_maps_are_shown_as_text_and_as_a_picture(oresight: Any, tmp_path: Path) -> None:
    ran = oresight("maps", "show", "high-small-0")
    assert ran.code == 0
    assert "start [" in ran.out
    assert "budget 18" in ran.out
    assert oresight("maps", "show", "custom-201-semantic-0", "--png", tmp_path / "map.png").code == 0
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "is not a file, and as a name: unknown scenario 'moon'" in oresight("maps", "show", "moon").one_sentence()


def test_what_cannot_be_generated_is_one_sentence(oresight: Any, tmp_path: Path) -> None:
    out = tmp_path / "map.json"
    ran = oresight("maps", "make", "--nodes", "60", "--density", "0.001", "--out", out)
    assert (ran.code, "raise the density" in ran.one_sentence()) == (2, True)
    assert "--corridors is 'wide'" in oresight("maps", "make", "--corridors", "wide", "--out", out).one_sentence()
    assert "unknown demand 'huge'" in oresight("maps", "make", "--demand", "huge", "--out", out).one_sentence()
    assert not out.exists()
