"""From what hands do at keyboard and mouse to the input of the simulation in each tick; no window needed.

A window hands in events as they come. `Hands` keeps what is held down and gives the `Controls` of one tick after the
other; `Choices` reads the same events as decisions, one a key. What a key does stands in the table of actions.
"""

from collections import deque
from dataclasses import dataclass

from oresight.craftenv.actions import ACTIONS, BY_NAME, Action, Effect
from oresight.craftenv.config import HOTBAR_SLOTS
from oresight.craftenv.sim.engine import Controls

LEFT_BUTTON = "left button"
RIGHT_BUTTON = "right button"


@dataclass(frozen=True)
class Pressed:
    """A key or button went down; auto-repeat may say so again. Names are lower case, such as `w` or `left button`."""

    name: str


@dataclass(frozen=True)
class Released:
    """A key or button came up."""

    name: str


@dataclass(frozen=True)
class Moved:
    """The mouse moved, in mouse counts to the right and downwards."""

    right: float
    down: float


@dataclass(frozen=True)
class Scrolled:
    """The wheel turned; positive notches away from the person, towards slot 1."""

    notches: float


@dataclass(frozen=True)
class FocusLost:
    """Keys go to another window from now on; their release will not be reported."""


@dataclass(frozen=True)
class FocusGained:
    """Keys come here again."""


@dataclass(frozen=True)
class Closed:
    """The window is to be closed."""


Event = Pressed | Released | Moved | Scrolled | FocusLost | FocusGained | Closed

# What a person may press in a game where a turn of the view is too small for one key; the rest is in the table.
_HELD: dict[str, Action] = {action.key.lower(): action for action in ACTIONS if action.effect is not Effect.LOOK}
_PLACE_TICKS = BY_NAME["place"].ticks

# Decisions by keys of their own, beside those of the table.
_TURN_KEYS: dict[str, str] = {
    "left": "look_left",
    "right": "look_right",
    "up": "look_up",
    "down": "look_down",
    "f": "mine",
    "r": "place",
    "x": "wait",
}
CHOICE_KEYS: dict[str, Action] = {
    **{key: action for key, action in _HELD.items() if action.effect is not Effect.WAIT},
    **{key: BY_NAME[name] for key, name in _TURN_KEYS.items()},
}


class _Wheel:
    """Adds up the parts of notches that fine wheels report."""

    def __init__(self) -> None:
        self._part = 0.0

    def turn(self, notches: float) -> int:
        """Return by how many whole slots the selection moves, to the right."""
        self._part -= notches
        whole = int(self._part)
        self._part -= whole
        return whole

    def stop(self) -> None:
        self._part = 0.0


class Hands:
    """What is held down, tick by tick.

    A press shorter than a tick counts as one; a key that is reported as pressed while it is down is not a new one.
    """

    def __init__(self, slot: int = 0) -> None:
        """Start with nothing held.

        Args:
            slot: The selected slot, 0 to 8.
        """
        self._slot = slot
        self._chosen = slot
        self._held: set[str] = set()
        self._tapped: set[str] = set()
        self._right = 0.0
        self._down = 0.0
        self._place_in = 0
        self._wheel = _Wheel()

    @property
    def turning(self) -> tuple[int, int]:
        """Mouse counts to the right and downwards that the next tick will take."""
        return int(self._right), int(self._down)

    def take(self, event: Event) -> None:
        """Take in an event."""
        if isinstance(event, Pressed):
            self._press(event.name)
        elif isinstance(event, Released):
            self._held.discard(event.name)
        elif isinstance(event, Moved):
            self._right += event.right
            self._down += event.down
        elif isinstance(event, Scrolled):
            self._chosen = (self._chosen + self._wheel.turn(event.notches)) % HOTBAR_SLOTS
        elif isinstance(event, FocusLost):
            self.let_go()

    def _press(self, name: str) -> None:
        if name in self._held or name not in _HELD:
            return
        self._held.add(name)
        self._tapped.add(name)
        action = _HELD[name]
        if action.effect is Effect.SELECT:
            self._chosen = action.slot - 1
        elif action.effect is Effect.PLACE:
            self._place_in = 0

    def let_go(self) -> None:
        """Let go of every key and button, and forget what no tick has taken yet."""
        self._held.clear()
        self._tapped.clear()
        self._right = self._down = 0.0
        self._place_in = 0
        self._chosen = self._slot
        self._wheel.stop()

    def controls(self) -> Controls:
        """Return the input of the next tick; taps, turns and selections are used up by it."""
        down = [_HELD[name] for name in self._held | self._tapped]
        yaw, pitch = self.turning
        # What is less than a count is kept for later.
        self._right -= yaw
        self._down -= pitch
        slot = self._chosen + 1 if self._chosen != self._slot else 0
        self._slot = self._chosen
        self._tapped.clear()
        return Controls(
            forward=sum(action.forward for action in down),
            right=sum(action.right for action in down),
            yaw_counts=yaw,
            pitch_counts=pitch,
            jump=any(action.effect is Effect.JUMP for action in down),
            mine=any(action.effect is Effect.MINE for action in down),
            place=self._places(any(action.effect is Effect.PLACE for action in down)),
            slot=slot,
        )

    def _places(self, held: bool) -> bool:
        """Return whether this tick places a block: the first of a press, then one per duration of `place`."""
        if not held:
            self._place_in = 0
            return False
        now = self._place_in == 0
        self._place_in = _PLACE_TICKS - 1 if now else self._place_in - 1
        return now


class Choices:
    """Decisions that were asked for and have not been played yet, oldest first."""

    MOST = 8

    def __init__(self) -> None:
        self._waiting: deque[Action] = deque()
        self._held: set[str] = set()
        self._wheel = _Wheel()

    def take(self, event: Event, slot: int) -> None:
        """Take in an event.

        Args:
            event: Of a key, a button or the wheel; a notch chooses the slot beside the one that will be selected.
            slot: The slot selected now, 0 to 8.
        """
        if isinstance(event, Pressed):
            if event.name in CHOICE_KEYS and event.name not in self._held:
                self._held.add(event.name)
                self._add(CHOICE_KEYS[event.name])
        elif isinstance(event, Released):
            self._held.discard(event.name)
        elif isinstance(event, Scrolled):
            slots = [action.slot - 1 for action in self._waiting if action.slot]
            steps = self._wheel.turn(event.notches)
            for step in range(1, abs(steps) + 1):
                towards = (slots[-1] if slots else slot) + (step if steps > 0 else -step)
                self._add(BY_NAME[f"slot_{towards % HOTBAR_SLOTS + 1}"])
        elif isinstance(event, FocusLost):
            self.let_go()

    def _add(self, action: Action) -> None:
        if len(self._waiting) < self.MOST:
            self._waiting.append(action)

    def let_go(self) -> None:
        """Forget what was asked for."""
        self._waiting.clear()
        self._held.clear()
        self._wheel.stop()

    def next(self) -> Action | None:
        """Return the next decision and take it off the list; None if none was asked for."""
        return self._waiting.popleft() if self._waiting else None
