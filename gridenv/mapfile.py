"""Maps as JSON: the "map" of an episode file, and files that hold one. Every fault is named by its field.

A map file is one episode without moves, ``{"kind": "grid", "visibility": ..., "map": {...}, "moves": []}``; the bare
object under "map" is read as well. Checking takes time in proportion to the file.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from oresight.gridenv.model import Cell, GridMap, Node, Visibility, achievable, reached

MAX_CELLS = 1_000_000
MAX_NAME = 200
_MAP_KEYS = ("cells", "start", "nodes", "goal")
_OPTIONAL_MAP_KEYS = ("name", "drawn")
_NODE_KEYS = ("id", "cell", "options")
_SHOWN = 80


class MapError(ValueError):
    """A map is malformed.

    Attributes:
        field: Which part of it, for example ``map.nodes[2].cell``.
        found: What stands there.
        expected: What should.
    """

    def __init__(self, field: str, found: str, expected: str) -> None:
        super().__init__(f"{field}: found {found}, expected {expected}")
        self.field = field
        self.found = found
        self.expected = expected


def parse_map(data: object, where: str = "map") -> GridMap:
    """Check a map that was read from JSON, and make it.

    Args:
        data: The decoded object.
        where: What to call it in messages.

    Raises:
        MapError: It is malformed; the first fault is named.
    """
    fields = _object(data, where, _MAP_KEYS, _OPTIONAL_MAP_KEYS)
    cells = _cells(fields["cells"], f"{where}.cells")
    start = _cell(fields["start"], f"{where}.start")
    if start not in cells:
        raise MapError(f"{where}.start", f"{_pair(start)}, which is not a cell of the map", f"one of {where}.cells")
    nodes = _nodes(fields["nodes"], f"{where}.nodes", cells)
    names = {node.id: number for number, node in enumerate(nodes)}
    goal = fields["goal"]
    if not isinstance(goal, str) or goal not in names:
        raise MapError(f"{where}.goal", _shown(goal), f"the id of one of {where}.nodes")
    name = fields.get("name", "")
    if not isinstance(name, str):
        raise MapError(f"{where}.name", _shown(name), "a string")
    drawn = fields.get("drawn")
    if drawn is not None and not isinstance(drawn, dict):
        raise MapError(f"{where}.drawn", _shown(drawn), "an object or null")
    made = GridMap(cells, start, nodes, goal, name, drawn)
    _check_prerequisites(made, names, f"{where}.nodes")
    connected = reached(made, start)
    for number, node in enumerate(nodes):
        if node.cell not in connected:
            found = f"{_pair(node.cell)}, which is not connected with the start {_pair(start)}"
            raise MapError(f"{where}.nodes[{number}].cell", found, "a cell that moves from the start can reach")
    return made


def map_to_json(map_: GridMap) -> dict[str, Any]:
    """Return a map as JSON-ready data; `parse_map` gives the same map back."""
    data: dict[str, Any] = {
        "cells": [list(cell) for cell in sorted(map_.cells)],
        "start": list(map_.start),
        "nodes": [
            {"id": node.id, "cell": list(node.cell), "options": [list(option) for option in node.options]}
            for node in map_.nodes
        ],
        "goal": map_.goal,
    }
    if map_.name:
        data["name"] = map_.name
    if map_.drawn is not None:
        data["drawn"] = map_.drawn
    return data


def episode_to_json(
    map_: GridMap, visibility: Visibility = "partial", moves: Iterable[str | None] = ()
) -> dict[str, Any]:
    """Return an entry of an episode file: a map with what was done on it."""
    return {"kind": "grid", "visibility": visibility, "map": map_to_json(map_), "moves": list(moves)}


def load_map(file: Path) -> GridMap:
    """Read a map file: an episode with its "map", or the bare map.

    Raises:
        MapError: It is malformed; the message names file and field.
        OSError: It cannot be read.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    # What is no JSON or no UTF-8, or a whole number of thousands of digits.
    except (ValueError, RecursionError) as fault:
        raise MapError(str(file), f"no JSON ({fault})", "a map as JSON") from fault
    if isinstance(data, dict) and "map" in data and "cells" not in data:
        return parse_map(data["map"], f"{file}: map")
    return parse_map(data, f"{file}: map")


