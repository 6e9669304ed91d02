"""`oresight score`: scores recorded episodes from their facts alone, without the world."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.display import columns, make_console, print_pooled
from harness.verdicts import rate_words
from harness.words import visible
from scoring.report import EpisodeReport, ScoreReport, score_paths

FAULTY = 1
INCOMPLETE = 3


def score(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Trajectories, episode folders, run folders.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print every decision as JSON.")] = False,
) -> None:
    """Score recorded episodes, a row each, and the pooled rates.

    A faulty file spoils no other: it is named, and the exit code is not 0.

    Example: oresight score runs/demo runs/scout --json
    """
    report = score_paths(paths, keep_steps=as_json)
    if as_json:
        json.dump(report.to_json(), sys.stdout, allow_nan=False, indent=1)
        sys.stdout.write("\n")
    else:
        _print(report)
    for problem in report.problems:
        print(f"oresight: {visible(problem)}", file=sys.stderr)
    if report.counts.unreadable:
        raise typer.Exit(FAULTY)
    if not report.complete:
        raise typer.Exit(INCOMPLETE)


def _print(report: ScoreReport) -> None:
    console = make_console()
    if report.episodes:
        rows = [("episode", "agent", "outcome", "steps", "reading", "exploration error", "exploitation error")]
        for episode in report.episodes:
            rows += _rows(episode)
        console.print(columns(rows))
    counts = report.counts
    console.print(
        f"{counts.scored} of {counts.planned} episodes scored ({counts.succeeded} succeeded, {counts.failed} failed), "
        f"{counts.infrastructure} broken, {counts.incomplete} incomplete, {counts.unreadable} unreadable, "
        f"{counts.missing} missing"
    )
    print_pooled(console, report.pooled)


def _rows(episode: EpisodeReport) -> list[tuple[str, str, str, str, str, str, str]]:
    summary = episode.summary
    lenient, strict = summary.lenient, summary.strict
    return [
        (
            visible(episode.name, 80),
            visible(episode.agent, 40),
            str(summary.outcome),
            f"{summary.steps_taken}/{summary.budget}",
            "lenient",
            rate_words(*lenient.explore),
            rate_words(*lenient.exploit),
        ),
        ("", "", "", "", "strict", rate_words(*strict.explore), rate_words(*strict.exploit)),
    ]
