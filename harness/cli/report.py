"""`oresight report`: one page for a study, with a replay of each episode, to be read and shown without a network."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oresight.harness.cli import options
from oresight.harness.cli.display import make_console
from oresight.harness.errors import UnknownNameError
from oresight.harness.text import visible

if TYPE_CHECKING:
    from oresight.harness.report.build import Drawing

DRAWINGS: "tuple[Drawing, ...]" = ("auto", "missing", "none")


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR...", help="Folders of runs, of studies, or of people's sessions.")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder of the report: new, empty, or an earlier report, which is replaced.")
    ],
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy the runs' pictures, so that the folder can be taken elsewhere.")
    ] = False,
    pictures: Annotated[
        str,
        typer.Option(
            help="Draw missing pictures of the 3D world again: auto (if at most 100 episodes want them), missing"
            " (however many), none."
        ),
    ] = "auto",
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Processes that work; the report is the same. All cores if left out."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON what was made, and where it is.")] = False,
) -> None:
    """Make a report of runs and studies: figures with intervals, tables, and a replay of each episode.

    Open index.html in a browser; nothing is loaded from anywhere else.

    Example: oresight report runs/my-study --out report

    Example: oresight report runs/scout runs/tree --out report --copy
    """
    from oresight.harness.report.build import ReportOptions, ReportProgress, make_report

    drawing = next((each for each in DRAWINGS if each == pictures), None)
    if drawing is None:
        raise UnknownNameError("choice for --pictures", pictures, list(DRAWINGS))
    console = make_console(stderr=as_json)
    with console.status("reading") as status:

        class Shown(ReportProgress):
            def episode(self, done: int, planned: int) -> None:
                status.update(f"reading recordings, writing replays: {done} of {planned}")

            def stage(self, words: str) -> None:
                status.update(words)

        made = make_report(runs, out, ReportOptions(copy, drawing, workers or os.cpu_count() or 1), Shown())
    if as_json:
        print(json.dumps({"folder": str(out), **made.told}, allow_nan=False, indent=1))
    else:
        told = made.told
        for problem in told["problems"]:
            console.print(visible(problem, 400))
        for condition in told["conditions"]:
            counts = condition["counts"]
            # Of a person's sessions alone: an episode of a run is played until it ends.
            incomplete = f", {counts['incomplete']} incomplete" if counts["incomplete"] else ""
            console.print(
                f"{visible(condition['key'])} {visible(condition['label'])}: {counts['scored']} of {counts['planned']}"
                f" episodes scored ({counts['succeeded']} succeeded, {counts['failed']} failed),"
                f" {counts['infrastructure']} broken, {counts['missing']} missing, {counts['unreadable']} unreadable"
                + incomplete
            )
        for remark in told["remarks"]:
            console.print(remark)
        console.print(
            f"Written to {visible(str(out))}: {told['page']}, {told['pages']} replays, {len(told['figures'])} figures,"
            f" {len(told['tables'])} tables"
        )
    if not made.complete:
        raise typer.Exit(options.INCOMPLETE)
