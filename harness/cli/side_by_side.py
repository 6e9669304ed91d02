"""Prints conditions side by side: a comparison, or what they would ask for."""

from collections.abc import Sequence

from rich.console import Console

from oresight.harness.analysis.compare import Comparison
from oresight.harness.cli.display import columns
from oresight.harness.running.plan import Forecast
from oresight.harness.text import visible
from oresight.harness.wording import UNDEFINED, difference_words, figure_words
from oresight.scoring.measures import DOLLARS, Measure
from oresight.scoring.pooling import shown
from oresight.scoring.statistics import PAIRED_METHOD


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Counts of each condition first, then the figures over the shared episodes, then the paired differences."""
    for side in comparison.sides:
        console.print(f"{visible(side.label)}: {side.summary.counts_sentence()}")
    for note in comparison.notes:
        console.print(f"note: {visible(note)}")
    count = len(comparison.shared)
    console.print(f"\nover the {count} episodes that all conditions have a result of")
    console.print(columns(_figures(comparison)))
    first = comparison.columns[0]
    console.print(f"\ndifference from {visible(first.label)}, paired by episode ({PAIRED_METHOD}; n = {count})")
    console.print(columns(_differences(comparison)))


def print_forecasts(console: Console, forecasts: Sequence[tuple[str, Forecast]]) -> None:
    """How much each condition is at most."""
    rows: list[tuple[str, ...]] = [("condition", "episodes", "decisions", "requests", "pictures sent")]
    for label, each in forecasts:
        rows.append((visible(label), str(each.episodes), str(each.decisions), str(each.requests), str(each.pictures)))
    if len(forecasts) > 1:
        told = [each for _, each in forecasts]
        totals = (
            sum(each.episodes for each in told),
            sum(each.decisions for each in told),
            sum(each.requests for each in told),
            sum(each.pictures for each in told),
        )
        rows.append(("in all", *map(str, totals)))
    console.print(columns(rows))
    console.print(
        "At most: every episode may end before its budget; a reply that is none is asked for again up to three times."
    )


def _figures(comparison: Comparison) -> list[tuple[str, ...]]:
    shown_columns = comparison.columns
    measures, readings = shown(column.pooled for column in shown_columns)
    rows: list[tuple[str, ...]] = [("", *(visible(column.label) for column in shown_columns))]
    for measure in measures:
        cells = (figure_words(measure, column.pooled[measure.name]) for column in shown_columns)
        rows.append((_named(measure, readings), *cells))
    if any(column.cost is not None for column in shown_columns):
        cells = (UNDEFINED if column.cost is None else DOLLARS.words(column.cost) for column in shown_columns)
        rows.append(("cost in all, US dollars", *cells))
    return rows


def _differences(comparison: Comparison) -> list[tuple[str, ...]]:
    others = comparison.columns[1:]
    measures, readings = shown(column.pooled for column in comparison.columns)
    rows: list[tuple[str, ...]] = [("", *(visible(column.label) for column in others))]
    for measure in measures:
        cells = (difference_words(measure, column.differences.get(measure.name)) for column in others)
        rows.append((_named(measure, readings), *cells))
    return rows


def _named(measure: Measure, readings: Sequence[str]) -> str:
    unit = f", {measure.unit.name}" if measure.unit is DOLLARS else ""
    return measure.titled(readings) + unit
