"""Which episodes are asked for: options of a command or fields of a study, turned into worlds."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from oresight.harness.errors import UsageError
from oresight.harness.worlds import World, find_worlds, prompt_parts, suite_names, world_of_map
from oresight.harness.worlds.prompts import OwnPrompts, load_prompts

_NUMBERED = re.compile(r"(.+)-\d+")
_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})")


class Episodes(Protocol):
    """Which episodes are asked for, however they are named."""

    @property
    def kind(self) -> str:
        """Of their world: `craft` or `grid`."""

    def worlds(self, prompts: str | None = None) -> tuple[World, ...]:
        """The worlds, in order; see `Selection.worlds`."""


@dataclass(frozen=True)
class Selection:
    """Episodes of one kind of world.

    Attributes:
        kind: `craft` or `grid`.
        scenario: One scenario, with its number or without.
        suite: A suite of scenarios.
        map_file: Grid: a file with one map.
        demand: Grid: demand on exploitation of generated maps.
        size: Grid, with `demand`: size of the task DAG.
        seeds: For a suite or a scenario without its number; None for the suite's own.
    """

    kind: str
    scenario: str | None = None
    suite: str | None = None
    map_file: Path | None = None
    demand: str | None = None
    size: str | None = None
    seeds: tuple[int, ...] | None = None

    def worlds(self, prompts: str | None = None) -> tuple[World, ...]:
        """The worlds, in order.

        Args:
            prompts: Name of a prompt set, or a file with texts of one's own; None for the plain set.

        Raises:
            UsageError: There is no such scenario, suite or prompt set, or the fields do not go together.
        """
        named, own = find_prompts(self.kind, prompts)
        if self.kind == "grid":
            self._check_grid()
            if self.map_file is not None:
                return (world_of_map(self.map_file, named, own),)
        elif self.map_file is not None or self.demand is not None:
            option = "--map" if self.map_file is not None else "--demand"
            raise UsageError(f"{option} is for the grid; give --scenario or --suite")
        names = self._names()
        # Plain worlds are asked for plainly, as everybody else asks for them.
        return find_worlds(self.kind, names) if prompts is None else find_worlds(self.kind, names, named, own)

    def _check_grid(self) -> None:
        if [self.scenario, self.suite, self.map_file, self.demand].count(None) != 3:
            known = "--suite main, --scenario low-small-0, --map FILE, or --demand low --size small"
            raise UsageError(f"give one of {known}")
        if (self.demand is None) != (self.size is None):
            raise UsageError("--demand and --size go together, for example --demand low --size small")
        if self.map_file is not None and self.seeds is not None:
            raise UsageError("--map names one map, which no seed changes; leave out --seeds")

    def _names(self) -> list[str]:
        scenario = self.scenario if self.demand is None else f"{self.demand}-{self.size}"
        if (scenario is None) == (self.suite is None):
            raise UsageError("give either --scenario, for example outcrop-0, or --suite, for example craft-mine")
        if self.suite is not None:
            return suite_names(self.kind, self.suite, self.seeds)
        assert scenario is not None
        if _NUMBERED.fullmatch(scenario):
            if self.seeds is not None:
                raise UsageError(f"scenario {scenario!r} names its seed already; leave out --seeds, or the number")
            return [scenario]
        return [f"{scenario}-{number}" for number in ((0,) if self.seeds is None else self.seeds)]


def find_prompts(kind: str, text: str | None) -> tuple[str | None, OwnPrompts | None]:
    """Name of a set of prompts, or the texts of a file in place of the plain set's.

    Raises:
        OresightError: The file cannot be read, or holds no prompts.
    """
    if text is None or not text.endswith((".toml", ".json")):
        return text, None
    return None, load_prompts(Path(text), prompt_parts(kind))


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


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds as whole numbers, each once.

    Raises:
        UsageError: One is no whole number of 0 or more, or one stands there twice.
    """
    return parse_numbers(text, "--seeds", "seed", "0,1,2")


def parse_numbers(text: str, option: str, what: str, example: str) -> tuple[int, ...]:
    """Whole numbers with commas between, each once.

    Args:
        text: As it was typed.
        option: Where.
        what: What one of them is called.
        example: Of a right text.

    Raises:
        UsageError: One is no whole number of 0 or more, or one stands there twice.
    """
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not re.fullmatch(r"[0-9]{1,9}", part):
            raise UsageError(
                f"{option} is {text!r} and {part!r} is no {what}; expected whole numbers such as {example}"
            )
    numbers = tuple(int(part) for part in parts)
    if len(set(numbers)) != len(numbers):
        raise UsageError(f"{option} is {text!r}, where a {what} stands twice; give each once")
    return numbers
