"""The desktop way on a display without a screen, Xvfb: the same world as without a window, and nothing left pressed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oresight.craftenv.actions import ACTION_NAMES
from oresight.craftenv.controls import LEFT_BUTTON, RIGHT_BUTTON
from oresight.craftenv.desktop import hands as hands_module
from oresight.craftenv.desktop.desktop import ROUNDING, DesktopEnv, DesktopError
from oresight.craftenv.desktop.game import Seen
from oresight.craftenv.desktop.hands import KEYSYMS, DesktopBusy, DesktopUnavailable, Hands
from oresight.craftenv.env import CraftEnv, Transition
from oresight.craftenv.scenarios.suites import get_scenario

ORESIGHT = Path(sys.executable).parent / "oresight"
SCENARIO = get_scenario("valley-0")
SIZE = (320, 240)
EVERYTHING = [*KEYSYMS, LEFT_BUTTON, RIGHT_BUTTON]
MISSING = [tool for tool in ("Xvfb", "xdotool", "setxkbmap") if shutil.which(tool) is None]
MISSING += [package for package in ("pynput", "Xlib") if find_spec(package) is None]

on_a_display = pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}: scripts/setup.sh dev")
pytestmark = pytest.mark.gl


SERVERS: dict[str, subprocess.Popen[bytes]] = {}


@contextmanager
def server(*options: str) -> Iterator[str]:
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen([*command, *options], pass_fds=[writer], stderr=subprocess.DEVNULL) as started:
        os.close(writer)
        with os.fdopen(reader) as told:
            name = f":{told.readline().strip()}"
        SERVERS[name] = started
        try:
            yield name
        finally:
            started.terminate()


@contextmanager
def looking_at(display: str | None) -> Iterator[None]:
    """What this process and those that it starts take for the display."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WAYLAND_DISPLAY", raising=False)
        patch.delenv("DISPLAY", raising=False)
        if display is not None:
            patch.setenv("DISPLAY", display)
        yield


