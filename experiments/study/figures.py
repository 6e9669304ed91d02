"""The study's figures, as SVG and PNG: pure functions of what was measured.

The same figures come out as the same files; `harness.report.plots` sees to that.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from experiments.study.family import FAMILY, NOISES, WINDOWS
from experiments.study.measure import Sample, Study
from experiments.study.rows import KINDS, AgentRow
from experiments.study.trends import SHOWN, Level
from oresight.harness.protocols import Pixels
from oresight.harness.report.plots import FAINT as _FAINT
from oresight.harness.report.plots import INK as _INK
from oresight.harness.report.plots import drawing_style, legend_dot, saved, sheet
from oresight.scoring.regression import Fit
from oresight.scoring.statistics import Figure as Ratio

if TYPE_CHECKING:
    from oresight.harness.report.plots import Axes, Figure

_NOISE_COLOURS = ("#12457c", "#2a86b8", "#6bb7a8", "#d99a2b")
_OTHER_COLOURS = {"frontier": "#111111", "depth-first": "#8e44ad", "random": "#c0392b"}
_AGENT_COLOURS = dict(zip(SHOWN, ("#c0392b", "#2a86b8", "#3fae6a", "#8e44ad"), strict=True))
_FAMILY_COLOUR = "#111111"


def draw_figures(study: Study, maps: Sequence[Pixels] = ()) -> dict[str, bytes]:
    """Draws every figure.

    Args:
        study: What was measured.
        maps: Pictures of the example's two episodes, explorer first.

    Returns:
        File names, each as .svg and .png, with their content.

    Raises:
        MissingPartError: matplotlib cannot be imported.
    """
    drawings: dict[str, Callable[[], Figure]] = {
        "success-main": lambda: _success(study.main),
        "success-seeds": lambda: _success(study.many),
        "dials": lambda: _dials(study.many),
        "demands": lambda: _demands(study),
    }
    if study.pair is not None:
        drawings["pair"] = lambda: _pair(study)
    if maps and study.example is not None:
        drawings["example"] = lambda: _example(study, maps)
    files: dict[str, bytes] = {}
    with drawing_style():
        for name, draw in drawings.items():
            figure = draw()
            files[f"{name}.svg"] = saved(figure, "svg")
            files[f"{name}.png"] = saved(figure, "png")
    return files


# --- success against the logarithm of each error ---------------------------------------------------------------------


def _success(sample: Sample) -> "Figure":
    figure, axes = sheet(2, 10.4, 5.0)
    for place, kind in zip(axes, KINDS, strict=True):
        regression = sample.fits[kind]
        for point in regression.all.points:
            colour, size = _look(point.name)
            place.scatter(
                10**point.log10_error,
                point.success,
                s=size,
                facecolors="none" if point.floored else colour,
                edgecolors=colour if point.floored else "white",
                linewidths=1.6 if point.floored else 0.6,
                zorder=3,
            )
        _line(place, regression.with_errors, "solid")
        _line(place, regression.all, (0, (4, 3)))
        place.set_xscale("log")
        # Powers of ten would be set as formulas; see `text.parse_math`.
        place.xaxis.set_major_formatter(lambda value, position: f"{value:g}")
        place.set_ylim(-0.04, 1.06)
        place.set_xlabel(f"{kind} error (log scale)")
        place.set_title(_fit_words(regression.with_errors, regression.all), loc="left", fontsize=9)
    axes[0].set_ylabel("success rate")
    figure.suptitle(
        f"Success against each error: {sample.scenarios} maps an agent ({sample.name})", x=0.01, ha="left", fontsize=12
    )
    _success_legend(figure)
    return figure


def _look(agent: str) -> tuple[str, float]:
    """Colour and size of an agent's point: by noise and by window."""
    if agent in _OTHER_COLOURS:
        return _OTHER_COLOURS[agent], 70.0
    window, noise = divmod(FAMILY.index(agent), len(NOISES))
    return _NOISE_COLOURS[noise], 18.0 + 17.0 * window


def _line(place: "Axes", fit: Fit, style: Any) -> None:
    if fit.slope is None or fit.intercept is None:
        return
    ends = [min(point.log10_error for point in fit.points), max(point.log10_error for point in fit.points)]
    heights = [fit.intercept + fit.slope * end for end in ends]
    place.plot([10**end for end in ends], heights, color=_FAINT, linewidth=1.4, linestyle=style, zorder=2)


def _fit_words(with_errors: Fit, everyone: Fit) -> str:
    def words(fit: Fit) -> str:
        return "undefined" if fit.r2 is None or fit.slope is None else f"R² {fit.r2:.2f}, slope {fit.slope:.2f}"

    return (
        f"solid: with an error, {words(with_errors)}, n = {with_errors.n}\n"
        f"dashed: all, {words(everyone)}, n = {everyone.n}, {everyone.floored} floored (hollow)"
    )


def _success_legend(figure: "Figure") -> None:
    noises = [legend_dot(colour, 7, f"noise {noise:g}") for noise, colour in zip(NOISES, _NOISE_COLOURS, strict=True)]
    windows = [
        legend_dot(_FAINT, (18.0 + 17.0 * place) ** 0.5, f"window {window}")
        for place, window in enumerate(WINDOWS)
        if window in (0, 4, 32)
    ]
    others = [legend_dot(colour, 8, name) for name, colour in _OTHER_COLOURS.items()]
    figure.legend(
        handles=[*noises, *windows, *others], loc="outside lower center", ncols=10, fontsize=8.5, columnspacing=1
    )


# --- the dials -------------------------------------------------------------------------------------------------------


