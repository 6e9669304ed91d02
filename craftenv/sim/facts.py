"""The referee's facts: what a scorer needs to know about each decision and no agent is ever shown.

A referee watches one engine. Its facts are plain data, ready for JSON: positions as lists, numbers finite, an infinite
distance as None.
"""

import math
from typing import Any

import numpy as np

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import EYE_HEIGHT
from oresight.craftenv.sim.angles import direction, pitch_degrees, yaw_degrees
from oresight.craftenv.sim.engine import Engine, Happenings
from oresight.craftenv.sim.sight import SIGHT_RADIUS, OreInView, SeenFaces, ores_in_view
from oresight.craftenv.sim.walking import WALK_RADIUS, Walk, Walker, place_below, standing_place
from oresight.craftenv.sim.world import Position

Facts = dict[str, Any]


def _label(block: int) -> str:
    return Block(block).label


def _centre(position: Position) -> tuple[float, float, float]:
    return position[0] + 0.5, position[1] + 0.5, position[2] + 0.5


def _angle_deg(
    view: tuple[float, float, float], eye: tuple[float, float, float], aim: tuple[float, float, float]
) -> float:
    """Return the angle between a view and the line from the eye to a point, in degrees."""
    to = (aim[0] - eye[0], aim[1] - eye[1], aim[2] - eye[2])
    dot = sum(a * b for a, b in zip(view, to, strict=True))
    cross = (view[1] * to[2] - view[2] * to[1], view[2] * to[0] - view[0] * to[2], view[0] * to[1] - view[1] * to[0])
    # Rounded far below what matters, so that no maths library's last bit shows.
    return round(math.degrees(math.atan2(math.sqrt(sum(c * c for c in cross)), dot)), 4)


