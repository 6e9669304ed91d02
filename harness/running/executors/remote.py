"""Episodes that are written down on another machine than they are played on.

Whoever gives the command has the run folder and alone writes it; a worker elsewhere sends what is to be written, in
order. So no machine needs to see another's disk, and one that was given up for lost cannot write any more. A reply, and
all that was sent before it, is on the disk before the worker acts on it: the worker waits until it hears so. The
account is kept where the folder is, too: with caps, a worker asks there before each request.

What carries the words stands elsewhere, as `ray_cluster` and `ray_worker`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from oresight.harness.agents.llm import ReplyRecord
from oresight.harness.errors import InfrastructureError, OresightError
from oresight.harness.models.base import ModelClient, ModelSettings
from oresight.harness.models.provider import Surroundings
from oresight.harness.models.registry import ModelName, make_client
from oresight.harness.png import encode_png
from oresight.harness.protocols import Json, Pixels
from oresight.harness.records import folder as run_folder
from oresight.harness.records import resume
from oresight.harness.running.attempt import EpisodeTask
from oresight.harness.running.budget import Account, Caps, tokens_of
from oresight.harness.running.executors.dispatch import News, stopped

_PACKAGES = ("assets", "craftenv", "gridenv", "harness", "scoring")


@dataclass(frozen=True)
class Kept:
    """What an earlier attempt at an episode left.

    Attributes:
        trajectory: What is good of it.
        replies: What is good of them.
        frames: Step numbers of the observations whose pictures are there.
        damage: What is wrong with the records, if they cannot be gone on with.
    """

    trajectory: resume.KeptTrajectory
    replies: resume.KeptReplies
    frames: frozenset[int]
    damage: str | None = None


@dataclass(frozen=True)
class Brief:
    """What a worker needs to know before its first task.

    Attributes:
        places: How many episodes it plays at once.
        caps: What the run may cost.
        environment: Keys and addresses of providers, by the names of their variables.
        scripts: The models that are files here.
    """

    places: int
    caps: Caps
    environment: Mapping[str, str] = field(repr=False)
    scripts: Mapping[ModelName, ModelClient] = field(repr=False)

    def client(self, name: ModelName, settings: ModelSettings, surroundings: Surroundings) -> ModelClient:
        """The client of a model, made from what this brief says and not from the worker's own environment.

        Raises:
            OresightError: It cannot be made.
        """
        found = self.scripts.get(name)
        return make_client(name, settings, surroundings, self.environment) if found is None else found


def brief_of(places: int, caps: Caps, environment: Mapping[str, str], tasks: Sequence[EpisodeTask]) -> Brief:
    """The brief for workers that are to play these tasks.

    Raises:
        UsageError: A script cannot be read.
    """
    names = {task.model.name for task in tasks if task.model is not None}
    scripts = {name: make_client(name) for name in names if name.provider == "scripted"}
    return Brief(places, caps, environment, scripts)


def code_mark() -> str:
    """What this project's code is known by: two machines with the same mark run the same."""
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

    def send(self, news: News, /) -> None:
        """Says something."""

    def ask(self, news: News, /) -> None:
        """Says something and waits until it is done.

        Raises:
            OresightError: It was refused.
        """


class FarRecord:
    """See `Record`; sends what is to be written."""

    def __init__(self, link: Link, number: int, task: EpisodeTask, kept: Kept) -> None:
        """Makes the record of one episode.

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

    def kept(self) -> tuple[resume.KeptTrajectory, resume.KeptReplies]:
        """See `Record.kept`."""
        if self._kept.damage is not None:
            raise InfrastructureError(self._kept.damage)
        return self._kept.trajectory, self._kept.replies

    def header(self, header: Json) -> None:
        """See `Record.header`."""
        self._write("header", header)

    def line(self, line: Json) -> None:
        """See `Record.line`."""
        self._write("line", line)

    def reply(self, line: Json) -> None:
        """See `Record.reply`."""
        self._link.ask(("reply", self._number, line))

    def frame(self, step: int, pixels: Pixels | None) -> None:
        """See `Record.frame`."""
        if pixels is None or self._frames == "none":
            return
        if self._frames == "last":
            self._last = (step, pixels)
        else:
            self._write("frame", step, encode_png(pixels))

    def same_frame(self, step: int, pixels: Pixels | None) -> None:
        """See `Record.same_frame`."""
        if self._frames != "all" or step not in self._kept.frames:
            self.frame(step, pixels)

    def cut_frames(self, last: int) -> None:
        """See `Record.cut_frames`."""
        self._write("cut_frames", last)

    def finish(self, result: run_folder.EpisodeResult) -> None:
        """See `Record.finish`."""
        if self._last is not None:
            step, pixels = self._last
            self._write("frame", step, encode_png(pixels))
        self._write("finish", result)

    def close(self) -> None:
        """See `Record.close`."""
        self._write("close")

    def _write(self, what: str, *told: object) -> None:
        self._link.send(("record", self._number, what, *told))


class FarAccount(Account):
    """An account that is kept elsewhere, where the replies are written down and counted."""

    def __init__(self, caps: Caps, link: Link) -> None:
        super().__init__(caps)
        self._link = link

    def add(self, cost: float | None, tokens: int) -> None:
        """Does nothing: the reply that cost it was counted as it was written down."""

    def check(self) -> None:
        """See `Account.check`."""
        if self.caps != Caps():
            self._link.ask(("check",))


# --- where it is written ---


class Clerk:
    """Writes down what workers send, and keeps the account."""

    def __init__(self, tasks: Sequence[EpisodeTask], account: Account) -> None:
        self._tasks = tasks
        self._account = account
        self._records: dict[int, run_folder.EpisodeFolder] = {}

    def open(self, number: int) -> Kept:
        """Opens the record of a task and says what is in it.

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

    def takes(self, news: News) -> bool:
        """Whether news are for the clerk."""
        return news[0] in ("record", "reply", "check")

    def take(self, news: News) -> News | None:
        """Does what news ask for.

        Returns:
            The answer, where the worker waits for one: empty, or an error as `stopped` tells it.

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
        """Closes the record of a task whose worker is gone, if it is open."""
        record = self._records.pop(number, None)
        if record is not None:
            record.close()

    def close_all(self) -> None:
        """Closes all records."""
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
