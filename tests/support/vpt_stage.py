"""Synthesised VPT-style recordings: a hand that plays tick after tick and writes what the real game would write."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oresight.scoring.score import ScoreReport, score_paths

Json = dict[str, Any]
KEYS = {"forward": "w", "backward": "s", "left": "a", "right": "d", "jump": "space"}


@dataclass
class Hand:
    """Plays on level ground; each call adds lines."""

    x: float = 0.5
    y: float = 64.0
    z: float = 0.5
    yaw: float = 0.0
    pitch: float = 0.0
    hotbar: int = 0
    tick: int = 0
    inventory: list[Json] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    lines: list[Json] = field(default_factory=list)

    def line(self, *, buttons: tuple[int, ...] = (), new: tuple[int, ...] = (), keys: tuple[str, ...] = (), gui=False):
        """Add a line as the state stands."""
        self.lines.append(
            {
                "mouse": {"x": 640, "y": 360, "dx": 0, "dy": 0, "buttons": list(buttons), "newButtons": list(new)},
                "keyboard": {"keys": [f"key.keyboard.{key}" for key in keys], "newKeys": [], "chars": ""},
                "isGuiOpen": gui,
                "hotbar": self.hotbar,
                "yaw": self.yaw,
                "pitch": self.pitch,
                "xpos": self.x,
                "ypos": self.y,
                "zpos": self.z,
                "inventory": [dict(item) for item in self.inventory],
                "stats": dict(self.stats),
                "tick": self.tick,
                "milli": self.tick * 50,
            }
        )
        self.tick += 1
        return self

    def idle(self, ticks=20, **more):
        for _ in range(ticks):
            self.line(**more)
        return self

    def walk(self, ticks=20, turn=0.0, speed=0.216, buttons=()):
        """Walk along the view, turning by so much in each tick."""
        for _ in range(ticks):
            self.yaw += turn
            self.x -= math.sin(math.radians(self.yaw)) * speed
            self.z += math.cos(math.radians(self.yaw)) * speed
            self.line(keys=("w",), buttons=buttons)
        return self

    def turn(self, yaw=0.0, pitch=0.0, ticks=4):
        for _ in range(ticks):
            self.yaw += yaw / ticks
            self.pitch += pitch / ticks
            self.line()
        return self

    def hold(self, button, ticks):
        for tick in range(ticks):
            self.line(buttons=(button,), new=(button,) if tick == 0 else ())
        return self

    def count(self, key, by=1):
        self.stats[key] = self.stats.get(key, 0) + by
        return self

    def text(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)

    def write(self, path: Path) -> Path:
        path.write_bytes(self.text())
        return path


def score(path: Path, hand: Hand, **more: Any) -> ScoreReport:
    """Write a recording and score it; it has to be readable."""
    report = score_paths([hand.write(path / "play.jsonl")], **more)
    assert report.complete, report.problems
    return report


def actions(report: ScoreReport) -> list[str | None]:
    return [step.action for step in report.episodes[0].steps]
