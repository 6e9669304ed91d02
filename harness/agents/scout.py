"""The bundled vision agent: finds ore-coloured patches, turns to them, walks, climbs, mines; explores when it sees none.

It has no memory of its own. Everything it knows it reads from the messages of the current context, and every random
draw comes from the seed and the step number: the same messages give the same decision. With the current picture alone it
forgets an ore as soon as it turns away from it; with a buffer of earlier pictures it goes back to what it saw there.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.agents.explore import choose_heading
from harness.agents.track import TILT_DEG, TURN_DEG, WALK_BLOCKS, Moment, Pose, Track, read_track
from harness.protocols import Decision, Message

# The world's reach is 4.5 blocks from the eye; a little less, since distances are estimates.
REACH_BLOCKS = 4.3
# Half a turn, and 2 degrees more, so that an ore between two headings does not make it swing from one to the other.
# So near it thinks about how to get an ore under the crosshair.
AT_HAND_BLOCKS = 6.0
# What is seen of a block is rarely its middle, so a little less than half a block around it still counts as hit.
HALF_BLOCK = 0.4
# A wall stops the eye this far before it.
SHOULDER_BLOCKS = 0.3
TURN_FROM_DEG = TURN_DEG / 2.0 + 2.0
TILT_FROM_DEG = TILT_DEG / 2.0 + 1.0
# While it walks up to an ore it lets the ore wander this far from the middle of the picture, which reaches to 35 degrees.
KEEP_IN_VIEW_DEG = 22.0
# How often it digs at one obstacle before it steps aside.
DIGS = 2
# Where it gets nowhere it looks nearly all around, then tries to force its way ahead, and again one heading further.
STUCK_LOOKS = 11
STUCK_DECISIONS = 20
# Of two ores it takes the nearer, unless the other saves looks; a look to the side is worth this much of a way.
HANDY_BLOCKS = 2.0
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
        under_crosshair: Whether the crosshair is on it.
        age: Decisions since it was seen; 0 when it is in the current picture.
    """

    right_deg: float
    down_deg: float
    blocks: float
    under_crosshair: bool
    age: int

    def offset(self) -> tuple[float, float, float]:
        """How far it lies to the right, ahead and below, in blocks."""
        level = self.blocks * math.cos(math.radians(self.down_deg))
        way = math.radians(self.right_deg)
        return level * math.sin(way), level * math.cos(way), self.blocks * math.sin(math.radians(self.down_deg))

    def off_deg(self, now: Moment) -> float:
        """How far it lies from where the agent looks, to the side and up or down."""
        return abs(self.right_deg) + abs(self.down_deg - now.pose.pitch_deg)


