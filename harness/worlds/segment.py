"""The stale score taken apart: cycles, edges and nodes, and the segment that it is counted over.

The scorer keeps the sum alone; a reader wants to see which part grew. Worked out again from the nodes on which
decisions ended, with the definition of `scoring.core.StaleSegment`.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from oresight.scoring.decisions import ScoredDecision


@dataclass(frozen=True)
class Parts:
    """The stale score and what it is made of.

    Attributes:
        cycles: Edges less nodes, plus one.
        edges: Traversals of edges beyond k.
        nodes: Visits of nodes beyond k.
        since: The decision with which the segment began; 0 for the start.
        moves: Decisions that added a node to the segment.
    """

    cycles: int
    edges: int
    nodes: int
    since: int
    moves: int

    @property
    def stale(self) -> int:
        """The score."""
        return self.cycles + self.edges + self.nodes


class Segment:
    """Follows the no-progress segment of an episode.

    Args:
        k: Forgiven traversals and visits.
        start: The node on which the episode starts.
        leaves_out_staying: Whether a decision that ends on the node where it began adds nothing, as in the 3D world.
    """

    def __init__(self, k: int, start: Hashable, *, leaves_out_staying: bool) -> None:
        self._k = k
        self._leaves_out_staying = leaves_out_staying
        self._node = start
        self._since = self._edges = self._nodes = self._moves = 0
        self._visits: dict[Hashable, int] = {start: 1}
        self._traversals: dict[frozenset[Hashable], int] = {}

    def take(self, scored: ScoredDecision) -> Parts:
        """Take in the next decision and return the parts after it."""
        node = scored.node
        if node is None:
            return self.parts()
        if scored.progress:
            self._begin(node, scored.step)
        elif node != self._node or not self._leaves_out_staying:
            edge = frozenset((self._node, node))
            self._traversals[edge] = self._traversals.get(edge, 0) + 1
            self._visits[node] = self._visits.get(node, 0) + 1
            self._edges += self._traversals[edge] > self._k
            self._nodes += self._visits[node] > self._k
            self._node = node
            self._moves += 1
        return self.parts()

    def parts(self) -> Parts:
        """Return the parts now."""
        cycles = len(self._traversals) - len(self._visits) + 1
        return Parts(cycles, self._edges, self._nodes, self._since, self._moves)

    def _begin(self, node: Hashable, step: int) -> None:
        self._node = node
        self._since = step
        self._visits = {node: 1}
        self._traversals = {}
        self._edges = self._nodes = self._moves = 0
