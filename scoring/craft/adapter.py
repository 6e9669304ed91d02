"""The 3D world's adapter: recorded facts in, one classified decision out; no pixels and no world needed.

Live play and a file give the same result, because both hand in the same facts. How the definitions are read where they
leave a choice:

- **Stretch.** Decisions that are not scored are judged together with the next scored one. The state before is the one
  after the last scored decision (or the start), so that the stretches divide the episode: nothing is judged twice.
- **Preparation.** A run is unbroken as long as only preparations are chosen, scored or not; the first one of a kind
  that had an effect is free. A scored preparation is no gain and no progress, whatever its stretch showed. An episode
  that ends on free preparations leaves them unjudged.
- **Smallest distance.** Taken over the states between which decisions are judged (not at the top of a free jump), from
  the state in which the ore is discovered on. A way that appears where none was is no fall; it starts the series.
- **Acquired.** Picking up a target ore is a gain and progress in every case, also where the ore had never been
  discovered (one block behind another): it is found and taken in one decision.
- **Came to rest.** The crosshair's block differs from the one before the stretch; waiting in front of it is no gain.
- **Two readings.** They differ in what is a gain in case 1 and in nothing else. Progress is the same in both, so both
  share the segment, the stale score and the patience.
- Decisions after success or past the budget are not scored.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from oresight.scoring.core import Answers, Case, Judge, Verdict, case_of
from oresight.scoring.decisions import LENIENT, STRICT, EpisodeSummary, ScoredDecision, Tally, outcome_of
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import (
    BlockPos,
    CraftFacts,
    CraftScenario,
    KnownOre,
    OreInView,
    Outcome,
    Point,
    Pose,
    StartFacts,
    Target,
)

# Facts may be rounded when they are written; a threshold that is met but for that is met.
ROUNDING = 1e-5
EMPTY_BLOCKS = frozenset({"air", "water"})
ALPHA_OF_WHOLE_BUDGET = 3.0

Node = tuple[int, int, int, int, int]


def node_of(pose: Pose, parameters: Parameters) -> Node:
    """Return the node of a pose: feet block x, y, z, yaw step, pitch step; 180 and -180 degrees are one step."""
    turn = round(360.0 / parameters.yaw_step_deg)
    x, y, z = (_floor(value) for value in pose.feet)
    return (
        x,
        y,
        z,
        _nearest(pose.yaw_deg / parameters.yaw_step_deg) % turn,
        _nearest(pose.pitch_deg / parameters.pitch_step_deg),
    )


def on_the_way(block: BlockPos, ore: BlockPos, pose: Pose, eye_height_blocks: float) -> bool:
    """Whether a block's centre is nearer to the ore's centre than the farther of feet and eye is."""
    feet = pose.feet
    eye = (feet[0], feet[1] + eye_height_blocks, feet[2])
    centre = _centre(ore)
    return math.dist(_centre(block), centre) < max(math.dist(feet, centre), math.dist(eye, centre))


def preparation_kind(action: str) -> str | None:
    """Return "slot", "jump" or "place" for an action that makes sense only by what follows, else None."""
    if action.startswith("slot_"):
        return "slot"
    return action if action in ("jump", "place") else None


@dataclass(frozen=True)
class _Before:
    """The state before a stretch, as far as judging needs it."""

    pose: Pose
    target: Target | None
    known: frozenset[BlockPos]
    needed: int


@dataclass(frozen=True)
class Discovery:
    """An ore's discovery: the decision (0 is the start) and the size of its largest face in square pixels."""

    pos: BlockPos
    step: int
    face_px: float


def discoveries_of(summary: EpisodeSummary) -> tuple[Discovery, ...]:
    """Return the discoveries of target ores in their order; nothing in another world."""
    told = summary.details.get("discoveries", [])
    return tuple(Discovery(tuple(each["pos"]), each["step"], each["face_px"]) for each in told)


@dataclass
class _Stretch:
    """What happened since the last scored decision."""

    faces: int = 0
    positions: int = 0
    discoveries: int = 0
    acquired: int = 0
    removed: list[BlockPos] = field(default_factory=list)
    known_first: dict[BlockPos, KnownOre] = field(default_factory=dict)


