"""On a Ray cluster a run is what it is anywhere: the same files, resumable, and what is lost is what was under way."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from oresight.harness.errors import MissingPartError, OresightError, StoreError, UsageError
from oresight.harness.models.registry import ModelName
from oresight.harness.running.attempt import ModelChoice
from oresight.harness.running.budget import Limits
from oresight.harness.running.executors import make_executor
from oresight.harness.running.executors.children import descendants, kill_all
from oresight.harness.running.executors.ray_cluster import RayCluster
from oresight.harness.running.runner import Progress, RunPlan, run
from oresight.harness.running.selection import Selection
from oresight.harness.worlds import World
from support.fake_world import Corridor, CorridorWorld, corridor
from support.loopback import Heard, Loopback, Sent
from support.places import TESTS
from support.run_stage import MODEL, Interrupted, compass, lines, saying, summary

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="the package ray is not installed: pip install ray")
NAMES = tuple(f"corridor-{number}" for number in range(4))
KEY = "zz-MARKER-77-compatible"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A cluster of one node with two cores, its address, and where it keeps its files."""
    # Names of sockets are short, and those of pytest's folders are not.
    folder = Path("/tmp") / f"oresight-test-ray-{os.getpid()}"
    code = (
        "import sys, ray\n"
        f"there = ray.init(address='local', num_cpus=2, include_dashboard=False, _temp_dir={str(folder)!r},\n"
        "    object_store_memory=100 * 2**20, log_to_driver=False, logging_level='ERROR')\n"
        "print('at', there.address_info['gcs_address'], flush=True)\n"
        "sys.stdin.read()\n"
    )
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    tests = f"{TESTS}{os.pathsep}{Path(__file__).parent}"
    head = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **token, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": tests},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert head.stdin is not None and head.stdout is not None
    try:
        address = next(line.split()[1] for line in head.stdout if line.startswith("at "))
        with pytest.MonkeyPatch.context() as patch:
            for name, value in token.items():
                patch.setenv(name, value)
            yield address, folder
    finally:
        kill_all([*descendants(head.pid), head.pid])
        head.wait()
        head.stdin.close()
        head.stdout.close()
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def plan(*names: str, world: Any = corridor, **options: Any) -> RunPlan:
    worlds = tuple(world(name) for name in names or NAMES)
    return RunPlan("random", "raw", worlds, **{"size": (6, 4), **options})


def files(out: Path) -> dict[str, Any]:
    """Everything of the episodes but their results; of pictures what is seen, since there are many ways to pack it."""
    return {
        str(path.relative_to(out)): np.asarray(Image.open(path)).tolist()
        if path.suffix == ".png"
        else path.read_bytes()
        for path in sorted((out / "episodes").rglob("*"))
        if path.is_file() and path.name != "result.json"
    }


def same(one: Path, other: Path) -> None:
    assert files(one) == files(other)
    assert summary(one) == summary(other)


@needs_ray
@pytest.mark.parametrize("frames", ["all", "last"])
def test_a_cluster_changes_nothing(tmp_path: Path, cluster: tuple[str, Path], frames: Any) -> None:
    run(plan(frames=frames), tmp_path / "here")
    run(plan(frames=frames), tmp_path / "there", executor=RayCluster(2, 3, cluster[0]))
    same(tmp_path / "here", tmp_path / "there")


@needs_ray
def test_episodes_of_the_3d_world_are_the_same(tmp_path: Path, cluster: tuple[str, Path]) -> None:
    asked = RunPlan("spinner", "raw", Selection("craft", scenario="outcrop-0").worlds(None), size=None)
    run(asked, tmp_path / "here")
    run(asked, tmp_path / "there", executor=RayCluster(1, 1, cluster[0]))
    same(tmp_path / "here", tmp_path / "there")


class Deadly(Corridor):
    """Takes its process down at the third step."""

    def step(self, action: str, on_tick: Any = None) -> Any:
        if self.steps == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(action, on_tick)


class DeadlyWorld(CorridorWorld):
    def open(self, size: Any) -> Any:
        return Deadly(size, self.name)


def deadly(name: str) -> World:
    if name != "corridor-1":
        return corridor(name)
    return corridor(name, kind=DeadlyWorld)


@needs_ray
def test_a_worker_that_dies_breaks_its_episode_and_no_other(tmp_path: Path, cluster: tuple[str, Path]) -> None:
    found = run(plan(world=deadly), tmp_path / "there", executor=RayCluster(2, 2, cluster[0]))
    assert [result.outcome.counts for result in found.results] == [True, False, True, True]
    (broken,) = found.broken
    assert broken.reason == "its worker process died (on the Ray cluster)"
    # The same command goes on with it, here or there, and nothing shows.
    assert run(plan(), tmp_path / "there").complete
    run(plan(), tmp_path / "here")
    same(tmp_path / "here", tmp_path / "there")


