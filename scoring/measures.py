"""What is measured of episodes: a table of measures, which everything that prints or writes figures loops over.

A measure gives of each episode a numerator and a denominator; its figure over episodes is the ratio of their sums. A
measure of one's own is a `Measure` in a file of one's own, found by the entry point group `oresight.measures` or added
with `add`; it then stands in summaries, tables, comparisons and reports beside the bundled ones.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from typing import Protocol

from oresight.scoring.decisions import ERROR_KINDS, LENIENT, STRICT, EpisodeSummary, ScoredDecision
from oresight.scoring.statistics import Counts

ENTRY_POINTS = "oresight.measures"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Unit:
    """What a measure's values are and how they are written.

    Attributes:
        name: In words; empty for a ratio of the like.
        digits: After the point.
        percent: Written in hundredths.
        counted: Numerator and denominator are counts that belong beside the value.
    """

    name: str = ""
    digits: int = 2
    percent: bool = False
    counted: bool = False

    def words(self, value: float, *, signed: bool = False) -> str:
        """Return a value as it is written."""
        sign = "+" if signed else ""
        return f"{value:{sign}.{self.digits}%}" if self.percent else f"{value:{sign}.{self.digits}f}"


RATE = Unit(counted=True)
SCORE = Unit()
SHARE = Unit(digits=0, percent=True)
DECISIONS = Unit("decisions", digits=1)
DOLLARS = Unit("US dollars", digits=4)


class Accumulator(Protocol):
    """Follows one episode decision by decision, for what its summary does not hold.

    The grid's hash of a state counts its steps, so that no state comes twice there; `scored.node` is the place.
    """

    def take(self, before: str, action: str, after: str, scored: ScoredDecision) -> None:
        """Take in the next decision that counts: the hashes of the states around it, and how it was classified."""

    def counts(self) -> Counts | None:
        """Return numerator and denominator so far; None where there is nothing to measure."""


@dataclass(frozen=True)
class Measure:
    """One thing that is measured of every episode.

    Attributes:
        name: Names its fields and columns; in lower case with underscores.
        title: What a table calls it.
        words: A sentence that says what it is and what to mind when reading it.
        of: Numerator and denominator of an episode; None where it is not defined, which leaves the episode out.
        unit: What its values are.
        reading: The reading of the error metric that it belongs to; None if it does not depend on one.
        proportion: Of each episode it is one yes or no, 1 or 0 of 1, so that its interval is Wilson's.
        lower_is_better: Whether less of it is better; None where neither is.
        follow: Makes an accumulator for an episode of a kind of world, or None if it has nothing to follow there. What
            it counts is kept with the episode's score and takes the place of `of`.
    """

    name: str
    title: str
    words: str
    of: Callable[[EpisodeSummary], Counts | None] | None = None
    unit: Unit = RATE
    reading: str | None = None
    proportion: bool = False
    lower_is_better: bool | None = None
    follow: Callable[[str], Accumulator | None] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"a measure is called {self.name!r}; expected lower case letters, digits and underscores")
        if (self.of is None) == (self.follow is None):
            raise ValueError(f"the measure {self.name} needs either `of` or `follow`; give one of them")

    def counts(self, summary: EpisodeSummary) -> Counts | None:
        """Return numerator and denominator of an episode; None where the measure is not defined."""
        return summary.measured.get(self.name) if self.of is None else self.of(summary)

    def titled(self, readings: Sequence[str]) -> str:
        """Return the title, with the reading where a table has several."""
        return self.title if self.reading is None or len(readings) < 2 else f"{self.title}, {self.reading}"


def _error(kind: str, reading: str) -> Measure:
    def counts(summary: EpisodeSummary) -> Counts | None:
        # A world with one reading has it under either name.
        return summary.readings.get(reading, summary.tally).counts(kind) if summary.readings else None

    return Measure(
        name=error_name(kind, reading),
        title=f"{kind} error",
        words=f"errors of {kind} over the decisions eligible for it; undefined where none was, never 0",
        of=counts,
        reading=reading,
        lower_is_better=True,
    )


def error_name(kind: str, reading: str) -> str:
    """Return the name of the measure of a kind of error in a reading."""
    return f"{kind}_error_{reading}"


def _score(summary: EpisodeSummary) -> Counts | None:
    return None if summary.score is None else (summary.score, 1)


def _used(summary: EpisodeSummary) -> Counts | None:
    return (summary.steps_taken / summary.budget, 1) if summary.budget else None


def _cost(summary: EpisodeSummary) -> Counts | None:
    cost = None if summary.usage is None else summary.usage.get("cost")
    return None if cost is None else (cost, 1)


SUCCESS = Measure(
    "success",
    "success rate",
    "episodes that reached their goal within the budget, over those that had a task",
    lambda summary: (int(summary.success), 1) if summary.outcome.has_task else None,
    proportion=True,
    lower_is_better=False,
)
MEASURES = (
    SUCCESS,
    *(_error(kind, reading) for kind in ERROR_KINDS for reading in (LENIENT, STRICT)),
    Measure(
        "score",
        "score",
        "how much of the task was done, from 0 to 1, mean over episodes",
        _score,
        SCORE,
        lower_is_better=False,
    ),
    Measure(
        "decisions_used",
        "decisions used",
        "decisions up to success or the end, mean over episodes",
        lambda summary: (summary.steps_taken, 1),
        DECISIONS,
        lower_is_better=True,
    ),
    Measure(
        "budget_used",
        "budget used",
        "decisions used over the full budget, mean over episodes",
        _used,
        SHARE,
        lower_is_better=True,
    ),
    Measure(
        "budget_used_success",
        "budget used by successes",
        "the same over the successes alone, which an agent that fails early cannot lower",
        lambda summary: _used(summary) if summary.success else None,
        SHARE,
        lower_is_better=True,
    ),
    Measure(
        "cost_per_episode",
        "cost per episode",
        "US dollars for a model's replies, mean over the episodes whose price is known",
        _cost,
        DOLLARS,
        lower_is_better=True,
    ),
)

_added: dict[str, Measure] = {}


def table() -> tuple[Measure, ...]:
    """Return every measure: the bundled ones, those of installed packages, and those that were added.

    Raises:
        ValueError: One cannot be loaded, or two have one name.
    """
    return (*_installed(), *_added.values())


def add(measure: Measure | str) -> Measure:
    """Add a measure for as long as this process lives, and return it; the same one may be added twice.

    Args:
        measure: It, or where it stands, as "module:NAME".

    Raises:
        ValueError: There is none, or its name is taken.
    """
    if isinstance(measure, str):
        module, _, name = measure.partition(":")
        measure = _checked(measure, lambda: getattr(importlib.import_module(module), name))
    if measure not in table():
        _check_names([*table(), measure])
        _added[measure.name] = measure
    return measure


@cache
def _installed() -> tuple[Measure, ...]:
    found = [_checked(point.value, point.load) for point in entry_points(group=ENTRY_POINTS)]
    _check_names([*MEASURES, *found])
    return (*MEASURES, *found)


def _checked(place: str, load: Callable[[], object]) -> Measure:
    try:
        found = load()
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"no measure can be loaded from {place!r} ({error}); expected module:NAME") from error
    if not isinstance(found, Measure):
        raise ValueError(f"{place!r} is {type(found).__name__}; expected an oresight.scoring.measures.Measure")
    return found


def _check_names(measures: Iterable[Measure]) -> None:
    names = [measure.name for measure in measures]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"two measures are called {twice[0]!r}; rename one of them")


class Following:
    """Feeds the accumulators of all measures that have one with the decisions of one episode.

    Args:
        kind: The world.
        start: Hash of the state before the first decision.
        after: Of a branch: so many decisions were recorded before it and are left out.
    """

    def __init__(self, kind: str, start: str, after: int = 0) -> None:
        made = {measure.name: measure.follow(kind) for measure in table() if measure.follow is not None}
        self._accumulators = {name: each for name, each in made.items() if each is not None}
        self._before = start
        self._after = after

    def take(self, action: str, state_hash: str, scored: ScoredDecision) -> None:
        """Take in the next decision, with the hash of the state after it."""
        if scored.step > self._after:
            for each in self._accumulators.values():
                each.take(self._before, action, state_hash, scored)
        self._before = state_hash

    def counts(self) -> dict[str, Counts]:
        """Return what each of them counted so far, by the measure's name."""
        found = {name: each.counts() for name, each in self._accumulators.items()}
        return {name: counts for name, counts in found.items() if counts is not None}


def followed(summary: EpisodeSummary, following: Following | None) -> EpisodeSummary:
    """Return the summary with what was counted while the episode was followed, if it was."""
    return summary if following is None else replace(summary, measured=following.counts())
