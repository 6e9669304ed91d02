"""The study's page: turns figures and rows into what its template shows. Counts nothing and draws no figures."""

import re
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup, escape

from oresight.harness.analysis.compare import Column, Difference
from oresight.harness.files import write_atomically
from oresight.harness.protocols import Json
from oresight.harness.report.figures import COLOURS
from oresight.harness.report.html import render
from oresight.harness.report.index_episodes import episode_values, money, outcome_of, rows_data
from oresight.harness.report.index_figures import Files, exhibit_values
from oresight.harness.report.measures import Mean, errors
from oresight.harness.report.panels import Absent, Exhibit
from oresight.harness.report.study import USUAL, ConditionFigures, WorldStudy
from oresight.harness.text import visible
from oresight.harness.wording import readings
from oresight.harness.worlds import own_version
from oresight.scoring.statistics import Figure as Ratio

TITLES = {"craft": "The 3D world", "grid": "The grid"}
# More scenarios than this are not offered one by one.
SCENARIOS_MOST = 400
_DECIMALS = 4
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


def _world(study: WorldStudy, files: Files) -> Json:
    counts = [row.condition.counts for row in study.rows]
    planned, scored = sum(each.planned for each in counts), sum(each.scored for each in counts)
    return {
        "kind": study.kind,
        "title": TITLES.get(study.kind, visible(study.kind)),
        "planned": planned,
        "scored": scored,
        "succeeded": sum(each.succeeded for each in counts),
        "failed": sum(each.failed for each in counts),
        "infrastructure": sum(each.infrastructure for each in counts),
        "incomplete": sum(each.incomplete for each in counts),
        "unreadable": sum(each.unreadable for each in counts),
        "missing": sum(each.missing for each in counts),
        "complete": scored == planned,
        "readings": readings(study.kind),
        "rows": [_condition(study.kind, row) for row in study.rows],
        "differences": _differences(study),
        "exhibits": [exhibit_values(study.kind, each, files) for each in study.exhibits if isinstance(each, Exhibit)],
        "absent": [each for each in study.exhibits if isinstance(each, Absent)],
        "notes": [visible(note, 600) for note in study.notes],
        "episodes": [
            episode_values(study.kind, row, episode) for row in study.rows for episode in row.condition.episodes
        ],
        "costs": any(row.usage is not None for row in study.rows),
        "scenarios": _scenarios(study),
        "outcomes": sorted({outcome_of(each) for row in study.rows for each in row.condition.episodes}),
    }


# --- the table of conditions -----------------------------------------------------------------------------------------


def _condition(kind: str, row: ConditionFigures) -> Json:
    counts = row.condition.counts
    pooled, usage = row.pooled, row.usage
    return {
        "key": row.condition.key,
        "label": row.condition.label,
        "wrapped": _wrapped(row.condition.label),
        "colour": row.colour % len(COLOURS),
        "counts": counts,
        "success": _ratio(pooled.success),
        "errors": {
            error: [
                {"reading": measure.reading, **_ratio(getattr(getattr(pooled, measure.reading), error))}
                for measure in errors(kind)
                if measure.error == error
            ]
            for error in ("exploration", "exploitation")
        },
        "used": _mean(row.used),
        "used_success": _mean(row.used_success),
        "scored_decisions": pooled.scored_decisions,
        "decisions": pooled.decisions,
        "cost": money(None if usage is None else usage["cost"]),
        "tokens": None if usage is None else (usage["input_tokens"], usage["output_tokens"]),
    }


def _wrapped(label: str) -> Markup:
    """A label that may be broken where its parts end; they hold no blanks."""
    return Markup(_ENDS.sub(r"\1<wbr>", str(escape(label))))


def _ratio(ratio: Ratio) -> Json:
    """A ratio in words, and the numbers of its small drawing in hundredths."""
    interval = ratio.interval
    return {
        "value": "–" if ratio.value is None else f"{ratio.value:.2f}",
        "undefined": ratio.value is None,
        "counts": f"{ratio.numerator}/{ratio.denominator}",
        "interval": "" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}",
        "method": ratio.method,
        "n": ratio.n,
        "at": None if ratio.value is None else round(100 * ratio.value, 1),
        "low": None if interval is None else round(100 * interval[0], 1),
        "width": None if interval is None else round(max(1.0, 100 * (interval[1] - interval[0])), 1),
    }


def _mean(mean: Mean) -> Json:
    interval = mean.interval
    return {
        "value": "–" if mean.value is None else f"{mean.value:.0%}",
        "interval": "" if interval is None else f"{interval[0]:.0%} to {interval[1]:.0%}",
        "method": mean.method,
        "n": mean.n,
    }


def _differences(study: WorldStudy) -> Json | None:
    if study.comparison is None:
        return None
    _, *others = study.comparison.columns
    names = list(others[0].differences)
    return {
        "first": study.compared[0].named,
        "n": len(study.comparison.shared),
        "method": others[0].differences[names[0]].to_json()["method"],
        "names": [name.replace("_", " ") for name in names] if study.kind == "craft" else _plain(names),
        "rows": [
            {
                "key": row.condition.key,
                "label": row.condition.label,
                "wrapped": _wrapped(row.condition.label),
                "colour": row.colour % len(COLOURS),
                "cells": [_difference(name, _of(column, name)) for name in names],
            }
            for row, column in zip(study.compared[1:], others, strict=True)
        ],
    }


def _plain(names: Sequence[str]) -> list[str]:
    """Names of measures in a world with one reading, which needs no name."""
    return [name.removesuffix("_lenient").replace("_", " ") for name in names]


def _of(column: Column, name: str) -> Difference | None:
    return column.differences.get(name)


def _difference(name: str, difference: Difference | None) -> Json:
    if difference is None or difference.value is None:
        return {"value": "–", "interval": "", "apart": False}
    digits = 1 if name == "decisions_used" else _DECIMALS if name == "cost_per_episode" else 2
    interval = difference.interval
    return {
        "value": f"{difference.value:+.{digits}f}",
        "interval": "" if interval is None else f"{interval[0]:+.{digits}f} to {interval[1]:+.{digits}f}",
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
