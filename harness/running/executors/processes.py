"""Plays episodes in several processes, each with its own worlds, clients and OpenGL context.

A worker is a fresh interpreter that inherits nothing but a pipe and the account's memory. It requests nothing: the
caller sends it a task for each of its free places. When the pipe closes, for whatever reason, the worker exits at
once; what it was playing can be resumed, since everything is on disk before it is acted on.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator, MutableSequence, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from typing_extensions import override

from oresight.harness import errors
from oresight.harness.running.attempt import EpisodeResources, EpisodeTask, Listener
from oresight.harness.running.budget import Budget, Limits
from oresight.harness.running.executors.base import Executor, play_side_by_side
from oresight.harness.running.executors.children import uninterruptible
from oresight.harness.running.executors.dispatch import (
    Worker,
    WorkerDied,
    WorkerMessage,
    WorkerObserver,
    serve,
    stopped,
)
from oresight.harness.settings import shared_cores

# An interrupted command returns within two seconds. What is cut short can be resumed.
_PATIENCE_S = 1.0


class Processes(Executor):
    """Plays episodes in worker processes on this machine."""

    def __init__(self, workers: int, concurrency: int, asked: int | None = None) -> None:
        """Make an executor.

        Args:
            workers: How many processes play.
            concurrency: How many episodes are under way at once, in all of them together.
            asked: How many processes were asked for, if those are more than the machine has cores for.
        """
        self._workers = workers
        self._concurrency = max(concurrency, self._workers)
        self._asked = asked

    @override
    def run(self, tasks: Sequence[EpisodeTask], account: Budget, listener: Listener) -> None:
        count = min(self._workers, len(tasks))
        if count == 0:
            return
        if self._asked is not None:
            listener.warned(
                f"--workers is {self._asked}, and this machine has cores for {self._workers}: that many processes play;"
                " the results are the same, and --concurrency is how many requests are in flight"
            )
        context = multiprocessing.get_context("spawn")
        # A place for what was spent before, and one for each worker.
        shared = context.RawArray("d", 2 * (count + 1))
        shared[0], shared[1] = account.cost, float(account.tokens)
        pool = _Crew(count, self._concurrency, account.caps, shared)
        try:
            pool.start()
            serve(tasks, pool, listener)
        finally:
            _stop(pool.workers)
            account.add(sum(shared[2::2]), round(sum(shared[3::2])))


@dataclass(eq=False, kw_only=True)
class _Process(Worker):
    """A worker with its process and its pipe."""

    process: SpawnProcess
    pipe: "Connection[Any, Any]"


class _Crew:
    """Worker processes, each reached by a pipe."""

    def __init__(self, size: int, concurrency: int, caps: Limits, shared: MutableSequence[float]) -> None:
        self.size = size
        self.workers: list[_Process] = []
        self._context = multiprocessing.get_context("spawn")
        self._concurrency = concurrency
        self._caps = caps
        self._shared = shared

    def start(self) -> None:
        for index in range(self.size):
            self._start(index)

    def give(self, worker: Worker, number: int, task: EpisodeTask) -> None:
        assert isinstance(worker, _Process)
        try:
            worker.pipe.send((number, task))
        except OSError:
            # It is dead, and the next look at its pipe will say so.
            return

    def hear(self) -> Iterator[tuple[Worker, WorkerMessage | WorkerDied]]:
        for pipe in wait([worker.pipe for worker in self.workers]):
            worker = next(each for each in self.workers if each.pipe is pipe)
            try:
                news = worker.pipe.recv()
            except (EOFError, OSError):
                worker.process.join(_PATIENCE_S)
                yield worker, WorkerDied(_words(worker.process))
            else:
                yield worker, news

    def dismiss(self, worker: Worker, replaced: bool) -> None:
        assert isinstance(worker, _Process)
        self.workers.remove(worker)
        _stop([worker])
        if replaced:
            self._start(worker.index)

    def _start(self, index: int) -> None:
        places = (self._concurrency + self.size - 1 - index) // self.size
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work, args=(theirs, places, Budget(self._caps, self._shared, index + 1)), daemon=True
        )
        with shared_cores(self.size), uninterruptible():
            process.start()
        theirs.close()
        self.workers.append(_Process(index, places, process=process, pipe=ours))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _words(process: SpawnProcess) -> str:
    code = process.exitcode
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def _stop(workers: Sequence[_Process]) -> None:
    """Stop workers: closing its pipe makes a worker exit."""
    for worker in workers:
        worker.pipe.close()
    until = time.monotonic() + _PATIENCE_S
    for worker in workers:
        worker.process.join(max(0.0, until - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


# --- the other side ---


def _work(pipe: "Connection[Any, Any]", places: int, account: Budget) -> None:
    """Run a worker until its pipe closes."""
    try:
        asyncio.run(_work_async(pipe, places, account))
    except errors.OresightError as error:
        pipe.send(stopped(error))
        # The pipe stays open until the caller has read this and closes it.
        threading.Event().wait(_PATIENCE_S)


async def _work_async(pipe: "Connection[Any, Any]", places: int, account: Budget) -> None:
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[tuple[int, EpisodeTask]] = asyncio.Queue()

    def listen() -> None:
        while True:
            try:
                message = pipe.recv()
            except (EOFError, OSError):
                # The caller is finished or dead: its successor must not find this process writing.
                os._exit(0)
            loop.call_soon_threadsafe(inbox.put_nowait, message)

    threading.Thread(target=listen, daemon=True).start()

    async def tasks() -> AsyncIterator[tuple[int, EpisodeTask]]:
        while True:
            yield await inbox.get()

    reporter = WorkerObserver(pipe)
    await play_side_by_side(tasks(), places, EpisodeResources(account, reporter.warned), reporter)
