"""`oresight compare`: sets conditions side by side, those of runs that are there or those that it plays now."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from oresight.harness.analysis.compare import compare as set_side_by_side
from oresight.harness.analysis.compare import load_conditions
from oresight.harness.cli import options
from oresight.harness.cli.display import make_console
from oresight.harness.cli.run import play_study
from oresight.harness.cli.side_by_side import print_comparison, print_forecasts
from oresight.harness.errors import UsageError
from oresight.harness.running.plan import Condition, check_caps, condition_plan, forecast
from oresight.harness.text import visible
from oresight.harness.worlds import bundled_worlds, kind_of, world_names


@options.expands
def compare(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN_DIR...]",
            help="Folders of runs, studies or people's sessions; without, conditions are played.",
        ),
    ] = None,
    world: Annotated[str | None, typer.Option(help="craft or grid; what the agent or suite says if left out.")] = None,
    agent: Annotated[str | None, typer.Option(help="One or more agents, for example scout,random.")] = None,
    model: Annotated[str | None, typer.Option(help="One or more models, for example openai:a,gemini:b.")] = None,
    memory: Annotated[str, typer.Option(help="One or more memories, for example raw,screenshots.")] = "raw",
    prompts: Annotated[str | None, typer.Option(help="One or more sets of prompts, for models.")] = None,
    episodes: options.EpisodeOptions = options.EpisodeOptions(),
    out: Annotated[Path | None, typer.Option(help="Folder of what is played; one under runs/ if left out.")] = None,
    frames: options.FramesKept = None,
    size: options.Size = None,
    pictures: options.Pictures = True,
    desktop: options.Desktop = False,
    place: options.PlaceOptions = options.PlaceOptions(),
    asked: options.ModelOptions = options.ModelOptions(),
    dry_run: options.DryRun = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Compare conditions on the same episodes: success, both errors, decisions and cost, with paired differences.

    Example: oresight compare --agent scout --memory raw,screenshots --suite craft-mine

    Example: oresight compare runs/scout runs/tree --json

    Example: oresight compare runs/scout recordings/me
    """
    if runs:
        if agent is not None or model is not None or episodes.given:
            raise UsageError("give either folders of runs or sessions, or agents and models to play, not both")
        if dry_run:
            raise UsageError("--dry-run counts what would be played, and folders are only read; leave it out")
        _compare_runs(runs, as_json)
        return
    kind = world or _kind(episodes)
    manner = options.play_options(kind, frames, size, pictures, asked.prices)
    manner = replace(manner, desktop=desktop, settings=asked.settings())
    selection = episodes.selection(kind, size)
    memories = options.split_list(memory)
    conditions = [Condition(each, None, kept) for each in options.split_list(agent or "") for kept in memories]
    sets: list[str | None] = [*options.split_list(prompts)] if prompts else [None]
    conditions += [
        Condition(None, each, kept, chosen)
        for each in options.split_list(model or "")
        for kept in memories
        for chosen in sets
    ]
    arms = {arm.label: arm for arm in (condition_plan(each, [selection], manner) for each in conditions)}
    if len(arms) < 2:
        raise UsageError(
            f"a comparison needs two or more conditions, found {len(arms)}; give several of --agent, --model, --memory"
            " or --prompts with commas between, for example --agent scout --memory raw,screenshots"
        )
    chosen_arms = list(arms.values())
    check_caps(asked.caps, [arm.plan for arm in chosen_arms])
    if dry_run:
        print_forecasts(make_console(), [(arm.label, forecast(arm.plan)) for arm in chosen_arms])
        return
    told = repr([(arm.label, arm.plan.run_file().config.model_dump_json()) for arm in chosen_arms])
    folder = out or Path("runs", f"compare-{hashlib.sha256(told.encode()).hexdigest()[:8]}")
    play_study(chosen_arms, folder, place, asked.caps, as_json)


def _compare_runs(runs: list[Path], as_json: bool) -> None:
    comparison = set_side_by_side(load_conditions(runs))
    if as_json:
        print(json.dumps(comparison.to_json(), allow_nan=False, indent=1))
    else:
        print_comparison(make_console(), comparison)
    if not comparison.complete:
        raise typer.Exit(options.INCOMPLETE)


def _kind(episodes: options.EpisodeOptions) -> str:
    """The world that is meant where none is named: the one that has an option, a suite or a scenario."""
    for option, value in (("map", episodes.map_file), ("demand", episodes.demand)):
        if value is not None:
            return next(world.kind for world in bundled_worlds() if option in world.options)
    name = episodes.suite or episodes.scenario
    if name is None:
        raise UsageError("give --suite or --scenario, for example --suite craft-mine; or two or more folders of runs")
    found = kind_of(suite=episodes.suite, scenario=episodes.scenario)
    if found is None:
        raise UsageError(
            f"{visible(name, 80)!r} is of no world that is known; give --world, one of {', '.join(world_names())}"
        )
    return found
