"""Draws the figures of a report: one small picture a panel, as SVG for light and for dark pages and as PNG.

Pure functions of what `exhibits` holds. A panel is narrow enough to be read on a telephone; pages set several beside
each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oresight.harness.report.conditions import BOTH_ERROR, EXPLOIT_ERROR, EXPLORE_ERROR, PROGRESS
from oresight.harness.report.panels import ALL, Changes, Dot, Lines, Panel, Scatter, Series, Timeline, Timelines
from oresight.harness.report.plots import FAINT, GRID, INK, drawing_style, legend_dot, saved, sheet
from oresight.harness.text import visible
from oresight.scoring.regression import Fit
from oresight.scoring.statistics import Figure as Ratio

if TYPE_CHECKING:
    from oresight.harness.report.plots import Axes, Figure

# A condition's colour, on light and on dark paper; those of the page's tables are the same.
COLOURS = (
    ("#1d5f8a", "#7fbce6"),
    ("#c96a00", "#f0993e"),
    ("#0f7b6c", "#4cc2ae"),
    ("#7d3c98", "#c08ae0"),
    ("#b3261e", "#ff7b72"),
    ("#6b6f1d", "#c3c75a"),
    ("#8a5a3b", "#d3a27f"),
    ("#3d4a9e", "#9aa6f0"),
)
_SHAPES = "osD^vP*X"
_PAPER = "#ffffff"
_DARK = {
    **dict(COLOURS),
    INK: "#e6e4df",
    FAINT: "#8f979f",
    GRID: "#333a42",
    _PAPER: "#1c2025",
}
# How a decision is drawn above an episode's line: colour and shape, and what it is called.
_MARKS = {
    EXPLORE_ERROR: (COLOURS[1][0], "^", "exploration error"),
    EXPLOIT_ERROR: (COLOURS[3][0], "v", "exploitation error"),
    BOTH_ERROR: (COLOURS[4][0], "D", "error of both"),
    PROGRESS: (COLOURS[2][0], "o", "progress"),
}
_WIDTH, _HEIGHT = 4.6, 2.9
_LEGEND_ROW = 0.2
_LABEL_CHARACTERS = 46
# Two columns of a legend have room for labels of this length.
_SHORT = 24
_NAMED_MOST = 12
_TICKS_MOST = 6


@dataclass(frozen=True)
class Picture:
    """A panel's files."""

    light: bytes
    dark: bytes
    png: bytes


def draw_panel(panel: Panel) -> Picture:
    """Draws a panel.

    Raises:
        MissingPartError: matplotlib cannot be imported.
    """
    with drawing_style():
        figure = _drawn(panel)
        light = saved(figure, "svg", background="none")
        # Laid out once, for all files.
        figure.set_layout_engine("none")
        return Picture(light, darkened(light), saved(figure, "png", background="white", dpi=160))


def darkened(svg: bytes) -> bytes:
    """The same drawing for dark paper: every colour that is used here has its twin."""
    text = svg.decode()
    for light, dark in _DARK.items():
        text = text.replace(light, dark)
    return text.encode()


def colour_of(number: int) -> str:
    """The colour of a condition, or of what is none."""
    return INK if number == ALL else COLOURS[number % len(COLOURS)][0]


def _drawn(panel: Panel) -> "Figure":
    if isinstance(panel, Lines):
        return _lines(panel)
    if isinstance(panel, Scatter):
        return _scatter(panel)
    if isinstance(panel, Changes):
        return _changes(panel)
    return _timelines(panel)


def _short(text: str, limit: int = _LABEL_CHARACTERS) -> str:
    return visible(text, limit)


