"""The run folder: what may be written where, and what counts as finished."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oresight.harness import files
from oresight.harness.errors import ForeignFolderError, Outcome, RecordError, RunLockedError, StoreError
from oresight.harness.records import folder as run_folder
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.run_folder import read_result
from support.fake_world import GOAL, CountingScorer, corridor
from support.places import TESTS

UNSCORED = (
    '{"format":"oresight.result","version":1,"id":"corridor-0","scenario":"corridor-0","agent":"stuck","memory":"raw",'
    '"outcome":"success","steps":1,"budget":2,"score":{"lenient":{}}}'
)
PICTURE = np.zeros((4, 6, 3), dtype=np.uint8)


def run_file(agent: str = "stuck", frames: run_folder.Frames = "all", **versions: int) -> run_folder.RunFile:
    config = run_folder.RunConfig(
        world="craft", agent=agent, memory="raw", episodes=("corridor-0",), frames=frames, size=(64, 48)
    )
    return run_folder.RunFile(config=config, versions={"oresight": "0.1.0", "terrain": 1} | versions)


def result(outcome: Outcome = Outcome.SUCCESS) -> run_folder.EpisodeResult:
    scorer = CountingScorer()
    scorer.place = GOAL if outcome is Outcome.SUCCESS else 0
    return run_folder.EpisodeResult(
        id="corridor-0",
        scenario="corridor-0",
        agent="stuck",
        memory="raw",
        outcome=outcome,
        steps=1,
        budget=2,
        score=scorer.summary(outcome).to_json(),
    )


def begin(folder: run_folder.RunFolder) -> run_folder.EpisodeFolder:
    """The folder of the run's episode, to begin it or to go on with it."""
    return run_folder.EpisodeFolder(folder.episode_path("corridor-0"), folder.run.config.frames)


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("text", ["", ".", "..", "a/b", "../a", "a b", "a\n", "ä", "x" * 81, "a\x00"])
def test_what_could_be_a_path_is_no_id(text: str) -> None:
    with pytest.raises(RecordError, match="cannot be an id"):
        files.checked_id(text)


@pytest.mark.parametrize("text", ["outcrop-0", "A.b_c-9", "...", "x" * 80])
def test_plain_names_are_ids(text: str) -> None:
    assert files.checked_id(text) == text


def test_a_new_run_begins_with_its_run_file(tmp_path: Path) -> None:
    with run_folder.RunFolder(tmp_path / "a" / "b", run_file()) as folder:
        written = json.loads((folder.path / "run.json").read_text())
    assert (written["format"], written["version"], written["config"]["agent"]) == ("oresight.run", 1, "stuck")


def test_an_episode_is_finished_once_its_result_is_there(tmp_path: Path) -> None:
    with run_folder.RunFolder(tmp_path / "run", run_file()) as folder:
        episode = begin(folder)
        header = corridor("corridor-0").header("stuck", "raw", "0000", {})
        episode.header(header)
        episode.frame(0, PICTURE)
        episode.line({"step": 1})
        assert folder.finished("corridor-0") is None
        assert [json.loads(line) for line in (episode.path / "trajectory.jsonl").read_text().splitlines()] == [
            header,
            {"step": 1},
        ]
        episode.finish(result())
        assert folder.finished("corridor-0") == result()
    assert files_in(tmp_path / "run" / "episodes") == [
        "corridor-0/frames/000000.png",
        "corridor-0/result.json",
        "corridor-0/trajectory.jsonl",
    ]


def test_no_text_breaks_a_line(tmp_path: Path) -> None:
    text = "a\u2028b\u0085c\x0bd\u0000e\U0001f600\nf"
    writer = files.LineWriter(tmp_path / "lines")
    writer.append({"said": text})
    writer.append({"said": "next"})
    writer.close()
    lines = (tmp_path / "lines").read_bytes().split(b"\n")
    assert [json.loads(line)["said"] for line in lines[:-1]] == [text, "next"]
    assert len((tmp_path / "lines").read_text().splitlines()) == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none_are_never_written(tmp_path: Path, value: float) -> None:
    writer = files.LineWriter(tmp_path / "lines")
    with pytest.raises(ValueError, match="JSON"):
        writer.append({"x": value})
    writer.close()
    assert (tmp_path / "lines").read_bytes() == b""


@pytest.mark.parametrize(
    "frames, expected",
    [
        ("all", ["000000.png", "000001.png"]),
        ("last", ["000001.png"]),
        ("none", []),
    ],
)
def test_frames_are_kept_as_asked(tmp_path: Path, frames: run_folder.Frames, expected: list[str]) -> None:
    with run_folder.RunFolder(tmp_path / "run", run_file(frames=frames)) as folder:
        episode = begin(folder)
        episode.frame(0, PICTURE)
        episode.frame(1, PICTURE)
        episode.finish(result())
    assert [path.name for path in sorted((episode.path).glob("frames/*"))] == expected


@pytest.mark.parametrize("content", ["", '{"format": "oresi', "[]", "{}", "NaN", "[" * 100_000, UNSCORED])
def test_a_broken_result_does_not_count_as_finished(tmp_path: Path, content: str) -> None:
    with run_folder.RunFolder(tmp_path / "run", run_file()) as folder:
        begin(folder).finish(result())
        (folder.episode_path("corridor-0") / "result.json").write_text(content)
        assert folder.finished("corridor-0") is None


def test_an_infrastructure_error_is_to_be_run_again(tmp_path: Path) -> None:
    with run_folder.RunFolder(tmp_path / "run", run_file()) as folder:
        begin(folder).finish(result(Outcome.INFRASTRUCTURE))
        assert folder.finished("corridor-0") is None


