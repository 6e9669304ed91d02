"""A world that is none of ours, installed beside us: everything that the harness can do works there."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.worlds import EpisodeRequest, World, find_world, world_names
from oresight.harness.worlds.conformance import WorldTests
from support.cli_stage import Ran
from support.loopback import Heard, Loopback, Sent, reply
from support.places import DATA

ENTRY_POINTS = "[oresight.worlds]\nvault = vault_world:VaultWorld\n"
METADATA = "Metadata-Version: 2.1\nName: vault-world\nVersion: 1.0\n"


@pytest.fixture(scope="module", autouse=True)
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of installed packages with the world in it, as pip leaves one."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(DATA / "outside" / "vault_world.py", folder)
    about = folder / "vault_world-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


class TestVault(WorldTests):
    def make_world(self) -> World:
        return find_world("vault").find(EpisodeRequest("vault-0"))[0]

    def play(self) -> Sequence[str]:
        return ["say amber", "dance", "say birch"]


def answer(heard: Heard) -> Sent:
    """Says what the door whispers; in the third vault it smashes the door once two locks are open."""
    now = heard.messages[-1].text
    told = re.findall(r"whispers: (\w+)\.", now)
    smashes = "2 of 3" in now and told[-1] == "amber"
    return reply(heard.protocol, json.dumps({"action": "smash" if smashes else f"say {told[-1]}"}))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Iterator[tuple[Path, str]]:
    """Two runs of the three vaults by a model on loopback, with different memories."""
    root = tmp_path_factory.mktemp("vaults")
    with Loopback(answer) as server:
        model = server.name("compatible")
        for memory in ("raw", "tree+notes"):
            done = command(
                site,
                *("run", "vault", "--model", model, "--memory", memory, "--suite", "all"),
                *("--out", root / memory),
            )
            assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        yield root, model


def command(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "oresight.harness.cli.main", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment(site),
        check=False,
    )


def environment(site: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])}


def test_it_is_known_by_the_name_of_its_entry_point() -> None:
    assert world_names()[-1] == "vault"
    assert find_world("vault").title == "the vault"


def test_its_summary_has_success_and_score_and_no_error_metric(played: tuple[Path, str]) -> None:
    told = json.loads((played[0] / "raw" / "summary.json").read_text())
    assert told["counts"]["scored"] == 3 and told["complete"]
    assert told["pooled"]["success"]["numerator"] == 2
    assert told["pooled"]["measures"]["score"]["value"] == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert not any("error" in name for name in (*told["pooled"], *told["pooled"]["measures"]))
    results = [json.loads(path.read_text()) for path in sorted((played[0] / "raw").glob("episodes/*/result.json"))]
    assert sorted(result["outcome"] for result in results) == [
        "failure: the world ended the episode",
        "success",
        "success",
    ]


def test_two_runs_are_compared(played: tuple[Path, str], oresight: Any) -> None:
    ran: Ran = oresight("compare", played[0] / "raw", played[0] / "tree+notes", "--json")
    told = json.loads(ran.out)
    assert (ran.code, told["world"], told["shared_episodes"]) == (0, "vault", ["vault-0", "vault-1", "vault-2"])
    assert told["conditions"][1]["difference_from_first"]["score"]["value"] == 0
    plain: Ran = oresight("compare", played[0] / "raw", played[0] / "tree+notes")
    assert plain.code == 0 and "score" in plain.out.lower() and "exploration" not in plain.out


def test_it_is_reported_with_a_replay_page_for_each_episode(
    played: tuple[Path, str], oresight: Any, tmp_path: Path
) -> None:
    ran: Ran = oresight("report", played[0] / "raw", played[0] / "tree+notes", "--out", tmp_path / "report")
    assert ran.code == 0, ran.out + ran.err
    page = (tmp_path / "report" / "index.html").read_text()
    assert "the vault" in page.lower() and "not defined" in page
    assert len(list((tmp_path / "report").glob("episodes/*/vault-*.html"))) == 6


def test_it_is_scored_from_its_files_as_it_was_live(played: tuple[Path, str], oresight: Any) -> None:
    ran: Ran = oresight("score", played[0] / "raw", "--json")
    assert (ran.code, ran.err) == (0, "")
    told = json.loads(ran.out)
    live = {
        path.parent.name: json.loads(path.read_text())["score"] for path in played[0].glob("raw/episodes/*/result.json")
    }
    assert {each["name"]: each["summary"] for each in told["episodes"]} == live
    plain: Ran = oresight("score", played[0] / "raw")
    assert plain.code == 0 and "vault-0" in plain.out


def test_it_replays_and_a_forged_record_is_found_out(played: tuple[Path, str], oresight: Any, tmp_path: Path) -> None:
    episode = tmp_path / "vault-0"
    shutil.copytree(played[0] / "raw" / "episodes" / "vault-0", episode)
    assert oresight("replay", episode).code == 0
    lines = (episode / "trajectory.jsonl").read_text()
    (episode / "trajectory.jsonl").write_text(lines.replace('"locks":2', '"locks":3'))
    ran: Ran = oresight("replay", episode)
    assert ran.code == 1 and "facts.locks" in ran.out + ran.err


def test_it_is_branched(played: tuple[Path, str], site: Path, tmp_path: Path) -> None:
    episode = played[0] / "raw" / "episodes" / "vault-0"
    with Loopback(answer) as server:
        done = command(
            site,
            *("branch", episode, "--at", "1", "--model", server.name("compatible"), "--rollouts", "2"),
            *("--out", tmp_path / "branches"),
        )
    assert done.returncode == 0, done.stdout + done.stderr
    results = [json.loads(path.read_text()) for path in tmp_path.glob("branches/**/result.json")]
    assert [(result["steps"], result["outcome"], result["branch"]["at"]) for result in results] == [
        (2, "success", 1)
    ] * 2


def test_a_run_that_is_killed_is_resumed_and_nothing_is_asked_twice(site: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    def slow(heard: Heard) -> Sent:
        asked.append(heard.messages[-1].text)
        sent = answer(heard)
        return Sent(sent.status, sent.body, sent.headers, delay_s=0.2)

    with Loopback(slow) as server:
        arguments = ["run", "vault", "--model", server.name("compatible"), "--suite", "all", "--concurrency", "1"]
        line = [sys.executable, "-m", "oresight.harness.cli.main", *arguments, "--out", str(tmp_path / "run")]
        with subprocess.Popen(line, env=environment(site), stdout=subprocess.DEVNULL) as process:
            while len(asked) < 5:
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        done = subprocess.run(line, env=environment(site), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert told["complete"] and told["pooled"]["success"]["numerator"] == 2
    # Nine decisions; the one in flight when the process was killed may have been asked for again.
    assert len(asked) <= 10


def test_it_is_found_as_module_and_class_too(site: Path, tmp_path: Path) -> None:
    done = command(
        site, "run", "vault_world:VaultWorld", "--agent", "random", "--suite", "all", "--out", tmp_path / "r"
    )
    assert done.returncode == 2 and "plays craft and not vault" in done.stderr
