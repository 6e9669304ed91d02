"""Hand-made facts of the 3D world: a flat world in which a test says what each decision did."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from oresight.scoring.craft.adapter import CraftScorer
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision
from oresight.scoring.parameters import Parameters

Json = dict[str, Any]
Pos = tuple[int, int, int]

FEET = (0.5, 30.0, 0.5)
EYE = 1.62


def pose(feet: tuple[float, float, float] = FEET, yaw: float = 0.0, pitch: float = 0.0, ground: bool = True) -> Json:
    return {"feet": list(feet), "yaw_deg": yaw, "pitch_deg": pitch, "on_ground": ground}


def target(pos: Pos, block: str = "stone", natural: bool = True) -> Json:
    return {"pos": list(pos), "face": 3, "block": block, "natural": natural}


def ore(pos: Pos, px: float = 100.0, kind: str = "iron_ore") -> Json:
    return {"pos": list(pos), "kind": kind, "face_px": px}


def removed(pos: Pos, natural: bool = True, block: str = "stone") -> Json:
    return {"pos": list(pos), "before": block, "after": "air", "natural": natural}


def placed(pos: Pos) -> Json:
    return {"pos": list(pos), "before": "air", "after": "planks", "natural": False}


def score_facts(
    parameters: Parameters, scenario: Json, start: Json, decisions: Iterable[tuple[str, Json]]
) -> tuple[list[ScoredDecision], EpisodeSummary]:
    """Scores a whole episode at once; rescoring under other parameters is this call again."""
    scorer = CraftScorer(parameters, scenario, start)
    steps = [scorer.score(action, facts) for action, facts in decisions]
    return steps, scorer.summary()


@dataclass
class Ore:
    """A known ore as the hand-made world tracks it; distances follow from the pose unless a test sets them."""

    pos: Pos
    standing: bool = True
    walk: int | None = None
    angle: float = 90.0
    waypoint: float | None = None


@dataclass
class Episode:
    """Makes the facts of decision after decision from what changes in each."""

    ores: tuple[Ore, ...] = ()
    see_px: float = 100.0
    count: int = 1
    budget: int = 100
    parameters: Parameters = field(default_factory=Parameters)
    at: Json = field(default_factory=pose)
    crosshair: Json | None = None
    slot: int = 1
    lines: list[tuple[str, Json]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = {item.pos: item for item in self.ores}
        self.start: Json = {
            "pose": self.at,
            "standing": True,
            "first_seen": {"count": 500, "kinds": {"grass": 500}},
            "ores_in_view": [ore(item.pos, self.see_px) for item in self.ores],
            "known": [
                {
                    "pos": list(item.pos),
                    "standing": item.standing,
                    "eye_distance_after": self.eye_distance(item.pos),
                    "walk_after": item.walk,
                    "angle_after": item.angle,
                }
                for item in self.ores
            ],
            "target": self.crosshair,
        }
        self.scenario: Json = {
            "name": "flat-0", "target": "iron_ore", "target_count": self.count, "budget": self.budget,
        }  # fmt: skip
        self.scorer = CraftScorer(self.parameters, self.scenario, self.start)

    def eye_distance(self, pos: Pos) -> float:
        x, y, z = self.at["feet"]
        return math.dist((x, y + EYE, z), (pos[0] + 0.5, pos[1] + 0.5, pos[2] + 0.5))

    def do(
        self,
        action: str,
        *,
        feet: tuple[float, float, float] | None = None,
        yaw: float | None = None,
        pitch: float | None = None,
        new_faces: int = 0,
        changed: tuple[Json, ...] = (),
        acquired: tuple[Pos, ...] = (),
        slot: int | None = None,
        jumped: bool = False,
        standing: bool = True,
        sees: tuple[Json, ...] = (),
        walks: dict[Pos, int | None] | None = None,
        angles: dict[Pos, float] | None = None,
        waypoints: dict[Pos, tuple[float, float]] | None = None,
        crosshair: Json | None = None,
    ) -> ScoredDecision:
        """Play one decision and return how it was classified; what a test does not mention stays as it was."""
        before = self.at
        eye_before = {pos: self.eye_distance(pos) for pos in self.known}
        self.at = pose(
            tuple(before["feet"]) if feet is None else feet,
            before["yaw_deg"] if yaw is None else yaw,
            before["pitch_deg"] if pitch is None else pitch,
            standing,
        )
        entries = []
        for seen in sees:
            pos = tuple(seen["pos"])
            if seen["kind"] == "iron_ore" and pos not in self.known:
                self.known[pos] = Ore(pos)
        for pos, item in self.known.items():
            old_walk, old_angle = item.walk, item.angle
            item.walk = (walks or {}).get(pos, item.walk)
            item.angle = (angles or {}).get(pos, item.angle)
            item.standing = item.standing and pos not in acquired
            fresh = pos not in eye_before
            waypoint = (waypoints or {}).get(pos, (None, None))
            entries.append(
                {
                    "pos": list(pos),
                    "standing": item.standing,
                    "eye_distance_before": None if fresh else eye_before[pos],
                    "eye_distance_after": self.eye_distance(pos),
                    "walk_before": None if fresh else old_walk,
                    "walk_after": item.walk,
                    "angle_before": None if fresh else old_angle,
                    "angle_after": item.angle,
                    "waypoint_angle_before": waypoint[0],
                    "waypoint_angle_after": waypoint[1],
                }
            )
        slot_before, self.slot = self.slot, self.slot if slot is None else slot
        self.crosshair = crosshair if crosshair is not None else self.crosshair
        facts = {
            "pose_before": before,
            "pose_after": self.at,
            "feet_ticks": [before["feet"], self.at["feet"]],
            "standing_ticks": [bool(before["on_ground"]), standing],
            "blocks_changed": list(changed),
            "items": {},
            "acquired": [list(pos) for pos in acquired],
            "slot_before": slot_before,
            "slot_after": self.slot,
            "jumped": jumped,
            "first_seen": {"count": new_faces, "kinds": {"stone": new_faces} if new_faces else {}},
            "ores_in_view": list(sees),
            "known": entries,
            "target": self.crosshair,
        }
        self.lines.append((action, facts))
        return self.scorer.score(action, facts)

    def jump(self) -> ScoredDecision:
        """Jump from the ground to the highest point, 1.25 up."""
        x, y, z = self.at["feet"]
        return self.do("jump", feet=(x, y + 1.25, z), jumped=True, standing=False)

    def land(self, action: str = "wait", **more: Any) -> ScoredDecision:
        """Come down again by 1.25."""
        x, y, z = self.at["feet"]
        return self.do(action, feet=(x, y - 1.25, z), **more)

    def walk(self, dx: float = 0.0, dz: float = 0.0, action: str = "move_forward", **more: Any) -> ScoredDecision:
        x, y, z = self.at["feet"]
        return self.do(action, feet=(x + dx, y, z + dz), **more)

    def header(self) -> Json:
        from oresight.craftenv.actions import ACTIONS

        return {
            "format": "oresight.trajectory",
            "version": 1,
            "kind": "craft",
            "scenario": self.scenario,
            "agent": "hand",
            "memory": "raw",
            "actions": [{"name": action.name, "ticks": action.ticks} for action in ACTIONS],
            "score_inputs": self.parameters.recorded.model_dump(mode="json"),
            "versions": {"oresight": "0.1.0", "terrain": 1},
            "start": {"state_hash": "0" * 16, "facts": self.start},
        }

    def decision_lines(self) -> list[Json]:
        return [
            {
                "step": step, "action": action, "state_hash": f"{step:016x}", "observation": "told", "outcome": "",
                "said": "", "usage": None, "facts": facts,
            }
            for step, (action, facts) in enumerate(self.lines, 1)
        ]  # fmt: skip
