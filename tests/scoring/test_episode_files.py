import copy
import json

import pytest

from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.episode_file import FILE_BYTES_MAX, EpisodeEntry, read_episodes
from oresight.scoring.records import LINE_BYTES_MAX, Outcome, to_line
from oresight.scoring.rescoring import Settings
from oresight.scoring.score import Totals, score_paths, score_stream
from support.places import DATA
from support.run_files import result_json

VECTORS_FILE = DATA / "grid-episodes.json"
VECTORS = json.loads(VECTORS_FILE.read_text())
EPISODES = VECTORS["episodes"]
STEP_FIELDS = ("case", "gain", "progress", "stale", "error")

EPISODE = {
    "name": "row",
    "kind": "grid",
    "visibility": "partial",
    "map": {
        "cells": [[0, 0], [1, 0], [2, 0], [3, 0]],
        "start": [1, 0],
        "nodes": [
            {"id": "A", "cell": [3, 0], "options": []},
            {"id": "B", "cell": [2, 0], "options": []},
            {"id": "G", "cell": [0, 0], "options": [["A"], ["B"]]},
        ],
        "goal": "G",
    },
    "moves": ["left", "right", "right", "left", "left"],
}


def write(path, *lines, end=b"\n"):
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines) + end)
    return path


def outcomes(report):
    return [(episode.name, str(episode.summary.outcome)) for episode in report.episodes]


def the_problem(path):
    report = score_paths([path])
    assert report.counts.unreadable == 1, report.problems
    assert report.counts.scored == 0
    assert not report.complete
    return report.problems[0]


# --- the three forms -------------------------------------------------------------------------------------------------


def test_the_published_file_scores_exactly_as_it_says():
    report = score_paths([VECTORS_FILE])
    assert report.complete
    assert [episode.name for episode in report.episodes] == [episode["name"] for episode in EPISODES]
    for episode, vector in zip(report.to_json()["episodes"], EPISODES, strict=True):
        expected = dict(vector["expected"])
        assert [{name: step[name] for name in STEP_FIELDS} for step in episode["steps"]] == expected.pop("steps")
        assert {name: episode["summary"][name] for name in expected} == expected


def test_all_three_forms_give_the_same(tmp_path):
    as_lines = write(tmp_path / "e.jsonl", *EPISODES)
    as_list = tmp_path / "list.json"
    as_list.write_text(json.dumps({"episodes": EPISODES}, indent=2))
    whole = score_paths([VECTORS_FILE])
    assert [e.results for e in score_paths([as_lines]).episodes] == [e.results for e in whole.episodes]
    assert [e.results for e in score_paths([as_list]).episodes] == [e.results for e in whole.episodes]
    for number, episode in enumerate(EPISODES):
        for indent in (None, 1):
            one = tmp_path / f"one-{number}-{indent}.json"
            one.write_text(json.dumps(episode, indent=indent))
            assert score_paths([one]).episodes[0].results == whole.episodes[number].results


@pytest.mark.parametrize("name", ["e.jsonl", "e.json", "e.ndjson", "e.txt", "e"])
def test_lines_are_recognised_by_what_they_hold(tmp_path, name):
    assert outcomes(score_paths([write(tmp_path / name, EPISODE, EPISODE)])) == [("row", "success")] * 2


def test_blank_lines_a_byte_order_mark_and_a_missing_last_newline_are_no_fault(tmp_path):
    path = write(tmp_path / "e.jsonl", b"\xef\xbb\xbf" + json.dumps(EPISODE).encode(), b"", b"  ", EPISODE, end=b"")
    assert len(score_paths([path]).episodes) == 2


def test_an_episode_without_a_name_is_named_by_its_place(tmp_path):
    nameless = {key: value for key, value in EPISODE.items() if key != "name"}
    lines = score_paths([write(tmp_path / "e.jsonl", nameless, nameless)])
    assert [episode.name for episode in lines.episodes] == ["e line 1", "e line 2"]
    listed = score_paths([write(tmp_path / "f.json", {"episodes": [nameless]})])
    assert listed.episodes[0].name == "f episodes[0]"
    assert score_paths([write(tmp_path / "g.json", nameless)]).episodes[0].name == "g line 1"


def test_what_the_format_does_not_know_is_left_alone(tmp_path):
    path = write(tmp_path / "e.json", {**EPISODE, "why": "to see", "expected": 3})
    assert score_paths([path]).complete


