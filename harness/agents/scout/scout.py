"""The bundled vision agent: finds ore-coloured patches, goes there and mines them; explores when it sees none.

It has no memory of its own. Everything it knows it reads from the messages of the context, and every random draw
comes from the seed and the step number: the same messages give the same decision. With the current picture alone it
forgets an ore as soon as it turns away from it, and where it has looked; with a buffer of earlier pictures it goes back
to what it saw there, and looks elsewhere first.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from oresight.harness.agents.baselines import NOTHING
from oresight.harness.agents.scout.explore import choose_heading
from oresight.harness.agents.scout.track import TILT_DEG, TURN_DEG, Moment, Pose, Track, read_track
from oresight.harness.protocols import ActionSpace, Decision, Message

# The world's reach is 4.5 blocks from the eye; a little less, since distances are estimates.
REACH_BLOCKS = 4.3
# Half a turn, and 2 degrees more, so that an ore between two headings does not make it swing from one to the other.
TURN_FROM_DEG = TURN_DEG / 2.0 + 2.0
TILT_FROM_DEG = TILT_DEG / 2.0 + 1.0
# While it walks up to an ore, the ore may wander this far from the middle of the picture, which reaches to 35 degrees.
KEEP_IN_VIEW_DEG = 22.0
# How often it digs at one obstacle before it steps aside.
DIGS = 2
# Where it gets nowhere it looks nearly all around, then tries to force its way ahead, and again one heading further.
STUCK_LOOKS = 11
STUCK_DECISIONS = 20
# Of two ores it takes the nearer, unless the other saves looks; a look to the side is worth this much of a way.
HANDY_BLOCKS = 2.0
# While an obstacle stops it, an ore this far to the side is still ahead.
AHEAD_DEG = 45.0
# More looks in a row than this bring an ore in view no nearer to the crosshair.
LOOKS_AT_ORE = 4
_OPPOSITE = {"look_left": "look_right", "look_right": "look_left", "look_up": "look_down", "look_down": "look_up"}
# A remembered ore nearer than this ought to be in view when looked at; if it is not, it was misplaced.
UNDERFOOT_BLOCKS = 1.5


@dataclass(frozen=True)
class Sighting:
    """An ore that was seen, as it lies from where the agent is now.

    Attributes:
        right_deg: To the right of the view.
        down_deg: Below the level.
        blocks: Estimated distance from the eye.
        age: Decisions since it was seen; 0 when it is in the current picture.
    """

    right_deg: float
    down_deg: float
    blocks: float
    age: int

    def off_deg(self, now: Moment) -> float:
        """Return how far it lies from where the agent looks, to the side and up or down."""
        return abs(self.right_deg) + abs(self.down_deg - now.pose.pitch_deg)


class Scout:
    """The agent `scout`."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace = NOTHING) -> Decision:
        """Decide from the pictures."""
        action, said = decide(messages, step, self._seed)
        return Decision(action, said)


def decide(messages: Sequence[Message], step: int, seed: int = 0) -> tuple[str, str]:
    """Choose an action.

    Args:
        messages: The context.
        step: Number of the decision, from 1.
        seed: Of the episode; with the step it seeds this decision's random generator.

    Returns:
        The action's name, and a sentence on why.

    Raises:
        ValueError: No message names an ore to look for.
    """
    track = read_track(messages)
    generator = np.random.default_rng((seed, step))
    name = track.target.replace("_", " ")
    for sighting in _sightings(track):
        action = _approach(sighting, track, generator)
        if action is not None:
            where = f"{_side(sighting.right_deg)}, about {sighting.blocks:.0f} blocks away"
            seen = f"I see {name}" if sighting.age == 0 else f"I saw {name} {sighting.age} decisions ago; it must be"
            return action, f"{seen} {where}: {action}."
    action = _explore(track, generator)
    return action, f"No {name} in sight: {action}."


def _side(right_deg: float) -> str:
    if abs(right_deg) < 5.0:
        return "ahead"
    return f"{abs(right_deg):.0f} degrees to the {'right' if right_deg > 0 else 'left'}"


def _sightings(track: Track) -> Iterator[Sighting]:
    """Return the ores in the current picture, the handiest first; else the nearest in the latest that shows any."""
    now = track.now
    if now.picture is None:
        return
    in_view = sorted(_seen_at(now, track), key=lambda seen: seen.blocks / HANDY_BLOCKS + seen.off_deg(now) / TURN_DEG)
    yield from in_view
    if in_view:
        return
    for moment in reversed(track.moments[:-1]):
        seen = _seen_at(moment, track) if moment.picture is not None else []
        if seen:
            # Older pictures would show the same ore, placed worse.
            yield min(seen, key=lambda one: one.blocks)
            return


def _seen_at(moment: Moment, track: Track) -> list[Sighting]:
    # OpenCV needs libraries of the system; only an agent that looks at pictures should ask for them.
    from oresight.harness.agents.scout import vision

    assert moment.picture is not None
    found = []
    for patch in vision.find_ore(moment.picture, track.target):
        where = vision.bearing(patch.column, patch.row, moment.pose.pitch_deg)
        seen = Sighting(
            where.right_deg,
            where.down_deg,
            patch.blocks,
            track.now.step - moment.step,
        )
        found.append(seen if seen.age == 0 else _from_here(seen, moment.pose, track.now.pose))
    return found


