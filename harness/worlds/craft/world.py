"""The 3D world for the harness: its scenarios, environment and scorer."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from oresight.craftenv.actions import ACTIONS
from oresight.craftenv.config import SIGHT_BLOCKS, TERRAIN_VERSION, VERTICAL_FOV_DEG
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.prompts import PARTS, STRATEGIES, system_prompt
from oresight.craftenv.scenarios.dials import EXPLOITATION, EXPLORATION
from oresight.craftenv.scenarios.maker import SUITE_SEEDS, SUITES
from oresight.craftenv.scenarios.scenario import Scenario, UnknownScenarioError, load_scenario
from oresight.craftenv.scenarios.suites import get_scenario, scenario_names
from oresight.harness.errors import MissingPartError, ReplayRefusedError, UsageError
from oresight.harness.protocols import Json
from oresight.harness.worlds.base import Size, World, own_version
from oresight.harness.worlds.prompts import REASONING_SUFFIX, OwnPrompts, find_set, prompts_name, set_names
from oresight.scoring import records
from oresight.scoring.branch import after_branch
from oresight.scoring.craft.adapter import CraftScorer
from oresight.scoring.parameters import Parameters, RecordedInputs

PROMPT_PARTS = PARTS


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
        return scenario_names(name, SUITE_SEEDS if seeds is None else tuple(seeds))
    except UnknownScenarioError as error:
        raise UsageError(str(error)) from error


def dial_levels() -> Json:
    """What each level of the two demands of the dials means."""
    return {
        "exploration": {name: asdict(level) for name, level in EXPLORATION.items()},
        "exploitation": {name: asdict(level) for name, level in EXPLOITATION.items()},
    }


def knows(suite: str | None, scenario: str | None) -> bool:
    """Whether a suite, or a scenario with or without its number, is of this world."""
    kinds = {kind.partition("-")[0] for kinds in SUITES.values() for kind in kinds}
    return suite in SUITES or (scenario is not None and scenario.partition("-")[0] in kinds)


def of_header(header: records.Header, prompts: str | None = None, own: OwnPrompts | None = None) -> World:
    """The world that a trajectory was recorded in, with its prompts or with others.

    Raises:
        ReplayRefusedError: It was another terrain.
        UsageError: There is no such prompt set.
    """
    if prompts is None and own is None and header.prompts in set_names(STRATEGIES):
        prompts = header.prompts
    return _world(recorded_scenario(header), prompts, own)


def of_session(header: records.SessionHeader) -> World:
    """The world that a person's session was recorded in.

    Raises:
        ReplayRefusedError: It was another terrain.
    """
    return _world(recorded_scenario(header))


def recorded_scenario(header: records.Header | records.SessionHeader) -> Scenario:
    """The scenario that a trajectory or a session was recorded in.

    Raises:
        ReplayRefusedError: It was another terrain, or it is no scenario.
    """
    recorded = header.versions.get("terrain")
    if recorded != TERRAIN_VERSION:
        raise ReplayRefusedError(
            f"recorded with terrain version {recorded!r}, but this is version {TERRAIN_VERSION}: the world is not the"
            " same; `oresight score` still scores it, and a replay needs the oresight that recorded it"
        )
    try:
        return load_scenario(records.to_line(header.scenario).decode(), "the header's scenario")
    except UnknownScenarioError as error:
        raise ReplayRefusedError(str(error)) from error


def opengl() -> tuple[str, str]:
    """Name and version of the OpenGL renderer that draws the pictures.

    Raises:
        MissingPartError: There is none; says what to install.
    """
    from oresight.craftenv.render.context import OpenGLUnavailable, describe

    try:
        info = describe()
    except OpenGLUnavailable as error:
        raise MissingPartError(str(error)) from error
    return info.renderer, info.version


def _prepare(size: Size | None) -> None:
    if size is not None:
        opengl()


def _again(name: str, prompts: str | None, own: OwnPrompts | None) -> World:
    return find([name], prompts, own)[0]


def _world(scenario: Scenario, prompts: str | None = None, own: OwnPrompts | None = None) -> World:
    strategy, reasoning = find_set(prompts, STRATEGIES)
    parameters = Parameters(recorded=RecordedInputs(vertical_fov_deg=VERTICAL_FOV_DEG, sight_blocks=SIGHT_BLOCKS))

    def open_world(size: Size | None) -> CraftEnv:
        if size is None:
            return CraftEnv(scenario, pictures=False)
        return CraftEnv(scenario, width=size[0], height=size[1])

    def film(size: Size) -> CraftEnv:
        return CraftEnv(scenario, pictures=False, width=size[0], height=size[1])

    def proof() -> Sequence[str]:
        if not scenario.proof:
            raise UsageError(f"scenario {scenario.name!r} has no committed proof to play; choose one of the suite")
        return scenario.proof

    return World(
        kind="craft",
        name=scenario.name,
        seed=scenario.seed,
        budget=scenario.budget,
        scenario=scenario.model_dump(mode="json", exclude={"proof"}),
        actions=tuple(asdict(action) | {"effect": action.effect.value} for action in ACTIONS),
        score_inputs=parameters.recorded.model_dump(mode="json"),
        parameters=parameters.model_dump(mode="json"),
        versions={"oresight": own_version(), "terrain": TERRAIN_VERSION},
        instructions=system_prompt(strategy, reasoning, None if own is None else own.parts),
        prepare=_prepare,
        open=open_world,
        film=film,
        scorer=lambda header: after_branch(
            CraftScorer(parameters, header["scenario"], header["start"]["facts"]), header
        ),
        proof=proof,
        prompts=prompts_name(f"{strategy}{REASONING_SUFFIX}" if reasoning else strategy, own),
        again=partial(_again, scenario.name, prompts, own),
    )
