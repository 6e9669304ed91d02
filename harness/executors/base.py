"""What an executor is, and the one way in which episodes are played side by side within a process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from harness.playing import Desk, EpisodeTask, Listener, play_episode
from harness.spending import Account


class Executor(Protocol):
    """Plays episodes; the results are the same whatever the executor."""

    def run(self, tasks: Sequence[EpisodeTask], account: Account, listener: Listener) -> None:
        """Plays all tasks and returns when the last has ended.

        Args:
            tasks: In the order in which they are begun.
            account: Takes in what replies cost; no request is made once a cap is reached.
            listener: Told what happens, from the calling thread alone.

        Raises:
            OresightError: What stops the whole run; episodes under way are left to be continued.
            KeyboardInterrupt: Somebody interrupts; likewise.
        """


async def play_side_by_side(
    tasks: AsyncIterator[tuple[int, EpisodeTask]], concurrency: int, desk: Desk, listener: Listener
) -> None:
    """Plays tasks as they come, so many at a time; the first error that stops a run stops all of them."""
    turn = asyncio.Lock()

    async def slot() -> None:
        while True:
            async with turn:
                try:
                    number, task = await anext(tasks)
                except StopAsyncIteration:
                    return
            listener.started(number)
            listener.finished(number, await play_episode(task, number, desk, listener))

    slots = [asyncio.create_task(slot()) for _ in range(concurrency)]
    try:
        done, _ = await asyncio.wait(slots, return_when=asyncio.FIRST_EXCEPTION)
        for finished in done:
            finished.result()
    finally:
        for each in slots:
            each.cancel()
        await asyncio.gather(*slots, return_exceptions=True)
        await desk.aclose()
