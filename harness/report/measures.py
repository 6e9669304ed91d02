"""What is measured of episodes, by name: success and both errors in the readings that a world has."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from oresight.harness.report.conditions import Condition
from oresight.harness.wording import readings
from oresight.scoring.decisions import ERROR_KINDS, EpisodeSummary
from oresight.scoring.statistics import (
    RESAMPLES,
    SEED,
    Counts,
    Interval,
    PooledRates,
    bootstrap,
    error_figure,
    success_figure,
)
from oresight.scoring.statistics import Figure as Ratio

_MILLION = 1_000_000


@dataclass(frozen=True)
class Measure:
    """A ratio of episodes.

    Attributes:
        name: In words.
        error: The kind of error; None for success.
        reading: Of an error.
    """

    name: str
    error: str | None
    reading: str

    @property
    def slug(self) -> str:
        """Names a file."""
        return re.sub("[^a-z]+", "-", self.name.replace(" error", "").replace(" rate", ""))

    def of(self, summaries: Iterable[EpisodeSummary]) -> Ratio:
        """Over episodes, whose intervals it then has."""
        chosen = list(summaries)
        if self.error is None:
            tasks = [summary for summary in chosen if summary.outcome.has_task]
            return success_figure(sum(summary.success for summary in tasks), len(tasks))
        return error_figure([self._counts(summary) for summary in chosen])

    def over_maps(self, by_map: Mapping[str, Sequence[EpisodeSummary]]) -> Ratio:
        """Over episodes of several conditions: those on one map hang together, so that maps are resampled."""
        if self.error is None:
            return self.of(summary for summaries in by_map.values() for summary in summaries)
        totals: list[Counts] = []
        for summaries in by_map.values():
            counts = [self._counts(summary) for summary in summaries]
            totals.append((sum(each[0] for each in counts), sum(each[1] for each in counts)))
        ratio = error_figure(totals)
        return replace(ratio, method=ratio.method.replace("over episodes", "over maps"))

    def _counts(self, summary: EpisodeSummary) -> Counts:
        assert self.error is not None
        return summary.readings[self.reading].counts(self.error)


def errors(kind: str) -> tuple[Measure, ...]:
    """Both errors in every reading that a kind of world has."""
    several = len(readings(kind)) > 1
    return tuple(
        Measure(f"{error} error, {reading}" if several else f"{error} error", error, reading)
        for reading in readings(kind)
        for error in ERROR_KINDS
    )


def measures(kind: str) -> tuple[Measure, ...]:
    """Success and both errors."""
    return (Measure("success rate", None, "lenient"), *errors(kind))


@dataclass(frozen=True)
class Mean:
    """A mean over episodes; value and interval are None where there is none."""

    value: float | None
    interval: Interval | None
    n: int

    @property
    def method(self) -> str:
        """How the interval is made."""
        return f"bootstrap over episodes, {RESAMPLES} resamples, seed {SEED}, 95 %"


def budget_used(summaries: Iterable[EpisodeSummary]) -> Mean:
    """Mean of steps taken over the full budget."""
    shares = [summary.steps_taken / summary.budget for summary in summaries if summary.budget]
    if not shares:
        return Mean(None, None, 0)
    # Counts are whole numbers, so that shares are counted in millionths.
    interval = bootstrap([(round(share * _MILLION), 1) for share in shares])
    scaled = None if interval is None else (interval[0] / _MILLION, interval[1] / _MILLION)
    return Mean(fmean(shares), scaled, len(shares))


def error_of(pooled: PooledRates, measure: Measure) -> Ratio:
    """The pooled error rate that a measure of an error names."""
    ratio: Ratio = getattr(getattr(pooled, measure.reading), str(measure.error))
    return ratio


def named(condition: Condition) -> str:
    """A condition's letter and its label."""
    return f"{condition.key} {condition.label}"