def _object(data: object, where: str, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise MapError(where, _shown(data), f"an object with {', '.join(required)}")
    for key in required:
        if key not in data:
            raise MapError(f"{where}.{key}", "nothing", f"this field: {where} needs {', '.join(required)}")
    for key in data:
        if key not in required and key not in optional:
            raise MapError(f"{where}.{key}", "a field of this name", f"only {', '.join((*required, *optional))}")
    return data


def _list(data: object, where: str, of: str) -> list[Any]:
    if not isinstance(data, list):
        raise MapError(where, _shown(data), f"a list of {of}")
    return data


def _cell(data: object, where: str) -> Cell:
    # type() and not isinstance: true and false are not coordinates.
    if not isinstance(data, list) or len(data) != 2 or type(data[0]) is not int or type(data[1]) is not int:
        raise MapError(where, _shown(data), "two integers [x, y]")
    return data[0], data[1]


def _cells(data: object, where: str) -> frozenset[Cell]:
    listed = _list(data, where, "[x, y] cells")
    if not listed:
        raise MapError(where, "an empty list", "at least one cell")
    if len(listed) > MAX_CELLS:
        raise MapError(where, f"{len(listed):,} cells", f"at most {MAX_CELLS:,}")
    found: set[Cell] = set()
    for number, item in enumerate(listed):
        # As in _cell, which makes the message; here a name for each of a million cells would be most of the work.
        if type(item) is not list or len(item) != 2 or type(item[0]) is not int or type(item[1]) is not int:
            _cell(item, f"{where}[{number}]")
        cell = (item[0], item[1])
        if cell in found:
            first = listed.index(item)
            raise MapError(f"{where}[{number}]", f"{_pair(cell)} again, as in {where}[{first}]", "each cell once")
        found.add(cell)
    return frozenset(found)


def _nodes(data: object, where: str, cells: frozenset[Cell]) -> tuple[Node, ...]:
    listed = _list(data, where, "nodes")
    if not listed:
        raise MapError(where, "an empty list", "at least the goal")
    nodes: list[Node] = []
    by_name: dict[str, int] = {}
    by_cell: dict[Cell, int] = {}
    for number, item in enumerate(listed):
        here = f"{where}[{number}]"
        fields = _object(item, here, _NODE_KEYS)
        name = _name(fields["id"], f"{here}.id")
        if name in by_name:
            found = f"{_shown(name)} again, as in {where}[{by_name[name]}]"
            raise MapError(f"{here}.id", found, "each id once")
        cell = _cell(fields["cell"], f"{here}.cell")
        if cell not in cells:
            raise MapError(f"{here}.cell", f"{_pair(cell)}, which is not a cell of the map", "one of the map's cells")
        if cell in by_cell:
            found = f"{_pair(cell)}, where {where}[{by_cell[cell]}] lies already"
            raise MapError(f"{here}.cell", found, "a cell of its own for each node")
        by_name[name] = by_cell[cell] = number
        nodes.append(Node(name, cell, _options(fields["options"], f"{here}.options")))
    return tuple(nodes)


def _options(data: object, where: str) -> tuple[tuple[str, ...], ...]:
    options: list[tuple[str, ...]] = []
    for number, item in enumerate(_list(data, where, "options, each a list of node ids")):
        here = f"{where}[{number}]"
        parents = _list(item, here, "node ids")
        options.append(tuple(_name(parent, f"{here}[{place}]") for place, parent in enumerate(parents)))
    return tuple(options)


def _name(data: object, where: str) -> str:
    # Printable: no line breaks, which could pass for a line of the turn text, and no lone surrogates.
    if not isinstance(data, str) or not 1 <= len(data) <= MAX_NAME or not data.isprintable():
        raise MapError(where, _shown(data), f"a node's id, a string of 1 to {MAX_NAME} printable characters")
    return data


def _check_prerequisites(map_: GridMap, names: dict[str, int], where: str) -> None:
    """Check that parents exist and that there is no cycle; every node, and so the goal, can then be achieved."""
    waiting: dict[str, int] = {}
    for number, node in enumerate(map_.nodes):
        for option_number, option in enumerate(node.options):
            for place, parent in enumerate(option):
                if parent not in names:
                    field = f"{where}[{number}].options[{option_number}][{place}]"
                    raise MapError(field, f"{_shown(parent)}, which is not a node", "the id of a node of the map")
        waiting[node.id] = len(node.parents)
    ready = [name for name, count in waiting.items() if not count]
    while ready:
        name = ready.pop()
        del waiting[name]
        for child in map_.dependents[name]:
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    if waiting:
        cycle = _cycle(map_, waiting)
        arrows = " needs ".join(_shown(name) for name in (*cycle, cycle[0])) if len(cycle) <= 8 else "a longer one"
        found = f"a cycle ({arrows})"
        if map_.goal not in achievable(map_.nodes):
            found += f", so that no option can satisfy the goal {_shown(map_.goal)}"
        raise MapError(f"{where}[{names[cycle[0]]}].options", found, "no node to need itself")


def _cycle(map_: GridMap, waiting: dict[str, int]) -> list[str]:
    """Return the nodes of one cycle, by following parents: a node that waits for ever has such a parent."""
    place: dict[str, int] = {}
    path: list[str] = []
    name = next(iter(waiting))
    while name not in place:
        place[name] = len(path)
        path.append(name)
        name = min(parent for parent in map_.node(name).parents if parent in waiting)
    return path[place[name] :]


def _pair(cell: Cell) -> str:
    return f"[{_shown(cell[0])}, {_shown(cell[1])}]"


def _shown(data: object) -> str:
    """Return what was found, short enough for a message."""
    if isinstance(data, list | dict) and len(data) > 4:
        return f"{'a list' if isinstance(data, list) else 'an object'} of {len(data)}"
    try:
        text = json.dumps(data, ensure_ascii=False)
    except (TypeError, ValueError):
        # Not from JSON, or an integer of thousands of digits.
        text = type(data).__name__
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
