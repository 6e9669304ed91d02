"""From counts to figures: ratios of sums, differences, and their intervals, all methods of which stand here.

A rate is a sum of errors over a sum of eligible decisions, with both at hand, and undefined (None) where nothing is
eligible; never 0. Its interval is a bootstrap over episodes, because decisions of one episode hang together; the
interval of a success rate is Wilson's. Each figure says its method and its n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oresight.scoring.records import Json, Outcome

RESAMPLES = 10_000
SEED = 20_260_101
# The standard normal's quantile at 0.975, for intervals of 95 %.
Z_95 = 1.959963984540054
# Indices drawn at a time, so that memory stays flat however many episodes there are.
_DRAWN_AT_ONCE = 2_000_000
BOOTSTRAP = f"bootstrap over episodes, {RESAMPLES} resamples, seed {SEED}, 95 %"
PAIRED_METHOD = f"paired {BOOTSTRAP}"

Interval = tuple[float, float]
# An episode's numerator and denominator.
Counts = tuple[float, float]
# Many of them as an array of n rows: numerator, denominator.
CountsTable = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A ratio with what it is made of.

    Attributes:
        value: numerator / denominator, or None where that is undefined.
        numerator: Sum over the episodes, for example of errors, successes or dollars.
        denominator: The same of what it is set against: eligible decisions, or episodes.
        interval: The 95 % interval, or None where there is none (fewer than two episodes, nothing eligible).
        method: How the interval is made.
        n: Number of episodes.
    """

    value: float | None
    numerator: float
    denominator: float
    interval: Interval | None
    method: str
    n: int

    @property
    def counts(self) -> Counts:
        """Numerator and denominator."""
        return self.numerator, self.denominator

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


@dataclass(frozen=True)
class Difference:
    """One condition's ratio minus another's, paired by episode.

    Attributes:
        value: None where one of the two is undefined.
        interval: Of 95 %, or None where there is none.
        n: Pairs of episodes.
    """

    value: float | None
    interval: Interval | None
    n: int

    def to_json(self) -> Json:
        """Return the difference as plain JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {"value": self.value, "interval": interval, "method": PAIRED_METHOD, "n": self.n}


def rate(numerator: float, denominator: float) -> float | None:
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


def figure_of(
    counts: Sequence[Counts] | CountsTable, *, proportion: bool = False, with_interval: bool = True
) -> Figure:
    """Return the ratio of sums over episodes, each given as (numerator, denominator).

    Args:
        counts: One an episode.
        proportion: Whether each is one yes or no, so that the interval is Wilson's; else it is a bootstrap's.
        with_interval: Whether it has one, which takes a while.
    """
    table = np.asarray(counts, dtype=np.float64).reshape(-1, 2)
    numerator, denominator = (_total(table[:, place]) for place in (0, 1))
    if not with_interval:
        return Figure(rate(numerator, denominator), numerator, denominator, None, "no interval", len(table))
    if proportion:
        return success_figure(int(numerator), int(denominator))
    interval = bootstrap(table) if denominator else None
    return Figure(rate(numerator, denominator), numerator, denominator, interval, BOOTSTRAP, len(table))


def success_figure(successes: int, n: int) -> Figure:
    """Return the success rate of n episodes."""
    return Figure(rate(successes, n), successes, n, wilson(successes, n), "Wilson, 95 %", n)


def difference_of(first: Sequence[Counts], second: Sequence[Counts]) -> Difference:
    """Return the ratio of the first episodes minus that of the second ones, which are their pairs.

    Raises:
        ValueError: The two are not of one length, so that they are no pairs.
    """
    one, other = (rate(*map(math.fsum, zip(*counts, strict=True))) if counts else None for counts in (first, second))
    if one is None or other is None:
        return Difference(None, None, len(first))
    return Difference(one - other, bootstrap_difference(first, second), len(first))


def _total(values: npt.NDArray[np.float64]) -> float:
    """Return the exact sum, whole if all values are."""
    total = math.fsum(values)
    return int(total) if not np.any(values % 1) else total


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
