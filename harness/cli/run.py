"""`oresight run`: play the episodes that are asked for, or a study, and leave a folder that can be resumed."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from oresight.harness.analysis.compare import compare, load_conditions
from oresight.harness.analysis.summary import RunSummary
from oresight.harness.cli import options
from oresight.harness.cli.display import make_console, print_run
from oresight.harness.cli.progress import EpisodeLines
from oresight.harness.cli.side_by_side import print_comparison, print_forecasts
from oresight.harness.errors import UsageError
from oresight.harness.files import to_pretty_json, write_atomically
from oresight.harness.records.folder import to_csv
from oresight.harness.running.budget import Limits
from oresight.harness.running.executors import Executor
from oresight.harness.running.plan import Condition, ConditionPlan, check_caps, condition_plan, forecast
from oresight.harness.running.runner import run_all
from oresight.harness.running.study_file import load_study, study_folder
from oresight.harness.text import visible


@options.expands
def run(
    world: Annotated[
        str, typer.Argument(metavar="WORLD|STUDY.toml", help="craft, the 3D world, grid, or the file of a study.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Run folder: new, empty, or an earlier run of the same command.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="craft: random, stuck, spinner, scout, oracle; grid: random, depth-first, frontier,"
            " frontier(window=8,noise=0.1), solver; or package.module:Class."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="In place of an agent: openai:M, gemini:M, anthropic:M, compatible:M@URL, scripted:FILE."),
    ] = None,
    memory: options.Memory = "raw",
    episodes: options.EpisodeOptions = options.EpisodeOptions(),
    prompts: Annotated[
        str | None,
        typer.Option(
            help="base, exploration, exploitation or balance, or one of them with -reasoning; or a .toml or .json file"
            " with texts of your own."
        ),
    ] = None,
    frames: options.FramesKept = None,
    size: options.Size = None,
    pictures: options.Pictures = True,
    desktop: options.Desktop = False,
    place: options.PlaceOptions = options.PlaceOptions(),
    asked: options.ModelOptions = options.ModelOptions(),
    dry_run: options.DryRun = False,
) -> None:
    """Play episodes and leave a run folder with records, scores and a summary.

    Rerun the same command to resume where it was stopped, however that happened; what is recorded is not asked again.

    Example: oresight run craft --agent scout --suite craft-mine --seeds 0,1,2 --out runs/scout

    Example: oresight run grid --model openai:gpt-4.1-mini --memory tree+notes --suite main --max-cost 5 --out runs/tree

    Example: oresight run STUDY.toml --out runs/study --workers 2
    """
    if world.endswith(".toml"):
        own = (agent, model, prompts, frames, size, asked.prices, desktop or None)
        if episodes.given or any(each is not None for each in own):
            raise UsageError(
                f"{world} says what is played; beside it give --out, --workers, --concurrency, --executor, caps alone"
            )
        _run_study(Path(world), out, place, asked.caps, dry_run)
        return
    manner = dataclasses.replace(
        options.play_options(world, frames, size, pictures, asked.prices), desktop=desktop, settings=asked.settings()
    )
    arm = condition_plan(Condition(agent, model, memory, prompts), [episodes.selection(world, size)], manner)
    check_caps(asked.caps, [arm.plan])
    if dry_run:
        print_forecasts(make_console(), [(arm.label, forecast(arm.plan))])
        return
    if out is None:
        raise UsageError("--out is missing; name the folder of the run, for example --out runs/first")
    executor = place.make(arm.plan.model is not None, desktop)
    (summary,) = play([(arm, out)], executor, asked.caps)
    console = make_console()
    print_run(console, summary)
    console.print(f"Written to {visible(str(out))}")
    if not summary.complete:
        raise typer.Exit(options.INCOMPLETE)


def play(
    arms: list[tuple[ConditionPlan, Path]], executor: Executor, caps: Limits, quiet: bool = False
) -> list[RunSummary]:
    """Plays runs with a display; who interrupts them ends the command.

    Args:
        arms: With their run folders.
        executor: Where.
        caps: What it may cost.
        quiet: Whether the display goes to standard error, so that standard output is for a machine.
    """
    console = make_console(stderr=quiet)
    width = max(len(world.name) for arm, _ in arms for world in arm.plan.worlds)
    display = EpisodeLines(console, width, several=len(arms) > 1)
    try:
        return run_all([(arm.plan, out) for arm, out in arms], display, executor, caps)
    except KeyboardInterrupt:
        display.close()
        console.print("Interrupted; rerun the same command to resume the run.")
        raise typer.Exit(options.INCOMPLETE) from None
    finally:
        display.close()


def play_study(
    arms: list[ConditionPlan], out: Path, place: options.PlaceOptions, caps: Limits, as_json: bool = False
) -> None:
    """Plays the conditions of a study in one folder, sets them side by side, and ends the command."""
    # Before a folder is made, so that a missing key or part leaves nothing behind.
    a_model_plays = any(arm.plan.model is not None for arm in arms)
    desktop = any(world.desktop for arm in arms for world in arm.plan.worlds)
    executor = place.make(a_model_plays, desktop)
    for arm in arms:
        arm.plan.check()
    with study_folder(out, arms) as folders:
        summaries = play(list(zip(arms, folders, strict=True)), executor, caps, quiet=as_json)
        console = make_console()
        if len(arms) < 2 or not all(summary.counts.scored for summary in summaries):
            if as_json:
                told = [{"label": arm.label, **each.as_json()} for arm, each in zip(arms, summaries, strict=True)]
                print(json.dumps({"conditions": told}, allow_nan=False, indent=1))
                console = make_console(stderr=True)
            for arm, summary in zip(arms, summaries, strict=True):
                console.print(f"\n{visible(arm.label)}")
                print_run(console, summary)
        else:
            comparison = compare(load_conditions([out]))
            write_atomically(out / "summary.json", to_pretty_json(comparison.to_json()))
            write_atomically(out / "summary.csv", to_csv(comparison.rows()).encode())
            if as_json:
                print(json.dumps(comparison.to_json(), allow_nan=False, indent=1))
            else:
                print_comparison(console, comparison)
    if not as_json:
        console.print(f"Written to {visible(str(out))}")
    if not all(summary.complete for summary in summaries):
        raise typer.Exit(options.INCOMPLETE)


def _run_study(path: Path, out: Path | None, place: options.PlaceOptions, caps: Limits, dry_run: bool) -> None:
    study = load_study(path)
    arms = study.arms()
    own = study.caps()
    caps = Limits(own.cost if caps.cost is None else caps.cost, own.tokens if caps.tokens is None else caps.tokens)
    check_caps(caps, [arm.plan for arm in arms])
    if dry_run:
        print_forecasts(make_console(), [(arm.label, forecast(arm.plan)) for arm in arms])
        return
    play_study(arms, out or Path("runs", path.stem), place, caps)
