"""Hands tasks out to workers, hears what they report, and says when it is enough; how they are reached is not its job.

A worker may be a process of this machine or of another one: `processes` and `ray_cluster` each have a crew of them.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from oresight.harness import errors
from oresight.harness.protocols import Observation, Step, action_space
from oresight.harness.records import folder
from oresight.harness.running.attempt import EpisodeTask, Listener, lost_episode
from oresight.harness.running.episode import Seen
from oresight.scoring.decisions import ScoredDecision

# What a worker says: a word that tells what it is, and what goes with it.
News = tuple[Any, ...]
_NEWS_EVERY_S = 0.2
# Where workers keep dying, nobody is served by starting ever more of them.
_MOST_DEATHS = 3


@dataclass(frozen=True)
class Gone:
    """A worker is no more.

    Attributes:
        how: In words, fit to be stored.
    """

    how: str


@dataclass(eq=False)
class Worker:
    """One that plays, and what it is playing.

    Attributes:
        index: Its place; one that follows a dead one has the same.
        places: How many episodes it plays at once.
        playing: The numbers of their tasks.
    """

    index: int
    places: int
    playing: set[int] = field(default_factory=set)


class Crew(Protocol):
    """Workers, and how they are reached."""

    @property
    def workers(self) -> Sequence[Worker]:
        """Those that can be given something."""

    @property
    def size(self) -> int:
        """How many there are to be."""

    def give(self, worker: Worker, number: int, task: EpisodeTask) -> None:
        """Hands a task to a worker; a dead one will be found out by its silence.

        Raises:
            OresightError: What stops the run.
        """

    def hear(self) -> Iterable[tuple[Worker, News | Gone]]:
        """Waits for news, perhaps in vain, and gives them in the order in which each worker told them.

        Raises:
            OresightError: What stops the run.
        """

    def dismiss(self, worker: Worker, replaced: bool) -> None:
        """Lets a worker go, dead or alive, and starts another in its place if it is to be replaced."""


def serve(tasks: Sequence[EpisodeTask], crew: Crew, listener: Listener) -> None:
    """Has all tasks played.

    Once a cap is reached, what is being played goes on until it would ask again.

    Raises:
        OresightError: What stops the run.
    """
    waiting = list(range(len(tasks)))[::-1]
    left = len(tasks)
    deaths = 0
    reached: errors.OresightError | None = None
    while left and (reached is None or any(worker.playing for worker in crew.workers)):
        while waiting and (worker := _most_idle(crew.workers)) is not None:
            number = waiting.pop()
            worker.playing.add(number)
            crew.give(worker, number, tasks[number])
        for worker, news in crew.hear():
            if isinstance(news, Gone):
                deaths += 1
                left -= len(worker.playing)
                enough = deaths >= _MOST_DEATHS * crew.size
                crew.dismiss(worker, replaced=bool(waiting) and not enough)
                for number in sorted(worker.playing):
                    listener.finished(number, lost_episode(tasks[number], f"its worker process died ({news.how})"))
                if enough:
                    raise errors.WorkersDiedError(
                        f"{deaths} worker processes died, the last one of {news.how}; free memory or choose fewer"
                        " --workers, and give the same command again"
                    )
            elif news[:2] == ("stopped", errors.CapReachedError.__name__):
                reached = error_of(*news[1:])
                waiting.clear()
                crew.dismiss(worker, replaced=False)
            else:
                left -= _tell(news, worker, listener)
    if reached is not None:
        raise reached


def _most_idle(workers: Sequence[Worker]) -> Worker | None:
    """The one with a free place that plays least, so that few episodes are spread over all."""
    free = [worker for worker in workers if len(worker.playing) < worker.places]
    return min(free, key=lambda worker: (len(worker.playing), worker.index), default=None)


def _tell(news: News, worker: Worker, listener: Listener) -> int:
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
        raise error_of(*told)
    return 0


# --- the other side ---


class Line(Protocol):
    """A worker's way to the one who gave it work."""

    def send(self, news: News, /) -> None:
        """Says something."""


class Reporter:
    """A listener that passes on what it hears; of decisions only as many as somebody can watch."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._told: float = 0.0

    def started(self, number: int) -> None:
        """See `Listener.started`."""
        self._line.send(("started", number))

    def stepped(self, number: int, step: Step, scored: ScoredDecision) -> None:
        """See `Listener.stepped`."""
        now = time.monotonic()
        if now - self._told >= _NEWS_EVERY_S:
            self._told = now
            slim = replace(step, observed=_words_alone(step.observed), after=_words_alone(step.after), facts={})
            self._line.send(("stepped", number, slim, scored))

    def finished(self, number: int, result: folder.EpisodeResult) -> None:
        """See `Listener.finished`."""
        self._line.send(("finished", number, result))

    def warned(self, words: str) -> None:
        """See `Listener.warned`."""
        self._line.send(("warned", words))


def stopped(error: errors.OresightError) -> News:
    """The last that a worker says."""
    return ("stopped", type(error).__name__, str(error))


def error_of(name: str, words: str) -> errors.OresightError:
    """The error that somebody else has told of."""
    kind: type[errors.OresightError] = getattr(errors, name)
    # Not by calling the class: some make their sentence from other things.
    return kind.__new__(kind, words)


def _words_alone(observation: Observation) -> Seen:
    return Seen(observation.text, None, action_space(observation.actions), observation.step)
