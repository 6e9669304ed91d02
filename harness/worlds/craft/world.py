"""The 3D world for the harness: its scenarios, environment and prompts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from typing_extensions import override

from oresight.craftenv.actions import ACTION_NAMES, ACTIONS
from oresight.craftenv.config import SIGHT_BLOCKS, TERRAIN_VERSION, VERTICAL_FOV_DEG
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.prompts import PARTS, STRATEGIES, system_prompt
from oresight.craftenv.scenarios.dials import EXPLOITATION, EXPLORATION
from oresight.craftenv.scenarios.maker import SUITE_SEEDS, SUITES
from oresight.craftenv.scenarios.scenario import Scenario, UnknownScenarioError, load_scenario
from oresight.craftenv.scenarios.suites import get_scenario, scenario_names
from oresight.harness.context.structured import Digest
from oresight.harness.errors import ReplayRefusedError, UsageError
from oresight.harness.protocols import Choice, Environment, Json
from oresight.harness.worlds.base import EpisodeRequest, Size, World, own_version
from oresight.harness.worlds.craft import NAME
from oresight.harness.worlds.craft.display import opengl
from oresight.harness.worlds.prompts import OwnPrompts, find_set, full_name, set_names
from oresight.scoring import records
from oresight.scoring.parameters import Parameters, RecordedInputs

if TYPE_CHECKING:
    from oresight.harness.records.scored import Story
    from oresight.harness.worlds.story import Explanation
    from oresight.harness.worlds.view import View

# The names of the suite craft-dials state the demand on exploration and that on exploitation.
_DIALS = re.compile(r"(?:^|-)dials-(low|medium|high)-(low|medium|high)-\d+$")
# What the facts are recorded under, and so what they are scored with live.
PARAMETERS = Parameters(recorded=RecordedInputs(vertical_fov_deg=VERTICAL_FOV_DEG, sight_blocks=SIGHT_BLOCKS))


@dataclass(frozen=True, kw_only=True)
class CraftWorld(World):
    """One scenario of the 3D world.

    Attributes:
        source: The scenario, with its proof if it has one.
    """

    kind = NAME
    title = "the 3D world"
    pictures = True
    agents: ClassVar[Mapping[str, str]] = {
        "random": "oresight.harness.agents.baselines:RandomAgent",
        "stuck": "oresight.harness.agents.baselines:Stuck",
        "spinner": "oresight.harness.agents.baselines:Spinner",
        "scout": "oresight.harness.agents.scout:make_scout",
        "oracle": "oresight.harness.agents.baselines:Oracle",
    }
    prompt_parts = PARTS
    graded_suite = "craft-dials"
    actions = Choice(ACTION_NAMES)

    source: Scenario

    @classmethod
    def of(cls, source: Scenario, prompts: str | None = None, own: OwnPrompts | None = None) -> Self:
        """Return the world of a scenario.

        Raises:
            UsageError: There is no such prompt set.
        """
        return cls(
            name=source.name,
            scenario=source.model_dump(mode="json", exclude={"proof"}),
            budget=source.budget,
            seed=source.seed,
            prompts=full_name(prompts, STRATEGIES, own),
            own=own,
            source=source,
        )

    @classmethod
    @override
    def find(cls, request: EpisodeRequest) -> tuple[Self, ...]:
        try:
            names = request.names(lambda name, seeds: scenario_names(name, SUITE_SEEDS if seeds is None else seeds))
            return tuple(cls.of(get_scenario(name), request.prompts, request.own) for name in names)
        except UnknownScenarioError as error:
            raise UsageError(str(error)) from error

    @classmethod
    @override
    def knows(cls, suite: str | None, scenario: str | None) -> bool:
        kinds = {kind.partition("-")[0] for kinds in SUITES.values() for kind in kinds}
        return suite in SUITES or (scenario is not None and scenario.partition("-")[0] in kinds)

    @classmethod
    @override
    def of_header(cls, header: records.Header, prompts: str | None = None, own: OwnPrompts | None = None) -> Self:
        if prompts is None and own is None and header.prompts in set_names(STRATEGIES):
            prompts = header.prompts
        return cls.of(recorded_scenario(header), prompts, own)

    @property
    @override
    def instructions(self) -> str:
        strategy, reasoning = find_set(self.prompts, STRATEGIES)
        return system_prompt(strategy, reasoning, None if self.own is None else self.own.parts)

    @override
    def open(self, size: Size | None) -> Environment:
        if size is None:
            return CraftEnv(self.source, pictures=False)
        return CraftEnv(self.source, width=size[0], height=size[1])

    @override
    def film(self, size: Size) -> CraftEnv:
        return CraftEnv(self.source, pictures=False, width=size[0], height=size[1])

    @override
    def prepare(self, size: Size | None) -> None:
        if size is not None:
            opengl()

    @override
    def on_desktop(self) -> World:
        from oresight.harness.worlds.craft.desktop import DesktopWorld

        return DesktopWorld.of_world(self)

    @property
    @override
    def score_inputs(self) -> Json:
        return PARAMETERS.recorded.model_dump(mode="json")

    @property
    @override
    def scored_with(self) -> Parameters:
        return PARAMETERS

    @property
    @override
    def parameters(self) -> Json:
        return PARAMETERS.model_dump(mode="json")

    @property
    @override
    def versions(self) -> dict[str, str | int]:
        return {"oresight": own_version(), "terrain": TERRAIN_VERSION}

    @property
    @override
    def action_rows(self) -> Any:
        return [asdict(action) | {"effect": action.effect.value} for action in ACTIONS]

    @override
    def digest(self) -> Digest:
        from oresight.harness.worlds.craft.digest import CraftDigest

        return CraftDigest()

    @classmethod
    @override
    def demand_of(cls, scenario: str, error: str) -> str | None:
        found = _DIALS.search(scenario)
        return None if found is None else found[1 if error == "exploration" else 2]

    @classmethod
    @override
    def story(cls, episode: "Story") -> "list[Explanation]":
        from oresight.harness.worlds.craft.story import craft_words

        return craft_words(episode)

    @classmethod
    @override
    def view(cls, episode: "Story") -> "View":
        from oresight.harness.worlds.craft.view import craft_view

        return craft_view(episode)

    @override
    def proof(self) -> Sequence[str]:
        if not self.source.proof:
            raise UsageError(f"scenario {self.name!r} has no committed proof to play; choose one of the suite")
        return self.source.proof


def of_session(header: records.SessionHeader) -> CraftWorld:
    """Return the world that a person's session was recorded in.

    Raises:
        ReplayRefusedError: It was another terrain.
    """
    return CraftWorld.of(recorded_scenario(header))


def dial_levels() -> Json:
    """Return what each level of the two demands of the dials means."""
    return {
        "exploration": {name: asdict(level) for name, level in EXPLORATION.items()},
        "exploitation": {name: asdict(level) for name, level in EXPLOITATION.items()},
    }


def recorded_scenario(header: records.Header | records.SessionHeader) -> Scenario:
    """Return the scenario that a trajectory or a session was recorded in.

    Raises:
        ReplayRefusedError: It was another terrain, or it is not a scenario.
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
