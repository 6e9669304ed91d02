"""`oresight study`: findings without a model, over a family of bundled text agents in the grid."""

import os
from pathlib import Path
from typing import Annotated

import typer

from harness import disk
from harness.cli.display import make_console
from harness.words import visible


def study(
    seeds: Annotated[
        int, typer.Option(min=3, max=10_000, help="Seeds of each demand and size; the main suite has 3.")
    ] = 100,
    out: Annotated[Path, typer.Option(help="Folder for study.md, study.json and figures.")] = Path("docs"),
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Processes that play; the result is the same. All cores if left out."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON as well.")] = False,
) -> None:
    """Measure success and errors of text agents whose weaknesses are known (about four minutes on two cores).

    Example: oresight study --seeds 20 --out study
    """
    from harness.study.family import last_picture
    from harness.study.figures import draw_figures
    from harness.study.measure import study as measure
    from harness.study.words import to_markdown

    figures = out / "figures"
    disk.make_folder(figures)
    console = make_console()
    with console.status("playing") as status:
        found = measure(
            seeds,
            workers or os.cpu_count() or 1,
            lambda done, planned: status.update(f"playing: {done} of {planned} maps"),
        )
        status.update("drawing")
        example = found.example
        agents = () if example is None else (example.explorer, example.exploiter)
        maps = [] if example is None else [last_picture(example.scenario, agent) for agent in agents]
        drawn = draw_figures(found, maps)
    for name, content in drawn.items():
        disk.write_atomically(figures / name, content)
    disk.write_atomically(out / "study.md", to_markdown(found).encode())
    disk.write_atomically(out / "study.json", disk.to_pretty_json(found.to_json()))
    if json:
        print(disk.to_pretty_json(found.to_json()).decode())
        return
    for kind, fits in found.many.fits.items():
        told = fits.with_errors
        words = "undefined" if told.r2 is None else f"R² {told.r2:.2f}"
        console.print(f"success against log {kind} error, {told.n} agents with an error: {words}")
    console.print(f"Written to {visible(str(out))}: study.md, study.json and {len(drawn)} files in figures")
