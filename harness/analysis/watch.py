"""Follows a run or a study by what is on disk, while somebody else plays it; how it is shown is `cli.watch`'s business.

Nothing is written, and no lock is taken: whether somebody plays is seen from the list of locks that the system has. A
result is read once, and the records of an episode under way from where reading had come to: a look costs little.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from oresight.harness import files
from oresight.harness.analysis.summary import summarise_run
from oresight.harness.analysis.tail import Tail
from oresight.harness.errors import UsageError
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.protocols import Json
from oresight.harness.records.reader import Episode, Run, labelled_folders, open_run
from oresight.harness.records.reader import State as EpisodeState
from oresight.scoring.decisions import Tally
from oresight.scoring.measures import Measure
from oresight.scoring.readers.run_folder import REPLIES_NAME, RUN_NAME, STUDY_NAME
from oresight.scoring.records import COUNT_MAX, DecisionLine, EpisodeResult, Header, parse_json
from oresight.scoring.statistics import Figure, success_figure

WATCH_FORMAT = "oresight.watch"
LAST_FINISHED = 3
PACE_WINDOW_S = 60.0
# What a run that is just beginning has in its folder.
_BEGINNING = {files.LOCK_NAME, f".{RUN_NAME}.tmp", f".{STUDY_NAME}.tmp", RUN_NAME, STUDY_NAME}
_SAID_CHARACTERS = 2000


class State(StrEnum):
    """How it stands with a run or a study."""

    WAITING = "not begun"
    GOING = "going on"
    COMPLETE = "complete"
    LEFT = "left"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Usage:
    """What replies cost.

    Attributes:
        replies: Whether a model played at all.
        input_tokens: Of all of them.
        output_tokens: Likewise.
        cost: US dollars; None without a price.
    """

    replies: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0

    @classmethod
    def of(cls, told: Json | None) -> "Usage":
        """Return what a record tells; what is no number counts as none."""
        if told is None:
            return cls()
        cost = told.get("cost")
        priced = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= COUNT_MAX
        tokens = _whole(told.get("input_tokens")), _whole(told.get("output_tokens"))
        return cls(True, *tokens, float(cost) if priced and cost is not None else None)

    def __add__(self, other: "Usage") -> "Usage":
        if not self.replies or not other.replies:
            return self if self.replies else other
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        tokens = self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        return Usage(True, *tokens, cost)

    def to_json(self) -> Json | None:
        """Return it as a JSON object; None where no model played."""
        if not self.replies:
            return None
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "cost": self.cost}


@dataclass(frozen=True)
class Ended:
    """An episode with a result file: finished, or broken by an infrastructure error."""

    id: str
    result: EpisodeResult
    written_s: float

    def to_json(self) -> Json:
        """Return it as a JSON object."""
        told = self.result.model_dump(mode="json", include={"outcome", "reason", "steps", "budget"})
        return {"episode": self.id, **told}


@dataclass(frozen=True)
class Begun:
    """An episode that is under way, or was left so.

    Attributes:
        id: Of the episode.
        steps: Decisions taken.
        budget: Of decisions; None before the record has begun.
        action: The last decision's; None before the first.
        outcome: What came of it, in the world's words.
        said: What the agent said last: with that decision, or in a reply that is not acted on yet.
        fault: Why that reply was no answer, so that the model is asked again; None if it was one.
        usage: What the replies to the decisions cost.
        written_s: When something was last written, in seconds since the epoch; None before anything was.
    """

    id: str
    steps: int
    budget: int | None
    action: str | None
    outcome: str
    said: str
    fault: str | None
    usage: Usage
    written_s: float | None

    def to_json(self, now_s: float) -> Json:
        """Return it as a JSON object; `now_s` is the time of the look, in seconds since the epoch."""
        return {
            "episode": self.id,
            "steps": self.steps,
            "budget": self.budget,
            "action": self.action,
            "outcome": self.outcome,
            "said": self.said,
            "fault": self.fault,
            "seconds_since_written": None if self.written_s is None else round(max(0.0, now_s - self.written_s), 1),
        }


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
        unreadable: Episodes whose records are broken or at odds with themselves.
        begun: Those that are under way, in planned order.
        tallies: Both errors, by the readings of the kind.
        figures: Every measure over the episodes with a result; without intervals, which would have to be made anew
            at each look.
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
    unreadable: int = 0
    begun: tuple[Begun, ...] = ()
    tallies: dict[str, Tally] = field(default_factory=dict)
    figures: tuple[tuple[Measure, Figure], ...] = ()
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
        """Return it as a JSON object; `now_s` is the time of the look, in seconds since the epoch."""
        return {
            "label": self.label,
            "world": self.kind,
            "complete": self.complete,
            "planned": self.planned,
            "finished": self.finished,
            "broken": self.broken,
            "unreadable": self.unreadable,
            "under_way": [begun.to_json(now_s) for begun in self.begun],
            "success": self.success.to_json(),
            "errors": {reading: tally.to_json() for reading, tally in self.tallies.items()},
            "measures": {measure.name: figure.to_json() for measure, figure in self.figures},
            "decisions": self.steps,
            "usage": self.usage.to_json(),
            "finished_last": [ended.to_json() for ended in self.last],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Look:
    """A run or a study at one moment.

    Attributes:
        state: How it stands.
        conditions: A study has several; none before it has begun.
        now_s: When, in seconds since the epoch.
    """

    state: State
    conditions: tuple[Condition, ...]
    now_s: float

    def to_json(self) -> Json:
        """Return it as a JSON object."""
        conditions = [condition.to_json(self.now_s) for condition in self.conditions]
        return {"format": WATCH_FORMAT, "version": 1, "state": str(self.state), "conditions": conditions}


class Watch:
    """Follows what is in a folder, from whenever it comes until nobody asks any more."""

    def __init__(
        self,
        path: Path,
        monotonic: Callable[[], float] = time.monotonic,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Read nothing yet.

        Args:
            path: Folder of a run or of a study; it need not be there yet.
            monotonic: A clock that measures the pace, in seconds.
            wall_ns: The clock of files' times, in nanoseconds.
        """
        self._path = path
        self._monotonic = monotonic
        self._wall_ns = wall_ns
        self._runs: list[_RunWatch] = []
        # The file that says what it is; another folder of the same name holds another run.
        self._identity: tuple[int, int] | None = None

    def look(self) -> Look:
        """Return how it stands now.

        Raises:
            UsageError: The folder holds something else.
            RecordError: The file that says what was planned is none.
            StoreError: The disk refuses.
        """
        played_before = self._played()
        if not self._find():
            return self._look(State.GONE if self._identity is not None else State.WAITING, ())
        conditions = tuple(run.look() for run in self._runs)
        if all(condition.complete for condition in conditions):
            return self._look(State.COMPLETE, conditions)
        # Asked before and after: between the two a process may have ended, or begun.
        left = played_before is False and self._played() is False
        return self._look(State.LEFT if left else State.GOING, conditions)

    def _look(self, state: State, conditions: tuple[Condition, ...]) -> Look:
        return Look(state, conditions, self._wall_ns() / 1e9)

    def _played(self) -> bool | None:
        """Whether a process plays it; None if that cannot be told."""
        found = [files.is_locked(folder) for folder in {self._path, *(run.path for run in self._runs)}]
        return None if None in found else any(found)

    def _find(self) -> bool:
        """Find the runs, if they are there; True if so."""
        if not self._path.exists():
            return False
        if not self._path.is_dir():
            raise UsageError(f"{self._path}: is a file; name the folder of a run or of a study")
        for name in (STUDY_NAME, RUN_NAME):
            identity = _identity(self._path / name)
            if identity is None:
                continue
            if identity != self._identity:
                named: Sequence[tuple[Path, str | None]] = [(self._path, None)]
                if name == STUDY_NAME:
                    named = list(labelled_folders(self._path).items())
                self._runs = [_RunWatch(folder, label, self._monotonic) for folder, label in named]
                self._identity = identity
            return True
        with files.disk_errors(self._path):
            others = sorted({each.name for each in self._path.iterdir()} - _BEGINNING)
        if others and self._identity is None:
            raise UsageError(
                f"{self._path}: holds other things ({others[0]!r}) and no run; name the folder of a run or of a study"
            )
        return False


