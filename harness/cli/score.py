"""`oresight score`: scores recorded episodes from their facts alone, without the world."""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from oresight.harness.cli.display import columns, make_console, print_pooled
from oresight.harness.errors import UsageError
from oresight.harness.text import visible
from oresight.harness.wording import rate_words
from oresight.harness.worlds.craft.session_score import score_session
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.episodes import EpisodeReport
from oresight.scoring.measures import Measure, table
from oresight.scoring.parameters import Parameters
from oresight.scoring.rescoring import PairResult, Settings
from oresight.scoring.score import PairFigures, Scored, ScoreReport, Totals, score_stream
from oresight.scoring.statistics import EpisodeCounts
from oresight.scoring.vpt.ores import Target

FAULTY = 1
INCOMPLETE = 3
# So many episodes make a table; the columns of the next one are as wide as it needs.
TABLE_EPISODES = 500

_HEADING = ("episode", "agent", "outcome", "steps", "reading")


def score(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Trajectories, sessions, VPT-style recordings, episode files; folders of an episode, a run, any mix.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print every decision as JSON.")] = False,
    alpha: Annotated[
        str | None, typer.Option(help="Budget multipliers, for example 1,2,3; else as the file says, or 3.")
    ] = None,
    k: Annotated[
        str | None, typer.Option(help="Forgiven visits, for example 1,2,3; else as the file says, or 2.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="What to acquire in VPT-style recordings, for example iron_ore; any ore if not given."),
    ] = None,
) -> None:
    """Score recorded episodes, a row each, and the pooled rates; with several alpha or k, under each pair of them.

    A faulty file spoils no other: it is named, and the exit code is not 0.

    VPT-style recordings are JSON Lines with mouse and keyboard, 20 a second; no film is needed.

    Example: oresight score runs/demo runs/scout --json
    """
    try:
        settings = Settings.parse(alpha, k)
        wanted = Target.parse(target)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    totals = Totals(Parameters())
    found = score_stream(
        paths, totals.parameters, settings=settings, keep_steps=as_json, target=wanted, score_session=score_session
    )
    report = _print_json(found, totals) if as_json else _print(found, totals)
    for problem in report.problems:
        print(f"oresight: {visible(problem)}", file=sys.stderr)
    if report.counts.unreadable:
        raise typer.Exit(FAULTY)
    if not report.complete:
        raise typer.Exit(INCOMPLETE)


def _episodes(found: Iterable[Scored], totals: Totals) -> Iterable[EpisodeReport]:
    """Yield the episodes and take all in, so that none need be kept."""
    for item in found:
        totals.add(item)
        if isinstance(item, EpisodeReport):
            yield item


def _print_json(found: Iterable[Scored], totals: Totals) -> ScoreReport:
    """Print the report as it comes in, because there may be many episodes."""
    sys.stdout.write('{"episodes": [')
    for number, episode in enumerate(_episodes(found, totals)):
        sys.stdout.write(",\n" if number else "\n")
        sys.stdout.writelines(episode.json_parts())
    report = ScoreReport.of(totals)
    rest = json.dumps(report.totals_to_json(), allow_nan=False, indent=1)
    sys.stdout.write(f"\n],{rest.removeprefix('{')}\n")
    return report


def _print(found: Iterable[Scored], totals: Totals) -> ScoreReport:
    console = make_console()
    episodes = iter(_episodes(found, totals))
    undecided: dict[str, int] = {}
    while some := list(islice(episodes, TABLE_EPISODES)):
        console.print(columns([(*_HEADING, *_columns()), *(row for episode in some for row in _rows(episode))]))
        for episode in some:
            undecided.update(Counter(undecided) + Counter(episode.undecided))
            for remark in episode.remarks:
                console.print(f"{visible(episode.name, 80)}: {visible(remark, 300)}")
    report = ScoreReport.of(totals)
    for figures in report.figures:
        if len(report.figures) > 1:
            console.print(f"\n{_pair_words(figures)}")
        counts = figures.counts
        console.print(
            f"{counts.scored} of {counts.planned} episodes scored "
            f"({counts.succeeded} succeeded, {counts.failed} failed{_taskless(counts)}), "
            f"{counts.infrastructure} broken, "
            f"{counts.incomplete} incomplete, {counts.unreadable} unreadable, {counts.missing} missing"
        )
        print_pooled(console, figures.pooled)
    for words, number in undecided.items():
        console.print(f"undecided in {number} of these: {words}")
    return report


def _taskless(counts: EpisodeCounts) -> str:
    number = counts.scored - counts.succeeded - counts.failed
    return f", {number} recorded without a task" if number else ""


def _rows(episode: EpisodeReport) -> list[tuple[str, ...]]:
    several = len(episode.results) > 1
    rows: list[tuple[str, ...]] = []
    for result in episode.results:
        summary = result.summary
        name = visible(episode.name, 80) + (f", {_pair_words(result)}" if several else "")
        told = (name, visible(episode.agent, 40), str(summary.outcome), _steps_words(summary))
        for place, reading in enumerate(summary.readings or ("",)):
            shown = reading if len(summary.readings) > 1 else ""
            cells = [_cell(summary, measures, reading, first=not place) for measures in _columns().values()]
            rows.append((*(("",) * len(told) if place else told), shown, *cells))
    return rows


def _steps_words(summary: EpisodeSummary) -> str:
    return f"{summary.steps_taken}" if summary.budget is None else f"{summary.steps_taken}/{summary.budget}"


def _columns() -> dict[str, list[Measure]]:
    """The measures of an episode's row by their titles: those of one column differ in their reading."""
    found: dict[str, list[Measure]] = {}
    for measure in table():
        if measure.unit.counted and not measure.proportion:
            found.setdefault(measure.title, []).append(measure)
    return found


def _cell(summary: EpisodeSummary, measures: list[Measure], reading: str, *, first: bool) -> str:
    """A measure in one reading; one that has none stands in an episode's first row."""
    for measure in measures:
        if measure.reading == reading or (measure.reading is None and first):
            counts = measure.counts(summary)
            return "" if counts is None else rate_words(*counts)
    return ""


def _pair_words(pair: PairResult | PairFigures) -> str:
    return f"alpha {pair.alpha:g}, k {pair.k}"
