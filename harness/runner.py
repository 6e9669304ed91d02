"""Plays the episodes of a run: what is planned, what is finished already, what is still to be played.

The loop itself is in `episode`, the files in `store`, the figures in `summary`.
"""

import asyncio
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness import episode, store
from harness.agents import AgentSetup, find_agent, is_bundled
from harness.context import make_strategy
from harness.errors import InfrastructureError, OresightError, Outcome
from harness.protocols import Agent, Json, Observation, Scorer, Step
from harness.summary import RunSummary, summarise
from harness.worlds import World
from scoring.summary import ScoredDecision

ALL_FRAMES_BELOW_EPISODES = 100


@dataclass(frozen=True)
class RunPlan:
    """What to play: one agent with one memory in each of the worlds.

    Attributes:
        frames: Which pictures to keep; None for all below 100 episodes, else none.
        size: Width and height of the pictures in pixels; None for an episode without pictures.
        make_agent: In place of the agent that `agent` names; for agents without a name of their own.
    """

    agent: str
    memory: str
    worlds: tuple[World, ...]
    frames: store.Frames | None = None
    size: tuple[int, int] | None = (640, 480)
    make_agent: Callable[[AgentSetup], Agent] | None = None

    def run_file(self) -> store.RunFile:
        """The run.json of this plan."""
        frames = self.frames or ("all" if len(self.worlds) < ALL_FRAMES_BELOW_EPISODES else "none")
        config = store.RunConfig(
            world=self.worlds[0].kind,
            agent=self.agent,
            memory=self.memory,
            episodes=tuple(world.name for world in self.worlds),
            frames=frames,
            size=self.size,
            prompts=self.worlds[0].prompts,
            map=self.worlds[0].fingerprint,
        )
        return store.RunFile(config=config, versions=self.worlds[0].versions)


class Progress:
    """What a live display may show; does nothing unless overridden."""

    def started(self, world: World, number: int, planned: int) -> None:
        """An episode begins; `number` counts from 1."""

    def stepped(self, world: World, step: Step, scored: ScoredDecision) -> None:
        """A decision was taken, recorded and scored."""

    def finished(self, result: store.EpisodeResult, played: bool) -> None:
        """An episode is finished; `played` is False when it was so before this command."""


def run(plan: RunPlan, out: Path, progress: Progress | None = None) -> RunSummary:
    """Plays what is not finished yet and writes the summary.

    An episode that breaks is recorded as an infrastructure error and the run goes on; what the disk refuses, and a part
    of the machine that is missing, stop the run.

    Raises:
        OresightError: The run cannot be begun or cannot go on; finished episodes are kept.
    """
    shown = progress or Progress()
    # Checked before the folder is made, so that a wrong name or a missing part leaves nothing behind.
    make_agent = plan.make_agent or find_agent(plan.agent, plan.worlds[0].kind)
    make_strategy(plan.memory, "")
    if plan.make_agent is None and is_bundled(plan.agent, plan.worlds[0].kind):
        for world in plan.worlds:
            make_agent(_setup(world))
    plan.worlds[0].prepare(plan.size)
    results: list[store.EpisodeResult] = []
    with store.RunFolder(out, plan.run_file()) as folder:
        try:
            for number, world in enumerate(plan.worlds, 1):
                kept = folder.finished(world.name)
                if kept is None:
                    shown.started(world, number, len(plan.worlds))
                    results.append(_play(plan, world, folder, make_agent, shown))
                else:
                    results.append(kept)
                shown.finished(results[-1], played=kept is None)
        finally:
            summary = summarise(plan.run_file(), results)
            folder.write_summary(summary.as_json(), summary.rows())
    return summary


def _play(
    plan: RunPlan,
    world: World,
    folder: store.RunFolder,
    make_agent: Callable[[AgentSetup], Agent],
    progress: Progress,
) -> store.EpisodeResult:
    """Plays and records one episode; the boundary where whatever breaks becomes a recorded outcome."""
    began = time.monotonic()
    record = folder.start_episode(world.name)
    recorder = _Recorder(plan, world, record, progress)
    failure: str | None = None
    try:
        ending = asyncio.run(_episode(plan, world, make_agent, recorder))
    except InfrastructureError as error:
        ending = episode.Ending(Outcome.INFRASTRUCTURE, recorder.steps, str(error))
    except OresightError:
        record.close()
        raise
    except Exception as error:
        ending = episode.Ending(Outcome.INFRASTRUCTURE, recorder.steps, f"{type(error).__name__}: {error}")
        failure = traceback.format_exc()
    except BaseException:
        record.close()
        raise
    result = store.EpisodeResult(
        id=world.name,
        scenario=world.name,
        agent=plan.agent,
        memory=plan.memory,
        outcome=ending.outcome,
        reason=ending.reason,
        steps=ending.steps,
        budget=world.budget,
        score=recorder.summary(ending),
        parameters=world.parameters,
        timing={"seconds": round(time.monotonic() - began, 3)},
        traceback=failure,
    )
    record.finish(result)
    return result


async def _episode(
    plan: RunPlan, world: World, make_agent: Callable[[AgentSetup], Agent], recorder: "_Recorder"
) -> episode.Ending:
    agent = make_agent(_setup(world))
    strategy = make_strategy(plan.memory, world.instructions)
    environment = world.open(plan.size)
    try:
        return await episode.play(environment, agent, strategy, recorder.start, recorder.step)
    finally:
        environment.close()


def _setup(world: World) -> AgentSetup:
    return AgentSetup(world.seed, world.action_names, world.proof)


class _Recorder:
    """Writes down and scores what the loop reports."""

    def __init__(self, plan: RunPlan, world: World, record: store.EpisodeFolder, progress: Progress) -> None:
        self.steps = 0
        self._plan = plan
        self._world = world
        self._record = record
        self._progress = progress
        self._scorer: Scorer | None = None

    def start(self, observation: Observation, state_hash: str, facts: Json) -> None:
        header = self._world.header(self._plan.agent, self._plan.memory, state_hash, facts)
        self._record.header(header)
        self._record.frame(observation.step, observation.image)
        self._scorer = self._world.scorer(header)

    def step(self, step: Step) -> None:
        assert self._scorer is not None
        self._record.line(
            {
                "step": step.step,
                "action": step.decision.action,
                "state_hash": step.state_hash,
                "observation": step.observed.text,
                "outcome": step.outcome,
                "said": valid_text(step.decision.said),
                "usage": None if step.decision.usage is None else dict(step.decision.usage),
                "facts": step.facts,
            }
        )
        self._record.frame(step.after.step, step.after.image)
        self.steps = step.step
        self._progress.stepped(self._world, step, self._scorer.score(step.decision.action, step.facts))

    def summary(self, ending: episode.Ending) -> Json:
        return {} if self._scorer is None else self._scorer.summary(ending.outcome, ending.reason).to_json()


def valid_text(text: str) -> str:
    """Text that every JSON reader takes: half of a surrogate pair becomes a replacement mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