def x(*arguments: object) -> str:
    command = ["xdotool", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def wait_for(seen: Callable[[], bool], patience_s: float = 10.0) -> None:
    until = time.monotonic() + patience_s
    while not seen():
        assert time.monotonic() < until
        time.sleep(0.01)


class Both:
    """The same episode in a window and without one."""

    def __init__(self) -> None:
        self.window = DesktopEnv(SCENARIO, width=SIZE[0], height=SIZE[1], patience_s=4.0)
        self.plain = CraftEnv(SCENARIO, width=SIZE[0], height=SIZE[1])

    def reset(self) -> None:
        self.same(self.window.reset(), self.plain.reset())

    def step(self, action: str) -> Transition:
        """Play an action in both and compare everything."""
        one, other = self.window.step(action), self.plain.step(action)
        assert (one.outcome, one.reward, one.terminated, one.truncated) == (
            other.outcome,
            other.reward,
            other.terminated,
            other.truncated,
        )
        self.same(one.observation, other.observation)
        return one

    def same(self, one: Any, other: Any) -> None:
        assert (one.text, one.step, one.actions) == (other.text, other.step, other.actions)
        assert np.abs(one.image.astype(int) - other.image).max() <= ROUNDING
        assert self.window.facts() == json.loads(json.dumps(self.plain.facts()))
        assert self.window.state_hash() == self.plain.state_hash()

    @property
    def hands(self) -> Hands:
        assert self.window._hands is not None
        return self.window._hands

    @property
    def number(self) -> str:
        """Of the window."""
        return x("search", "--name", "^oresight desktop").split()[0]

    def close(self) -> None:
        self.window.close()
        self.plain.close()


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with server() as name, looking_at(name):
        yield name


@pytest.fixture(scope="module")
def opened(display: str) -> Iterator[Both]:
    both = Both()
    yield both
    both.close()


@pytest.fixture
def both(opened: Both) -> Both:
    opened.reset()
    return opened


@on_a_display
def test_all_21_actions_lead_to_the_same_states_words_facts_and_pictures(both: Both) -> None:
    dig = ["look_down", "look_down", "look_down", "look_down", "mine", "mine", "jump", "slot_1", "place", "wait"]
    for action in [*ACTION_NAMES, *dig]:
        both.step(action)
    assert not both.hands.any_down(EVERYTHING)


@on_a_display
@pytest.mark.parametrize("place", [(0, 0), (511, 333), (-200, -150), (2000, 2000)])
@pytest.mark.parametrize("pointer", [(0, 0), (1023, 767)])
def test_wherever_window_and_pointer_are(both: Both, place: tuple[int, int], pointer: tuple[int, int]) -> None:
    x("windowmove", both.number, *place)
    for action in ("look_right", "move_left", "mine", "look_up"):
        x("mousemove", *pointer)
        both.step(action)


@on_a_display
def test_a_window_that_is_resized_unmapped_covered_or_without_the_keyboard_comes_back(both: Both, display: str) -> None:
    x("windowsize", both.number, 200, 100)
    both.step("look_left")
    x("windowunmap", both.number)
    both.step("move_right")
    with OtherWindow() as other:
        for action in ("look_left", "wait", "move_left", "mine"):
            other.come_forward()
            both.step(action)


class OtherWindow:
    """A white window of another program, over the whole display."""

    def __init__(self) -> None:
        from Xlib import display

        self._connection = display.Display()
        self._window = self._connection.screen().root.create_window(0, 0, 1024, 768, 0, 0, background_pixel=0xFFFFFF)
        self._window.map()
        self._connection.sync()

    def __enter__(self) -> "OtherWindow":
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def come_forward(self) -> None:
        from Xlib import X

        self._window.configure(stack_mode=X.Above)
        self._window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self._connection.sync()


@on_a_display
def test_what_stays_in_front_of_the_window_is_an_error_and_no_picture(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(both.window, "_patience_s", 0.5)
    real = both.window._grab
    with OtherWindow() as other:

        def grab(place: Any) -> Any:
            other.come_forward()
            return real(place)

        monkeypatch.setattr(both.window, "_grab", grab)
        with pytest.raises(DesktopError, match=r"99\.\d% of the window does not show what the game drew"):
            both.window.step("look_left")
    assert not both.hands.any_down(EVERYTHING)


@on_a_display
def test_another_hand_on_the_keyboard_is_never_obeyed(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both.window, "_patience_s", 0.5)
    real, before = both.hands.press, both.window.state_hash()
    with Hands() as other:

        def press(name: str) -> None:
            other.let_go()
            other.press("s")
            real(name)

        monkeypatch.setattr(both.hands, "press", press)
        with pytest.raises(DesktopError, match="move_forward: the window sees s and w held down"):
            both.window.step("move_forward")
        assert both.window.state_hash() == before
        assert both.hands.any_down(["s"]) and not both.hands.any_down(["w"])
        monkeypatch.undo()
        both.step("move_forward")
        both.step("wait")
        both.step("look_up")


@on_a_display
@pytest.mark.parametrize(
    "wrong", [lambda right, down: (2 * right, 2 * down), lambda right, down: (right + 7, down - 3)]
)
def test_a_look_is_exact_whatever_the_display_makes_of_it(
    both: Both, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[int, int], tuple[int, int]]
) -> None:
    real, moves = both.hands.move, []

    def move(right: int, down: int) -> None:
        moves.append((right, down))
        real(*(wrong(right, down) if len(moves) < 3 else (right, down)))

    monkeypatch.setattr(both.hands, "move", move)
    both.step("look_down")
    assert len(moves) >= 3


@on_a_display
def test_a_window_smaller_than_a_look_gets_it_in_pieces(display: str) -> None:
    with (
        DesktopEnv(SCENARIO, width=64, height=48) as window,
        pytest.MonkeyPatch.context() as patch,
        CraftEnv(SCENARIO, pictures=False) as plain,
    ):
        # One display, one driver: the module's own stands aside.
        patch.setattr(Hands, "_claim", lambda hands: None)
        window.reset()
        plain.reset()
        for action in ("look_left", "look_up", "look_up"):
            window.step(action)
            plain.step(action)
        assert window.state_hash() == plain.state_hash()


@on_a_display
@pytest.mark.parametrize("layout", ["fr", "us,ru"])
def test_keys_are_found_in_other_layouts(display: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hands, "_claim", lambda hands: None)
    subprocess.run(["setxkbmap", layout], check=True)
    try:
        if "," in layout:
            x("key", "ISO_Next_Group")
        with DesktopEnv(SCENARIO, width=64, height=48) as window, CraftEnv(SCENARIO, pictures=False) as plain:
            window.reset()
            plain.reset()
            for action in ("move_forward", "move_left", "slot_2", "jump"):
                window.step(action)
                plain.step(action)
                assert window.state_hash() == plain.state_hash()
    finally:
        subprocess.run(["setxkbmap", "us"], check=True)


@on_a_display
def test_a_layout_without_the_letters_is_one_sentence(display: str) -> None:
    subprocess.run(["setxkbmap", "ru"], check=True)
    try:
        with pytest.raises(DesktopUnavailable, match="no key of this display's keyboard layout writes w, s, a, d"):
            Hands()
    finally:
        subprocess.run(["setxkbmap", "us"], check=True)


KILLED_WHILE_PRESSING = """
import os, signal, sys
from oresight.craftenv.desktop.desktop import DesktopEnv
from oresight.craftenv.scenarios.suites import get_scenario
window = DesktopEnv(get_scenario("valley-0"), width=64, height=48)
window.reset()
press = window._hands.press
def press_and_die(name):
    press(name)
    print(window._game._process.pid, window._hands.any_down([name]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
window._hands.press = press_and_die
window.step(sys.argv[1])
"""


def gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


@on_a_display
@pytest.mark.parametrize("action", ["move_forward", "mine"])
def test_a_driver_that_is_killed_leaves_nothing_pressed_and_no_game(action: str) -> None:
    with server() as name, looking_at(name), Hands() as watcher:
        command = [sys.executable, "-c", KILLED_WHILE_PRESSING, action]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        pid, pressed = done.stdout.split()
        assert pressed == "True"
        wait_for(lambda: not watcher.any_down(EVERYTHING))
        wait_for(lambda: gone(int(pid)))
        assert not watcher.any_down(EVERYTHING)


@on_a_display
def test_a_driver_that_is_interrupted_lets_go(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    real, pressed = both.window._ask, []

    def ask(what: str, **fields: Any) -> Any:
        if what == "play":
            pressed.append(both.hands.any_down(["w"]))
            raise KeyboardInterrupt
        return real(what, **fields)

    monkeypatch.setattr(both.window, "_ask", ask)
    with pytest.raises(KeyboardInterrupt):
        both.window.step("move_forward")
    assert pressed == [True]
    assert not both.hands.any_down(EVERYTHING)


@on_a_display
def test_a_game_that_dies_is_one_sentence_and_leaves_nothing_pressed() -> None:
    with server() as name, looking_at(name), DesktopEnv(SCENARIO, width=64, height=48) as window, Hands() as watcher:
        window.reset()
        assert window._game is not None and window._hands is not None
        process, press = window._game._process, window._hands.press

        def press_and_kill(key: str) -> None:
            press(key)
            process.kill()
            process.wait()

        window._hands.press = press_and_kill  # type: ignore[method-assign]
        with pytest.raises(DesktopError, match="the game's process ended in the middle of the episode"):
            window.step("move_forward")
        assert not watcher.any_down(EVERYTHING)
        window.close()
        window.reset()
        window.step("move_forward")


@on_a_display
def test_a_display_that_goes_away_is_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    with server() as name, looking_at(name), DesktopEnv(SCENARIO, width=64, height=48) as window:
        window.reset()
        SERVERS[name].kill()
        SERVERS[name].wait()
        with pytest.raises(DesktopUnavailable, match="the X display is gone"):
            window.step("move_forward")
    assert "Traceback" not in capfd.readouterr().err


@on_a_display
def test_a_display_has_one_driver(both: Both) -> None:
    with pytest.raises(DesktopBusy, match="another oresight already drives this display"):
        DesktopEnv(SCENARIO).reset()


@on_a_display
def test_an_unknown_action_presses_nothing(both: Both) -> None:
    with pytest.raises(ValueError, match="unknown action 'fly'"):
        both.window.step("fly")


def test_only_what_stands_in_the_table_is_an_action() -> None:
    def action(held: set[str], right: int = 0, down: int = 0) -> str | None:
        seen = Seen()
        seen.held, seen.right, seen.down = held, right, down
        return None if seen.action is None else seen.action.name

    assert action({"w"}) == "move_forward"
    assert action({"w", "d"}) is None
    assert action(set(), 200) == "look_right"
    assert action(set(), 199) is None
    assert action(set(), 200, 1) is None
    assert action(set()) == "wait"


@on_a_display
def test_a_run_through_the_window_is_the_run_without_it(display: str, tmp_path: Path) -> None:
    command = [ORESIGHT, "run", "craft", "--agent", "random", "--scenario", "outcrop-0", "--size", "64x48"]
    with server() as name:
        for folder, environment, extra in (("window", {"DISPLAY": name}, ["--desktop"]), ("plain", {}, [])):
            asked = [*command, "--out", tmp_path / folder, *extra]
            done = subprocess.run(asked, env=os.environ | environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    one, other = (tmp_path / folder / "episodes" / "outcrop-0" for folder in ("window", "plain"))
    assert (one / "trajectory.jsonl").read_bytes() == (other / "trajectory.jsonl").read_bytes()
    frames = sorted(path.name for path in (one / "frames").iterdir())
    assert len(frames) == 101
    assert all((one / "frames" / each).read_bytes() == (other / "frames" / each).read_bytes() for each in frames)
    assert json.loads((tmp_path / "window" / "run.json").read_text())["config"]["desktop"] is True
    assert json.loads((tmp_path / "plain" / "run.json").read_text())["config"]["desktop"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["craft", "--workers", "2"], "--desktop plays one episode at a time"),
        (["craft", "--no-pictures"], "--desktop takes its pictures off the screen"),
        (["grid", "--scenario", "low-small-0"], "the grid has none"),
    ],
)
def test_what_cannot_be_played_on_a_desktop(oresight: Any, tmp_path: Path, arguments: list[str], words: str) -> None:
    agent = "frontier" if arguments[0] == "grid" else "random"
    chosen = [] if "--scenario" in arguments else ["--scenario", "outcrop-0"]
    ran = oresight("run", *arguments, *chosen, "--agent", agent, "--desktop", "--out", tmp_path / "run")
    assert ran.code == 2 and words in ran.err and len(ran.err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def refused(oresight: Any, tmp_path: Path) -> str:
    ran = oresight(
        "run", "craft", "--desktop", "--agent", "random", "--scenario", "outcrop-0", "--out", tmp_path / "run"
    )
    assert ran.code == 1 and len(ran.err.splitlines()) == 1 and not (tmp_path / "run").exists()
    return str(ran.err)


def test_without_the_extra_one_sentence_says_so(oresight: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands_module.importlib.util, "find_spec", lambda name: None)
    assert 'python -m pip install "oresight[desktop]"' in refused(oresight, tmp_path)


@on_a_display
@pytest.mark.parametrize("name", [None, ":77"])
def test_without_a_display_one_sentence_says_so(oresight: Any, tmp_path: Path, name: str | None) -> None:
    with looking_at(name):
        assert "there is no display for it" in refused(oresight, tmp_path)


@on_a_display
def test_a_display_that_takes_no_keys_is_one_sentence(oresight: Any, tmp_path: Path) -> None:
    with server("-extension", "XTEST") as name, looking_at(name):
        assert "no XTEST extension" in refused(oresight, tmp_path)


@on_a_display
def test_a_window_that_does_not_fit_is_one_sentence(oresight: Any, tmp_path: Path) -> None:
    with server("-screen", "0", "600x400x24") as name, looking_at(name):
        assert "a window of 640 x 480 does not fit on a display of 600 x 400" in refused(oresight, tmp_path)


@on_a_display
def test_the_doctor_knows_of_the_desktop(oresight: Any) -> None:
    def desktop() -> dict[str, str]:
        parts = json.loads(oresight("doctor", "--json").out)["parts"]
        found: dict[str, str] = next(part for part in parts if part["name"] == "desktop")
        return found

    with server() as name, looking_at(name):
        assert desktop()["state"] == "ok" and "a display of 1024 x 768" in desktop()["found"]
    with looking_at(None):
        assert desktop()["state"] == "missing" and "xvfb-run -a" in desktop()["advice"]
