"""The 3D world for the harness: its scenarios, environment and scorer."""

from collections.abc import Sequence
from dataclasses import asdict

from craftenv.actions import ACTIONS
from craftenv.config import SIGHT_BLOCKS, TERRAIN_VERSION, VERTICAL_FOV_DEG
from craftenv.env import CraftEnv
from craftenv.scenarios import (
    SUITE_SEEDS,
    Scenario,
    UnknownScenarioError,
    get_scenario,
    load_scenario,
    scenario_names,
)
from harness.errors import MissingPartError, ReplayRefusedError, UsageError
from harness.worlds.world import Size, World, own_version
from scoring import records
from scoring.craft import CraftScorer
from scoring.parameters import Parameters, RecordedInputs


def find(names: Sequence[str]) -> tuple[World, ...]:
    """Worlds by the names of their scenarios.

    Raises:
        UsageError: There is no such scenario.
    """
    try:
        return tuple(_world(get_scenario(name)) for name in names)
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


def of_header(header: records.Header) -> World:
    """The world that a trajectory was recorded in.

    Raises:
        ReplayRefusedError: It was another terrain.
    """
    recorded = header.versions.get("terrain")
    if recorded != TERRAIN_VERSION:
        raise ReplayRefusedError(
            f"recorded with terrain version {recorded!r}, but this is version {TERRAIN_VERSION}: the world is not the"
            " same; `oresight score` still scores it, and a replay needs the oresight that recorded it"
        )
    try:
        return _world(load_scenario(records.to_line(header.scenario).decode(), "the header's scenario"))
    except UnknownScenarioError as error:
        raise ReplayRefusedError(str(error)) from error


def opengl() -> tuple[str, str]:
    """Name and version of the OpenGL renderer that draws the pictures.

    Raises:
        MissingPartError: There is none; says what to install.
    """
    from craftenv.render.context import OpenGLUnavailable, describe

    try:
        info = describe()
    except OpenGLUnavailable as error:
        raise MissingPartError(str(error)) from error
    return info.renderer, info.version


def _prepare(size: Size | None) -> None:
    if size is not None:
        opengl()


def _world(scenario: Scenario) -> World:
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
        instructions=_instructions(),
        prepare=_prepare,
        open=open_world,
        film=film,
        scorer=lambda header: CraftScorer(parameters, header["scenario"], header["start"]["facts"]),
        proof=proof,
    )


def _instructions() -> str:
    table = "\n".join(f"- {action.name}: {action.description}" for action in ACTIONS)
    return (
        "You play a game made of blocks, seen in first person. The game stands still while you decide: you choose one"
        " action, it runs for its whole duration, and you see what came of it. The task, the last action's outcome and"
        f" your inventory are told with every picture.\n\nThe actions:\n{table}\n\n"
        'Answer with one JSON object that names one action, for example {"action": "look_left"}.'
    )
