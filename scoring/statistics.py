"""From episodes to figures: pooled rates, intervals, budget used.

A rate is a sum of errors over a sum of eligible decisions, with both at hand, and undefined (None) where nothing is
eligible; never 0. Its interval is a bootstrap over episodes, because decisions of one episode hang together; the
interval of a success rate is Wilson's. Each figure says its method and its n.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import numpy.typing as npt

from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.records import Json, Outcome

RESAMPLES = 10_000
SEED = 20_260_101
# The standard normal's quantile at 0.975, for intervals of 95 %.
Z_95 = 1.959963984540054
# Indices drawn at a time, so that memory stays flat however many episodes there are.
_DRAWN_AT_ONCE = 2_000_000
_READINGS = ("lenient", "strict")
_KINDS = ("explore", "exploit")

Interval = tuple[float, float]
Counts = tuple[int, int]
# Many of them as an array of n rows: numerator, denominator.
CountsTable = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Figure:
    """A ratio with what it is made of.

    Attributes:
        value: numerator / denominator, or None where that is undefined.
        numerator: Errors, or successes.
        denominator: Eligible decisions, or episodes.
        interval: The 95 % interval, or None where there is none (fewer than two episodes, nothing eligible).
        method: How the interval is made.
        n: Number of episodes.
    """

    value: float | None
    numerator: int
    denominator: int
    interval: Interval | None
    method: str
    n: int

    def to_json(self) -> Json:
        """Return the figure as plain JSON."""
        return {
            "value": self.value,
            "numerator": self.numerator,
            "denominator": self.denominator,
            "interval": None if self.interval is None else list(self.interval),
            "method": self.method,
            "n": self.n,
        }


def rate(numerator: int, denominator: int) -> float | None:
    """Return the quotient, or None where nothing is eligible."""
    return numerator / denominator if denominator else None


def wilson(successes: int, n: int, z: float = Z_95) -> Interval | None:
    """Return Wilson's score interval of a proportion, or None for n = 0.

    Raises:
        ValueError: `successes` is not between 0 and `n`.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes is {successes}; it must be between 0 and n = {n}")
    if n == 0:
        return None
    share = successes / n
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    # At the ends the bound is exact; rounding must not push it past them.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def bootstrap(counts: Sequence[Counts] | CountsTable, resamples: int = RESAMPLES, seed: int = SEED) -> Interval | None:
    """Return the 95 % percentile interval of sum(numerators) / sum(denominators), resampling whole episodes.

    Args:
        counts: Numerator and denominator of each episode.
        resamples: How many samples are drawn.
        seed: Of the one generator used here, so that the same counts give the same interval.

    Returns:
        None with fewer than two episodes, or where no resample has an eligible decision. Resamples without one are
        undefined and left out.
    """
    if len(counts) < 2:
        return None
    ratios = _resampled_ratios([counts], resamples, seed)[0]
    return _percentiles(ratios)


