"""Plays episodes on a Ray cluster: an existing one, or one that is started on this machine for as long as a run takes.

Each worker is an actor with one core. Its settings and keys are sent to it in memory, and what it plays is sent back
and written here: see `remote`. Workers for which the cluster has no core yet join when it has one. Ray itself
runs in a process of its own: see `ray_bridge`.
"""

import multiprocessing
import pickle
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from typing_extensions import override

from oresight.harness.errors import MissingPartError, OresightError, UsageError
from oresight.harness.running.attempt import EpisodeTask, Listener
from oresight.harness.running.budget import Budget
from oresight.harness.running.executors.base import Executor
from oresight.harness.running.executors.children import descendants, kill_all, kill_group, uninterruptible
from oresight.harness.running.executors.dispatch import Worker, WorkerDied, WorkerMessage, serve
from oresight.harness.running.executors.ray_bridge import serve_bridge
from oresight.harness.running.executors.remote import RemoteWriter, WorkerConfig, brief_of, code_mark
from oresight.harness.settings import provider_environment, ray_address
from oresight.harness.worlds import own_version

_ADDRESS = re.compile(r"(?:ray://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>[0-9]{1,5})")
_WAIT_S = 0.25
_REACH_S = 5.0
_PENDING_S = 10.0
# An interrupted command returns within two seconds.
_PATIENCE_S = 1.0


