"""What a world is to the harness: one scenario, ready to be opened, and what belongs to all scenarios of its kind.

Subclass `World`, offer the class by the entry point group `oresight.worlds`, or name it `package.module:Class`;
`conformance.WorldTests` says whether it fits.
"""

import importlib.metadata
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from oresight.harness.errors import ReplayRefusedError, UsageError
from oresight.harness.protocols import (
    ActionSpace,
    Choice,
    Decision,
    Environment,
    EnvironmentSpec,
    FilmEnvironment,
    Json,
    Observation,
    Pixels,
    Transition,
    action_space,
)
from oresight.harness.worlds.prompts import OwnPrompts
from oresight.scoring import records
from oresight.scoring.adapters import Adapter, find_adapter, live_scorer
from oresight.scoring.parameters import Parameters
from oresight.scoring.rescoring import Scorer

if TYPE_CHECKING:
    from oresight.harness.context.structured import Digest
    from oresight.harness.protocols import ContextStrategy
    from oresight.harness.records.scored import Story
    from oresight.harness.worlds.story import Explanation
    from oresight.harness.worlds.view import View

Size = tuple[int, int]
# How much a scenario demands, where its world says so.
LEVELS = ("low", "medium", "high")
_NUMBERED = re.compile(r"(.+)-\d+")


@dataclass(frozen=True)
class EpisodeRequest:
    """Which episodes of a world are asked for, as options of a command or fields of a study say it.

    Attributes:
        scenario: One scenario, with its number or without.
        suite: A suite of scenarios.
        seeds: For a suite or a scenario without its number; None for the suite's own.
        options: The world's own, see `World.options`.
        prompts: Name of a prompt set; None for the plain one.
        own: Texts in place of some of its parts.
    """

    scenario: str | None = None
    suite: str | None = None
    seeds: tuple[int, ...] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    prompts: str | None = None
    own: OwnPrompts | None = None

    def names(self, suite: Callable[[str, tuple[int, ...] | None], Sequence[str]]) -> list[str]:
        """Return the names of the scenarios.

        Args:
            suite: Gives those of a suite, for its own seeds or for others.

        Raises:
            UsageError: Nothing, or two things that do not go together, are asked for.
        """
        if (self.scenario is None) == (self.suite is None):
            raise UsageError("give either --scenario, for example outcrop-0, or --suite, for example craft-mine")
        if self.suite is not None:
            return list(suite(self.suite, self.seeds))
        assert self.scenario is not None
        if _NUMBERED.fullmatch(self.scenario):
            if self.seeds is not None:
                raise UsageError(f"scenario {self.scenario!r} names its seed already; leave out --seeds, or the number")
            return [self.scenario]
        return [f"{self.scenario}-{number}" for number in ((0,) if self.seeds is None else self.seeds)]


@dataclass(frozen=True)
class Branch:
    """The recorded decisions that an episode begins with, and what they are known by.

    Attributes:
        scenario: Name of the scenario.
        decisions: Taken again, in order, before anybody is asked.
        state_hash: Of the state after them.
        rollout: Counted from 0; what is left to chance differs from one to the next.
        of: The recording, by its run's and its episode's name.
        agent: Who played there.
        memory: With which context strategy.
        digest: Of scenario, decisions and state hashes.
    """

    scenario: str
    decisions: tuple[Decision, ...]
    state_hash: str
    rollout: int
    of: str
    agent: str
    memory: str
    digest: str

    @property
    def at(self) -> int:
        """How many decisions were recorded before."""
        return len(self.decisions)

    def to_json(self) -> Json:
        """Return it as it stands in a trajectory's header."""
        return {
            "at": self.at,
            "rollout": self.rollout,
            "of": self.of,
            "agent": self.agent,
            "memory": self.memory,
            "digest": self.digest,
        }


