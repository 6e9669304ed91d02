import copy
import json
import pickle
from itertools import islice

import pytest

from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.discover import find_episodes
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.trajectory import read_trajectory
from oresight.scoring.records import LINE_BYTES_MAX, DecisionLine, Header, json_schemas, parse_json, to_line
from oresight.scoring.score import score_paths
from support.run_files import result_json, run_json
from support.scoring_facts import FEET, Episode, Ore, ore

NEAR = (0, 31, 2)


def played(success=True):
    """Four decisions on the flat world."""
    episode = Episode(ores=(Ore(NEAR, walk=3),), budget=4)
    episode.walk(dz=0.3)
    episode.do("look_left", yaw=330.0)
    episode.do("slot_2", slot=2)
    episode.do("mine", acquired=(NEAR,) if success else ())
    return episode


def write(path, episode, result="success", lines=None):
    """Write an episode's folder; a result of None leaves it unfinished."""
    path.mkdir(parents=True)
    records = [episode.header(), *episode.decision_lines()] if lines is None else lines
    (path / "trajectory.jsonl").write_bytes(b"".join(to_line(record) for record in records))
    if result is not None:
        write_result(path, result, len(records) - 1, episode.budget)
    return path


def write_result(path, outcome, steps=4, budget=4):
    result = result_json(path.name, outcome, steps, budget, scenario="flat-0")
    (path / "result.json").write_text(json.dumps(result))


def write_run(path, ids, planned=None):
    for name in ids:
        write(path / "episodes" / name, played())
    (path / "run.json").write_text(json.dumps(run_json(planned or ids)))
    return path


def records():
    episode = played()
    return [episode.header(), *episode.decision_lines()]


def the_problem(path):
    report = score_paths([path])
    assert report.counts.unreadable == 1, report.problems
    assert not report.complete
    return report.problems[0]


# --- whole and good --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", [".", "trajectory.jsonl"])
def test_an_episodes_folder_and_its_trajectory_are_recognised(tmp_path, what):
    folder = write(tmp_path / "flat-0", played())
    report = score_paths([folder / what])
    assert [(item.name, str(item.summary.outcome)) for item in report.episodes] == [("flat-0", "success")]
    assert report.complete


def test_a_run_folder_gives_all_its_episodes_as_planned(tmp_path):
    report = score_paths([write_run(tmp_path / "run", ["b-1", "a-0"])])
    assert [item.name for item in report.episodes] == ["b-1", "a-0"]
    assert report.counts.to_json() == {
        "planned": 2, "found": 2, "scored": 2, "succeeded": 2, "failed": 0, "infrastructure": 0, "incomplete": 0,
        "unreadable": 0, "missing": 0, "complete": True,
    }  # fmt: skip


def test_a_trajectory_by_any_name_and_without_a_result_is_scored_by_its_facts(tmp_path):
    write(tmp_path / "e", played(), result=None)
    (tmp_path / "e" / "trajectory.jsonl").rename(tmp_path / "mine.jsonl")
    report = score_paths([tmp_path / "mine.jsonl"])
    assert report.complete
    assert report.episodes[0].summary.success


def test_the_report_as_json_has_episodes_pooled_and_parameters(tmp_path):
    found = score_paths([write(tmp_path / "flat-0", played())]).to_json()
    assert set(found) == {"episodes", "pooled", "parameters"}
    episode = found["episodes"][0]
    assert {"file", "name", "kind", "outcome", "summary", "steps"} <= set(episode)
    assert episode["kind"] == "craft"
    assert [step["step"] for step in episode["steps"]] == [1, 2, 3, 4]
    assert [step["scored"] for step in episode["steps"]] == [True, True, False, True]
    assert episode["summary"]["exploit_eligible"] == 3
    assert found["pooled"]["success"]["value"] == 1.0
    assert found["parameters"] == Parameters().model_dump(mode="json")
    json.dumps(found, allow_nan=False)


def test_scoring_from_a_file_equals_scoring_live(tmp_path):
    episode = played()
    report = score_paths([write(tmp_path / "e", episode)])
    live = Episode(ores=(Ore(NEAR, walk=3),), budget=4).scorer
    assert list(report.episodes[0].steps) == [live.score(action, facts) for action, facts in episode.lines]


def test_steps_need_not_be_kept(tmp_path):
    seen = []
    report = score_paths([write(tmp_path / "e", played())], keep_steps=False, on_episode=seen.append)
    assert report.episodes[0].steps == ()
    assert report.episodes[0].summary.scored_decisions == 3
    assert seen == list(report.episodes)


def test_an_episode_named_twice_counts_once(tmp_path):
    run = write_run(tmp_path / "run", ["a-0"])
    assert score_paths([run, run / "episodes" / "a-0", run]).counts.found == 1


