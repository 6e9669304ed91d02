"""Maps as files: what is written is read back, and every fault is named by its field."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from oresight.gridenv.generate import generate
from oresight.gridenv.mapfile import MAX_CELLS, MapError, episode_to_json, load_map, map_to_json, parse_map
from oresight.gridenv.model import GridMap
from support.grid_stage import maps

GOOD: dict[str, Any] = {
    "cells": [[0, 0], [1, 0], [2, 0], [9, 9]],
    "start": [0, 0],
    "nodes": [{"id": "A", "cell": [1, 0], "options": []}, {"id": "G", "cell": [2, 0], "options": [["A"]]}],
    "goal": "G",
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The good map with one field set; `...` leaves it out."""
    data = copy.deepcopy(GOOD)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inner: Any = data
    for part in parents:
        inner = inner[part]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return data


def test_the_good_map_is_good() -> None:
    assert parse_map(GOOD).budget() == 12


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        (None, "map", "an object"),
        ([], "map", "an object"),
        (changed("cells", ...), "map.cells", "found nothing"),
        (changed("cells", []), "map.cells", "empty list"),
        (changed("cells", {}), "map.cells", "a list"),
        (changed("cells.1", [1, 0.0]), "map.cells[1]", "two integers"),
        (changed("cells.1", [1]), "map.cells[1]", "two integers"),
        (changed("cells.1", [True, 0]), "map.cells[1]", "two integers"),
        (changed("cells.1", ["1", "0"]), "map.cells[1]", "two integers"),
        (changed("cells.1", [1, None]), "map.cells[1]", "two integers"),
        (changed("cells.3", [1, 0]), "map.cells[3]", "again, as in map.cells[1]"),
        (changed("start", [5, 5]), "map.start", "not a cell of the map"),
        (changed("start", [False, 0]), "map.start", "two integers"),
        (changed("nodes", []), "map.nodes", "at least the goal"),
        (changed("nodes", "A"), "map.nodes", "a list"),
        (changed("nodes.0", "A"), "map.nodes[0]", "an object"),
        (changed("nodes.1.cell", [2, 1]), "map.nodes[1].cell", "not a cell of the map"),
        (changed("nodes.1.cell", [1, 0]), "map.nodes[1].cell", "where map.nodes[0] lies already"),
        (changed("nodes.1.cell", [9, 9]), "map.nodes[1].cell", "not connected with the start"),
        (changed("nodes.1.cell", [2.0, 0]), "map.nodes[1].cell", "two integers"),
        (changed("nodes.0.id", "G"), "map.nodes[1].id", "again, as in map.nodes[0]"),
        (changed("nodes.0.id", ""), "map.nodes[0].id", "1 to 200"),
        (changed("nodes.0.id", 7), "map.nodes[0].id", "a string"),
        (changed("nodes.0.id", "a\nYou are at [0, 0]."), "map.nodes[0].id", "printable"),
        (changed("nodes.0.id", "\ud800"), "map.nodes[0].id", "printable"),
        (changed("nodes.1.options", ...), "map.nodes[1].options", "found nothing"),
        (changed("nodes.1.options", ["A"]), "map.nodes[1].options[0]", "a list of node ids"),
        (changed("nodes.1.options", [["A", "B"]]), "map.nodes[1].options[0][1]", "which is not a node"),
        (changed("nodes.1.options", [["G"]]), "map.nodes[1].options", 'a cycle ("G" needs "G")'),
        (changed("nodes.0.options", [["G"]]), "map.nodes[0].options", 'a cycle ("A" needs "G" needs "A")'),
        (changed("nodes.0.options", [["G"]]), "map.nodes[0].options", 'no option can satisfy the goal "G"'),
        (changed("nodes.0.option", []), "map.nodes[0].option", "only id, cell, options"),
        (changed("goal", "B"), "map.goal", "the id of one of map.nodes"),
        (changed("goal", ["G"]), "map.goal", "the id of one of map.nodes"),
        (changed("gaol", "G"), "map.gaol", "only cells, start, nodes, goal, name, drawn"),
        (changed("name", 1), "map.name", "a string"),
        (changed("drawn", []), "map.drawn", "an object or null"),
        (changed("cells", [[0, 0]] * (MAX_CELLS + 1)), "map.cells", "at most 1,000,000"),
    ],
)
def test_every_fault_is_named_by_its_field(data: Any, field: str, words: str) -> None:
    with pytest.raises(MapError) as caught:
        parse_map(data)
    assert caught.value.field == field
    assert words in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_long_cycle_is_found_without_recursion() -> None:
    count = 20_000
    nodes = [{"id": f"N{n}", "cell": [n, 0], "options": [[f"N{(n + 1) % count}"]]} for n in range(count)]
    data = {"cells": [[n, 0] for n in range(count)], "start": [0, 0], "nodes": nodes, "goal": "N0"}
    with pytest.raises(MapError, match="a longer one"):
        parse_map(data)


def test_nodes_that_the_goal_does_not_need_and_equal_options_are_allowed() -> None:
    data = changed("nodes.1.options", [["A"], ["A"]])
    data["nodes"].append({"id": "X", "cell": [0, 0], "options": [["G"]]})
    assert parse_map(data).node("G").options == (("A",), ("A",))


@given(maps())
def test_a_map_is_the_same_after_writing_and_reading(map_: GridMap) -> None:
    assert parse_map(json.loads(json.dumps(map_to_json(map_)))) == map_


def test_a_generated_map_keeps_name_and_draws_in_a_file(tmp_path: Path) -> None:
    made = generate("medium", "medium", 5)
    (tmp_path / "map.json").write_text(json.dumps(episode_to_json(made)), "utf-8")
    read = load_map(tmp_path / "map.json")
    assert read == made
    assert (read.name, read.drawn) == (made.name, made.drawn)


def test_a_map_file_is_an_episode_without_moves_and_a_bare_map_is_read_too(tmp_path: Path) -> None:
    made = parse_map(GOOD)
    written = episode_to_json(made, "full")
    (tmp_path / "map.json").write_text(json.dumps(written), "utf-8")
    assert written == {"kind": "grid", "visibility": "full", "map": map_to_json(made), "moves": []}
    assert episode_to_json(made, moves=["up", None])["moves"] == ["up", None]
    (tmp_path / "bare.json").write_text(json.dumps(GOOD), "utf-8")
    assert load_map(tmp_path / "bare.json") == made


@pytest.mark.parametrize(
    "text", ['{"cells": [[0,', "", "[" * 100_000, "9" * 5000], ids=["torn", "empty", "deep", "digits"]
)
def test_a_file_that_is_no_json_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "broken.json").write_text(text, "utf-8")
    with pytest.raises(MapError, match=r"broken\.json.*no JSON"):
        load_map(tmp_path / "broken.json")


def test_the_message_names_file_and_field(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps({"map": changed("start", [7, 7])}), "utf-8")
    with pytest.raises(MapError, match=r"bad\.json: map\.start"):
        load_map(tmp_path / "bad.json")


@pytest.mark.slow
def test_a_map_of_a_million_cells_is_read() -> None:
    side = 1000
    data = changed("cells", [[n % side, n // side] for n in range(side * side)])
    assert parse_map(data).budget() == 3 * MAX_CELLS
