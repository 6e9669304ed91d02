"""The grid world for the harness: its scenarios, environment, scorer, and the pictures of a film."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from typing_extensions import override

from oresight.gridenv.env import GridEnv, Observation, Transition
from oresight.gridenv.generate import DEMANDS, GENERATOR_VERSION, SIZES
from oresight.gridenv.mapfile import MapError, map_to_json, parse_map
from oresight.gridenv.model import DIRECTION_NAMES, VISIBILITIES, Cell, Exploration, Visibility
from oresight.gridenv.prompts import PARTS, STRATEGIES, system_prompt
from oresight.gridenv.solver import solve
from oresight.gridenv.suites import (
    SUITES,
    GridScenario,
    UnknownScenarioError,
    get_scenario,
    labels_of,
    scenario_from_json,
    scenario_names,
    scenario_of_map,
)
from oresight.gridenv.text import briefing
from oresight.harness import files
from oresight.harness.context.structured import Digest
from oresight.harness.errors import ReplayRefusedError, UsageError
from oresight.harness.protocols import Choice, EnvironmentSpec, FilmEnvironment, Json, Pixels
from oresight.harness.worlds.base import LEVELS, EpisodeRequest, Size, World, own_version
from oresight.harness.worlds.prompts import OwnPrompts, find_set, full_name, set_names
from oresight.scoring import records

if TYPE_CHECKING:
    from oresight.harness.records.scored import Story
    from oresight.harness.worlds.grid.account import GridAccount
    from oresight.harness.worlds.story import Explanation
    from oresight.harness.worlds.view import View
    from oresight.scoring.grid.adapter import GridScenario as ScoredScenario

OVER_AT_START = "the goal is achieved at the start, so that there is nothing to decide; move the goal or the start"
_NO_ID = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True)
class GridWorld(World):
    """One map of the grid world.

    Attributes:
        source: The scenario.
    """

    kind = "grid"
    title = "the grid"
    agents: ClassVar[Mapping[str, str]] = {
        "random": "oresight.harness.agents.grid.random_way:RandomWay",
        "depth-first": "oresight.harness.agents.grid.depth_first:DepthFirst",
        "frontier": "oresight.harness.agents.grid.frontier:Frontier",
        "solver": "oresight.harness.agents.baselines:Solver",
    }
    options: ClassVar[Mapping[str, str]] = {
        "map": "A map file.",
        "demand": "Generated maps of an exploitation demand: low, medium, high.",
        "size": "With demand, the task DAG's size: small, medium, large.",
    }
    prompt_parts = PARTS
    sizes = tuple(SIZES)
    graded_suite = "main"
    actions = Choice(DIRECTION_NAMES)

    source: GridScenario

    @classmethod
    def of(
        cls,
        source: GridScenario,
        prompts: str | None = None,
        own: OwnPrompts | None = None,
        fingerprint: str | None = None,
    ) -> Self:
        """Return the world of a scenario.

        Raises:
            UsageError: There is no such prompt set.
        """
        return cls(
            name=source.name,
            scenario=source.to_json(),
            budget=source.budget,
            seed=source.seed,
            prompts=full_name(prompts, STRATEGIES, own),
            own=own,
            fingerprint=fingerprint,
            source=source,
        )

    @classmethod
    @override
    def find(cls, request: EpisodeRequest) -> tuple[Self, ...]:
        demand, size, file = (request.options.get(name) for name in ("demand", "size", "map"))
        if [request.scenario, request.suite, file, demand].count(None) != 3:
            known = "--suite main, --scenario low-small-0, --map FILE, or --demand low --size small"
            raise UsageError(f"give one of {known}")
        if (demand is None) != (size is None):
            raise UsageError("--demand and --size go together, for example --demand low --size small")
        if file is not None:
            if request.seeds is not None:
                raise UsageError("--map names one map, which no seed changes; leave out --seeds")
            return (cls.of_map(Path(file), request.prompts, request.own),)
        if demand is not None:
            request = replace(request, scenario=f"{demand}-{size}")
        try:
            names = request.names(scenario_names)
            return tuple(cls.of(get_scenario(name), request.prompts, request.own) for name in names)
        except UnknownScenarioError as error:
            raise UsageError(str(error)) from error

    @classmethod
    @override
    def knows(cls, suite: str | None, scenario: str | None) -> bool:
        demands = (*DEMANDS, "full", "custom")
        return suite in SUITES or (scenario is not None and scenario.partition("-")[0] in demands)

    @classmethod
    def of_map(cls, path: Path, prompts: str | None = None, own: OwnPrompts | None = None) -> Self:
        """Return the world of a map file, whose visibility is the file's own.

        Raises:
            UsageError: The map is malformed, or there is nothing to decide on it.
            OresightError: The file cannot be read.
        """
        scenario = load_scenario(path)
        if over_at_start(scenario):
            raise UsageError(f"{path}: {OVER_AT_START}")
        return cls.of(scenario, prompts, own, fingerprint(scenario))

    @classmethod
    @override
    def of_header(cls, header: records.Header, prompts: str | None = None, own: OwnPrompts | None = None) -> Self:
        # The map stands in the header, so any version will do.
        if prompts is None and own is None and header.prompts in set_names(STRATEGIES):
            prompts = header.prompts
        try:
            return cls.of(scenario_from_json(header.scenario), prompts, own)
        except MapError as error:
            raise ReplayRefusedError(f"the header's {error}; the record is broken and cannot be replayed") from error

    @property
    @override
    def instructions(self) -> str:
        return instructions(self.source, self.prompts, self.own)

    @override
    def open(self, size: Size | None) -> GridEnv:
        return _open(self.source)

    @override
    def film(self, size: Size) -> "GridFilm":
        return GridFilm(self.source)

    @property
    @override
    def parameters(self) -> Json:
        return {"k": self.scored_with.k, "alpha": self.scored_with.alpha}

    @property
    @override
    def versions(self) -> dict[str, str | int]:
        return {"oresight": own_version(), "generator": GENERATOR_VERSION}

    @override
    def digest(self) -> Digest:
        from oresight.harness.worlds.grid.digest import GridDigest

        return GridDigest()

    @classmethod
    @override
    def demand_of(cls, scenario: str, error: str) -> str | None:
        found = labels_of(scenario)
        if found is None:
            return None
        # The names state the demand on exploitation; that on exploration is its opposite.
        place = LEVELS.index(found[0])
        return LEVELS[place if error == "exploitation" else len(LEVELS) - 1 - place]

    @classmethod
    @override
    def size_of(cls, scenario: str) -> str | None:
        found = labels_of(scenario)
        return None if found is None else found[1]

    @classmethod
    @override
    def story(cls, episode: "Story") -> "list[Explanation]":
        from oresight.harness.worlds.grid.story import grid_words

        return grid_words(episode, *_walked(episode))

    @classmethod
    @override
    def view(cls, episode: "Story") -> "View":
        from oresight.harness.worlds.grid.view import grid_view

        return grid_view(episode, *_walked(episode))

    @override
    def proof(self) -> Sequence[str]:
        return _solution(self.source)


def _walked(episode: "Story") -> "tuple[ScoredScenario, GridAccount]":
    from oresight.harness.worlds.grid.account import account
    from oresight.scoring.grid.adapter import GridScenario as ScoredScenario

    scenario = ScoredScenario.from_json(episode.header.scenario)
    moves = [step.line.action for step in episode.steps]
    return scenario, account(scenario, moves, [step.judged.case for step in episode.steps])


@lru_cache(maxsize=64)
def _solution(scenario: GridScenario) -> Sequence[str]:
    return solve(scenario.map).moves


def load_scenario(path: Path) -> GridScenario:
    """Return the scenario in a map file: an episode with its "map", or the bare map.

    Raises:
        UsageError: The map is malformed; the message names file and field.
        OresightError: The file cannot be read, or is no JSON object.
    """
    data = files.read_json(path)
    visibility: Visibility = "partial"
    try:
        if "map" in data and "cells" not in data:
            if data.get("visibility", visibility) not in VISIBILITIES:
                raise MapError("visibility", repr(data["visibility"]), f"one of {', '.join(VISIBILITIES)}")
            visibility = data.get("visibility", visibility)
            data = data["map"]
        return scenario_of_map(parse_map(data), _NO_ID.sub("-", path.stem)[:80] or "map", visibility)
    except MapError as error:
        raise UsageError(f"{path}: {error}; correct the file") from error


def over_at_start(scenario: GridScenario) -> bool:
    """Return whether the goal is achieved before any decision."""
    return Exploration(scenario.map, scenario.visibility).success


def fingerprint(scenario: GridScenario) -> str:
    """Return a hash of what is played, whatever it is called."""
    told = {**map_to_json(scenario.map), "visibility": scenario.visibility, "name": "", "drawn": None}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def instructions(scenario: GridScenario, prompts: str | None, own: OwnPrompts | None = None) -> str:
    """Return the system message; with everything known from the start it ends with the listing of the map.

    There it stays in view, whatever a context strategy drops.
    """
    strategy, reasoning = find_set(prompts, STRATEGIES)
    text = system_prompt(strategy, reasoning, scenario.visibility, None if own is None else own.parts)
    return f"{text}\n\n{briefing(scenario.map)}" if scenario.visibility == "full" else text


class GridFilm(FilmEnvironment):
    """The environment as a film sees it: the map with what the agent knows, its path, and the task DAG."""

    def __init__(self, scenario: GridScenario) -> None:
        self._environment = _open(scenario)
        self._path: list[Cell] = []

    @property
    @override
    def spec(self) -> EnvironmentSpec:
        return self._environment.spec

    @override
    def reset(self, seed: int | None = None) -> Observation:
        observation = self._environment.reset(seed)
        self._path = [self._environment.walk.position]
        return observation

    @override
    def step(self, action: str, on_tick: Callable[[], None] | None = None) -> Transition:
        transition = self._environment.step(action)
        self._path.append(self._environment.walk.position)
        return transition

    def render(self) -> Pixels:
        """Draw the map, uint8[height, width, 3]; every picture of an episode has the same size."""
        from oresight.gridenv.picture import draw_picture

        walk = self._environment.walk
        picture = draw_picture(walk.map, walk.state(), tuple(self._path))
        return np.asarray(picture.convert("RGB"), dtype=np.uint8).copy()

    @override
    def facts(self) -> dict[str, object]:
        return self._environment.facts()

    @override
    def state_hash(self) -> str:
        return self._environment.state_hash()

    @override
    def close(self) -> None:
        self._environment.close()


def _open(scenario: GridScenario) -> GridEnv:
    # The listing of a map that is known from the start stands in the instructions.
    return GridEnv(scenario, brief=False)
