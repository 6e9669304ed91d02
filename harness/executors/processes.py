"""Plays episodes in several processes, each with its own worlds, clients and OpenGL context.

A worker is a fresh interpreter that inherits nothing but a pipe and the account's memory. It asks for nothing: the
caller hands it a task for each of its free places. When the pipe closes, for whatever reason, the worker is gone at
once; what it was playing can be continued, since everything is on disk before it is acted on.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from harness import errors, store
from harness.episode import Seen
from harness.executors.base import play_side_by_side
from harness.playing import Desk, EpisodeTask, Listener, lost_episode
from harness.protocols import Observation, Step
from harness.settings import shared_cores
from harness.spending import Account, Caps
from scoring.summary import ScoredDecision

MOST_WORKERS = 64
_NEWS_EVERY_S = 0.2
_PATIENCE_S = 5.0
# A machine on which workers keep dying is not served by starting ever more of them.
_MOST_DEATHS = 3


@dataclass(eq=False)
class _Worker:
    """A process, its pipe, and what it is playing."""

    index: int
    process: SpawnProcess
    pipe: "Connection[Any, Any]"
    places: int
    playing: set[int] = field(default_factory=set)


class Processes:
    """See `Executor`."""

    def __init__(self, workers: int, concurrency: int) -> None:
        self._workers = min(workers, MOST_WORKERS)
        self._concurrency = max(concurrency, self._workers)
        self._context = multiprocessing.get_context("spawn")

    def run(self, tasks: Sequence[EpisodeTask], account: Account, listener: Listener) -> None:
        """See `Executor.run`."""
        count = min(self._workers, len(tasks))
        if count == 0:
            return
        # A place for what was spent before, and one for each worker.
        shared = self._context.RawArray("d", 2 * (count + 1))
        shared[0], shared[1] = account.cost, float(account.tokens)
        workers: list[_Worker] = []
        try:
            for index in range(count):
                places = (self._concurrency + count - 1 - index) // count
                workers.append(self._start(index, places, count, account.caps, shared))
            self._serve(tasks, workers, account, shared, listener, count)
        finally:
            _stop(workers)
            account.add(sum(shared[2::2]), round(sum(shared[3::2])))

    def _start(self, index: int, places: int, count: int, caps: Caps, shared: MutableSequence[float]) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work, args=(theirs, places, Account(caps, shared, index + 1)), daemon=True
        )
        with shared_cores(count), _uninterruptible():
            process.start()
        theirs.close()
        return _Worker(index, process, ours, places)

    def _serve(
        self,
        tasks: Sequence[EpisodeTask],
        workers: list[_Worker],
        account: Account,
        shared: MutableSequence[float],
        listener: Listener,
        count: int,
    ) -> None:
        waiting = list(range(len(tasks)))[::-1]
        left = len(tasks)
        deaths = 0
        reached: errors.OresightError | None = None
        # Once a cap is reached, what is being played goes on until it would ask again.
        while left and (reached is None or any(worker.playing for worker in workers)):
            for worker in workers:
                while waiting and len(worker.playing) < worker.places:
                    number = waiting.pop()
                    worker.playing.add(number)
                    _send(worker, (number, tasks[number]))
            for pipe in wait([worker.pipe for worker in workers]):
                worker = next(each for each in workers if each.pipe is pipe)
                try:
                    news = worker.pipe.recv()
                except (EOFError, OSError):
                    deaths += 1
                    left -= self._bury(worker, tasks, listener)
                    workers.remove(worker)
                    if deaths >= _MOST_DEATHS * count:
                        raise errors.WorkersDiedError(
                            f"{deaths} worker processes died, the last one of {_words(worker.process)}; free memory or"
                            " choose fewer --workers, and give the same command again"
                        ) from None
                    if waiting:
                        workers.append(self._start(worker.index, worker.places, count, account.caps, shared))
                    continue
                if news[:2] == ("stopped", errors.CapReachedError.__name__):
                    reached = _error(*news[1:])
                    waiting.clear()
                    workers.remove(worker)
                    _stop([worker])
                    continue
                left -= _tell(news, worker, listener)
        if reached is not None:
            raise reached

    def _bury(self, worker: _Worker, tasks: Sequence[EpisodeTask], listener: Listener) -> int:
        """Records what a dead worker was playing as broken; returns how many episodes that were."""
        worker.process.join(_PATIENCE_S)
        worker.pipe.close()
        for number in sorted(worker.playing):
            reason = f"its worker process died ({_words(worker.process)})"
            listener.finished(number, lost_episode(tasks[number], reason))
        return len(worker.playing)


def _send(worker: _Worker, message: object) -> None:
    try:
        worker.pipe.send(message)
    except OSError:
        # It is dead, and the next look at its pipe will say so.
        return


def _tell(news: tuple[Any, ...], worker: _Worker, listener: Listener) -> int:
    """Passes on what a worker says; returns how many episodes have ended by it."""
    kind, *told = news
    if kind == "started":
        listener.started(*told)
    elif kind == "stepped":
        listener.stepped(*told)
    elif kind == "warned":
        listener.warned(*told)
    elif kind == "finished":
        worker.playing.discard(told[0])
        listener.finished(*told)
        return 1
    else:
        raise _error(*told)
    return 0


def _error(name: str, words: str) -> errors.OresightError:
    kind: type[errors.OresightError] = getattr(errors, name)
    # Not by calling the class: some make their sentence from other things.
    return kind.__new__(kind, words)


def _words(process: SpawnProcess) -> str:
    code = process.exitcode
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def _stop(workers: Sequence[_Worker]) -> None:
    """Ends all workers; closing its pipe is what tells one to go."""
    for worker in workers:
        worker.pipe.close()
    until = time.monotonic() + _PATIENCE_S
    for worker in workers:
        worker.process.join(max(0.0, until - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


@contextmanager
def _uninterruptible() -> Iterator[None]:
    """What is started meanwhile ignores Ctrl-C from its first moment: the one who started it decides."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --- the other side ---


