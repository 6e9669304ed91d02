"""Pools episodes: the figure of every measure over a set of them."""

from array import array
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from oresight.scoring.decisions import ERROR_KINDS, LENIENT, STRICT, EpisodeSummary
from oresight.scoring.measures import Measure, error_name, table
from oresight.scoring.records import Json
from oresight.scoring.statistics import CountsTable, Figure, figure_of


class PooledRates:
    """The figures of a set of episodes, by the names of the measures; those without a result are in none of them.

    A figure is made when it is asked for, since its interval takes a while.

    Args:
        counts: Numerators and denominators of the episodes for which a measure is defined, by its name.
        readings: Readings of the error metric that the episodes have.
        scored_decisions: Scored decisions of the results.
        decisions: All their decisions.
    """

    def __init__(
        self, counts: Mapping[str, CountsTable], readings: Sequence[str], scored_decisions: int, decisions: int
    ) -> None:
        self.readings = tuple(readings)
        self.scored_decisions = scored_decisions
        self.decisions = decisions
        self._counts = counts
        self._made: dict[str, Figure] = {}
        self._measures = {measure.name: measure for measure in table()}

    def __getitem__(self, name: str) -> Figure:
        """Return the figure of a measure; over no episode, where it is defined for none.

        Raises:
            KeyError: There is no such measure.
        """
        if name not in self._made:
            measure = self._measures[name]
            self._made[name] = figure_of(self._counts.get(name, ()), proportion=measure.proportion)
        return self._made[name]

    def plain(self, name: str) -> Figure:
        """Return the figure of a measure without its interval, at once."""
        return figure_of(self._counts.get(name, ()), with_interval=False)

    @property
    def success(self) -> Figure:
        """Successes over results that had a task."""
        return self["success"]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that are defined for one of the episodes at least, in the readings that they have."""
        return tuple(
            measure
            for name, measure in self._measures.items()
            if name in self._counts and (measure.reading is None or measure.reading in self.readings)
        )

    def error(self, kind: str, reading: str = LENIENT) -> Figure:
        """Return the error rate of a kind in a reading."""
        return self[error_name(kind, reading)]

    def to_json(self) -> Json:
        """Return the figures as plain JSON: all by name, and the errors and means where earlier versions had them."""
        # A world for which the metric is not defined has no errors to show, not even undefined ones.
        defined = bool(self.readings) or not self.success.denominator
        errors = {
            reading: {f"{kind}_error": self.error(kind, reading).to_json() for kind in ERROR_KINDS}
            for reading in (LENIENT, STRICT)
            if defined
        }
        return {
            "success": self.success.to_json(),
            **errors.get(LENIENT, {}),
            "budget_used": self["budget_used"].value,
            "budget_used_success": self["budget_used_success"].value,
            "scored_decisions": self.scored_decisions,
            "decisions": self.decisions,
            **errors,
            "measures": {measure.name: self[measure.name].to_json() for measure in self.measures},
        }


class Pool:
    """Adds up episodes one at a time and keeps but a few numbers of each.

    Infrastructure errors and incomplete episodes count in nothing.
    """

    def __init__(self) -> None:
        self._scored = self._decisions = 0
        self._readings: dict[str, None] = {}
        self._measures = table()
        self._counts: dict[str, array[float]] = {}

    def add(self, summary: EpisodeSummary) -> None:
        """Add an episode."""
        if not summary.outcome.counts:
            return
        self._scored += summary.scored_decisions
        self._decisions += summary.decisions
        self._readings.update(dict.fromkeys(summary.readings))
        for measure in self._measures:
            if (counts := measure.counts(summary)) is not None:
                self._counts.setdefault(measure.name, array("d")).extend(counts)

    def rates(self) -> PooledRates:
        """Return the figures of what was added so far."""
        tables = {name: np.array(counts, dtype=np.float64).reshape(-1, 2) for name, counts in self._counts.items()}
        return PooledRates(tables, list(self._readings), self._scored, self._decisions)


def pool(summaries: Iterable[EpisodeSummary]) -> PooledRates:
    """Pool episodes; infrastructure errors and incomplete ones count in nothing."""
    pooled = Pool()
    for summary in summaries:
        pooled.add(summary)
    return pooled.rates()


def shown(pools: Iterable[PooledRates]) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Return the measures that a table of several pools has rows for, and the readings, each in their order.

    A score that is the success rate in all of them says nothing more, and is left out.
    """
    found = list(pools)
    names = {measure.name for each in found for measure in each.measures}
    readings = tuple(dict.fromkeys(reading for each in found for reading in each.readings))
    if all(each["score"].value == each.success.value for each in found):
        names -= {"score"}
    return tuple(measure for measure in table() if measure.name in names), readings
