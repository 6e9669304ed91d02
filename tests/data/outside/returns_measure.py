"""A measure that is none of ours: the share of decisions that led to a place where the agent had been."""

from oresight.scoring.decisions import Node, ScoredDecision
from oresight.scoring.measures import Measure


class Returns:
    """Counts the scored decisions of one episode that end on the node of an earlier one."""

    def __init__(self, kind: str) -> None:
        self.seen: set[Node] = set()
        self.returns = self.decisions = 0

    def take(self, before: str, action: str, after: str, scored: ScoredDecision) -> None:
        if scored.node is not None:
            self.returns += scored.node in self.seen
            self.decisions += 1
            self.seen.add(scored.node)

    def counts(self) -> tuple[int, int]:
        return self.returns, self.decisions


RETURNS = Measure(
    name="returns",
    title="returns",
    words="decisions that led to a place where the agent had been, over all scored decisions",
    follow=Returns,
    lower_is_better=True,
)
