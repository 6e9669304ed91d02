"""`oresight calibrate`: measures the calibration table of the 3D world's error metric."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from harness import disk
from harness.cli.display import make_console
from harness.words import visible

FAILED = 1


def calibrate(
    out: Annotated[Path, typer.Option(help="Folder for calibration.md and calibration.json.")] = Path("docs"),
    json: Annotated[bool, typer.Option("--json", help="Print the table as JSON as well.")] = False,
) -> None:
    """Measure what the metric says of scripted behaviours and of the bundled agents (about two minutes).

    Exits with 1 if the order that must hold (idle, spinning, random, scout) does not.

    Example: oresight calibrate --out docs
    """
    from harness.calibrate import calibrate as measure
    from harness.calibrate import to_markdown

    disk.make_folder(out)
    console = make_console()
    with tempfile.TemporaryDirectory(prefix="oresight-calibrate-") as work, console.status("measuring") as status:
        table = measure(Path(work), lambda what: status.update(f"measuring {what}"))
    text = to_markdown(table)
    disk.write_atomically(out / "calibration.md", text.encode())
    disk.write_atomically(out / "calibration.json", disk.to_pretty_json(table.to_json()))
    if json:
        print(disk.to_pretty_json(table.to_json()).decode())
    else:
        console.print(text)
        console.print(f"Written to {visible(str(out / 'calibration.md'))} and calibration.json")
    if table.order_faults():
        raise typer.Exit(FAILED)
