"""Plays the episodes of a run, or of several runs at once: what is planned, what is finished already, what is left.

How an episode is played stands in `playing`, where in `executors`, the files in `store`, the figures in `summary`.
"""

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from typing_extensions import override

from oresight.harness.agents import find_agent
from oresight.harness.analysis.summary import RunSummary, summarise
from oresight.harness.errors import CapReachedError
from oresight.harness.models.provider import ClientOptions
from oresight.harness.models.registry import make_client
from oresight.harness.protocols import Step
from oresight.harness.records import folder as run_folder
from oresight.harness.records import resume
from oresight.harness.running.attempt import AgentMaker, EpisodeTask, Listener, ModelChoice, setup_of
from oresight.harness.running.budget import Budget, Limits, usage_of
from oresight.harness.running.executors import Executor, Inline
from oresight.harness.worlds import World
from oresight.scoring.decisions import ScoredDecision

ALL_FRAMES_BELOW_EPISODES = 100


@dataclass(frozen=True)
class RunPlan:
    """What to play: one agent with one memory in each of the worlds.

    Attributes:
        agent: Name of the agent; of a model, its public name.
        frames: Which pictures to keep; None for all below 100 episodes, else none.
        size: Width and height of the pictures in pixels; None for an episode without pictures.
        make_agent: In place of the agent that `agent` names; for agents without a name of their own.
        model: Plays in place of a bundled agent.
    """

    agent: str
    memory: str
    worlds: tuple[World, ...]
    frames: run_folder.Frames | None = None
    size: tuple[int, int] | None = (640, 480)
    make_agent: AgentMaker | None = None
    model: ModelChoice | None = None

    @property
    def kept_frames(self) -> run_folder.Frames:
        """Which pictures are kept."""
        return self.frames or ("all" if len(self.worlds) < ALL_FRAMES_BELOW_EPISODES else "none")

    def run_file(self) -> run_folder.RunFile:
        """Return the run.json of this plan."""
        config = run_folder.RunConfig(
            world=self.worlds[0].kind,
            agent=self.agent,
            memory=self.memory,
            episodes=tuple(world.name for world in self.worlds),
            frames=self.kept_frames,
            size=self.size,
            prompts=self.worlds[0].prompts,
            map=_one_of([world.fingerprint for world in self.worlds if world.fingerprint is not None]),
            model=None if self.model is None else asdict(self.model.settings),
            branch=_one_of([world.branch.digest for world in self.worlds if world.branch is not None]),
            desktop=self.worlds[0].desktop,
        )
        return run_folder.RunFile(config=config, versions=self.worlds[0].versions)

    def check(self) -> None:
        """Check for what would fail later: a wrong name, a missing key or part of the machine.

        Raises:
            OresightError: Something does.
        """
        self.worlds[0].strategy(self.memory)
        if self.model is not None:
            # The client that will be asked warns; this one is made to see whether it can be.
            make_client(self.model.name, self.model.settings, ClientOptions(warn=lambda words: None))
        elif self.make_agent is None:
            agent = find_agent(self.agent, type(self.worlds[0]))
            if agent.bundled:
                for world in self.worlds:
                    agent.make(setup_of(world))
        self.worlds[0].prepare(self.size)

    def task(self, world: World, folder: run_folder.RunFolder) -> EpisodeTask:
        """Return the task of one of its episodes."""
        return EpisodeTask(
            folder=folder.episode_path(world.name),
            world=world,
            agent=self.agent,
            memory=self.memory,
            frames=self.kept_frames,
            size=self.size,
            model=self._model_in(world),
            make_agent=self.make_agent,
        )

    def _model_in(self, world: World) -> ModelChoice | None:
        """Return the model's settings in one of the worlds: with a seed, each rollout of a branch has the next one."""
        model = self.model
        if model is None or model.settings.seed is None or world.branch is None:
            return model
        return replace(model, settings=replace(model.settings, seed=model.settings.seed + world.branch.rollout))


class Progress:
    """What a live display may show; does nothing unless overridden."""

    def planned(self, episodes: int) -> None:
        """Report how many episodes are planned, including those that are already finished."""

    def started(self, world: World, number: int, planned: int) -> None:
        """Report that an episode begins; `number` counts from 1."""

    def stepped(self, world: World, step: Step, scored: ScoredDecision) -> None:
        """Report a decision that was recorded and scored; of those in other processes, only some."""

    def finished(self, result: run_folder.EpisodeResult, played: bool) -> None:
        """Report that an episode is finished; `played` is False if it was so before this command."""

    def stopped(self, reason: str) -> None:
        """Report that the run stops early because a cap is reached."""

    def warned(self, words: str) -> None:
        """Report that a model supports less than was asked for, once per warning."""


