"""The words that an agent is shown, and their inverse: what a reader can take from them.

A turn tells the own position, the node on this cell with its prerequisites and dependents, whether it is activated, and
the directions that lead somewhere. Nothing else: no map, no budget, no node that was not found except as a neighbour in
the DAG of one that was. Names stand in double quotes as in JSON, lists are in alphabetical order, so that neither
punctuation nor order can say more than the words.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from oresight.gridenv.model import DIRECTION_NAMES, Cell, GridMap, Node

_NAME = r'"(?:[^"\\]|\\.)*"'
_CELL = r"\[(-?\d+), (-?\d+)\]"
_NODE = (
    rf"(?P<name>{_NAME})(?P<goal>, the goal)?\. "
    rf"(?:It has no prerequisites|Its prerequisites: (?P<needs>(?:[^\".]|{_NAME})*))\. "
    rf"(?:Nothing depends on it|Depending on it: (?P<for>(?:[^\".]|{_NAME})*))\."
)
_TURN = re.compile(
    rf"^You are at {_CELL}\. (?:Nothing is here\.|Here is {_NODE} (?P<active>It [a-z ]*)\.) "
    r"(?:You cannot move|You can move: (?P<ways>[a-z, ]*))\.",
    re.MULTILINE,
)
_KNOWN_CELLS = re.compile(rf"^Cells: ((?:{_CELL}(?:, )?)+)\.$", re.MULTILINE)
_KNOWN_NODE = re.compile(rf"^At {_CELL}: {_NODE}$", re.MULTILINE)
_CELLS = re.compile(_CELL)
_NAMES = re.compile(_NAME)
_BRACKETS = re.compile(rf"\(((?:[^\"()]|{_NAME})*)\)")

_JUST_NOW = "It has just been activated"
_EARLIER = "It was activated earlier"
_NOT_YET = "It is not activated because its prerequisites are not met"


@dataclass(frozen=True)
class HeardNode:
    """A node as a text describes it.

    Attributes:
        name: Its name.
        cell: Where it lies.
        options: Its alternative sets of prerequisites.
        dependents: The nodes that name it as a prerequisite.
        goal: Whether it is the goal.
        activated: Whether it is activated by now; False where a text does not say.
    """

    name: str
    cell: Cell
    options: tuple[tuple[str, ...], ...]
    dependents: tuple[str, ...]
    goal: bool
    activated: bool


@dataclass(frozen=True)
class HeardTurn:
    """What a turn's text says."""

    cell: Cell
    ways: tuple[str, ...]
    node: HeardNode | None


@dataclass(frozen=True)
class HeardMap:
    """What the listing of the exploit-only setting says."""

    cells: frozenset[Cell]
    nodes: tuple[HeardNode, ...]


def turn_text(map_: GridMap, cell: Cell, *, activated: bool, just_now: bool, steps: int | None = None) -> str:
    """Return what the agent is shown on a cell.

    Args:
        map_: The map.
        cell: Where the agent stands.
        activated: Whether the node here, if any, is activated.
        just_now: Whether this arrival activated it.
        steps: How many moves were made so far, to be stated too, or None.
    """
    node = map_.node_at(cell)
    if node is None:
        here = "Nothing is here."
    else:
        state = _JUST_NOW if just_now else _EARLIER if activated else _NOT_YET
        here = f"Here is {_describe(map_, node)} {state}."
    ways = map_.admissible(cell)
    moves = f"You can move: {', '.join(ways)}." if ways else "You cannot move."
    text = f"You are at {_pair(cell)}. {here} {moves}"
    return text if steps is None else f"{text} Steps used so far: {steps}."


def briefing(map_: GridMap) -> str:
    """Return the listing of the exploit-only setting: all cells, and every node's place and prerequisites."""
    cells = ", ".join(_pair(cell) for cell in sorted(map_.cells))
    nodes = sorted(map_.nodes, key=lambda node: node.id)
    lines = [f"At {_pair(node.cell)}: {_describe(map_, node)}" for node in nodes]
    return "\n".join(
        ["You know the whole map from the start. Only these cells can be entered.", f"Cells: {cells}.", *lines]
    )


def outcome_text(direction: str, cell: Cell, *, moved: bool, achieved: str | None) -> str:
    """Return what a move did, as the agent would notice it."""
    if not moved:
        return f"There is no way {direction}; you are still at {_pair(cell)}."
    activated = f" and activated {_quoted(achieved)}" if achieved is not None else ""
    return f"You moved {direction} to {_pair(cell)}{activated}."


@lru_cache(maxsize=4096)
def read_turn(text: str) -> HeardTurn | None:
    """Return what the last turn in a text says, or None if the text holds no turn."""
    turns = list(_TURN.finditer(text))
    if not turns:
        return None
    found = turns[-1]
    cell = int(found[1]), int(found[2])
    node = None
    if found["name"] is not None:
        node = _read_node(found, cell, activated=found["active"] in (_JUST_NOW, _EARLIER))
    ways = tuple(word for word in (found["ways"] or "").split(", ") if word in DIRECTION_NAMES)
    return HeardTurn(cell, ways, node)


@lru_cache(maxsize=16)
def read_briefing(text: str) -> HeardMap | None:
    """Return what the listing of the exploit-only setting says, or None if the text has no listing."""
    listed = _KNOWN_CELLS.search(text)
    if listed is None:
        return None
    cells = frozenset((int(x), int(y)) for x, y in _CELLS.findall(listed[1]))
    nodes = tuple(
        _read_node(found, (int(found[1]), int(found[2])), activated=False) for found in _KNOWN_NODE.finditer(text)
    )
    return HeardMap(cells, nodes)


def _describe(map_: GridMap, node: Node) -> str:
    goal = ", the goal" if node.id == map_.goal else ""
    needs = f"Its prerequisites: {_needs(node)}" if node.options else "It has no prerequisites"
    children = map_.dependents[node.id]
    dependents = f"Depending on it: {_listed(children)}" if children else "Nothing depends on it"
    return f"{_quoted(node.id)}{goal}. {needs}. {dependents}."


def _needs(node: Node) -> str:
    # Equal options are one to the agent.
    options = sorted({tuple(sorted(set(option))) for option in node.options})
    return " OR ".join(f"({' AND '.join(_quoted(parent) for parent in option)})" for option in options)


def _read_node(found: "re.Match[str]", cell: Cell, *, activated: bool) -> HeardNode:
    return HeardNode(
        name=json.loads(found["name"]),
        cell=cell,
        options=tuple(_read_names(option) for option in _BRACKETS.findall(found["needs"] or "")),
        dependents=_read_names(found["for"] or ""),
        goal=found["goal"] is not None,
        activated=activated,
    )


def _read_names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(name) for name in _NAMES.findall(text))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _pair(cell: Cell) -> str:
    return f"[{cell[0]}, {cell[1]}]"
