"""Dispatches tasks to a worker pool and decides when to stop; transport is in `processes` and `ray_cluster`.

A worker is a process on this machine or on another one.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from typing_extensions import override

from oresight.harness import errors
from oresight.harness.protocols import Observation, Seen, Step, action_space
from oresight.harness.records import folder
from oresight.harness.running.attempt import EpisodeTask, Listener, lost_episode
from oresight.scoring.decisions import ScoredDecision

# A message of a worker: its kind, and its values.
WorkerMessage = tuple[Any, ...]
_NEWS_EVERY_S = 0.2
# Where workers keep dying, starting more of them is useless.
_MOST_DEATHS = 3


@dataclass(frozen=True)
class WorkerDied:
    """A worker has died.

    Attributes:
        how: In words, fit to be stored.
    """

    how: str


@dataclass(eq=False)
class Worker:
    """A worker, and what it is playing.

    Attributes:
        index: Its place; one that follows a dead one has the same.
        places: How many episodes it plays at once.
        playing: The numbers of their tasks.
    """

    index: int
    places: int
    playing: set[int] = field(default_factory=set)


class WorkerPool(Protocol):
    """A pool of workers, and how they are reached."""

    @property
    def workers(self) -> Sequence[Worker]:
        """The workers that can be sent a task."""

    @property
    def size(self) -> int:
        """How many workers are wanted."""

    def give(self, worker: Worker, number: int, task: EpisodeTask) -> None:
        """Send a task to a worker; a dead worker is detected later, in `hear`.

        Raises:
            OresightError: What stops the run.
        """

    def hear(self) -> Iterable[tuple[Worker, WorkerMessage | WorkerDied]]:
        """Wait a while for messages; yield those that came, each worker's in the order in which it sent them.

        Raises:
            OresightError: What stops the run.
        """

    def dismiss(self, worker: Worker, replaced: bool) -> None:
        """Release a worker, dead or alive, and start another in its place if it is to be replaced."""


def serve(tasks: Sequence[EpisodeTask], pool: WorkerPool, listener: Listener) -> None:
    """Dispatch all tasks and return when the last has ended.

    Once a cap is reached, each episode under way continues until it would send another request.

    Raises:
        OresightError: What stops the run.
    """
    waiting = list(range(len(tasks)))[::-1]
    left = len(tasks)
    deaths = 0
    reached: errors.OresightError | None = None
    while left and (reached is None or any(worker.playing for worker in pool.workers)):
        while waiting and (worker := _most_idle(pool.workers)) is not None:
            number = waiting.pop()
            worker.playing.add(number)
            pool.give(worker, number, tasks[number])
        for worker, news in pool.hear():
            if isinstance(news, WorkerDied):
                deaths += 1
                left -= len(worker.playing)
                enough = deaths >= _MOST_DEATHS * pool.size
                pool.dismiss(worker, replaced=bool(waiting) and not enough)
                for number in sorted(worker.playing):
                    listener.finished(number, lost_episode(tasks[number], f"its worker process died ({news.how})"))
                if enough:
                    raise errors.WorkersDiedError(
                        f"{deaths} worker processes died, the last one of {news.how}; free memory or choose fewer"
                        " --workers, and rerun the same command"
                    )
            elif news[:2] == ("stopped", errors.CapReachedError.__name__):
                reached = error_of(*news[1:])
                waiting.clear()
                pool.dismiss(worker, replaced=False)
            else:
                left -= _tell(news, worker, listener)
    if reached is not None:
        raise reached


def _most_idle(workers: Sequence[Worker]) -> Worker | None:
    """Return the least busy worker with a free place, so that few episodes are spread over all."""
    free = [worker for worker in workers if len(worker.playing) < worker.places]
    return min(free, key=lambda worker: (len(worker.playing), worker.index), default=None)


def _tell(news: WorkerMessage, worker: Worker, listener: Listener) -> int:
    """Pass on a worker's message; return how many episodes it ended."""
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
        raise error_of(*told)
    return 0


# --- the other side ---


class Line(Protocol):
    """A worker's channel to the dispatcher."""

    def send(self, news: WorkerMessage, /) -> None:
        """Send a message."""


class WorkerObserver(Listener):
    """A listener that sends every event to the dispatcher; of decisions only as many as can be watched."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._told: float = 0.0

    @override
    def started(self, number: int) -> None:
        self._line.send(("started", number))

    @override
    def stepped(self, number: int, step: Step, scored: ScoredDecision) -> None:
        now = time.monotonic()
        if now - self._told >= _NEWS_EVERY_S:
            self._told = now
            slim = replace(step, observed=_words_alone(step.observed), after=_words_alone(step.after), facts={})
            self._line.send(("stepped", number, slim, scored))

    @override
    def finished(self, number: int, result: folder.EpisodeResult) -> None:
        self._line.send(("finished", number, result))

    @override
    def warned(self, words: str) -> None:
        self._line.send(("warned", words))


def stopped(error: errors.OresightError) -> WorkerMessage:
    """Return a worker's last message, about the error that stopped it."""
    return ("stopped", type(error).__name__, str(error))


def error_of(name: str, words: str) -> errors.OresightError:
    """Return the error that another process reported."""
    kind: type[errors.OresightError] = getattr(errors, name)
    # Not by calling the class: some make their sentence from other things.
    return kind.__new__(kind, words)


def _words_alone(observation: Observation) -> Seen:
    return Seen(observation.text, None, action_space(observation.actions), observation.step)