def run(
    plan: RunPlan,
    out: Path,
    progress: Progress | None = None,
    executor: Executor | None = None,
    caps: Limits | None = None,
) -> RunSummary:
    """Play what is not finished yet and write the summary.

    An episode that breaks is recorded as an infrastructure error and the run continues. A disk error, a missing part
    of the machine, and a provider that refuses to serve stop the run with an error. A reached cap stops it too, and the
    summary is that of an incomplete run.

    Raises:
        OresightError: The run cannot be started or continued; what is recorded is kept.
    """
    return run_all([(plan, out)], progress, executor, caps)[0]


def run_all(
    plans: Sequence[tuple[RunPlan, Path]],
    progress: Progress | None = None,
    executor: Executor | None = None,
    caps: Limits | None = None,
) -> list[RunSummary]:
    """Play several runs like `run`, with one executor and one account.

    Raises:
        OresightError: As there.
    """
    # Checked before a folder is made, so that a wrong name or a missing part leaves nothing behind.
    for plan, _ in plans:
        plan.check()
    board = _Planned(progress or Progress(), sum(len(plan.worlds) for plan, _ in plans))
    account = Budget(caps)
    with ExitStack() as opened:
        folders = [opened.enter_context(run_folder.RunFolder(out, plan.run_file())) for plan, out in plans]
        try:
            for place, ((plan, _), folder) in enumerate(zip(plans, folders, strict=True)):
                for world in plan.worlds:
                    kept = folder.finished(world.name)
                    board.plan(place, plan.task(world, folder), kept)
                    _take_in(account, plan, folder.episode_path(world.name))
            (executor or Inline()).run(board.tasks, account, board)
        except CapReachedError as reached:
            board.stopped(str(reached))
        finally:
            summaries = [
                summarise(plan.run_file(), results, folder.standing(results))
                for (plan, _), folder, results in zip(
                    plans, folders, [board.results(place, plan) for place, (plan, _) in enumerate(plans)], strict=True
                )
            ]
            for folder, summary in zip(folders, summaries, strict=True):
                folder.write_summary(summary.as_json(), summary.rows())
    return summaries


def _one_of(fingerprints: Sequence[str]) -> str | None:
    """Return one fingerprint for several, or None if there are none."""
    if len(fingerprints) < 2:
        return fingerprints[0] if fingerprints else None
    return hashlib.sha256(",".join(fingerprints).encode()).hexdigest()[:16]


def _take_in(account: Budget, plan: RunPlan, path: Path) -> None:
    """Add what earlier attempts spent to the account, so that a cap holds for the run and not per command."""
    if plan.model is None or account.caps == Limits():
        return
    spent = usage_of(resume.read_replies(path / run_folder.REPLIES_NAME).replies, plan.model.price)
    account.add(spent["cost"], spent["input_tokens"] + spent["output_tokens"])


class _Planned(Listener):
    """What is to be played and what has come of it; listens to the executor and reports to the display."""

    def __init__(self, progress: Progress, planned: int) -> None:
        self.tasks: list[EpisodeTask] = []
        self._progress = progress
        self._planned = planned
        # Per task the place of its run and its number among all episodes.
        self._places: list[tuple[int, int]] = []
        self._number = 0
        self._warned: set[str] = set()
        self._results: dict[tuple[int, str], run_folder.EpisodeResult] = {}
        progress.planned(planned)

    def plan(self, place: int, task: EpisodeTask, kept: run_folder.EpisodeResult | None) -> None:
        """Add an episode of the run at a place, with its result if it is finished."""
        self._number += 1
        if kept is not None:
            self._results[place, kept.id] = kept
            self._progress.finished(kept, played=False)
            return
        self.tasks.append(task)
        self._places.append((place, self._number))

    @override
    def warned(self, words: str) -> None:
        if words not in self._warned:
            self._warned.add(words)
            self._progress.warned(words)

    def stopped(self, reason: str) -> None:
        """Report why the run stops to the display."""
        self._progress.stopped(reason)

    def results(self, place: int, plan: RunPlan) -> list[run_folder.EpisodeResult]:
        """Return the results of the run at a place, in planned order."""
        found = [self._results.get((place, world.name)) for world in plan.worlds]
        return [result for result in found if result is not None]

    @override
    def started(self, number: int) -> None:
        self._progress.started(self.tasks[number].world, self._places[number][1], self._planned)

    @override
    def stepped(self, number: int, step: Step, scored: ScoredDecision) -> None:
        self._progress.stepped(self.tasks[number].world, step, scored)

    @override
    def finished(self, number: int, result: run_folder.EpisodeResult) -> None:
        self._results[self._places[number][0], result.id] = result
        self._progress.finished(result, played=True)
