"""`python -m experiments.study`: findings without a model, over bundled agents.

They are a family of agents in the grid, or the scout among the 3D world's dials.
"""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from oresight.harness import files
from oresight.harness.cli.display import make_console
from oresight.harness.cli.main import call
from oresight.harness.errors import UnknownNameError
from oresight.harness.protocols import Json
from oresight.harness.text import visible

# The suites' own seeds are three; the rest makes the intervals narrower.
_GRID_SEEDS = 100
_CRAFT_SEEDS = 6


def study(
    world: Annotated[str, typer.Option(help="grid: a family of text agents; craft: the 3D world's dials.")] = "grid",
    seeds: Annotated[
        int | None,
        typer.Option(
            min=3,
            max=10_000,
            help=f"Seeds of each setting, the suites have 3; grid {_GRID_SEEDS}, craft {_CRAFT_SEEDS} if left out.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for study.md (craft: dials.md), its JSON and figures.")] = Path(
        "docs"
    ),
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="Processes that play; the result is the same. All cores if left out."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON as well.")] = False,
) -> None:
    """Measure success and errors of agents whose weaknesses are known (grid: about four minutes on two cores).

    Example: python -m experiments.study --seeds 20 --out study

    Example: python -m experiments.study --world craft --seeds 3 --out study
    """
    playing = workers or os.cpu_count() or 1
    if world == "craft":
        _study_dials(seeds or _CRAFT_SEEDS, out, playing, json)
    elif world == "grid":
        _study_family(seeds or _GRID_SEEDS, out, playing, json)
    else:
        raise UnknownNameError("world", world, ["grid", "craft"])


def _study_dials(seeds: int, out: Path, workers: int, json: bool) -> None:
    from experiments.study.dials import play
    from experiments.study.dials_figures import draw_figures
    from experiments.study.dials_words import to_markdown, verdict_lines

    files.make_folder(out / "figures")
    console = make_console()
    with (
        tempfile.TemporaryDirectory(prefix="oresight-study-") as work,
        console.status("making the worlds") as status,
    ):
        file = play(seeds, Path(work), workers, status.update)
        status.update("drawing")
        drawn = draw_figures(file)
    _write(out, "dials", to_markdown(file), file.to_json(), drawn)
    if json:
        print(files.to_pretty_json(file.to_json()).decode())
        return
    for line in verdict_lines(file):
        console.print(line)
    console.print(f"Written to {visible(str(out))}: dials.md, dials.json and {len(drawn)} files in figures")


def _study_family(seeds: int, out: Path, workers: int, json: bool) -> None:
    from experiments.study.family import last_picture
    from experiments.study.figures import draw_figures
    from experiments.study.measure import study as measure
    from experiments.study.words import to_markdown

    files.make_folder(out / "figures")
    console = make_console()
    with console.status("playing") as status:
        found = measure(
            seeds,
            workers,
            lambda done, planned: status.update(f"playing: {done} of {planned} maps"),
        )
        status.update("drawing")
        example = found.example
        agents = () if example is None else (example.explorer, example.exploiter)
        maps = [] if example is None else [last_picture(example.scenario, agent) for agent in agents]
        drawn = draw_figures(found, maps)
    _write(out, "study", to_markdown(found), found.to_json(), drawn)
    if json:
        print(files.to_pretty_json(found.to_json()).decode())
        return
    for kind, fits in found.many.fits.items():
        told = fits.with_errors
        words = "undefined" if told.r2 is None else f"R² {told.r2:.2f}"
        console.print(f"success against log {kind} error, {told.n} agents with an error: {words}")
    console.print(f"Written to {visible(str(out))}: study.md, study.json and {len(drawn)} files in figures")


def _write(out: Path, name: str, text: str, told: Json, drawn: dict[str, bytes]) -> None:
    for figure, content in drawn.items():
        files.write_atomically(out / "figures" / figure, content)
    files.write_atomically(out / f"{name}.md", text.encode())
    files.write_atomically(out / f"{name}.json", files.to_pretty_json(told))


def main() -> None:
    """Runs the command line and exits."""
    call(lambda: typer.run(study))


if __name__ == "__main__":
    main()
