"""Plays one episode and records it, from its start or from where an earlier attempt was left.

An interrupted attempt is replayed first: its recorded decisions are executed again in a fresh world, each checked
against the record, without asking the agent. Then the agent resumes. A model's reply is on disk before it is acted on,
so a reply that was recorded but not executed is executed then. A branch begins with decisions that were recorded
elsewhere; they are executed and written down first, also without asking the agent.
"""

import asyncio
import hashlib
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from typing_extensions import override

from oresight.harness.agents import AgentSetup, find_agent
from oresight.harness.agents.llm import LLMAgent
from oresight.harness.errors import InfrastructureError, OresightError, Outcome
from oresight.harness.models.base import ModelClient, ModelSettings
from oresight.harness.models.prices import Price
from oresight.harness.models.provider import ClientOptions
from oresight.harness.models.registry import ModelName, make_client
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.protocols import (
    DEFAULT_BUDGET,
    ActionSpace,
    Agent,
    ContextBudget,
    ContextStrategy,
    Decision,
    Json,
    Message,
    Observation,
    Step,
)
from oresight.harness.records import folder as run_folder
from oresight.harness.records import resume
from oresight.harness.records.recorder import Record
from oresight.harness.running import episode
from oresight.harness.running.budget import Budget, MeteredClient, tokens_of, usage_of
from oresight.harness.running.replay import first_difference
from oresight.harness.worlds import Branch, Size, World
from oresight.scoring import records
from oresight.scoring.decisions import ScoredDecision
from oresight.scoring.measures import Following, followed
from oresight.scoring.rescoring import Scorer

AgentMaker = Callable[[AgentSetup], Agent]


@dataclass(frozen=True)
class ModelChoice:
    """A model that plays, and what is asked of it.

    Attributes:
        name: Taken apart; may hold a password and is not to be shown.
        settings: What is asked of it.
        price: What its tokens cost, if that is known.
    """

    name: ModelName
    settings: ModelSettings = field(default_factory=ModelSettings)
    price: Price | None = None


@dataclass(frozen=True)
class EpisodeTask:
    """One episode to be played; can be sent to another process if its world can.

    Attributes:
        folder: Of the episode.
        world: To play in.
        agent: Its name as it is recorded; of a model, the public one.
        memory: Name of the context strategy.
        frames: Which pictures to keep.
        size: Of the pictures; None for an episode without.
        model: Plays in place of a bundled agent.
        make_agent: In place of the agent that `agent` names.
    """

    folder: Path
    world: World
    agent: str
    memory: str
    frames: run_folder.Frames
    size: Size | None
    model: ModelChoice | None = None
    make_agent: AgentMaker | None = None


ClientMaker = Callable[[ModelName, ModelSettings, ClientOptions], ModelClient]
RecordOpener = Callable[[EpisodeTask, int], Record]


class Listener(Protocol):
    """Receives what happens; the number is that of the task."""

    def started(self, number: int) -> None:
        """Report that an episode begins."""

    def stepped(self, number: int, step: Step, scored: ScoredDecision) -> None:
        """Report a decision that was recorded and scored."""

    def finished(self, number: int, result: run_folder.EpisodeResult) -> None:
        """Report that an episode has ended and its result is on disk."""

    def warned(self, words: str) -> None:
        """Report that a model supports less than was asked for; several processes may report the same."""


