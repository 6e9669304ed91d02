"""The summary of the 3D world: what the agent did, where that must have led, where it looked, which ores it reported.

Places are dead reckoning from the public words alone; ores are those that the model named in its own answers. Nothing
comes from a picture, and nothing from the referee.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from typing_extensions import override

from oresight import assets
from oresight.harness.agents.scout.track import Pose
from oresight.harness.context.assembly import lines_tokens, list_lines, newest, quoted
from oresight.harness.context.notes import remark_lines
from oresight.harness.context.reply_fields import fields_of, shown, whole_number
from oresight.harness.context.structured import Digest, Summary
from oresight.harness.protocols import AnswerForm, Observation, Turn

# Looks from places in one square of this size count as from one place.
PLACE_BLOCKS = 4.0
# A report of the same kind of ore this near to an earlier one is of the same ore.
SAME_ORE_BLOCKS = 2.5
MOST_REPORTS = 60
MOST_IN_A_REPLY = 12
FARTHEST_BLOCKS = 200.0
_LONGEST_KIND = 30
_FIELDS = {"kind": "string", "right_deg": "number", "down_deg": "number", "blocks": "number"}


@dataclass(frozen=True)
class Report:
    """An ore as the model reported it, placed by dead reckoning: blocks right and ahead of the start."""

    number: int
    kind: str
    step: int
    right: float
    ahead: float
    below: float


@dataclass
class Journey:
    """What a history says.

    Attributes:
        pose: Where the agent must be now.
        looks: By place, newest last: the directions looked in, each a heading and a pitch.
        places: Where each place was first looked from.
        reports: By number, oldest first.
        remarks: On what was ignored in the last reply.
        reported: How many reports there were, those of known ores not counted.
    """

    pose: Pose = field(default_factory=Pose)
    looks: dict[tuple[int, int], dict[tuple[int, int], None]] = field(default_factory=dict)
    places: dict[tuple[int, int], Pose] = field(default_factory=dict)
    reports: dict[int, Report] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    reported: int = 0

    def look(self) -> None:
        """Mark where the agent looks now."""
        key = round(self.pose.right / PLACE_BLOCKS), round(self.pose.ahead / PLACE_BLOCKS)
        looked = self.looks.pop(key, {})
        looked[round(self.pose.heading_deg) % 360, round(self.pose.pitch_deg)] = None
        self.looks[key] = looked
        self.places.setdefault(key, self.pose)


class CraftDigest(Digest):
    """The digest of the 3D world."""

    @cached_property
    def answer(self) -> AnswerForm:
        """The ores that the model sees, and those that are gone."""
        ore = {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in _FIELDS.items()},
            "required": list(_FIELDS),
            "additionalProperties": False,
        }
        return AnswerForm(
            {
                "ores": {"type": "array", "items": ore},
                "gone": {"type": "array", "items": {"type": "integer"}},
            },
            assets.path("prompts", "memory", "structured_craft.txt").read_text("utf-8").strip(),
        )

    @override
    def summarise(self, instructions: str, history: Sequence[Turn], current: Observation) -> Summary:
        journey = travel(history)
        return Summary(lambda room: _lines(journey, history, room), remark_lines(journey.remarks))


def _lines(journey: Journey, history: Sequence[Turn], room_tokens: int) -> list[str]:
    """Return the lines of the summary that fit into a number of tokens."""
    lines = newest([f"You must be {_place(journey.pose)}, looking {_view(journey.pose)}."], room_tokens)
    room_tokens -= lines_tokens(lines)
    reports = [_report(report, journey.pose) for report in journey.reports.values()]
    ores = list_lines("Ores that you reported:", reports, room_tokens // 2)
    room_tokens -= lines_tokens(ores)
    looks = list_lines(
        "Directions in which you have looked, in degrees to the right of your first view:",
        [f"- from {_place(journey.places[key])}: {_looked(looked)}" for key, looked in journey.looks.items()],
        room_tokens // 2,
    )
    room_tokens -= lines_tokens(looks)
    return [*lines, *ores, *looks, *list_lines("Your actions and their outcomes:", _deeds(history), room_tokens)]


def travel(history: Sequence[Turn]) -> Journey:
    """Follow a history from its start."""
    journey = Journey()
    journey.look()
    for turn in history:
        # A reply speaks of the picture before its action.
        journey.remarks = _hear(journey, turn)
        journey.pose = journey.pose.after(turn.decision.action, turn.outcome.lower())
        journey.look()
    return journey


def _hear(journey: Journey, turn: Turn) -> list[str]:
    """Add what a reply reports; return remarks on what was ignored."""
    fields = fields_of(turn)
    remarks = []
    for number in _listed(fields.get("gone")):
        gone = whole_number(number)
        if gone is None or journey.reports.pop(gone, None) is None:
            remarks.append(f'"gone" names {shown(number)}, but no reported ore has this number.')
    ores = _listed(fields.get("ores"))
    for ore in ores[:MOST_IN_A_REPLY]:
        report = _read_report(ore, journey, turn.step)
        if report is None:
            remarks.append(f'an ore was ignored: {shown(ore)} is no object with "kind", "right_deg" and "blocks".')
        else:
            # Reported again, it is the newest.
            journey.reports.pop(report.number, None)
            journey.reports[report.number] = report
    if len(ores) > MOST_IN_A_REPLY:
        remarks.append(f"of the ores only the first {MOST_IN_A_REPLY} were taken.")
    while len(journey.reports) > MOST_REPORTS:
        del journey.reports[next(iter(journey.reports))]
    return remarks


def _read_report(ore: object, journey: Journey, step: int) -> Report | None:
    """Place an ore from where the agent stood and looked; None where the report is invalid."""
    if not isinstance(ore, Mapping) or not isinstance(ore.get("kind"), str) or not _kind(ore["kind"]):
        return None
    right_deg = _number(ore.get("right_deg"), 180.0)
    down_deg = _number(ore.get("down_deg", 0.0), 180.0)
    blocks = _number(ore.get("blocks"), FARTHEST_BLOCKS)
    if right_deg is None or down_deg is None or blocks is None or blocks < 0.0:
        return None
    pose = journey.pose
    way = math.radians(pose.heading_deg + right_deg)
    slope = math.radians(pose.pitch_deg + down_deg)
    along = blocks * math.cos(slope)
    right, ahead = pose.right + along * math.sin(way), pose.ahead + along * math.cos(way)
    kind = _kind(ore["kind"])
    for known in journey.reports.values():
        if known.kind == kind and math.hypot(known.right - right, known.ahead - ahead) < SAME_ORE_BLOCKS:
            return Report(known.number, kind, step, right, ahead, blocks * math.sin(slope))
    journey.reported += 1
    return Report(journey.reported, kind, step, right, ahead, blocks * math.sin(slope))


def _kind(text: str) -> str:
    """Return the one spelling of `Iron ore`, `iron_ore` and `iron`."""
    words = text.lower().replace("_", " ").split()
    return " ".join(words[:-1] if len(words) > 1 and words[-1] == "ore" else words)[:_LONGEST_KIND]


def _listed(value: Any) -> list[Any]:
    """Return a list as it is, None as an empty list, anything else as a list of one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _number(value: object, most: float) -> float | None:
    """Return a finite number of at most this size; None for a missing one and for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= most else None


def _deeds(history: Sequence[Turn]) -> list[str]:
    """Actions with their outcomes, equal ones in a row as one line."""
    lines: list[str] = []
    first = 0
    for index, turn in enumerate(history):
        following = history[index + 1] if index + 1 < len(history) else None
        if following and (following.decision.action, following.outcome) == (turn.decision.action, turn.outcome):
            continue
        begin = history[first].step
        steps = f"{begin}" if begin == turn.step else f"{begin} to {turn.step}"
        lines.append(f"- {steps}: {turn.decision.action} -> {turn.outcome}")
        first = index + 1
    return lines


def _report(report: Report, now: Pose) -> str:
    right, ahead = report.right - now.right, report.ahead - now.ahead
    bearing = math.degrees(math.atan2(right, ahead)) - now.heading_deg
    away = round(math.hypot(right, ahead))
    level = _side(report.below, "blocks below your eyes", "blocks above your eyes", "at the height of your eyes")
    return (
        f"- {report.number}: {quoted(report.kind)}, reported at step {report.step}: from where you are now"
        f" {_turned(bearing)}, {away} blocks away over the ground; it was {level}"
    )


def _place(pose: Pose) -> str:
    ahead = _side(pose.ahead, "blocks ahead of", "blocks behind", "")
    right = _side(pose.right, "blocks to the right of", "blocks to the left of", "")
    parts = [part for part in (ahead, right) if part]
    return f"about {' and '.join(parts)} where you began" if parts else "where you began"


def _view(pose: Pose) -> str:
    tilt = _side(pose.pitch_deg, "degrees down", "degrees up", "level")
    return f"{round(pose.heading_deg) % 360} degrees to the right of your first view, {tilt}"


def _turned(bearing_deg: float) -> str:
    around_deg = (bearing_deg + 180.0) % 360.0 - 180.0
    return _side(around_deg, "degrees to your right", "degrees to your left", "straight ahead")


def _side(value: float, positive: str, negative: str, neither: str) -> str:
    amount = round(value)
    return f"{abs(amount)} {positive if amount > 0 else negative}" if amount else neither


def _looked(looked: Mapping[tuple[int, int], None]) -> str:
    tilts: dict[int, list[int]] = {}
    for heading, pitch in looked:
        tilts.setdefault(pitch, []).append(heading)
    return "; ".join(
        f"{_side(pitch, 'degrees down', 'degrees up', 'level')}: {', '.join(str(each) for each in sorted(headings))}"
        for pitch, headings in sorted(tilts.items())
    )