class Scout:
    """The agent `scout`."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    async def act(self, messages: Sequence[Message], step: int) -> Decision:
        """See `Agent.act`."""
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
    """The ores in the current picture, the handiest first; else the nearest in the latest that shows any."""
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
    from harness.agents import vision

    assert moment.picture is not None
    found = []
    for patch in vision.find_ore(moment.picture, track.target):
        where = vision.bearing(patch.column, patch.row, moment.pose.pitch_deg)
        seen = Sighting(
            where.right_deg,
            where.down_deg,
            patch.blocks,
            patch.under_crosshair,
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
        False,
        seen.age,
    )


def _approach(ore: Sighting, track: Track, generator: np.random.Generator) -> str | None:
    """The next action towards an ore; None where a remembered one cannot be there any more."""
    now = track.now
    if ore.under_crosshair and ore.blocks < REACH_BLOCKS and not _mined_in_vain(now):
        return "mine"
    # At the top of a jump there is no time to look around.
    if now.action == "jump":
        return "move_forward"
    if ore.age == 0 and ore.blocks < AT_HAND_BLOCKS and not _mined_in_vain(now):
        action = _into_reach(ore, track)
        if action is not None:
            return action
    look = _look_towards(ore, now)
    if look is not None and (ore.age > 0 or _looks_in_a_row(track) < LOOKS_AT_ORE):
        return look
    if ore.age > 0 and ore.blocks < UNDERFOOT_BLOCKS:
        return None
    # Too far, or between two of the directions it can look in: from nearer, the ore fills more of the view.
    return _go_forward(track, generator)


def _into_reach(ore: Sighting, track: Track) -> str | None:
    """The first action of the shortest way to have an ore at hand under the crosshair; None where it knows none.

    It can look in few directions and walk whole steps only, so from most places the crosshair passes by the ore. It
    tries in its mind to look from here, and from where one walk would bring it.
    """
    now = track.now
    right, ahead, below = ore.offset()
    ways = {"": (0.0, 0.0, 0.0)}
    if not now.stopped and _looks_in_a_row(track) < LOOKS_AT_ORE:
        onward = min(WALK_BLOCKS, max(_free_ahead(now) - SHOULDER_BLOCKS, 0.0))
        ways["move_forward"] = (0.0, onward, 1.0)
    best, best_cost = None, math.inf
    for way, (to_right, onward, cost) in ways.items():
        looks = _looks_onto(right - to_right, ahead - onward, below, now.pose.pitch_deg)
        if looks is None or cost + len(looks) >= best_cost:
            continue
        best, best_cost = way or (looks[0] if looks else "mine"), cost + len(looks)
    if best in _OPPOSITE and now.action == _OPPOSITE[best]:
        return None
    return best


def _looks_onto(right: float, ahead: float, below: float, pitch_deg: float) -> list[str] | None:
    """The looks that put the crosshair on a block at an offset from the eye; None where none do, or it is too far."""
    level = math.hypot(right, ahead)
    blocks = math.hypot(level, below)
    if not 0.5 < blocks < REACH_BLOCKS:
        return None
    bearing_deg = math.degrees(math.atan2(right, ahead))
    down_deg = math.degrees(math.atan2(below, level))
    turns = round(bearing_deg / TURN_DEG)
    tilts = round((down_deg - pitch_deg) / TILT_DEG)
    if abs(pitch_deg + tilts * TILT_DEG) > 90.0:
        return None
    beside = (bearing_deg - turns * TURN_DEG) * math.cos(math.radians(down_deg))
    if math.hypot(beside, down_deg - pitch_deg - tilts * TILT_DEG) > math.degrees(math.atan(HALF_BLOCK / blocks)):
        return None
    turn = "look_right" if turns > 0 else "look_left"
    tilt = "look_down" if tilts > 0 else "look_up"
    return [turn] * abs(turns) + [tilt] * abs(tilts)


def _free_ahead(now: Moment) -> float:
    """How far the way ahead is free, as far as a picture tells."""
    from harness.agents import vision

    if now.picture is None or abs(now.pose.pitch_deg) > TILT_DEG:
        return math.inf
    return vision.free_blocks(now.picture)[1]


def _look_towards(ore: Sighting, now: Moment) -> str | None:
    """The look that brings an ore nearer to the crosshair; None where none does."""
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
    # Turning back at once would go on for ever: the two views show different parts of the ore.
    return None if now.action == _OPPOSITE[look] else look


def _looks_in_a_row(track: Track) -> int:
    looks = 0
    for moment in reversed(track.moments):
        if moment.action not in _OPPOSITE:
            break
        looks += 1
    return looks


def _mined_in_vain(now: Moment) -> bool:
    """Whether the last action was mining that broke nothing."""
    return now.action == "mine" and "broke" not in now.outcome.replace("nothing broke", "")


def _go_forward(track: Track, generator: np.random.Generator) -> str:
    """Walk on; climb where an obstacle is in the way; dig, and at last step aside, where it could not climb."""
    now = track.now
    if now.action == "jump":
        return "move_forward"
    if now.sinking and len(track.moments) > 1 and track.moments[-2].sinking:
        return "jump"
    tried = [moment.action for moment in _since_progress(track)]
    if now.action == "mine" and "move_forward" in tried:
        # What it dug away at the height of its eyes left a step to climb. Where there was nothing to dig, the crosshair
        # passes by what holds it up: a corner beside its shoulder.
        return _aside(generator) if _mined_in_vain(now) else "jump"
    if now.action == "move_forward" and now.stopped:
        if "jump" not in tried:
            return "jump"
        return "mine" if tried.count("mine") < DIGS else _aside(generator)
    return "move_forward"


def _aside(generator: np.random.Generator) -> str:
    return str(generator.choice(["move_left", "move_right"]))


def _since_progress(track: Track) -> list[Moment]:
    """The latest moments after it last got anywhere, oldest first."""
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
