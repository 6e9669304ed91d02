"""Plays episodes in this process; while one waits for a reply, others go on."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from oresight.harness.running.attempt import Desk, EpisodeTask, Listener
from oresight.harness.running.budget import Account
from oresight.harness.running.executors.base import play_side_by_side


class Inline:
    """See `Executor`."""

    def __init__(self, concurrency: int = 1) -> None:
        self._concurrency = concurrency

    def run(self, tasks: Sequence[EpisodeTask], account: Account, listener: Listener) -> None:
        """See `Executor.run`."""

        async def numbered() -> AsyncIterator[tuple[int, EpisodeTask]]:
            for number, task in enumerate(tasks):
                yield number, task

        slots = max(1, min(self._concurrency, len(tasks)))
        asyncio.run(play_side_by_side(numbered(), slots, Desk(account, listener.warned), listener))
