"""VPT-style recordings of the real game: from decisions to verdicts, as far as they can be decided without a world.

Every decision is case 1, because no ore is known before it is acquired. A natural block that was removed is taken to
have shown something new, because nobody can say that it did not. After a break play goes on in a new segment, without
gain or error.
"""

import math
from dataclasses import dataclass

from oresight.scoring.core import Answers, Case, Judge
from oresight.scoring.craft.adapter import node_of, preparation_kind
from oresight.scoring.decisions import LENIENT, STRICT, EpisodeSummary, ScoredDecision, Tally
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import Outcome, Pose
from oresight.scoring.vpt.play import VptFacts

_Block = tuple[int, int, int]


@dataclass
class _Stretch:
    """What happened since the last scored decision."""

    positions: int = 0
    views: int = 0
    removed: int = 0
    acquired: int = 0


class VptScorer:
    """Scores the decisions of one recording in their order; every one is case 1.

    Args:
        parameters: Of the metric; `alpha` says nothing here, because there is no budget.
        start: The pose before the first decision.
    """

    def __init__(self, parameters: Parameters, start: Pose) -> None:
        self.parameters = parameters
        self.tally = Tally()
        self.strict_tally = Tally()
        self._decisions = self._scored = self._acquired = 0
        self._run: set[str] = set()
        self._stretch = _Stretch()
        self._entered: set[_Block] = set()
        self._views: set[tuple[int, int, int, int, int]] = set()
        self._pose = start
        self._judge = Judge(parameters.k, node_of(start, parameters), parameters.patience)
        self._arrive(start)

    @property
    def ended(self) -> bool:
        """Never: a recording has no task that could be over."""
        return False

    def score(self, action: str, facts: VptFacts) -> ScoredDecision:
        """Classify the next decision."""
        if facts.resumed is not None:
            self._judge.interrupt(node_of(facts.resumed, self.parameters))
            self._run.clear()
            self._stretch = _Stretch()
            self._arrive(facts.resumed)
        self._decisions += 1
        self._take_in(facts)
        kind = preparation_kind(action)
        if kind is None:
            self._run.clear()
        elif kind not in self._run and {"slot": True, "jump": facts.rose, "place": facts.placed}[kind]:
            self._run.add(kind)
            return ScoredDecision.unscored(self._decisions, action, self._judge.stale)
        return self._judged(action, facts, is_preparation=kind is not None)

    def summary(self, outcome: Outcome | None = None, reason: str | None = None) -> EpisodeSummary:
        """Sum up the decisions so far; the outcome is always that it was recorded."""
        return EpisodeSummary(
            outcome=Outcome.RECORDED,
            reason=reason,
            readings={LENIENT: self.tally, STRICT: self.strict_tally},
            decisions=self._decisions,
            scored_decisions=self._scored,
            steps_taken=self._decisions,
            budget=None,
            details={"acquired": self._acquired, "target_count": None, "discoveries": []},
        )

    def _arrive(self, pose: Pose) -> None:
        self._pose = pose
        x, y, z = (math.floor(value + 1e-5) for value in pose.feet)
        self._entered.add(self._cell((x, y, z)))
        self._views.add(self._view(pose))

    def _cell(self, block: _Block) -> _Block:
        edge = self.parameters.position_cell_blocks
        return (block[0] // edge, block[1] // edge, block[2] // edge)

    def _view(self, pose: Pose) -> tuple[int, int, int, int, int]:
        x, y, z, yaw, pitch = node_of(pose, self.parameters)
        edge = self.parameters.area_blocks
        return (x // edge, y // edge, z // edge, yaw, pitch)

    def _take_in(self, facts: VptFacts) -> None:
        stretch = self._stretch
        for block in facts.stood:
            if (cell := self._cell(block)) not in self._entered:
                self._entered.add(cell)
                stretch.positions += 1
        if (view := self._view(facts.pose_after)) not in self._views:
            self._views.add(view)
            stretch.views += 1
        stretch.removed += facts.removed
        stretch.acquired += facts.acquired
        self._acquired += facts.acquired

    def _judged(self, action: str, facts: VptFacts, *, is_preparation: bool) -> ScoredDecision:
        stretch, before, after = self._stretch, self._pose, facts.pose_after
        node = node_of(after, self.parameters)
        explored: list[str] = []
        repositioned = False
        if not is_preparation:
            held = {"acquired": stretch.acquired, "position": stretch.positions, "view": stretch.views}
            explored = [name for name, number in held.items() if number]
            repositioned = (
                math.dist(before.feet, after.feet) >= self.parameters.moved_blocks - 1e-5
                or node_of(before, self.parameters)[3:] != node[3:]
                or stretch.removed > 0
            )
        reasons = (*explored, *(["repositioning"] if repositioned else []))
        verdict = self._judge.judge(
            Answers(
                case=Case.EXPLORE,
                gain=bool(reasons),
                progress=bool(explored),
                node=node,
                in_segment=node != self._judge.node,
            )
        )
        strict_gain = bool(explored)
        self._scored += 1
        self.tally.add(verdict.case, verdict.error)
        self.strict_tally.add(verdict.case, verdict.error_if(strict_gain))
        self._pose = after
        self._stretch = _Stretch()
        return ScoredDecision.of(self._decisions, action, verdict, reasons, node, strict_gain)
