"""What each context strategy shows an agent."""

import numpy as np
import pytest

from oresight.harness.context import canonical_name, make_strategy, needs_pictures, strategy_names
from oresight.harness.context.raw import Raw
from oresight.harness.context.screenshots import Screenshots
from oresight.harness.context.window import Window
from oresight.harness.errors import UsageError
from oresight.harness.protocols import PICTURE_TOKENS, ContextBudget, Decision, Message, TextPart, Turn
from support.fake_world import Seen


def seen(step: int) -> Seen:
    return Seen(f"Told at {step}.", np.full((2, 2, 3), step, dtype=np.uint8), ("wait",), step)


def history(turns: int) -> list[Turn]:
    return [Turn(n, seen(n - 1), Decision(f"action_{n}"), f"outcome {n}") for n in range(1, turns + 1)]


def texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def test_raw_shows_the_chat_in_text_and_the_current_picture_alone() -> None:
    messages = Raw("Rules.").messages(history(2), seen(2))
    assert [(message.role, message.text) for message in messages] == [
        ("system", "Rules."),
        ("user", "Told at 0."),
        ("assistant", '{"action": "action_1"}'),
        ("user", "Told at 1."),
        ("assistant", '{"action": "action_2"}'),
        ("user", "Told at 2."),
    ]
    assert [len(message.images) for message in messages] == [0, 0, 0, 0, 0, 1]
    picture = messages[-1].images[0]
    assert (picture.step, picture.action, picture.outcome, picture.pixels[0, 0, 0]) == (2, "action_2", "outcome 2", 2)


def test_raw_drops_the_oldest_turns_but_never_the_instructions_nor_the_current_observation() -> None:
    # 150 tokens of rules, 3 of the observation, 4 a message: room for four turns of 18.
    messages = Raw("Rules." * 100).messages(history(50), seen(50), ContextBudget(150 + 3 + PICTURE_TOKENS + 8 + 75))
    assert messages[0].text == "Rules." * 100
    assert [message.text for message in messages[1:]] == [
        text for n in range(46, 50) for text in (f"Told at {n}.", f'{{"action": "action_{n + 1}"}}')
    ] + ["Told at 50."]
    assert messages[-1].images[0].step == 50


def test_instructions_and_observation_are_sent_even_where_they_exceed_the_bound() -> None:
    for strategy in (Raw("Rules."), Screenshots("Rules.", 8), Window("Rules.")):
        messages = strategy.messages(history(5), seen(5), ContextBudget(1, 1))
        assert [message.text for message in messages] == ["Rules.", "Told at 5."]
        assert [image.step for image in messages[-1].images] == [5]


def test_a_window_shows_the_last_turns_alone_and_labels_the_current_picture_truly() -> None:
    for turns in (0, 2):
        messages = Window("Rules.", turns).messages(history(5), seen(5))
        told = [message.text for message in messages if message.role == "user"]
        assert told == [f"Told at {n}." for n in range(5 - turns, 6)]
        assert messages[-1].images[0].action == "action_5"


@pytest.mark.parametrize("pictures", [0, 1, 3, 8])
@pytest.mark.parametrize("turns", [0, 1, 2, 5, 12])
def test_screenshots_shows_at_most_k_pictures_before_the_current_one_oldest_first(pictures: int, turns: int) -> None:
    messages = Screenshots("Rules.", pictures).messages(history(turns), seen(turns))
    shown = messages[-1].images
    assert [image.step for image in shown] == list(range(max(turns - pictures, 0), turns + 1))
    for image in shown:
        assert image.pixels[0, 0, 0] == image.step
        assert image.action == (f"action_{image.step}" if image.step else None)
        assert image.outcome == (f"outcome {image.step}" if image.step else None)
    assert all(not message.images for message in messages[:-1])


def test_each_past_picture_stands_under_its_true_step_action_and_outcome() -> None:
    last = Screenshots("Rules.", 2).messages(history(2), seen(2))[-1]
    assert texts(last) == [
        "Earlier picture, step 0, at the start:",
        "Earlier picture, step 1, after action_1: outcome 1",
        "Told at 2.",
    ]
    assert [isinstance(part, TextPart) for part in last.parts] == [True, False, True, False, True, False]


def test_no_pictures_kept_is_the_same_as_raw() -> None:
    raw, none = Raw("R."), Screenshots("R.", 0)
    for turns in (0, 3):
        a, b = raw.messages(history(turns), seen(turns)), none.messages(history(turns), seen(turns))
        assert [(m.role, m.text, [i.step for i in m.images]) for m in a] == [
            (m.role, m.text, [i.step for i in m.images]) for m in b
        ]


def test_a_world_without_pictures_yields_text_alone() -> None:
    current = Seen("Told.", None, ("wait",), 0)
    for strategy in (Raw("R."), Screenshots("R.")):
        assert not strategy.messages([], current)[-1].images


@pytest.mark.parametrize(
    "text, name, kept",
    [
        ("raw", "raw", 0),
        ("screenshots", "screenshots(8)", 8),
        ("screenshots:4", "screenshots(4)", 4),
        ("screenshots(0)", "screenshots(0)", 0),
        ("screenshots:099", "screenshots(99)", 99),
        ("window:12", "window(12)", 0),
        ("list", "list", 0),
        ("list+notes", "list+notes", 0),
        ("tree", "tree", 0),
        ("tree+notes", "tree+notes", 0),
    ],
)
def test_names_have_one_spelling_on_record(text: str, name: str, kept: int) -> None:
    assert canonical_name(text) == name
    assert make_strategy(text, "").past_pictures == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rawer",
        "raw:3",
        "list:2",
        "list+note",
        "notes+list",
        "screenshots:x",
        "screenshots(4",
        "screenshots:-1",
        "screenshots:100",
        "screenshots:\u0663",
    ],
)
def test_unknown_names_are_one_sentence(text: str) -> None:
    with pytest.raises(UsageError, match="memory"):
        make_strategy(text, "")


def test_a_summary_needs_a_world_to_sum_up() -> None:
    with pytest.raises(UsageError, match="structured"):
        make_strategy("structured", "")


def test_what_a_memory_of_pictures_needs_is_known_beforehand() -> None:
    assert [name for name in strategy_names() if needs_pictures(name.replace("N", "3"))] == ["screenshots:N"]


def test_a_bound_that_was_too_wide_is_halved_below_what_was_sent() -> None:
    assert ContextBudget(1000, 10).shrunk() == ContextBudget(500, 5)
    assert ContextBudget(1000, 10).shrunk(400, 3) == ContextBudget(200, 1)
    assert ContextBudget(1, 1).shrunk() == ContextBudget(1, 1)
    with pytest.raises(ValueError, match="expected 1 or more"):
        ContextBudget(0, 1)
