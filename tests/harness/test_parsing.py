"""Reply to action: the last complete object of the answer proper, and nothing that was merely mentioned."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oresight.harness.models.parsing import Answer, Fault, parse_answer
from oresight.harness.protocols import Choice

ACTIONS = Choice(("mine", "jump", "place"))
MINE = '{"action":"mine"}'
JUMP = '{"action":"jump"}'


def action(text: str) -> str | None:
    found = parse_answer(text, ACTIONS)
    return found.action if isinstance(found, Answer) else None


GOOD = [
    (f"<think>{JUMP}</think>```json\n{MINE}\n```", "mine"),
    (f"{MINE}{JUMP}", "jump"),
    (f"{MINE} so {{that}} is it", "mine"),
    ('{"action":"mine","reason":"rather than {\\"action\\":\\"place\\"}"}', "mine"),
    ('{"action":"mine","reason":"a raw\nbreak"}', "mine"),
    ("{" * 200 + MINE, "mine"),
    ("{" * 200 + " " + MINE, "mine"),
    (MINE, "mine"),
    ('{\n "action" : "mine" , "notes": [{"step": 1}]}', "mine"),
    (f"[{MINE},{JUMP}]", "jump"),
    (f"I thought of {JUMP}. </think>{MINE}", "mine"),
    (f"<think>one</think>{JUMP}<think>two {MINE}</think>", "jump"),
    (f"<THINK>{JUMP}</Think >{MINE}", "mine"),
    (f"<thinking>{JUMP}</thinking>{MINE}", "mine"),
    (f"<reasoning kind='x'>{JUMP}</reasoning>{MINE}", "mine"),
    (f"[THINK]{JUMP}[/THINK]{MINE}", "mine"),
    (f"<think>a<think>{JUMP}</think>{JUMP}</think>{MINE}", "mine"),
    (f"<|channel|>analysis<|message|>{JUMP}<|end|><|start|>assistant<|channel|>final<|message|>{MINE}", "mine"),
    ('{"action":"mine","reason":"the tag <think> opens"}', "mine"),
    ('{"action":"mine","reason":"it says </think>"}', "mine"),
    (f'{{"action":"jump", oops}}\n{MINE}', "mine"),
    (f'{MINE} {{"note": "no action here"}}', "mine"),
    ('{"action":"mine","deep":' + "[" * 50 + "]" * 50 + "}", "mine"),
    ("\ufeff" + MINE, "mine"),
    (f"```\n{MINE}\n```\nDone \u2028 \x0b \x85.", "mine"),
]
BAD = [
    ("", "reasoning alone"),
    ("mine", "unparsable reply"),
    (f"<think>{JUMP}", "reasoning alone"),
    (f"<think>{JUMP}</think>", "reasoning alone"),
    (f"so {JUMP}</think>", "reasoning alone"),
    ('{"action":"mine"', "unparsable reply"),
    ('{"action":"mine","reason":"rather than {"action":"place"}"}', "unparsable reply"),
    ('{"plan": {"action":"jump"}', "unparsable reply"),
    ('{"considered": {"action":"jump"}}', "unparsable reply"),
    ('"{\\"action\\":\\"mine\\"}"', "unparsable reply"),
    ("{'action': 'mine'}", "unparsable reply"),
    ('{"action":"mine","action":"jump"}', "unparsable reply"),
    ('{"action":"mine","x":NaN}', "unparsable reply"),
    ('{"action":"Mine"}', "inadmissible action"),
    ('{"action":"mine "}', "inadmissible action"),
    ('{"action":"min"}', "inadmissible action"),
    ('{"action":["mine"]}', "inadmissible action"),
    ('{"action":{"mine":1}}', "inadmissible action"),
    ('{"action":null}', "inadmissible action"),
    (f'{MINE}{{"action":"fly"}}', "inadmissible action"),
    ('{"action":"mine","n":' + "9" * 5000 + "}", "unparsable reply"),
    ('{"action":"mine","deep":' + "[" * 100_000, "unparsable reply"),
]


@pytest.mark.parametrize(("text", "expected"), GOOD)
def test_a_good_answer_is_found(text: str, expected: str) -> None:
    assert action(text) == expected


@pytest.mark.parametrize(("text", "kind"), BAD)
def test_what_is_no_answer_says_why(text: str, kind: str) -> None:
    found = parse_answer(text, ACTIONS)
    assert isinstance(found, Fault) and found.kind == kind


def test_other_fields_and_the_answer_proper_are_kept() -> None:
    found = parse_answer(f'<think>{JUMP}</think> Well: {{"action":"mine","notes":"x","parent":3}} ', ACTIONS)
    assert found == Answer("mine", {"notes": "x", "parent": 3}, 'Well: {"action":"mine","notes":"x","parent":3}')


@pytest.mark.parametrize(
    "text",
    [
        "{" * 300_000,
        '{"' * 100_000,
        '{"a":' * 100_000,
        "<think>" * 50_000,
        "</think>" * 50_000,
        "<think></think>" * 50_000,
        "{}" * 100_000,
        '{"a":1' + "}{" * 100_000,
        '{"action":"mine",}' * 60_000,
        '{"a":{"b":1},' * 80_000,
        '{"a":"}"}' * 100_000,
    ],
)
def test_long_nonsense_takes_time_in_proportion_to_its_length(text: str) -> None:
    # Quadratic work takes half a minute of the processor here, linear work a fraction of a second.
    began = time.process_time()
    assert isinstance(parse_answer(text, ACTIONS), Fault)
    assert time.process_time() - began < 5


PIECES = [*'{}[]"\\:, \n<>/', "action", "mine", '"action":"jump"', "think>", "<think>", "</think>", MINE, JUMP]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_nothing_breaks_it_and_only_admissible_actions_come_out(text: str) -> None:
    found = parse_answer(text, ACTIONS)
    assert isinstance(found, Fault) or found.action in ACTIONS


@given(st.text(max_size=40), st.sampled_from(ACTIONS))
def test_an_answer_at_the_end_counts_whatever_stands_in_its_strings(reason: str, chosen: str) -> None:
    text = json.dumps({"reason": reason, "action": chosen}, ensure_ascii=False)
    assert action(text) == chosen


@given(
    st.lists(st.sampled_from(['{"x":"', "y" * 300, '"}', "{", "}", '{"action":"mine"}', "12", ",", '\\"', "tru", "e"])),
    st.sampled_from(ACTIONS),
)
def test_an_object_is_found_wherever_the_text_before_it_is_cut(pieces: list[str], chosen: str) -> None:
    long = json.dumps({"reason": "".join(pieces), "n": [1.5] * 90, "action": chosen})
    assert action(f"So: {long}") == chosen
