"""Figures as the study's page shows them: where their files are, and the same in words for whoever cannot see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oresight.harness.protocols import Json
from oresight.harness.report.panels import Changes, Exhibit, Lines, Panel, Scatter
from oresight.harness.report.sparkline import strip_words
from oresight.harness.text import visible
from oresight.scoring.statistics import Figure as Ratio

# More rows than this are left to the files.
NUMBERS_MOST = 150
_ALT_CHARACTERS = 700


@dataclass(frozen=True)
class Files:
    """What was written beside the page.

    Attributes:
        tables: Names of tables, each with its files.
        panels: Stems of the files of each panel by its name and world.
    """

    tables: Mapping[str, Sequence[str]]
    panels: Mapping[tuple[str, str], str]


def exhibit_values(kind: str, exhibit: Exhibit, files: Files) -> Json:
    """What the template shows of a figure."""
    rows = exhibit.rows()
    name = f"{kind}-{exhibit.name}"
    return {
        "id": name,
        "title": exhibit.title,
        "caption": exhibit.caption,
        "notes": [visible(note, 800) for note in exhibit.notes],
        "panels": [{"stem": files.panels[kind, panel.name], "alt": _alt(panel)} for panel in exhibit.panels],
        "links": [
            {"words": f"{row.label}: replay", "page": row.page}
            for panel in exhibit.panels
            for row in getattr(panel, "rows", ())
            if row.page is not None
        ],
        "files": list(files.tables.get(f"figure-{name}", ())),
        "wide": exhibit.name == "episodes",
        "columns": list(rows[0]) if rows else [],
        "numbers": [[_cell(value) for value in row.values()] for row in rows] if len(rows) <= NUMBERS_MOST else None,
        "count": len(rows),
    }


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3g}"
    return visible(str(value), 200)


def _alt(panel: Panel) -> str:
    """A panel in words, for whoever cannot see it."""
    if isinstance(panel, Lines):
        told = [f"{series.label}: {', '.join(map(_said, panel.ticks, series.values))}" for series in panel.series]
        words = f"{panel.title} by {panel.x_title}. {'; '.join(told)}."
    elif isinstance(panel, Scatter):
        told = [f"{dot.key} error {_value(dot.error)}, success {_value(dot.success)}" for dot in panel.dots]
        words = f"Success against {panel.x_title}. {'; '.join(told)}."
    elif isinstance(panel, Changes):
        told = [
            f"{each.label}: {'undefined' if each.difference.value is None else f'{each.difference.value:+.2f}'}"
            for each in panel.changes
        ]
        words = f"{panel.title}. {'; '.join(told)}."
    else:
        told = [f"{row.label}: {row.words}; {strip_words(row.marks)}" for row in panel.rows]
        words = f"Two episodes of {panel.title}, decision by decision. {'. '.join(told)}."
    return visible(words, _ALT_CHARACTERS)


def _said(tick: str, ratio: Ratio | None) -> str:
    return f"{tick} {_value(ratio)}"


def _value(ratio: Ratio | None) -> str:
    return "none" if ratio is None else "undefined" if ratio.value is None else f"{ratio.value:.2f}"
