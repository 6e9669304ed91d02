"""What the tests of runs share: models that answer by what they are shown, and counts of who asked them."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.models.base import ModelRequest, Reply, Usage
from oresight.harness.models.prices import Price
from oresight.harness.models.registry import ModelName
from oresight.harness.running.attempt import ModelChoice
from oresight.harness.running.runner import RunPlan
from support.fake_world import corridor
from support.loopback import Heard, Loopback, Sent, reply
from support.places import TESTS

# Everything that a careless reader takes for the end of a line, and more.
ODD = "a\u2028b\x85c\x0bd\u2029 \U0001f600 \x00"
PRICE = Price(input=1.0, output=2.0)
MODEL = ModelChoice(ModelName("scripted", "test"), price=PRICE)


class Interrupted(KeyboardInterrupt):
    """Ends a run at a moment of the test's choice, as a signal would."""


class FakeModel:
    """Answers with a function of the request and keeps what it was asked; may end the run at a request."""

    name = "scripted:test"

    def __init__(self, answer: Callable[[ModelRequest], str | Reply]) -> None:
        self.answer = answer
        self.asked: list[ModelRequest] = []
        self.dies_at: int | None = None

    async def complete(self, request: ModelRequest) -> Reply:
        if self.dies_at is not None and len(self.asked) == self.dies_at:
            self.dies_at = None
            raise Interrupted
        self.asked.append(request)
        said = self.answer(request)
        return said if isinstance(said, Reply) else Reply(said, usage=Usage(100, 10))

    async def aclose(self) -> None:
        pass


def last_step(request: ModelRequest) -> int:
    """The step that the current observation of a corridor tells."""
    told = "\n".join(message.text for message in request.messages)
    return int(told.rpartition("Step ")[2].partition(".")[0])


def saying(action: str, said: str = ODD) -> str:
    return json.dumps({"reason": said, "action": action}, ensure_ascii=False)


@pytest.fixture
def fake_model(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[ModelRequest], str | Reply]], FakeModel]:
    """Puts a model in the place of whatever model a plan names."""

    def put(answer: Callable[[ModelRequest], str | Reply]) -> FakeModel:
        model = FakeModel(answer)
        for place in ("oresight.harness.running.attempt.make_client", "oresight.harness.running.runner.make_client"):
            monkeypatch.setattr(place, lambda *_: model)
        return model

    return put


def model_plan(*names: str, memory: str = "raw", **options: Any) -> RunPlan:
    worlds = tuple(corridor(name) for name in names or ("corridor-0",))
    return RunPlan("scripted:test", memory, worlds, size=(6, 4), model=MODEL, **options)


def shown(request: ModelRequest) -> Any:
    """All that a request holds, pictures as bytes, so that two can be compared."""
    parts = [
        (message.role, [getattr(part, "text", None) or part.pixels.tobytes() for part in message.parts])
        for message in request.messages
    ]
    return parts, request.schema, request.number


def lines(path: Path) -> list[Any]:
    """The lines of a file, split at line feeds alone; each has to be JSON by itself."""
    content = path.read_bytes()
    assert content.endswith(b"\n")
    return [json.loads(line) for line in content[:-1].split(b"\n")]


def summary(out: Path) -> Any:
    """summary.json without what is named as timing."""
    written = json.loads((out / "summary.json").read_text())
    for row in written["episodes"]:
        for name in [name for name in row if name.startswith("timing_")]:
            row.pop(name)
    return written


def compass(heard: Heard) -> Sent:
    """A reply that depends on the request alone: one of the admissible moves, and now and then nonsense."""
    drawn = hashlib.sha256(heard.text.encode()).digest()[0]
    moves = heard.body["response_format"]["json_schema"]["schema"]["properties"]["action"]["enum"]
    return reply(heard.protocol, "hm" if drawn < 16 else saying(moves[drawn % len(moves)]))


class Killing:
    """A model server that kills the process which asks it at certain requests, or answers after a while."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.kill_at: set[int] = set()
        self.kill_after_s = 0.0
        self.child: subprocess.Popen[bytes] | None = None
        self.server = Loopback(self._answer)
        self._delay_s = delay_s

    @property
    def tally(self) -> Counter[bytes]:
        """How often each request was made, by its content."""
        # A process that is killed while it sends leaves a request that nobody could answer.
        return Counter(heard.raw for heard in self.server.heard if heard.raw.endswith(b"}"))

    def run(self, out: Path, *arguments: str) -> int:
        """Runs a command until it ends or is killed; returns its exit code."""
        command = [sys.executable, "-m", "oresight.harness.cli.main", "run", "grid", "--out", str(out), *arguments]
        self.child = subprocess.Popen(
            [*command, "--model", self.server.name("compatible")], stdout=subprocess.DEVNULL, cwd=TESTS
        )
        return self.child.wait(120)

    def _answer(self, heard: Heard) -> Sent:
        if heard.number in self.kill_at and self.child is not None:
            if not self.kill_after_s:
                os.kill(self.child.pid, signal.SIGKILL)
                return Sent(500, {})
            threading.Timer(self.kill_after_s, self.child.kill).start()
        time.sleep(self._delay_s)
        return compass(heard)
