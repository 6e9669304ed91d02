"""Files of recordings as they come: recognised in any mix, faults named by file, line and field, memory flat."""

import json
import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_readers import played, write, write_run

from oresight.scoring.readers.discover import Recording, SessionFile, find_episodes
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.score import score_paths
from support.vpt_stage import Hand


def lines(number=40):
    return Hand().walk(number).lines


def put(*way):
    *path, value = way

    def change(record):
        for key in path[:-1]:
            record = record[key]
        record[path[-1]] = value

    return change


def drop(*path):
    def change(record):
        for key in path[:-1]:
            record = record[key]
        del record[path[-1]]

    return change


def problem_of(path):
    report = score_paths([path])
    assert report.counts.unreadable == 1 and not report.complete, report.problems
    return report.problems[0]


FIELD_FAULTS = [
    (1, drop("keyboard"), "keyboard", "this field"),
    (3, drop("mouse"), "mouse", "this field"),
    (3, put("mouse", []), "mouse", "dictionary"),
    (3, put("mouse", "buttons", None), "mouse.buttons", "list"),
    (3, put("mouse", "buttons", ["left"]), "mouse.buttons[0]", "integer"),
    (3, put("mouse", "buttons", [0] * 100), "mouse.buttons", "at most 64"),
    (3, put("mouse", "newButtons", [1.5]), "mouse.newButtons[0]", "integer"),
    (3, put("mouse", "dx", 1e9), "mouse.dx", "less than or equal to 100000"),
    (3, put("keyboard", "keys", "w"), "keyboard.keys", "list"),
    (3, put("keyboard", "keys", [7]), "keyboard.keys[0]", "string"),
    (3, put("isGuiOpen", 0), "isGuiOpen", "boolean"),
    (3, put("hotbar", 9), "hotbar", "less than or equal to 8"),
    (3, put("hotbar", -1), "hotbar", "greater than or equal to 0"),
    (3, put("tick", -4), "tick", "greater than or equal to 0"),
    (3, put("tick", "2"), "tick", "integer"),
    (3, put("tick", 0), "tick", "2 or more: ticks count up"),
    (3, put("yaw", "north"), "yaw", "number"),
    (3, put("pitch", 91), "pitch", "less than or equal to 90"),
    (3, put("xpos", 1e300), "xpos", "must lie within"),
    (3, put("ypos", [64]), "ypos", "number"),
    (3, put("inventory", {"a": 1}), "inventory", "list"),
    (3, put("inventory", [{"type": "dirt"}]), "inventory[0].quantity", "this field"),
    (3, put("stats", [1]), "stats", "dictionary"),
]


@pytest.mark.parametrize(
    ("line", "change", "field", "expected"),
    FIELD_FAULTS,
    ids=[f"{place}-{each[2]}" for place, each in enumerate(FIELD_FAULTS)],
)
def test_a_faulty_field_is_named_with_file_and_line(tmp_path, line, change, field, expected):
    records = lines()
    change(records[line - 1])
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    problem = problem_of(path)
    assert problem.startswith(f"{path}, line {line}, field {field}: found ")
    assert expected in problem.partition("; expected ")[2]
    assert "\n" not in problem and problem.isprintable()


def test_a_counter_that_is_no_number_is_a_fault(tmp_path):
    records = lines()
    records[4]["stats"] = {"minecraft.pickup:minecraft.dirt": "many"}
    path = tmp_path / "r.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert problem_of(path).startswith(f"{path}, line 5, field stats.minecraft.pickup:minecraft.dirt")


