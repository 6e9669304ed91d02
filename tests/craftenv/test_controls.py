"""Events of keyboard and mouse become controls, tick by tick, or decisions."""

import pytest

from oresight.craftenv.controls import CHOICE_KEYS, Choices, Event, FocusLost, Hands, Moved, Pressed, Released, Scrolled
from oresight.craftenv.sim.engine import Controls


def hands(*events: Event, slot: int = 0) -> Hands:
    held = Hands(slot)
    for event in events:
        held.take(event)
    return held


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("w", Controls(forward=1)),
        ("s", Controls(forward=-1)),
        ("a", Controls(right=-1)),
        ("d", Controls(right=1)),
        ("wd", Controls(forward=1, right=1)),
        ("ws", Controls()),
        ("q", Controls()),
    ],
)
def test_keys_walk_while_they_are_held(keys: str, expected: Controls) -> None:
    held = hands(*(Pressed(key) for key in keys))
    assert [held.controls(), held.controls()] == [expected, expected]
    for key in keys:
        held.take(Released(key))
    assert held.controls() == Controls()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("space", Controls(jump=True)), ("left button", Controls(mine=True)), ("right button", Controls(place=True))],
)
def test_a_press_shorter_than_a_tick_counts_for_one(name: str, expected: Controls) -> None:
    held = hands(Pressed(name), Released(name))
    assert held.controls() == expected
    assert held.controls() == Controls()


def test_auto_repeat_is_no_new_press() -> None:
    held = hands(Pressed("right button"))
    placed = []
    for _ in range(9):
        held.take(Pressed("right button"))
        placed.append(held.controls().place)
    assert placed == [True, False, False, False, True, False, False, False, True]


def test_a_released_and_pressed_button_places_at_once() -> None:
    held = hands(Pressed("right button"))
    assert held.controls().place
    held.take(Released("right button"))
    held.take(Pressed("right button"))
    assert held.controls().place


def test_the_mouse_turns_by_whole_counts_and_keeps_the_rest() -> None:
    held = hands(Moved(3, -2), Moved(0.6, -0.5))
    assert held.turning == (3, -2)
    assert held.controls() == Controls(yaw_counts=3, pitch_counts=-2)
    held.take(Moved(0.5, -0.5))
    assert held.controls() == Controls(yaw_counts=1, pitch_counts=-1)


def test_the_view_turns_while_the_left_button_is_held() -> None:
    assert hands(Pressed("left button"), Moved(7, 0)).controls() == Controls(mine=True, yaw_counts=7)


def test_a_notch_is_one_slot_and_back_is_back() -> None:
    held = hands(*[Scrolled(1)] * 3)
    assert held.controls() == Controls(slot=7)
    assert held.controls() == Controls()
    for _ in range(3):
        held.take(Scrolled(-1))
    assert held.controls() == Controls(slot=1)


def test_parts_of_notches_add_up() -> None:
    held = hands(*[Scrolled(-0.25)] * 3)
    assert held.controls() == Controls()
    held.take(Scrolled(-0.25))
    assert held.controls() == Controls(slot=2)


def test_a_digit_selects_once_and_the_selected_slot_not_at_all() -> None:
    held = hands(Pressed("5"))
    assert [held.controls().slot, held.controls().slot] == [5, 0]
    held.take(Released("5"))
    held.take(Pressed("5"))
    assert held.controls() == Controls()


def test_losing_the_focus_lets_go_of_everything() -> None:
    everything = [Pressed(name) for name in ("w", "space", "left button", "right button", "4")]
    held = hands(*everything, Moved(9, 9), Scrolled(1), FocusLost())
    assert held.controls() == Controls()
    held.take(Released("w"))
    assert held.controls() == Controls()
    held.take(Pressed("w"))
    assert held.controls() == Controls(forward=1)


def chosen(*events: Event, slot: int = 0) -> list[str]:
    choices = Choices()
    for event in events:
        choices.take(event, slot)
    found = []
    while (action := choices.next()) is not None:
        found.append(action.name)
    return found


def test_every_decision_has_a_key() -> None:
    names = [action.name for action in CHOICE_KEYS.values()]
    assert len(set(names)) == 21


def test_a_key_is_one_decision_however_long_it_is_held() -> None:
    keys = ("w", "left", "f", "1")
    assert chosen(*[Pressed(key) for key in keys], *[Pressed(key) for key in keys]) == [
        "move_forward",
        "look_left",
        "mine",
        "slot_1",
    ]


def test_notches_are_decisions_for_the_slots_in_between() -> None:
    assert chosen(*[Scrolled(1)] * 3) == ["slot_9", "slot_8", "slot_7"]
    assert chosen(Scrolled(-2), slot=7) == ["slot_9", "slot_1"]


def test_no_more_than_a_few_decisions_wait() -> None:
    assert len(chosen(*[Scrolled(1)] * 30)) == Choices.MOST
    assert chosen(Pressed("w"), FocusLost()) == []
