"""`oresight demo`: one episode of the bundled scout, watched decision by decision, scored, recorded and filmed."""

from pathlib import Path
from typing import Annotated

import typer

from oresight.harness.analysis.summary import summary_of
from oresight.harness.cli.display import LiveLines, make_console, outcome_words, rates_table
from oresight.harness.errors import StoreError
from oresight.harness.film.film import film
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.text import visible
from oresight.harness.worlds import EpisodeRequest

INCOMPLETE = 3
VIDEO_NAME = "episode.mp4"
_MOST_FOLDERS = 1000


def demo(
    seed: Annotated[int, typer.Option(min=0, max=999_999_999, help="Chooses the scenario.")] = 4,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the records and the video; a new one if left out.")
    ] = None,
) -> None:
    """Watch the bundled scout look for ore, one decision at a time, and leave the scored record with a video.

    Example: oresight demo --seed 3 --out runs/demo
    """
    from oresight.harness.worlds.craft.world import CraftWorld

    suite = CraftWorld.find(EpisodeRequest(suite="craft-mine"))
    worlds = (suite[seed % len(suite)],)
    folder = out or _free_folder()
    plan = RunPlan(agent="scout", memory="screenshots(8)", worlds=worlds)
    console = make_console()
    target = str(worlds[0].scenario["target"]).replace("_", " ")
    console.print(f"scout looks for {target}; it is shown pictures and public words alone.")
    try:
        summary = run(plan, folder, LiveLines(console))
    except KeyboardInterrupt:
        console.print(f"Interrupted; oresight demo --seed {seed} --out {visible(str(folder))} plays it again.")
        raise typer.Exit(INCOMPLETE) from None
    if not summary.complete:
        for result in summary.broken:
            console.print(visible(result.reason or "", 1000))
        raise typer.Exit(INCOMPLETE)
    result = summary.results[0]
    console.print()
    console.print(f"Outcome: {outcome_words(result)}")
    console.print(rates_table(summary_of(result)))
    console.print()
    episode = folder / "episodes" / result.id
    video = folder / VIDEO_NAME
    with console.status("filming") as status:
        replayed = film(episode, video, lambda step: status.update(f"filming decision {step} of {result.steps}"))
    if replayed.difference is not None:
        raise StoreError(f"{episode}: the replay for the video differs: {replayed.difference.sentence()}")
    console.print(f"Record:  {visible(str(folder))}")
    console.print(f"Video:   {visible(str(video))} (plays in a browser)")


def _free_folder() -> Path:
    """`runs/demo`, or the first of `runs/demo-2`, `runs/demo-3`, ... that does not exist yet."""
    for number in range(1, _MOST_FOLDERS):
        folder = Path("runs", "demo" if number == 1 else f"demo-{number}")
        if not folder.exists() and not folder.is_symlink():
            return folder
    raise StoreError("runs/demo to runs/demo-999 all exist; remove some, or choose a folder with --out")
