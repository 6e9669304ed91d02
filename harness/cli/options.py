"""The options that several commands share, and what is made of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from oresight.harness.context import strategy_names
from oresight.harness.errors import UnknownNameError, UsageError
from oresight.harness.models.base import ModelSettings
from oresight.harness.models.prices import read_prices
from oresight.harness.records.folder import Frames
from oresight.harness.running.executors import MOST_WORKERS, Executor, make_executor
from oresight.harness.running.plan import Manner
from oresight.harness.running.selection import Selection, parse_size
from oresight.harness.worlds import find_world

INCOMPLETE = 3
MOST_CONCURRENCY = 256
MODEL_CONCURRENCY = 4
FRAMES: tuple[Frames, ...] = ("all", "last", "none")

Memory = Annotated[str, typer.Option(help=f"What the agent is shown: {', '.join(strategy_names())}.")]
Scenario = Annotated[str | None, typer.Option(help="One scenario: outcrop-0, or in the grid low-small-0.")]
Suite = Annotated[
    str | None, typer.Option(help="A suite of scenarios: craft-mine, craft-dials; grid: main, semantic, exploit-only.")
]
MapFile = Annotated[Path | None, typer.Option("--map", help="Grid: a map file.")]
Demand = Annotated[str | None, typer.Option(help="Grid: generated maps of an exploitation demand: low, medium, high.")]
Option = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the world's own; may be given several times."),
]
Seeds = Annotated[str | None, typer.Option(help="Seeds, for example 0,1,2; the suite's own if left out.")]
FramesKept = Annotated[str | None, typer.Option(help="Pictures to keep: all (below 100 episodes), last or none.")]
Size = Annotated[
    str | None,
    typer.Option(
        help="craft: width x height of the pictures, 64x48 to 1920x1080 (640x480 if left out); grid, with --demand:"
        " the task DAG's size, small, medium, large."
    ),
]
Pictures = Annotated[bool, typer.Option(help="craft: whether the agent gets pictures; without, no OpenGL is needed.")]
Workers = Annotated[int, typer.Option(min=1, max=MOST_WORKERS, help="Processes that play; the results are the same.")]
Where = Annotated[
    str,
    typer.Option(
        "--executor", help="Where they play: processes, of this machine; ray or ray:ADDRESS, on a Ray cluster."
    ),
]
Desktop = Annotated[
    bool,
    typer.Option("--desktop", help="craft: through a real window, by injected keys and mouse, one episode at a time."),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_CONCURRENCY,
        help=f"Episodes under way at once, so requests in flight; {MODEL_CONCURRENCY} where a model plays.",
    ),
]
MaxCost = Annotated[float | None, typer.Option(help="Stop once the run has cost so many US dollars.")]
MaxTokens = Annotated[int | None, typer.Option(help="Stop once the run has used so many tokens.")]
Prices = Annotated[Path | None, typer.Option(help="A JSON file of prices, above those that come along.")]
Temperature = Annotated[float, typer.Option(help="Of the model.")]
MaxOutputTokens = Annotated[int, typer.Option(help="The model's allowance for a reply, reasoning included.")]
TimeoutS = Annotated[float, typer.Option("--timeout", help="Seconds after which a request counts as failed.")]
ReasoningEffort = Annotated[str | None, typer.Option(help="low, medium, high, or what else the model knows.")]
PictureDetail = Annotated[str | None, typer.Option(help="low, high, or what else the model knows.")]
ModelSeed = Annotated[int | None, typer.Option(help="For models that sample with a seed.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count episodes, requests and pictures, and play nothing.")]


def manner_of(kind: str, frames: str | None, size: str | None, pictures: bool, prices: Path | None) -> Manner:
    """How the episodes of a command are played.

    Raises:
        UsageError: An option is wrong, or is not for this kind of world.
    """
    world = find_world(kind)
    if not world.pictures:
        if frames is not None:
            raise UsageError(f"--frames is for pictures, and {world.title or world.kind} has none; leave it out")
        return Manner("none", None, prices=read_prices(prices))
    picture_size = parse_size(size or "640x480") if pictures else None
    return Manner(parse_frames(frames), picture_size, prices=read_prices(prices))


def selection_of(
    kind: str,
    scenario: str | None,
    suite: str | None,
    seeds: tuple[int, ...] | None,
    own: Mapping[str, object | None],
    more: Sequence[str],
) -> Selection:
    """Which episodes a command asks for.

    Args:
        kind: Name of the world.
        scenario: One scenario.
        suite: A suite.
        seeds: For a suite or a scenario without its number.
        own: Options that a bundled world has, by name; None for one that was not given. `size`, which where there are
            pictures is theirs, counts where the world has an option of that name.
        more: Further options as NAME=VALUE.

    Raises:
        UsageError: One is no NAME=VALUE.
    """
    takes = find_world(kind).options
    options = {
        name: str(value) for name, value in own.items() if value is not None and (name != "size" or name in takes)
    }
    for text in more:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--option is {text!r}; expected NAME=VALUE, for example --option split=dev")
        options[name] = value
    return Selection(kind, scenario, suite, seeds, options)


def settings_of(
    temperature: float,
    max_output_tokens: int,
    timeout_s: float,
    reasoning_effort: str | None,
    picture_detail: str | None,
    seed: int | None,
) -> ModelSettings:
    """What is asked of a model.

    Raises:
        UsageError: An option is out of its range.
    """
    return ModelSettings(temperature, max_output_tokens, timeout_s, reasoning_effort, picture_detail, seed)


def executor_of(
    where: str, workers: int, concurrency: int | None, a_model_plays: bool, desktop: bool = False
) -> Executor:
    """Where a command's episodes are played.

    Raises:
        UsageError: Several are to be played at once, and there is one keyboard and one mouse.
        OresightError: There is no such place, or what it needs is missing.
    """
    if desktop and (where != "processes" or workers > 1 or (concurrency or 1) > 1):
        raise UsageError(
            "--desktop plays one episode at a time, for a display has one keyboard and one mouse; leave out --workers,"
            " --concurrency and --executor"
        )
    usual = MODEL_CONCURRENCY if a_model_plays and not desktop else 1
    return make_executor(workers, usual if concurrency is None else concurrency, where)


def parse_frames(text: str | None) -> Frames | None:
    """Which pictures to keep.

    Raises:
        UsageError: There is no such choice.
    """
    for name in FRAMES:
        if text == name:
            return name
    if text is not None:
        raise UnknownNameError("choice for --frames", text, list(FRAMES))
    return None


def split_list(text: str) -> list[str]:
    """Names apart at their commas; those inside brackets belong to a name."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
