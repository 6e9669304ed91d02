"""What an executor is, and the one way in which episodes are played side by side within a process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from oresight.harness.errors import CapReachedError
from oresight.harness.running.attempt import EpisodeResources, EpisodeTask, Listener, play_episode
from oresight.harness.running.budget import Budget


class Executor(Protocol):
    """Plays episodes; the results are the same whatever the executor."""

    def run(self, tasks: Sequence[EpisodeTask], account: Budget, listener: Listener) -> None:
        """Play all tasks and returns when the last has ended.

        Args:
            tasks: In the order in which they are begun.
            account: Takes in what replies cost; no request is made once a cap is reached.
            listener: Called with what happens, from the calling thread only.

        Raises:
            OresightError: What stops the whole run; episodes under way are left to be resumed.
            KeyboardInterrupt: The user interrupts; likewise.
        """


async def play_side_by_side(
    tasks: AsyncIterator[tuple[int, EpisodeTask]], concurrency: int, resources: EpisodeResources, listener: Listener
) -> None:
    """Play tasks as they come, up to `concurrency` at a time; the first error that stops a run stops all.

    When a cap is reached, replies that are on their way still come in, since they are paid for: every episode continues
    until it would send another request.

    Raises:
        OresightError: What stops the run.
    """
    turn = asyncio.Lock()
    # Of the slots those that play; the others wait for a task.
    playing: set[asyncio.Task[None]] = set()
    reached: CapReachedError | None = None

    async def slot() -> None:
        nonlocal reached
        me = asyncio.current_task()
        assert me is not None
        while reached is None:
            async with turn:
                try:
                    number, task = await anext(tasks)
                except StopAsyncIteration:
                    return
            playing.add(me)
            listener.started(number)
            try:
                listener.finished(number, await play_episode(task, number, resources, listener))
            except CapReachedError as error:
                reached = error
                for each in slots:
                    if each not in playing:
                        each.cancel()
            finally:
                playing.discard(me)

    slots = [asyncio.create_task(slot()) for _ in range(concurrency)]
    try:
        left = set(slots)
        while left:
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for finished in done:
                if not finished.cancelled():
                    finished.result()
    finally:
        for each in slots:
            each.cancel()
        await asyncio.gather(*slots, return_exceptions=True)
        await resources.aclose()
    if reached is not None:
        raise reached
