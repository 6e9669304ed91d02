"""The grid world as an environment: reset, and one of four moves a step.

The words of an observation are put together when they are read, so that programs which do not are fast.
"""

import hashlib
import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from oresight.gridenv.mapfile import map_to_json
from oresight.gridenv.model import DIRECTION_NAMES, DIRECTIONS, Arrival, Exploration, GridMap
from oresight.gridenv.suites import GridScenario
from oresight.gridenv.text import briefing, outcome_text, turn_text


@dataclass(frozen=True)
class EnvSpec:
    """What an environment offers: its name, its actions and how many decisions an episode has."""

    name: str
    actions: tuple[str, ...]
    budget: int


class Observation:
    """What the agent may know before a decision. Not to be changed.

    Attributes:
        actions: The admissible directions.
        step: The number of the decision to be made, counted from 1.
        image: None: this world makes no pictures.
    """

    __slots__ = ("_activated", "_arrival", "_briefing", "_map", "_steps", "_text", "actions", "step")
    image: None = None

    def __init__(
        self,
        map_: GridMap,
        arrival: Arrival,
        actions: tuple[str, ...],
        step: int,
        activated: bool,
        count_steps: bool,
        briefing_: bool = False,
    ) -> None:
        """Hold what the words are made of; `GridEnv` makes observations."""
        self.actions = actions
        self.step = step
        self._map = map_
        self._arrival = arrival
        self._activated = activated
        self._steps = step - 1 if count_steps else None
        self._briefing = briefing_
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The public words of this turn; the first turn with everything known begins with the listing of the map."""
        if self._text is None:
            arrival = self._arrival
            words = turn_text(
                self._map, arrival.cell, activated=self._activated, just_now=arrival.achieved, steps=self._steps
            )
            self._text = f"{briefing(self._map)}\n{words}" if self._briefing else words
        return self._text

    def __repr__(self) -> str:
        return f"Observation(step={self.step}, actions={self.actions}, text={self.text!r})"


class Transition:
    """What a decision led to, as far as it is public. Not to be changed.

    Attributes:
        observation: What the agent is shown next.
        reward: Nodes newly achieved, 0 or 1.
        terminated: The goal is achieved.
        truncated: The budget is spent without success.
    """

    __slots__ = ("_action", "_arrival", "observation", "reward", "terminated", "truncated")

    def __init__(
        self,
        observation: Observation,
        action: str,
        arrival: Arrival,
        reward: int,
        terminated: bool,
        truncated: bool,
    ) -> None:
        """Hold what happened; `GridEnv` makes transitions."""
        self.observation = observation
        self.reward = reward
        self.terminated = terminated
        self.truncated = truncated
        self._action = action
        self._arrival = arrival

    @property
    def success(self) -> bool:
        """Whether the goal is achieved; the world ends in no other way of its own."""
        return self.terminated

    @property
    def score(self) -> float:
        """1.0 once the goal is achieved, else 0.0."""
        return float(self.terminated)

    @property
    def outcome(self) -> str:
        """What the move did, in words."""
        arrival = self._arrival
        achieved = arrival.node.id if arrival.achieved and arrival.node is not None else None
        return outcome_text(self._action, arrival.cell, moved=arrival.moved, achieved=achieved)

    def __repr__(self) -> str:
        return (
            f"Transition(outcome={self.outcome!r}, reward={self.reward}, terminated={self.terminated}, "
            f"truncated={self.truncated})"
        )


class GridEnv:
    """One scenario of the grid world. It owns nothing, but is a context manager like every environment."""

    def __init__(self, scenario: GridScenario, brief: bool = True) -> None:
        """Prepare an environment; call `reset` next.

        Args:
            scenario: What to play on.
            brief: Whether the first observation begins with `briefing`; not if the agent is shown it elsewhere.
        """
        self.scenario = scenario
        self._brief = brief
        self.spec = EnvSpec(f"grid/{scenario.name}", DIRECTION_NAMES, scenario.budget)
        self._walk: Exploration | None = None
        self._arrival: Arrival | None = None
        self._step = 0
        self._count_steps = scenario.count_steps
        self._actions: dict[tuple[int, int], tuple[str, ...]] = {}
        self._map_hash: bytes | None = None

    @property
    def walk(self) -> Exploration:
        """The walk so far, for the referee's views and for full-knowledge play.

        Raises:
            RuntimeError: `reset` was not called.
        """
        if self._walk is None:
            raise RuntimeError("the environment was not reset; call reset() first")
        return self._walk

    @property
    def briefing(self) -> str:
        """What the agent is shown once, at the start: with everything known the listing of the map, else nothing.

        The first observation's text begins with it. It is here too for who keeps it in view when old turns are dropped.
        """
        return briefing(self.scenario.map) if self.scenario.visibility == "full" else ""

    def reset(self, seed: int | None = None) -> Observation:
        """Restart the episode.

        Args:
            seed: Another seed than the scenario's: the map of the same family for it. None keeps the scenario's own; a
                map from a file stays in any case.

        Returns:
            What the agent is shown before its first decision.
        """
        if seed is not None and seed != self.scenario.seed:
            self.scenario = self.scenario.reseeded(seed)
            self.spec = EnvSpec(f"grid/{self.scenario.name}", DIRECTION_NAMES, self.scenario.budget)
            self._actions = {}
            self._map_hash = None
        self._walk = Exploration(self.scenario.map, self.scenario.visibility)
        self._arrival = self._walk.start
        self._step = 0
        return self._observe(self._arrival, first=True)

    def step(self, action: str) -> Transition:
        """Move, or stay where there is no way; both cost a decision.

        Args:
            action: "up", "down", "left" or "right".

        Raises:
            ValueError: No such action.
            RuntimeError: `reset` was not called.
        """
        walk = self._walk
        if walk is None:
            raise RuntimeError("the environment was not reset; call reset() first")
        if action not in DIRECTIONS:
            raise ValueError(f"unknown action {action!r}; expected one of {', '.join(DIRECTION_NAMES)}")
        arrival = walk.move(action)
        self._arrival = arrival
        self._step += 1
        terminated = walk.map.goal in walk.achieved
        return Transition(
            self._observe(arrival),
            action,
            arrival,
            1 if arrival.achieved else 0,
            terminated,
            not terminated and self._step >= self.spec.budget,
        )

    def facts(self) -> dict[str, Any]:
        """Return the referee's facts of the last decision, or of the start before any; JSON-ready.

        ``{"cell": [x, y], "moved": bool, "node": id or None, "achieved": [ids]}``; the start has no "moved".
        """
        arrival = self._arrival
        if arrival is None:
            raise RuntimeError("the environment was not reset; call reset() first")
        name = arrival.node.id if arrival.node is not None else None
        facts: dict[str, Any] = {"cell": list(arrival.cell)}
        if self._step:
            facts["moved"] = arrival.moved
        return {**facts, "node": name, "achieved": [name] if arrival.achieved else []}

    def state_hash(self) -> str:
        """Return the hash of map, walk and step count, 32 hex digits."""
        walk = self.walk
        if self._map_hash is None:
            shown = {**map_to_json(walk.map), "visibility": self.scenario.visibility}
            shown.pop("drawn", None)
            shown.pop("name", None)
            self._map_hash = json.dumps(shown, sort_keys=True).encode()
        state = [walk.position, sorted(walk.observed), sorted(walk.seen), sorted(walk.achieved), self._step]
        digest = hashlib.blake2b(self._map_hash, digest_size=16)
        digest.update(json.dumps(state).encode())
        return digest.hexdigest()

    def close(self) -> None:
        """Forget the walk; the environment can be reset and used again."""
        self._walk = None
        self._arrival = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _observe(self, arrival: Arrival, first: bool = False) -> Observation:
        walk = self._walk
        assert walk is not None
        cell = arrival.cell
        actions = self._actions.get(cell)
        if actions is None:
            actions = self._actions[cell] = walk.map.admissible(cell)
        return Observation(
            walk.map,
            arrival,
            actions,
            self._step + 1,
            arrival.node is not None and arrival.node.id in walk.achieved,
            self._count_steps,
            first and self._brief and self.scenario.visibility == "full",
        )
