"""Real-time play is cut into decisions as agents make them."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from oresight.scoring.sessions.cutting import DURATION_TICKS, NEVER_DROPPED, Cut, Cutter, Tick, dominant, turn_deg

CONTROLS = ("mine", "place", "move_forward", "move_left", "jump", "look", "slot_3", "wait")


def cut_ticks(ticks: Iterable[Tick]) -> list[Cut]:
    """Cut ticks that follow each other without a break."""
    cutter = Cutter()
    found = [cut for tick in ticks for cut in cutter.feed(tick)]
    return found + cutter.pause()


def cuts(*stretches: tuple[str, int] | tuple[str, int, float]) -> list[Cut]:
    """Cut stretches of (control, ticks) or (control, ticks, yaw in each tick)."""
    ticks: list[Tick] = []
    for control, number, *turn in stretches:
        ticks += [Tick(len(ticks) + place, control, *turn) for place in range(number)]
    return cut_ticks(ticks)


def names(*stretches: tuple[str, int] | tuple[str, int, float]) -> list[str]:
    return [cut.action for cut in cuts(*stretches)]


def test_the_durations_are_those_of_the_table_of_21() -> None:
    from oresight.craftenv.actions import ACTIONS

    assert {action.name: action.ticks for action in ACTIONS} == DURATION_TICKS


def test_the_dominant_control_is_mine_place_move_jump_look_slot_wait() -> None:
    held = {"mine": True, "place": True, "forward": 1, "jump": True, "turned": True, "slot": 4}
    found = []
    for name in list(held):
        found.append(dominant(**held))
        del held[name]
    found.append(dominant())
    assert found == ["mine", "place", "move_forward", "jump", "look", "slot_4", "wait"]
    assert dominant(forward=-1, right=1) == "move_backward"
    assert dominant(right=-1) == "move_left"


def test_a_stretch_is_cut_at_the_duration_of_its_action() -> None:
    assert cuts(("move_forward", 45)) == [
        Cut("move_forward", 0, 19, 19), Cut("move_forward", 20, 39, 39), Cut("move_forward", 40, 44, 44),
    ]  # fmt: skip
    assert names(("mine", 80)) == ["mine", "mine"]


def test_what_is_shorter_than_a_quarter_joins_its_neighbour() -> None:
    assert cuts(("move_forward", 24)) == [Cut("move_forward", 0, 19, 23)]
    assert cuts(("move_forward", 20), ("move_left", 4), ("move_forward", 20))[0] == Cut("move_forward", 0, 19, 23)
    assert cuts(("move_left", 4), ("move_forward", 20)) == [Cut("move_forward", 4, 23, 23)]
    assert names(("move_left", 5), ("move_forward", 20)) == ["move_left", "move_forward"]


def test_mine_place_and_jump_are_never_dropped() -> None:
    for action in sorted(NEVER_DROPPED):
        found = names(("move_forward", 20), (action, 1), ("move_forward", 20))
        assert found == ["move_forward", action, "move_forward"]


def test_a_wait_is_twenty_idle_ticks_in_a_row_and_fewer_belong_to_the_decision_before() -> None:
    assert cuts(("mine", 16), ("wait", 19)) == [Cut("mine", 0, 15, 34)]
    assert cuts(("mine", 16), ("wait", 45)) == [
        Cut("mine", 0, 15, 15), Cut("wait", 16, 35, 35), Cut("wait", 36, 55, 60),
    ]  # fmt: skip
    assert names(("wait", 19)) == []
    assert names(("mine", 1), ("wait", 12), ("slot_2", 1), ("wait", 12)) == ["mine", "slot_2"]


def test_turning_yields_a_look_for_each_full_step_and_carries_the_rest() -> None:
    assert names(("look", 4, 7.5)) == ["look_right"]
    assert names(("look", 4, 7.0)) == []
    assert names(("look", 4, 7.0), ("wait", 5), ("look", 1, 2.0)) == ["look_right"]
    assert names(("look", 8, -11.25)) == ["look_left"] * 3
    assert names(("look", 1, 95.0)) == ["look_right"] * 3
    assert names(("look", 3, 10.0), ("look", 3, -10.0)) == ["look_right", "look_left"]


def test_turning_while_walking_yields_looks_beside_the_walking() -> None:
    found = cuts(("move_forward", 40, 1.5))
    assert [(cut.action, cut.until) for cut in found] == [
        ("move_forward", 19), ("look_right", 19), ("move_forward", 39), ("look_right", 39),
    ]  # fmt: skip


def test_turning_in_a_stretch_that_is_too_short_is_not_lost() -> None:
    assert names(("move_forward", 2, 20.0)) == ["look_right"]


def test_pitch_has_steps_of_its_own() -> None:
    ticks = [Tick(number, "look", 7.5, -3.75) for number in range(4)]
    assert [cut.action for cut in cut_ticks(ticks)] == ["look_right", "look_up"]


def test_a_pause_ends_the_decision_and_a_restart_forgets_the_turning() -> None:
    cutter = Cutter()
    for number in range(10):
        assert cutter.feed(Tick(number, "mine", 2.5)) == []
    assert cutter.pause() == [Cut("mine", 0, 9, 9)]
    assert cutter.feed(Tick(30, "wait")) == []
    assert cutter.feed(Tick(31, "look", 5.0)) == []
    assert cutter.pause() == [Cut("look_right", 31, 31, 31, yaw_deg=30.0)]
    cutter.feed(Tick(32, "look", 29.0))
    assert cutter.restart() == []
    cutter.feed(Tick(33, "look", 5.0))
    assert cutter.pause() == []


def test_the_shorter_turn_is_taken_and_180_is_crossed() -> None:
    assert turn_deg(175.0, -175.0) == 10.0
    assert turn_deg(-175.0, 175.0) == -10.0
    assert turn_deg(725.0, 3.0) == -2.0


stretches = st.lists(
    st.tuples(st.sampled_from(CONTROLS), st.integers(1, 60), st.integers(-300, 300), st.integers(-90, 90)), max_size=12
)


def _ticks(drawn: list[tuple[str, int, int, int]]) -> list[Tick]:
    ticks: list[Tick] = []
    for control, number, yaw, pitch in drawn:
        turns = (0.0, 0.0) if control in ("wait", "slot_3") else (yaw * 0.15, pitch * 0.15)
        ticks += [Tick(len(ticks) + place, control, *turns) for place in range(number)]
    return ticks


@given(stretches)
def test_every_tick_belongs_to_exactly_one_group_of_decisions(drawn: list[tuple[str, int, int, int]]) -> None:
    ticks = _ticks(drawn)
    found = cut_ticks(ticks)
    if not found:
        return
    ends = [cut.until for cut in found]
    assert ends == sorted(ends) and ends[-1] == len(ticks) - 1
    before = -1
    for cut in found:
        assert cut.first <= cut.last <= cut.until
        assert cut.first > before or cut.until == before or cut.action.startswith("look")
        before = cut.until


@given(stretches)
def test_looks_and_what_is_carried_over_sum_up_to_the_turning(drawn: list[tuple[str, int, int, int]]) -> None:
    ticks = _ticks(drawn)
    found = cut_ticks(ticks)
    assert abs(sum(tick.yaw_deg for tick in ticks) - sum(cut.yaw_deg for cut in found)) < 30.0
    assert abs(sum(tick.pitch_deg for tick in ticks) - sum(cut.pitch_deg for cut in found)) < 15.0


@given(stretches)
def test_no_press_of_mine_place_or_jump_is_lost(drawn: list[tuple[str, int, int, int]]) -> None:
    ticks = _ticks(drawn)
    found = cut_ticks(ticks)
    for action in NEVER_DROPPED:
        own = {number for cut in found if cut.action == action for number in range(cut.first, cut.last + 1)}
        assert {tick.number for tick in ticks if tick.control == action} == own


@given(stretches)
def test_decisions_do_not_depend_on_what_comes_later(drawn: list[tuple[str, int, int, int]]) -> None:
    ticks = _ticks(drawn)
    cutter, handed = Cutter(), []
    for tick in ticks:
        handed += cutter.feed(tick)
    assert handed == cut_ticks(ticks)[: len(handed)]


def test_a_view_that_wobbles_for_ever_piles_up_nothing() -> None:
    cutter = Cutter()
    for number in range(10_000):
        assert cutter.feed(Tick(number, "look", 1.0 if number % 2 else -1.0)) == []
        assert number - cutter.settled <= 20
