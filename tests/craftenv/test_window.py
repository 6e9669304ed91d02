"""A session in the window: time in whole ticks, pause, focus, decisions, and what is drawn; no display needed."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.config import EYE_HEIGHT, WALK_PER_TICK
from oresight.craftenv.controls import Closed, Event, FocusGained, FocusLost, Moved, Pressed, Released
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.craftenv.scenarios.suites import get_scenario
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.window import MOST_TICKS_A_FRAME, TICK_S, End, Game, Session, Tick, help_lines
from support.sim_stage import scenario as stage_scenario

Picture = npt.NDArray[np.uint8]


class Notes:
    """Writes down what a session tells."""

    def __init__(self) -> None:
        self.ticks: list[Tick] = []
        self.feet: list[tuple[float, float, float]] = []
        self.ends: list[End] = []

    def started(self, engine: Engine) -> None:
        assert not self.ticks

    def ticked(self, tick: Tick, engine: Engine) -> None:
        self.ticks.append(tick)
        self.feet.append(engine.player.feet)

    def ended(self, end: End, engine: Engine) -> None:
        self.ends.append(end)

    def referee(self) -> Sequence[str]:
        return ["case 1: explore"]


def session(scenario: Scenario | None = None, *, turn_based: bool = False) -> tuple[Session, Notes]:
    notes = Notes()
    made = Session(scenario or get_scenario("outcrop-0"), [notes], turn_based=turn_based)
    return made, notes


def run(game: Session, ticks: int) -> None:
    for _ in range(ticks):
        game.advance(TICK_S)


def test_ticks_are_a_twentieth_of_a_second_whatever_the_frames_are() -> None:
    game, notes = session()
    for _ in range(61):
        game.advance(1 / 60)
    assert [tick.number for tick in notes.ticks] == list(range(1, 21))


def test_a_stopped_process_makes_no_big_step() -> None:
    high = stage_scenario(spawn=(0.5, 90.0, 0.5))
    game, notes = session(high)
    run(game, 5)
    assert game.advance(20.0) == MOST_TICKS_A_FRAME
    assert game.advance(0.01) <= 1
    run(game, 100)
    plain, whole = session(high)
    run(plain, len(notes.ticks))
    assert notes.feet == whole.feet
    assert game.engine.player.on_ground


def test_a_held_space_jumps_once() -> None:
    game, notes = session()
    game.take(Pressed("space"))
    run(game, 60)
    assert sum(tick.happened.jumped for tick in notes.ticks) == 1


def test_paused_time_has_no_ticks_and_nothing_stays_held() -> None:
    game, notes = session()
    game.take(Pressed("w"))
    run(game, 3)
    game.pause(True)
    game.take(Pressed("s"))
    run(game, 5)
    assert len(notes.ticks) == 3
    game.pause(False)
    run(game, 2)
    assert [tick.controls.forward for tick in notes.ticks] == [1, 1, 1, 0, 0]


def test_without_the_focus_the_world_stands_still_and_then_the_player() -> None:
    game, notes = session()
    game.take(Pressed("w"))
    game.take(Pressed("left button"))
    run(game, 2)
    game.take(FocusLost())
    run(game, 5)
    game.take(Moved(50, 0))
    game.take(FocusGained())
    run(game, 2)
    assert len(notes.ticks) == 4
    assert [(tick.controls.forward, tick.controls.mine) for tick in notes.ticks[2:]] == [(0, False)] * 2
    assert notes.ticks[2].controls.yaw_counts == 0


def test_the_click_that_comes_back_does_nothing_else() -> None:
    game, notes = session()
    game.take(FocusLost())
    game.take(Pressed("left button"))
    run(game, 1)
    assert len(notes.ticks) == 1 and not notes.ticks[0].controls.mine


def test_positions_are_drawn_between_the_last_two_ticks() -> None:
    game, _ = session()
    start = game.engine.player.feet
    game.take(Pressed("w"))
    game.advance(TICK_S)
    game.advance(TICK_S / 2)
    x, y, z = game.view().eye
    gone = np.hypot(x - start[0], z - start[2])
    assert gone == pytest.approx(WALK_PER_TICK / 2, rel=1e-6)
    assert y == pytest.approx(start[1] + EYE_HEIGHT)


def test_a_turn_of_the_mouse_shows_before_its_tick() -> None:
    game, _ = session()
    yaw = game.engine.player.yaw
    game.take(Moved(-5, 10_000))
    assert (game.view().yaw, game.view().pitch) == (yaw - 5, 600)
    assert game.engine.player.yaw == yaw


def test_decisions_lead_to_the_same_state_as_in_the_environment() -> None:
    keys = ["down", "down", "down", "down", "down", "down", "f", "space", "r", "left", "w", "d", "x", "3"]
    names = [*["look_down"] * 6, "mine", "jump", "place", "look_left", "move_forward", "move_right", "wait", "slot_3"]
    game, notes = session(turn_based=True)
    with CraftEnv(game.scenario, pictures=False) as env:
        env.reset()
        for key, name in zip(keys, names, strict=True):
            game.take(Pressed(key))
            game.take(Released(key))
            run(game, BY_NAME[name].ticks + 1)
            words = env.step(name).outcome
            assert game.last_outcome == f"{name} -> {words}"
            assert game.engine.state_hash() == env.state_hash()
    assert len(notes.ticks) == sum(BY_NAME[name].ticks for name in names)
    assert [tick.action.name for tick in notes.ticks if tick.action] == names
    assert sum(tick.last for tick in notes.ticks) == len(names)
    assert game.view().eye == game.engine.player.eye


def test_the_budget_ends_the_turn_based_mode() -> None:
    game, notes = session(stage_scenario(budget=2), turn_based=True)
    for key in ("1", "2", "3"):
        game.take(Pressed(key))
    run(game, 10)
    game.leave()
    assert len(notes.ticks) == 2
    assert notes.ends == ["budget"]


@pytest.mark.parametrize("turn_based", [False, True])
def test_the_help_names_every_kind_of_decision(turn_based: bool) -> None:
    text = "\n".join(help_lines(turn_based))
    for word in ("move forward", "jump", "mine", "place", "look", "slot", "pause", "screenshot", "referee"):
        assert word in text


class Board:
    """A surface that keeps what it is shown."""

    def __init__(self) -> None:
        self.size = (320, 240)
        self.coming: list[Event] = []
        self.captured = False
        self.recentred = 0
        self.shown: list[Picture] = []

    def events(self) -> list[Event]:
        found, self.coming = self.coming, []
        return found

    def capture(self, wanted: bool) -> None:
        self.captured = wanted

    def recentre(self) -> None:
        self.recentred += 1

    def show(self, picture: Picture) -> None:
        self.shown.append(picture)


@pytest.mark.gl
def test_the_picture_follows_the_window_and_the_keys_about_it() -> None:
    board, saved = Board(), []

    def save(picture: Picture) -> str:
        saved.append(picture)
        return "saved"

    made, _ = session()
    game = Game(made, board, save)
    try:
        assert board.captured
        board.coming = [Pressed("f2")]
        game.frame(0.0)
        with CraftEnv(made.scenario, pictures=False, width=320, height=240) as env:
            env.reset()
            assert np.array_equal(saved[0], env.render())
        plain = board.shown[-1]
        for key in ("f1", "f3"):
            board.coming = [Pressed(key)]
            game.frame(0.0)
            assert not np.array_equal(board.shown[-1], plain)
            board.coming = [Released(key), Pressed(key)]
            game.frame(0.0)
            assert np.array_equal(board.shown[-1][100:], plain[100:])
        board.size = (200, 300)
        game.frame(0.01)
        assert board.shown[-1].shape == (240, 320, 3)
        game.frame(0.3)
        assert board.shown[-1].shape == (300, 200, 3)
        assert board.recentred == 1
        board.size = (3840, 2160)
        game.frame(0.0)
        game.frame(0.3)
        assert board.shown[-1].shape == (1080, 1920, 3)
        board.coming = [Pressed("escape")]
        game.frame(0.0)
        assert made.paused and not board.captured
        board.coming = [Pressed("left button")]
        game.frame(0.0)
        assert not made.paused and board.captured
        board.coming = [Closed()]
        game.frame(0.0)
        assert game.closed
    finally:
        game.close()
