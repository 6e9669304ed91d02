"""Which way scout goes when it sees no ore: where a walk would show most of what it has not looked at yet.

It draws a coarse map from its dead reckoning: every known moment marks what lay in view then. Nothing here says whether
a hill stood in between, so one look from one place never counts as certain, and less the further it reached.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oresight.harness.agents.scout.track import TILT_DEG, TURN_DEG, WALK_BLOCKS, Moment, Pose, Track

# The map: cells of 4 blocks, about as wide as a walk of one second is long, around the place of the start.
CELL_BLOCKS = 4.0
CELLS = 32
# What a look shows of the ground: most of what is near, half of what is further, nothing of what is far.
NEAR_BLOCKS, NEAR_SEEN = 10.0, 0.85
FAR_BLOCKS, FAR_SEEN = 24.0, 0.5
# Half the angle of a 4:3 picture with 70 degrees from top to bottom is 43 degrees; its edges show little. A third of it
# is about as wide as a turn.
VIEW_HALF_DEG = 40.0
THIRD_HALF_DEG = TURN_DEG / 2.0
# A wall at the height of the eyes hides what lies this far behind it: less is seen above it or was misjudged.
BEHIND_WALL_BLOCKS = 6.0
# Tasks start near their ore: beyond this distance from the start it is less and less worth to look.
HOME_BLOCKS, LOST_BLOCKS = 26.0, 56.0
# Walks that are planned ahead, and what a turn costs against a walk: it brings the agent nowhere.
WALKS_AHEAD = 3
TURN_COST = 2.0
# A heading in which it could not get on is out of the question this near to that place.
OBSTACLE_BLOCKS = 2.5
# A wall at the height of the eyes and nearer than this leaves no room for a step.
WALL_BLOCKS = 1.3
# Pictures taken within this distance show what is around here.
SAME_PLACE_BLOCKS = 1.0
# Rock shows ore: a view full of it is worth this many times as much as one without.
ROCK_WORTH = 2.5
# Swimming is slow: a heading full of water is worth this share.
WATER_WORTH = 0.15

_Map = npt.NDArray[np.float64]
_OFFSETS = (np.arange(CELLS) - (CELLS - 1) / 2.0) * CELL_BLOCKS
_RIGHT, _AHEAD = np.meshgrid(_OFFSETS, _OFFSETS, indexing="ij")
_HOME = np.hypot(_RIGHT, _AHEAD)
_WORTH = np.clip((LOST_BLOCKS - _HOME) / (LOST_BLOCKS - HOME_BLOCKS), 0.05, 1.0)


@dataclass(frozen=True)
class Ground:
    """What the pictures show in one heading.

    Attributes:
        rock: Share of bare rock, 0 to 1.
        water: Share of water, 0 to 1.
        free_blocks: How far the way is free from here at the height of the eyes; infinite where no picture says.
    """

    rock: float = 0.0
    water: float = 0.0
    free_blocks: float = math.inf


@dataclass(frozen=True)
class View:
    """A look: where from, which way, how wide, and how far it can have reached."""

    pose: Pose
    heading_deg: float
    half_deg: float = VIEW_HALF_DEG
    reach_blocks: float = FAR_BLOCKS


def choose_heading(track: Track, generator: np.random.Generator) -> int:
    """Return how many turns of 30 degrees to the right (negative: left) the best heading lies away."""
    now = track.now.pose
    unseen = _unseen(track)
    here = _seen(View(now, now.heading_deg))
    grounds = _grounds(track)
    best, best_value = 0, -math.inf
    for turns in _turns(track):
        heading = now.heading_deg + turns * TURN_DEG
        ground = grounds.get(round(heading / TURN_DEG) % 12, Ground())
        factor = (1.0 + (ROCK_WORTH - 1.0) * ground.rock) * (1.0 - (1.0 - WATER_WORTH) * ground.water)
        # Turning alone shows something too; what the present view shows is counted already.
        left = unseen.copy()
        for step in range(1, abs(turns) + 1):
            passed = View(now, now.heading_deg + step * math.copysign(TURN_DEG, turns))
            left = np.minimum(left, unseen * (1.0 - np.maximum(_seen(passed) - here, 0.0)))
        values = [float((unseen - left).sum()) / abs(turns)] if turns else []
        if ground.free_blocks > WALL_BLOCKS and not _is_blocked(track, heading):
            way = math.radians(heading)
            for walks in range(1, WALKS_AHEAD + 1):
                length = walks * WALK_BLOCKS
                there = Pose(now.right + length * math.sin(way), now.ahead + length * math.cos(way), heading)
                left = left * (1.0 - _seen(View(there, heading)))
                values.append(float((unseen - left).sum()) / (walks + TURN_COST * abs(turns)) * factor)
        value = max(values, default=0.0) * (1.0 + 0.05 * float(generator.random()))
        if value > best_value:
            best, best_value = turns, value
    return best


def _turns(track: Track) -> list[int]:
    """Return the turns to think about, the small ones first; never back where it is just turning away from."""
    last = track.now.action
    if last == "look_left":
        return list(range(0, -12, -1))
    if last == "look_right":
        return list(range(12))
    return sorted(range(-5, 7), key=abs)


def _seen(view: View) -> _Map:
    """Return how surely each cell was seen in a look, 0 to 1."""
    right, ahead = _RIGHT - view.pose.right, _AHEAD - view.pose.ahead
    distance = np.hypot(right, ahead)
    off = np.abs((np.degrees(np.arctan2(right, ahead)) - view.heading_deg + 180.0) % 360.0 - 180.0)
    surely = np.where(distance < NEAR_BLOCKS, NEAR_SEEN, FAR_SEEN)
    in_view = (off < view.half_deg) & (distance < min(view.reach_blocks, FAR_BLOCKS))
    seen: _Map = np.where(in_view, surely, 0.0)
    return seen


def _unseen(track: Track) -> _Map:
    """Return how much each cell is still worth looking at."""
    places: dict[tuple[int, int], _Map] = {}
    for moment in track.moments:
        # Looks from one place hide behind the same hills, so together they count as one.
        place = (round(moment.pose.right / 2.0), round(moment.pose.ahead / 2.0))
        for view in _views(moment):
            places[place] = np.maximum(places.get(place, 0.0), _seen(view))
    unseen: _Map = _WORTH * np.prod([1.0 - seen for seen in places.values()], axis=0)
    return unseen


def _views(moment: Moment) -> Iterator[View]:
    heading = moment.pose.heading_deg
    if moment.picture is None or abs(moment.pose.pitch_deg) > TILT_DEG:
        yield View(moment.pose, heading)
        return
    from oresight.harness.agents.scout import vision

    for turns, free in zip((-1, 0, 1), vision.free_blocks(moment.picture), strict=True):
        yield View(moment.pose, heading + turns * TURN_DEG, THIRD_HALF_DEG, free + BEHIND_WALL_BLOCKS)


def _is_blocked(track: Track, heading_deg: float) -> bool:
    """Return whether a jump and a walk in about this heading did not get it on from about here."""
    for before, after in zip(track.moments, track.moments[1:], strict=False):
        if after.action == "move_forward" and after.stopped and not after.moved and before.action == "jump":
            off = (after.pose.heading_deg - heading_deg + 180.0) % 360.0 - 180.0
            if _distance(after.pose, track.now.pose) < OBSTACLE_BLOCKS and abs(off) < 1.5 * TURN_DEG:
                return True
    return False


def _distance(one: Pose, other: Pose) -> float:
    return math.hypot(one.right - other.right, one.ahead - other.ahead)


def _grounds(track: Track) -> dict[int, Ground]:
    """Return what the pictures show, by heading in turns of 30 degrees; later pictures count."""
    from oresight.harness.agents.scout import vision

    grounds: dict[int, Ground] = {}
    for moment in track.moments:
        if moment.picture is None:
            continue
        # From the top of a jump one looks over what one would walk into.
        here = (
            _distance(moment.pose, track.now.pose) < SAME_PLACE_BLOCKS
            and abs(moment.pose.pitch_deg) <= TILT_DEG
            and moment.action != "jump"
        )
        frees = vision.free_blocks(moment.picture) if here else (math.inf,) * 3
        rocks = vision.rock_shares(moment.picture)
        waters = vision.water_shares(moment.picture)
        for turns, rock, water, free in zip((-1, 0, 1), rocks, waters, frees, strict=True):
            grounds[round(moment.pose.heading_deg / TURN_DEG + turns) % 12] = Ground(rock, water, free)
    return grounds
