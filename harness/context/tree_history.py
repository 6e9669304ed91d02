"""The history as a tree of actions with a pointer, without or with notes, and the current observation.

After "Clearing the Fog: Towards Installing and Refining Proactive Exploration Capabilities in LLM Agents" (SaFaRi),
section 4.1 and appendix A: every action becomes a child of the node that the pointer is on, or of another one that the
reply names as its parent, and the pointer moves to it. A reply may as well move the pointer to a node that there is;
then its action, which is carried out like any other, makes no node. The tree is the model's own account: nothing in it
moves the world.

The tree is rebuilt from the recorded replies each time, so that the same history gives the same tree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oresight import assets
from oresight.harness.context.assembly import observation_parts, system_message, with_record
from oresight.harness.context.notes import Note, notes_schema, remark_lines, take_notes
from oresight.harness.context.reply_fields import fields_of, shown, whole_number
from oresight.harness.protocols import (
    DEFAULT_BUDGET,
    AnswerForm,
    ContextBudget,
    Message,
    Observation,
    Turn,
    text_tokens,
)

ROOT = 0
# Deeper branches are drawn no further to the right; each line names its parent anyway.
_DEEPEST_INDENT = 8
_NUMBER_OR_NULL = {"type": ["integer", "null"]}


@dataclass(frozen=True)
class Node:
    """One action in the tree; its id is the number of its decision."""

    id: int
    action: str
    parent: int


@dataclass
class ActionTree:
    """The tree after some replies.

    Attributes:
        nodes: By id, oldest first; without the root.
        position: The node that the pointer is on.
        notes: By node.
        remarks: On what was ignored in the last reply.
    """

    nodes: dict[int, Node] = field(default_factory=dict)
    position: int = ROOT
    notes: dict[int, Note] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def build_tree(history: Sequence[Turn], with_notes: bool) -> ActionTree:
    """Return the tree that the replies of a history make."""
    tree = ActionTree()
    ids = {ROOT}
    for turn in history:
        fields = fields_of(turn)
        seen_on = tree.position
        tree.remarks = _place(tree, ids, turn, fields)
        if with_notes:
            # A note without a place is on the node whose result the model was looking at.
            tree.remarks += take_notes(fields, "node", ids, seen_on, tree.notes)
    return tree


def _place(tree: ActionTree, ids: set[int], turn: Turn, fields: Mapping[str, Any]) -> list[str]:
    """Add an action to the tree, or only move the pointer; return remarks on what was ignored."""
    parent, position = fields.get("parent"), fields.get("position")
    remarks = []
    if parent is not None and position is not None:
        position = None
        remarks.append('"position" was ignored, because "parent" was given too; give one of them.')
    if position is not None:
        to = whole_number(position)
        if to is not None and to in ids:
            tree.position = to
            return remarks
        remarks.append(f'"position" was ignored: there is no node {shown(position)}.')
    elif parent is not None:
        to = whole_number(parent)
        if to is not None and to in ids:
            tree.position = to
        else:
            remarks.append(f'"parent" was ignored: there is no node {shown(parent)}.')
    tree.nodes[turn.step] = Node(turn.step, turn.decision.action, tree.position)
    ids.add(turn.step)
    tree.position = turn.step
    return remarks


class TreeHistory:
    """`tree`, and `tree+notes`."""

    past_pictures = 0

    def __init__(self, instructions: str, with_notes: bool) -> None:
        name = "tree_notes" if with_notes else "tree"
        sentence = assets.path("prompts", "memory", f"{name}.txt").read_text("utf-8").strip()
        properties: dict[str, Any] = {"parent": _NUMBER_OR_NULL, "position": _NUMBER_OR_NULL}
        if with_notes:
            properties["notes"] = notes_schema("node")
        self.answer = AnswerForm(properties, sentence)
        self._with_notes = with_notes
        self._system = system_message(instructions, sentence)

    def messages(
        self, history: Sequence[Turn], current: Observation, budget: ContextBudget = DEFAULT_BUDGET
    ) -> list[Message]:
        """Return the instructions, and one message with the tree of past turns and the current observation."""
        tree = build_tree(history, self._with_notes)
        foot = [f"Current position: node {tree.position}. Actions so far: {len(history)}.", *remark_lines(tree.remarks)]
        return with_record(
            self._system, lambda room: draw_tree(tree, room), foot, observation_parts(history, current), budget
        )


def draw_tree(tree: ActionTree, room_tokens: int) -> list[str]:
    """Draw the tree as lines, branch by branch; where not all fit, without the oldest nodes.

    The root and the node with the pointer are left out last. A node whose parent is left out stands under the nearest
    ancestor that is shown, and names its parent all the same. Nothing where not even these two fit.
    """
    head = "Your actions so far as a tree:"
    left_out = "({} older nodes are left out)"
    words = {node.id: _words(node, tree.notes.get(node.id)) for node in tree.nodes.values()}
    root = f"0: START{_after(tree.notes.get(ROOT))}"
    # Each line is priced as if it stood furthest to the right.
    prices = {id_: text_tokens(f"{'  ' * _DEEPEST_INDENT}{line}\n") for id_, line in words.items()}
    room = room_tokens - text_tokens(f"{head}\n{root}\n{left_out.format(len(words))}\n")
    room -= prices.get(tree.position, 0)
    if room < 0:
        return []
    kept = {ROOT, tree.position}
    for id_ in reversed(words):
        if id_ in kept:
            continue
        room -= prices[id_]
        if room < 0:
            break
        kept.add(id_)
    children = _children(tree, kept)
    lines = [head, root]
    missing = len(words) + 1 - len(kept)
    if missing:
        lines.append(left_out.format(missing))
    # Depth first, without recursion: a branch may be as long as the episode. An only child stays at its parent's depth.
    stack = [(ROOT, 0)]
    while stack:
        id_, depth = stack.pop()
        if id_ != ROOT:
            lines.append(f"{'  ' * min(depth, _DEEPEST_INDENT)}{words[id_]}")
        below = children.get(id_, [])
        stack += [(child, depth + (len(below) > 1)) for child in reversed(below)]
    return lines


def _children(tree: ActionTree, kept: set[int]) -> dict[int, list[int]]:
    """Return the shown nodes under the nearest shown ancestor of each."""
    nearest = {ROOT: ROOT}
    children: dict[int, list[int]] = {}
    for node in tree.nodes.values():
        # A parent is older than its child, so its own entry is there already.
        above = nearest[node.parent]
        if node.id in kept:
            children.setdefault(above, []).append(node.id)
            nearest[node.id] = node.id
        else:
            nearest[node.id] = above
    return children


def _words(node: Node, note: Note | None) -> str:
    return f"{node.id} (after {node.parent}): {node.action}{_after(note)}"


def _after(note: Note | None) -> str:
    return f" {note}" if note else ""
