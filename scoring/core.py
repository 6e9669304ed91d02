"""The core of the metric, the same for every world: the case, the stale score and whom an error is attributed to.

A world's adapter answers a few questions about each decision (`Answers`); a `Judge` turns them into a `Verdict`. The
core knows neither maps nor blocks: a node is anything hashable. Judging a decision costs a constant time, and a verdict
never depends on what comes later.

Source: "Exploration and Exploitation Errors Are Measurable for Language Model Agents", section 4 and its edge cases.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Case(IntEnum):
    """What is required of a decision, from the state before it."""

    EXPLORE = 1
    GOAL = 2
    EXPLOIT = 3
    EITHER = 4

    @property
    def explore_eligible(self) -> bool:
        """Whether exploring is asked for or allowed, so that an error counts as one of exploration."""
        return self in (Case.EXPLORE, Case.EITHER)

    @property
    def exploit_eligible(self) -> bool:
        """Whether exploiting is asked for or allowed, so that an error counts as one of exploitation."""
        return self is not Case.EXPLORE


class ErrorKind(StrEnum):
    """Whom an error is attributed to, as result files spell it."""

    EXPLORATION = "explore"
    EXPLOITATION = "exploit"
    BOTH = "both"


_ATTRIBUTION = {
    Case.EXPLORE: ErrorKind.EXPLORATION,
    Case.GOAL: ErrorKind.EXPLOITATION,
    Case.EXPLOIT: ErrorKind.EXPLOITATION,
    Case.EITHER: ErrorKind.BOTH,
}


class NothingLeftError(ValueError):
    """Nothing is pending and nothing is left to explore: no solvable world is ever in such a state."""


def case_of(*, frontier_left: bool, pending: bool, goal_pending: bool) -> Case:
    """Return the case of a decision.

    Args:
        frontier_left: Something is left to explore.
        pending: Something known can be achieved now, the goal included.
        goal_pending: The goal itself can be achieved now.

    Raises:
        NothingLeftError: Nothing is pending and nothing is left to explore.
    """
    if goal_pending:
        return Case.GOAL
    if pending:
        return Case.EITHER if frontier_left else Case.EXPLOIT
    if frontier_left:
        return Case.EXPLORE
    raise NothingLeftError("nothing is pending and nothing is left to explore, which cannot happen in a solvable world")


class StaleSegment:
    """The no-progress segment since the last progress, and its stale score.

    With E the undirected edges walked, V the nodes visited, m their counts (the starting visit included):
    stale = |E| - |V| + 1 + sum over E of max(m - k, 0) + sum over V of max(m - k, 0).
    Each visit changes the score only through its own edge and node, so it is kept up to date in constant time.

    Attributes:
        k: Forgiven traversals of an edge and visits of a node, at least 1.
        node: The node that the segment has reached.
        score: The stale score of the segment so far.
    """

    def __init__(self, k: int, start: Hashable) -> None:
        if k < 1:
            raise ValueError(f"k is {k}; it must be at least 1, or the starting visit alone would be stale")
        self.k = k
        self.restart(start)

    def restart(self, node: Hashable) -> None:
        """Begin a new segment at `node`, visited once, with a stale score of 0."""
        self.node = node
        self.score = 0
        self._visits: dict[Hashable, int] = {node: 1}
        self._traversals: dict[frozenset[Hashable], int] = {}

    def visit(self, node: Hashable) -> int:
        """Go to `node` (staying is a self-loop: an edge {v} and one more visit of v) and return the new score."""
        edge = frozenset((self.node, node))
        walked = self._traversals[edge] = self._traversals.get(edge, 0) + 1
        visited = self._visits[node] = self._visits.get(node, 0) + 1
        self.score += (walked == 1) - (visited == 1) + (walked > self.k) + (visited > self.k)
        self.node = node
        return self.score


@dataclass(frozen=True)
class Answers:
    """What a world's adapter says about one decision.

    Attributes:
        case: From the state before the decision, see `case_of`.
        gain: The decision was a gain.
        progress: The decision was progress, which is always a gain too.
        node: The node on which it ended.
        in_segment: Whether it adds a node to the segment. The grid says True always; the 3D world leaves out decisions
            that end on the node where they began.
    """

    case: Case
    gain: bool
    progress: bool
    node: Hashable
    in_segment: bool = True


@dataclass(frozen=True)
class Verdict:
    """What the core says about one decision.

    Attributes:
        case: As answered.
        gain: As answered.
        progress: As answered.
        stale: The stale score after the decision.
        stale_rose: Whether the decision made it rise.
        impatient: The decision came after the patience was used up (False where there is no patience).
        error: Whom the error is attributed to, or None.
    """

    case: Case
    gain: bool
    progress: bool
    stale: int
    stale_rose: bool
    impatient: bool
    error: ErrorKind | None

    def error_if(self, gain: bool) -> ErrorKind | None:
        """Return the error that the same decision would be under a reading that differs in what is a gain alone.

        The segment and the patience restart on progress only, so such a reading shares them.
        """
        return attribute(self.case, not self.progress and (not gain or self.stale_rose or self.impatient))


def attribute(case: Case, is_error: bool) -> ErrorKind | None:
    """Return whom an error of this case is attributed to, or None if it is none."""
    return _ATTRIBUTION[case] if is_error else None


class Judge:
    """Judges the scored decisions of one episode in their order.

    Args:
        k: Forgiven traversals and visits of the stale score.
        start: The node on which the episode starts.
        patience: Scored decisions that may pass without progress; from the next one on each is an error until there is
            progress. None: without limit.
    """

    def __init__(self, k: int, start: Hashable, patience: int | None = None) -> None:
        self._segment = StaleSegment(k, start)
        self._patience = patience
        self._since_progress = 0

    @property
    def stale(self) -> int:
        """The stale score now."""
        return self._segment.score

    @property
    def node(self) -> Hashable:
        """The node reached by the last scored decision, or the start."""
        return self._segment.node

    def interrupt(self, node: Hashable) -> None:
        """Go on at another node that no decision led to; begins a new segment, and is no progress."""
        self._segment.restart(node)

    def judge(self, answers: Answers) -> Verdict:
        """Classify one scored decision.

        Raises:
            ValueError: The adapter calls the decision progress but no gain.
        """
        if answers.progress:
            if not answers.gain:
                raise ValueError("a decision was called progress but no gain; progress is always a gain")
            self._segment.restart(answers.node)
            self._since_progress = 0
            return Verdict(answers.case, True, True, 0, False, False, None)
        before = self._segment.score
        stale = self._segment.visit(answers.node) if answers.in_segment else before
        self._since_progress += 1
        impatient = self._patience is not None and self._since_progress > self._patience
        error = attribute(answers.case, not answers.gain or stale > before or impatient)
        return Verdict(answers.case, answers.gain, False, stale, stale > before, impatient, error)
