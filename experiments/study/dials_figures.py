"""The figures of the study of the dials: pure functions of its file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from experiments.study.dials import DIALS, Cell, DialsFile, cell
from experiments.study.rows import KINDS
from oresight.harness.report.plots import drawing_style, legend_dot, saved, sheet
from oresight.harness.worlds.base import LEVELS
from oresight.scoring.statistics import Figure as Ratio

if TYPE_CHECKING:
    from oresight.harness.report.plots import Axes, Figure

_COLOURS = ("#c0392b", "#d99a2b", "#2a86b8", "#3fae6a", "#8e44ad", "#20262f")
_READINGS = {"lenient": "solid", "strict": "dashed"}
_SPREAD = 0.07


def draw_figures(file: DialsFile) -> dict[str, bytes]:
    """Draws both figures.

    Returns:
        File names, each as .svg and .png, with their content.

    Raises:
        MissingPartError: matplotlib cannot be imported.
    """
    files: dict[str, bytes] = {}
    with drawing_style():
        for name, draw in {"dials-errors": _errors, "dials-success": _success}.items():
            figure = draw(file)
            files[f"{name}.svg"] = saved(figure, "svg")
            files[f"{name}.png"] = saved(figure, "png")
    return files


def _errors(file: DialsFile) -> "Figure":
    figure, axes = sheet(2, 10.4, 7.6, rows=2)
    for number, place in enumerate(axes):
        kind, dial = KINDS[number // 2], DIALS[number % 2]
        for reading, line in _READINGS.items():
            # In the strict reading only what is a gain without a known ore differs.
            if reading == "lenient" or kind == "exploration":
                _lines(place, file, dial, _error_of(kind, reading), line)
        _dress(place, dial, f"{kind} error")
    _legend(figure, file)
    figure.suptitle(
        "Errors against demands: solid lenient, dashed strict where it differs; bars are intervals of 95 %",
        x=0.01,
        ha="left",
        fontsize=12,
    )
    return figure


def _success(file: DialsFile) -> "Figure":
    figure, axes = sheet(2, 10.4, 7.6, rows=2)
    for number, place in enumerate(axes):
        dial = DIALS[number % 2]
        if number < 2:
            _lines(place, file, dial, lambda found: found.success, "solid")
        else:
            _lines(place, file, dial, _budget_used, "solid")
        _dress(place, dial, "success rate" if number < 2 else "budget used, mean")
        place.set_ylim(0, 1.05)
    _legend(figure, file)
    figure.suptitle(
        "Success and budget used against demands (bars are intervals of 95 %)", x=0.01, ha="left", fontsize=12
    )
    return figure


def _error_of(kind: str, reading: str) -> Callable[[Cell], Ratio]:
    return lambda found: found.errors[kind, reading]


def _budget_used(found: Cell) -> Ratio:
    return Ratio(found.budget_used, 0, 0, None, "mean", found.success.n)


def _lines(place: "Axes", file: DialsFile, dial: str, take: Callable[[Cell], Ratio], style: str) -> None:
    for number, (player, colour) in enumerate(zip(file.players, _COLOURS, strict=False)):
        shown = [
            (at + _SPREAD * (number - (len(file.players) - 1) / 2), ratio.value, ratio.interval or (ratio.value,) * 2)
            for at, level in enumerate(LEVELS)
            if (ratio := take(cell(file.rows(player, dial, level)))).value is not None
        ]
        place.errorbar(
            [at for at, _, _ in shown],
            [value for _, value, _ in shown],
            yerr=[
                [max(0.0, value - interval[0]) for _, value, interval in shown],
                [max(0.0, interval[1] - value) for _, value, interval in shown],
            ],
            color=colour,
            linestyle=style,
            linewidth=1.6,
            marker="o" if style == "solid" else "",
            markersize=4.5,
            elinewidth=1.0,
            capsize=2,
        )


def _dress(place: "Axes", dial: str, name: str) -> None:
    place.set_xticks(range(len(LEVELS)), LEVELS)
    place.set_xlim(-0.3, len(LEVELS) - 0.7)
    place.set_ylim(bottom=0)
    place.set_xlabel(f"{dial} demand")
    place.set_ylabel(name)


def _legend(figure: "Figure", file: DialsFile) -> None:
    dots = [legend_dot(colour, 7, player) for player, colour in zip(file.players, _COLOURS, strict=False)]
    figure.legend(handles=dots, loc="outside lower center", ncols=len(dots))