def _work(pipe: "Connection[Any, Any]", places: int, account: Account) -> None:
    """A worker's life."""
    try:
        asyncio.run(_work_async(pipe, places, account))
    except errors.OresightError as error:
        pipe.send(("stopped", type(error).__name__, str(error)))
        # The pipe stays open until the caller has read this and closes it.
        threading.Event().wait(_PATIENCE_S)


async def _work_async(pipe: "Connection[Any, Any]", places: int, account: Account) -> None:
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[tuple[int, EpisodeTask]] = asyncio.Queue()

    def listen() -> None:
        while True:
            try:
                message = pipe.recv()
            except (EOFError, OSError):
                # The caller has what it wants, or is dead: whoever comes after it must not find us writing.
                os._exit(0)
            loop.call_soon_threadsafe(inbox.put_nowait, message)

    threading.Thread(target=listen, daemon=True).start()

    async def tasks() -> AsyncIterator[tuple[int, EpisodeTask]]:
        while True:
            yield await inbox.get()

    reporter = _Reporter(pipe)
    await play_side_by_side(tasks(), places, Desk(account, reporter.warned), reporter)


class _Reporter:
    """A listener that sends what it hears through a pipe; of decisions only as many as somebody can watch."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe = pipe
        self._told: float = 0.0

    def started(self, number: int) -> None:
        """See `Listener.started`."""
        self._pipe.send(("started", number))

    def stepped(self, number: int, step: Step, scored: ScoredDecision) -> None:
        """See `Listener.stepped`."""
        now = time.monotonic()
        if now - self._told >= _NEWS_EVERY_S:
            self._told = now
            slim = replace(step, observed=_words_alone(step.observed), after=_words_alone(step.after), facts={})
            self._pipe.send(("stepped", number, slim, scored))

    def finished(self, number: int, result: store.EpisodeResult) -> None:
        """See `Listener.finished`."""
        self._pipe.send(("finished", number, result))

    def warned(self, words: str) -> None:
        """See `Listener.warned`."""
        self._pipe.send(("warned", words))


def _words_alone(observation: Observation) -> Seen:
    return Seen(observation.text, None, tuple(observation.actions), observation.step)
