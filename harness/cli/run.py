"""`oresight run`: plays the episodes that are asked for and leaves a run folder."""

import re
from pathlib import Path
from typing import Annotated

import typer

from harness.agents import canonical_agent, find_agent
from harness.cli.display import EpisodeLines, make_console, print_run
from harness.context import canonical_name
from harness.errors import UnknownNameError, UsageError
from harness.runner import RunPlan
from harness.runner import run as run_episodes
from harness.store import Frames
from harness.words import visible
from harness.worlds import World, find_worlds, suite_names, world_of_map

INCOMPLETE = 3
_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})")
_NUMBERED = re.compile(r"(.+)-\d+")
FRAMES: tuple[Frames, ...] = ("all", "last", "none")
_NAME_WIDTH = 14


def run(
    world: Annotated[str, typer.Argument(metavar="WORLD", help="craft, the 3D world, or grid.")],
    out: Annotated[Path, typer.Option(help="Run folder: new, empty, or an earlier run of the same command.")],
    agent: Annotated[
        str,
        typer.Option(
            help="craft: random, stuck, spinner, scout, oracle; grid: random, depth-first, frontier,"
            " frontier(window=8,noise=0.1), solver; or package.module:Class."
        ),
    ],
    memory: Annotated[str, typer.Option(help="What the agent is shown: raw, window:N, or screenshots:N.")] = "raw",
    scenario: Annotated[str | None, typer.Option(help="One scenario: outcrop-0, or in the grid low-small-0.")] = None,
    suite: Annotated[
        str | None, typer.Option(help="A suite of scenarios: craft-mine; in the grid main, semantic, exploit-only.")
    ] = None,
    map_file: Annotated[Path | None, typer.Option("--map", help="Grid: a map file.")] = None,
    demand: Annotated[
        str | None, typer.Option(help="Grid: generated maps of an exploitation demand: low, medium, high.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds, for example 0,1,2; the suite's own if left out.")] = None,
    prompts: Annotated[
        str | None,
        typer.Option(help="Grid: base, exploration, exploitation or balance, or one of them with -reasoning."),
    ] = None,
    frames: Annotated[
        str | None, typer.Option(help="Pictures to keep: all (below 100 episodes), last or none.")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            help="craft: width x height of the pictures, 64x48 to 1920x1080 (640x480 if left out); grid, with --demand:"
            " the task DAG's size, small, medium, large."
        ),
    ] = None,
    pictures: Annotated[
        bool, typer.Option(help="craft: whether the agent gets pictures; without, no OpenGL is needed.")
    ] = True,
) -> None:
    """Play episodes and leave a run folder with records, scores and a summary.

    The same command goes on where it was stopped; finished episodes are kept.

    Example: oresight run craft --agent scout --suite craft-mine --seeds 0,1,2 --out runs/scout

    Example: oresight run grid --agent frontier --suite main --out runs/frontier
    """
    numbers = None if seeds is None else parse_seeds(seeds)
    canonical = canonical_name(memory)
    kept_frames = _frames(frames)
    picture_size = None
    if world == "grid":
        if kept_frames is not None:
            raise UsageError("--frames is for pictures, and the grid has none; leave it out")
        kept_frames = "none"
        # What is quick to check comes first: a scenario that was never used is made now, which takes a while.
        find_agent(agent, world)
        worlds = _grid_worlds(scenario, suite, map_file, demand, size, numbers, prompts)
    else:
        for option, value in (("--map", map_file), ("--demand", demand)):
            if value is not None:
                raise UsageError(f"{option} is for the grid; give --scenario or --suite")
        picture_size = parse_size(size or "640x480") if pictures else None
        names = _scenario_names(world, scenario, suite, numbers)
        find_agent(agent, world)
        worlds = find_worlds(world, names) if prompts is None else find_worlds(world, names, prompts)
    plan = RunPlan(canonical_agent(agent, world), canonical, worlds, kept_frames, picture_size)
    console = make_console()
    width = max(_NAME_WIDTH, *(len(each.name) for each in worlds))
    try:
        summary = run_episodes(plan, out, EpisodeLines(console, width))
    except KeyboardInterrupt:
        console.print("Interrupted; the same command goes on with the run.")
        raise typer.Exit(INCOMPLETE) from None
    print_run(console, summary)
    console.print(f"Written to {visible(str(out))}")
    if not summary.complete:
        raise typer.Exit(INCOMPLETE)


def parse_size(text: str) -> tuple[int, int]:
    """Width and height of pictures.

    Raises:
        UsageError: It is no size, or beyond the limits.
    """
    match = _SIZE.fullmatch(text)
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (64 <= width <= 1920 and 48 <= height <= 1080):
        raise UsageError(f"--size is {text!r}; expected WIDTHxHEIGHT from 64x48 to 1920x1080, for example 640x480")
    return width, height


def parse_seeds(text: str) -> list[int]:
    """Seeds as whole numbers, each once.

    Raises:
        UsageError: One is no whole number of 0 or more, or one stands there twice.
    """
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not re.fullmatch(r"[0-9]{1,9}", part):
            raise UsageError(f"--seeds is {text!r} and {part!r} is no seed; expected whole numbers such as 0,1,2")
    seeds = [int(part) for part in parts]
    if len(set(seeds)) != len(seeds):
        raise UsageError(f"--seeds is {text!r}, where a seed stands twice; give each once")
    return seeds


def _grid_worlds(
    scenario: str | None,
    suite: str | None,
    map_file: Path | None,
    demand: str | None,
    size: str | None,
    seeds: list[int] | None,
    prompts: str | None,
) -> tuple[World, ...]:
    if [scenario, suite, map_file, demand].count(None) != 3:
        raise UsageError("give one of --suite main, --scenario low-small-0, --map FILE, or --demand low --size small")
    if (demand is None) != (size is None):
        raise UsageError("--demand and --size go together, for example --demand low --size small")
    if map_file is not None:
        if seeds is not None:
            raise UsageError("--map names one map, which no seed changes; leave out --seeds")
        return (world_of_map(map_file, prompts),)
    if demand is not None:
        scenario = f"{demand}-{size}"
    return find_worlds("grid", _scenario_names("grid", scenario, suite, seeds), prompts)


def _scenario_names(world: str, scenario: str | None, suite: str | None, seeds: list[int] | None) -> list[str]:
    if (scenario is None) == (suite is None):
        raise UsageError("give either --scenario, for example outcrop-0, or --suite, for example craft-mine")
    if suite is not None:
        return suite_names(world, suite, seeds)
    assert scenario is not None
    if _NUMBERED.fullmatch(scenario):
        if seeds is not None:
            raise UsageError(f"scenario {scenario!r} names its seed already; leave out --seeds, or the number")
        return [scenario]
    return [f"{scenario}-{number}" for number in ([0] if seeds is None else seeds)]


def _frames(text: str | None) -> Frames | None:
    for name in FRAMES:
        if text == name:
            return name
    if text is not None:
        raise UnknownNameError("choice for --frames", text, list(FRAMES))
    return None
