"""`oresight maps`: makes, shows, checks and exports maps of the grid."""

import json
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from oresight.harness import files
from oresight.harness.cli.display import make_console
from oresight.harness.errors import UsageError
from oresight.harness.running.selection import parse_seeds
from oresight.harness.text import visible

FAULTY = 1
_CORRIDORS = re.compile(r"(\d{1,3})(?:-(\d{1,3}))?")

app = typer.Typer(
    help="Make, show, check and export maps of the grid.\n\nExample: oresight maps show low-small-0",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def make(
    out: Annotated[Path, typer.Option(help="The file to write; an existing one is replaced.")],
    demand: Annotated[str, typer.Option(help="Demand on exploitation: low, medium, high.")] = "medium",
    size: Annotated[str, typer.Option(help="Size of the task DAG: small, medium, large.")] = "medium",
    seed: Annotated[int, typer.Option(min=0, max=10**18, help="Same seed, same map.")] = 0,
    nodes: Annotated[int | None, typer.Option(min=2, help="Another number of nodes than the size has.")] = None,
    density: Annotated[
        float | None, typer.Option(min=0.0001, max=1, help="Other nodes per grid cell than the demand has.")
    ] = None,
    corridors: Annotated[str | None, typer.Option(help="Other corridor widths, for example 1-3.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Everything is shown from the start (exploit-only).")] = False,
) -> None:
    """Generate a map that is proved solvable, and write it to a file.

    Example: oresight maps make --demand low --size large --seed 7 --out map.json
    """
    from oresight.harness.worlds.grid import maps

    custom = maps.Custom(nodes, density, _corridors(corridors))
    scenario = maps.make(demand, size, seed, custom, "full" if full else "partial")
    maps.write(scenario, out)
    make_console().print(visible(maps.check(out).sentence))


@app.command()
def show(
    place: Annotated[str, typer.Argument(metavar="MAP", help="A map file, or a scenario's name.")],
    png: Annotated[Path | None, typer.Option(help="Draw a picture with the task DAG into this file instead.")] = None,
) -> None:
    """Draw a map as text, or as a picture.

    Example: oresight maps show custom-201-semantic-0 --png map.png
    """
    from oresight.harness.worlds.grid import maps

    scenario = maps.find(place)
    if png is None:
        for line in maps.text(scenario).rstrip("\n").split("\n"):
            print(visible(line, 100_000))
        return
    files.make_folder(png.parent)
    files.write_atomically(png, maps.picture(scenario))
    make_console().print(f"Drawn to {visible(str(png))}")


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Map files.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Check map files: form, connections, prerequisites, and a solution within the budget.

    Each gets one sentence; the exit code is 1 if one is at fault.

    Example: oresight maps check map.json
    """
    from oresight.harness.worlds.grid import maps

    found = [maps.check(file) for file in files]
    if as_json:
        told = [
            {"file": str(file), "sound": checked.sound, "sentence": checked.sentence}
            for file, checked in zip(files, found, strict=True)
        ]
        print(json.dumps({"maps": told}, indent=1))
    else:
        for checked in found:
            print(visible(checked.sentence), file=sys.stdout if checked.sound else sys.stderr)
    if not all(checked.sound for checked in found):
        raise typer.Exit(FAULTY)


@app.command()
def export(
    out: Annotated[Path, typer.Option(help="Folder for the map files.")],
    suite: Annotated[str, typer.Option(help="main, semantic or exploit-only.")] = "main",
    seeds: Annotated[str | None, typer.Option(help="Seeds, for example 0,1,2; the suite's own if left out.")] = None,
) -> None:
    """Write the maps of a suite as files, one a scenario.

    Example: oresight maps export --suite semantic --out maps
    """
    from oresight.harness.worlds.grid import maps

    files = maps.export(suite, None if seeds is None else parse_seeds(seeds), out)
    make_console().print(f"{len(files)} maps written to {visible(str(out))}")


def _corridors(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = _CORRIDORS.fullmatch(text)
    if match is None:
        raise UsageError(f"--corridors is {text!r}; expected one width or two, for example 1-3")
    return int(match[1]), int(match[2] or match[1])