def bootstrap_difference(
    first: Sequence[Counts], second: Sequence[Counts], resamples: int = RESAMPLES, seed: int = SEED
) -> Interval | None:
    """Return the 95 % interval of rate(first) - rate(second) over paired episodes: each resample draws pairs.

    Raises:
        ValueError: The two are not of one length, so that they are no pairs.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} episodes are no pairs; give the episodes that both have")
    if len(first) < 2:
        return None
    one, other = _resampled_ratios([first, second], resamples, seed)
    return _percentiles(one - other)


def _resampled_ratios(
    conditions: Sequence[Sequence[Counts] | CountsTable], resamples: int, seed: int
) -> list[npt.NDArray[np.float64]]:
    """Return for each condition its ratio in every resample (nan where undefined), all with the same draws."""
    generator = np.random.Generator(np.random.PCG64(seed))
    tables = [np.asarray(counts, dtype=np.float64) for counts in conditions]
    n = len(tables[0])
    rows = max(1, _DRAWN_AT_ONCE // n)
    ratios = [np.empty(resamples) for _ in tables]
    for begin in range(0, resamples, rows):
        end = min(begin + rows, resamples)
        drawn = generator.integers(0, n, size=(end - begin, n))
        for table, out in zip(tables, ratios, strict=True):
            numerator = table[:, 0][drawn].sum(axis=1)
            denominator = table[:, 1][drawn].sum(axis=1)
            out[begin:end] = np.divide(numerator, denominator, out=np.full(end - begin, np.nan), where=denominator > 0)
    return ratios


def _percentiles(values: npt.NDArray[np.float64]) -> Interval | None:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)


def error_figure(counts: Sequence[Counts] | CountsTable) -> Figure:
    """Return the pooled error rate of episodes given as (errors, eligible)."""
    errors, eligible = (int(total) for total in np.asarray(counts, dtype=np.int64).reshape(-1, 2).sum(axis=0))
    return Figure(
        rate(errors, eligible),
        errors,
        eligible,
        bootstrap(counts) if eligible else None,
        f"bootstrap over episodes, {RESAMPLES} resamples, seed {SEED}, 95 %",
        len(counts),
    )


def success_figure(successes: int, n: int) -> Figure:
    """Return the success rate of n episodes."""
    return Figure(rate(successes, n), successes, n, wilson(successes, n), "Wilson, 95 %", n)


@dataclass(frozen=True)
class ReadingRates:
    """Both error rates under one reading."""

    exploration: Figure
    exploitation: Figure

    def to_json(self) -> Json:
        """Return the rates as plain JSON."""
        return {"exploration_error": self.exploration.to_json(), "exploitation_error": self.exploitation.to_json()}


@dataclass(frozen=True)
class PooledRates:
    """The figures of a set of episodes; those without a result are in none of them.

    Attributes:
        success: Successes over results that had a task.
        lenient: Error rates of the lenient reading.
        strict: Error rates of the strict reading.
        budget_used: Mean of steps taken / full budget over all results; None without one.
        budget_used_success: The same over the successes; None without one.
        scored_decisions: Scored decisions of the results.
        decisions: All their decisions.
    """

    success: Figure
    lenient: ReadingRates
    strict: ReadingRates
    budget_used: float | None
    budget_used_success: float | None
    scored_decisions: int
    decisions: int

    def to_json(self) -> Json:
        """Return the figures as plain JSON: the lenient ones flat, and both readings by name."""
        return {
            "success": self.success.to_json(),
            **self.lenient.to_json(),
            "budget_used": self.budget_used,
            "budget_used_success": self.budget_used_success,
            "scored_decisions": self.scored_decisions,
            "decisions": self.decisions,
            "lenient": self.lenient.to_json(),
            "strict": self.strict.to_json(),
        }


class Pool:
    """Adds up episodes one at a time and keeps but a few numbers of each.

    Infrastructure errors and incomplete episodes count in nothing.
    """

    def __init__(self) -> None:
        self._results = self._tasks = self._successes = self._scored = self._decisions = 0
        self._counts = {(reading, kind): array("q") for reading in _READINGS for kind in _KINDS}
        self._used = array("d")
        self._used_success = array("d")

    def add(self, summary: EpisodeSummary) -> None:
        """Add an episode."""
        if not summary.outcome.counts:
            return
        self._results += 1
        self._tasks += summary.outcome.has_task
        self._successes += summary.success
        self._scored += summary.scored_decisions
        self._decisions += summary.decisions
        for (reading, kind), counts in self._counts.items():
            counts.extend(getattr(summary.readings.get(reading, summary.tally), kind))
        if summary.budget:
            share = summary.steps_taken / summary.budget
            self._used.append(share)
            if summary.success:
                self._used_success.append(share)

    def rates(self) -> PooledRates:
        """Return the figures of what was added so far."""
        lenient = self._reading("lenient")
        # Worlds with one reading have the same counts in both, and need no second bootstrap.
        same = all(self._counts["lenient", kind] == self._counts["strict", kind] for kind in _KINDS)
        return PooledRates(
            success=success_figure(self._successes, self._tasks),
            lenient=lenient,
            strict=lenient if same else self._reading("strict"),
            budget_used=_mean(self._used),
            budget_used_success=_mean(self._used_success),
            scored_decisions=self._scored,
            decisions=self._decisions,
        )

    def _reading(self, reading: str) -> ReadingRates:
        tables = [
            np.frombuffer(self._counts[reading, kind], dtype=np.int64).reshape(-1, 2)
            if self._results
            else np.empty((0, 2), dtype=np.int64)
            for kind in _KINDS
        ]
        return ReadingRates(error_figure(tables[0]), error_figure(tables[1]))


def pool(summaries: Iterable[EpisodeSummary]) -> PooledRates:
    """Pool episodes; infrastructure errors and incomplete ones count in nothing."""
    pooled = Pool()
    for summary in summaries:
        pooled.add(summary)
    return pooled.rates()


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


@dataclass(frozen=True)
class EpisodeCounts:
    """How many episodes stand behind the figures, and how many do not.

    Attributes:
        planned: Episodes that were to be played; where no plan is on disk, those that were found.
        found: Episodes found on disk.
        scored: Those with a result.
        succeeded: Successes among them.
        failed: Failures among them.
        infrastructure: Ended by the provider or the machine; to be run again.
        incomplete: Begun, but without a usable result.
        unreadable: Found, but faulty.
        missing: Planned, but not found.
    """

    planned: int
    found: int
    scored: int
    succeeded: int
    failed: int
    infrastructure: int
    incomplete: int
    unreadable: int
    missing: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], unreadable: int = 0, missing: int = 0) -> "EpisodeCounts":
        """Count episodes by how they ended."""
        found = len(outcomes) + unreadable
        scored = sum(outcome.counts for outcome in outcomes)
        succeeded = sum(outcome is Outcome.SUCCESS for outcome in outcomes)
        return cls(
            planned=found + missing,
            found=found,
            scored=scored,
            succeeded=succeeded,
            failed=sum(outcome.has_task for outcome in outcomes) - succeeded,
            infrastructure=sum(outcome is Outcome.INFRASTRUCTURE for outcome in outcomes),
            incomplete=sum(outcome is Outcome.INCOMPLETE for outcome in outcomes),
            unreadable=unreadable,
            missing=missing,
        )

    @property
    def complete(self) -> bool:
        """Whether every planned episode has a result."""
        return self.scored == self.planned

    def to_json(self) -> Json:
        """Return the counts as plain JSON."""
        return {
            "planned": self.planned,
            "found": self.found,
            "scored": self.scored,
            "succeeded": self.succeeded,
            "failed": self.failed,
            "infrastructure": self.infrastructure,
            "incomplete": self.incomplete,
            "unreadable": self.unreadable,
            "missing": self.missing,
            "complete": self.complete,
        }
