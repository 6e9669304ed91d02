"""Episodes as the study's page lists them: a row each, and what the page's script sorts and filters them by."""

from collections.abc import Iterator, Sequence

from oresight.harness.protocols import Json
from oresight.harness.report.conditions import Condition, Episode
from oresight.harness.report.figures import COLOURS
from oresight.harness.report.sparkline import strip, strip_words
from oresight.harness.report.study import ConditionFigures, WorldStudy
from oresight.harness.text import visible
from oresight.harness.wording import UNDEFINED
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.measures import MEASURES, Measure
from oresight.scoring.statistics import rate

_DECIMALS = 4


def money(cost: object) -> str:
    """US dollars, or a dash where there is no price or no model."""
    return f"${cost:,.{2 if cost >= 1 else _DECIMALS}f}" if isinstance(cost, int | float) else "–"


def episode_columns(study: WorldStudy) -> list[list[Measure]]:
    """Return the measures of the table of episodes; those of one column differ in their reading.

    Outcome, decisions and cost of an episode stand in its row in any case.
    """
    found: dict[str, list[Measure]] = {}
    for measure in study.shown[0]:
        if measure not in MEASURES or measure.reading is not None:
            found.setdefault(measure.title, []).append(measure)
    return list(found.values())


def episode_values(columns: Sequence[Sequence[Measure]], row: ConditionFigures, episode: Episode) -> Json:
    """What the template shows of an episode."""
    result, summary, told = episode.result, episode.summary, episode.told
    usage = {} if result is None or result.usage is None else result.usage
    return {
        "anchor": anchor_of(row.condition, episode.name),
        "name": episode.name,
        "page": episode.page,
        "key": row.condition.key,
        "label": row.condition.label,
        "colour": row.colour % len(COLOURS),
        "outcome": outcome_of(episode),
        "good": summary is not None and summary.success,
        "bad": result is None or not result.outcome.counts,
        "reason": "" if result is None or not result.reason else visible(result.reason, 160),
        "steps": "" if result is None else f"{result.steps} of {result.budget}",
        "measures": [[_words(measure, summary) for measure in column] for column in columns],
        "strip": [] if told is None else strip(told.marks),
        "length": 0 if told is None else len(told.marks),
        "strip_words": "" if told is None else strip_words(told.marks),
        "cost": money(usage.get("cost")),
    }


def anchor_of(condition: Condition, episode: str) -> str:
    """Names an episode's row, so that its page can lead back to it."""
    return f"{condition.key}-{episode}"


def outcome_of(episode: Episode) -> str:
    """How it ended, in short."""
    if episode.result is None:
        return "no result"
    return str(episode.result.outcome).removeprefix("failure: ")


def _words(measure: Measure, summary: EpisodeSummary | None) -> str:
    counts = None if summary is None else measure.counts(summary)
    if counts is None:
        return UNDEFINED
    if measure.unit.counted:
        return f"{counts[0]:g}/{counts[1]:g}"
    value = rate(*counts)
    return UNDEFINED if value is None else measure.unit.words(value)


def _value(measure: Measure, summary: EpisodeSummary | None) -> float | None:
    counts = None if summary is None else measure.counts(summary)
    value = None if counts is None else rate(*counts)
    return None if value is None else round(value, _DECIMALS)


def rows_data(study: WorldStudy) -> list[list[object]]:
    """What the script sorts and filters by, a row each: key, name, outcome, decisions, errors, cost, measures."""
    return list(_data(study))


def _data(study: WorldStudy) -> Iterator[list[object]]:
    columns = episode_columns(study)
    for row in study.rows:
        for episode in row.condition.episodes:
            summary, result = episode.summary, episode.result
            usage = {} if result is None or result.usage is None else result.usage
            yield [
                row.condition.key,
                episode.name,
                outcome_of(episode),
                None if result is None else result.steps,
                None if summary is None else summary.tally.error_decisions,
                cost if isinstance(cost := usage.get("cost"), int | float) else None,
                *(_value(column[0], summary) for column in columns),
            ]
