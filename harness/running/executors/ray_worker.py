"""A worker on a Ray cluster: what `ray_cluster` makes an actor of.

It plays in a thread of its own, so that Ray's threads stay free to receive and send. When the process that
started it is gone, Ray ends it; until then it may wait for a reply to be written down, and does nothing else.
"""

import asyncio
import os
import pickle
import platform
import queue
import threading
import traceback
from collections.abc import AsyncIterator
from typing import Any

from oresight.harness.errors import MissingPartError, OresightError
from oresight.harness.running.attempt import EpisodeResources, EpisodeTask
from oresight.harness.running.executors.base import play_side_by_side
from oresight.harness.running.executors.dispatch import WorkerMessage, WorkerObserver, error_of, stopped
from oresight.harness.running.executors.remote import Kept, RemoteBudget, RemoteRecorder, WorkerConfig, code_mark
from oresight.harness.settings import shared_cores
from oresight.harness.worlds import own_version

# Messages not yet fetched; a worker that is faster than the writer waits.
_MOST_UNHEARD = 64


class Player:
    """Plays tasks and reports what comes of them. Ray calls its methods from several threads, since none is async.

    Input and output are bytes, which the processes between do not decode.
    """

    def __init__(self) -> None:
        self._seat = _Seat()

    def greet(self) -> dict[str, Any]:
        """Return who this is as plain values, which any version understands."""
        return {"version": own_version(), "mark": code_mark(), "node": platform.node()}

    def begin(self, config: bytes) -> None:
        """Prepare to play by a pickled `WorkerConfig`."""
        self._seat.begin(pickle.loads(config))

    def take(self, task: bytes) -> None:
        """Accept a task: its number, itself and what is kept of it, pickled."""
        self._seat.take(*pickle.loads(task))

    def answer(self, answer: bytes) -> None:
        """Receive the answer that it waits for."""
        self._seat.answers.put(pickle.loads(answer))

    def news(self) -> bytes:
        """Wait for messages and return all there are, pickled."""
        outbox = self._seat.outbox
        told = [outbox.get()]
        while len(told) < _MOST_UNHEARD:
            try:
                told.append(outbox.get_nowait())
            except queue.Empty:
                break
        return pickle.dumps(told)


class _Seat:
    """Where a player plays: a thread with a loop of its own. A `Link`, to be used from that thread."""

    def __init__(self) -> None:
        self.outbox: queue.Queue[WorkerMessage] = queue.Queue(_MOST_UNHEARD)
        self.answers: queue.SimpleQueue[WorkerMessage] = queue.SimpleQueue()
        self._inbox: asyncio.Queue[tuple[int, EpisodeTask]] = asyncio.Queue()
        self._kept: dict[int, Kept] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()

    def begin(self, config: WorkerConfig) -> None:
        threading.Thread(target=self._play, args=(config,), daemon=True).start()
        self._ready.wait()

    def take(self, number: int, task: EpisodeTask, kept: Kept) -> None:
        assert self._loop is not None
        self._kept[number] = kept
        self._loop.call_soon_threadsafe(self._inbox.put_nowait, (number, task))

    def send(self, news: WorkerMessage, /) -> None:
        self.outbox.put(news)

    def ask(self, news: WorkerMessage, /) -> None:
        self.outbox.put(news)
        answer = self.answers.get()
        if answer:
            raise error_of(*answer[1:])

    def _play(self, config: WorkerConfig) -> None:
        try:
            # A place on a cluster is one core of its node.
            with shared_cores(os.cpu_count() or 1):
                asyncio.run(self._play_async(config))
        except MissingPartError as error:
            self.send(stopped(MissingPartError(f"on {platform.node()}, a node of the Ray cluster: {error}")))
        except OresightError as error:
            self.send(stopped(error))
        except BaseException:
            # Into Ray's log of this worker. What was being played is then recorded as broken.
            traceback.print_exc()
            os._exit(1)

    async def _play_async(self, config: WorkerConfig) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()

        async def tasks() -> AsyncIterator[tuple[int, EpisodeTask]]:
            while True:
                yield await self._inbox.get()

        def record(task: EpisodeTask, number: int) -> RemoteRecorder:
            return RemoteRecorder(self, number, task, self._kept.pop(number))

        reporter = WorkerObserver(self)
        resources = EpisodeResources(RemoteBudget(config.caps, self), reporter.warned, config.client, record)
        await play_side_by_side(tasks(), config.places, resources, reporter)