class _RunWatch:
    """Follows a run; it may have begun long ago, or not yet."""

    def __init__(self, path: Path, label: str | None, monotonic: Callable[[], float]) -> None:
        self.path = path
        self._label = label
        self._monotonic = monotonic
        self._identity: tuple[int, int] | None = None
        self._run: Run | None = None
        self._open: dict[str, _OpenEpisode] = {}
        # When each result was written that was there at the last look.
        self._told: dict[str, float] = {}
        # When, and how many decisions had been recorded by then.
        self._seen: deque[tuple[float, int]] = deque()

    def look(self) -> Condition:
        run = self._read()
        if run is None:
            return Condition(self._label or self.path.name)
        summary = summarise_run(run)
        pooled = summary.pooled()
        ended = [
            Ended(each.name, each.result, each.written_s or 0.0)
            for each in run.episodes
            if each.result is not None and not each.is_faulty
        ]
        begun = self._begun([each for each in run.episodes if each.state is EpisodeState.INCOMPLETE])
        fresh = tuple(each for each in ended if self._told.get(each.id) != each.written_s)
        self._told = {each.id: each.written_s for each in ended}
        steps = sum(each.result.steps for each in ended) + sum(each.steps for each in begun)
        counts = summary.counts
        return Condition(
            label=self._label or f"{run.config.agent}, {run.config.memory}",
            kind=run.config.world,
            planned=counts.planned,
            finished=counts.scored,
            successes=counts.succeeded,
            broken=counts.infrastructure,
            unreadable=counts.unreadable,
            begun=begun,
            tallies=summary.tallies(),
            figures=tuple((measure, pooled.plain(measure.name)) for measure in pooled.measures),
            steps=steps,
            usage=sum((each.usage for each in begun), sum((Usage.of(each.result.usage) for each in ended), Usage())),
            pace=self._pace(steps),
            pace_told=_pace_within([each.result for each in ended]),
            last=tuple(sorted(ended, key=lambda each: (each.written_s, each.id), reverse=True)[:LAST_FINISHED]),
            fresh=fresh,
            notes=tuple(each.problem for each in run.episodes if each.is_faulty and each.problem is not None),
        )

    def _read(self) -> Run | None:
        """Open the run if it has come or become another; else look at it again."""
        identity = _identity(self.path / RUN_NAME)
        if identity == self._identity:
            self._run = None if self._run is None else self._run.again()
            return self._run
        self._run = None if identity is None else open_run(self.path)
        self._identity = identity
        self._open.clear()
        self._told.clear()
        self._seen.clear()
        return self._run

    def _begun(self, episodes: Sequence[Episode]) -> tuple[Begun, ...]:
        self._open = {each.name: self._open.get(each.name) or _OpenEpisode(each) for each in episodes}
        return tuple(each.look() for each in self._open.values())

    def _pace(self, steps: int) -> float | None:
        now = self._monotonic()
        self._seen.append((now, steps))
        while len(self._seen) > 2 and now - self._seen[1][0] >= PACE_WINDOW_S:
            self._seen.popleft()
        then, before = self._seen[0]
        return 60.0 * max(0, steps - before) / (now - then) if now > then else None


