"""The family of bundled text agents, and many episodes of it: played and scored, with nothing written.

One loop plays them, the same that plays everything; who wants records uses `runner`.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oresight.harness.agents import AgentSetup, find_agent
from oresight.harness.agents.grid.frontier import Dials
from oresight.harness.context import make_strategy
from oresight.harness.protocols import Environment, Json, Observation, Pixels, Step, Transition
from oresight.harness.running import episode
from oresight.harness.running.executors.map import work_through
from oresight.harness.worlds import World, find_worlds
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.grid.adapter import GridScorer
from oresight.scoring.parameters import Parameters
from oresight.scoring.rescoring import Rescoring

WINDOWS = (0, 1, 2, 4, 8, 16, 32)
NOISES = (0.0, 0.1, 0.2, 0.4)
FAMILY = tuple(f"frontier{Dials(window, noise).spelling}" for window in WINDOWS for noise in NOISES)
# They read the text and nothing else, as the family does.
TEXT_AGENTS = (*FAMILY, "frontier", "depth-first", "random")
SOLVER = "solver"
# What is scored at once: the standard pair of (alpha, k) first, then each of the two by itself.
PAIRS = ((3.0, 2), (1.0, 2), (2.0, 2), (3.0, 1), (3.0, 3))


@dataclass(frozen=True)
class Played:
    """One episode of one agent.

    Attributes:
        agent: Its name.
        scenario: The scenario's name.
        seed: The scenario's seed.
        summaries: Under each of `PAIRS`.
    """

    agent: str
    scenario: str
    seed: int
    summaries: tuple[EpisodeSummary, ...]

    @property
    def summary(self) -> EpisodeSummary:
        """Under the standard pair."""
        return self.summaries[0]


@dataclass(frozen=True)
class Task:
    """A scenario, and who plays it."""

    scenario: str
    agents: tuple[str, ...]


def play_all(
    scenarios: Sequence[str],
    agents: Sequence[str],
    workers: int = 1,
    on_scenario: Callable[[int], None] = lambda done: None,
) -> list[Played]:
    """Plays every scenario with every agent.

    Args:
        scenarios: Their names.
        agents: Their names.
        workers: How many processes; the result is the same whatever their number.
        on_scenario: Called with the number of scenarios done.
    """
    tasks = [Task(name, tuple(agents)) for name in scenarios]
    played: list[Played] = []
    for done, part in enumerate(work_through(play_scenario, tasks, workers), 1):
        played += part
        on_scenario(done)
    return played


def play_scenario(task: Task) -> list[Played]:
    """Plays one scenario with each of some agents."""
    (world,) = find_worlds("grid", [task.scenario])
    return [Played(agent, world.name, world.seed, play_one(world, agent)) for agent in task.agents]


def play_one(world: World, agent: str, memory: str | None = None) -> tuple[EpisodeSummary, ...]:
    """Plays and scores one episode.

    Args:
        world: A grid world.
        agent: A bundled agent's name.
        memory: Name of the context strategy; None for the shortest that shows the agent all that it looks at.
    """
    parameters = [Parameters(alpha=alpha, k=k) for alpha, k in PAIRS]
    rescoring = Rescoring(parameters, lambda each: GridScorer(each, world.scenario), keep_steps=False)
    ending = _play(world, world.open(None), agent, memory, lambda step: rescoring.score(step.decision.action))
    return tuple(result.summary for result in rescoring.results(ending.outcome, ending.reason))


def last_picture(scenario: str, agent: str) -> Pixels:
    """Plays one episode and draws the map as the agent leaves it, with its path."""
    (world,) = find_worlds("grid", [scenario])
    environment = world.film((640, 480))
    _play(world, environment, agent, None, lambda step: None)
    return environment.render()


def _play(
    world: World, environment: Environment, agent: str, memory: str | None, on_step: Callable[[Step], None]
) -> episode.Ending:
    maker = find_agent(agent, type(world)).make
    return asyncio.run(
        episode.play(
            _Unhashed(environment),
            maker(AgentSetup(world.seed, world.action_names, world.proof)),
            make_strategy(memory or _shortest_memory(agent), world.instructions),
            lambda observation, state_hash, facts: None,
            on_step,
        )
    )


def _shortest_memory(agent: str) -> str:
    """An agent with a window looks at no more, whatever it is shown: showing it no more is quicker."""
    name, _, dials = agent.partition("(")
    if name == "frontier" and (window := Dials.parse(dials.removesuffix(")")).window) is not None:
        return f"window({window})"
    return "window(0)" if name in ("random", SOLVER) else "raw"


class _Unhashed:
    """An environment without hashes and facts, which nobody writes down here."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.spec = environment.spec

    def reset(self, seed: int | None = None) -> Observation:
        return self._environment.reset(seed)

    def step(self, action: str) -> Transition:
        return self._environment.step(action)

    def facts(self) -> Json:
        return {}

    def state_hash(self) -> str:
        return ""

    def close(self) -> None:
        self._environment.close()
