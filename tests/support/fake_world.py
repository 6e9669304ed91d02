"""A corridor in place of a world: positions 0 to 9, the ore at 5, twenty decisions. Quick, and with pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from oresight.harness.protocols import Choice
from oresight.harness.worlds import EpisodeRequest, World
from oresight.harness.worlds.craft.world import CraftWorld
from oresight.scoring.adapters import Adapter
from oresight.scoring.core import Case, ErrorKind
from oresight.scoring.decisions import EpisodeSummary, Reading, ScoredDecision, Tally
from oresight.scoring.records import Outcome

ACTIONS = ("move_forward", "move_backward", "look_right", "wait")
GOAL = 5
BUDGET = 20


@dataclass(frozen=True)
class Spec:
    name: str = "corridor-0"
    actions: tuple[str, ...] = ACTIONS
    budget: int = BUDGET


@dataclass(frozen=True)
class Seen:
    text: str
    image: Any
    actions: tuple[str, ...]
    step: int


@dataclass(frozen=True)
class Moved:
    observation: Seen
    outcome: str
    reward: float
    terminated: bool
    truncated: bool

    @property
    def score(self) -> float:
        return float(self.terminated)

    @property
    def success(self) -> bool:
        return self.terminated


class Corridor:
    """Each picture's colour is the position, so that pictures can be told apart."""

    def __init__(self, size: tuple[int, int] | None, name: str = "corridor-0", breaks_at: int | None = None) -> None:
        self.spec = Spec(name)
        self._size = size
        self._breaks_at = breaks_at
        self.closed = False
        self.place = self.steps = 0

    def reset(self, seed: int | None = None) -> Seen:
        self.place = self.steps = 0
        self._facts: dict[str, Any] = {"place": 0}
        return self._seen()

    def render(self) -> Any:
        return self._seen().image

    def step(self, action: str, on_tick: Callable[[], None] | None = None) -> Moved:
        if self.steps + 1 == self._breaks_at:
            raise RuntimeError("the floor gave way")
        before = self.place
        self.place = min(max(self.place + {"move_forward": 1, "move_backward": -1}.get(action, 0), 0), 9)
        self.steps += 1
        self._facts = {"before": before, "place": self.place}
        if on_tick is not None:
            on_tick()
        outcome = "You moved." if self.place != before else "Nothing moved."
        done = self.place == GOAL
        return Moved(self._seen(), outcome, float(done), done, not done and self.steps >= BUDGET)

    def facts(self) -> dict[str, Any]:
        return self._facts

    def state_hash(self) -> str:
        return f"{self.place:04d}"

    def close(self) -> None:
        self.closed = True

    def _seen(self) -> Seen:
        image = None
        if self._size is not None:
            width, height = self._size
            image = np.full((height, width, 3), 20 * self.place, dtype=np.uint8)
        return Seen(f"Step {self.steps}.", image, ACTIONS, self.steps)


class CountingScorer:
    """Standing still is an error of exploration; every decision is scored in case 1."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.place = 0

    def score(self, action: str, facts: dict[str, Any]) -> ScoredDecision:
        self.place = facts["place"]
        error = ErrorKind.EXPLORATION if facts["before"] == facts["place"] else None
        self.tally.add(Case.EXPLORE, error)
        return ScoredDecision(
            step=self.tally.explore_eligible,
            action=action,
            scored=True,
            case=Case.EXPLORE,
            gain=error is None,
            progress=error is None,
            stale=0,
            error=error,
            causes=("no gain",) if error else (),
            reasons=() if error else ("position",),
            node=(self.place,),
            strict=Reading(error is None, error),
        )

    def summary(self, outcome: Outcome | None = None, reason: str | None = None) -> EpisodeSummary:
        decisions = self.tally.explore_eligible
        return EpisodeSummary(
            outcome=outcome or Outcome.INCOMPLETE,
            reason=reason,
            readings={"lenient": self.tally, "strict": self.tally},
            decisions=decisions,
            scored_decisions=decisions,
            steps_taken=decisions,
            budget=BUDGET,
            score=float(self.place == GOAL),
            details={"acquired": int(self.place == GOAL), "target_count": 1, "discoveries": []},
        )


class CountingAdapter(Adapter):
    readings = ("lenient", "strict")

    def scorer(self, parameters: Any, scenario: Any, start: Any) -> CountingScorer:
        return CountingScorer()


@dataclass(frozen=True, kw_only=True)
class CorridorWorld(World):
    kind = CraftWorld.kind
    title = "the corridor"
    pictures = True
    agents = CraftWorld.agents
    actions = Choice(ACTIONS)

    breaks_at: int | None = None
    solution: tuple[str, ...] = ("move_forward",) * 5

    @classmethod
    def find(cls, request: EpisodeRequest) -> tuple[World, ...]:
        return tuple(corridor(name) for name in request.names(lambda suite, seeds: [suite]))

    @property
    def instructions(self) -> str:
        return "Find the ore."

    def open(self, size: tuple[int, int] | None) -> Any:
        return Corridor(size, self.name, self.breaks_at)

    def film(self, size: tuple[int, int]) -> Any:
        return Corridor(size, self.name)

    def proof(self) -> Sequence[str]:
        return self.solution

    @property
    def adapter(self) -> Adapter:
        return CountingAdapter()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"k": 2}

    @property
    def versions(self) -> dict[str, str | int]:
        return {"oresight": "0.1.0", "terrain": 1}

    @property
    def action_rows(self) -> Any:
        return [{"name": action, "ticks": 1} for action in ACTIONS]


def corridor(
    name: str = "corridor-0",
    breaks_at: int | None = None,
    proof: Sequence[str] = ("move_forward",) * 5,
    kind: type[CorridorWorld] = CorridorWorld,
) -> World:
    """A world made of a `Corridor`."""
    return kind(
        name=name,
        scenario={"name": name, "target": "iron_ore", "target_count": 1, "budget": BUDGET},
        budget=BUDGET,
        breaks_at=breaks_at,
        solution=tuple(proof),
    )


def with_open(world: World, opener: Callable[[Any], Any]) -> World:
    """The same world, opened another way; it cannot be sent to another process."""
    kind = type("Reopened", (type(world),), {"open": lambda self, size: opener(size)})
    made: World = kind(**{each.name: getattr(world, each.name) for each in fields(world)})
    return made
