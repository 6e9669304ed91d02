"""Plays episodes in this process; while one waits for a reply, the others continue."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from typing_extensions import override

from oresight.harness.running.attempt import EpisodeResources, EpisodeTask, Listener
from oresight.harness.running.budget import Budget
from oresight.harness.running.executors.base import Executor, play_side_by_side


class Inline(Executor):
    """Plays episodes in this process."""

    def __init__(self, concurrency: int = 1) -> None:
        self._concurrency = concurrency

    @override
    def run(self, tasks: Sequence[EpisodeTask], account: Budget, listener: Listener) -> None:

        async def numbered() -> AsyncIterator[tuple[int, EpisodeTask]]:
            for number, task in enumerate(tasks):
                yield number, task

        slots = max(1, min(self._concurrency, len(tasks)))
        asyncio.run(play_side_by_side(numbered(), slots, EpisodeResources(account, listener.warned), listener))