class RayCluster(Executor):
    """Plays episodes on a Ray cluster."""

    def __init__(self, workers: int, concurrency: int, address: str = "") -> None:
        """Make an executor without connecting yet.

        Args:
            workers: How many actors play at most.
            concurrency: How many episodes are under way at once, in all of them together.
            address: `HOST:PORT` of a cluster that this machine is part of, `auto` to find that, `ray://HOST:PORT` of
                one that it is not part of; empty for what RAY_ADDRESS says, or else for a cluster started here.

        Raises:
            UsageError: It is not an address.
            MissingPartError: Ray is not installed.
        """
        self._workers = workers
        self._concurrency = max(concurrency, workers)
        self._address = address or ray_address() or "local"
        if self._address not in ("auto", "local") and not _ADDRESS.fullmatch(self._address):
            raise UsageError(
                f"the address of the Ray cluster is {self._address!r}; expected auto, HOST:PORT or ray://HOST:PORT, for"
                " example --executor ray:10.0.0.1:6379"
            )
        if find_spec("ray") is None:
            raise MissingPartError('--executor ray needs the package ray; install it: pip install "oresight[ray]"')

    @override
    def run(self, tasks: Sequence[EpisodeTask], account: Budget, listener: Listener) -> None:
        count = min(self._workers, len(tasks))
        if count == 0:
            return
        # Before anything is started, so that an unreadable script is reported at once.
        config = brief_of(-(-self._concurrency // count), account.caps, provider_environment(), tasks)
        writer = RemoteWriter(tasks, account)
        try:
            with _bridge(self._address) as pipe:
                pool = _Crew(pipe, count, config, writer, listener)
                pool.start()
                serve(tasks, pool, listener)
        finally:
            writer.close_all()


@dataclass(eq=False, kw_only=True)
class _Actor(Worker):
    """A worker with the number that the bridge knows it by; one that follows a dead one has another."""

    number: int


class _Crew:
    """Ray actors, reached through the bridge process."""

    def __init__(
        self, pipe: "Connection[Any, Any]", size: int, config: WorkerConfig, writer: RemoteWriter, listener: Listener
    ) -> None:
        self.size = size
        self.workers: list[_Actor] = []
        self._pipe = pipe
        self._config = pickle.dumps(config)
        self._places = config.places
        self._writer = writer
        self._listener = listener
        self._mark = code_mark()
        self._actors: dict[int, _Actor] = {}
        self._started = 0
        self._began = time.monotonic()
        self._told_of_pending = False

    def start(self) -> None:
        for index in range(self.size):
            self._start(index)

    def give(self, worker: Worker, number: int, task: EpisodeTask) -> None:
        assert isinstance(worker, _Actor)
        self._call(worker, "take", pickle.dumps((number, task, self._writer.open(number))))

    def hear(self) -> Iterator[tuple[Worker, WorkerMessage | WorkerDied]]:
        try:
            told = self._pipe.recv() if self._pipe.poll(_WAIT_S) else None
        except (EOFError, OSError) as error:
            raise OresightError(
                "the Ray cluster is lost; see that it runs, and rerun the same command to resume"
            ) from error
        # Messages of a released worker are ignored.
        actor = None if told is None else self._actors.get(told[1])
        if told is not None and actor is not None:
            kind, _, *rest = told
            if kind == "died":
                yield actor, WorkerDied("on the Ray cluster")
            elif kind == "refused":
                raise MissingPartError(
                    f"a node of the Ray cluster cannot play ({rest[0]}); install there what is installed here, with the"
                    f" same Python: pip install oresight=={own_version()}, and agents of your own"
                )
            else:
                yield from self._did(actor, *rest)
        self._tell_of_pending()

    def dismiss(self, worker: Worker, replaced: bool) -> None:
        assert isinstance(worker, _Actor)
        if worker in self.workers:
            self.workers.remove(worker)
        del self._actors[worker.number]
        self._order("dismiss", worker.number)
        for number in worker.playing:
            self._writer.close(number)
        if replaced:
            self._start(worker.index)

    def _start(self, index: int) -> None:
        self._started += 1
        actor = self._actors[self._started] = _Actor(index, self._places, number=self._started)
        self._order("start", actor.number)
        self._call(actor, "greet")

    def _call(self, worker: _Actor, method: str, payload: bytes | None = None) -> None:
        self._order("call", worker.number, method, payload)

    def _order(self, *order: object) -> None:
        try:
            self._pipe.send(order)
        except OSError:
            # The bridge is gone, and the next look at its pipe will say so.
            return

    def _did(self, actor: _Actor, method: str, answer: Any) -> Iterator[tuple[Worker, WorkerMessage]]:
        if method == "greet":
            self._check_greeting(answer)
            self._call(actor, "begin", self._config)
        elif method == "begin":
            self.workers.append(actor)
            self._call(actor, "news")
        elif method == "news":
            for news in pickle.loads(answer):
                if not self._writer.takes(news):
                    yield actor, news
                    continue
                done = self._writer.take(news)
                if done is not None:
                    self._call(actor, "answer", pickle.dumps(done))
            # That message may have released it.
            if actor in self.workers:
                self._call(actor, "news")

    def _check_greeting(self, greeting: dict[str, Any]) -> None:
        found, version = greeting["version"], own_version()
        if (found, greeting["mark"]) == (version, self._mark):
            return
        told = f"has oresight {found}, and here is {version}" if found != version else f"has another oresight {version}"
        raise UsageError(
            f"{greeting['node']}, a node of the Ray cluster, {told}, so results could differ; install the same version"
            " on all nodes"
        )

    def _tell_of_pending(self) -> None:
        if self._told_of_pending or time.monotonic() - self._began < _PENDING_S:
            return
        self._told_of_pending = True
        if len(self.workers) < self.size:
            self._listener.warned(
                f"the Ray cluster has cores for {len(self.workers)} of {self.size} workers so far; the others join when"
                " there are more"
            )


@contextmanager
def _bridge(address: str) -> Iterator["Connection[Any, Any]"]:
    """Yield a pipe to a process that is connected to the cluster; end it, and a cluster of our own, afterwards."""
    _reach(address)
    # Not below a TMPDIR: names of sockets are short.
    own = Path(tempfile.mkdtemp(prefix="oresight-ray-", dir="/tmp")) if address == "local" else None
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(
        target=serve_bridge, args=(theirs, address, None if own is None else str(own)), daemon=True
    )
    try:
        with uninterruptible():
            process.start()
        theirs.close()
        _wait_until_connected(ours, address)
        yield ours
    finally:
        # A cluster started here is killed at once; of others, only our actors are ended.
        if own is not None:
            kill_all([*descendants(process.pid), process.pid])
            # Where the bridge went first, what it started is no descendant any more, but still in its group.
            kill_group(process.pid)
        ours.close()
        process.join(_PATIENCE_S)
        process.kill()
        process.join()
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)


def _wait_until_connected(pipe: "Connection[Any, Any]", address: str) -> None:
    try:
        told = pipe.recv()
    except (EOFError, OSError):
        told = ("failed", "Ray gave up")
    if told[0] != "connected":
        where = "of its own" if address == "local" else f"at {address}"
        raise OresightError(
            f"no Ray cluster {where} can be used ({told[1]}); check that it runs, with the same versions of Ray and"
            " Python as here, and set RAY_AUTH_MODE=token and its token if it asks for one"
        )


def _reach(address: str) -> None:
    """Check that a server listens at the address: Ray itself tries for minutes."""
    match = _ADDRESS.fullmatch(address)
    if match is None:
        return
    try:
        socket.create_connection((match["host"].strip("[]"), int(match["port"])), _REACH_S).close()
    except (OSError, OverflowError) as error:
        raise OresightError(
            f"no Ray cluster answers at {address} ({getattr(error, 'strerror', None) or error}); start one with"
            " `ray start --head`, or correct the address"
        ) from error
