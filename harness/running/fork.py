"""Plays on from a decision of a recorded episode: finds the branch points and makes the worlds of their episodes.

A branch is an episode whose first decisions are those of a recorded one. They are done again in a fresh world and
nobody is asked for them; the agent that plays on is shown them as its own past, with what was said then. How the
episodes are played is for `playing`, how they are scored for `scoring.branch`.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from oresight.harness import files
from oresight.harness.errors import ReplayRefusedError, UsageError
from oresight.harness.models.registry import PROVIDERS
from oresight.harness.protocols import Decision, Environment, Json
from oresight.harness.running.plan import Condition
from oresight.harness.running.replay import Listener, replay, trajectory_path
from oresight.harness.running.selection import find_prompts
from oresight.harness.text import visible
from oresight.harness.worlds import Branch, Size, World, find_world, world_of_header
from oresight.scoring.readers.run_folder import EPISODES_NAME, run_around
from oresight.scoring.records import DecisionLine, Header

SAME = "same"
MOST_ROLLOUTS = 1000
# They play a solution of the whole scenario, which leads nowhere from the middle of somebody else's way.
FROM_THE_START = ("oracle", "solver")
_SCENARIO_CHARACTERS = 60


@dataclass(frozen=True)
class Recording:
    """A recorded episode as far as it is played on from, checked against the world.

    Attributes:
        of: Its run's and its episode's name.
        header: The trajectory's.
        decisions: Up to the last branch point, with what was said and without what they cost.
        state_hashes: Of the start, and after each of the decisions.
        size: Of the pictures that it was played with; None if it had none or nobody says.
        without_pictures: Whether its run says that it had none.
    """

    of: str
    header: Header
    decisions: tuple[Decision, ...]
    state_hashes: tuple[str, ...]
    size: Size | None = None
    without_pictures: bool = False

    def digest(self, at: int) -> str:
        """A hash of the scenario and of the first decisions with the states that they led to."""
        told: Json = {
            "scenario": self.header.scenario,
            "start": self.state_hashes[0],
            "decisions": [
                [each.action, each.said, after]
                for each, after in zip(self.decisions[:at], self.state_hashes[1:], strict=False)
            ],
        }
        return hashlib.sha256(files.to_pretty_json(told)).hexdigest()[:16]


@dataclass(frozen=True)
class BranchPoints:
    """Which branches are asked for: of each recording, from each point, so many rollouts.

    Attributes:
        recordings: All of one kind of world, each of another scenario.
        at: After how many decisions they are played on.
        rollouts: How often.
    """

    recordings: tuple[Recording, ...]
    at: tuple[int, ...]
    rollouts: int

    @property
    def kind(self) -> str:
        """Of the world."""
        return self.recordings[0].header.kind

    def worlds(self, prompts: str | None = None) -> tuple[World, ...]:
        """The worlds of all branches, in order.

        Args:
            prompts: As `Selection.worlds` takes them; None for those of the recording, or the plain set.

        Raises:
            UsageError: There is no such prompt set.
        """
        named, own = find_prompts(find_world(self.kind), prompts)
        found: list[World] = []
        for recording in self.recordings:
            plain = world_of_header(recording.header, named, own)
            for at in self.at:
                branch = _branch(recording, plain.name, at)
                found += [_begun(plain, replace(branch, rollout=rollout)) for rollout in range(self.rollouts)]
        return tuple(found)


def find_points(episodes: Sequence[Path], at: tuple[int, ...], rollouts: int) -> BranchPoints:
    """Reads recorded episodes and checks in their worlds that they can be played on from.

    Args:
        episodes: Their folders, or their trajectories.
        at: After how many decisions; 0 is the start.
        rollouts: How many branches from each point.

    Raises:
        UsageError: An episode has no such point, or two of them cannot be told apart.
        ReplayRefusedError: One was recorded in a world that is not the one here.
        RecordError: One is broken.
    """
    recordings = tuple(_read(episode, max(at)) for episode in episodes)
    kinds = sorted({recording.header.kind for recording in recordings})
    if len(kinds) > 1:
        raise UsageError(f"episodes of {' and '.join(kinds)} cannot be branched together; give those of one world")
    by_scenario: dict[str, str] = {}
    for recording in recordings:
        scenario = str(recording.header.scenario.get("name"))
        if scenario in by_scenario:
            raise UsageError(
                f"{by_scenario[scenario]} and {recording.of} are both of scenario {scenario!r}, so that their branches"
                " would have the same names; branch them one by one into folders of their own"
            )
        by_scenario[scenario] = recording.of
    return BranchPoints(recordings, at, rollouts)


def conditions_of(
    points: BranchPoints, agents: Sequence[str], models: Sequence[str], memories: Sequence[str], prompts: Sequence[str]
) -> list[Condition]:
    """Who plays on: every agent with every memory, every model with every memory and every set of prompts.

    Args:
        points: Where; the recordings say what `same` stands for.
        agents: Their names; with neither agents nor models it is the one that was recorded.
        models: Their names.
        memories: Their names; none for the one that was recorded.
        prompts: For models; none for the set that was recorded.

    Raises:
        UsageError: What was recorded cannot be played on with, or `same` is not one and the same.
    """
    if not agents and not models:
        agents = [SAME]
    played = [_recorded_agent(points) if agent == SAME else agent for agent in agents]
    for agent in played:
        if agent in FROM_THE_START:
            raise UsageError(
                f"agent {agent!r} plays a solution from the start and cannot play on from elsewhere; choose another"
            )
    kept = [_recorded(points, "memory") if memory == SAME else memory for memory in memories or [SAME]]
    sets: list[str | None] = []
    if models:
        sets = [_recorded_prompts(points) if each == SAME else each for each in prompts or [SAME]]
    found = [Condition(agent, None, memory) for agent in played for memory in kept]
    found += [Condition(None, model, memory, chosen) for model in models for memory in kept for chosen in sets]
    return list(dict.fromkeys(found))


def recorded_size(points: BranchPoints) -> tuple[Size | None, bool]:
    """Size of the recorded pictures if all recordings agree, and whether they are known to have had none."""
    sizes = {recording.size for recording in points.recordings}
    without = all(recording.without_pictures for recording in points.recordings)
    return (sizes.pop() if len(sizes) == 1 else None), without


def points_words(points: BranchPoints) -> str:
    """Where it is branched from, in words."""
    names = [f"{recording.of} ({recording.header.agent}, {recording.header.memory})" for recording in points.recordings]
    where = ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:3])} and {len(names) - 3} more"
    numbers = f"decision{'s' * (len(points.at) > 1)} {', '.join(str(at) for at in points.at)}"
    times = f", {points.rollouts} times each" if points.rollouts > 1 else ""
    return (
        f"Playing on from {numbers} of {where}{times}. What is counted are the decisions after that, under the budget"
        " that is left there."
    )


class _Taking(Listener):
    """Takes in what a replay finds to be so."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.decisions: list[Decision] = []
        self.state_hashes: list[str] = []

    def started(self, header: Header, world: World, environment: Environment) -> None:
        self.header = header
        self.state_hashes.append(header.start.state_hash)

    def decided(self, line: DecisionLine) -> None:
        # What they cost was paid when they were recorded.
        self.decisions.append(Decision(line.action, line.said))
        self.state_hashes.append(line.state_hash)