def test_other_parameters_rescore_what_is_on_disk(tmp_path):
    folder = write(tmp_path / "e", played())
    report = score_paths([folder], Parameters(discovery_px=200.0))
    assert [step.case for step in report.episodes[0].steps if step.scored] == [1, 1, 1]
    assert report.to_json()["parameters"]["discovery_px"] == 200.0


def test_lines_end_at_the_newline_alone_and_texts_may_hold_anything(tmp_path):
    lines = records()
    lines[1]["said"] = "a\u2028b\u0085c\x0bd\x00e\U0001f600f\ud800g\r"
    lines[2]["observation"] = "\u202eleft"
    path = tmp_path / "t.jsonl"
    raw = [json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") for line in lines]
    raw[1] = json.dumps(lines[1]).encode()
    path.write_bytes(b"\n".join(raw) + b"\n")
    with read_trajectory(path) as trajectory:
        said = [line.said for _, line in trajectory]
    assert said[0] == "a\u2028b\u0085c\x0bd\x00e\U0001f600f\ufffdg\r"
    assert len(said) == 4


def test_fields_that_nobody_knows_are_left_alone(tmp_path):
    lines = records()
    lines[0]["more"] = lines[1]["retries"] = 3
    lines[1]["facts"]["mood"] = "good"
    assert score_paths([write(tmp_path / "e", played(), lines=lines)]).complete


def test_every_format_has_a_schema():
    assert set(json_schemas()) >= {"trajectory-header", "trajectory-decision", "craft-facts", "craft-start-facts"}


# --- incomplete ------------------------------------------------------------------------------------------------------


def test_an_episode_without_a_result_is_incomplete_and_in_no_rate(tmp_path):
    run = write_run(tmp_path / "run", ["a-0", "b-1", "c-2"], planned=["a-0", "b-1", "c-2", "d-3"])
    (run / "episodes" / "b-1" / "result.json").unlink()
    (run / "episodes" / "c-2" / "result.json").write_text('{"format": "oresi')
    report = score_paths([run])
    counts = report.counts
    assert (counts.planned, counts.scored, counts.incomplete, counts.unreadable, counts.missing) == (4, 1, 1, 1, 1)
    assert report.pooled.success.denominator == 1
    for text in ("b-1", "c-2", "d-3"):
        assert any(text in problem for problem in report.problems)


def test_an_empty_result_is_no_result(tmp_path):
    folder = write(tmp_path / "e", played(), result=None)
    (folder / "result.json").write_bytes(b"")
    report = score_paths([folder])
    assert report.counts.unreadable == 1
    assert "result.json: found nothing" in report.problems[0]


def test_an_infrastructure_error_is_no_result(tmp_path):
    report = score_paths([write(tmp_path / "e", played(success=False), result="infrastructure error")])
    assert (report.counts.infrastructure, report.counts.scored) == (1, 0)
    assert report.pooled.error("exploitation").value is None


def test_an_episode_lost_before_its_first_line_is_an_infrastructure_error(tmp_path):
    run = write_run(tmp_path / "run", ["a-0", "b-1"])
    (run / "episodes" / "b-1" / "trajectory.jsonl").write_bytes(b"")
    write_result(run / "episodes" / "b-1", "infrastructure error")
    report = score_paths([run])
    assert (report.counts.infrastructure, report.counts.unreadable, report.counts.scored) == (1, 0, 1)
    assert "b-1" in report.problems[0] and "rerun the same command" in report.problems[0]


def test_a_result_at_odds_with_the_facts_is_said_so(tmp_path):
    episode = Episode(ores=(Ore(NEAR),), budget=100)
    episode.do("wait")
    report = score_paths([write(tmp_path / "e", episode, result="success")])
    assert report.counts.unreadable == 1
    assert (
        "found 0 of 1 ores at decision 1 of 100, where it ends; expected what result.json says, 'success'"
        in (report.problems[0])
    )


@pytest.mark.parametrize("tail", [b'{"step":5,"act', b'{"said":"\xf0\x9f', b"\x00" * 4096])
def test_a_torn_last_line_is_left_out_and_said_so(tmp_path, tail):
    folder = write(tmp_path / "e", played())
    with (folder / "trajectory.jsonl").open("ab") as stream:
        stream.write(tail)
    report = score_paths([folder])
    assert report.episodes[0].summary.decisions == 4
    assert report.problems == (f"{folder / 'trajectory.jsonl'}: line 6 was cut short and is left out",)
    assert report.counts.scored == 1 and not report.complete


def test_a_last_line_that_lacks_its_newline_alone_counts(tmp_path):
    folder = write(tmp_path / "e", played())
    path = folder / "trajectory.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    assert score_paths([folder]).complete


# --- faults ----------------------------------------------------------------------------------------------------------


def test_a_fault_spoils_no_other_file(tmp_path):
    run = write_run(tmp_path / "run", ["a-0", "b-1"])
    (run / "episodes" / "a-0" / "trajectory.jsonl").write_bytes(b"rubbish\n")
    report = score_paths([tmp_path / "nowhere", run])
    assert [item.name for item in report.episodes] == ["b-1"]
    assert report.counts.unreadable == 2
    assert "nowhere: found no such file or folder; expected a trajectory" in report.problems[0]


def edit(number, change):
    """A change to the record on a line (from 1), as lines of bytes."""
    lines = copy.deepcopy(records())
    change(lines[number - 1])
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def put(*path_and_value):
    *path, last, value = path_and_value

    def change(record):
        for part in path:
            record = record[part]
        record[last] = value

    return change


def drop(*path):
    def change(record):
        for part in path[:-1]:
            record = record[part]
        del record[path[-1]]

    return change


FIELD_FAULTS = [
    (1, put("format", "else"), "format", "'oresight.trajectory'"),
    (1, put("version", 2), "version", "1 or older; update oresight"),
    (1, put("version", True), "version", "integer"),
    (1, drop("scenario", "target"), "scenario.target", "this field"),
    (1, put("scenario", "budget", 0), "scenario.budget", "greater than or equal to 1"),
    (1, put("scenario", "target_count", "1"), "scenario.target_count", "integer"),
    (1, drop("start"), "start", "this field"),
    (1, put("start", "facts", "standing", 1), "start.facts.standing", "boolean"),
    (1, put("start", "facts", "known", 0, "pos", [1, 2]), "start.facts.known[0].pos[2]", "this field"),
    (1, put("score_inputs", "face_px_min", 400), "score_inputs.face_px_min", "at most discovery_px"),
    (2, put("step", 2), "step", "1: steps count up from 1 by one"),
    (3, put("step", 1), "step", "2: steps count up"),
    (3, put("step", 2.5), "step", "integer"),
    (3, put("action", "fly"), "action", "an action of the header's table"),
    (3, drop("facts"), "facts", "this field"),
    (3, put("facts", []), "facts", "dictionary"),
    (3, drop("facts", "jumped"), "facts.jumped", "this field"),
    (3, put("facts", "slot_after", "2"), "facts.slot_after", "integer"),
    (3, put("facts", "slot_after", None), "facts.slot_after", "integer"),
    (3, put("facts", "pose_after", "feet", 1, "high"), "facts.pose_after.feet[1]", "number"),
    (3, put("facts", "pose_after", "feet", 0, 1e300), "facts.pose_after.feet[0]", "must lie within"),
    (3, put("facts", "pose_after", "feet", 0, 10**400), "facts.pose_after.feet[0]", ""),
    (3, put("facts", "standing_ticks", [True]), "facts", "one a tick"),
    (3, put("facts", "known", 0, "walk_after", -1), "facts.known[0].walk_after", "greater than or equal to 0"),
    (3, put("facts", "known", 0, "angle_after", 181.0), "facts.known[0].angle_after", "less than or equal to 180"),
    (3, put("facts", "first_seen", "count", -1), "facts.first_seen.count", "greater than or equal to 0"),
    (3, put("facts", "acquired", [[0, 1.5, 0]]), "facts.acquired[0][1]", "integer"),
    (3, put("facts", "target", {"pos": [0, 0, 0], "face": 6, "block": "x", "natural": True}), "facts.target.face", "5"),
    (3, put("facts", "ores_in_view", [ore(NEAR) | {"kind": 3}]), "facts.ores_in_view[0].kind", "string"),
]


@pytest.mark.parametrize(
    ("line", "change", "field", "expected"), FIELD_FAULTS, ids=[fault[2] for fault in FIELD_FAULTS]
)
def test_a_faulty_field_is_named_with_file_and_line(tmp_path, line, change, field, expected):
    path = tmp_path / "t.jsonl"
    path.write_bytes(edit(line, change))
    problem = the_problem(path)
    assert problem.startswith(f"{path}, line {line}, field {field}: found ")
    assert expected in problem.partition("; expected ")[2]
    assert "\n" not in problem and len(problem) < len(str(path)) + 300


LINE_FAULTS = {
    "empty file": (b"", 1, "found nothing; expected the header"),
    "blank line": (edit(1, lambda _: None).replace(b"\n", b"\n\n", 1), 2, "found nothing; expected a decision"),
    "no json": (edit(1, lambda _: None) + b"{'step': 5}\n", 6, "found no JSON"),
    "a list": (b"[1, 2]\n", 1, "found a list [1, 2]; expected the header"),
    "not utf-8": (edit(1, lambda _: None) + b'{"said": "\xff"}\n', 6, "found byte 0xff, which is no UTF-8"),
    "nan": (edit(3, put("facts", "pose_after", "yaw_deg", float("nan"))), 3, "the number NaN"),
    "infinity": (edit(3, put("usage", {"cost": float("inf")})), 3, "the number Infinity"),
    "too large": (edit(3, put("step", 7)).replace(b'"step": 7', b'"step": 1e999'), 3, "the number 1e999"),
    "nested": (edit(1, lambda _: None) + b'{"x":' + b"[" * 70 + b"]" * 70 + b"}\n", 6, "nested deeper than 64"),
    "bottomless": (b"[" * 200_000 + b"\n", 1, "nested deeper than 64"),
    "long": (b'{"said": "' + b"x" * LINE_BYTES_MAX + b'"}\n', 1, "at most 16 MB on a line"),
    "glued": (edit(1, lambda _: None).replace(b'}\n{"step": 2', b'}{"step": 2'), 2, "found no JSON"),
}


@pytest.mark.parametrize("name", LINE_FAULTS)
def test_a_faulty_line_is_named_with_file_and_number(tmp_path, name):
    data, line, words = LINE_FAULTS[name]
    path = tmp_path / "t.jsonl"
    path.write_bytes(data)
    problem = the_problem(path)
    assert problem.startswith(f"{path}, line {line}: found ")
    assert words in problem


def test_text_in_a_fault_cannot_act_on_a_terminal(tmp_path):
    path = tmp_path / "t\x1b[31m\u202e.jsonl"
    path.write_bytes(edit(3, put("action", "\x1b[2J\u202eevil" + "x" * 500)))
    problem = the_problem(path)
    assert problem.isprintable()
    assert "\\x1b[2J\\u202eevil" in problem


def test_links_inside_a_run_are_not_followed(tmp_path):
    run = write_run(tmp_path / "run", ["a-0"])
    outside = write(tmp_path / "outside", played())
    (run / "episodes" / "b-1").symlink_to(outside)
    linked = run / "episodes" / "c-2"
    linked.mkdir()
    (linked / "trajectory.jsonl").symlink_to(outside / "trajectory.jsonl")
    report = score_paths([run])
    assert [item.name for item in report.episodes] == ["a-0"]
    assert report.counts.unreadable == 2
    assert all("followed" in problem for problem in report.problems)


def test_names_that_are_no_ids_are_refused(tmp_path):
    run = write_run(tmp_path / "run", ["a-0"], planned=["a-0", "../../etc"])
    write(run / "episodes" / "b 1", played())
    problems = score_paths([run]).problems
    assert any("run.json, field config.episodes[1]: found a text '../../etc'" in problem for problem in problems)
    assert any("b 1: found a name that is no id" in problem for problem in problems)


def test_folders_of_something_else_and_side_files_say_what_was_expected(tmp_path):
    (tmp_path / "empty").mkdir()
    run = write_run(tmp_path / "run", ["a-0"])
    assert "expected trajectory.jsonl (an episode's folder) or run.json" in the_problem(tmp_path / "empty")
    assert "expected the folder itself" in the_problem(run / "run.json")
    assert "expected the folder itself" in the_problem(run / "episodes" / "a-0" / "result.json")


def test_a_fault_survives_pickling():
    fault = BadInput("f", "a", "b", 3, "x")
    again = pickle.loads(pickle.dumps(fault))
    assert (str(again), again.line, again.field) == (str(fault), 3, "x")


def test_reading_is_lazy(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(edit(1, lambda _: None) + b"rubbish\n" * 3)
    with read_trajectory(path) as trajectory:
        assert [line.step for _, line in islice(trajectory, 4)] == [1, 2, 3, 4]
    assert len(list(find_episodes(path))) == 1


def test_nan_is_never_written_and_64_levels_are_allowed():
    with pytest.raises(ValueError, match="JSON compliant"):
        to_line({"x": float("nan")})
    assert parse_json("[" * 64 + "]" * 64)
    with pytest.raises(ValueError, match="nested deeper than 64"):
        parse_json("[" * 65 + "]" * 65)


def test_header_and_line_models_accept_what_is_written():
    header, *lines = records()
    assert Header.model_validate(header).scenario["budget"] == 4
    assert [DecisionLine.model_validate(line).step for line in lines] == [1, 2, 3, 4]
    assert tuple(header["start"]["facts"]["pose"]["feet"]) == FEET


def test_the_episodes_of_a_run_come_as_planned_and_what_nobody_planned_comes_after(tmp_path):
    run = write_run(tmp_path / "run", ["b", "a", "d"], planned=["b", "c", "a"])
    assert [found.name for found in find_episodes(run)] == ["b", "c", "a", "d"]
