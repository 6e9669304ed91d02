"""The figures of a study in one world: each condition's, and what sets them against each other.

Pure functions of what was read. By what the episodes differ is told in `levels`, conditions against each other in
`contrasts`; this file has what belongs to all conditions together, and the order in which a reader meets it all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oresight.harness.analysis.compare import Comparison, compare
from oresight.harness.errors import UsageError
from oresight.harness.protocols import Json
from oresight.harness.report.conditions import Condition
from oresight.harness.report.contrasts import by_memory, by_prompts, two_episodes
from oresight.harness.report.levels import SHOWN_MOST, by_demand, by_kind, by_size
from oresight.harness.report.measures import Drawn, drawn, drawn_errors, named
from oresight.harness.report.panels import Dot, Exhibit, Lines, NotEnoughData, Scatter, Series, undefined_notes
from oresight.harness.text import visible
from oresight.harness.worlds import about
from oresight.scoring.measures import Measure
from oresight.scoring.parameters import Parameters
from oresight.scoring.pooling import Pool, PooledRates, pool, shown
from oresight.scoring.regression import RATES_MIN, Point, regress

ALPHAS = (1.0, 2.0, 3.0)
KS = (1, 2, 3)
USUAL = Parameters()
# The usual pair first: its decisions are the ones that are shown.
PAIRS = (
    (USUAL.alpha, USUAL.k),
    *((alpha, k) for alpha in ALPHAS for k in KS if (alpha, k) != (USUAL.alpha, USUAL.k)),
)


@dataclass(frozen=True)
class ConditionFigures:
    """What a condition came to.

    Attributes:
        condition: Who played.
        colour: Number of its colour in this world.
        pooled: Over its results.
        usage: Tokens and cost; None where no model played.
        sensitivity: Under each pair of alpha and k, over the results whose recordings were read.
    """

    condition: Condition
    colour: int
    pooled: PooledRates
    usage: Json | None
    sensitivity: dict[tuple[float, int], PooledRates]

    @property
    def named(self) -> str:
        """Its letter and its label."""
        return named(self.condition)


@dataclass(frozen=True)
class WorldStudy:
    """Everything that is said of the conditions in one world.

    Attributes:
        kind: Of the world.
        rows: A condition each.
        compared: Those of them that have a result, if there are two or more and they share an episode.
        comparison: Of these, in their order; None if there are none.
        exhibits: The figures, in order.
        notes: What a reader has to know, in sentences.
    """

    kind: str
    rows: tuple[ConditionFigures, ...]
    compared: tuple[ConditionFigures, ...]
    comparison: Comparison | None
    exhibits: tuple[Exhibit | NotEnoughData, ...]
    notes: tuple[str, ...]

    @property
    def shown(self) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
        """The measures and the readings that its tables show."""
        return shown(row.pooled for row in self.rows)


def parameters() -> tuple[Parameters, ...]:
    """What every recording is scored under, in the order of `PAIRS`."""
    return tuple(USUAL.model_copy(update={"alpha": alpha, "k": k}) for alpha, k in PAIRS)


def study_world(kind: str, conditions: Sequence[Condition]) -> WorldStudy:
    """Makes the figures of the conditions in one world."""
    rows = tuple(_figures(condition, colour) for colour, condition in enumerate(conditions))
    notes = list(_notes(rows))
    if not any(row.pooled.readings for row in rows):
        notes.append(
            f"The error metric is not defined in {about(kind).title or visible(kind)}: shown are success, score and"
            " what was used."
        )
    compared, comparison = _compared(rows, notes)
    exhibits = (
        success_against_error(rows),
        by_prompts(conditions),
        by_demand(kind, conditions),
        by_size(kind, conditions) if about(kind).sizes else by_kind(conditions),
        two_episodes(conditions),
        by_memory(conditions),
        sensitivity(rows),
    )
    return WorldStudy(kind, rows, compared, comparison, exhibits, tuple(dict.fromkeys(notes)))


def success_against_error(rows: Sequence[ConditionFigures]) -> Exhibit | NotEnoughData:
    """Success against the logarithm of each error, a point each condition."""
    title = "Success against each error"
    if len(rows) < RATES_MIN:
        return NotEnoughData(
            title, f"it takes {RATES_MIN} conditions or more with different error rates; here are {len(rows)}"
        )
    panels: list[Scatter] = []
    notes: list[str] = []
    for error in drawn_errors([row.condition for row in rows]):
        name = error.name
        dots = tuple(
            Dot(row.condition.key, row.named, row.colour, row.pooled[error.measure.name], row.pooled.success)
            for row in rows
        )
        points = [
            Point(dot.key, *(int(count) for each in (dot.success, dot.error) for count in each.counts)) for dot in dots
        ]
        fitted = regress(points)
        if not fitted.all.n:
            notes.append(f"No condition has a defined {name}, so that there is nothing to draw.")
            continue
        panels.append(Scatter(f"success-{error.slug}", name.capitalize(), f"{name} (log scale)", dots, fitted))
        notes += undefined_notes(name, [(dot.label, dot.error) for dot in dots])
        if fitted.all.floored and fitted.all.floor is not None:
            zero = [point.name for point in fitted.all.points if point.floored]
            notes.append(
                f"{name.capitalize()}: {', '.join(zero)} made no error; on a logarithmic scale a rate of 0 has no"
                " place, so they stand, hollow, at the floor of 0.5 errors in the largest number of eligible"
                f" decisions, {fitted.all.floor:.2g}."
            )
        if fitted.all.slope is None:
            notes.append(f"{name.capitalize()}: no line, since there are fewer than {RATES_MIN} different error rates.")
    caption = (
        "A point is a condition (its letter as in the table). Solid line: ordinary least squares over those with at"
        " least one error; dashed: over all, where a rate of 0 stands at a floor. Bars: Wilson intervals of success,"
        " bootstrap intervals of the error over episodes, both of 95 %."
    )
    return (
        Exhibit("success", title, caption, tuple(panels), tuple(notes))
        if panels
        else NotEnoughData(title, " ".join(notes))
    )


def sensitivity(rows: Sequence[ConditionFigures]) -> Exhibit | NotEnoughData:
    """Success and errors under other budgets and under other values of k."""
    title = "Sensitivity to the budget multiplier alpha and to k"
    if not any(pooled.decisions for row in rows for pooled in row.sensitivity.values()):
        return NotEnoughData(title, "it takes recordings that can be scored again; none could be read")
    first = rows[:SHOWN_MOST]
    readings = list(dict.fromkeys(reading for row in rows for reading in row.pooled.readings))
    takes = [each for each in drawn([row.condition for row in rows]) if each.measure.reading in (None, *readings[:1])]
    panels: list[Lines] = []
    for letter, values in (("alpha", ALPHAS), ("k", KS)):
        for each in takes:
            # Nothing but the errors depends on k.
            if letter == "k" and each.measure.reading is None:
                continue
            series = []
            for row in first:
                pairs = [(value, USUAL.k) if letter == "alpha" else (USUAL.alpha, int(value)) for value in values]
                figures = tuple(row.sensitivity[pair][each.measure.name] for pair in pairs)
                series.append(Series(row.named, row.colour, figures))
            words = f"{letter} (budget multiplier)" if letter == "alpha" else "k (forgiven repeats)"
            ticks = tuple(f"{value:g}" for value in values)
            name = Drawn(each.measure, each.measure.title)
            panels.append(Lines(f"sensitivity-{letter}-{name.slug}", name.title, words, ticks, tuple(series)))
    caption = (
        f"The recordings scored again, without running anything: with k = {USUAL.k} under other budgets, and with"
        f" alpha = {USUAL.alpha:g} under other k. Success: Wilson; errors: bootstrap over episodes; intervals of 95 %."
    )
    notes = []
    if len(readings) > 1:
        notes.append(f"Drawn in the {readings[0]} reading; the table has both.")
    if len(rows) > len(first):
        notes.append(f"Drawn are the first {len(first)} of {len(rows)} conditions; the table has all.")
    for row in rows:
        results, read = row.pooled.success.n, row.sensitivity[USUAL.alpha, USUAL.k].success.n
        if read < results:
            notes.append(f"{row.named}: over {read} of {results} results; the recordings of the others cannot be read.")
    return Exhibit("sensitivity", title, caption, tuple(panels), tuple(notes))


def _figures(condition: Condition, colour: int) -> ConditionFigures:
    results = condition.summaries
    pools = [Pool() for _ in PAIRS]
    for episode in condition.episodes:
        if episode.told is not None and episode.name in results:
            for place, summary in zip(pools, episode.told.summaries, strict=True):
                place.add(summary)
    return ConditionFigures(
        condition,
        colour,
        pool(results.values()),
        condition.side.summary.usage(),
        {pair: each.rates() for pair, each in zip(PAIRS, pools, strict=True)},
    )


def _compared(
    rows: Sequence[ConditionFigures], notes: list[str]
) -> tuple[tuple[ConditionFigures, ...], Comparison | None]:
    """Compares the conditions that have a result, and notes what a reader has to know.

    One without any shares no episode with the others, and is not to keep them from being compared.
    """
    if len(rows) < 2:
        return (), None
    there = tuple(row for row in rows if row.condition.counts.scored)
    if len(there) < 2:
        notes.append("Differences are left out: fewer than two conditions have a result.")
        return (), None
    if without := [row.named for row in rows if not row.condition.counts.scored]:
        notes.append(f"Differences are without {'; '.join(without)}, which have no result.")
    try:
        comparison = compare([row.condition.side for row in there])
    except UsageError as error:
        notes.append(f"Differences are left out: {error}.")
        return (), None
    said = {words for row in rows for words in _said_elsewhere(row)}
    notes += [note for note in comparison.notes if note not in said]
    return there, comparison


def _said_elsewhere(row: ConditionFigures) -> Iterator[str]:
    """Sentences of a comparison that stand at the top of the page, or here in other words."""
    yield from row.condition.side.unreadable
    yield f"{row.condition.side.label} is incomplete: {row.condition.side.summary.counts_sentence()}"


def _notes(rows: Sequence[ConditionFigures]) -> Iterator[str]:
    for row in rows:
        if not row.condition.counts.complete:
            yield f"{row.named} is incomplete: {row.condition.side.summary.counts_sentence()}."
        yield from row.condition.side.notes
    rows = [row for row in rows if row.condition.counts.scored]
    for error in drawn_errors([row.condition for row in rows]):
        yield from undefined_notes(error.name, [(row.named, row.pooled[error.measure.name]) for row in rows])
