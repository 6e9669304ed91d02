"""`oresight branch`: plays on from a decision of a recorded episode under other conditions, side by side."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Annotated

import typer

from oresight.harness.cli import options
from oresight.harness.cli.display import make_console
from oresight.harness.cli.run import play_study
from oresight.harness.cli.side_by_side import print_forecasts
from oresight.harness.context import needs_pictures
from oresight.harness.errors import UsageError
from oresight.harness.models.base import ModelSettings
from oresight.harness.running.fork import (
    MOST_ROLLOUTS,
    BranchPoints,
    conditions_of,
    find_points,
    points_words,
    recorded_size,
)
from oresight.harness.running.plan import ConditionPlan, PlayOptions, check_caps, condition_plan, forecast
from oresight.harness.running.selection import parse_numbers
from oresight.harness.text import visible
from oresight.harness.worlds import find_world


@options.expands
def branch(
    episodes: Annotated[
        list[Path], typer.Argument(metavar="EPISODE_DIR...", help="Folders of recorded episodes of one world.")
    ],
    at: Annotated[
        str, typer.Option(help="After how many decisions to play on: 0 is the start; several with commas, 10,20.")
    ],
    agent: Annotated[
        str | None,
        typer.Option(help="One or more agents; same, the recorded one, if neither agent nor model is given."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="One or more models, for example openai:a,gemini:b.")] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="One or more memories, for example raw,screenshots; the recorded one if left out."),
    ] = None,
    prompts: Annotated[
        str | None, typer.Option(help="One or more sets of prompts, for models; the recorded one if left out.")
    ] = None,
    rollouts: Annotated[
        int, typer.Option(min=1, max=MOST_ROLLOUTS, help="Branches from each point, each with a seed of its own.")
    ] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder of what is played; one under runs/ if left out.")] = None,
    frames: options.FramesKept = None,
    size: Annotated[
        str | None, typer.Option(help="craft: width x height of the pictures; as recorded, or 640x480, if left out.")
    ] = None,
    pictures: Annotated[
        bool | None,
        typer.Option(
            "--pictures/--no-pictures", help="craft: whether the agent gets pictures; as recorded if left out."
        ),
    ] = None,
    place: options.PlaceOptions = options.PlaceOptions(),
    asked: options.ModelOptions = options.ModelOptions(),
    dry_run: options.DryRun = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison, or what is counted, as JSON.")] = False,
) -> None:
    """Play on from a decision of a recorded episode: as another agent, model or memory, as often as asked.

    The recorded decisions are done again first and nobody is asked for them; whoever plays on is shown them as its own
    past. What is counted are the decisions after the branch point. Rerun the same command to resume it.

    Example: oresight branch runs/scout/episodes/valley-1 --at 20 --memory raw,screenshots --rollouts 4 --out runs/b

    Example: oresight branch runs/x/episodes/high-small-0 --at 5,10 --agent same,random --rollouts 8
    """
    points = find_points(episodes, parse_numbers(at, "--at", "number of decisions", "20 or 10,20"), rollouts)
    settings = asked.settings()
    if settings.seed is None and rollouts > 1:
        # Rollouts of a model are to differ where it samples with a seed; each has the next one.
        settings = dataclasses.replace(settings, seed=0)
    manner = _manner(points, frames, size, pictures, asked.prices, memory, settings)
    conditions = conditions_of(
        points,
        options.split_list(agent or ""),
        options.split_list(model or ""),
        options.split_list(memory or ""),
        options.split_list(prompts or ""),
    )
    arms = list({arm.label: arm for arm in (condition_plan(each, [points], manner) for each in conditions)}.values())
    check_caps(asked.caps, [arm.plan for arm in arms])
    if dry_run:
        _print_forecasts(arms, as_json)
        return
    console = make_console(stderr=as_json)
    console.print(visible(points_words(points)))
    if rollouts > 1 and asked.temperature == 0 and any(arm.plan.model is not None for arm in arms):
        console.print(
            "At temperature 0 a model's rollouts may be alike, seed or not; --temperature 1 lets them differ more."
        )
    told = repr([(arm.label, arm.plan.run_file().config.model_dump_json()) for arm in arms])
    folder = out or Path("runs", f"branch-{hashlib.sha256(told.encode()).hexdigest()[:8]}")
    play_study(arms, folder, place, asked.caps, as_json)


def _manner(
    points: BranchPoints,
    frames: str | None,
    size: str | None,
    pictures: bool | None,
    prices: Path | None,
    memory: str | None,
    settings: ModelSettings,
) -> PlayOptions:
    """How the branches are played: with pictures as they were recorded, unless something else is said."""
    world = find_world(points.kind)
    if not world.pictures and (size is not None or pictures):
        raise UsageError(
            f"--size and --pictures are for pictures, and {world.title or world.kind} has none; leave them out"
        )
    recorded, without = recorded_size(points)
    if world.pictures and pictures is None and size is None and without:
        if any(needs_pictures(each) for each in options.split_list(memory or "") if each != "same"):
            raise UsageError(
                "what was recorded had no pictures, and --memory asks for some; add --pictures to draw them"
            )
        pictures = False
    if size is None and recorded is not None:
        size = f"{recorded[0]}x{recorded[1]}"
    manner = options.play_options(points.kind, frames, size, pictures is not False, prices)
    return dataclasses.replace(manner, settings=settings)


def _print_forecasts(arms: list[ConditionPlan], as_json: bool) -> None:
    forecasts = [(arm.label, forecast(arm.plan)) for arm in arms]
    if as_json:
        print(json.dumps([{"label": label, **each.to_json()} for label, each in forecasts], indent=1))
    else:
        print_forecasts(make_console(), forecasts)
