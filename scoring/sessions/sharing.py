"""A person's session as decisions: where it is cut, and how the facts of what was done at once are shared out.

The facts themselves come from whoever plays the session again in its world.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from oresight.scoring.parameters import Parameters
from oresight.scoring.records import Json, Pose, SessionHeader, SessionTick
from oresight.scoring.sessions.cutting import Cut, Cutter, Tick, dominant, turn_deg


def session_cuts(header: SessionHeader, start: Pose, ticks: Iterable[SessionTick]) -> Iterator[Cut]:
    """Yield the decisions of a session in their order.

    In real time they are cut out of what was held down. In the turn-based mode each is marked; a last one that was not
    played to its end is left out.

    Args:
        header: Of the session.
        start: The pose before the first tick.
        ticks: All its ticks.
    """
    if header.mode == "turn-based":
        yield from _marked(header, ticks)
        return
    cutter, before = Cutter(), start
    for tick in ticks:
        yield from cutter.feed(tick_of(before, tick))
        before = tick.pose
    yield from cutter.pause()


def tick_of(before: Pose, tick: SessionTick) -> Tick:
    """Return what was done in a tick of a session that followed a pose; poses say how far the view turned."""
    held, pose = tick.controls, tick.pose
    yaw, pitch = turn_deg(before.yaw_deg, pose.yaw_deg), pose.pitch_deg - before.pitch_deg
    control = dominant(
        mine=held.mine,
        place=held.place,
        forward=held.forward,
        right=held.right,
        jump=held.jump,
        turned=yaw != 0.0 or pitch != 0.0,
        slot=held.slot,
    )
    return Tick(tick.tick, control, yaw, pitch)


def _marked(header: SessionHeader, ticks: Iterable[SessionTick]) -> Iterator[Cut]:
    durations = {row.name: row.ticks for row in header.actions}
    action, first, last = None, 1, 0
    for tick in ticks:
        if tick.action is not None:
            if action is not None:
                yield Cut(action, first, last, last)
            action, first = tick.action, tick.tick
        last = tick.tick
    if action is not None and last - first + 1 >= (durations[action] or 0):
        yield Cut(action, first, last, last)


def together(cuts: Iterable[Cut]) -> Iterator[list[Cut]]:
    """Yield groups of decisions that were made at the same time, and so reach equally far."""
    group: list[Cut] = []
    for cut in cuts:
        if group and cut.until != group[0].until:
            yield group
            group = []
        group.append(cut)
    if group:
        yield group


class Sharing:
    """Shares the facts of a group of decisions out among them, as if they had been made one after the other.

    What was done comes first: the feet, blocks, items and distances belong to the first decision. The looks that follow
    turn the view a step each. Which of them showed the new faces cannot be told apart, so that each has shown them; an
    ore is discovered by the first alone in any case. In a session that was cut, poses hold the view of the start
    and the whole look steps since, so that turning that is carried over makes no new pose.

    Args:
        start: The pose before the first decision.
        parameters: For the height of the eye.
    """

    def __init__(self, start: Pose, parameters: Parameters) -> None:
        self._view = (start.yaw_deg, start.pitch_deg)
        self._eye_height_blocks = parameters.eye_height_blocks

    def share(self, facts: Json, cuts: Sequence[Cut]) -> Iterator[tuple[Cut, Json]]:
        """Yield each decision with its facts."""
        for place, cut in enumerate(cuts):
            own = dict(facts) if place == 0 else self._look_alone(facts)
            looks_follow = place == 0 and len(cuts) > 1 and not (cut.yaw_deg or cut.pitch_deg)
            if looks_follow:
                # The turning is the looks'; without it no angle fell.
                own["known"] = [self._unturned(ore) for ore in facts["known"]]
            own["pose_before"] = self._posed(facts["pose_before"] if place == 0 else facts["pose_after"])
            self._view = (self._view[0] + cut.yaw_deg, self._view[1] + cut.pitch_deg)
            own["pose_after"] = self._posed(facts["pose_after"])
            yield cut, own

    def _posed(self, pose: Json) -> Json:
        yaw = math.fmod(self._view[0], 360.0)
        return {**pose, "yaw_deg": yaw, "pitch_deg": self._view[1]}

    @staticmethod
    def _unturned(ore: Json) -> Json:
        return {
            **ore,
            "angle_after": ore["angle_before"] if ore["angle_after"] is not None else None,
            "waypoint_angle_after": ore["waypoint_angle_before"],
        }

    @staticmethod
    def _look_alone(facts: Json) -> Json:
        known = [
            {**ore, "eye_distance_before": ore["eye_distance_after"], "walk_before": ore["walk_after"]}
            for ore in facts["known"]
            if ore["standing"]
        ]
        return {
            **facts,
            "feet_ticks": [],
            "standing_ticks": [],
            "blocks_changed": [],
            "items": {},
            "acquired": [],
            "slot_before": facts["slot_after"],
            "jumped": False,
            "known": known,
        }