def test_a_second_attempt_goes_on_in_the_folder_of_the_first(tmp_path: Path) -> None:
    with run_folder.RunFolder(tmp_path / "run", run_file()) as folder:
        first = begin(folder)
        first.line({"step": 1})
        first.reply({"step": 1})
        first.frame(7, PICTURE)
        first.close()
        second = begin(folder)
        second.line({"step": 2})
        second.cut_frames(6)
        second.close()
    assert files_in(second.path) == ["replies.jsonl", "trajectory.jsonl"]
    assert (second.path / "trajectory.jsonl").read_text() == '{"step":1}\n{"step":2}\n'


def test_a_folder_with_anything_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ForeignFolderError, match=r"letter\.txt.*choose another"):
        run_folder.RunFolder(tmp_path, run_file())
    assert files_in(tmp_path) == ["letter.txt"]


def test_a_folder_with_another_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    run_folder.RunFolder(tmp_path / "run", run_file("stuck")).close()
    before = (tmp_path / "run" / "run.json").read_bytes()
    with pytest.raises(ForeignFolderError, match=r"another run \(its agent differ"):
        run_folder.RunFolder(tmp_path / "run", run_file("spinner"))
    with pytest.raises(ForeignFolderError, match="other versions"):
        run_folder.RunFolder(tmp_path / "run", run_file("stuck", terrain=2))
    assert (tmp_path / "run" / "run.json").read_bytes() == before


@pytest.mark.parametrize("content", ["", "{}", '{"format": "something"}', "[]"])
def test_a_foreign_run_file_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ForeignFolderError, match=r"run\.json"):
        run_folder.RunFolder(tmp_path, run_file())
    assert (tmp_path / "run.json").read_text() == content


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(ForeignFolderError, match="is a file"):
        run_folder.RunFolder(tmp_path / "run", run_file())


def test_a_start_that_was_cut_short_is_taken_up(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / ".run.json.tmp").write_text('{"form')
    run_folder.RunFolder(tmp_path, run_file()).close()
    assert json.loads((tmp_path / "run.json").read_text())["format"] == "oresight.run"


def test_two_processes_cannot_write_one_run(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[2:]; from pathlib import Path; import test_store;"
        "from oresight.harness.records import folder as store; from oresight.harness import errors\n"
        "try: store.RunFolder(Path(sys.argv[1]), test_store.run_file())\n"
        "except errors.RunLockedError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run"), str(TESTS), str(Path(__file__).parent)]
    with run_folder.RunFolder(tmp_path / "run", run_file()):
        with pytest.raises(RunLockedError, match="another process"):
            run_folder.RunFolder(tmp_path / "run", run_file())
        assert "another process" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.parametrize("name", ["trajectory.jsonl", "result.json", "frames", "."])
def test_links_are_not_followed(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    with run_folder.RunFolder(tmp_path / "run", run_file()) as folder:
        path = folder.episode_path("corridor-0")
        if name == ".":
            path.symlink_to(outside)
            with pytest.raises(RecordError, match="link"):
                begin(folder)
        else:
            path.mkdir()
            (path / name).symlink_to(outside if name == "frames" else outside / "kept")
            assert folder.finished("corridor-0") is None
            episode = begin(folder)
            episode.frame(0, PICTURE)
            episode.finish(result())
    assert files_in(outside) == ["kept"]
    assert (outside / "kept").read_text() == "kept"


def test_something_foreign_in_an_episode_is_never_removed(tmp_path: Path) -> None:
    with run_folder.RunFolder(tmp_path / "run", run_file()) as folder:
        path = folder.episode_path("corridor-0")
        path.mkdir()
        (path / "thesis.tex").write_text("years")
        with pytest.raises(StoreError, match=r"thesis\.tex"):
            begin(folder)
        assert (path / "thesis.tex").read_text() == "years"


def test_a_folder_removed_meanwhile_is_one_clear_error(tmp_path: Path) -> None:
    folder = run_folder.RunFolder(tmp_path / "run", run_file())
    episode = begin(folder)
    folder.path.rename(tmp_path / "gone")
    with pytest.raises(StoreError, match="No such file"):
        episode.frame(0, PICTURE)
    with pytest.raises(StoreError, match="No such file"):
        episode.finish(result())
    folder.close()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    (tmp_path / ".file.tmp").mkdir()
    with pytest.raises(StoreError):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_formulas_are_quoted_in_csv() -> None:
    text = run_folder.to_csv([{"name": "=1+1", "x": 1.5, "y": None}, {"name": "a,b", "x": -2, "y": "-3"}])
    assert text == "name,x,y\n'=1+1,1.5,\n\"a,b\",-2,'-3\n"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", 10**40),
        ("budget", 2**53 + 1),
        ("usage.input_tokens", 10**30),
        ("usage.output_tokens", -1),
        ("usage.replies", []),
        ("usage.reasks", True),
        ("usage.cost", "1e999"),
        ("usage.cost", -0.5),
        ("score.decisions", -1),
        ("score.steps_taken", 10**30),
        ("score.budget", True),
        ("score.lenient.explore_errors", 10**30),
        ("score.strict.exploit_eligible", -1),
    ],
)
def test_a_result_with_a_number_that_cannot_be_counted_with_is_refused(
    tmp_path: Path, field: str, value: object
) -> None:
    content = result().model_dump(mode="json")
    content["usage"] = {"input_tokens": 5, "output_tokens": 2, "replies": 1, "reasks": 0, "cost": 0.25}
    path = tmp_path / "result.json"
    path.write_text(json.dumps(content))
    assert read_result(path).usage == content["usage"]
    *parents, last = field.split(".")
    place = content
    for parent in parents:
        place = place[parent]
    place[last] = value
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput, match=f"{path}, "):
        read_result(path)
