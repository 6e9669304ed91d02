"""The grid world for the harness: its scenarios, environment, scorer, and the pictures of a film."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

from oresight.gridenv.env import GridEnv, Observation, Transition
from oresight.gridenv.generate import DEMANDS, GENERATOR_VERSION
from oresight.gridenv.mapfile import MapError, map_to_json, parse_map
from oresight.gridenv.model import DIRECTION_NAMES, VISIBILITIES, Cell, Exploration, Visibility
from oresight.gridenv.prompts import PARTS, STRATEGIES, system_prompt
from oresight.gridenv.solver import solve
from oresight.gridenv.suites import (
    SUITES,
    GridScenario,
    UnknownScenarioError,
    get_scenario,
    scenario_from_json,
    scenario_names,
    scenario_of_map,
)
from oresight.gridenv.text import briefing
from oresight.harness import files
from oresight.harness.errors import ReplayRefusedError, UsageError
from oresight.harness.protocols import Json, Pixels
from oresight.harness.worlds.base import Size, World, own_version
from oresight.harness.worlds.prompts import REASONING_SUFFIX, OwnPrompts, find_set, prompts_name, set_names
from oresight.scoring import records
from oresight.scoring.branch import after_branch
from oresight.scoring.grid.adapter import GridScorer
from oresight.scoring.parameters import Parameters

PROMPT_PARTS = PARTS
OVER_AT_START = "the goal is achieved at the start, so that there is nothing to decide; move the goal or the start"
_NO_ID = re.compile(r"[^A-Za-z0-9._-]+")


def find(names: Sequence[str], prompts: str | None = None, own: OwnPrompts | None = None) -> tuple[World, ...]:
    """Worlds by the names of their scenarios.

    Raises:
        UsageError: There is no such scenario or prompt set.
    """
    try:
        return tuple(_world(get_scenario(name), prompts, own) for name in names)
    except UnknownScenarioError as error:
        raise UsageError(str(error)) from error


def suite(name: str, seeds: Sequence[int] | None) -> list[str]:
    """Names of a suite's scenarios.

    Raises:
        UsageError: There is no such suite.
    """
    try:
        return scenario_names(name, None if seeds is None else tuple(seeds))
    except UnknownScenarioError as error:
        raise UsageError(str(error)) from error


def knows(suite: str | None, scenario: str | None) -> bool:
    """Whether a suite, or a scenario with or without its number, is of this world."""
    return suite in SUITES or (scenario is not None and scenario.partition("-")[0] in (*DEMANDS, "full", "custom"))


def of_map(path: Path, prompts: str | None = None, own: OwnPrompts | None = None) -> World:
    """The world of a map file, whose visibility is the file's own.

    Raises:
        UsageError: The map is malformed, or there is nothing to decide on it.
        OresightError: The file cannot be read.
    """
    scenario = load_scenario(path)
    if over_at_start(scenario):
        raise UsageError(f"{path}: {OVER_AT_START}")
    return _world(scenario, prompts, own, fingerprint(scenario))


def load_scenario(path: Path) -> GridScenario:
    """The scenario in a map file: an episode with its "map", or the bare map.

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
    """Whether the goal is achieved before any decision."""
    return Exploration(scenario.map, scenario.visibility).success


def fingerprint(scenario: GridScenario) -> str:
    """A hash of what is played, whatever it is called."""
    told = {**map_to_json(scenario.map), "visibility": scenario.visibility, "name": "", "drawn": None}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def of_header(header: records.Header, prompts: str | None = None, own: OwnPrompts | None = None) -> World:
    """The world that a trajectory was recorded in; the map stands in the header, so any version will do.

    It has the recorded prompts, or others.

    Raises:
        ReplayRefusedError: The recorded scenario is malformed.
        UsageError: There is no such prompt set.
    """
    if prompts is None and own is None and header.prompts in set_names(STRATEGIES):
        prompts = header.prompts
    try:
        return _world(scenario_from_json(header.scenario), prompts, own)
    except MapError as error:
        raise ReplayRefusedError(f"the header's {error}; the record is broken and cannot be replayed") from error


def instructions(scenario: GridScenario, prompts: str | None, own: OwnPrompts | None = None) -> str:
    """The system message; with everything known from the start it ends with the listing of the map.

    There it stays in view, whatever a context strategy drops.
    """
    strategy, reasoning = find_set(prompts, STRATEGIES)
    text = system_prompt(strategy, reasoning, scenario.visibility, None if own is None else own.parts)
    return f"{text}\n\n{briefing(scenario.map)}" if scenario.visibility == "full" else text


class GridFilm:
    """The environment as a film sees it: the map with what the agent knows, its path, and the task DAG."""

    def __init__(self, scenario: GridScenario) -> None:
        self._environment = _open(scenario)
        self._path: list[Cell] = []
        self.spec = self._environment.spec

    def reset(self, seed: int | None = None) -> Observation:
        """See `Environment.reset`."""
        observation = self._environment.reset(seed)
        self._path = [self._environment.walk.position]
        return observation

    def step(self, action: str, on_tick: Callable[[], None] | None = None) -> Transition:
        """See `FilmEnvironment.step`; a move has no ticks."""
        transition = self._environment.step(action)
        self._path.append(self._environment.walk.position)
        return transition

    def render(self) -> Pixels:
        """Draws the map, uint8[height, width, 3]; every picture of an episode has the same size."""
        from oresight.gridenv.picture import draw_picture

        walk = self._environment.walk
        picture = draw_picture(walk.map, walk.state(), tuple(self._path))
        return np.asarray(picture.convert("RGB"), dtype=np.uint8).copy()

    def facts(self) -> dict[str, object]:
        """See `Environment.facts`."""
        return self._environment.facts()

    def state_hash(self) -> str:
        """See `Environment.state_hash`."""
        return self._environment.state_hash()

    def close(self) -> None:
        """See `Environment.close`."""
        self._environment.close()


def _open(scenario: GridScenario) -> GridEnv:
    # The listing of a map that is known from the start stands in the instructions.
    return GridEnv(scenario, brief=False)


def _again(scenario: Json, prompts: str | None, own: OwnPrompts | None, fingerprint: str | None) -> World:
    return _world(scenario_from_json(scenario), prompts, own, fingerprint)


def _world(
    scenario: GridScenario, prompts: str | None, own: OwnPrompts | None = None, fingerprint: str | None = None
) -> World:
    parameters = Parameters()
    strategy, reasoning = find_set(prompts, STRATEGIES)
    told = {"k": parameters.k, "alpha": parameters.alpha}

    def prepare(size: Size | None) -> None:
        if size is not None:
            raise UsageError("the grid has no pictures; leave out the size of pictures")

    def film(size: Size) -> GridFilm:
        return GridFilm(scenario)

    @cache
    def proof() -> Sequence[str]:
        return solve(scenario.map).moves

    return World(
        kind="grid",
        name=scenario.name,
        seed=scenario.seed,
        budget=scenario.budget,
        scenario=scenario.to_json(),
        actions=tuple({"name": name} for name in DIRECTION_NAMES),
        score_inputs={},
        parameters=told,
        versions={"oresight": own_version(), "generator": GENERATOR_VERSION},
        instructions=instructions(scenario, prompts, own),
        prepare=prepare,
        open=lambda size: _open(scenario),
        film=film,
        scorer=lambda header: after_branch(GridScorer(parameters, header["scenario"]), header),
        proof=proof,
        prompts=prompts_name(f"{strategy}{REASONING_SUFFIX}" if reasoning else strategy, own),
        fingerprint=fingerprint,
        again=partial(_again, scenario.to_json(), prompts, own, fingerprint),
    )
