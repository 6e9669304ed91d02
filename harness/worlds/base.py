"""What the harness knows of a scenario of any kind: the `World`, ready to be opened."""

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from oresight.harness.protocols import Decision, Environment, FilmEnvironment, Json, Scorer
from oresight.scoring import records

Size = tuple[int, int]


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
        """As it stands in a trajectory's header."""
        return {
            "at": self.at,
            "rollout": self.rollout,
            "of": self.of,
            "agent": self.agent,
            "memory": self.memory,
            "digest": self.digest,
        }


@dataclass(frozen=True)
class World:
    """One scenario of one kind of world.

    Attributes:
        kind: `craft` or `grid`.
        name: The episode's id, which is the scenario's name unless the episode is a branch.
        seed: The scenario's seed; the agent's random choices derive from it.
        budget: Decisions allowed.
        scenario: The scenario as it stands in a trajectory's header.
        actions: The table of actions as it stands in a trajectory's header; each has a `name`.
        score_inputs: What the facts are computed with.
        parameters: What the scorer scores with.
        versions: Of this project and of what makes the scenario.
        instructions: The system message: how the world works and how to answer.
        prepare: Fails now, and not in the middle of an episode, if pictures are asked for and cannot be had.
        open: Opens it with pictures of a width and height, or without (None).
        film: Opens it for a film with pictures of a width and height, or of its own size.
        scorer: Makes a live scorer from a trajectory's header.
        proof: Gives a full-knowledge solution.
        prompts: Name of the prompt set that the instructions are, where the world has several.
        fingerprint: Of a scenario from a file, so that another one of the same name is told apart; else None.
        again: Makes the same world in another process; None for one that cannot be sent to another.
        branch: The recorded decisions that its episode begins with, if there are any.
        desktop: Whether it is played through a real window.
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
    prompts: str | None = None
    fingerprint: str | None = None
    again: "partial[World] | None" = None
    branch: Branch | None = None
    desktop: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as the way to make it again, since most of it is functions."""
        if self.again is None:
            raise TypeError(f"the world {self.name!r} cannot be sent to another process; play it in this one")
        return self.again.func, self.again.args

    @property
    def action_names(self) -> tuple[str, ...]:
        """Names of every action, in table order."""
        return tuple(str(action["name"]) for action in self.actions)

    @property
    def decisions_left(self) -> int:
        """The budget of whoever plays here: without what the recorded decisions of a branch have used."""
        return self.budget - (0 if self.branch is None else self.branch.at)

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
            **({} if self.prompts is None else {"prompts": self.prompts}),
            **({} if self.branch is None else {"branch": self.branch.to_json()}),
            "actions": list(self.actions),
            "score_inputs": self.score_inputs,
            "versions": self.versions,
            "start": {"state_hash": state_hash, "facts": facts},
        }


def own_version() -> str:
    """Version of this project as installed."""
    return importlib.metadata.version("oresight")
