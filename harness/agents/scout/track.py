"""What scout gathers from a context: the task, its latest actions with their outcomes, and where they must have led.

Only public words and captions are read. Places are dead reckoning in a frame of the agent's own: it starts at (0, 0),
looks along +ahead, and a walk counts as long as an unhindered one.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from oresight.harness.protocols import Message, Pixels

# An unhindered walk of one second, in blocks.
WALK_BLOCKS = 4.3
# A walk that an obstacle ended on the way, at a place that the words do not state.
CUT_WALK_BLOCKS = 2.0
SWIM_BLOCKS = 2.1
TURN_DEG = 30.0
TILT_DEG = 15.0

_WALKS = {"move_forward": 0.0, "move_right": 90.0, "move_backward": 180.0, "move_left": 270.0}
_TURNS = {"look_left": -TURN_DEG, "look_right": TURN_DEG}
_TILTS = {"look_up": -TILT_DEG, "look_down": TILT_DEG}

_ORE = re.compile(r"\b(coal|iron|gold|diamond)[ _]ore\b", re.IGNORECASE)
_STEP = re.compile(r"^\W*step\W+(\d+)", re.IGNORECASE | re.MULTILINE)
_LAST = re.compile(r"^\W*last action\W+(\w+)\W*(.*)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Pose:
    """Where the agent believes to be: blocks to the right and ahead of its start, and how it looks."""

    right: float = 0.0
    ahead: float = 0.0
    heading_deg: float = 0.0
    pitch_deg: float = 0.0

    def after(self, action: str, outcome: str) -> "Pose":
        """Return the pose that an action with this outcome leads to."""
        if action in _WALKS:
            length = _walked(outcome)
            way = math.radians(self.heading_deg + _WALKS[action])
            return Pose(
                self.right + length * math.sin(way),
                self.ahead + length * math.cos(way),
                self.heading_deg,
                self.pitch_deg,
            )
        heading = self.heading_deg + _TURNS.get(action, 0.0)
        pitch = min(max(self.pitch_deg + _TILTS.get(action, 0.0), -90.0), 90.0)
        return Pose(self.right, self.ahead, heading, pitch)


def _walked(outcome: str) -> float:
    """Return how far a walk with this outcome went, in blocks; a guess where an obstacle ended it."""
    if "blocked" in outcome:
        return CUT_WALK_BLOCKS if "moved" in outcome else 0.0
    return SWIM_BLOCKS if "swimming" in outcome else WALK_BLOCKS


@dataclass(frozen=True, eq=False)
class Moment:
    """One moment between two decisions.

    Attributes:
        step: The observation's number.
        action: The last of them; None at the start.
        outcome: What came of it.
        pose: Where the agent believes to be.
        picture: What it saw, where the context has it.
    """

    step: int
    action: str | None
    outcome: str
    pose: Pose
    picture: Pixels | None

    @property
    def stopped(self) -> bool:
        """Whether an obstacle ended the last action."""
        return "blocked" in self.outcome

    @property
    def moved(self) -> bool:
        """Whether the last action brought it anywhere."""
        return "moved" in self.outcome

    @property
    def sinking(self) -> bool:
        """Whether the last action took it deeper into water."""
        return "swimming" in self.outcome and "went down" in self.outcome


@dataclass(frozen=True)
class Track:
    """The task and the known moments, oldest first, the present one last."""

    target: str
    moments: tuple[Moment, ...]

    @property
    def now(self) -> Moment:
        """The present moment."""
        return self.moments[-1]


def read_track(messages: Sequence[Message]) -> Track:
    """Gather what the messages say: every action and outcome that the chat still holds, and the pictures shown now.

    Pictures are those of the last message: the current one, and earlier ones where the strategy adds them.

    Args:
        messages: A context; its last message holds the current observation.

    Raises:
        ValueError: No message names the ore that is looked for.
    """
    told: dict[int, tuple[str | None, str]] = {}
    pictures: dict[int, Pixels] = {}
    last = messages[-1] if messages else Message("user", ())
    for picture in last.images:
        pictures[picture.step] = picture.pixels
        told[picture.step] = (picture.action, (picture.outcome or "").lower())
    for message in messages:
        if message.role == "user":
            for step, action in zip(_STEP.finditer(message.text), _LAST.finditer(message.text), strict=False):
                named = None if action.group(1) == "none" else action.group(1)
                told[int(step.group(1))] = (named, action.group(2).lower())
    ores = (_ORE.search(message.text) for message in reversed(messages) if message.role != "assistant")
    target = next((f"{ore.group(1).lower()}_ore" for ore in ores if ore), "")
    if not target:
        raise ValueError("no message names an ore to look for; scout plays the 3D world's tasks only")
    moments: list[Moment] = []
    pose = Pose()
    for number in sorted(told):
        done, outcome = told[number]
        if done is not None and moments:
            pose = pose.after(done, outcome)
        moments.append(Moment(number, done, outcome, pose, pictures.get(number)))
    if not moments:
        moments.append(Moment(0, None, "", pose, None))
    return Track(target, tuple(moments))
