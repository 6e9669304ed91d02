"""The table of 21: the declared actions that environment, prompts, window and desktop driver all read.

Source: "Exploration and Exploitation Errors Are Measurable for Language Model Agents", section 7 (names, count and the
durations of moving, looking, jumping and mining); the remaining durations are this project's own.
"""

from dataclasses import dataclass
from enum import Enum

from oresight.craftenv.config import LOOK_PITCH_COUNTS, LOOK_YAW_COUNTS


class Effect(Enum):
    """What the simulation does with an action."""

    MOVE = "move"
    LOOK = "look"
    JUMP = "jump"
    MINE = "mine"
    PLACE = "place"
    SELECT = "select"
    WAIT = "wait"


@dataclass(frozen=True)
class Action:
    """One of the 21 actions.

    Attributes:
        name: Its name in files and prompts.
        ticks: Its whole duration in simulation ticks (20 a second).
        effect: What kind of control it is.
        forward: Walking direction along the view, -1, 0 or 1.
        right: Walking direction to the right of the view, -1, 0 or 1.
        yaw_counts: Mouse counts to the right over the whole action (0.15 degrees each).
        pitch_counts: Mouse counts downwards over the whole action.
        slot: Hotbar slot that it selects, 1 to 9, or 0.
        key: The key or button a person would use.
        description: One sentence for prompts and help.
    """

    name: str
    ticks: int
    effect: Effect
    key: str
    description: str
    forward: int = 0
    right: int = 0
    yaw_counts: int = 0
    pitch_counts: int = 0
    slot: int = 0


ACTIONS: tuple[Action, ...] = (
    Action("move_forward", 20, Effect.MOVE, "W", "Walk forward for 1 second (about 4.3 blocks).", forward=1),
    Action("move_backward", 20, Effect.MOVE, "S", "Walk backward for 1 second (about 4.3 blocks).", forward=-1),
    Action("move_left", 20, Effect.MOVE, "A", "Walk to the left for 1 second without turning.", right=-1),
    Action("move_right", 20, Effect.MOVE, "D", "Walk to the right for 1 second without turning.", right=1),
    Action(
        "look_left", 4, Effect.LOOK, "mouse left", "Turn the view 30 degrees to the left.", yaw_counts=-LOOK_YAW_COUNTS
    ),
    Action(
        "look_right",
        4,
        Effect.LOOK,
        "mouse right",
        "Turn the view 30 degrees to the right.",
        yaw_counts=LOOK_YAW_COUNTS,
    ),
    Action("look_up", 4, Effect.LOOK, "mouse up", "Tilt the view 15 degrees up.", pitch_counts=-LOOK_PITCH_COUNTS),
    Action("look_down", 4, Effect.LOOK, "mouse down", "Tilt the view 15 degrees down.", pitch_counts=LOOK_PITCH_COUNTS),
    Action(
        "jump",
        8,
        Effect.JUMP,
        "space",
        "Jump; the world freezes at the highest point, so move_forward next climbs a block.",
    ),
    Action(
        "mine",
        40,
        Effect.MINE,
        "left button",
        "Mine the block under the crosshair for 2 seconds, then whatever is behind it.",
    ),
    Action(
        "place",
        4,
        Effect.PLACE,
        "right button",
        "Place a block from the selected slot against the face under the crosshair.",
    ),
    *(Action(f"slot_{n}", 1, Effect.SELECT, str(n), f"Select hotbar slot {n}.", slot=n) for n in range(1, 10)),
    Action("wait", 20, Effect.WAIT, "none", "Do nothing for 1 second."),
)

ACTION_NAMES: tuple[str, ...] = tuple(action.name for action in ACTIONS)
BY_NAME: dict[str, Action] = {action.name: action for action in ACTIONS}
