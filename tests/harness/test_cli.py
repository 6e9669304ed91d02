"""The commands: what they print, what they leave, and what they say to wrong input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.cli.doctor import examine
from oresight.harness.errors import MissingPartError, OresightError
from oresight.harness.settings import read_settings
from oresight.harness.text import visible
from oresight.harness.worlds.craft.world import CraftWorld
from support.cli_stage import Ran
from support.fake_world import CorridorWorld, corridor


@pytest.fixture
def corridors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corridors in place of the worlds that a command names."""

    monkeypatch.setattr(CraftWorld, "find", CorridorWorld.find)


def run_corridor(oresight: Any, out: Path, *more: object) -> Ran:
    arguments = ("run", "craft", "--agent", "stuck", "--scenario", "corridor-0", "--size", "64x48", "--out", out)
    ran: Ran = oresight(*arguments, *more)
    return ran


def test_version(oresight: Any) -> None:
    assert oresight("--version").out == "oresight 0.1.0\n"


@pytest.mark.parametrize(
    "command",
    [
        "demo",
        "run",
        "compare",
        "score",
        "replay",
        "maps make",
        "maps show",
        "maps check",
        "maps export",
        "doctor",
    ],
)
def test_every_help_shows_an_example(oresight: Any, command: str) -> None:
    ran = oresight(*command.split(), "--help")
    assert ran.code == 0
    assert f"Example: oresight {command}" in ran.out


def test_run_says_what_became_of_every_episode(oresight: Any, corridors: None, tmp_path: Path) -> None:
    ran = run_corridor(oresight, tmp_path / "run")
    assert ran.code == 0
    assert "corridor-0     success after 5 of 20 decisions; exploration error 0/5 = 0.00" in ran.out
    assert "1 of 1 episodes scored (1 succeeded, 0 failed), 0 broken, 0 missing" in ran.out
    assert "undefined (0 decisions)" in ran.out
    assert json.loads((tmp_path / "run/summary.json").read_text())["complete"] is True
    again = run_corridor(oresight, tmp_path / "run")
    assert (again.code, "(played before)" in again.out) == (0, True)


def test_an_incomplete_run_says_so_and_exits_with_3(
    oresight: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(CraftWorld, "find", lambda request: (corridor(request.scenario, breaks_at=2),))
    ran = run_corridor(oresight, tmp_path / "run")
    assert ran.code == 3
    assert "0 of 1 episodes scored" in ran.out
    assert "the floor gave way" in ran.out
    assert "incomplete" in ran.out


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--agent", "pilot", "--scenario", "outcrop-0"], "unknown agent 'pilot'; known: random"),
        (["--agent", "stuck", "--scenario", "moon-0"], "unknown scenario 'moon-0'; expected outcrop-SEED"),
        (["--agent", "stuck", "--scenario", "../../etc"], "unknown scenario"),
        (["--agent", "stuck", "--suite", "craft-moon"], "unknown suite 'craft-moon'"),
        (["--agent", "stuck", "--suite", "craft-mine", "--seeds", "abc"], "'abc' is no seed"),
        (["--agent", "stuck", "--suite", "craft-mine", "--seeds", "0,0"], "a seed stands twice"),
        (["--agent", "stuck", "--suite", "craft-mine", "--seeds", "-1"], "is no seed"),
        (["--agent", "stuck", "--scenario", "outcrop-0", "--seeds", "1"], "names its seed already"),
        (["--agent", "stuck"], "give either --scenario"),
        (["--agent", "stuck", "--scenario", "outcrop-0", "--suite", "craft-mine"], "give either --scenario"),
        (["--agent", "stuck", "--scenario", "outcrop-0", "--memory", "elephant"], "unknown memory 'elephant'"),
        (["--agent", "stuck", "--scenario", "outcrop-0", "--frames", "some"], "unknown choice for --frames 'some'"),
        (["--agent", "stuck", "--scenario", "outcrop-0", "--size", "1x1"], "expected WIDTHxHEIGHT"),
        (["--agent", "stuck", "--scenario", "outcrop-0", "--size", "big"], "expected WIDTHxHEIGHT"),
    ],
)
def test_wrong_arguments_are_one_sentence_and_leave_nothing(
    oresight: Any, tmp_path: Path, arguments: list[str], said: str
) -> None:
    ran = oresight("run", "craft", *arguments, "--out", tmp_path / "run")
    assert ran.code == 2
    assert said in ran.one_sentence()
    assert not (tmp_path / "run").exists()


def test_an_unknown_world_is_one_sentence(oresight: Any, tmp_path: Path) -> None:
    ran = oresight("run", "moon", "--agent", "stuck", "--scenario", "x-0", "--out", tmp_path / "run")
    assert (ran.code, ran.one_sentence()) == (
        2,
        "oresight: unknown world 'moon'; known: craft, grid, package.module:Name",
    )


@pytest.mark.parametrize("seed", ["abc", "-1", "1.5", ""])
def test_a_seed_that_is_no_number_is_refused(oresight: Any, tmp_path: Path, seed: str) -> None:
    ran = oresight("demo", "--seed", seed, "--out", tmp_path / "run")
    assert ran.code == 2
    assert "--seed" in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "run").exists()