def _panel_sheet(labels: Sequence[str], height: float = _HEIGHT) -> "tuple[Figure, Axes, int]":
    """A sheet with room for a legend; also in how many columns the legend is to stand."""
    columns = 2 if labels and max(map(len, labels)) <= _SHORT else 1
    rows = -(-len(labels) // columns)
    figure, (place,) = sheet(1, _WIDTH, height + _LEGEND_ROW * rows)
    return figure, place, columns


def _legend(figure: "Figure", place: "Axes", columns: int, rows: int) -> None:
    handles, labels = place.get_legend_handles_labels()
    if handles and rows:
        figure.legend(handles, labels, loc="outside lower left", ncols=columns, fontsize=8.5, handlelength=1.6)


def _bars(ratio: Ratio) -> tuple[float, float]:
    """How far the interval reaches below and above the value."""
    if ratio.value is None or ratio.interval is None:
        return 0.0, 0.0
    return max(0.0, ratio.value - ratio.interval[0]), max(0.0, ratio.interval[1] - ratio.value)


# --- lines -----------------------------------------------------------------------------------------------------------


def _lines(panel: Lines) -> "Figure":
    labels = [_short(series.label) for series in panel.series]
    figure, place, columns = _panel_sheet(labels)
    middle = (len(panel.series) - 1) / 2
    step = min(0.14, 0.6 / max(1, len(panel.series)))
    for number, (series, label) in enumerate(zip(panel.series, labels, strict=True)):
        _series(place, series, label, step * (number - middle), panel.joined)
    place.set_xticks(range(len(panel.ticks)), [_short(tick, 16) for tick in panel.ticks])
    place.set_xlim(-0.5, len(panel.ticks) - 0.5)
    place.set_ylim(bottom=0)
    low, high = place.get_ylim()
    place.set_ylim(low, min(high, 1.04))
    place.set_xlabel(panel.x_title)
    place.set_title(panel.title, loc="left")
    _legend(figure, place, columns, len(labels))
    return figure


def _series(place: "Axes", series: Series, label: str, shift: float, joined: bool) -> None:
    shown = [
        (tick + shift, ratio.value, _bars(ratio))
        for tick, ratio in enumerate(series.values)
        if ratio is not None and ratio.value is not None
    ]
    colour = colour_of(series.colour)
    place.errorbar(
        [x for x, _, _ in shown],
        [value for _, value, _ in shown],
        yerr=[[below for _, _, (below, _) in shown], [above for _, _, (_, above) in shown]],
        color=colour,
        marker="o" if series.colour == ALL else _SHAPES[series.colour % len(_SHAPES)],
        markersize=5.5,
        markerfacecolor=_PAPER if series.hollow else colour,
        markeredgecolor=colour,
        linewidth=(2.2 if series.colour == ALL else 1.5) if joined else 0,
        elinewidth=1.0,
        label=label,
    )


# --- success against an error ----------------------------------------------------------------------------------------


def _scatter(panel: Scatter) -> "Figure":
    named = panel.dots if len(panel.dots) <= _NAMED_MOST else ()
    fits = _fit_words(panel)
    figure, place, columns = _panel_sheet([_short(dot.label) for dot in named], _HEIGHT + 0.35)
    floor = panel.regression.all.floor
    places = {point.name: point for point in panel.regression.all.points}
    for dot in panel.dots:
        if dot.key in places:
            _dot(place, dot, 10 ** places[dot.key].log10_error, places[dot.key].floored)
    for dot in named:
        place.plot([], [], linestyle="", marker=_shape(dot), color=colour_of(dot.colour), label=_short(dot.label))
    _fitted(place, panel.regression.with_errors, "solid")
    _fitted(place, panel.regression.all, (0, (4, 3)))
    place.set_xscale("log")
    low, high = _reach(panel)
    place.set_xlim(low, high)
    place.minorticks_off()
    ticks = _log_ticks(low, high)
    # Powers of ten would be set as formulas, which the style switches off.
    place.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    place.set_ylim(-0.06, 1.1)
    place.set_xlabel(f"{panel.x_title}{'' if floor is None else f'; hollow: no error, at {floor:.2g}'}")
    place.set_ylabel("success rate")
    place.set_title(fits, loc="left", fontsize=8.5)
    _legend(figure, place, columns, len(named))
    return figure


def _reach(panel: Scatter) -> tuple[float, float]:
    """From where to where the axis goes, so that points and intervals are on it."""
    places = [10**point.log10_error for point in panel.regression.all.points]
    ends = [end for dot in panel.dots if dot.error.numerator for end in dot.error.interval or ()]
    # An interval may reach down to 0, which a logarithmic axis never does.
    low = min([*places, *(end for end in ends if end > min(places) / 10)])
    return low / 1.6, min(1.25, max([*places, *ends]) * 1.6)


def _log_ticks(low: float, high: float) -> list[float]:
    """Round values between two ends, as many as can be told apart."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1,)):
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) <= _TICKS_MOST:
            break
    return shown


def _shape(dot: Dot) -> str:
    return _SHAPES[dot.colour % len(_SHAPES)]


def _dot(place: "Axes", dot: Dot, x: float, floored: bool) -> None:
    assert dot.success.value is not None
    colour = colour_of(dot.colour)
    sideways = None if floored or dot.error.value is None else [[each] for each in _bars(dot.error)]
    place.errorbar(
        [x],
        [dot.success.value],
        xerr=sideways,
        yerr=[[each] for each in _bars(dot.success)],
        color=colour,
        marker=_shape(dot),
        markersize=7,
        markerfacecolor=_PAPER if floored else colour,
        markeredgecolor=colour,
        elinewidth=0.8,
        zorder=3,
    )
    place.annotate(
        dot.key, (x, dot.success.value), xytext=(6, 5), textcoords="offset points", fontsize=9, color=INK, zorder=4
    )


def _fitted(place: "Axes", fit: Fit, style: Any) -> None:
    if fit.slope is None or fit.intercept is None:
        return
    ends = [min(point.log10_error for point in fit.points), max(point.log10_error for point in fit.points)]
    heights = [fit.intercept + fit.slope * end for end in ends]
    place.plot([10**end for end in ends], heights, color=FAINT, linewidth=1.4, linestyle=style, zorder=2)


def _fit_words(panel: Scatter) -> str:
    def words(fit: Fit) -> str:
        if fit.slope is None:
            return "no line"
        told = "R² undefined" if fit.r2 is None else f"R² {fit.r2:.2f}"
        return f"{told}, slope {fit.slope:.2f}"

    some, everyone = panel.regression.with_errors, panel.regression.all
    return (
        f"{panel.title}\nsolid: with an error, {words(some)}, n = {some.n}\n"
        f"dashed: all, {words(everyone)}, n = {everyone.n}, {everyone.floored} floored"
    )


# --- changes and episodes --------------------------------------------------------------------------------------------


def _changes(panel: Changes) -> "Figure":
    figure, (place,) = sheet(1, _WIDTH, 1.1 + 0.55 * len(panel.changes))
    for number, change in enumerate(panel.changes):
        row = len(panel.changes) - 1 - number
        # The label stands above its dot, where long ones have room.
        place.annotate(
            _short(change.label, 60), (0.0, row + 0.22), xycoords=("axes fraction", "data"), fontsize=8.5, color=INK
        )
        value, interval = change.difference.value, change.difference.interval
        if value is None:
            continue
        ends = interval or (value, value)
        place.plot(ends, [row, row], color=colour_of(change.colour), linewidth=1.6)
        shape = _SHAPES[change.colour % len(_SHAPES)]
        place.plot([value], [row], marker=shape, color=colour_of(change.colour), markersize=6.5)
    place.axvline(0, color=FAINT, linewidth=1.2)
    place.set_yticks([])
    place.set_ylim(-0.4, len(panel.changes) - 0.3)
    place.spines["left"].set_visible(False)
    reach = 1.05 * max(abs(end) for end in place.get_xlim())
    place.set_xlim(-reach, reach)
    place.set_xlabel(panel.x_title)
    place.set_title(panel.title, loc="left")
    return figure


def _timelines(panel: Timelines) -> "Figure":
    figure, places = sheet(1, 6.6, 4.8, rows=len(panel.rows))
    steps = max(len(row.marks) for row in panel.rows)
    top = max((max(row.stale, default=0) for row in panel.rows), default=0) or 1
    for place, row in zip(places, panel.rows, strict=True):
        _timeline(place, row, top)
        place.set_xlim(0, steps + 1)
    places[-1].set_xlabel("decision")
    handles = [legend_dot(colour, 6, words, marker=shape) for colour, shape, words in _MARKS.values()]
    figure.legend(
        handles=handles, loc="outside lower left", ncols=4, fontsize=8.5, handletextpad=0.2, columnspacing=1.2
    )
    return figure


def _timeline(place: "Axes", row: Timeline, top: int) -> None:
    x = range(1, len(row.stale) + 1)
    place.fill_between(x, row.stale, step="mid", color=FAINT, alpha=0.25, linewidth=0)
    place.step(x, row.stale, where="mid", color=INK, linewidth=1.1)
    for letter, (colour, shape, _) in _MARKS.items():
        at = [number for number, mark in enumerate(row.marks, 1) if mark == letter]
        height = top * (1.22 if letter != PROGRESS else 1.48)
        place.plot(at, [height] * len(at), linestyle="", marker=shape, color=colour, markersize=4)
    place.set_ylim(0, top * 1.62)
    place.set_yticks([tick for tick in place.get_yticks() if 0 <= tick <= top and float(tick).is_integer()])
    place.set_ylabel("stale score")
    place.set_title(
        "\n".join(_short(line, 84) for line in (row.label, *row.words.splitlines())), loc="left", fontsize=8.5
    )
