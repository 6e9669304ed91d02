"""`python -m experiments.calibration`: measures the calibration table of the 3D world's error metric."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oresight.harness import files
from oresight.harness.cli.display import make_console
from oresight.harness.cli.main import call
from oresight.harness.errors import UsageError
from oresight.harness.text import visible

FAILED = 1

if TYPE_CHECKING:
    from experiments.calibration.people import Person


def calibrate(
    out: Annotated[Path, typer.Option(help="Folder for calibration.md and calibration.json.")] = Path("docs"),
    sessions: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Recorded sessions of a person, for a row beside the agents; once a person."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the table as JSON as well.")] = False,
) -> None:
    """Measure what the metric says of scripted behaviours and of the bundled agents (about two minutes).

    Exits with 1 if the order that must hold (idle, spinning, random, scout) does not.

    Example: python -m experiments.calibration --out docs

    Example: python -m experiments.calibration --sessions recordings/me --out .
    """
    from experiments.calibration.table import calibrate as measure
    from experiments.calibration.table import to_markdown

    console = make_console()
    # Before anything is measured, which takes minutes.
    people = [_person(place) for place in sessions or ()]
    for note in [note for person in people for note in person.notes]:
        make_console(stderr=True).print(f"note: {visible(note)}")
    files.make_folder(out)
    with tempfile.TemporaryDirectory(prefix="oresight-calibrate-") as work, console.status("measuring") as status:
        table = measure(Path(work), lambda what: status.update(f"measuring {what}"), people)
    text = to_markdown(table)
    files.write_atomically(out / "calibration.md", text.encode())
    files.write_atomically(out / "calibration.json", files.to_pretty_json(table.to_json()))
    if json:
        print(files.to_pretty_json(table.to_json()).decode())
    else:
        console.print(text)
        console.print(f"Written to {visible(str(out / 'calibration.md'))} and calibration.json")
    if table.order_faults():
        raise typer.Exit(FAILED)


def _person(place: Path) -> "Person":
    from experiments.calibration.people import person_of
    from experiments.calibration.table import suite_worlds
    from oresight.harness.records.people import read_sessions

    played = read_sessions(place)
    if played is None:
        raise UsageError(f"--sessions is {place}, which holds no session; name a folder that `oresight play` recorded")
    return person_of(played, suite_worlds())


def main() -> None:
    """Runs the command line and exits."""
    call(lambda: typer.run(calibrate))


if __name__ == "__main__":
    main()