class Referee:
    """Turns what an engine did into facts.

    Call `start` once, then `observe` after every decision; a decision left out would make later "first seen" wrong.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen = SeenFaces()
        self._walker = Walker()
        self._known: dict[Position, bool] = {}  # target ores ever in clear sight; whether they still stand
        self._place: Position | None = None
        self._pose: Facts = {}
        self._ways: dict[Position, Walk] = {}
        self._measures: dict[Position, Facts] = {}
        self._totals: dict[int, int] = {}
        self._slot = 0

    def start(self) -> Facts:
        """Return the facts of the first picture, before any decision."""
        player = self._engine.player
        facts: Facts = {
            "pose": self._describe_pose(),
            "standing": player.on_ground or player.in_water,
            **self._look(),
        }
        self._measure()
        facts["known"] = [{"pos": list(ore), "standing": True, **self._after(ore)} for ore in sorted(self._measures)]
        facts["target"] = self._target()
        self._remember()
        return facts

    def observe(self, happened: Happenings) -> Facts:
        """Return the facts of the decision that has just been played.

        Args:
            happened: What the engine's `run` returned.
        """
        player = self._engine.player
        pose_before = self._pose
        before = dict(self._measures)
        ways_before = self._ways
        for change in happened.changes:
            if change.position in self._known and change.natural:
                self._known[change.position] = False
        totals = player.hotbar.totals()
        items = {
            _label(item): totals.get(item, 0) - self._totals.get(item, 0)
            for item in sorted({*totals, *self._totals})
            if totals.get(item, 0) != self._totals.get(item, 0)
        }
        facts: Facts = {
            "pose_before": pose_before,
            "pose_after": self._describe_pose(),
            "feet_ticks": [list(feet) for feet in happened.feet],
            "standing_ticks": list(happened.standing),
            "blocks_changed": [
                {
                    "pos": list(change.position),
                    "before": _label(change.before),
                    "after": _label(change.after),
                    "natural": change.natural,
                }
                for change in happened.changes
            ],
            "items": items,
            "acquired": [list(position) for position in happened.acquired],
            "slot_before": self._slot + 1,
            "slot_after": player.slot + 1,
            "jumped": happened.jumped,
            **self._look(),
        }
        self._measure()
        facts["known"] = [self._known_facts(ore, before.get(ore), ways_before.get(ore)) for ore in sorted(self._known)]
        facts["target"] = self._target()
        self._remember()
        return facts

    def _remember(self) -> None:
        self._pose = self._describe_pose()
        self._totals = self._engine.player.hotbar.totals()
        self._slot = self._engine.player.slot
        # An ore that is gone has nothing more to say; it was written once with standing = false.
        self._known = {ore: True for ore, standing in self._known.items() if standing}

    def _describe_pose(self) -> Facts:
        player = self._engine.player
        return {
            "feet": list(player.feet),
            "yaw_deg": yaw_degrees(player.yaw),
            "pitch_deg": pitch_degrees(player.pitch),
            "on_ground": player.on_ground,
        }

    def _look(self) -> Facts:
        engine = self._engine
        player = engine.player
        engine.world.ensure_around(player.x, player.z, max(SIGHT_RADIUS, WALK_RADIUS))
        fresh = self._seen.look(engine.world, player.eye, player.yaw, player.pitch)
        kinds: dict[str, int] = {}
        for _, block in fresh:
            kinds[_label(block)] = kinds.get(_label(block), 0) + 1
        ores: list[OreInView] = ores_in_view(engine.world, player.eye, player.yaw, player.pitch)
        for ore in ores:
            if ore.kind == engine.target_item:
                self._known.setdefault(ore.position, True)
        return {
            "first_seen": {"count": len(fresh), "kinds": dict(sorted(kinds.items()))},
            "ores_in_view": [
                {"pos": list(ore.position), "kind": _label(ore.kind), "face_px": ore.face_px} for ore in ores
            ],
        }

    def _measure(self) -> None:
        """Work out both distances and the angle of every known ore that stands."""
        engine = self._engine
        player = engine.player
        place = standing_place(engine.world, player)
        if place is not None:
            self._place = place
        elif self._place is None:
            self._place = place_below(engine.world, player)
        standing = tuple(sorted(ore for ore, stands in self._known.items() if stands))
        self._ways = self._walker.ways(engine.world, self._place, standing)
        view = direction(player.yaw, player.pitch)
        self._measures = {}
        for ore in standing:
            centre = _centre(ore)
            eye = player.eye
            distance = math.sqrt(sum((a - b) * (a - b) for a, b in zip(centre, eye, strict=True)))
            self._measures[ore] = {
                "eye_distance": round(distance, 6),
                "walk": self._ways[ore].steps,
                "angle": _angle_deg(view, eye, centre),
                "waypoint_angle": self._waypoint_angle(self._ways[ore]),
            }

    def _waypoint_angle(self, way: Walk | None) -> float | None:
        """Return the angle to a waypoint at the height that the eye would have there."""
        if way is None or way.waypoint is None:
            return None
        player = self._engine.player
        x, y, z = way.waypoint
        aim = (x + 0.5, y + EYE_HEIGHT, z + 0.5)
        if np.floor(player.x) == x and np.floor(player.z) == z:
            return None  # on it already: its direction means nothing
        return _angle_deg(direction(player.yaw, player.pitch), player.eye, aim)

    def _after(self, ore: Position) -> Facts:
        measure = self._measures[ore]
        return {f"{name}_after": measure[name] for name in ("eye_distance", "walk", "angle")}

    def _known_facts(self, ore: Position, before: Facts | None, way_before: Walk | None) -> Facts:
        stands = self._known[ore]
        names = ("eye_distance", "walk", "angle")
        facts: Facts = {"pos": list(ore), "standing": stands}
        for name in names:
            facts[f"{name}_before"] = before[name] if before else None
            facts[f"{name}_after"] = self._measures[ore][name] if stands else None
        facts["waypoint_angle_before"] = before["waypoint_angle"] if before else None
        facts["waypoint_angle_after"] = self._waypoint_angle(way_before)
        return facts

    def _target(self) -> Facts | None:
        target = self._engine.target()
        if target is None:
            return None
        return {
            "pos": list(target.position),
            "face": target.face,
            "block": _label(target.block),
            "natural": self._engine.world.is_natural(*target.position),
        }
