"""The command `oresight`: puts the commands together and turns errors into one sentence and an exit code.

Exit codes: 0 done, 1 failed, 2 the command line asks for something that cannot be, 3 the run is incomplete.
"""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from oresight.harness.cli import (
    branch,
    compare,
    demo,
    doctor,
    import_sessions,
    maps,
    play,
    replay,
    report,
    run,
    score,
    watch,
)
from oresight.harness.errors import OresightError
from oresight.harness.text import visible
from oresight.harness.worlds import own_version

app = typer.Typer(
    name="oresight",
    help="See how agents fail: exploration and exploitation errors from their actions alone.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo.demo)
app.command()(run.run)
app.command()(compare.compare)
app.command()(branch.branch)
app.command()(score.score)
app.command()(watch.watch)
app.command()(play.play)
app.command("import")(import_sessions.import_sessions)
app.command()(replay.replay)
app.command()(report.report)
app.add_typer(maps.app, name="maps")
app.command()(doctor.doctor)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"oresight {own_version()}")
        raise typer.Exit


@app.callback()
def oresight(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """See how agents fail: exploration and exploitation errors from their actions alone.

    Example: oresight demo --seed 1
    """


def main() -> None:
    """Runs the command line and exits."""
    call(app)


def call(command: Callable[[], object]) -> None:
    """Calls a command line; an error of ours is one sentence on standard error, and ends the process."""
    try:
        command()
    except OresightError as error:
        print(f"oresight: {visible(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