class Interrupting(Progress):
    """Ends the run as Ctrl-C does, when some episodes have ended and others have not."""

    ended = 0

    def finished(self, result: Any, played: bool) -> None:
        self.ended += 1
        if self.ended == 2:
            raise Interrupted


@needs_ray
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, cluster: tuple[str, Path]) -> None:
    with pytest.raises(Interrupted):
        run(plan(), tmp_path / "there", Interrupting(), RayCluster(2, 2, cluster[0]))
    assert json.loads((tmp_path / "there/summary.json").read_text())["complete"] is False
    assert run(plan(), tmp_path / "there").complete
    run(plan(), tmp_path / "here")
    same(tmp_path / "here", tmp_path / "there")


@needs_ray
def test_a_script_is_read_here_and_each_reply_is_on_this_disk(tmp_path: Path, cluster: tuple[str, Path]) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps(saying("move_forward")) + "\n", encoding="utf-8")
    asked = plan(model=ModelChoice(ModelName("scripted", str(script)), price=MODEL.price))
    run(asked, tmp_path / "here")
    run(asked, tmp_path / "there", executor=RayCluster(2, 4, cluster[0]))
    same(tmp_path / "here", tmp_path / "there")
    kept = [lines(path)[1:] for path in (tmp_path / "there").rglob("replies.jsonl")]
    assert [len(each) for each in kept] == [5] * 4


@needs_ray
def test_a_cap_holds_and_a_key_is_in_no_file(
    tmp_path: Path, cluster: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(heard: Heard) -> Sent:
        time.sleep(0.05)
        return compass(heard)

    monkeypatch.setenv("COMPATIBLE_API_KEY", KEY)
    with Loopback(slow) as server:
        _, _, name = server.name("compatible").partition(":")
        model, _, address = name.partition("@")
        choice = ModelChoice(ModelName("compatible", model, address))
        asked = plan(model=choice)
        found = run(asked, tmp_path, executor=RayCluster(2, 4, cluster[0]), caps=Limits(tokens=150))
        heard = server.heard
    assert not found.complete
    kept = [line for path in tmp_path.rglob("replies.jsonl") for line in lines(path)[1:]]
    spent = [sum(line["reply"]["usage"][name] for name in ("input_tokens", "output_tokens")) for line in kept]
    # The cap is passed by the requests in flight alone: without any four of them it was not reached.
    assert len(heard) == len(kept)
    assert sum(spent) >= 150 > sum(sorted(spent)[:-4])
    assert all(each.headers["authorization"] == f"Bearer {KEY}" for each in heard)
    written = [path for folder in (tmp_path, cluster[1]) for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert not [path for path in written if KEY.encode() in path.read_bytes()]


@needs_ray
def test_what_the_disk_refuses_stops_the_run(tmp_path: Path, cluster: tuple[str, Path]) -> None:
    run(plan(NAMES[0]), tmp_path)
    foreign = tmp_path / "run/episodes/corridor-3"
    foreign.mkdir(parents=True)
    (foreign / "thesis.tex").write_text("years")
    (tmp_path / "run/run.json").write_text(json.dumps(plan().run_file().model_dump(mode="json"), allow_nan=False))
    with pytest.raises(StoreError, match=r"thesis\.tex.*move it away"):
        run(plan(), tmp_path / "run", executor=RayCluster(2, 2, cluster[0]))


@needs_ray
def test_a_node_with_other_code_is_refused(
    tmp_path: Path, cluster: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oresight.harness.running.executors.ray_cluster.code_mark", lambda: "another")
    with pytest.raises(UsageError, match=r"a node of the Ray cluster, has another oresight .* install the same"):
        run(plan(), tmp_path, executor=RayCluster(1, 1, cluster[0]))


@needs_ray
def test_a_cluster_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OresightError, match=r"no Ray cluster answers at 127\.0\.0\.1:1 \(Connection refused\); start"):
        run(plan(NAMES[0]), tmp_path, executor=RayCluster(1, 1, "127.0.0.1:1"))


def test_without_ray_the_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oresight.harness.running.executors.ray_cluster.find_spec", lambda name: None)
    with pytest.raises(MissingPartError, match=r'pip install "oresight\[ray\]"'):
        make_executor(2, 2, "ray")


@pytest.mark.parametrize("where", ["ray:nonsense", "ray:http://a:1", "ray:a:1:2", "slurm", "processes:4", ""])
def test_an_address_that_is_none_is_refused(where: str) -> None:
    with pytest.raises(UsageError, match=r"expected auto, HOST:PORT|unknown executor"):
        make_executor(2, 2, where)
