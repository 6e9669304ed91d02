"""What the figures of a report show, before anything is drawn: panels of ratios with their intervals.

The same values make the drawings, the tables beside them and the words under them. How they come about is told in
`study`, how they are drawn in `figures`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oresight.harness.protocols import Json
from oresight.scoring.regression import Regression
from oresight.scoring.statistics import Difference
from oresight.scoring.statistics import Figure as Ratio

# The colour of what is not a condition, such as all of them together.
ALL = -1


@dataclass(frozen=True)
class Series:
    """Values that belong together.

    Attributes:
        label: In words.
        colour: Number of its colour, that of the condition; ALL for none of them.
        values: One a tick of the panel; None where there is no episode.
        hollow: Drawn hollow, to tell two series of one colour apart.
    """

    label: str
    colour: int
    values: tuple[Ratio | None, ...]
    hollow: bool = False


@dataclass(frozen=True)
class Lines:
    """Ratios over a few ordered ticks, with a line through each series.

    Attributes:
        joined: Whether the ticks are steps of one thing, so that a line may join them.
    """

    name: str
    title: str
    x_title: str
    ticks: tuple[str, ...]
    series: tuple[Series, ...]
    joined: bool = True


@dataclass(frozen=True)
class Dot:
    """A condition in a scatter: the two ratios that place it."""

    key: str
    label: str
    colour: int
    error: Ratio
    success: Ratio


@dataclass(frozen=True)
class Scatter:
    """Success against the logarithm of an error, with the fitted lines."""

    name: str
    title: str
    x_title: str
    dots: tuple[Dot, ...]
    regression: Regression


@dataclass(frozen=True)
class Change:
    """A difference of two conditions."""

    label: str
    colour: int
    difference: Difference


@dataclass(frozen=True)
class Changes:
    """Differences in a column around zero."""

    name: str
    title: str
    x_title: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Timeline:
    """An episode decision by decision; see `conditions` for the letters."""

    label: str
    colour: int
    marks: str
    stale: tuple[int, ...]
    words: str
    page: str | None


@dataclass(frozen=True)
class Timelines:
    """Two episodes, one above the other."""

    name: str
    title: str
    rows: tuple[Timeline, ...]


Panel = Lines | Scatter | Changes | Timelines


@dataclass(frozen=True)
class Exhibit:
    """A figure of one or more panels with its words.

    Attributes:
        name: Names its files.
        title: In words.
        caption: What is drawn, by which method, over how many.
        panels: One or more.
        notes: Where a rate is undefined, or a zero was floored, and the like.
    """

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()

    def rows(self) -> list[Json]:
        """All values, a row each, with their intervals, methods and counts."""
        return [row for panel in self.panels for row in panel_rows(panel)]


@dataclass(frozen=True)
class NotEnoughData:
    """A figure that the study has not what it takes for."""

    title: str
    needs: str


def panel_rows(panel: Panel) -> list[Json]:
    """The values of a panel, a row each; all panels of a kind have the same columns."""
    if isinstance(panel, Lines):
        return [
            {"panel": panel.title, "series": series.label, panel.x_title: tick, **ratio_columns(value)}
            for series in panel.series
            for tick, value in zip(panel.ticks, series.values, strict=True)
        ]
    if isinstance(panel, Scatter):
        return _scatter_rows(panel)
    if isinstance(panel, Changes):
        return [
            {"panel": panel.title, "series": change.label, **difference_columns(change.difference)}
            for change in panel.changes
        ]
    return [
        {"panel": panel.title, "series": row.label, "step": number, "mark": mark, "stale_score": stale}
        for row in panel.rows
        for number, (mark, stale) in enumerate(zip(row.marks, row.stale, strict=True), 1)
    ]


def ratio_columns(ratio: Ratio | None) -> Json:
    """A ratio with what it is made of, as columns of a table."""
    if ratio is None:
        ratio = Ratio(None, 0, 0, None, "no episodes", 0)
    low, high = ratio.interval or (None, None)
    return {
        "value": ratio.value,
        "low": low,
        "high": high,
        "numerator": ratio.numerator,
        "denominator": ratio.denominator,
        "method": ratio.method,
        "n": ratio.n,
    }


def difference_columns(difference: Difference) -> Json:
    """A difference, as columns of a table."""
    told = difference.to_json()
    low, high = difference.interval or (None, None)
    return {"value": difference.value, "low": low, "high": high, "method": told["method"], "n": difference.n}


def undefined_notes(name: str, labelled: Sequence[tuple[str, Ratio | None]]) -> list[str]:
    """Says which rates of a kind are undefined, if any are."""
    undefined = [label for label, ratio in labelled if ratio is not None and ratio.value is None]
    if not undefined:
        return []
    return [f"The {name} is undefined (not one decision was eligible for it) for: {'; '.join(undefined)}."]


def _scatter_rows(panel: Scatter) -> list[Json]:
    floors = {point.name: point for point in panel.regression.all.points}
    rows: list[Json] = []
    for dot in panel.dots:
        placed = floors.get(dot.key)
        rows.append(
            {
                "panel": panel.title,
                "series": dot.label,
                "key": dot.key,
                "log10_error": None if placed is None else placed.log10_error,
                "floored": None if placed is None else placed.floored,
                **{f"error_{name}": value for name, value in ratio_columns(dot.error).items()},
                **{f"success_{name}": value for name, value in ratio_columns(dot.success).items()},
                **{
                    f"fit_{which}_{name}": getattr(fit, name)
                    for which, fit in (("with_errors", panel.regression.with_errors), ("all", panel.regression.all))
                    for name in ("slope", "intercept", "r2", "n", "floored", "floor")
                },
            }
        )
    return rows
