"""The proof that a map can be solved: by full knowledge, and by an explorer that reads nothing but the text."""

from dataclasses import dataclass

from oresight.gridenv.frontier import Knowledge
from oresight.gridenv.model import ALPHA, Exploration, GridMap
from oresight.gridenv.solver import UnsolvableError, solve, verify
from oresight.gridenv.text import turn_text


@dataclass(frozen=True)
class Proof:
    """What it took to achieve the goal.

    Attributes:
        solution: Moves of the shortest known solution.
        shortest: Whether that is proved to be the shortest there is.
        explorer: Moves of the frontier explorer.
    """

    solution: int
    shortest: bool
    explorer: int


def explore(map_: GridMap, limit: int) -> int | None:
    """Let the frontier explorer play a map from its texts.

    Returns:
        How many moves it took, or None if the goal was not achieved within the limit.
    """
    walk = Exploration(map_)
    knowledge = Knowledge()
    arrival = walk.start
    for moves in range(limit + 1):
        if walk.success:
            return moves
        activated = arrival.node is not None and arrival.node.id in walk.achieved
        knowledge.hear(turn_text(map_, arrival.cell, activated=activated, just_now=arrival.achieved))
        choices = knowledge.choices()
        if not choices:
            return None
        arrival = walk.move(choices[0])
    return None


def prove(map_: GridMap, alpha: float = ALPHA) -> Proof | None:
    """Prove that a map can be solved within its budget, both ways; None if it cannot."""
    budget = map_.budget(alpha)
    try:
        solution = solve(map_)
    except UnsolvableError:
        return None
    if len(solution.moves) > budget or not verify(map_, solution.moves):
        return None
    explorer = explore(map_, budget)
    if explorer is None:
        return None
    # On a map too large for the exact search the explorer may have found the shorter way.
    return Proof(min(len(solution.moves), explorer), solution.shortest, explorer)