GOOD = Hand().walk(20).text()
LINE_FAULTS = {
    "blank line": (GOOD + b"\n" + GOOD, 21, "found nothing"),
    "no json": (GOOD + b"{'tick': 20}\n", 21, "found no JSON"),
    "glued": (GOOD.replace(b"}\n{", b"}{", 1), 1, "found no JSON"),
    "not utf-8": (GOOD + b'{"mouse": "\xff"}\n', 21, "no UTF-8"),
    "a list": (GOOD + b"[1]\n", 21, "found a list [1]"),
    "nan": (GOOD.replace(b'"yaw": 0.0', b'"yaw": NaN', 1), 1, "the number NaN"),
    "too large": (GOOD.replace(b'"yaw": 0.0', b'"yaw": 1e999', 1), 1, "the number 1e999"),
    "bottomless": (GOOD + b'{"mouse":' + b"[" * 100_000 + b"\n", 21, "nested deeper than 64"),
    "another format": (GOOD + json.dumps({"step": 1, "action": "wait", "facts": {}}).encode() + b"\n", 21, "mouse"),
    "reordered": (b"".join(GOOD.splitlines(keepends=True)[::-1]), 2, "ticks count up"),
    "first line cut": (GOOD[30:], 1, "found no JSON"),
    "nothing but a cut line": (GOOD.splitlines()[0][:100], 1, "truncated"),
    "two in one": (GOOD + GOOD, 21, "ticks count up"),
}


@pytest.mark.parametrize("name", LINE_FAULTS)
def test_a_faulty_line_is_named_with_file_and_number(tmp_path, name):
    data, line, words = LINE_FAULTS[name]
    path = tmp_path / "r.jsonl"
    path.write_bytes(data)
    problem = problem_of(path)
    assert problem.startswith(f"{path}, line {line}")
    assert words in problem


def test_a_line_beyond_16_mb_is_refused(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(GOOD + b'{"mouse": "' + b"x" * (16 * 2**20) + b'"}\n')
    assert "line 21: found more bytes; expected at most 16 MB" in problem_of(path)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_whatever_is_broken_gives_figures_or_one_sentence(tmp_path_factory, data):
    text = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=12))
    path = tmp_path_factory.mktemp("r") / "r.jsonl"
    path.write_bytes(bytes(text))
    report = score_paths([path])
    assert len(report.episodes) + report.counts.unreadable >= 1
    assert all(problem.isprintable() and str(path) in problem for problem in report.problems)


# --- recognised in any mix --------------------------------------------------------------------------------------------


def test_a_folder_of_any_mix_gives_a_row_each_and_a_fault_spoils_no_other(tmp_path):
    Hand().walk(40).write(tmp_path / "a.jsonl")
    (tmp_path / "a.mp4").write_bytes(b"\x00\x00\x00\x20ftypisom")
    (tmp_path / "a-options.json").write_text('{"fov": 70, "key": "w"}')
    (tmp_path / "notes.txt").write_text("my recordings")
    (tmp_path / "b.jsonl").write_bytes(GOOD[:-5] + b"\n" + GOOD)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    Hand().idle(40).write(tmp_path / "deep" / "er" / "c.jsonl")
    write(tmp_path / "episode", played())
    write_run(tmp_path / "run", ["a-0", "b-1"])
    (tmp_path / "grid.json").write_text(json.dumps({"episodes": [{"kind": "grid"}]}))
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    report = score_paths([tmp_path])
    assert [(each.kind, each.name) for each in report.episodes] == [
        ("vpt", "a"), ("vpt", "c"), ("craft", "episode"), ("craft", "a-0"), ("craft", "b-1"),
    ]  # fmt: skip
    assert report.counts.unreadable == 3, report.problems
    for name in ("b.jsonl, line 20", "grid.json", "link.jsonl: found a link"):
        assert any(name in problem for problem in report.problems)
    assert (report.counts.succeeded, report.counts.failed, report.counts.scored) == (3, 0, 5)
    assert report.pooled.success.denominator == 3
    assert report.pooled.error("exploration").denominator == sum(
        each.summary.tally.explore_eligible for each in report.episodes
    )
    assert score_paths([tmp_path / "deep", tmp_path]).counts.found == report.counts.found
    json.dumps(report.to_json(), allow_nan=False)


