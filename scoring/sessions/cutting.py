"""Cuts real-time play into decisions, so that people and agents are counted alike; pure, and the same for every format.

A decision is a stretch of ticks with the same dominant control, cut at the duration that the action has. How the rules
are read where they leave a choice:

- Ticks are handed in one at a time. A decision is handed out as soon as it is known how far it reaches: idle ticks, and
  stretches too short to stand alone, belong to the one before, or to the next one where there is none before.
- Turning is summed over all ticks. A full step that is reached while something else is done yields its look decision
  right after that decision, and both reach equally far: as if the player had done one and then the other. What is left
  over is carried on. Turning that never adds up to a step is no decision.
- What a cut leaves of a stretch is looked at like a stretch: shorter than a quarter it joins, or it is never dropped.
"""

from dataclasses import dataclass, replace

LOOK = "look"
WAIT = "wait"
MINE = "mine"
PLACE = "place"
JUMP = "jump"

LOOK_YAW_DEG = 30.0
LOOK_PITCH_DEG = 15.0

# The table of 21, as far as cutting needs it: ticks of 1/20 s.
DURATION_TICKS = {
    "move_forward": 20,
    "move_backward": 20,
    "move_left": 20,
    "move_right": 20,
    "look_left": 4,
    "look_right": 4,
    "look_up": 4,
    "look_down": 4,
    JUMP: 8,
    MINE: 40,
    PLACE: 4,
    **{f"slot_{number}": 1 for number in range(1, 10)},
    WAIT: 20,
}
NEVER_DROPPED = frozenset({MINE, PLACE, JUMP})

# A look reaches back over no more ticks of turning than this; a view that wobbles for ever must not pile up.
_LOOK_TICKS_MAX = 20
# Angles are recorded as rounded numbers; a step that is full but for that is full.
_ROUNDING_DEG = 2e-3


@dataclass(frozen=True, slots=True)
class Tick:
    """What was done in one tick.

    Attributes:
        number: Counts up by one from tick to tick.
        control: The dominant one, see `dominant`.
        yaw_deg: How far the view turned to the right, whatever the control.
        pitch_deg: How far it turned downwards.
    """

    number: int
    control: str
    yaw_deg: float = 0.0
    pitch_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class Cut:
    """One decision.

    Attributes:
        action: One of the 21.
        first: The first tick of its control.
        last: The last tick of its control.
        until: The last tick that belongs to it, idle ones included; equal for decisions made at the same time.
        yaw_deg: By how much it turns the view to the right; 0 but for looks.
        pitch_deg: By how much it turns the view downwards.
    """

    action: str
    first: int
    last: int
    until: int
    yaw_deg: float = 0.0
    pitch_deg: float = 0.0


def dominant(
    *,
    mine: bool = False,
    place: bool = False,
    forward: int = 0,
    right: int = 0,
    jump: bool = False,
    turned: bool = False,
    slot: int = 0,
) -> str:
    """Return the control that a tick counts for: mine, place, move, jump, look, slot, wait, in this order.

    Args:
        mine: The left button is down.
        place: The right button is down.
        forward: Walking along the view, -1, 0 or 1; goes before `right`.
        right: Walking to the right of the view.
        jump: The jump key is down.
        turned: The view turned.
        slot: The slot, 1 to 9, that was selected in this tick; 0 if it did not change.

    Returns:
        An action, or "look", whose direction follows from the turning.
    """
    if mine:
        return MINE
    if place:
        return PLACE
    if forward:
        return "move_forward" if forward > 0 else "move_backward"
    if right:
        return "move_right" if right > 0 else "move_left"
    if jump:
        return JUMP
    if turned:
        return LOOK
    return f"slot_{slot}" if slot else WAIT


class Cutter:
    """Cuts ticks as they come; memory does not grow with their number."""

    def __init__(self) -> None:
        self._yaw_deg = self._pitch_deg = 0.0
        self._held: list[Cut] = []
        self._end = self._first = self._count = 0
        self._control: str | None = None
        self._looks: list[Cut] = []

    @property
    def settled(self) -> int:
        """Ticks up to this one belong to no decision that is still to begin, unless there is none before them."""
        return self._first - 1

    def feed(self, tick: Tick) -> list[Cut]:
        """Take in the next tick and return the decisions of which it is known now how far they reach."""
        done: list[Cut] = []
        if tick.control != self._control:
            self._close(done)
            self._begin(tick.control, tick.number)
        self._end = tick.number
        self._count += 1
        looks = self._turned(tick)
        if tick.control == LOOK:
            self._first = max(self._first, tick.number - _LOOK_TICKS_MAX + 1)
            if looks:
                self._emit(done, looks, self._first)
                self._begin(LOOK, tick.number + 1)
            return done
        self._looks += looks
        if self._count == DURATION_TICKS[tick.control]:
            self._piece(done)
            self._begin(tick.control, tick.number + 1)
        return done

    def pause(self) -> list[Cut]:
        """End what is going on, because what follows is no play or does not follow at once; return what is left."""
        done: list[Cut] = []
        self._close(done)
        done += (replace(cut, until=self._end) for cut in self._held)
        self._held = []
        self._begin(None, self._end + 1)
        return done

    def restart(self) -> list[Cut]:
        """End what is going on, and forget the turning that was carried over too."""
        done = self.pause()
        self._yaw_deg = self._pitch_deg = 0.0
        return done

    def _begin(self, control: str | None, number: int) -> None:
        self._control = control
        self._first = number
        self._count = 0
        self._looks = []

    def _close(self, done: list[Cut]) -> None:
        """End the stretch that is open."""
        control = self._control
        if control is None or not self._count:
            return
        stands = control in NEVER_DROPPED or (
            control not in (LOOK, WAIT) and 4 * self._count >= DURATION_TICKS[control]
        )
        if stands:
            self._piece(done)
        elif self._looks:
            # What is too short to stand alone joins the looks that were made in it.
            self._emit(done, self._looks, self._first)

    def _piece(self, done: list[Cut]) -> None:
        assert self._control is not None
        self._emit(done, [Cut(self._control, self._first, self._end, self._end), *self._looks], self._first)

    def _emit(self, done: list[Cut], cuts: list[Cut], first: int) -> None:
        """Hold decisions back until it is known how far they reach; those before them reach up to `first`."""
        done += (replace(cut, until=first - 1) for cut in self._held)
        self._held = [replace(cut, first=min(first, cut.first)) for cut in cuts]

    def _turned(self, tick: Tick) -> list[Cut]:
        self._yaw_deg += tick.yaw_deg
        self._pitch_deg += tick.pitch_deg
        looks: list[Cut] = []
        number = tick.number
        while abs(self._yaw_deg) >= LOOK_YAW_DEG - _ROUNDING_DEG:
            right = self._yaw_deg > 0
            turn = LOOK_YAW_DEG if right else -LOOK_YAW_DEG
            self._yaw_deg -= turn
            looks.append(Cut("look_right" if right else "look_left", number, number, number, yaw_deg=turn))
        while abs(self._pitch_deg) >= LOOK_PITCH_DEG - _ROUNDING_DEG:
            down = self._pitch_deg > 0
            turn = LOOK_PITCH_DEG if down else -LOOK_PITCH_DEG
            self._pitch_deg -= turn
            looks.append(Cut("look_down" if down else "look_up", number, number, number, pitch_deg=turn))
        return looks


def turn_deg(before: float, after: float) -> float:
    """Return the shorter turn between two yaws in degrees, -180 up to 180; they may be wound up and cross 180."""
    return (after - before + 180.0) % 360.0 - 180.0
