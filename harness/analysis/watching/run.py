"""One run as it lies on disk while somebody plays it: which episodes have ended, which are under way, the figures.

Only what has changed is read again, so that a look costs little however many episodes there are: a result is read
once, a record from where reading had come to, and the folder of the episodes is listed when it has changed.
"""

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from oresight.harness import files
from oresight.harness.analysis.watching.episode import Begun, Ended, EpisodeWatch, Usage
from oresight.harness.errors import OresightError, Outcome, RecordError
from oresight.harness.protocols import Json
from oresight.harness.records import folder
from oresight.scoring.adapters import readings_of
from oresight.scoring.decisions import Tally
from oresight.scoring.statistics import Figure, success_figure

LAST_FINISHED = 3
PACE_WINDOW_S = 60.0
# A folder's time has the grain of a clock: one that has just changed is listed once more.
_GRAIN_NS = 1_000_000_000
# Nobody touches finished episodes unless a person removes some, so only so many are looked at again each time.
_LOOKED_AT_AGAIN = 100
_TALLY_FIELDS = ("explore_errors", "explore_eligible", "exploit_errors", "exploit_eligible", "error_decisions")


@dataclass(frozen=True)
class Condition:
    """A run at one moment.

    Attributes:
        label: In words.
        kind: Of the world; None before the run has begun.
        planned: Episodes.
        finished: Those with a result.
        successes: Among them.
        broken: Episodes that ended in an infrastructure error.
        begun: Those that are under way, in planned order.
        tallies: Both errors, by the readings of the kind.
        steps: Decisions recorded, those of episodes under way too.
        usage: What the replies to them cost.
        pace: Decisions a minute, as seen lately; None before the second look.
        pace_told: Decisions a minute within an episode, as finished ones tell; None without one.
        last: The episodes that ended last, the latest first.
        fresh: Those that ended since the look before.
        notes: What is wrong with files, in sentences.
    """

    label: str
    kind: str | None = None
    planned: int = 0
    finished: int = 0
    successes: int = 0
    broken: int = 0
    begun: tuple[Begun, ...] = ()
    tallies: dict[str, Tally] = field(default_factory=dict)
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    pace: float | None = None
    pace_told: float | None = None
    last: tuple[Ended, ...] = ()
    fresh: tuple[Ended, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def success(self) -> Figure:
        """Success over the episodes with a result."""
        return success_figure(self.successes, self.finished)

    @property
    def complete(self) -> bool:
        """Whether every planned episode has a result."""
        return self.kind is not None and self.finished == self.planned

    def to_json(self, now_s: float) -> Json:
        """As a JSON object; `now_s` is the time of the look, in seconds since the epoch."""
        return {
            "label": self.label,
            "world": self.kind,
            "complete": self.complete,
            "planned": self.planned,
            "finished": self.finished,
            "broken": self.broken,
            "under_way": [begun.to_json(now_s) for begun in self.begun],
            "success": self.success.to_json(),
            "errors": {reading: tally.to_json() for reading, tally in self.tallies.items()},
            "decisions": self.steps,
            "usage": self.usage.to_json(),
            "finished_last": [ended.to_json() for ended in self.last],
            "notes": list(self.notes),
        }


class _Totals:
    """Sums over the episodes that have ended; one can be taken out again."""

    def __init__(self) -> None:
        self.finished = self.successes = self.broken = self.steps = 0
        self.tallies: dict[str, Tally] = {}
        self._timed_steps, self._seconds = 0, 0.0
        self._models = self._priceless = self._input = self._output = 0
        self._cost = 0.0

    def add(self, ended: Ended, sign: int = 1) -> None:
        """Puts an episode in, or takes it out with a `sign` of -1."""
        self.broken += sign * (not ended.outcome.counts)
        self.finished += sign * ended.outcome.counts
        self.successes += sign * (ended.outcome is Outcome.SUCCESS)
        self.steps += sign * ended.steps
        for reading, own in ended.readings.items():
            total = self.tallies.setdefault(reading, Tally())
            for name in _TALLY_FIELDS:
                setattr(total, name, getattr(total, name) + sign * getattr(own, name))
        if ended.seconds is not None:
            self._timed_steps += sign * ended.steps
            self._seconds += sign * ended.seconds
        if ended.usage.replies:
            self._models += sign
            self._input += sign * ended.usage.input_tokens
            self._output += sign * ended.usage.output_tokens
            self._priceless += sign * (ended.usage.cost is None)
            self._cost += sign * (ended.usage.cost or 0.0)

    @property
    def usage(self) -> Usage:
        """What all replies cost."""
        if not self._models:
            return Usage()
        return Usage(True, self._input, self._output, None if self._priceless else self._cost)

    @property
    def pace_told(self) -> float | None:
        """Decisions a minute within an episode."""
        return 60.0 * self._timed_steps / self._seconds if self._timed_steps and self._seconds > 0 else None


class RunWatch:
    """Follows a run; it may have begun long ago, or not yet."""

    def __init__(
        self,
        path: Path,
        label: str | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Reads nothing yet.

        Args:
            path: The run's folder.
            label: The condition in words; what run.json says if None.
            monotonic: A clock that measures the pace, in seconds.
            wall_ns: The clock of files' times, in nanoseconds.
        """
        self.path = path
        self._label = label
        self._monotonic = monotonic
        self._wall_ns = wall_ns
        self._signature: tuple[int, int] | None = None
        self._config: folder.RunConfig | None = None
        self._episodes = _Episodes(path, (), wall_ns)
        # When, and how many decisions had been recorded by then.
        self._seen: deque[tuple[float, int]] = deque()

    def look(self) -> Condition:
        """How it stands.

        Raises:
            RecordError: Its run.json is none.
            StoreError: The disk refuses.
        """
        self._find_run()
        config = self._config
        if config is None:
            return Condition(self._label or self.path.name)
        episodes = self._episodes
        begun, fresh = episodes.look()
        totals = episodes.totals
        steps = totals.steps + sum(each.steps for each in begun)
        return Condition(
            label=self._label or f"{config.agent}, {config.memory}",
            kind=config.world,
            planned=len(config.episodes),
            finished=totals.finished,
            successes=totals.successes,
            broken=totals.broken,
            begun=begun,
            tallies={reading: replace(totals.tallies.get(reading, Tally())) for reading in readings_of(config.world)},
            steps=steps,
            usage=sum((each.usage for each in begun), totals.usage),
            pace=self._pace(steps),
            pace_told=totals.pace_told,
            last=episodes.last,
            fresh=fresh,
            notes=episodes.notes,
        )

    def _find_run(self) -> None:
        """Reads run.json if it has come, gone, or become another."""
        file = self.path / folder.RUN_NAME
        signature = _signature(file)
        if signature == self._signature:
            return
        self._config = None if signature is None else folder.load_run(file).config
        self._signature = signature
        self._episodes = _Episodes(self.path, () if self._config is None else self._config.episodes, self._wall_ns)
        self._seen.clear()

    def _pace(self, steps: int) -> float | None:
        now = self._monotonic()
        self._seen.append((now, steps))
        while len(self._seen) > 2 and now - self._seen[1][0] >= PACE_WINDOW_S:
            self._seen.popleft()
        then, before = self._seen[0]
        return 60.0 * max(0, steps - before) / (now - then) if now > then else None


class _Episodes:
    """Follows the episodes of a run: which have ended, and how; which are under way."""

    def __init__(self, path: Path, planned: Sequence[str], wall_ns: Callable[[], int]) -> None:
        self.totals = _Totals()
        self.last: tuple[Ended, ...] = ()
        self._folder = path / folder.EPISODES_NAME
        self._wall_ns = wall_ns
        self._planned = {name: place for place, name in enumerate(planned)}
        self._listed_ns: int | None = None
        self._open: dict[str, EpisodeWatch] = {}
        self._ended: dict[str, tuple[Ended, tuple[int, int]]] = {}
        self._broken: set[str] = set()
        # Finished episodes, in the order in which they are looked at again.
        self._again: deque[str] = deque()
        # Of result files that are none: what told them from others, and what is wrong.
        self._refused: dict[str, tuple[tuple[int, int], str]] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is wrong with files, in sentences."""
        return tuple(self._refused[name][1] for name in sorted(self._refused, key=self._planned.__getitem__))

    def look(self) -> tuple[tuple[Begun, ...], tuple[Ended, ...]]:
        """Return the episodes that are under way, in planned order, and those that have ended since the last look."""
        self._list()
        self._look_at_ended()
        fresh = tuple(ended for name in list(self._open) if (ended := self._result(name)) is not None)
        latest = sorted([*self.last, *fresh], key=lambda ended: (ended.written_s, ended.id), reverse=True)
        self.last = tuple(latest[:LAST_FINISHED])
        begun = tuple(self._open[name].look() for name in sorted(self._open, key=self._planned.__getitem__))
        return begun, fresh

    def _list(self) -> None:
        """Finds the episodes that have a folder, if the folder of all has changed since it was listed."""
        with files.disk_errors(self._folder):
            try:
                changed_ns = self._folder.stat().st_mtime_ns
                if changed_ns == self._listed_ns:
                    return
                with os.scandir(self._folder) as entries:
                    # No link is followed.
                    folders = {entry.name for entry in entries if entry.is_dir(follow_symlinks=False)}
            except FileNotFoundError:
                changed_ns, folders = None, set()
        settled = changed_ns is not None and self._wall_ns() - changed_ns > _GRAIN_NS
        self._listed_ns = changed_ns if settled else None
        found = folders & self._planned.keys()
        for name in [name for name in self._ended if name not in found]:
            self._take_out(name)
        for name in [name for name in self._open if name not in found]:
            self._let_go(name)
        for name in found - self._ended.keys() - self._open.keys():
            self._open[name] = EpisodeWatch(name, self._folder / name)

    def _look_at_ended(self) -> None:
        """Notices results that are gone: broken episodes are played again, others a person may have removed."""
        some = [self._again.popleft() for _ in range(min(_LOOKED_AT_AGAIN, len(self._again)))]
        for name in [*self._broken, *some]:
            if name not in self._ended:
                continue
            if self._result_signature(name) != self._ended[name][1]:
                self._take_out(name)
                self._open[name] = EpisodeWatch(name, self._folder / name)
            elif name not in self._broken:
                self._again.append(name)

    def _result(self, name: str) -> Ended | None:
        """Reads the result of an episode that had none; None if it still has none."""
        signature = self._result_signature(name)
        if signature is None or (name in self._refused and signature == self._refused[name][0]):
            return None
        path = self._folder / name / folder.RESULT_NAME
        try:
            ended = Ended.read(path, signature[1] / 1e9)
            if ended.id != name:
                raise RecordError(f"{path}: is the result of {ended.id!r}; run the episode again")
        except OresightError as error:
            # It may be gone again by now, which is no fault.
            if self._result_signature(name) == signature:
                self._refused[name] = signature, str(error)
            return None
        self._let_go(name)
        self._ended[name] = ended, signature
        self.totals.add(ended)
        if ended.outcome.counts:
            self._again.append(name)
        else:
            self._broken.add(name)
        return ended

    def _take_out(self, name: str) -> None:
        ended, _ = self._ended.pop(name)
        self._broken.discard(name)
        self.totals.add(ended, -1)
        self.last = tuple(each for each in self.last if each.id != name)

    def _let_go(self, name: str) -> None:
        self._open.pop(name, None)
        self._refused.pop(name, None)

    def _result_signature(self, name: str) -> tuple[int, int] | None:
        return _signature(self._folder / name / folder.RESULT_NAME)


def _signature(path: Path) -> tuple[int, int] | None:
    """What tells a file from one that is put in its place: inode and time; None if there is no regular file."""
    with files.disk_errors(path):
        try:
            found = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
    return (found.st_ino, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
