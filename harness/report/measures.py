"""Measures over the conditions of a report: which are drawn, and their figures over some of the episodes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from oresight.harness.report.conditions import Condition
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.measures import Measure
from oresight.scoring.pooling import pool, shown
from oresight.scoring.statistics import Figure, figure_of


@dataclass(frozen=True)
class Drawn:
    """A measure as the figures of a report name it.

    Attributes:
        measure: It.
        name: In words, with its reading where the world has several.
    """

    measure: Measure
    name: str

    @property
    def slug(self) -> str:
        """Names a file."""
        return re.sub("[^a-z]+", "-", self.name.replace(" error", "").replace(" rate", ""))

    @property
    def title(self) -> str:
        """The name at the beginning of a line."""
        return self.name[0].upper() + self.name[1:]

    def of(self, summaries: Iterable[EpisodeSummary]) -> Figure:
        """Return the figure over episodes, whose intervals it then has."""
        return pool(summaries)[self.measure.name]

    def over_maps(self, by_map: Mapping[str, Sequence[EpisodeSummary]]) -> Figure:
        """Return the figure over several conditions: episodes on one map hang together, so that maps are resampled."""
        if self.measure.proportion:
            return self.of(summary for summaries in by_map.values() for summary in summaries)
        totals = [self.of(summaries) for summaries in by_map.values()]
        figure = figure_of([(each.numerator, each.denominator) for each in totals])
        return replace(figure, method=figure.method.replace("over episodes", "over maps"))


def drawn(conditions: Sequence[Condition]) -> tuple[Drawn, ...]:
    """Return the measures that figures show: those that are ratios of counts, reading by reading."""
    measures, readings = shown(pool(condition.summaries.values()) for condition in conditions)
    ordered = sorted(measures, key=lambda each: readings.index(each.reading) + 1 if each.reading else 0)
    return tuple(Drawn(measure, measure.titled(readings)) for measure in ordered if measure.unit.counted)


def drawn_errors(conditions: Sequence[Condition]) -> tuple[Drawn, ...]:
    """Return those of them that belong to a reading of the error metric."""
    return tuple(each for each in drawn(conditions) if each.measure.reading is not None)


def named(condition: Condition) -> str:
    """A condition's letter and its label."""
    return f"{condition.key} {condition.label}"