class _OpenEpisode:
    """Follows the records of an episode that has no result yet."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._trajectory = Tail(episode.trajectory)
        self._replies = Tail(episode.folder / REPLIES_NAME)
        self._forget_decisions()
        self._forget_replies()

    def look(self) -> Begun:
        """Return how far it is.

        Raises:
            StoreError: The disk refuses.
        """
        with files.disk_errors(self._episode.folder):
            for line in self._trajectory.lines(self._forget_decisions):
                self._take_decision(line)
            for line in self._replies.lines(self._forget_replies):
                self._take_reply(line)
        last, reply = self._last, self._reply
        steps = 0 if last is None else last.step
        waiting = reply is not None and reply.step > steps
        said = reply.reply.text if reply is not None and waiting else "" if last is None else last.said
        written = [time for time in (self._trajectory.written_s, self._replies.written_s) if time is not None]
        return Begun(
            id=self._episode.name,
            steps=steps,
            budget=self._budget,
            action=None if last is None else last.action,
            outcome="" if last is None else last.outcome,
            said=said[:_SAID_CHARACTERS],
            fault=reply.fault if reply is not None and waiting else None,
            usage=self._usage,
            written_s=max(written, default=None),
        )

    def _forget_decisions(self) -> None:
        self._headed = False
        self._budget: int | None = None
        self._last: DecisionLine | None = None
        self._usage = Usage()

    def _forget_replies(self) -> None:
        self._reply: ReplyRecord | None = None

    def _take_decision(self, line: bytes) -> None:
        """Take in a line; a bad one tells nothing, and whoever goes on with the episode cuts it or says so."""
        try:
            value = parse_json(line.decode())
            if not self._headed:
                self._headed = True
                self._budget = _whole(Header.model_validate(value).scenario.get("budget")) or None
                return
            decision = DecisionLine.model_validate(value)
        except ValueError:
            return
        # The facts are the heavy part, and nobody here asks for them.
        self._last = decision.model_copy(update={"facts": {}})
        self._usage += Usage.of(decision.usage)

    def _take_reply(self, line: bytes) -> None:
        try:
            value = parse_json(line.decode())
            if isinstance(value, dict) and "reply" in value:
                self._reply = ReplyRecord.from_json(value)
        except (ValueError, KeyError, TypeError):
            return


def _pace_within(results: Sequence[EpisodeResult]) -> float | None:
    """Decisions a minute within an episode, as results tell."""
    timed = [(result.steps, result.timing["seconds"]) for result in results if result.timing.get("seconds", 0) > 0]
    steps, seconds = sum(each[0] for each in timed), sum(each[1] for each in timed)
    return 60.0 * steps / seconds if steps and seconds > 0 else None


def _identity(file: Path) -> tuple[int, int] | None:
    with files.disk_errors(file):
        try:
            found = file.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
    return found.st_ino, found.st_mtime_ns


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= COUNT_MAX else 0
