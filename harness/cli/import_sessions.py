"""`oresight import`: writes people's sessions as an ordinary run."""

from pathlib import Path
from typing import Annotated

import typer

from oresight.harness.cli import options
from oresight.harness.cli.display import make_console
from oresight.harness.records.importing import import_sessions as import_them
from oresight.harness.records.importing import words_of
from oresight.harness.text import visible

FAULTY = 1


def import_sessions(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A person's session, or a folder that holds several.")],
    out: Annotated[Path, typer.Option(help="Folder of the run; new, or an earlier import of the same sessions.")],
) -> None:
    """Write a person's sessions as a run: an episode for each scenario, read like an agent's by every command.

    The sessions are played again once, for the facts. Each is copied beside its decisions, so that it can be filmed.

    Example: oresight import recordings/me --out runs/me
    """
    imported = import_them(path, out)
    console = make_console()
    for words in words_of(imported):
        console.print(visible(words))
    if imported.faults:
        raise typer.Exit(FAULTY)
    if not imported.summary.complete:
        raise typer.Exit(options.INCOMPLETE)
