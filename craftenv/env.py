"""The 3D world as an environment: reset, one of 21 actions a step, the game frozen in between.

An observation holds what the agent may know; facts are for the referee and worked out only when they are asked for.
"""

from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from oresight.craftenv.actions import ACTION_NAMES, BY_NAME
from oresight.craftenv.config import WALK_PER_TICK
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.craftenv.sim.angles import counts
from oresight.craftenv.sim.engine import Engine, Happenings
from oresight.craftenv.sim.facts import Facts, Referee
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.text import describe, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from oresight.craftenv.render.renderer import Renderer

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class EnvSpec:
    """What an environment offers: its name, its actions and how many decisions an episode has."""

    name: str
    actions: tuple[str, ...]
    budget: int


@dataclass(frozen=True)
class Observation:
    """What the agent may know before a decision.

    Attributes:
        text: The task and the last outcome in words.
        image: The screenshot, uint8[height, width, 3] RGB and not to be written to, or None in an environment without
            pictures.
        actions: The admissible actions; here always all 21.
        step: The number of the decision to be made, counted from 1.
    """

    text: str
    image: Picture | None
    actions: tuple[str, ...]
    step: int


@dataclass(frozen=True)
class Transition:
    """What a decision led to, as far as it is public.

    Attributes:
        observation: What the agent sees next.
        outcome: What the action did, in words.
        reward: Target items newly acquired.
        score: Target items acquired so far over the target count, at most 1.
        terminated: The target count is reached.
        truncated: The budget is spent without success.
    """

    observation: Observation
    outcome: str
    reward: int
    score: float
    terminated: bool
    truncated: bool

    @property
    def success(self) -> bool:
        """Whether the target count is reached; the world ends in no other way of its own."""
        return self.terminated


class CraftEnv:
    """One scenario of the 3D world. A context manager; `close` frees what it owns on the GPU."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        pictures: bool = True,
        width: int = 640,
        height: int = 480,
        coordinates: bool = False,
    ) -> None:
        """Prepare an environment; nothing is drawn and no OpenGL is touched before the first picture.

        Args:
            scenario: What to play.
            pictures: Whether observations hold a screenshot.
            width: The screenshot's width in pixels, 64 to 1920.
            height: Its height in pixels, 48 to 1080.
            coordinates: Whether the text shows the player's position (an ablation).
        """
        self.scenario = scenario
        self.spec = EnvSpec(f"craft/{scenario.name}", ACTION_NAMES, scenario.budget)
        self._pictures = pictures
        self._size = (width, height)
        self._coordinates = coordinates
        self._renderer: Renderer | None = None
        self._engine: Engine | None = None
        self._referee: Referee | None = None
        self._happened: Happenings | None = None
        self._facts: Facts | None = None
        self._last: tuple[str, str] | None = None
        self._step = 0
        self._acquired = 0

    @property
    def engine(self) -> Engine:
        """The game itself, for the referee's views and for full-knowledge play.

        Raises:
            RuntimeError: `reset` was not called.
        """
        if self._engine is None:
            raise RuntimeError("the environment was not reset; call reset() first")
        return self._engine

    @property
    def acquired(self) -> int:
        """Target items acquired so far."""
        return self._acquired

    def reset(self, seed: int | None = None) -> Observation:
        """Restart the episode.

        Args:
            seed: Another terrain seed than the scenario's; the spawn is then put on the ground there. None keeps the
                scenario's own, which alone is proved solvable.

        Returns:
            What the agent sees before its first decision.
        """
        scenario = self.scenario
        world_seed, spawn = scenario.world_seed, scenario.spawn
        if seed is not None and seed != world_seed:
            world_seed, spawn = seed, spawn_on_ground(seed, spawn[0], spawn[2])
        self._engine = Engine(
            world_seed, spawn, counts(scenario.yaw_deg), scenario.inventory_items, scenario.target_item
        )
        self._referee = None
        self._happened = None
        self._facts = None
        self._last = None
        self._step = 0
        self._acquired = 0
        return self._observe()

    def step(self, action: str, on_tick: "Callable[[], None] | None" = None) -> Transition:
        """Play one of the 21 actions to its end and freeze again.

        Args:
            action: Its name.
            on_tick: Called after every tick of the simulation, for films.

        Raises:
            ValueError: No such action.
            RuntimeError: `reset` was not called, or the facts of the last decision were left out although earlier ones
                were asked for.
        """
        if action not in BY_NAME:
            raise ValueError(f"unknown action {action!r}; expected one of {', '.join(ACTION_NAMES)}")
        engine = self.engine
        if self._referee is not None and self._facts is None:
            raise RuntimeError("facts() must be asked for after every decision once it has been used")
        declared = BY_NAME[action]
        feet_before = engine.player.feet
        happened = engine.run(declared, on_tick)
        self._happened = happened
        self._facts = None
        self._step += 1
        reward = len(happened.acquired)
        self._acquired += reward
        words = outcome(declared, happened, engine.player, feet_before, WALK_PER_TICK * declared.ticks)
        self._last = (action, words)
        terminated = self._acquired >= self.scenario.target_count
        return Transition(
            observation=self._observe(),
            outcome=words,
            reward=reward,
            score=min(1.0, self._acquired / self.scenario.target_count),
            terminated=terminated,
            truncated=not terminated and self._step >= self.spec.budget,
        )

    def facts(self) -> Facts:
        """Return the referee's facts of the last decision, or of the start before any.

        Facts are worked out when they are asked for; a caller must ask at the start and after every decision.

        Raises:
            RuntimeError: The first call came after a decision.
        """
        if self._facts is None:
            if self._referee is None:
                if self._happened is not None:
                    raise RuntimeError("facts() must be asked for from the start on, before the first decision")
                self._referee = Referee(self.engine)
                self._facts = self._referee.start()
            elif self._happened is not None:
                self._facts = self._referee.observe(self._happened)
        assert self._facts is not None
        return self._facts

    def state_hash(self) -> str:
        """Return the hash of the game's state, 32 hex digits."""
        return self.engine.state_hash()

    def render(self) -> Picture:
        """Draw what the player sees now, uint8[height, width, 3] RGB; the caller owns the array.

        Raises:
            OpenGLUnavailable: There is no OpenGL here; the message says what to install.
        """
        from oresight.craftenv.render.renderer import Renderer
        from oresight.craftenv.render.scene import draw_game

        engine = self.engine
        if self._renderer is None:
            self._renderer = Renderer(*self._size)
        player = engine.player
        return draw_game(self._renderer, engine, player.eye, player.yaw, player.pitch)

    def _observe(self) -> Observation:
        text = describe(
            self.engine,
            self._step + 1,
            self.scenario.target_count,
            self._acquired,
            self._last,
            coordinates=self._coordinates,
        )
        picture = self.render() if self._pictures else None
        if picture is not None:
            picture.setflags(write=False)
        return Observation(text, picture, ACTION_NAMES, self._step + 1)

    def close(self) -> None:
        """Free what the environment owns; it can be reset and used again afterwards."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
        self._engine = None
        self._referee = None
        self._happened = None
        self._facts = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
