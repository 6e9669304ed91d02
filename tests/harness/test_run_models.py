"""`oresight run` with a model: names and prompts reach it, keys reach nothing else, faults end as they should."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.running.plan import Condition, PlayOptions, plan_of
from oresight.harness.running.selection import Selection
from support.loopback import Loopback, Sent, fault
from support.run_stage import compass, lines

GRID = ("run", "grid", "--scenario", "high-small-0")


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Four moves, over and over."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.txt").write_text("".join(f'{{"action": "{way}"}}\n' for way in ("up", "left", "down", "right")))
    return "scripted:s.txt"


def test_a_scripted_model_plays_both_worlds(oresight: Any, script: str, tmp_path: Path) -> None:
    assert oresight(*GRID, "--model", script, "--memory", "tree+notes", "--out", "grid").code == 0
    (tmp_path / "s.txt").write_text('{"action": "look_left"}\n')
    craft = ("run", "craft", "--scenario", "outcrop-0", "--no-pictures", "--model", script, "--out", "craft")
    ran = oresight(*craft, "--max-tokens", "9000")
    assert ran.code == 3, ran.err
    assert "stopped at the cap on tokens" in ran.out
    header, first, *_ = lines(tmp_path / "craft/episodes/outcrop-0/trajectory.jsonl")
    assert (header["agent"], header["memory"], header["prompts"]) == ("scripted:s.txt", "raw", "base")
    assert (first["action"], json.loads(first["said"])["action"], first["usage"]["reasks"]) == ("look_left",) * 2 + (0,)
    result = json.loads((tmp_path / "grid/episodes/high-small-0/result.json").read_text())
    assert (result["usage"]["replies"] >= result["steps"], result["usage"]["cost"]) == (True, None)


@pytest.mark.parametrize("world", ["grid", "craft"])
def test_ones_own_prompts_are_sent_and_told_apart_from_others(tmp_path: Path, world: str) -> None:
    texts = {"base": "", "own": 'environment = "ZZ-OWN-RULES"\n', "other": 'environment = "ZZ-OTHER-RULES"\n'}
    heard: dict[str, str] = {}
    for name, text in texts.items():
        (tmp_path / "p.toml").write_text(text)
        command = [sys.executable, "-m", "oresight.harness.cli.main", "run", world, "--scenario"]
        command += ["high-small-0" if world == "grid" else "outcrop-0", "--no-pictures", "--memory", "raw"]
        command += ["--prompts", "exploration" if name == "base" else "p.toml", "--max-tokens", "1"]
        with Loopback(compass) as server:
            asked = [*command, "--model", server.name("compatible"), "--out", name if name == "base" else "run"]
            done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
            if name == "other":
                assert (done.returncode, "prompts differ" in done.stderr) == (2, True)
                continue
            assert done.returncode == 3, done.stderr
            assert len(server.heard) == 1
            heard[name] = server.heard[0].text
    assert "ZZ-OWN-RULES" in heard["own"]
    assert "ZZ-OWN-RULES" not in heard["base"]
    config = json.loads((tmp_path / "run/run.json").read_text())["config"]
    assert re.fullmatch(r"base\+own:[0-9a-f]{16}", config["prompts"])


@pytest.mark.parametrize("prompts, structured", [(None, True), ("balance", True), ("balance-reasoning", False)])
def test_a_prompt_set_that_asks_for_reasoning_sends_no_schema_that_would_forbid_it(
    script: str, prompts: str | None, structured: bool
) -> None:
    plan = plan_of(Condition(None, script, prompts=prompts), Selection("grid", scenario="high-small-0"), PlayOptions())
    assert plan.model is not None
    assert plan.model.settings.structured is structured


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--model", "gpt-4"], "unknown model 'gpt-4'"),
        (["--model", "openai:m"], "OPENAI_API_KEY"),
        (["--model", "scripted:nowhere.txt"], "nowhere.txt"),
        (["--model", "scripted:s.txt", "--agent", "random"], "either --agent"),
        ([], "either --agent"),
        (["--model", "scripted:s.txt", "--max-cost", "1"], "has no price"),
        (["--model", "scripted:s.txt", "--prompts", "loud"], "unknown prompt set 'loud'"),
        (["--model", "scripted:s.txt", "--prompts", "nowhere.toml"], "nowhere.toml"),
        (["--model", "scripted:s.txt", "--memory", "screenshots"], "a memory of pictures"),
        (["--model", "scripted:s.txt", "--temperature", "7"], "temperature is 7"),
        (["--agent", "random", "--max-tokens", "5"], "none plays"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence_and_leaves_nothing(
    oresight: Any, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = oresight(*GRID, *arguments, "--out", "run")
    assert ran.code in (1, 2)
    assert said in ran.one_sentence()
    assert not (tmp_path / "run").exists()


def test_a_run_without_a_folder_is_refused(oresight: Any, script: str) -> None:
    assert "--out is missing" in oresight(*GRID, "--model", script).one_sentence()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_bad_key_stops_the_run_in_the_providers_words_and_appears_nowhere(tmp_path: Path, workers: str) -> None:
    def echo(heard: Any) -> Sent:
        return fault("openai", 401, f"no such key: {heard.headers.get('authorization')}")

    with Loopback(echo) as server:
        model = server.name("compatible", user="u:MARKER78@")
        command = [
            sys.executable,
            "-m",
            "oresight.harness.cli.main",
            "run",
            "grid",
            "--suite",
            "main",
            "--model",
            model,
        ]
        done = subprocess.run(
            [*command, "--out", "run", "--workers", workers],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": "/usr/bin:/bin", "COMPATIBLE_API_KEY": "zz-MARKER-77", "HOME": str(tmp_path)},
        )
        assert len(server.heard) <= 4
    assert done.returncode == 1
    assert "no such key" in done.stderr
    assert "Traceback" not in done.stderr
    written = "".join(path.read_text() for path in (tmp_path / "run").rglob("*") if path.is_file())
    for text in (done.stdout, done.stderr, written):
        assert "MARKER" not in text
    counts = json.loads((tmp_path / "run/summary.json").read_text())["counts"]
    assert (counts["scored"], counts["planned"]) == (0, 27)
