"""The study's page: turns figures and rows into what its template shows. Counts nothing and draws no figures."""

import re
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup, escape

from oresight.harness.files import write_atomically
from oresight.harness.protocols import Json
from oresight.harness.report.figures import COLOURS
from oresight.harness.report.html import render
from oresight.harness.report.index_episodes import episode_columns, episode_values, money, outcome_of, rows_data
from oresight.harness.report.index_figures import Files, exhibit_values
from oresight.harness.report.panels import Exhibit, NotEnoughData
from oresight.harness.report.study import USUAL, ConditionFigures, WorldStudy
from oresight.harness.text import visible
from oresight.harness.wording import UNDEFINED
from oresight.harness.worlds import about, own_version
from oresight.scoring.measures import Measure
from oresight.scoring.pooling import shown
from oresight.scoring.statistics import PAIRED_METHOD, Difference, Figure

# More scenarios than this are not offered one by one.
SCENARIOS_MOST = 400
_ENDS = re.compile(r"([(,:/@+-])")


def write_index(
    target: Path,
    title: str,
    studies: Sequence[WorldStudy],
    files: Files,
    problems: Sequence[str],
    remarks: Sequence[str],
) -> None:
    """Writes the page.

    Args:
        target: Its file.
        title: Of the study.
        studies: One a world.
        files: What the page links to.
        problems: What is at fault with the recordings, in sentences.
        remarks: What else a reader has to know, such as pictures that are not there.

    Raises:
        OresightError: The disk refuses.
    """
    page = render(
        "index.html",
        title=title,
        worlds=[_world(study, files) for study in studies],
        problems=[visible(problem, 600) for problem in problems],
        remarks=remarks,
        tables=[{"name": name, "files": list(names)} for name, names in files.tables.items()],
        parameters={name: str(value) for name, value in USUAL.model_dump(mode="json", exclude={"recorded"}).items()},
        versions=_versions(studies),
        made_with=own_version(),
        data={study.kind: rows_data(study) for study in studies},
    )
    write_atomically(target, page.encode(), durable=False)


def _title(kind: str) -> str:
    title = about(kind).title or kind
    return visible(title[:1].upper() + title[1:])


def _world(study: WorldStudy, files: Files) -> Json:
    counts = [row.condition.counts for row in study.rows]
    columns = episode_columns(study)
    planned, scored = sum(each.planned for each in counts), sum(each.scored for each in counts)
    return {
        "kind": study.kind,
        "title": _title(study.kind),
        "planned": planned,
        "scored": scored,
        "succeeded": sum(each.succeeded for each in counts),
        "failed": sum(each.failed for each in counts),
        "infrastructure": sum(each.infrastructure for each in counts),
        "incomplete": sum(each.incomplete for each in counts),
        "unreadable": sum(each.unreadable for each in counts),
        "missing": sum(each.missing for each in counts),
        "complete": scored == planned,
        "columns": _columns(study),
        "episode_columns": [column[0].title for column in columns],
        "readings": study.shown[1],
        "rows": [_condition(study, row) for row in study.rows],
        "differences": _differences(study),
        "exhibits": [exhibit_values(study.kind, each, files) for each in study.exhibits if isinstance(each, Exhibit)],
        "absent": [each for each in study.exhibits if isinstance(each, NotEnoughData)],
        "notes": [visible(note, 600) for note in study.notes],
        "episodes": [episode_values(columns, row, episode) for row in study.rows for episode in row.condition.episodes],
        "costs": any(row.usage is not None for row in study.rows),
        "scenarios": _scenarios(study),
        "outcomes": sorted({outcome_of(each) for row in study.rows for each in row.condition.episodes}),
    }


# --- the table of conditions -----------------------------------------------------------------------------------------


def _columns(study: WorldStudy) -> dict[str, list[Measure]]:
    """The measures of the table of conditions by their titles: the readings of one stand in one column."""
    found: dict[str, list[Measure]] = {}
    for measure in study.shown[0]:
        found.setdefault(measure.title, []).append(measure)
    return found


def _condition(study: WorldStudy, row: ConditionFigures) -> Json:
    counts = row.condition.counts
    pooled, usage = row.pooled, row.usage
    return {
        "key": row.condition.key,
        "label": row.condition.label,
        "wrapped": _wrapped(row.condition.label),
        "colour": row.colour % len(COLOURS),
        "counts": counts,
        "cells": [
            [{"reading": each.reading, **_cell(each, pooled[each.name])} for each in measures]
            for measures in _columns(study).values()
        ],
        "scored_decisions": pooled.scored_decisions,
        "decisions": pooled.decisions,
        "cost": money(None if usage is None else usage["cost"]),
        "tokens": None if usage is None else (usage["input_tokens"], usage["output_tokens"]),
    }


def _wrapped(label: str) -> Markup:
    """A label that may be broken where its parts end; they hold no blanks."""
    return Markup(_ENDS.sub(r"\1<wbr>", str(escape(label))))


def _cell(measure: Measure, figure: Figure) -> Json:
    """A figure in words; of a ratio of counts also the numbers of its small drawing, in hundredths."""
    interval, words = figure.interval, measure.unit.words
    drawn = measure.unit.counted and figure.value is not None
    return {
        "value": UNDEFINED if figure.value is None else words(figure.value),
        "counts": f"{figure.numerator:g}/{figure.denominator:g}" if measure.unit.counted else "",
        "interval": "" if interval is None else " to ".join(map(words, interval)),
        "method": figure.method,
        "n": figure.n,
        "at": round(100 * figure.value, 1) if drawn and figure.value is not None else None,
        "low": round(100 * interval[0], 1) if drawn and interval is not None else None,
        "width": round(max(1.0, 100 * (interval[1] - interval[0])), 1) if drawn and interval is not None else None,
    }


def _differences(study: WorldStudy) -> Json | None:
    if study.comparison is None:
        return None
    _, *others = study.comparison.columns
    measures, readings = shown(column.pooled for column in study.comparison.columns)
    return {
        "first": study.compared[0].named,
        "n": len(study.comparison.shared),
        "method": PAIRED_METHOD,
        "names": [measure.titled(readings) for measure in measures],
        "rows": [
            {
                "key": row.condition.key,
                "label": row.condition.label,
                "wrapped": _wrapped(row.condition.label),
                "colour": row.colour % len(COLOURS),
                "cells": [_difference(measure, column.differences.get(measure.name)) for measure in measures],
            }
            for row, column in zip(study.compared[1:], others, strict=True)
        ],
    }


def _difference(measure: Measure, difference: Difference | None) -> Json:
    if difference is None or difference.value is None:
        return {"value": UNDEFINED, "interval": "", "apart": False}
    interval = difference.interval
    return {
        "value": measure.unit.words(difference.value, signed=True),
        "interval": "" if interval is None else " to ".join(measure.unit.words(end, signed=True) for end in interval),
        # An interval that leaves out zero.
        "apart": interval is not None and not interval[0] <= 0 <= interval[1],
    }


def _scenarios(study: WorldStudy) -> list[str]:
    names = dict.fromkeys(each.name for row in study.rows for each in row.condition.episodes)
    return list(names) if len(names) <= SCENARIOS_MOST else []


def _versions(studies: Sequence[WorldStudy]) -> list[str]:
    """What the recordings were made with, each once."""
    told = [
        ", ".join(f"{name} {version}" for name, version in sorted(row.condition.side.summary.run.versions.items()))
        for study in studies
        for row in study.rows
    ]
    return [visible(each, 200) for each in dict.fromkeys(told)]
