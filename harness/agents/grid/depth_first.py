"""Explores depth first: on to a cell where it has not been, else back the way it came.

It activates what it passes but pursues no target; once it has been everywhere, it starts again.
"""

from collections.abc import Sequence

from oresight.gridenv.model import DIRECTIONS, Cell
from oresight.gridenv.text import HeardTurn
from oresight.harness.agents.baselines import NOTHING
from oresight.harness.agents.grid.messages import turns_told
from oresight.harness.agents.setup import AgentSetup
from oresight.harness.protocols import ActionSpace, Decision, Message


class DepthFirst:
    """Finds its own trail again in the turns it is shown, so it needs no other memory."""

    def __init__(self, setup: AgentSetup) -> None:
        pass

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace = NOTHING) -> Decision:
        """Take the next unvisited way, or go back the way it came."""
        trail = _Trail()
        turns = turns_told(messages)
        for turn in turns:
            trail.stand(turn)
        return Decision(trail.next_way(turns[-1]))


class _Trail:
    """The way from where it began to where it stands, and the cells where it has been."""

    def __init__(self) -> None:
        self._cells: list[Cell] = []
        self._been: set[Cell] = set()

    def stand(self, turn: HeardTurn) -> None:
        """Note the cell where the agent stands."""
        cell = turn.cell
        if cell in self._been and cell in self._cells:
            del self._cells[self._cells.index(cell) + 1 :]
        else:
            self._cells.append(cell)
        self._been.add(cell)
        if len(self._cells) == 1 and self._new_way(turn) is None:
            self._been = {cell}

    def next_way(self, turn: HeardTurn) -> str:
        """Return where to go from there."""
        new = self._new_way(turn)
        if new is not None:
            return new
        back = self._cells[-2] if len(self._cells) > 1 else None
        return next((way for way in turn.ways if _beside(turn.cell, way) == back), turn.ways[0])

    def _new_way(self, turn: HeardTurn) -> str | None:
        return next((way for way in turn.ways if _beside(turn.cell, way) not in self._been), None)


def _beside(cell: Cell, way: str) -> Cell:
    dx, dy = DIRECTIONS[way]
    return cell[0] + dx, cell[1] + dy
