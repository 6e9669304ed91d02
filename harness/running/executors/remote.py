"""Episodes that are recorded on another machine than they are played on.

The commanding machine holds the run folder and is the only one that writes it; a remote worker sends what is to be
written, in order. So machines need no shared disk, and a worker that was given up cannot write any more. A reply, and
all that was sent before it, is on disk before the worker acts on it: the worker waits for the confirmation. The account
is kept with the folder: with caps, a worker asks there before each request.

The transport is in `ray_cluster` and `ray_worker`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from typing_extensions import override

from oresight.harness.errors import InfrastructureError, OresightError
from oresight.harness.models.base import ModelClient, ModelSettings
from oresight.harness.models.provider import ClientOptions
from oresight.harness.models.registry import ModelName, make_client
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.png import encode_png
from oresight.harness.protocols import Json, Pixels
from oresight.harness.records import folder as run_folder
from oresight.harness.records import resume
from oresight.harness.records.recorder import Record
from oresight.harness.running.attempt import EpisodeTask
from oresight.harness.running.budget import Budget, Limits, tokens_of
from oresight.harness.running.executors.dispatch import WorkerMessage, stopped

_PACKAGES = ("assets", "craftenv", "gridenv", "harness", "scoring")


@dataclass(frozen=True)
class Kept:
    """What an earlier attempt at an episode left.

    Attributes:
        trajectory: What is good of it.
        replies: What is good of them.
        frames: Step numbers of the observations whose pictures are there.
        damage: What is wrong with the records, if they cannot be resumed.
    """

    trajectory: resume.KeptTrajectory
    replies: resume.KeptReplies
    frames: frozenset[int]
    damage: str | None = None


@dataclass(frozen=True)
class WorkerConfig:
    """What a worker needs to know before its first task.

    Attributes:
        places: How many episodes it plays at once.
        caps: What the run may cost.
        environment: Keys and addresses of providers, by the names of their variables.
        scripts: The models that are files here.
    """

    places: int
    caps: Limits
    environment: Mapping[str, str] = field(repr=False)
    scripts: Mapping[ModelName, ModelClient] = field(repr=False)

    def client(self, name: ModelName, settings: ModelSettings, surroundings: ClientOptions) -> ModelClient:
        """Return the client of a model, made from what this brief says and not from the worker's own environment.

        Raises:
            OresightError: It cannot be made.
        """
        found = self.scripts.get(name)
        return make_client(name, settings, surroundings, self.environment) if found is None else found


def brief_of(places: int, caps: Limits, environment: Mapping[str, str], tasks: Sequence[EpisodeTask]) -> WorkerConfig:
    """Return the brief for workers that are to play these tasks.

    Raises:
        UsageError: A script cannot be read.
    """
    names = {task.model.name for task in tasks if task.model is not None}
    scripts = {name: make_client(name) for name in names if name.provider == "scripted"}
    return WorkerConfig(places, caps, environment, scripts)


def code_mark() -> str:
    """Return a fingerprint of this project's code: machines with the same one run the same code."""
    mark = hashlib.sha256()
    for package in _PACKAGES:
        spec = find_spec(package)
        for folder in [] if spec is None else spec.submodule_search_locations or []:
            for path in sorted(Path(folder).rglob("*.py")):
                mark.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return mark.hexdigest()[:16]


# --- where it is played ---


class Link(Protocol):
    """A worker's way to the one who writes."""

    def send(self, news: WorkerMessage, /) -> None:
        """Send a message."""

    def ask(self, news: WorkerMessage, /) -> None:
        """Send a message and wait until it is handled.

        Raises:
            OresightError: It was refused.
        """