class CraftScorer:
    """Scores the decisions of one episode in their order.

    Args:
        parameters: Of the metric; `alpha` cuts the budget to alpha / 3.
        scenario: Target kind, count and budget; a `CraftScenario` or what one is made of.
        start: The start's facts; `StartFacts` or what they are made of.

    Raises:
        pydantic.ValidationError: Scenario or start are not what they should be.
        ValueError: `alpha` asks for more than the budget that was played.
    """

    def __init__(
        self, parameters: Parameters, scenario: CraftScenario | Mapping[str, Any], start: StartFacts | Mapping[str, Any]
    ) -> None:
        self.parameters = parameters
        self.scenario = scenario if isinstance(scenario, CraftScenario) else CraftScenario.model_validate(scenario)
        if parameters.alpha > ALPHA_OF_WHOLE_BUDGET:
            raise ValueError(
                f"alpha is {parameters.alpha}; an episode of the 3D world can be cut, to alpha / 3 of its budget, but"
                " not prolonged: use 3 or less"
            )
        self.budget = _floor(parameters.alpha * self.scenario.budget / ALPHA_OF_WHOLE_BUDGET)
        self.tally = Tally()
        self.strict_tally = Tally()
        self.discoveries: list[Discovery] = []
        self._facts_start = start if isinstance(start, StartFacts) else StartFacts.model_validate(start)
        self._decisions = 0
        self._steps_taken = 0
        self._scored = 0
        self._entered = {self._position(self._facts_start.pose.feet)}
        self._discovered: set[BlockPos] = set()
        self._gone: set[BlockPos] = set()
        self._acquired: set[BlockPos] = set()
        self._smallest_eye: dict[BlockPos, float] = {}
        self._smallest_walk: dict[BlockPos, float] = {}
        self._run: set[str] = set()
        self._stretch = _Stretch()
        self._judge = Judge(parameters.k, node_of(self._facts_start.pose, parameters), parameters.patience)
        self._discover(self._facts_start.ores_in_view)
        self._gone.update(ore.pos for ore in self._facts_start.known if not ore.standing)
        self._before = self._state(self._facts_start.pose, self._facts_start.target)
        self._note_distances((ore.pos, ore.eye_distance_after, ore.walk_after) for ore in self._facts_start.known)

    @property
    def success(self) -> bool:
        """Whether the target count has been acquired within the budget."""
        return len(self._acquired) >= self.scenario.target_count

    @property
    def ended(self) -> bool:
        """Whether what follows is not scored any more."""
        return self.success or self._steps_taken >= self.budget

    @property
    def known(self) -> frozenset[BlockPos]:
        """Ores discovered and still standing."""
        return frozenset(self._discovered - self._gone)

    def score(self, action: str, facts: CraftFacts | Mapping[str, Any]) -> ScoredDecision:
        """Classify the next decision.

        Raises:
            pydantic.ValidationError: The facts are not what they should be.
        """
        if not isinstance(facts, CraftFacts):
            facts = CraftFacts.model_validate(facts)
        self._decisions += 1
        if self.ended:
            return self._unscored(action)
        self._steps_taken += 1
        self._take_in(facts)
        kind = preparation_kind(action)
        if kind is None:
            self._run.clear()
        elif _had_effect(kind, facts) and kind not in self._run:
            self._run.add(kind)
            return self._unscored(action)
        return self._judge_stretch(action, facts, is_preparation=kind is not None)

    def summary(self, outcome: Outcome | None = None, reason: str | None = None) -> EpisodeSummary:
        """Sum up the decisions so far.

        Args:
            outcome: How the episode ended as recorded by whoever played it; None if nobody knows.
            reason: Why, in words.
        """
        return EpisodeSummary(
            outcome=outcome_of(outcome, success=self.success, budget_spent=self._steps_taken >= self.budget),
            reason=reason,
            readings={LENIENT: self.tally, STRICT: self.strict_tally},
            decisions=self._decisions,
            scored_decisions=self._scored,
            steps_taken=self._steps_taken,
            budget=self.budget,
            score=min(1.0, len(self._acquired) / self.scenario.target_count),
            details={
                "acquired": len(self._acquired),
                "target_count": self.scenario.target_count,
                "discoveries": [
                    {"pos": list(found.pos), "step": found.step, "face_px": found.face_px} for found in self.discoveries
                ],
            },
        )

    # --- taking in facts ---------------------------------------------------------------------------------------------

    def _take_in(self, facts: CraftFacts) -> None:
        stretch = self._stretch
        stretch.faces += facts.first_seen.count
        for feet, standing in zip(facts.feet_ticks, facts.standing_ticks, strict=True):
            if standing and (cell := self._position(feet)) not in self._entered:
                self._entered.add(cell)
                stretch.positions += 1
        stretch.discoveries += self._discover(facts.ores_in_view)
        taken = set(facts.acquired) - self._acquired
        stretch.acquired += len(taken)
        self._acquired |= taken
        self._gone |= taken
        for ore in facts.known:
            stretch.known_first.setdefault(ore.pos, ore)
            if not ore.standing:
                self._gone.add(ore.pos)
        stretch.removed.extend(
            change.pos
            for change in facts.blocks_changed
            if change.natural and change.before not in EMPTY_BLOCKS and change.after != change.before
        )

    def _discover(self, ores: Iterable[OreInView]) -> int:
        found = 0
        for ore in ores:
            if (
                ore.kind == self.scenario.target
                and ore.pos not in self._discovered
                and ore.face_px >= self.parameters.discovery_px - ROUNDING
            ):
                self._discovered.add(ore.pos)
                self.discoveries.append(Discovery(ore.pos, self._steps_taken, ore.face_px))
                found += 1
        return found

    def _note_distances(self, distances: Iterable[tuple[BlockPos, float | None, float | None]]) -> None:
        known = self.known
        for pos, eye, walk in distances:
            if pos in known:
                if eye is not None:
                    self._smallest_eye[pos] = min(eye, self._smallest_eye.get(pos, math.inf))
                if walk is not None:
                    self._smallest_walk[pos] = min(walk, self._smallest_walk.get(pos, math.inf))

    def _state(self, pose: Pose, target: Target | None) -> _Before:
        return _Before(pose, target, self.known, self.scenario.target_count - len(self._acquired))

    def _position(self, feet: Point) -> tuple[int, ...]:
        return tuple(_floor(value) // self.parameters.position_cell_blocks for value in feet)

    # --- judging -----------------------------------------------------------------------------------------------------

    def _judge_stretch(self, action: str, facts: CraftFacts, *, is_preparation: bool) -> ScoredDecision:
        before = self._before
        case = case_of(
            frontier_left=True,
            pending=bool(before.known),
            goal_pending=bool(before.known) and len(before.known) >= before.needed,
        )
        explored: list[str] = []
        exploited: list[str] = []
        repositioned: list[str] = []
        approached = False
        if not is_preparation:
            if self._stretch.acquired:
                exploited.append("acquired")
            if case.explore_eligible:
                explored = self._exploration()
                if self._repositioned(facts):
                    repositioned = ["repositioning"]
            if case.exploit_eligible:
                towards, approached = self._exploitation(facts)
                exploited += towards
        reasons = (*explored, *exploited, *repositioned)
        node = node_of(facts.pose_after, self.parameters)
        verdict = self._judge.judge(
            Answers(
                case=case,
                gain=bool(reasons),
                progress=bool(explored) or "acquired" in exploited or approached,
                node=node,
                in_segment=node != self._judge.node,
            )
        )
        strict_gain = bool(explored or exploited) if case is Case.EXPLORE else verdict.gain
        return self._settle(action, facts, verdict, reasons, strict_gain, node)

    def _settle(
        self,
        action: str,
        facts: CraftFacts,
        verdict: Verdict,
        reasons: tuple[str, ...],
        strict_gain: bool,
        node: Node,
    ) -> ScoredDecision:
        """Count a verdict, begin the next stretch and put the result together."""
        self._scored += 1
        self.tally.add(verdict.case, verdict.error)
        self.strict_tally.add(verdict.case, verdict.error_if(strict_gain))
        self._note_distances((ore.pos, ore.eye_distance_after, ore.walk_after) for ore in facts.known)
        self._before = self._state(facts.pose_after, facts.target)
        self._stretch = _Stretch()
        return ScoredDecision.of(self._decisions, action, verdict, reasons, node, strict_gain)

    def _unscored(self, action: str) -> ScoredDecision:
        return ScoredDecision.unscored(self._decisions, action, self._judge.stale)

    def _exploration(self) -> list[str]:
        stretch = self._stretch
        found = {
            "position": stretch.positions > 0,
            "view": stretch.faces >= self.parameters.new_faces_min,
            "ore": stretch.discoveries > 0,
        }
        return [name for name, holds in found.items() if holds]

    def _repositioned(self, facts: CraftFacts) -> bool:
        before, after = self._before.pose, facts.pose_after
        return (
            math.dist(before.feet, after.feet) >= self.parameters.moved_blocks - ROUNDING
            or node_of(before, self.parameters)[3:] != node_of(after, self.parameters)[3:]
            or (bool(self._stretch.removed) and self._stretch.faces > 0)
        )

    def _exploitation(self, facts: CraftFacts) -> tuple[list[str], bool]:
        """Return the kinds of exploitation, towards at least one known ore, that the stretch was; and if progress."""
        before, parameters = self._before, self.parameters
        stayed = math.dist(before.pose.feet, facts.pose_after.feet) <= parameters.stayed_blocks + ROUNDING
        last = {ore.pos: ore for ore in facts.known}
        kinds: set[str] = set()
        progress = False
        for pos in before.known:
            first, after = self._stretch.known_first.get(pos), last.get(pos)
            if first is not None and after is not None:
                approached = self._approached(pos, after)
                progress = progress or approached
                if (
                    approached
                    or _fell(first.eye_distance_before, after.eye_distance_after, parameters.nearer_blocks)
                    or _fell(first.walk_before, after.walk_after, parameters.nearer_steps)
                ):
                    kinds.add("nearer")
                # The waypoint belongs to one decision's path; no preparation turns the view, so its own two angles do.
                if stayed and (
                    _fell(first.angle_before, after.angle_after, parameters.aimed_deg)
                    or _fell(after.waypoint_angle_before, after.waypoint_angle_after, parameters.aimed_deg)
                ):
                    kinds.add("aimed")
            if any(
                on_the_way(block, pos, before.pose, parameters.eye_height_blocks) for block in self._stretch.removed
            ):
                kinds.add("dug")
            if stayed and self._came_to_rest_on_the_way(pos, facts):
                kinds.add("aimed")
        return [name for name in ("nearer", "dug", "aimed") if name in kinds], progress

    def _approached(self, pos: BlockPos, after: KnownOre) -> bool:
        return _fell(self._smallest_eye.get(pos), after.eye_distance_after, self.parameters.progress_blocks) or _fell(
            self._smallest_walk.get(pos), after.walk_after, self.parameters.progress_blocks
        )

    def _came_to_rest_on_the_way(self, ore: BlockPos, facts: CraftFacts) -> bool:
        target, earlier = facts.target, self._before.target
        return (
            target is not None
            and target.natural
            and target.block not in EMPTY_BLOCKS
            and (earlier is None or earlier.pos != target.pos)
            and on_the_way(target.pos, ore, facts.pose_after, self.parameters.eye_height_blocks)
        )


def _had_effect(kind: str, facts: CraftFacts) -> bool:
    if kind == "slot":
        return facts.slot_before != facts.slot_after
    if kind == "jump":
        return facts.jumped
    return any(not change.natural and change.after not in EMPTY_BLOCKS for change in facts.blocks_changed)


def _fell(before: float | None, after: float | None, by: float) -> bool:
    """Whether a distance or angle fell by at least `by`; one that is infinite or unknown on either side did not."""
    return before is not None and after is not None and before - after >= by - ROUNDING


def _centre(pos: BlockPos) -> tuple[float, float, float]:
    return (pos[0] + 0.5, pos[1] + 0.5, pos[2] + 0.5)


def _floor(value: float) -> int:
    # The last bits of a float must not make a new pose out of an old one.
    return math.floor(value + ROUNDING)


def _nearest(value: float) -> int:
    return math.floor(value + 0.5 + ROUNDING)
