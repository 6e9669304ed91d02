"""What holds for every strategy: a bound whatever the length, purity, the current observation last, and no leak."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oresight.harness.context import STRATEGIES
from oresight.harness.context.assembly import message_tokens, picture_count
from oresight.harness.context.reply_fields import fields_of
from oresight.harness.context.screenshots import Screenshots
from oresight.harness.protocols import (
    BYTES_PER_TOKEN,
    PICTURE_TOKENS,
    AnswerForm,
    Choice,
    ContextBudget,
    Decision,
    Message,
    TextPart,
    Turn,
)
from support.context_stage import ACTIONS, OUTCOMES, craft_turns, grid_walk, long_craft, plain, said, seen, strategies

TIGHT = ContextBudget(3000, 3)
DEFAULT = ContextBudget()


def check_bound(messages: Sequence[Message], budget: ContextBudget) -> None:
    texts = [part.text for message in messages for part in message.parts if isinstance(part, TextPart)]
    pictures = picture_count(messages)
    assert sum(len(text) for text in texts) / BYTES_PER_TOKEN + PICTURE_TOKENS * pictures <= budget.max_tokens
    assert message_tokens(messages) <= budget.max_tokens
    assert pictures <= budget.max_pictures


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("budget", [TIGHT, DEFAULT], ids=["tight", "default"])
def test_a_thousand_decisions_stay_within_the_bound(name: str, budget: ContextBudget) -> None:
    turns, _ = long_craft(1000)
    strategy = strategies()[name]
    for length in (0, 1, 2, 3, 10, 50, 200, 999, 1000):
        last = turns[length - 1] if length else None
        current = seen(length + 1, last.decision.action if last else None, last.outcome if last else "")
        messages = strategy.messages(turns[:length], current, budget)
        check_bound(messages, budget)
        assert messages[0].role == "system" and messages[0].text.startswith("Rules.")
        assert messages[-1].role == "user" and messages[-1].text.endswith(current.text)
        assert messages[-1].images[-1].pixels is current.image
        assert messages[-1].parts[-1] is messages[-1].images[-1]


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_long_walk_in_the_grid_stays_within_the_bound(name: str) -> None:
    turns, current, _ = grid_walk("low-large-0", 1000, "Let me think about this for a while. " * 5 + '{"action":"up"}')
    again = [replace(turn, step=n) for n, turn in enumerate(turns * 8, 1)][:1000]
    budget = ContextBudget(1500, 1)
    for length in (0, 1, 30, 300, len(again)):
        messages = strategies("grid")[name].messages(again[:length], current, budget)
        check_bound(messages, budget)
        assert messages[-1].text.endswith(current.text)


@pytest.mark.parametrize("kind", ["craft", "grid"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_history_gives_the_same_messages_whatever_was_asked_before(name: str, kind: str) -> None:
    if kind == "craft":
        turns, current = long_craft(40)
    else:
        turns, current, _ = grid_walk("medium-medium-0", 40)
    used = strategies(kind)[name]
    for length in range(len(turns)):
        used.messages(turns[:length], turns[length].observation, TIGHT)
    once = used.messages(tuple(turns), current, DEFAULT)
    assert plain(once) == plain(strategies(kind)[name].messages(turns, current, DEFAULT))
    assert plain(once) == plain(used.messages(turns, current, DEFAULT))


@pytest.mark.parametrize("pictures", [0, 1, 8, 99])
def test_a_memory_of_pictures_holds_the_newest_each_under_its_true_step(pictures: int) -> None:
    turns, current = long_craft(120)
    messages = Screenshots("Rules.", pictures).messages(turns, current)
    shown = messages[-1].images
    assert picture_count(messages) == len(shown) == pictures + 1
    assert [image.step for image in shown] == list(range(121 - pictures, 122))
    for image in shown[:-1]:
        led = turns[image.step - 2]
        assert image.pixels is turns[image.step - 1].observation.image
        assert (image.action, image.outcome) == (led.decision.action, led.outcome)
    captions = [part.text for part in messages[-1].parts[:-2] if isinstance(part, TextPart)]
    assert captions == [f"Earlier picture, step {i.step}, after {i.action}: {i.outcome}" for i in shown[:-1]]


def test_where_pictures_do_not_all_fit_the_oldest_go() -> None:
    turns, current = long_craft(50)
    for budget in (ContextBudget(100_000, 4), ContextBudget(4 * PICTURE_TOKENS + 300, 100)):
        shown = Screenshots("Rules.", 8).messages(turns, current, budget)[-1].images
        assert [image.step for image in shown] == [48, 49, 50, 51]


def test_turns_whose_pictures_were_let_go_are_shown_without() -> None:
    turns, current = long_craft(5)
    bare = [replace(turn, observation=seen(turn.step, picture=False)) for turn in turns]
    assert [image.step for image in Screenshots("R.", 8).messages(bare, current)[-1].images] == [6]


@pytest.mark.parametrize("name", STRATEGIES)
def test_nothing_is_shown_but_what_was_told_and_said(name: str) -> None:
    turns, current, environment = grid_walk("low-large-2", 12)
    messages = strategies("grid", "Rules.")[name].messages(turns, current)
    told = "\n".join([*(turn.observation.text for turn in turns), current.text])
    shown = "\n".join(message.text for message in messages if message.role == "user")
    names = {node.id for node in environment.walk.map.nodes}
    hidden = {node for node in names if f'"{node}"' not in told}
    assert hidden and not [node for node in hidden if node in shown]
    places = set(re.findall(r"\[-?\d+, -?\d+\]", shown))
    been = [json.loads(place) for place in re.findall(r"You are at (\S+ \S+)\.", told)]
    assert places <= {str([x + dx, y + dy]) for x, y in been for dx, dy in ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))}


@pytest.mark.parametrize("kind", ["craft", "grid"])
def test_answer_forms_are_strict_schemas_and_every_field_is_explained(kind: str) -> None:
    fields = {name: set(strategy.answer.properties) for name, strategy in strategies(kind).items()}
    assert fields == {
        "raw": set(),
        "window": set(),
        "screenshots": set(),
        "structured": {"ores", "gone"} if kind == "craft" else set(),
        "list": set(),
        "list+notes": {"notes"},
        "tree": {"parent", "position"},
        "tree+notes": {"parent", "position", "notes"},
    }
    for strategy in strategies(kind).values():
        form: AnswerForm = strategy.answer
        schema = form.schema(Choice(["up", "down"]))
        assert schema["properties"]["action"] == {"type": "string", "enum": ["up", "down"]}
        assert schema["required"] == ["action", *form.properties] and schema["additionalProperties"] is False
        assert all(f'"{name}"' in form.sentence for name in form.properties)
        assert form.sentence in strategy.messages([], seen(1))[0].text


def objects(node: Any) -> list[dict[str, Any]]:
    """Every object schema in a schema."""
    if isinstance(node, list):
        return [found for item in node for found in objects(item)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") == "object" else []
    return own + [found for item in node.values() for found in objects(item)]


def test_every_object_in_a_schema_names_all_its_fields() -> None:
    for strategy in strategies().values():
        for found in objects(strategy.answer.schema(Choice(["wait"]))):
            assert found["required"] == list(found["properties"]) and found["additionalProperties"] is False


@pytest.mark.parametrize(
    "words, fields",
    [
        ('<think>{"action": "wait", "n": 1}</think>{"action": "wait", "n": 2}', {"n": 2}),
        ('{"action": "wait", "n": 1} or rather {"action": "wait", "n": 2}', {"n": 2}),
        ('```json\n{"action": "wait", "s": "{\\"n\\": 1}"}\n```', {"s": '{"n": 1}'}),
        ('{"action": "mine", "n": 1}', {}),
        ('{"action": "wait", "n": 1', {}),
        ('<think>{"action": "wait", "n": 1}', {}),
        ('{"a":' * 3000 + '{"action": "wait", "n": 1}', {}),
        ('{"action": "wait", "n": ' + "9" * 5000 + "}", {}),
        ("I wait.", {}),
        ("", {}),
    ],
)
def test_what_a_past_reply_held_is_read_from_its_last_good_object(words: str, fields: dict[str, Any]) -> None:
    assert dict(fields_of(Turn(1, seen(1), Decision("wait", words), "waited"))) == fields


def test_half_a_character_is_never_sent() -> None:
    turns, current = craft_turns([("wait", 'so \ud800 {"action": "wait", "notes": "\\ud800 here"}', "waited")])
    for strategy in strategies().values():
        for message in strategy.messages(turns, current):
            assert message.text.encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(["SUCCESS", "2"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["step", "node", "tag", "text", "kind", "right_deg", "blocks", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
FIELDS = st.dictionaries(
    st.sampled_from(["parent", "position", "notes", "note", "ores", "gone", "else"]),
    st.integers(-2, 12) | JSON,
    max_size=4,
)


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, str, str]:
    action = draw(st.sampled_from(ACTIONS))
    fields = draw(FIELDS)
    whole = json.dumps({"action": action, **fields})
    words = draw(
        st.just(whole)
        | st.text(max_size=30).map(lambda text: f"{text}{whole}")
        | st.integers(0, len(whole)).map(lambda cut: whole[:cut])
        | st.text(max_size=60)
    )
    return action, words, draw(st.sampled_from(OUTCOMES))


@settings(max_examples=60, deadline=None)
@given(st.lists(replies(), max_size=14), st.integers(900, 4000), st.integers(1, 10))
def test_no_reply_breaks_a_strategy(played: list[tuple[str, str, str]], tokens: int, pictures: int) -> None:
    turns, current = craft_turns(played)
    budget = ContextBudget(tokens, pictures)
    for strategy in strategies().values():
        messages = strategy.messages(turns, current, budget)
        fixed = message_tokens((messages[0], Message("user", (TextPart(current.text),)))) + PICTURE_TOKENS
        assert message_tokens(messages) <= max(tokens, fixed)
        assert picture_count(messages) <= pictures
        assert messages[-1].text.endswith(current.text)
        assert messages[-1].images[-1].pixels is current.image
        assert plain(messages) == plain(strategy.messages(turns, current, budget))
        # Lines that look like the game's own are the game's own: a model's words stand in quotes or in its messages.
        record = messages[-1].text.removesuffix(current.text)
        assert not re.search(r"^(Task|Step|Last action|You are at)\b", record, re.MULTILINE)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 30), st.sampled_from(["parent", "position", "none"])), max_size=25))
def test_a_tree_is_always_a_tree(signals: list[tuple[int, str]]) -> None:
    from oresight.harness.context.tree_history import ROOT, build_tree

    turns, _ = craft_turns([("wait", said("wait", **{field: to}), "waited") for to, field in signals])
    tree = build_tree(turns, with_notes=True)
    assert tree.position in {ROOT, *tree.nodes}
    for node in tree.nodes.values():
        assert node.parent < node.id and node.parent in {ROOT, *tree.nodes}
