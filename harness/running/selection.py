"""Which episodes are asked for: options of a command or fields of a study, turned into worlds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from oresight.harness.errors import UsageError
from oresight.harness.worlds import EpisodeRequest, World, bundled_worlds, find_world
from oresight.harness.worlds.prompts import OwnPrompts, load_prompts

_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})")


class Episodes(Protocol):
    """Which episodes are asked for, however they are named."""

    @property
    def kind(self) -> str:
        """Name of their world."""

    def worlds(self, prompts: str | None = None) -> tuple[World, ...]:
        """Return the worlds, in order; see `Selection.worlds`."""


@dataclass(frozen=True)
class Selection:
    """Episodes of one world.

    Attributes:
        kind: Name of the world.
        scenario: One scenario, with its number or without.
        suite: A suite of scenarios.
        seeds: For a suite or a scenario without its number; None for the suite's own.
        options: The world's own, by name; see `World.options`.
    """

    kind: str
    scenario: str | None = None
    suite: str | None = None
    seeds: tuple[int, ...] | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    def worlds(self, prompts: str | None = None) -> tuple[World, ...]:
        """Return the worlds, in order.

        Args:
            prompts: Name of a prompt set, or a file with a user's own texts; None for the plain set.

        Raises:
            UsageError: There is no such scenario, suite or prompt set, or the fields do not go together.
        """
        world = find_world(self.kind)
        named, own = find_prompts(world, prompts)
        for name in self.options:
            if name not in world.options:
                takers = [each.title for each in bundled_worlds() if name in each.options]
                if takers:
                    raise UsageError(f"--{name} is for {' and '.join(takers)}; give --scenario or --suite")
                known = ", ".join(world.options) or "none"
                raise UsageError(
                    f"option {name!r} is unknown in {world.title or world.kind}; known: {known}; leave it out"
                )
        found = tuple(world.find(EpisodeRequest(self.scenario, self.suite, self.seeds, self.options, named, own)))
        if not found:
            raise UsageError(f"no episode of {world.title or world.kind} is asked for; give --scenario or --suite")
        return found


def find_prompts(world: type[World], text: str | None) -> tuple[str | None, OwnPrompts | None]:
    """Return the name of a set of prompts, or the texts of a file in place of the plain set's.

    Raises:
        OresightError: The file cannot be read, or holds no prompts.
    """
    if text is None or not text.endswith((".toml", ".json")):
        return text, None
    if not world.prompt_parts:
        raise UsageError(f"--prompts is {text!r}, and the prompts of {world.title or world.kind} cannot be changed")
    return None, load_prompts(Path(text), world.prompt_parts)


def parse_size(text: str) -> tuple[int, int]:
    """Parse the width and height of pictures.

    Raises:
        UsageError: It is not a size, or beyond the limits.
    """
    match = _SIZE.fullmatch(text)
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (64 <= width <= 1920 and 48 <= height <= 1080):
        raise UsageError(f"--size is {text!r}; expected WIDTHxHEIGHT from 64x48 to 1920x1080, for example 640x480")
    return width, height


def parse_seeds(text: str) -> tuple[int, ...]:
    """Parse seeds: whole numbers, without duplicates.

    Raises:
        UsageError: One is not a whole number of 0 or more, or is repeated.
    """
    return parse_numbers(text, "--seeds", "seed", "0,1,2")


def parse_numbers(text: str, option: str, what: str, example: str) -> tuple[int, ...]:
    """Parse whole numbers separated by commas, without duplicates.

    Args:
        text: As it was typed.
        option: Where.
        what: What one of them is called.
        example: Of a right text.

    Raises:
        UsageError: One is not a whole number of 0 or more, or is repeated.
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
