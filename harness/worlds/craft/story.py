"""The referee's reasoning in words for the 3D world: the known ores, what was seen and reached, and by how much.

Which kinds of gain there were is the scorer's word; the numbers come from the facts of the same stretch, the decisions
since the last scored one.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from oresight.harness.records.scored import Story, StoryStep
from oresight.harness.worlds.segment import Segment
from oresight.harness.worlds.story import Explanation, listed, stale_sentence, strict_sentence, verdict_of
from oresight.scoring.core import Case
from oresight.scoring.craft.adapter import Discovery, node_of, preparation_kind
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import BlockPos, CraftFacts, KnownAtStart, KnownOre, Pose, StartFacts

_FREE = "Not scored: a free preparation. What it showed or changed is judged with the next scored decision."
_AFTER = "Not scored: it comes after the end of what is scored."
_EXPLORED = ("position", "view", "ore")
# How many ores are described by distances and angles.
_ORES_SHOWN = 3


@dataclass
class _Stretch:
    """What happened since the last scored decision."""

    pose: Pose
    decisions: int = 0
    faces: int = 0
    positions: int = 0
    found: list[Discovery] = field(default_factory=list)
    acquired: list[BlockPos] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    first: dict[BlockPos, KnownOre] = field(default_factory=dict)


class _Follower:
    """Keeps what is known before each stretch, as the scorer does."""

    def __init__(self, story: Story) -> None:
        start = StartFacts.model_validate(story.header.start.facts)
        self.parameters = story.parameters
        self.target = str(story.header.scenario.get("target", "ore"))
        self.wanted = story.summary.details.get("target_count") or 0
        self._discoveries = story.discoveries
        self._gone = {ore.pos for ore in start.known if not ore.standing}
        self._acquired: set[BlockPos] = set()
        self._entered = {self._cell(start.pose.feet)}
        self._smallest: dict[BlockPos, tuple[float, float]] = {}
        self.stretch = _Stretch(start.pose)
        self.known = self._standing(0)
        self.needed = self.wanted
        self._note(start.known)

    def take(self, step: int, facts: CraftFacts) -> None:
        """Take in a decision."""
        stretch = self.stretch
        stretch.decisions += 1
        stretch.faces += facts.first_seen.count
        for feet, standing in zip(facts.feet_ticks, facts.standing_ticks, strict=True):
            if standing and (cell := self._cell(feet)) not in self._entered:
                self._entered.add(cell)
                stretch.positions += 1
        stretch.found += [each for each in self._discoveries if each.step == step]
        stretch.acquired += [pos for pos in facts.acquired if pos not in self._acquired]
        self._acquired.update(facts.acquired)
        self._gone.update(facts.acquired)
        for ore in facts.known:
            stretch.first.setdefault(ore.pos, ore)
            if not ore.standing:
                self._gone.add(ore.pos)
        stretch.removed += [
            change.before
            for change in facts.blocks_changed
            if change.natural and change.before not in ("air", "water") and change.after != change.before
        ]

    def judged(self, step: int, facts: CraftFacts) -> None:
        """End the stretch here."""
        self.stretch = _Stretch(facts.pose_after)
        self.known = self._standing(step)
        self.needed = self.wanted - len(self._acquired)
        self._note(facts.known)

    def smallest(self, pos: BlockPos) -> tuple[float, float]:
        """Return the smallest straight and walking distance so far of a known ore; infinite where there was none."""
        return self._smallest.get(pos, (math.inf, math.inf))

    def _standing(self, step: int) -> tuple[BlockPos, ...]:
        return tuple(each.pos for each in self._discoveries if each.step <= step and each.pos not in self._gone)

    def _note(self, ores: Iterable[KnownAtStart]) -> None:
        known = set(self.known)
        for ore in ores:
            if ore.pos in known:
                eye, walk = self.smallest(ore.pos)
                now_eye = math.inf if ore.eye_distance_after is None else ore.eye_distance_after
                now_walk = math.inf if ore.walk_after is None else ore.walk_after
                self._smallest[ore.pos] = (min(eye, now_eye), min(walk, now_walk))

    def _cell(self, feet: tuple[float, float, float]) -> tuple[int, ...]:
        return tuple(math.floor(value + 1e-5) // self.parameters.position_cell_blocks for value in feet)


def craft_words(story: Story) -> list[Explanation]:
    """Describe every decision of an episode in the 3D world."""
    follower = _Follower(story)
    parameters, ended_after = story.parameters, story.before + story.summary.steps_taken
    segment = Segment(parameters.k, node_of(follower.stretch.pose, parameters), leaves_out_staying=True)
    told = []
    waited = 0
    for step in story.steps:
        facts, scored = step.facts, step.judged
        assert facts is not None
        if scored.step <= ended_after:
            follower.take(scored.step, facts)
        before = segment.parts()
        after = segment.take(scored)
        if scored.scored:
            waited = 0 if scored.progress else waited + 1
        unscored = _AFTER if scored.step > ended_after else _FREE
        strict = scored.strict
        told.append(
            Explanation(
                verdict=verdict_of(step, before.stale, unscored),
                required=_required(scored.case, follower),
                targets=_targets(scored.case, follower, facts),
                why=_why(step, facts, follower) if scored.scored else "",
                stale=stale_sentence(scored, before, after, parameters.k),
                patience=_patience(waited, parameters) if scored.scored else "",
                strict="" if strict is None else strict_sentence(scored, strict, before.stale),
                parts=after,
            )
        )
        if scored.scored:
            follower.judged(scored.step, facts)
    return told


def _required(case: Case | None, follower: _Follower) -> str:
    if case is None:
        return ""
    known, needed, target = len(follower.known), follower.needed, follower.target
    if case is Case.EXPLORE:
        return f"Case 1: explore. No {target} is known that still stands, and {needed} {_are(needed)} still needed."
    told = f"{known} {target} {_are(known)} known and {'stands' if known == 1 else 'stand'}"
    if case is Case.GOAL:
        return f"Case 2: go for the goal. {told}, which covers the {needed} still needed."
    return f"Case 4: explore or exploit. {told}, of {needed} still needed."


def _targets(case: Case | None, follower: _Follower, facts: CraftFacts) -> str:
    if case is None:
        return ""
    if case is Case.EXPLORE:
        return "whatever was never seen or entered; the world has no end"
    distances = {ore.pos: ore.eye_distance_before for ore in facts.known}
    ores = listed([f"{_pos(pos)}{_away(distances.get(pos))}" for pos in follower.known])
    ores = f"the {follower.target} at {ores}"
    return f"{ores}; and whatever was never seen or entered" if case.explore_eligible else ores


def _why(step: StoryStep, facts: CraftFacts, follower: _Follower) -> str:
    scored, case = step.judged, step.judged.case
    assert case is not None
    if not scored.reasons:
        return _why_not(step, case, facts, follower)
    stretch = follower.stretch
    parts = []
    if "acquired" in scored.reasons:
        parts.append(f"{follower.target} acquired at {listed([_pos(pos) for pos in stretch.acquired])}")
    if "ore" in scored.reasons:
        sizes = [f"{_pos(each.pos)} ({each.face_px:.0f} square pixels)" for each in stretch.found]
        parts.append(f"{follower.target} discovered at {listed(sizes)}")
    if "position" in scored.reasons:
        parts.append(f"{_some(stretch.positions, 'position')} entered that never had been")
    if "view" in scored.reasons:
        parts.append(f"{stretch.faces} block faces seen that never had been")
    if "nearer" in scored.reasons:
        parts.append(f"nearer to a known ore ({_approach(facts, follower, scored.progress)})")
    if "dug" in scored.reasons:
        parts.append(f"{listed(stretch.removed)} on the way to a known ore removed")
    if "aimed" in scored.reasons:
        parts.append(f"aimed at a known ore or the way to it ({_angles(facts, follower)})")
    if "repositioning" in scored.reasons:
        alone = ", which is no progress" if len(scored.reasons) == 1 else ""
        parts.append(f"repositioned ({_moved(facts, follower)}){alone}")
    before = stretch.decisions - 1
    many = "decision" if before == 1 else f"{before} decisions"
    together = f" Judged together with the unscored {many} before it." if before else ""
    return f"{_capital('; '.join(parts))}.{together}"


def _why_not(step: StoryStep, case: Case, facts: CraftFacts, follower: _Follower) -> str:
    stretch, parameters = follower.stretch, follower.parameters
    kind = preparation_kind(step.line.action)
    if kind is not None:
        return f"None. A {kind} without effect, or a second one since the last other kind of action, is no gain."
    parts = []
    if case.explore_eligible:
        parts.append(
            f"no position entered that never had been, {_some(stretch.faces, 'new block face')}"
            f" ({parameters.new_faces_min} make a view), no {follower.target} discovered; {_moved(facts, follower)}"
        )
    if case.exploit_eligible:
        parts.append(f"nearer to no known ore and aimed at none ({_approach(facts, follower, False)})")
    return f"None. {_capital('; '.join(parts))}."


def _approach(facts: CraftFacts, follower: _Follower, progress: bool) -> str:
    """Return how the distances to the nearest known ores changed."""
    last = {ore.pos: ore for ore in facts.known}
    rows = []
    for pos in follower.known:
        first, after = follower.stretch.first.get(pos), last.get(pos)
        if first is None or after is None:
            continue
        eye, walk = follower.smallest(pos)
        best = ""
        if progress:
            best = f"; least so far {_blocks(eye)} and {_steps(walk)}"
        far = math.inf if first.eye_distance_before is None else first.eye_distance_before
        rows.append(
            (
                far,
                f"{_pos(pos)}: straight {_blocks(first.eye_distance_before)} to {_blocks(after.eye_distance_after)},"
                f" walking {_steps(first.walk_before)} to {_steps(after.walk_after)}{best}",
            )
        )
    rows.sort()
    return "; ".join(text for _, text in rows[:_ORES_SHOWN]) or "no distance is recorded"


def _angles(facts: CraftFacts, follower: _Follower) -> str:
    rows = []
    for ore in facts.known:
        first = follower.stretch.first.get(ore.pos)
        if ore.pos in follower.known and first is not None and first.angle_before is not None:
            rows.append(
                (first.angle_before, f"{_pos(ore.pos)}: {first.angle_before:.0f}° to {_degrees(ore.angle_after)}")
            )
    rows.sort()
    under = "" if facts.target is None else f"; {facts.target.block} under the crosshair"
    return ("; ".join(text for _, text in rows[:_ORES_SHOWN]) or "no angle is recorded") + under


def _moved(facts: CraftFacts, follower: _Follower) -> str:
    stretch, parameters = follower.stretch, follower.parameters
    feet = math.dist(stretch.pose.feet, facts.pose_after.feet)
    one, other = (node_of(pose, parameters)[3:] for pose in (stretch.pose, facts.pose_after))
    parts = [f"the feet moved {feet:.1f} blocks", f"the view step {'stayed' if one == other else 'changed'}"]
    if stretch.removed:
        parts.append(f"{listed(stretch.removed)} removed")
    return ", ".join(parts)


def _patience(waited: int, parameters: Parameters) -> str:
    used = f"{waited} of {parameters.patience} scored decisions without progress"
    return f"{used}: used up." if waited > parameters.patience else f"{used}."


def _pos(pos: BlockPos) -> str:
    return f"[{pos[0]}, {pos[1]}, {pos[2]}]"


def _away(distance: float | None) -> str:
    return "" if distance is None else f" ({distance:.1f} blocks away)"


def _blocks(distance: float | None) -> str:
    return "unknown" if distance is None or math.isinf(distance) else f"{distance:.1f} blocks"


def _steps(distance: float | None) -> str:
    return "no way" if distance is None or math.isinf(distance) else f"{distance:.0f} steps"


def _degrees(angle: float | None) -> str:
    return "gone" if angle is None else f"{angle:.0f}°"


def _some(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