class RemoteRecorder(Record):
    """A record that sends what is to be written to the process that holds the run folder."""

    def __init__(self, link: Link, number: int, task: EpisodeTask, kept: Kept) -> None:
        """Make the record of one episode.

        Args:
            link: To the one who writes.
            number: Of the task.
            task: Says which pictures are kept.
            kept: What an earlier attempt left.
        """
        self._link = link
        self._number = number
        self._frames = task.frames
        self._kept = kept
        self._last: tuple[int, Pixels] | None = None

    @override
    def kept(self) -> tuple[resume.KeptTrajectory, resume.KeptReplies]:
        if self._kept.damage is not None:
            raise InfrastructureError(self._kept.damage)
        return self._kept.trajectory, self._kept.replies

    @override
    def header(self, header: Json) -> None:
        self._write("header", header)

    @override
    def line(self, line: Json) -> None:
        self._write("line", line)

    @override
    def reply(self, line: Json) -> None:
        self._link.ask(("reply", self._number, line))

    @override
    def frame(self, step: int, pixels: Pixels | None) -> None:
        if pixels is None or self._frames == "none":
            return
        if self._frames == "last":
            self._last = (step, pixels)
        else:
            self._write("frame", step, encode_png(pixels))

    @override
    def same_frame(self, step: int, pixels: Pixels | None) -> None:
        if self._frames != "all" or step not in self._kept.frames:
            self.frame(step, pixels)

    @override
    def cut_frames(self, last: int) -> None:
        self._write("cut_frames", last)

    @override
    def finish(self, result: run_folder.EpisodeResult) -> None:
        if self._last is not None:
            step, pixels = self._last
            self._write("frame", step, encode_png(pixels))
        self._write("finish", result)

    @override
    def close(self) -> None:
        self._write("close")

    def _write(self, what: str, *told: object) -> None:
        self._link.send(("record", self._number, what, *told))


class RemoteBudget(Budget):
    """An account that is kept elsewhere, where the replies are written down and counted."""

    def __init__(self, caps: Limits, link: Link) -> None:
        super().__init__(caps)
        self._link = link

    def add(self, cost: float | None, tokens: int) -> None:
        """Do nothing: the reply was counted when it was written down."""

    @override
    def check(self) -> None:
        if self.caps != Limits():
            self._link.ask(("check",))


# --- where it is written ---


class RemoteWriter:
    """Writes down what workers send, and keeps the account."""

    def __init__(self, tasks: Sequence[EpisodeTask], account: Budget) -> None:
        self._tasks = tasks
        self._account = account
        self._records: dict[int, run_folder.EpisodeFolder] = {}

    def open(self, number: int) -> Kept:
        """Open the record of a task and return what is in it.

        Raises:
            OresightError: It cannot be opened.
        """
        task = self._tasks[number]
        record = self._records[number] = run_folder.EpisodeFolder(task.folder, task.frames)
        try:
            trajectory, replies = record.kept()
        except InfrastructureError as error:
            nothing = resume.KeptTrajectory(None, (), 0), resume.KeptReplies((), None, 0)
            return Kept(*nothing, frozenset(), damage=str(error))
        return Kept(trajectory, replies, record.frame_steps())

    def takes(self, news: WorkerMessage) -> bool:
        """Return whether a message is for the writer."""
        return news[0] in ("record", "reply", "check")

    def take(self, news: WorkerMessage) -> WorkerMessage | None:
        """Handle a message of a worker.

        Returns:
            The answer, where the worker waits for one: empty, or an error as `stopped` encodes it.

        Raises:
            OresightError: The disk refuses.
        """
        kind, *told = news
        if kind == "record":
            number, what, *rest = told
            self._write(number, what, *rest)
            return None
        try:
            if kind == "reply":
                self._reply(*told)
            else:
                self._account.check()
        except OresightError as error:
            if kind == "reply":
                raise
            return stopped(error)
        return ()

    def close(self, number: int) -> None:
        """Close the record of a task whose worker died, if it is open."""
        record = self._records.pop(number, None)
        if record is not None:
            record.close()

    def close_all(self) -> None:
        """Close all records."""
        for number in list(self._records):
            self.close(number)

    def _write(self, number: int, what: str, *told: object) -> None:
        if what == "close":
            self.close(number)
            return
        record = self._records[number]
        {
            "header": record.header,
            "line": record.line,
            "frame": record.frame,
            "cut_frames": record.cut_frames,
            "finish": record.finish,
        }[what](*told)  # type: ignore[operator]

    def _reply(self, number: int, line: Json) -> None:
        self._records[number].reply(line)
        model = self._tasks[number].model
        if model is None or "shrunk" in line:
            return
        usage = ReplyRecord.from_json(line).reply.usage
        self._account.add(None if model.price is None else model.price.cost(usage), tokens_of(usage))
