"""The summary of the grid world: cells, obstacles and tasks, from the very texts that the agent was shown.

Nothing is worked out for the model: whether a task can be activated now is for it to see from the prerequisites.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property

from typing_extensions import override

from oresight import assets
from oresight.gridenv.model import DIRECTIONS, Cell
from oresight.gridenv.text import HeardNode, HeardTurn, read_briefing, read_turn
from oresight.harness.context.assembly import lines_tokens, list_lines, newest
from oresight.harness.context.structured import Digest, Summary
from oresight.harness.protocols import AnswerForm, Observation, Turn, text_tokens


class GridDigest(Digest):
    """The digest of the grid."""

    @cached_property
    def answer(self) -> AnswerForm:
        """No further field."""
        return AnswerForm({}, assets.path("prompts", "memory", "structured_grid.txt").read_text("utf-8").strip())

    @override
    def summarise(self, instructions: str, history: Sequence[Turn], current: Observation) -> Summary:
        heard = _Heard(instructions, [*(turn.observation.text for turn in history), current.text])
        return Summary(heard.lines)


class _Heard:
    """What the texts say; every collection is in the order of first mention."""

    def __init__(self, instructions: str, texts: Iterable[str]) -> None:
        self.observed: dict[Cell, None] = {}
        self.obstacles: dict[Cell, None] = {}
        self.nodes: dict[str, HeardNode] = {}
        self.activated: set[str] = set()
        self._enterable: dict[Cell, None] = {}
        known = read_briefing(instructions)
        self._all_known = known is not None
        if known is not None:
            self.nodes.update((node.name, node) for node in known.nodes)
        for text in texts:
            turn = read_turn(text)
            if turn is not None:
                self._hear(turn)

    def lines(self, room_tokens: int) -> list[str]:
        """Return the lines of the summary that fit into a number of tokens."""
        # What can still be done comes first; what was in the way is worth least.
        open_tasks = [_task(node) for name, node in self.nodes.items() if name not in self.activated]
        done = [_task(node) for name, node in self.nodes.items() if name in self.activated]
        found = _take("Tasks found but not activated:", "none", open_tasks, room_tokens)
        room_tokens -= lines_tokens(found)
        activated = _take("Tasks activated:", "none", done, room_tokens)
        room_tokens -= lines_tokens(activated)
        if self._all_known:
            return [*_cells("Cells where you have been", self.observed, room_tokens), *activated, *found]
        unobserved = _cells("Known cells where you have not been", self.unobserved, room_tokens)
        room_tokens -= lines_tokens(unobserved)
        observed = _cells("Cells where you have been", self.observed, room_tokens)
        room_tokens -= lines_tokens(observed)
        obstacles = _cells("Obstacles", self.obstacles, room_tokens)
        return [*observed, *unobserved, *obstacles, *activated, *found]

    @property
    def unobserved(self) -> dict[Cell, None]:
        """The cells that can be entered but were not stood on."""
        return {cell: None for cell in self._enterable if cell not in self.observed}

    def _hear(self, turn: HeardTurn) -> None:
        if turn.cell not in self.observed:
            self.observed[turn.cell] = None
            for direction, (dx, dy) in DIRECTIONS.items():
                beside = self._enterable if direction in turn.ways else self.obstacles
                beside[turn.cell[0] + dx, turn.cell[1] + dy] = None
        if turn.node is not None:
            self.nodes[turn.node.name] = turn.node
            if turn.node.activated:
                self.activated.add(turn.node.name)


def _cells(head: str, cells: Iterable[Cell], room_tokens: int) -> list[str]:
    """Return one line with the cells in reading order; where not all fit, the oldest are left out."""
    pairs = {f"[{x}, {y}]": (x, y) for x, y in cells}
    room_tokens -= text_tokens(f"{head} ({len(pairs)}, the latest): \n")
    kept = newest(list(pairs), room_tokens)
    if room_tokens < 0 or (pairs and not kept):
        return []
    told = ", ".join(sorted(kept, key=lambda pair: pairs[pair])) or "none"
    return [f"{head} ({len(pairs)}, the latest): {told}" if len(kept) < len(pairs) else f"{head}: {told}"]


def _take(head: str, nothing: str, lines: Sequence[str], room_tokens: int) -> list[str]:
    if lines:
        return list_lines(head, lines, room_tokens)
    return newest([f"{head} {nothing}"], room_tokens)


def _task(node: HeardNode) -> str:
    goal = ", the goal" if node.goal else ""
    options = " OR ".join(f"({' AND '.join(_quoted(name) for name in option)})" for option in node.options)
    dependents = f"; depending on it: {', '.join(_quoted(name) for name in node.dependents)}" if node.dependents else ""
    at = f"[{node.cell[0]}, {node.cell[1]}]"
    return f"- {_quoted(node.name)} at {at}{goal}; prerequisites: {options or 'none'}{dependents}"


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
