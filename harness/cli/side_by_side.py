"""Prints conditions side by side: a comparison, or what they would ask for."""

from collections.abc import Sequence

from rich.console import Console

from oresight.harness.analysis.compare import METHOD, Column, Comparison, Difference
from oresight.harness.cli.display import columns, figure_words
from oresight.harness.running.plan import Forecast
from oresight.harness.text import visible
from oresight.harness.wording import readings
from oresight.scoring.decisions import ERROR_KINDS

_UNDEFINED = "–"


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
    console.print(f"\ndifference from {visible(first.label)}, paired by episode ({METHOD}; n = {count})")
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
    shown = comparison.columns
    rows: list[tuple[str, ...]] = [("", *(visible(column.label) for column in shown))]
    rows.append(("success", *(figure_words(column.pooled.success) for column in shown)))
    for kind in ERROR_KINDS:
        for reading in readings(comparison.kind):
            figures = [getattr(getattr(column.pooled, reading), kind) for column in shown]
            rows.append((_error_name(kind, reading, comparison.kind), *map(figure_words, figures)))
    rows.append(("decisions used, mean", *(f"{column.decisions:.1f}" for column in shown)))
    rows.append(("share of the budget", *(_percent(column.pooled.budget_used) for column in shown)))
    rows.append(("  by successes", *(_percent(column.pooled.budget_used_success) for column in shown)))
    rows.append(("cost in US dollars", *(_money(column.cost) for column in shown)))
    return rows


def _differences(comparison: Comparison) -> list[tuple[str, ...]]:
    others = comparison.columns[1:]
    rows: list[tuple[str, ...]] = [("", *(visible(column.label) for column in others))]
    names = {"success": "success"}
    for kind in ERROR_KINDS:
        for reading in readings(comparison.kind):
            names[f"{kind}_error_{reading}"] = _error_name(kind, reading, comparison.kind)
    names["decisions_used"] = "decisions used"
    names["cost_per_episode"] = "cost an episode, US dollars"
    for name, words in names.items():
        cells = [_difference_words(column, name) for column in others]
        if any(cell != _UNDEFINED for cell in cells) or name != "cost_per_episode":
            rows.append((words, *cells))
    return rows


def _difference_words(column: Column, name: str) -> str:
    difference: Difference | None = column.differences.get(name)
    if difference is None or difference.value is None:
        return _UNDEFINED
    digits = {"decisions_used": 1, "cost_per_episode": 4}.get(name, 2)
    words = f"{difference.value:+.{digits}f}"
    if difference.interval is None:
        return words
    return f"{words} [{difference.interval[0]:+.{digits}f}, {difference.interval[1]:+.{digits}f}]"


def _error_name(kind: str, reading: str, world: str) -> str:
    return f"{kind} error" if len(readings(world)) == 1 else f"{kind} error, {reading}"


def _percent(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{value:.0%}"


def _money(value: float | None) -> str:
    return _UNDEFINED if value is None else f"{value:.4f}"