@dataclass(frozen=True, kw_only=True)
class World(ABC):
    """One scenario of one world; it pickles as its fields.

    A world needs `kind`, `find`, `instructions`, `open`, and `actions`; all else has a default.

    Attributes:
        kind: Name of the world, the same as that of its entry point.
        title: The same for people.
        pictures: Whether observations have pictures, which then can be given a size.
        agents: Bundled agents that play in it, as `module:Class` by name; each is made from an `AgentSetup`.
        options: Options of its own for choosing episodes, each with a line of help; values are texts.
        prompt_parts: What its prompts are made of, for a user's own texts; empty if they cannot be changed.
        actions: What is ever admissible.
        sizes: Of its tasks, the smallest first; empty where they have none, and reports then group by kind of scenario.
        graded_suite: A suite whose scenarios differ in their demands, for advice; empty if there is none.
        name: The episode's id, which is the scenario's name unless the episode is a branch.
        scenario: The scenario as it stands in a trajectory's header; at least its "name".
        budget: Decisions allowed.
        seed: The scenario's seed; the agent's random choices derive from it.
        prompts: Name of the prompt set that the instructions are, where the world has several.
        own: Texts in place of some of its parts.
        fingerprint: Of a scenario from a file, to distinguish it from another of the same name; else None.
        branch: The recorded decisions that its episode begins with, if there are any.
    """

    kind: ClassVar[str]
    title: ClassVar[str] = ""
    pictures: ClassVar[bool] = False
    agents: ClassVar[Mapping[str, str]] = {}
    options: ClassVar[Mapping[str, str]] = {}
    prompt_parts: ClassVar[tuple[str, ...]] = ()
    actions: ClassVar[ActionSpace | Sequence[str]]
    sizes: ClassVar[tuple[str, ...]] = ()
    graded_suite: ClassVar[str] = ""

    name: str
    scenario: Json
    budget: int
    seed: int = 0
    prompts: str | None = None
    own: OwnPrompts | None = None
    fingerprint: str | None = None
    branch: Branch | None = None

    # --- what an author has to write

    @classmethod
    @abstractmethod
    def find(cls, request: EpisodeRequest) -> Sequence[Self]:
        """Return the worlds of the episodes that are asked for, in order.

        Raises:
            UsageError: There is no such scenario, suite, seed, option or prompt set.
        """

    @property
    @abstractmethod
    def instructions(self) -> str:
        """The system message: how the world works, what the task is and how to answer."""

    @abstractmethod
    def open(self, size: Size | None) -> Environment:
        """Open it with pictures of a width and height, or without (None)."""

    # --- what an author may write

    def prepare(self, size: Size | None) -> None:
        """Fail now, and not in the middle of an episode, if something that `open` needs is missing.

        Raises:
            UsageError: Pictures are asked for and there are none.
            MissingPartError: Something is not installed; says what to install.
        """
        if size is not None and not self.pictures:
            raise UsageError(f"{self.title or self.kind} has no pictures; leave out the size of pictures")

    @classmethod
    def knows(cls, suite: str | None, scenario: str | None) -> bool:
        """Return whether a suite, or a scenario with or without its number, is of this world."""
        return False

    @classmethod
    def of_header(cls, header: records.Header, prompts: str | None = None, own: OwnPrompts | None = None) -> Self:
        """Return the world that a trajectory was recorded in, with its prompts or with others.

        Raises:
            ReplayRefusedError: There is no such scenario any more, or it is another one now.
            UsageError: There is no such prompt set.
        """
        asked = EpisodeRequest(str(header.scenario.get("name")), prompts=prompts or header.prompts, own=own)
        try:
            (world,) = cls.find(asked)
        except (UsageError, ValueError) as error:
            raise ReplayRefusedError(f"the scenario {asked.scenario!r} is not there any more: {error}") from error
        if world.recorded_scenario != header.scenario:
            raise ReplayRefusedError(f"the scenario {asked.scenario!r} is another one than when this was recorded")
        return world

    def on_desktop(self) -> "World":
        """Return the same world, played through a real window.

        Raises:
            UsageError: It has none.
        """
        raise UsageError(f"--desktop plays in a window, and {self.title or self.kind} has none; leave it out")

    @property
    def desktop(self) -> bool:
        """Whether it is played through a real window."""
        return False

    @property
    def adapter(self) -> Adapter:
        """What reads its facts for the error metric; a plain one, which judges nothing, where there is none."""
        return find_adapter(self.kind)

    @property
    def score_inputs(self) -> Json:
        """What the facts are computed with, for the trajectory's header."""
        return {}

    @property
    def scored_with(self) -> Parameters:
        """The parameters of the metric for live scoring."""
        return Parameters()

    @property
    def parameters(self) -> Json:
        """What the scorer scores with, for result files; empty without an error metric."""
        return {}

    @property
    def versions(self) -> dict[str, str | int]:
        """Versions of this project and of what makes the scenario; a run is resumed only with the same versions."""
        return {"oresight": own_version()}

    @property
    def action_rows(self) -> Any:
        """The actions as they stand in a trajectory's header."""
        return self.space.to_json()

    @classmethod
    def demand_of(cls, scenario: str, error: str) -> str | None:
        """Return what a scenario demands: one of `LEVELS`, or None if its name does not say.

        Args:
            scenario: Its name.
            error: "exploration" or "exploitation".
        """
        return None

    @classmethod
    def size_of(cls, scenario: str) -> str | None:
        """Return how large a scenario's task is: one of `sizes`, or None if its name does not say."""
        return None

    def digest(self) -> "Digest | None":
        """Return what sums the world up for the memory `structured`; None if there is no such thing."""
        return None

    def proof(self) -> Sequence[str]:
        """Return a solution that was found with full knowledge.

        Raises:
            UsageError: None is known.
        """
        raise UsageError(f"scenario {self.name!r} of {self.title or self.kind} has no known solution to play")

    def film(self, size: Size) -> FilmEnvironment:
        """Open it for a film or a replay, with pictures of a width and height, or of its own size."""
        return _Unfilmed(self.open(None), self.title or self.kind)

    @classmethod
    def story(cls, episode: "Story") -> "list[Explanation]":
        """Return every decision of a recorded episode in words: what was required, and why it was an error or not."""
        from oresight.harness.worlds.story import plain_words

        return plain_words(episode)

    @classmethod
    def view(cls, episode: "Story") -> "View":
        """Return what a recorded episode is drawn from on its replay page."""
        from oresight.harness.worlds.view import plain_view

        return plain_view(episode)

    # --- what follows from that

    @property
    def space(self) -> ActionSpace:
        """What is ever admissible."""
        return action_space(self.actions)

    @property
    def recorded_scenario(self) -> Json:
        """The scenario as a trajectory's header has it; without an adapter, which knows its own, with the budget."""
        return self.scenario if self.adapter.readings else {**self.scenario, "name": self.name, "budget": self.budget}

    @property
    def action_names(self) -> tuple[str, ...]:
        """Names of every action, in table order; empty where actions are texts."""
        return self.space if isinstance(self.space, Choice) else ()

    @property
    def decisions_left(self) -> int:
        """The budget of the agent that plays here: without what the recorded decisions of a branch have used."""
        return self.budget - (0 if self.branch is None else self.branch.at)

    def strategy(self, memory: str) -> "ContextStrategy":
        """Return a fresh context strategy for this world.

        Raises:
            UsageError: There is none of this name.
        """
        from oresight.harness.context import make_strategy

        return make_strategy(memory, self.instructions, self.digest())

    def play(self, size: Size | None) -> Environment:
        """Open it as an episode is played; without an adapter its facts say the score and whether the task is done."""
        return self.open(size) if self.adapter.readings else _WithScore(self.open(size))

    def replay(self, size: Size) -> FilmEnvironment:
        """Open it as `play` does, for a replay or a film."""
        return self.film(size) if self.adapter.readings else _WithScore(self.film(size))

    def branched(self, name: str, seed: int, branch: Branch) -> Self:
        """Return this world with recorded decisions that are still to be done again."""
        return replace(self, name=name, seed=seed, branch=branch)

    def scorer(self, header: Json) -> Scorer:
        """Return a live scorer, from a trajectory's header."""
        return live_scorer(self.adapter, header, self.scored_with)

    def header(self, agent: str, memory: str, state_hash: str, facts: Json) -> Json:
        """Return the first line of a trajectory.

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
            "scenario": self.recorded_scenario,
            "agent": agent,
            "memory": memory,
            **({} if self.prompts is None else {"prompts": self.prompts}),
            **({} if self.branch is None else {"branch": self.branch.to_json()}),
            "actions": self.action_rows,
            "score_inputs": self.score_inputs,
            "versions": self.versions,
            "start": {"state_hash": state_hash, "facts": facts},
        }


class _Wrapped:
    """An environment that passes on what it is asked."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment

    @property
    def spec(self) -> EnvironmentSpec:
        spec: EnvironmentSpec = self._environment.spec
        return spec

    def reset(self, seed: int | None = None) -> Observation:
        observation: Observation = self._environment.reset(seed)
        return observation

    def facts(self) -> Json:
        facts: Json = self._environment.facts()
        return facts

    def state_hash(self) -> str:
        return str(self._environment.state_hash())

    def close(self) -> None:
        self._environment.close()