def _read(episode: Path, until: int) -> Recording:
    taking = _Taking()
    try:
        replayed = replay(episode, taking, until=until)
    except ReplayRefusedError as error:
        raise ReplayRefusedError(f"{episode}: {error}") from error
    if replayed.difference is not None:
        raise ReplayRefusedError(
            f"{episode}: {replayed.difference.sentence()}; what was recorded did not happen in the world as it is here,"
            " so that it cannot be played on from"
        )
    held = replayed.decisions
    if held < until or replayed.over:
        last = held - 1 if replayed.over else held
        what = f"its episode ends with decision {held}" if replayed.over else f"it holds {held} decisions"
        raise UsageError(f"{episode}: --at is {until}, and {what}; give a number from 0 to {last}")
    assert taking.header is not None
    size, without = _pictures(episode)
    return Recording(_name(episode), taking.header, tuple(taking.decisions), tuple(taking.state_hashes), size, without)


def _name(episode: Path) -> str:
    """Names alone, so that nothing of this machine gets into a record."""
    folder = trajectory_path(episode).resolve().parent
    if folder.parent.name == EPISODES_NAME:
        return f"{folder.parent.parent.name}/{folder.name}"
    return folder.name


def _pictures(episode: Path) -> tuple[Size | None, bool]:
    """Size of the pictures, as the run's file says if there is one; and whether it says that there were none."""
    run = run_around(trajectory_path(episode).resolve())
    return (None, False) if run is None else (run.config.size, run.config.size is None)


def _branch(recording: Recording, scenario: str, at: int) -> Branch:
    return Branch(
        scenario=scenario,
        decisions=recording.decisions[:at],
        state_hash=recording.state_hashes[at],
        rollout=0,
        of=recording.of,
        agent=recording.header.agent,
        memory=recording.header.memory,
        digest=recording.digest(at),
    )


def _begun(world: World, branch: Branch) -> World:
    """The world of a recording with its first decisions still to be done again."""
    name = f"{branch.scenario[:_SCENARIO_CHARACTERS]}.at{branch.at}.r{branch.rollout}"
    return world.branched(name, _seed(world.seed, branch.rollout), branch)


def _seed(seed: int, rollout: int) -> int:
    """The agent's seed: in rollout 0 the scenario's own, so that the recorded agent decides as it did."""
    if rollout == 0:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {rollout}".encode()).digest()[:4], "big")


def _recorded(points: BranchPoints, field: str) -> str:
    """What all recordings have in common in a field of their headers."""
    found = sorted({str(getattr(recording.header, field)) for recording in points.recordings})
    if len(found) > 1:
        raise UsageError(
            f"the episodes were recorded with more than one {field} ({', '.join(visible(each, 60) for each in found)});"
            f" say with --{field} which is to play on"
        )
    return found[0]


def _recorded_agent(points: BranchPoints) -> str:
    agent = _recorded(points, "agent")
    provider = agent.partition(":")[0]
    if provider in PROVIDERS:
        raise UsageError(f"the recorded player is the model {visible(agent, 100)}; give it with --model, or another")
    if provider == "scripted":
        raise UsageError("the recorded player is a script; give its file with --model scripted:FILE, or another player")
    return agent


def _recorded_prompts(points: BranchPoints) -> str | None:
    """The prompt set of the recordings, None for the plain one; a model that plays on is told what was told then."""
    names = {recording.header.prompts for recording in points.recordings}
    if len(names) > 1:
        raise UsageError("the episodes were recorded with different prompts; say with --prompts which are to be used")
    (name,) = names
    plain = world_of_header(points.recordings[0].header.model_copy(update={"prompts": None})).prompts
    if name == plain:
        return None
    if name is not None and re.search(r"\+own:", name):
        raise UsageError(
            f"the recorded prompts are texts of somebody's own ({visible(name, 60)}), which the record does not hold;"
            " give their file with --prompts, or a set by its name"
        )
    return name