def test_what_a_file_is_its_beginning_says(tmp_path):
    path = Hand().line().write(tmp_path / "x.json")
    assert list(find_episodes(path)) == [Recording(path)]
    session = tmp_path / "session.jsonl"
    session.write_text('{"format":"oresight.session","version":1}\n')
    assert list(find_episodes(session)) == [SessionFile(session)]
    assert "`oresight score` has its world" in problem_of(session)


def test_a_film_given_for_its_recording_says_what_to_name(tmp_path):
    film = tmp_path / "a.mp4"
    film.write_bytes(b"\x00\x00\x00\x20ftypisom")
    assert "found a film; expected the recording that lies beside it" in problem_of(film)


def test_a_folder_without_anything_to_score_says_so(tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "0.png").write_bytes(b"\x89PNG")
    assert "or recordings and episode files" in problem_of(tmp_path)


def test_folders_in_each_other_have_a_limit(tmp_path):
    deep = tmp_path
    for _ in range(40):
        deep = deep / "f"
    deep.mkdir(parents=True)
    found = list(find_episodes(tmp_path))
    assert len(found) == 1 and isinstance(found[0], BadInput) and "16 folders" in str(found[0])


# --- long -------------------------------------------------------------------------------------------------------------


def long_recording(path, ticks):
    """Wander, mine and wait within a small place, as lines from a few hundred that are made once."""
    generator = random.Random(3)
    hand = Hand(inventory=[{"type": "stone_pickaxe", "quantity": 1}]).line()
    while hand.tick < 600:
        hand.walk(generator.randrange(5, 30), turn=generator.uniform(-3, 3))
        hand.count("minecraft.mine_block:minecraft.stone").hold(0, generator.randrange(3, 60))
        hand.idle(generator.randrange(3, 50))
    # There and back again, so that the poses go round.
    texts = [json.dumps(line) for line in [*hand.lines, *hand.lines[::-1]]]
    heads = [text[: text.rindex('"tick"')] for text in texts]
    with path.open("w") as stream:
        stream.writelines(f'{heads[tick % len(heads)]}"tick": {tick}}}\n' for tick in range(ticks))
    return path


def peak_bytes(path):
    tracemalloc.start()
    try:
        report = score_paths([path], keep_steps=False)
        return tracemalloc.get_traced_memory()[1], report
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_length_of_a_recording(tmp_path):
    peak_bytes(long_recording(tmp_path / "warm.jsonl", 1_000))
    short, _ = peak_bytes(long_recording(tmp_path / "short.jsonl", 3_000))
    long, report = peak_bytes(long_recording(tmp_path / "long.jsonl", 12_000))
    assert report.complete and report.episodes[0].summary.decisions > 300
    assert long < 1.2 * short + 200_000


def test_an_hour_is_scored_in_seconds(tmp_path):
    report = score_paths([long_recording(tmp_path / "hour.jsonl", 72_000)], keep_steps=False)
    assert report.complete and report.episodes[0].summary.decisions > 2_000


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_prints_a_row_each_what_is_undecided_and_every_step_as_json(tmp_path, capsys):
    from typer.testing import CliRunner

    from oresight.harness.cli.main import app

    hand = Hand().walk(60).idle(40)
    hand.write(tmp_path / "me.jsonl")
    write(tmp_path / "episode", played())
    ran = CliRunner().invoke(app, ["score", str(tmp_path), "--target", "iron_ore"])
    assert ran.exit_code == 0, ran.output
    assert "1 succeeded, 0 failed, 1 recorded without a task" in ran.output
    assert "undecided in 1 of these: exploitation error: no world comes with the recording" in ran.output
    assert "success: 1/1 = 1.00" in ran.output
    ran = CliRunner().invoke(app, ["score", str(tmp_path / "me.jsonl"), "--json"])
    episode = json.loads(ran.stdout)["episodes"][0]
    assert [(step["action"], step["ticks"]) for step in episode["steps"]][:2] == [
        ("move_forward", [0, 19]), ("move_forward", [20, 39]),
    ]  # fmt: skip
    assert (episode["kind"], episode["outcome"], episode["scenario"]) == ("vpt", "recorded", "any ore")
