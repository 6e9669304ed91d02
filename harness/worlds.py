"""Name to environment: the one file that names the environment packages and the scorers that go with them.

A `World` is one scenario, ready to be opened. Nothing of a world's package is imported before it is asked for.
"""

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from harness.errors import MissingPartError, ReplayRefusedError, UnknownNameError, UsageError
from harness.protocols import Environment, FilmEnvironment, Json, Scorer
from scoring import records

if TYPE_CHECKING:
    from craftenv.env import CraftEnv
    from craftenv.scenarios import Scenario

KINDS = ("craft",)
Size = tuple[int, int]


@dataclass(frozen=True)
class World:
    """One scenario of one kind of world.

    Attributes:
        kind: `craft` or `grid`.
        name: The scenario's name, which is the episode's id too.
        seed: The scenario's seed; the agent's random choices derive from it.
        budget: Decisions allowed.
        scenario: The scenario as it stands in a trajectory's header.
        actions: The table of actions as it stands in a trajectory's header; each has a `name`.
        score_inputs: What the facts are computed with.
        parameters: What the scorer scores with.
        versions: Of this project and of the terrain.
        instructions: The system message: how the world works and how to answer.
        prepare: Fails now, and not in the middle of an episode, if pictures are asked for and cannot be had.
        open: Opens it with pictures of a width and height, or without (None).
        film: Opens it for a film with pictures of a width and height.
        scorer: Makes a live scorer from a trajectory's header.
        proof: Gives the committed full-knowledge solution.
    """

    kind: str
    name: str
    seed: int
    budget: int
    scenario: Json
    actions: tuple[Json, ...]
    score_inputs: Json
    parameters: Json
    versions: dict[str, str | int]
    instructions: str
    prepare: Callable[[Size | None], None]
    open: Callable[[Size | None], Environment]
    film: Callable[[Size], FilmEnvironment]
    scorer: Callable[[Json], Scorer]
    proof: Callable[[], Sequence[str]]

    @property
    def action_names(self) -> tuple[str, ...]:
        """Names of every action, in table order."""
        return tuple(str(action["name"]) for action in self.actions)

    def header(self, agent: str, memory: str, state_hash: str, facts: Json) -> Json:
        """The first line of a trajectory.

        Args:
            agent: Name of the agent.
            memory: Name of its context strategy.
            state_hash: Of the start.
            facts: Of the start.
        """
        return {
            "format": records.TRAJECTORY_FORMAT,
            "version": records.VERSION,
            "kind": self.kind,
            "scenario": self.scenario,
            "agent": agent,
            "memory": memory,
            "actions": list(self.actions),
            "score_inputs": self.score_inputs,
            "versions": self.versions,
            "start": {"state_hash": state_hash, "facts": facts},
        }


def own_version() -> str:
    """Version of this project as installed."""
    return importlib.metadata.version("oresight")


def find_worlds(kind: str, names: Sequence[str]) -> tuple[World, ...]:
    """Worlds by the names of their scenarios.

    Raises:
        UsageError: No such kind or scenario.
    """
    _check_kind(kind)
    from craftenv.scenarios import UnknownScenarioError, get_scenario

    try:
        return tuple(_craft_world(get_scenario(name)) for name in names)
    except UnknownScenarioError as error:
        raise UsageError(str(error)) from error


def suite_names(kind: str, suite: str, seeds: Sequence[int] | None = None) -> list[str]:
    """Names of a suite's scenarios, for its own seeds or for others.

    Raises:
        UsageError: No such kind or suite.
    """
    _check_kind(kind)
    from craftenv.scenarios import SUITE_SEEDS, UnknownScenarioError, scenario_names

    try:
        return scenario_names(suite, SUITE_SEEDS if seeds is None else tuple(seeds))
    except UnknownScenarioError as error:
        raise UsageError(str(error)) from error


def world_of_header(header: records.Header) -> World:
    """The world that a trajectory was recorded in.

    Raises:
        ReplayRefusedError: It was another terrain, or a world that is not known here.
    """
    if header.kind not in KINDS:
        raise ReplayRefusedError(f"this is a trajectory of kind {header.kind!r}; replay knows {', '.join(KINDS)}")
    from craftenv.config import TERRAIN_VERSION
    from craftenv.scenarios import UnknownScenarioError, load_scenario

    recorded = header.versions.get("terrain")
    if recorded != TERRAIN_VERSION:
        raise ReplayRefusedError(
            f"recorded with terrain version {recorded!r}, but this is version {TERRAIN_VERSION}: the world is not the"
            " same; `oresight score` still scores it, and a replay needs the oresight that recorded it"
        )
    try:
        return _craft_world(load_scenario(records.to_line(header.scenario).decode(), "the header's scenario"))
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


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise UnknownNameError("world", kind, list(KINDS))


def _prepare_craft(size: Size | None) -> None:
    if size is not None:
        opengl()


def _craft_world(scenario: "Scenario") -> World:
    from craftenv.actions import ACTIONS
    from craftenv.config import SIGHT_BLOCKS, TERRAIN_VERSION, VERTICAL_FOV_DEG
    from craftenv.env import CraftEnv
    from scoring.craft import CraftScorer
    from scoring.parameters import Parameters, RecordedInputs

    parameters = Parameters(recorded=RecordedInputs(vertical_fov_deg=VERTICAL_FOV_DEG, sight_blocks=SIGHT_BLOCKS))

    def open_world(size: Size | None) -> "CraftEnv":
        if size is None:
            return CraftEnv(scenario, pictures=False)
        return CraftEnv(scenario, width=size[0], height=size[1])

    def film(size: Size) -> "CraftEnv":
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
        instructions=_craft_instructions(),
        prepare=_prepare_craft,
        open=open_world,
        film=film,
        scorer=lambda header: CraftScorer(parameters, header["scenario"], header["start"]["facts"]),
        proof=proof,
    )


def _craft_instructions() -> str:
    from craftenv.actions import ACTIONS

    table = "\n".join(f"- {action.name}: {action.description}" for action in ACTIONS)
    return (
        "You play a game made of blocks, seen in first person. The game stands still while you decide: you choose one"
        " action, it runs for its whole duration, and you see what came of it. The task, the last action's outcome and"
        f" your inventory are told with every picture.\n\nThe actions:\n{table}\n\n"
        'Answer with one JSON object that names one action, for example {"action": "look_left"}.'
    )