class _Unfilmed(_Wrapped):
    """An environment that is replayed without pictures."""

    def __init__(self, environment: Environment, title: str) -> None:
        super().__init__(environment)
        self._title = title

    def step(self, action: str, on_tick: Callable[[], None] | None = None) -> Transition:
        transition: Transition = self._environment.step(action)
        return transition

    def render(self) -> Pixels:
        raise UsageError(f"{self._title} cannot be filmed; its replay page and `oresight replay` work without pictures")


class _WithScore(_Wrapped):
    """An environment whose facts say how much of the task is done, for the scorer of a world without an adapter."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._score, self._success = 0.0, False

    def reset(self, seed: int | None = None) -> Observation:
        self._score, self._success = 0.0, False
        return super().reset(seed)

    def step(self, action: str, on_tick: Callable[[], None] | None = None) -> Transition:
        rest = () if on_tick is None else (on_tick,)
        transition: Transition = self._environment.step(action, *rest)
        self._score, self._success = float(transition.score), bool(transition.success)
        return transition

    def facts(self) -> Json:
        return {**super().facts(), "score": self._score, "success": self._success}

    def render(self) -> Pixels:
        pixels: Pixels = self._environment.render()
        return pixels


def own_version() -> str:
    """Return the version of this project as installed."""
    return importlib.metadata.version("oresight")