def _from_here(seen: Sighting, then: Pose, now: Pose) -> Sighting:
    """Move a sighting from the pose where it was made to the pose of now."""
    along = seen.blocks * math.cos(math.radians(seen.down_deg))
    below = seen.blocks * math.sin(math.radians(seen.down_deg))
    way = math.radians(then.heading_deg + seen.right_deg)
    right = then.right + along * math.sin(way) - now.right
    ahead = then.ahead + along * math.cos(way) - now.ahead
    level = math.hypot(right, ahead)
    bearing = math.degrees(math.atan2(right, ahead)) - now.heading_deg
    return Sighting(
        (bearing + 180.0) % 360.0 - 180.0,
        math.degrees(math.atan2(below, level)),
        math.hypot(level, below),
        seen.age,
    )


def _approach(ore: Sighting, track: Track, generator: np.random.Generator) -> str | None:
    """Return the next action towards an ore; None where a remembered one cannot be there any more."""
    now = track.now
    # At the top of a jump there is no time to look around, nor to mine: it falls at once.
    if now.action == "jump":
        return "move_forward"
    if ore.age == 0 and not _mined_in_vain(now):
        action = _aim(track)
        if action is not None:
            return action
    # Stopped in front of an obstacle: first over it, then turn.
    if now.action == "move_forward" and not now.moved and abs(ore.right_deg) < AHEAD_DEG:
        return _go_forward(track, generator)
    look = _look_towards(ore, now)
    if look is not None and (ore.age > 0 or _looks_in_a_row(track) < LOOKS_AT_ORE):
        return look
    if ore.age > 0 and ore.blocks < UNDERFOOT_BLOCKS:
        return None
    # Too far, or between two of the directions it can look in: from nearer, the ore fills more of the view.
    return _go_forward(track, generator)


def _aim(track: Track) -> str | None:
    """Mine, or the look that brings the crosshair onto an ore within reach; None where no look does."""
    from oresight.harness.agents.scout import vision

    now = track.now
    assert now.picture is not None
    aim = vision.find_aim(now.picture, track.target, now.pose.pitch_deg, TURN_DEG, TILT_DEG, REACH_BLOCKS)
    if aim is None:
        return None
    if aim.turns:
        look = "look_right" if aim.turns > 0 else "look_left"
    elif aim.tilts:
        look = "look_down" if aim.tilts > 0 else "look_up"
    else:
        return "mine"
    return None if now.action == _OPPOSITE[look] else look


def _look_towards(ore: Sighting, now: Moment) -> str | None:
    """Return the look that brings an ore nearer to the crosshair; None where none does."""
    pitch = now.pose.pitch_deg
    off_tilt = ore.down_deg - pitch
    tilt_from = TILT_FROM_DEG if ore.blocks < REACH_BLOCKS and ore.age == 0 else KEEP_IN_VIEW_DEG
    # Straight below or above there is no right or left.
    if abs(ore.right_deg) > TURN_FROM_DEG and abs(ore.down_deg) < 70.0:
        look = "look_right" if ore.right_deg > 0 else "look_left"
    elif abs(off_tilt) > tilt_from and abs(pitch + math.copysign(TILT_DEG, off_tilt)) <= 90.0:
        look = "look_down" if off_tilt > 0 else "look_up"
    else:
        return None
    # Turning back at once would never end: the two views show different parts of the ore.
    return None if now.action == _OPPOSITE[look] else look


def _looks_in_a_row(track: Track) -> int:
    looks = 0
    for moment in reversed(track.moments):
        if moment.action not in _OPPOSITE:
            break
        looks += 1
    return looks


def _mined_in_vain(now: Moment) -> bool:
    """Return whether the last action was mining that broke nothing."""
    return now.action == "mine" and "broke" not in now.outcome.replace("nothing broke", "")


def _go_forward(track: Track, generator: np.random.Generator) -> str:
    """Walk on; climb where an obstacle is in the way; dig, and at last step aside, where it could not climb."""
    now = track.now
    if now.action == "jump":
        return "move_forward"
    if now.sinking and len(track.moments) > 1 and track.moments[-2].sinking:
        return "jump"
    tried = _since_progress(track)
    climbed = any(one.action == "jump" and two.action == "move_forward" for one, two in pairwise(tried))
    digs = sum(moment.action == "mine" for moment in tried)
    if now.action == "mine" and any(moment.action == "move_forward" for moment in tried):
        # What it dug away at the height of its eyes left a step to climb. Where there was nothing to dig, the crosshair
        # passes by what holds it up: a corner beside its shoulder.
        return _aside(generator) if climbed and _mined_in_vain(now) else "jump"
    if now.action == "move_forward" and now.stopped:
        if not climbed:
            return "jump"
        return "mine" if digs < DIGS else _aside(generator)
    return "move_forward"


def _aside(generator: np.random.Generator) -> str:
    return str(generator.choice(["move_left", "move_right"]))


def _since_progress(track: Track) -> list[Moment]:
    """Return the latest moments after it last got anywhere, oldest first."""
    tried: list[Moment] = []
    for moment in reversed(track.moments):
        if moment.moved:
            break
        tried.append(moment)
    return tried[::-1]


def _explore(track: Track, generator: np.random.Generator) -> str:
    """Look and walk where least was seen; force a way where looking around showed none."""
    now = track.now
    tried = _since_progress(track)
    if abs(now.pose.pitch_deg) > TILT_DEG:
        return "look_up" if now.pose.pitch_deg > 0 else "look_down"
    if now.action == "jump":
        return "move_forward"
    forcing = len(tried) % STUCK_DECISIONS >= STUCK_LOOKS
    turn = 0 if forcing else choose_heading(track, generator)
    if turn == 0:
        return _go_forward(track, generator)
    return "look_right" if turn > 0 else "look_left"