class EpisodeResources:
    """What the episodes of one process share: the clients of models, the account, the records, and who is warned."""

    def __init__(
        self,
        account: Budget,
        warn: Callable[[str], None] = lambda words: None,
        make: ClientMaker | None = None,
        open_record: RecordOpener | None = None,
    ) -> None:
        """Share them among the episodes of a process.

        Args:
            account: Takes in what replies cost.
            warn: Told what a model is asked less for.
            make: Makes the clients, for a process that has no keys of its own; as everybody does if left out.
            open_record: Gives the record of a task, for a process that does not see its folder.
        """
        self.account = account
        self._warn = warn
        self._make = make
        self._open_record = open_record
        self._clients: dict[ModelChoice, ModelClient] = {}

    def client(self, choice: ModelChoice) -> ModelClient:
        """Return the client of a model, made at its first use.

        Raises:
            OresightError: It cannot be made, for want of a key or a package.
        """
        if choice not in self._clients:
            made = (self._make or make_client)(choice.name, choice.settings, ClientOptions(warn=self._warn))
            self._clients[choice] = MeteredClient(made, self.account)
        return self._clients[choice]

    def record(self, task: EpisodeTask, number: int) -> Record:
        """Open the record of a task.

        Raises:
            OresightError: It cannot be opened.
        """
        if self._open_record is not None:
            return self._open_record(task, number)
        return run_folder.EpisodeFolder(task.folder, task.frames)

    async def aclose(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.aclose()


async def play_episode(
    task: EpisodeTask, number: int, resources: EpisodeResources, listener: Listener
) -> run_folder.EpisodeResult:
    """Play and record one episode; the boundary where any failure becomes a recorded outcome.

    Raises:
        OresightError: What stops the whole run; the episode is left to be continued.
    """
    began = time.monotonic()
    record = resources.record(task, number)
    attempt = EpisodeAttempt(task, number, record, resources, listener)
    failure: str | None = None
    try:
        try:
            ending = await attempt.play()
        except InfrastructureError as error:
            ending = episode.Ending(Outcome.INFRASTRUCTURE, attempt.steps, str(error))
        except OresightError:
            raise
        except Exception as error:
            ending = episode.Ending(Outcome.INFRASTRUCTURE, attempt.steps, f"{type(error).__name__}: {error}")
            failure = traceback.format_exc()
        result = attempt.result(ending, time.monotonic() - began, failure)
        record.finish(result)
    finally:
        record.close()
    return result


def lost_episode(task: EpisodeTask, reason: str) -> run_folder.EpisodeResult:
    """Record an infrastructure error for an episode whose process died, so that it can be resumed.

    Raises:
        OresightError: It cannot be recorded.
    """
    record = run_folder.EpisodeFolder(task.folder, task.frames)
    try:
        attempt = EpisodeAttempt(task, 0, record, EpisodeResources(Budget()), _Nobody())
        try:
            attempt.look()
        except InfrastructureError as error:
            reason = f"{reason}; {error}"
        result = attempt.result(episode.Ending(Outcome.INFRASTRUCTURE, attempt.steps, reason), 0.0, None)
        record.finish(result)
    finally:
        record.close()
    return result


def setup_of(world: World) -> AgentSetup:
    """Return what an agent is made from in a world."""
    return AgentSetup(world.seed, world.action_names, world.proof)


class EpisodeAttempt:
    """One attempt at an episode: replay what is recorded, then record and score what the loop reports."""

    def __init__(
        self, task: EpisodeTask, number: int, record: Record, resources: EpisodeResources, listener: Listener
    ) -> None:
        self.steps = 0
        self._task = task
        self._number = number
        self._record = record
        self._resources = resources
        self._listener = listener
        self._scorer: Scorer | None = None
        self._following: Following | None = None
        self._header: Json | None = None
        self._recorded: Sequence[records.DecisionLine] = ()
        self._replies: list[ReplyRecord] = []
        self._decided = hashlib.sha256()

    def look(self) -> None:
        """Count what is recorded, without playing."""
        trajectory, replies = self._record.kept()
        self.steps, self._replies = len(trajectory.lines), list(replies.replies)

    async def play(self) -> episode.Ending:
        """Play from where the record ends, and return how it ended."""
        task, world = self._task, self._task.world
        trajectory, replies = self._record.kept()
        self._header, self._recorded = trajectory.header, trajectory.lines
        self._replies = list(replies.replies)
        strategy = world.strategy(task.memory)
        agent = _Yielding(self._agent(strategy))
        before = () if world.branch is None else world.branch.decisions
        own = trajectory.lines[len(before) :]
        past = episode.Past(
            [*before, *(Decision(line.action, line.said, line.usage) for line in own)],
            None if replies.shrunk is None else replies.shrunk.budget,
        )
        environment = world.play(task.size)
        try:
            return await episode.play(
                environment, agent, strategy, self._start, self._step, DEFAULT_BUDGET, past, self._shrunk
            )
        finally:
            environment.close()

    def result(self, ending: episode.Ending, seconds: float, failure: str | None) -> run_folder.EpisodeResult:
        """Return the result of this attempt as it is written."""
        task = self._task
        timing = {"seconds": round(seconds, 3)}
        usage = None
        if task.model is not None:
            usage = usage_of(self._replies, task.model.price)
            replies = [record.reply for record in self._replies]
            timing["latency_s"] = round(sum(reply.latency_s for reply in replies), 3)
            timing["requests"] = sum(reply.requests for reply in replies)
            timing["retries"] = sum(reply.retries for reply in replies)
        score: Json = {}
        if self._scorer is not None:
            score = followed(self._scorer.summary(ending.outcome, ending.reason), self._following).to_json()
        branch = task.world.branch
        return run_folder.EpisodeResult(
            id=task.world.name,
            scenario=task.world.name if branch is None else branch.scenario,
            agent=task.agent,
            memory=task.memory,
            outcome=ending.outcome,
            reason=ending.reason,
            steps=ending.steps if branch is None else max(0, ending.steps - branch.at),
            budget=task.world.decisions_left,
            branch=None
            if branch is None
            else run_folder.BranchResult(
                at=branch.at,
                rollout=branch.rollout,
                digest=branch.digest,
                decided=self._decided.hexdigest()[:16],
            ),
            score=score,
            parameters=task.world.parameters,
            usage=usage,
            timing=timing,
            traceback=failure,
        )

    def _agent(self, strategy: ContextStrategy) -> Agent:
        task = self._task
        if task.model is not None:
            return LLMAgent(
                self._resources.client(task.model),
                strategy.answer,
                task.memory,
                task.model.price,
                self._reply,
                tuple(self._replies),
            )
        maker = task.make_agent or find_agent(task.agent, type(task.world)).make
        return maker(setup_of(task.world))

    def _reply(self, record: ReplyRecord) -> None:
        self._record.reply(record.to_json())
        self._replies.append(record)
        assert self._task.model is not None
        price, usage = self._task.model.price, record.reply.usage
        self._resources.account.add(None if price is None else price.cost(usage), tokens_of(usage))

    def _shrunk(self, step: int, budget: ContextBudget) -> None:
        self._record.reply(resume.Shrunk(step, budget).to_json())

    def _start(self, observation: Observation, state_hash: str, facts: Json) -> None:
        header = self._task.world.header(self._task.agent, self._task.memory, state_hash, facts)
        if self._header is None:
            self._record.header(header)
        else:
            self._compare(0, self._header, header)
        branch = self._task.world.branch
        self._scorer = self._task.world.scorer(header)
        self._following = Following(self._task.world.kind, state_hash, 0 if branch is None else branch.at)
        self._picture(0, observation)

    def _step(self, step: Step) -> None:
        assert self._scorer is not None and self._following is not None
        line: Json = {
            "step": step.step,
            "action": step.decision.action,
            "state_hash": step.state_hash,
            "observation": step.observed.text,
            "outcome": step.outcome,
            "said": step.decision.said,
            "usage": None if step.decision.usage is None else dict(step.decision.usage),
            "facts": step.facts,
        }
        branch = self._task.world.branch
        if branch is not None:
            self._check_branch(branch, step)
        if step.step <= len(self._recorded):
            # Ticks are of people's play, which nobody goes on with.
            self._compare(step.step, self._recorded[step.step - 1].model_dump(mode="json", exclude={"ticks"}), line)
        else:
            self._record.line(line)
        self._picture(step.step, step.after)
        self.steps = step.step
        scored = self._scorer.score(step.decision.action, step.facts)
        self._following.take(step.decision.action, step.state_hash, scored)
        self._listener.stepped(self._number, step, scored)

    def _check_branch(self, branch: Branch, step: Step) -> None:
        """Check that the branch point was reached as recorded; the decisions after it are this episode's own."""
        if step.step > branch.at:
            self._decided.update(f"{step.decision.action}\n".encode())
        elif step.step == branch.at and step.state_hash != branch.state_hash:
            raise InfrastructureError(
                f"{self._task.folder}: the {branch.at} decisions of {branch.of} led to another state than the recorded"
                " one; replay that recording to see where, and branch from one made with this version"
            )

    def _picture(self, step: int, observation: Observation) -> None:
        if step > len(self._recorded):
            self._record.frame(observation.step, observation.image)
            return
        self._record.same_frame(observation.step, observation.image)
        if step == len(self._recorded):
            self._record.cut_frames(observation.step)

    def _compare(self, step: int, recorded: Json, replayed: Json) -> None:
        """Compare a replayed line with its record, both in the form in which a file is read."""
        found = first_difference(recorded, records.parse_json(records.to_line(replayed).decode()))
        if found is not None:
            place, one, other = found
            where = f"decision {step}" if step else "the start"
            raise InfrastructureError(
                f"{self._task.folder}: cannot be resumed: {where} differs in {place}, recorded {str(one)[:80]!r},"
                f" replayed {str(other)[:80]!r}; remove this folder to play the episode afresh"
            )


class _Yielding:
    """Yields to the event loop before each decision: an agent that never waits could not be interrupted."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace) -> Decision:
        await asyncio.sleep(0)
        return await self._agent.act(messages, step, actions)


class _Nobody(Listener):
    """A listener that does nothing."""

    @override
    def started(self, number: int) -> None:
        pass

    @override
    def stepped(self, number: int, step: Step, scored: ScoredDecision) -> None:
        pass

    @override
    def finished(self, number: int, result: run_folder.EpisodeResult) -> None:
        pass

    @override
    def warned(self, words: str) -> None:
        pass
