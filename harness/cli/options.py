"""The options that several commands share, and what is made of them."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from oresight.harness.context import strategy_names
from oresight.harness.errors import UnknownNameError, UsageError
from oresight.harness.models.base import ModelSettings
from oresight.harness.models.prices import read_prices
from oresight.harness.records.folder import Frames
from oresight.harness.running.budget import Limits
from oresight.harness.running.executors import MOST_WORKERS, Executor, make_executor
from oresight.harness.running.plan import PlayOptions
from oresight.harness.running.selection import Selection, parse_seeds, parse_size
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
ModelSeed = Annotated[
    int | None, typer.Option(help="For models that sample with a seed; rollouts of a branch have the next ones.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count episodes, requests and pictures, and play nothing.")]


@dataclass(frozen=True)
class ModelOptions:
    """What is asked of models, and what they may cost."""

    max_cost: MaxCost = None
    max_tokens: MaxTokens = None
    prices: Prices = None
    temperature: Temperature = 0.0
    max_output_tokens: MaxOutputTokens = 4096
    timeout_s: TimeoutS = 120.0
    reasoning_effort: ReasoningEffort = None
    picture_detail: PictureDetail = None
    model_seed: ModelSeed = None

    @property
    def caps(self) -> Limits:
        """What the run may cost."""
        return Limits(self.max_cost, self.max_tokens)

    def settings(self) -> ModelSettings:
        """What is asked of a model.

        Raises:
            UsageError: An option is out of its range.
        """
        return ModelSettings(
            self.temperature,
            self.max_output_tokens,
            self.timeout_s,
            self.reasoning_effort,
            self.picture_detail,
            self.model_seed,
        )


@dataclass(frozen=True)
class EpisodeOptions:
    """Which episodes are played."""

    scenario: Scenario = None
    suite: Suite = None
    map_file: MapFile = None
    demand: Demand = None
    seeds: Seeds = None
    option: Option = None

    @property
    def given(self) -> bool:
        """Whether any of them was given."""
        return any(value is not None for value in vars(self).values())

    def selection(self, world: str, size: str | None) -> Selection:
        """The episodes.

        Args:
            world: Name of the world.
            size: Counts where the world has an option of that name; where there are pictures it is theirs.

        Raises:
            UsageError: One of `--option` is no NAME=VALUE.
        """
        own = {"map": self.map_file, "demand": self.demand, "size": size}
        takes = find_world(world).options
        given = {name: str(value) for name, value in own.items() if value is not None}
        options = {name: value for name, value in given.items() if name != "size" or name in takes}
        for text in self.option or ():
            name, equals, value = text.partition("=")
            if not equals or not name:
                raise UsageError(f"--option is {text!r}; expected NAME=VALUE, for example --option split=dev")
            options[name] = value
        seeds = None if self.seeds is None else parse_seeds(self.seeds)
        return Selection(world, self.scenario, self.suite, seeds, options)


@dataclass(frozen=True)
class PlaceOptions:
    """Where the episodes are played, and how many at once."""

    workers: Workers = 1
    concurrency: Concurrency = None
    executor: Where = "processes"

    def make(self, a_model_plays: bool, desktop: bool = False) -> Executor:
        """Make the executor.

        Raises:
            UsageError: Several are to be played at once, and there is one keyboard and one mouse.
            OresightError: There is no such place, or what it needs is missing.
        """
        if desktop and (self.executor != "processes" or self.workers > 1 or (self.concurrency or 1) > 1):
            raise UsageError(
                "--desktop plays one episode at a time, for a display has one keyboard and one mouse; leave out"
                " --workers, --concurrency and --executor"
            )
        usual = MODEL_CONCURRENCY if a_model_plays and not desktop else 1
        return make_executor(self.workers, usual if self.concurrency is None else self.concurrency, self.executor)


def expands(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of the groups that it takes: a parameter whose type is one of these dataclasses.

    The command line library reads options from a signature, so the command gets one in which each group is replaced by
    its fields, in their order.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if not is_dataclass(hints[name]):
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        group = hints[name]
        assert isinstance(group, type)
        groups[name] = group
        own = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=own[each.name]
            )
            for each in fields(group)
        ]

    @functools.wraps(command)
    def expanded(**given: Any) -> None:
        made = {
            name: group(**{each.name: given.pop(each.name) for each in fields(group)}) for name, group in groups.items()
        }
        command(**given, **made)

    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {each.name: each.annotation for each in parameters}
    return expanded


def play_options(kind: str, frames: str | None, size: str | None, pictures: bool, prices: Path | None) -> PlayOptions:
    """How the episodes of a command are played.

    Raises:
        UsageError: An option is wrong, or is not for this kind of world.
    """
    world = find_world(kind)
    if not world.pictures:
        if frames is not None:
            raise UsageError(f"--frames is for pictures, and {world.title or world.kind} has none; leave it out")
        return PlayOptions("none", None, prices=read_prices(prices))
    picture_size = parse_size(size or "640x480") if pictures else None
    return PlayOptions(parse_frames(frames), picture_size, prices=read_prices(prices))


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