def test_a_trajectory_that_ends_early_without_success_is_a_failure_and_counts(tmp_path):
    report = score_paths([write(tmp_path / "e.json", {**EPISODE, "moves": ["left"]})])
    assert outcomes(report) == [("row", "failure: agent ended the episode")]
    assert (report.counts.failed, report.complete) == (1, True)
    assert score_paths([write(tmp_path / "f.json", {**EPISODE, "moves": []})]).counts.failed == 1


def test_moves_after_the_end_are_no_steps(tmp_path):
    report = score_paths([write(tmp_path / "e.json", {**EPISODE, "moves": [*EPISODE["moves"], "up", None]})])
    assert (len(report.episodes[0].steps), report.episodes[0].summary.decisions) == (5, 7)


def test_steps_need_not_be_kept_and_episodes_stream():
    found = score_stream([VECTORS_FILE], Parameters(), keep_steps=False)
    first = next(found)
    assert first.steps == ()
    assert first.summary.tally.explore_eligible == 5


def test_an_episode_file_given_twice_counts_once(tmp_path):
    path = write(tmp_path / "e.jsonl", EPISODE)
    assert score_paths([path, path]).counts.found == 1


def test_pieces_of_json_make_the_whole(tmp_path):
    path = write(tmp_path / "e.jsonl", EPISODE, {**EPISODE, "moves": []})
    for settings in (Settings(), Settings((1.0, 3.0), (1, 2))):
        for episode in score_paths([path], settings=settings).episodes:
            assert json.loads("".join(episode.json_parts())) == episode.to_json()


# --- alpha and k -----------------------------------------------------------------------------------------------------


def used(report):
    return [(result.alpha, result.k) for episode in report.episodes for result in episode.results]


def test_alpha_and_k_come_from_the_command_else_from_the_file_else_are_3_and_2(tmp_path):
    bare = write(tmp_path / "bare.json", EPISODE)
    top = write(tmp_path / "top.json", {**EPISODE, "alpha": 1, "k": 3})
    listed = write(tmp_path / "list.json", {"alpha": 0.5, "episodes": [EPISODE, {**EPISODE, "k": 1}], "k": 5})
    assert used(score_paths([bare])) == [(3.0, 2)]
    assert used(score_paths([top])) == [(1.0, 3)]
    assert used(score_paths([listed])) == [(0.5, 5), (0.5, 1)]
    assert used(score_paths([top], settings=Settings.parse("2", None))) == [(2.0, 3)]
    assert used(score_paths([top], settings=Settings.parse("2,4", "1"))) == [(2.0, 1), (4.0, 1)]


def test_the_first_of_many_lines_may_be_the_files_top(tmp_path):
    path = write(tmp_path / "e.jsonl", {"alpha": 1, "k": 3}, EPISODE, {**EPISODE, "alpha": 2})
    assert used(score_paths([path])) == [(1.0, 3), (2.0, 3)]


def test_files_of_different_alpha_and_k_are_pooled_apart(tmp_path):
    path = write(tmp_path / "e.jsonl", {**EPISODE, "k": 1}, {**EPISODE, "alpha": 1}, {**EPISODE, "k": 1})
    figures = score_paths([path]).figures
    assert [(each.alpha, each.k, each.counts.scored) for each in figures] == [(3.0, 1, 2), (1.0, 2, 1)]


# --- faults ----------------------------------------------------------------------------------------------------------


def changed(*path_and_value):
    *path, last, value = path_and_value
    episode = copy.deepcopy(EPISODE)
    place = episode
    for part in path:
        place = place[part]
    place[last] = value
    return episode


def without(*path):
    episode = copy.deepcopy(EPISODE)
    place = episode
    for part in path[:-1]:
        place = place[part]
    del place[path[-1]]
    return episode