def test_a_folder_that_holds_something_else_is_refused_and_kept(oresight: Any, corridors: None, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    ran = run_corridor(oresight, tmp_path)
    assert ran.code == 2
    assert "letter.txt" in ran.one_sentence()
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_folder_that_holds_another_run_is_refused(oresight: Any, corridors: None, tmp_path: Path) -> None:
    run_corridor(oresight, tmp_path / "run")
    ran = run_corridor(oresight, tmp_path / "run", "--frames", "none")
    assert ran.code == 2
    assert "another run (its frames differ)" in ran.one_sentence()


@pytest.mark.parametrize("place", ["/proc/nowhere/run", "/dev/null/run"])
def test_an_unwritable_folder_is_one_sentence(oresight: Any, corridors: None, place: str) -> None:
    ran = run_corridor(oresight, Path(place))
    assert ran.code in (1, 2)
    assert place in ran.one_sentence()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_one_sentence(oresight: Any, corridors: None, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    ran = run_corridor(oresight, tmp_path / "run")
    assert (ran.code, "Permission denied" in ran.one_sentence()) == (1, True)


def test_no_opengl_is_one_sentence_and_leaves_nothing(
    oresight: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_opengl(self: object, size: object) -> None:
        raise MissingPartError("No OpenGL 3.3 could be opened; install the packages libegl1 libgl1")

    monkeypatch.setattr(CorridorWorld, "prepare", no_opengl)
    monkeypatch.setattr(CraftWorld, "find", CorridorWorld.find)
    ran = run_corridor(oresight, tmp_path / "run")
    assert (ran.code, "install the packages libegl1" in ran.one_sentence()) == (1, True)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "content, said",
    [
        (b"", "line 1"),
        (b"{", "line 1"),
        (b"\x00" * 100, "line 1"),
        (b'{"format":"oresight.trajectory","version":99}\n', "line 1"),
    ],
)
def test_a_broken_trajectory_is_named_by_score_and_replay(
    oresight: Any, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "trajectory.jsonl"
    path.write_bytes(content)
    for command in ("score", "replay"):
        ran = oresight(command, path)
        assert ran.code == 1
        assert str(path) in ran.one_sentence()
        assert said in ran.one_sentence()


def test_nothing_to_score_or_replay_is_one_sentence(oresight: Any, tmp_path: Path) -> None:
    for command in ("score", "replay"):
        assert oresight(command, tmp_path / "nowhere").code == 1
        assert str(tmp_path) in oresight(command, tmp_path).one_sentence()


def test_score_as_json_has_the_promised_keys(oresight: Any, tmp_path: Path) -> None:
    (tmp_path / "trajectory.jsonl").write_text("")
    ran = oresight("score", tmp_path / "trajectory.jsonl", "--json")
    assert set(json.loads(ran.out)) == {"episodes", "pooled", "parameters"}
    assert ran.code == 1


def test_control_and_bidi_characters_are_shown_not_obeyed() -> None:
    assert visible("a\x1b[31mb\u202ec\nd\x85\u2028[red]") == "a\\x1b[31mb\\u202ec\\nd\\x85\\u2028[red]"
    assert visible("x" * 10, 4) == "xxxx…"


def test_a_hostile_name_cannot_steer_the_terminal(oresight: Any, tmp_path: Path) -> None:
    ran = oresight("run", "craft", "--agent", "\x1b[2J\u202e", "--scenario", "outcrop-0", "--out", tmp_path / "run")
    assert "\x1b" not in ran.err
    assert "\u202e" not in ran.err


def test_doctor_names_keys_and_never_shows_them() -> None:
    parts = examine(read_settings({"OPENAI_API_KEY": "zz-MARKER-77", "DISPLAY": ":77"}))
    by_name = {part.name: part for part in parts}
    assert by_name["OpenAI key"].state == "ok"
    assert by_name["Gemini key"].state == "missing"
    assert "export GEMINI_API_KEY" in by_name["Gemini key"].advice
    assert (by_name["display"].state, "DISPLAY=:77" in by_name["display"].found) == ("missing", True)
    assert by_name["video encoder"].state == "ok"
    assert all("MARKER" not in str(part) for part in parts)


def test_doctor_says_what_to_install_without_opengl(monkeypatch: pytest.MonkeyPatch, oresight: Any) -> None:
    def none() -> tuple[str, str]:
        raise MissingPartError("No OpenGL 3.3 could be opened (no EGL); on Debian or Ubuntu install libegl1")

    monkeypatch.setattr("oresight.harness.cli.doctor.opengl", none)
    ran = oresight("doctor")
    assert ran.code == 1
    assert "broken   No OpenGL 3.3 could be opened (no EGL)" in ran.out
    assert "on Debian or Ubuntu install libegl1" in ran.out


def test_the_module_runs_as_a_command_and_its_errors_have_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "oresight.harness.cli.main", "score", str(tmp_path / "nowhere")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "nowhere" in done.stderr


def test_every_error_has_an_exit_code() -> None:
    def family(kind: type[OresightError]) -> list[type[OresightError]]:
        return [kind, *(child for below in kind.__subclasses__() for child in family(below))]

    assert {kind.exit_code for kind in family(OresightError)} == {1, 2}
