"""Plays a recorded episode again in the world, and says at which decision the two part, if they do.

Works from the trajectory alone. Pictures and films are the business of whoever listens.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from oresight.harness.errors import RecordError, ReplayRefusedError
from oresight.harness.protocols import Environment, FilmEnvironment, Json
from oresight.harness.records.folder import TRAJECTORY_NAME
from oresight.harness.text import visible
from oresight.harness.worlds import Size, World, world_of_header
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.trajectory import Trajectory
from oresight.scoring.records import DecisionLine, Header


@dataclass(frozen=True)
class Difference:
    """The first place where record and replay part.

    Attributes:
        step: Number of the decision; 0 is the start.
        field: Dotted path within the line, for example `facts.pose_after.feet[0]`.
        recorded: As it stands in the file.
        replayed: As it came out now.
    """

    step: int
    field: str
    recorded: object
    replayed: object

    def sentence(self) -> str:
        """In words."""
        where = f"decision {self.step}" if self.step else "the start"
        recorded, replayed = (visible(json.dumps(value), 80) for value in (self.recorded, self.replayed))
        return f"{where} differs in {visible(self.field)}: recorded {recorded}, replayed {replayed}"


@dataclass(frozen=True)
class Replayed:
    """What a replay found.

    Attributes:
        scenario: Name of the scenario.
        decisions: How many decisions were compared.
        difference: The first difference, or None.
        torn: Whether a last line that was cut short was left out.
        over: Whether the last decision that was compared ended the episode: the task was done or the budget spent.
    """

    scenario: str
    decisions: int
    difference: Difference | None
    torn: bool
    over: bool = False


class Listener:
    """Follows a replay; does nothing unless overridden."""

    def started(self, header: Header, world: World, environment: Environment) -> None:
        """The world stands at the start."""

    def deciding(self, line: DecisionLine) -> None:
        """The action of a line is about to run."""

    def ticked(self) -> None:
        """A tick of the simulation has passed."""

    def decided(self, line: DecisionLine) -> None:
        """The action has run; record and replay agreed so far, this decision included."""

    def ended(self) -> None:
        """All that was asked for has been replayed without a difference; the world still stands."""


def replay(
    episode: Path,
    listener: Listener | None = None,
    find_world: Callable[[Header], World] = world_of_header,
    until: int | None = None,
    size: Size = (640, 480),
) -> Replayed:
    """Replays an episode up to its end or to the first difference.

    Args:
        episode: The episode's folder, or its trajectory.
        listener: Follows along.
        find_world: Gives the world of a header.
        until: How many decisions are replayed; None for all. What comes after them is not looked at.
        size: Of the pictures that a listener asks for, where the world leaves a choice.

    Raises:
        RecordError: The trajectory is broken.
        ReplayRefusedError: It was recorded with another terrain.
    """
    follower = listener or Listener()
    path = trajectory_path(episode)
    with open_trajectory(path) as trajectory:
        if trajectory.header.session is not None:
            raise ReplayRefusedError(
                f"{path}: was cut out of a person's session, whose decisions cannot be done again one by one; replay"
                f" the {trajectory.header.session} beside it"
            )
        world = find_world(trajectory.header)
        environment = world.replay(size)
        try:
            return _compare(trajectory, world, environment, follower, until)
        finally:
            environment.close()


def trajectory_path(episode: Path) -> Path:
    """The trajectory that an argument names: itself, or the one in an episode's folder.

    Raises:
        RecordError: There is none.
    """
    path = episode / TRAJECTORY_NAME if episode.is_dir() else episode
    if path.is_symlink() or not path.is_file():
        raise RecordError(
            f"{episode}: holds no {TRAJECTORY_NAME}; name an episode's folder, such as runs/demo/episodes/outcrop-0"
        )
    return path


def first_difference(recorded: object, replayed: object, path: str = "") -> tuple[str, object, object] | None:
    """The first place, in reading order, where two JSON values differ, with what stands there on either side."""
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        for key in [*recorded, *(key for key in replayed if key not in recorded)]:
            place = f"{path}.{key}" if path else str(key)
            if key not in recorded or key not in replayed:
                return place, recorded.get(key, "nothing"), replayed.get(key, "nothing")
            if found := first_difference(recorded[key], replayed[key], place):
                return found
        return None
    if isinstance(recorded, list) and isinstance(replayed, list):
        for index, (one, other) in enumerate(zip(recorded, replayed, strict=False)):
            if found := first_difference(one, other, f"{path}[{index}]"):
                return found
        if len(recorded) != len(replayed):
            return f"{path} (its length)", len(recorded), len(replayed)
        return None
    # True == 1 and 1 == 1.0 in Python, but not in a record.
    if type(recorded) is not type(replayed) or recorded != replayed:
        return path, recorded, replayed
    return None


def _compare(
    trajectory: Trajectory, world: World, environment: FilmEnvironment, listener: Listener, until: int | None
) -> Replayed:
    header = trajectory.header
    observation = environment.reset()
    recorded: Json = {"state_hash": header.start.state_hash, "facts": header.start.facts}
    difference = _difference(0, recorded, {"state_hash": environment.state_hash(), "facts": environment.facts()})
    if difference is not None:
        return Replayed(world.name, 0, difference, torn=False)
    listener.started(header, world, environment)
    # Another version may say the same in other words; its hashes and facts are the same all the same.
    fields = ["state_hash", "facts"]
    if header.versions.get("oresight") == world.versions["oresight"]:
        fields += ["observation", "outcome"]
    decisions = 0
    over = False
    for line in islice(_lines(trajectory), until):
        decisions += 1
        if over or not world.space.admits(line.action):
            expected = "the end of the episode" if over else "an action of this world"
            return Replayed(world.name, decisions, Difference(line.step, "action", line.action, expected), torn=False)
        listener.deciding(line)
        transition = environment.step(line.action, listener.ticked)
        replayed: Json = {
            "state_hash": environment.state_hash(),
            "facts": environment.facts(),
            "observation": observation.text,
            "outcome": transition.outcome,
        }
        recorded = {field: getattr(line, field) for field in fields}
        difference = _difference(line.step, recorded, {field: replayed[field] for field in fields})
        if difference is not None:
            return Replayed(world.name, decisions, difference, torn=False)
        listener.decided(line)
        observation = transition.observation
        over = transition.terminated or transition.truncated
    listener.ended()
    return Replayed(world.name, decisions, None, torn=trajectory.torn is not None, over=over)


def _difference(step: int, recorded: Json, replayed: Json) -> Difference | None:
    # Through JSON and back, as the recorded side has been.
    found = first_difference(recorded, json.loads(json.dumps(replayed)))
    return None if found is None else Difference(step, *found)


def open_trajectory(path: Path) -> Trajectory:
    """Opens a trajectory and reads its header.

    Raises:
        RecordError: It is broken.
    """
    try:
        return Trajectory(path)
    except BadInput as error:
        raise RecordError(str(error)) from error


def _lines(trajectory: Trajectory) -> Iterator[DecisionLine]:
    try:
        for _, line in trajectory:
            yield line
    except BadInput as error:
        raise RecordError(str(error)) from error