NODE = {"id": "X", "cell": [1, 0], "options": []}
NODES = EPISODE["map"]["nodes"]
FAULTS = {
    "unknown move": (changed("moves", 2, "jump"), "moves[2], step 3", "'jump'", "up, down, left, right or null"),
    "move in capitals": (changed("moves", 0, "Left"), "moves[0], step 1", "'Left'", "or null"),
    "move is a number": (changed("moves", 4, 1), "moves[4], step 5", "1", "or null"),
    "move is a list": (changed("moves", 1, ["left"]), "moves[1], step 2", "['left']", "or null"),
    "moves are a text": (changed("moves", "left"), "moves", "a text 'left'", "list"),
    "no moves": (without("moves"), "moves", "nothing", "this field"),
    "another kind": (changed("kind", "craft"), "kind", "a text 'craft'", "'grid'"),
    "no kind": (without("kind"), "kind", "nothing", "this field"),
    "visibility": (changed("visibility", "half"), "visibility", "a text 'half'", "'partial' or 'full'"),
    "no visibility": (without("visibility"), "visibility", "nothing", "this field"),
    "no map": (without("map"), "map", "nothing", "this field"),
    "name": (changed("name", 3), "name", "a number 3", "string"),
    "alpha is a text": (changed("alpha", "3"), "alpha", "a text '3'", "number"),
    "alpha is true": (changed("alpha", True), "alpha", "a truth value True", "number"),
    "alpha is 0": (changed("alpha", 0), "alpha", "a number 0", "greater than 0"),
    "k is 0": (changed("k", 0), "k", "a number 0", "greater than or equal to 1"),
    "k is half": (changed("k", 1.5), "k", "a number 1.5", "integer"),
    "empty map": (changed("map", "cells", []), "map.cells", "an empty list", "at least one cell"),
    "start outside": (changed("map", "start", [9, 9]), "map.start", "[9, 9], which is not a cell", "map.cells"),
    "cell repeated": (changed("map", "cells", 3, [0, 0]), "map.cells[3]", "[0, 0] again", "each cell once"),
    "cell of fractions": (changed("map", "cells", 1, [1.0, 0]), "map.cells[1]", "[1.0, 0]", "two integers"),
    "cell of truths": (changed("map", "cells", 1, [True, False]), "map.cells[1]", "[true, false]", "two integers"),
    "cell of texts": (changed("map", "cells", 1, ["1", 0]), "map.cells[1]", '["1", 0]', "two integers"),
    "node on no cell": (changed("map", "nodes", 1, "cell", [7, 7]), "map.nodes[1].cell", "[7, 7]", "map's cells"),
    "two nodes on a cell": (changed("map", "nodes", 1, "cell", [3, 0]), "map.nodes[1].cell", "[3, 0]", "of its own"),
    "id repeated": (changed("map", "nodes", 1, "id", "A"), "map.nodes[1].id", '"A" again', "each id once"),
    "unknown parent": (changed("map", "nodes", 2, "options", [["Z"]]), "map.nodes[2].options[0][0]", '"Z"', "a node"),
    "cycle": (changed("map", "nodes", 0, "options", [["G"]]), "map.nodes[0].options", "a cycle", "itself"),
    "node needs itself": (changed("map", "nodes", 0, "options", [["A"]]), "map.nodes[0].options", "a cycle", "itself"),
    "goal is no node": (changed("map", "goal", "Z"), "map.goal", '"Z"', "the id of one of map.nodes"),
    "unconnected node": (
        changed("map", {**EPISODE["map"], "cells": [*EPISODE["map"]["cells"], [9, 9]], "nodes": [
            *NODES, {"id": "X", "cell": [9, 9], "options": []}]}),
        "map.nodes[3].cell", "[9, 9], which is not connected", "moves from the start can reach"),
}  # fmt: skip


