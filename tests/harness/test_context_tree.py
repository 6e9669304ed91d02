"""The tree of actions: where a reply puts its action, what moves the pointer, and how it is drawn."""

from collections.abc import Mapping
from typing import Any

import pytest

from oresight.harness.context import make_strategy
from oresight.harness.context.tree_history import build_tree
from oresight.harness.protocols import ContextBudget, Turn
from support.context_stage import craft_turns, said
from support.fake_world import Seen

ROOMY = ContextBudget()


def play(*replies: Mapping[str, Any]) -> tuple[list[Turn], Seen]:
    """Turns with the action `wait`, each with these further fields."""
    return craft_turns([("wait", said("wait", **fields), "waited") for fields in replies])


def shown(turns: list[Turn], current: Seen, name: str = "tree", budget: ContextBudget = ROOMY) -> list[str]:
    messages = make_strategy(name, "Rules.").messages(turns, current, budget)
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].text.endswith(current.text)
    assert [image.step for image in messages[1].images] == [current.step]
    return messages[1].text.removesuffix(current.text).splitlines()


def parents(turns: list[Turn]) -> dict[int, int]:
    return {node.id: node.parent for node in build_tree(turns, with_notes=False).nodes.values()}


def test_the_start() -> None:
    assert shown(*play()) == [
        "Your actions so far as a tree:",
        "0: START",
        "Current position: node 0. Actions so far: 0.",
        "",
    ]


def test_actions_follow_one_another_unless_told_otherwise() -> None:
    turns, current = craft_turns([("jump", said("jump"), "jumped"), ("mine", "no JSON at all", "nothing broke")])
    assert shown(turns, current)[1:4] == [
        "0: START",
        "1 (after 0): jump",
        "2 (after 1): mine",
    ]


def test_a_parent_begins_another_branch_and_takes_the_pointer_with_it() -> None:
    turns, current = play({}, {}, {}, {"parent": 1}, {}, {"parent": "0"}, {"parent": None})
    assert parents(turns) == {1: 0, 2: 1, 3: 2, 4: 1, 5: 4, 6: 0, 7: 6}
    assert shown(turns, current)[1:9] == [
        "0: START",
        "  1 (after 0): wait",
        "    2 (after 1): wait",
        "    3 (after 2): wait",
        "    4 (after 1): wait",
        "    5 (after 4): wait",
        "  6 (after 0): wait",
        "  7 (after 6): wait",
    ]


def test_a_moved_pointer_leaves_its_action_without_a_node() -> None:
    turns, current = play({}, {}, {"position": 1}, {}, {"position": 0})
    assert parents(turns) == {1: 0, 2: 1, 4: 1}
    assert shown(turns, current)[-2:] == ["Current position: node 0. Actions so far: 5.", ""]
    assert shown(*play({}, {"position": 0}, {}))[-4:-2] == ["  1 (after 0): wait", "  3 (after 0): wait"]


@pytest.mark.parametrize(
    "fields, remark",
    [
        ({"parent": 3}, '"parent" was ignored: there is no node 3.'),
        ({"parent": 2}, '"parent" was ignored: there is no node 2.'),
        ({"parent": -1}, '"parent" was ignored: there is no node -1.'),
        ({"parent": [0]}, '"parent" was ignored: there is no node [0].'),
        ({"parent": True}, '"parent" was ignored: there is no node true.'),
        ({"parent": 0.5}, '"parent" was ignored: there is no node 0.5.'),
        ({"position": "START"}, '"position" was ignored: there is no node "START".'),
        ({"position": 10**400}, '"position" was ignored: there is no node 1000'),
    ],
)
def test_a_node_that_there_is_not_is_ignored_with_a_remark(fields: dict[str, object], remark: str) -> None:
    turns, current = play({}, fields)
    assert parents(turns) == {1: 0, 2: 1}
    lines = shown(turns, current)
    assert lines[-3] == "Current position: node 2. Actions so far: 2."
    assert lines[-2].startswith(f"About your last answer: {remark}")
    turns, current = play({}, fields, {})
    assert not any(line.startswith("About") for line in shown(turns, current))


def test_a_parent_goes_before_a_position() -> None:
    turns, current = play({}, {}, {"parent": 0, "position": 1})
    assert parents(turns)[3] == 0
    assert shown(turns, current)[-2] == (
        'About your last answer: "position" was ignored, because "parent" was given too; give one of them.'
    )


def test_notes_stand_on_nodes_and_the_plain_tree_has_none() -> None:
    notes = [{"node": 1, "tag": "DEAD END", "text": "a wall"}, {"node": 2, "tag": None, "text": "to the left"}]
    turns, current = play({}, {"parent": 0, "notes": notes})
    assert shown(turns, current, "tree+notes")[1:4] == [
        "0: START",
        '  1 (after 0): wait [DEAD END] "a wall"',
        '  2 (after 0): wait "to the left"',
    ]
    assert shown(turns, current)[2:4] == ["  1 (after 0): wait", "  2 (after 0): wait"]


def test_a_note_on_an_action_that_made_no_node_is_ignored_with_a_remark() -> None:
    turns, current = play({}, {"position": 0, "notes": [{"node": 2, "text": "x"}]})
    assert shown(turns, current, "tree+notes")[-2] == "About your last answer: a note was ignored: there is no node 2."


def test_many_remarks_are_cut_short() -> None:
    turns, current = play({"notes": [{"node": 99, "text": "x"}] * 500})
    remarks = [line for line in shown(turns, current, "tree+notes") if line.startswith("About")]
    assert len(remarks) == 6
    assert remarks[-1] == "About your last answer: 495 more things in it were ignored."


def test_where_not_all_fits_the_oldest_nodes_go_but_never_the_pointers() -> None:
    # A long branch after node 1, then the pointer goes back to node 3.
    turns, current = play(*[{}] * 400, {"position": 3})
    lines = shown(turns, current, budget=ContextBudget(1700))
    assert lines[:4] == [
        "Your actions so far as a tree:",
        "0: START",
        f"({400 - (len(lines) - 5)} older nodes are left out)",
        "3 (after 2): wait",
    ]
    assert lines[-3] == "400 (after 399): wait"
    ids = [int(line.split(" ")[0]) for line in lines[4:-2]]
    assert ids == list(range(ids[0], 401))
    assert lines[-2] == "Current position: node 3. Actions so far: 401."


def test_a_parent_that_is_left_out_can_still_be_named() -> None:
    turns, current = play(*[{}] * 400, {"parent": 1})
    lines = shown(turns, current, budget=ContextBudget(1200))
    assert "401 (after 1): wait" in [line.strip() for line in lines]
    assert not any(line.startswith("1 ") for line in lines)


def test_an_episode_long_branch_and_a_thousand_branches_are_drawn_without_trouble() -> None:
    for fields in ({}, {"parent": 0}):
        turns, current = play(*[fields] * 1000)
        assert len(shown(turns, current)) == 1004
    # Each node has two children at once: the deepest stands no further right than eight levels.
    turns, current = play(*[{"parent": n // 2} for n in range(1000)])
    assert max(len(line) - len(line.lstrip()) for line in shown(turns, current)) == 16