def _dials(sample: Sample) -> "Figure":
    figure, axes = sheet(3, 11.4, 4.2)
    takes: dict[str, Callable[[AgentRow], Ratio]] = {
        "success rate": lambda row: row.pooled.success,
        "exploration error": lambda row: row.error("exploration"),
        "exploitation error": lambda row: row.error("exploitation"),
    }
    for place, (title, take) in zip(axes, takes.items(), strict=True):
        for number, (noise, colour) in enumerate(zip(NOISES, _NOISE_COLOURS, strict=True)):
            rows = [sample.row(FAMILY[window * len(NOISES) + number]) for window in range(len(WINDOWS))]
            shift = 0.08 * (number - 1.5)
            _bars(place, [window + shift for window in range(len(WINDOWS))], [take(row) for row in rows], colour)
            place.plot([], [], color=colour, marker="o", label=f"noise {noise:g}")
        place.set_xticks(range(len(WINDOWS)), [str(window) for window in WINDOWS])
        place.set_xlabel("window: turns remembered")
        place.set_title(title, loc="left")
        place.set_ylim(bottom=0)
    axes[0].legend(loc="upper left")
    figure.suptitle(
        f"What the two dials do ({sample.name}; bars are intervals of 95 %)", x=0.01, ha="left", fontsize=12
    )
    return figure


def _bars(place: "Axes", x: Sequence[float], ratios: Sequence[Ratio], colour: str, **style: object) -> None:
    """A line through ratios with their intervals; undefined ones are left out."""
    shown = [(at, ratio.value, ratio.interval) for at, ratio in zip(x, ratios, strict=True) if ratio.value is not None]
    values = [value for _, value, _ in shown]
    below = [max(0.0, value - interval[0]) if interval else 0.0 for _, value, interval in shown]
    above = [max(0.0, interval[1] - value) if interval else 0.0 for _, value, interval in shown]
    look = {"linewidth": 1.5, "marker": "o", "markersize": 4.5, "elinewidth": 1.0, "capsize": 2, **style}
    place.errorbar([at for at, _, _ in shown], values, yerr=[below, above], color=colour, **look)  # type: ignore[arg-type]  # plain style words


# --- demands and sizes -----------------------------------------------------------------------------------------------


def _demands(study: Study) -> "Figure":
    figure, axes = sheet(2, 10.4, 7.4, rows=2)
    for row, trend in enumerate((study.demand, study.size)):
        for column, kind in enumerate(KINDS):
            place = axes[2 * row + column]
            levels = trend.levels(kind)
            for number, (agent, colour) in enumerate(_AGENT_COLOURS.items()):
                _trend_line(place, trend.levels(kind, agent), kind, colour, 0.05 * (number - 1.5), label=agent)
            _trend_line(place, levels, kind, _FAMILY_COLOUR, 0.0, label="the whole family", linewidth=2.6)
            # A level is named by the demand on the kind of the panel.
            names = ("low", "medium", "high") if row == 0 else tuple(level.name for level in levels)
            place.set_xticks(range(len(names)), names)
            place.set_xlim(-0.3, len(names) - 0.7)
            place.set_xlabel(f"demand on {kind}" if row == 0 else "size of the task DAG")
            place.set_ylabel(f"{kind} error")
            place.set_ylim(bottom=0)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    figure.suptitle(
        f"Errors against demand and size ({study.many.name}; bars are intervals of 95 % over maps)",
        x=0.01,
        ha="left",
        fontsize=12,
    )
    return figure


def _trend_line(place: "Axes", levels: Sequence[Level], kind: str, colour: str, shift: float, **style: object) -> None:
    x = [number + shift for number in range(len(levels))]
    _bars(place, x, [level.errors[kind] for level in levels], colour, **style)


# --- the pair and the example ----------------------------------------------------------------------------------------


def _pair(study: Study) -> "Figure":
    assert study.pair is not None
    figure, (place,) = sheet(1, 7.4, 4.0)
    names = ("success rate", "exploration error", "exploitation error")
    for number, (row, colour) in enumerate(zip(study.pair.rows, ("#8e44ad", "#d99a2b"), strict=True)):
        ratios = (row.pooled.success, row.error("exploration"), row.error("exploitation"))
        x = [at + 0.36 * (number - 0.5) for at in range(3)]
        place.bar(x, [ratio.value or 0.0 for ratio in ratios], width=0.34, color=colour, label=row.agent)
        _bars(place, x, ratios, _INK, linewidth=0, marker="")
    place.set_xticks(range(3), names)
    place.set_ylim(0, 1)
    place.legend()
    place.set_title("Two agents of equal success (odd seeds; intervals of 95 %)", loc="left")
    return figure


def _example(study: Study, maps: Sequence[Pixels]) -> "Figure":
    assert study.example is not None
    height, width = maps[0].shape[:2]
    figure, axes = sheet(2, 13.0, 0.9 + 6.4 * height / width)
    example = study.example
    for place, agent, summary, pixels in zip(
        axes, (example.explorer, example.exploiter), example.summaries, maps, strict=True
    ):
        tally = summary.tally
        place.imshow(pixels, interpolation="antialiased")
        place.axis("off")
        place.set_title(
            f"{agent}: solved in {summary.steps_taken} of {summary.budget} moves\n"
            f"exploration error {tally.explore_errors}/{tally.explore_eligible},"
            f" exploitation error {tally.exploit_errors}/{tally.exploit_eligible}",
            loc="left",
            fontsize=10,
        )
    figure.suptitle(f"Both solve {example.scenario}, with opposite errors", x=0.01, ha="left", fontsize=12)
    return figure