@pytest.mark.parametrize("form", ["one", "lines", "list", "pretty"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_file_field_and_step(tmp_path, name, form):
    episode, field, found, expected = FAULTS[name]
    path = tmp_path / "e.json"
    if form == "one":
        write(path, episode)
        place = f"{path}, line 1, field {field}: "
    elif form == "lines":
        write(path, EPISODE, EPISODE, episode, EPISODE)
        place = f"{path}, line 3, field {field}: "
    elif form == "list":
        write(path, {"episodes": [EPISODE, episode]})
        place = f"{path}, line 1, field episodes[1].{field}: "
    else:
        path.write_text(json.dumps({"episodes": [EPISODE, episode]}, indent=1))
        place = f"{path}, field episodes[1].{field}: "
    report = score_paths([path])
    assert report.counts.unreadable == 1
    assert report.counts.scored == {"one": 0, "lines": 3, "list": 1, "pretty": 1}[form]
    problem = report.problems[0]
    assert problem.startswith(f"{place}found "), problem
    told, _, rest = problem.removeprefix(f"{place}found ").partition("; expected ")
    assert (
        told.startswith(found) and expected.replace("map.", place.split("field ")[1].split("map")[0] + "map.") in rest
    )
    assert "\n" not in problem and len(problem) < len(str(path)) + 400


def test_a_goal_that_no_option_can_satisfy_is_refused(tmp_path):
    nodes = [{"id": "G", "cell": [0, 0], "options": [["A"]]}, {"id": "A", "cell": [3, 0], "options": [["G"]]}]
    problem = the_problem(write(tmp_path / "e.json", changed("map", "nodes", nodes)))
    assert "e.json, line 1, field map.nodes[" in problem


TEXT = json.dumps(EPISODE)
TEXT_FAULTS = {
    "empty": (b"", "found nothing; expected an episode"),
    "blank": (b"\n\n", "found nothing; expected an episode"),
    "no json": (b"episodes!\n", "found no JSON"),
    "list": (f"[{TEXT}]".encode(), "found a list"),
    "truncated": (TEXT[:200].encode(), "which ends too early, as if truncated"),
    "nan": (TEXT.replace("[3, 0]", "[NaN, 0]").encode(), "found the number NaN"),
    "infinity": (TEXT.replace("[3, 0]", "[-Infinity, 0]").encode(), "found the number -Infinity"),
    "huge": (TEXT.replace("[3, 0]", "[1e999, 0]").encode(), "found the number 1e999"),
    "long integer": (TEXT.replace("[3, 0]", f"[{'9' * 5000}, 0]").encode(), "found "),
    "duplicate field": (TEXT.replace('"moves"', '"moves": [], "moves"').encode(), "the field 'moves' more than once"),
    "duplicate inside": (TEXT.replace('"id": "B"', '"id": "B", "id": "C"').encode(), "the field 'id' more than once"),
    "nested": (TEXT.replace('"row"', "[" * 70 + "]" * 70).encode(), "nested deeper than 64"),
    "bottomless": (b'{"map": ' + b"[" * 200_000, "nested deeper than 64"),
    "no utf-8": (TEXT.replace("row", "r\udcffw").encode("utf-8", "surrogateescape"), "found byte 0xff"),
    "no episodes": (b'{"episodes": []}', "field episodes: found []; expected a list of at least one episode"),
    "episodes are a text": (b'{"episodes": "none"}', "field episodes: found 'none'"),
    "episode is a number": (b'{"episodes": [3]}', "field episodes[0]: found 3; expected an object"),
    "top": (b'{"episodes": [], "alpha": -1}', "field alpha: found a number -1; expected greater than 0"),
}


@pytest.mark.parametrize("name", TEXT_FAULTS)
def test_a_file_that_is_no_episode_file_says_why(tmp_path, name):
    data, words = TEXT_FAULTS[name]
    path = tmp_path / "e.json"
    path.write_bytes(data)
    problem = the_problem(path)
    assert problem.startswith(f"{path}")
    assert words in problem
    assert problem.isprintable()


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_file_cut_anywhere_is_one_sentence_and_never_a_result(tmp_path, cut):
    pretty = json.dumps({"episodes": [EPISODE]}, indent=1).encode()
    for data in (pretty, json.dumps({"episodes": [EPISODE]}).encode()):
        path = tmp_path / "e.json"
        path.write_bytes(data[: len(data) * cut // 60])
        problem = the_problem(path)
        assert problem.startswith(f"{path}")


def test_lines_cut_short_lose_the_last_one_alone(tmp_path):
    path = write(tmp_path / "e.jsonl", EPISODE, EPISODE, TEXT[:150].encode(), end=b"")
    report = score_paths([path])
    assert (report.counts.scored, report.counts.unreadable) == (2, 1)
    assert f"{path}, line 3: " in report.problems[0]
    assert "which ends too early, as if truncated" in report.problems[0]


def test_a_truncated_pretty_file_names_the_line(tmp_path):
    path = tmp_path / "e.json"
    lines = json.dumps(EPISODE, indent=1).splitlines()
    path.write_text("\n".join(lines[:20]))
    assert the_problem(path).startswith(f"{path}, line 20: found no JSON")


def test_a_line_beyond_the_limit_and_a_file_beyond_it_are_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "e.jsonl", EPISODE, b'{"name": "' + b"x" * LINE_BYTES_MAX + b'"}')
    report = score_paths([path])
    assert "line 2: found more bytes; expected at most 16 MB on a line" in report.problems[0]
    assert FILE_BYTES_MAX == 64 * 2**20
    monkeypatch.setattr("oresight.scoring.readers.episode_file.FILE_BYTES_MAX", 100)
    small = tmp_path / "f.json"
    small.write_text(json.dumps(EPISODE, indent=1))
    assert "write JSON Lines, an episode a line" in the_problem(small)


def test_more_than_a_million_cells_are_refused(tmp_path):
    cells = ",".join(f"[{x},0]" for x in range(1_000_001))
    text = json.dumps(EPISODE).replace("[[0, 0], [1, 0], [2, 0], [3, 0]]", f"[{cells}]")
    path = tmp_path / "e.json"
    path.write_text(text)
    assert "field map.cells: found 1,000,001 cells; expected at most 1,000,000" in the_problem(path)


def test_text_in_a_fault_cannot_act_on_a_terminal(tmp_path):
    evil = "\x1b[2J\u202e" + "x" * 500
    for episode in (changed("moves", 0, evil), changed("map", "goal", evil), changed("map", evil, 3)):
        assert the_problem(write(tmp_path / "e.json", episode)).isprintable()


def test_a_missing_file_is_a_fault_and_spoils_no_other(tmp_path):
    report = score_paths([tmp_path / "nowhere.json", write(tmp_path / "e.json", EPISODE)])
    assert (report.counts.unreadable, report.counts.scored) == (1, 1)


# --- trajectories of the grid ----------------------------------------------------------------------------------------


def trajectory(folder, moves, result=None, **header):
    folder.mkdir(parents=True)
    names = ["up", "down", "left", "right"]
    first = {
        "format": "oresight.trajectory", "version": 1, "kind": "grid", "agent": "random", "memory": "raw",
        "scenario": {"name": "low-small-0", "visibility": "partial", "map": EPISODE["map"], "budget": 12},
        "actions": [{"name": name} for name in names], "score_inputs": {}, "versions": {},
        "start": {"state_hash": "", "facts": {"cell": [1, 0], "node": None, "achieved": []}},
    } | header  # fmt: skip
    lines = [
        {"step": number, "action": move, "state_hash": "", "facts": {"cell": [0, 0], "moved": True}}
        for number, move in enumerate(moves, 1)
    ]
    (folder / "trajectory.jsonl").write_bytes(b"".join(to_line(line) for line in [first, *lines]))
    if result is not None:
        told = result_json(
            folder.name, result, len(moves), 12, scenario=first["scenario"].get("name", ""), agent="random"
        )
        (folder / "result.json").write_text(json.dumps(told))
    return folder


def test_a_recorded_grid_episode_scores_as_its_episode_file(tmp_path):
    report = score_paths([trajectory(tmp_path / "a", EPISODE["moves"], "success")])
    episode = report.episodes[0]
    assert (episode.kind, episode.scenario, episode.agent, report.complete) == ("grid", "low-small-0", "random", True)
    assert episode.steps == score_paths([write(tmp_path / "e.json", EPISODE)]).episodes[0].steps
    json.dumps(report.to_json(), allow_nan=False)


def test_a_recorded_grid_episode_without_a_result_is_incomplete(tmp_path):
    folder = trajectory(tmp_path / "a", ["left"])
    assert score_paths([folder]).counts.incomplete == 1
    alone = (folder / "trajectory.jsonl").rename(tmp_path / "alone.jsonl")
    assert "at decision 1 of 12 with the goal not achieved" in score_paths([alone]).problems[0]


def test_a_recorded_failure_counts(tmp_path):
    report = score_paths([trajectory(tmp_path / "a", ["left"], str(Outcome.AGENT_ENDED))])
    assert (report.counts.failed, report.complete) == (1, True)
    more = score_paths([trajectory(tmp_path / "b", ["left"] * 12, str(Outcome.BUDGET_SPENT))], Parameters(alpha=9.0))
    assert (more.counts.failed, more.complete) == (1, True)


def test_faults_of_a_recorded_grid_episode_are_named(tmp_path):
    folder = trajectory(tmp_path / "a", ["left", "jump"], "success")
    assert "trajectory.jsonl, line 3, field action: found 'jump'" in the_problem(folder)
    actions = [{"name": "jump"}, {"name": "left"}]
    folder = trajectory(tmp_path / "b", ["left", "jump"], "success", actions=actions)
    assert "line 3, field action: found 'jump'; expected up or down or left or right" in the_problem(folder)
    folder = trajectory(tmp_path / "c", [], "success", scenario={"name": "x", "visibility": "full", "map": {}})
    assert "line 1, field scenario.map.cells: found nothing" in the_problem(folder)
    folder = trajectory(tmp_path / "d", [], "success", scenario={"map": EPISODE["map"]})
    assert "line 1, field scenario: found scenario.visibility is None" in the_problem(folder)


# --- memory ----------------------------------------------------------------------------------------------------------


def test_entries_are_read_one_at_a_time(tmp_path):
    path = write(tmp_path / "e.jsonl", EPISODE, b"rubbish", EPISODE)
    found = read_episodes(path)
    assert isinstance(next(found), EpisodeEntry)
    path.write_bytes(b"")
    found.close()


def test_totals_hold_a_few_numbers_an_episode(tmp_path):
    path = write(tmp_path / "e.jsonl", *[EPISODE] * 30)
    totals = Totals(Parameters())
    for item in score_stream([path], totals.parameters, keep_steps=False):
        totals.add(item)
    assert totals.figures()[0].pooled.to_json() == score_paths([path]).pooled.to_json()
