"""The window on a real display, Xvfb, driven by injected keys and mouse; what is recorded is what happened."""

import ctypes
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from oresight.harness.worlds.craft.session_replay import SessionListener, film_session, judge_session, replay_session
from oresight.scoring.records import SessionControls, SessionHeader, SessionTick
from support.places import ROOT

ORESIGHT = Path(sys.executable).parent / "oresight"
PATIENCE_S = 20.0
START_S = 120.0
MISSING = [tool for tool in ("Xvfb", "xdotool") if shutil.which(tool) is None]

on_a_display = pytest.mark.skipif(
    bool(MISSING), reason=f"needs {' and '.join(MISSING)}: sudo apt-get install -y xvfb xdotool"
)
pytestmark = pytest.mark.gl


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as server:
        os.close(writer)
        with os.fdopen(reader) as told:
            name = f":{told.readline().strip()}"
        yield name
        server.terminate()


class OtherWindow:
    """A window of another program on the same display."""

    def __init__(self, display: str) -> None:
        self._x: Any = ctypes.CDLL("libX11.so.6")
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XDefaultRootWindow.restype = self._x.XCreateSimpleWindow.restype = ctypes.c_ulong
        self._at = ctypes.c_void_p(self._x.XOpenDisplay(display.encode()))
        root = ctypes.c_ulong(self._x.XDefaultRootWindow(self._at))
        number = self._x.XCreateSimpleWindow(self._at, root, 900, 700, 50, 50, 0, ctypes.c_ulong(0), ctypes.c_ulong(0))
        self.number = int(number)
        self._x.XMapWindow(self._at, ctypes.c_ulong(self.number))
        self._x.XSync(self._at, 0)

    def close(self) -> None:
        self._x.XCloseDisplay(self._at)


class Player:
    """A person at `oresight play`: hands on keyboard and mouse, an eye on the recording."""

    def __init__(self, display: str, folder: Path, *options: str) -> None:
        self._environment = {**os.environ, "DISPLAY": display}
        self._environment.pop("WAYLAND_DISPLAY", None)
        self.folder = folder
        self.turn_based = "--turn-based" in options
        self.file = folder / "session.jsonl"
        self.process = subprocess.Popen(
            [ORESIGHT, "play", "--record", folder, "--size", "320x240", *options],
            env=self._environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Player":
        # In real time the second tick comes after the first picture; the very first start compiles for half a minute.
        lines = 1 if self.turn_based else 3
        self.wait_for(lambda: self.file.exists() and self.file.read_bytes().count(b"\n") >= lines, START_S)
        self.window = self.x("search", "--sync", "--name", "^oresight").split()[0]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def x(self, *arguments: object) -> str:
        command = ["xdotool", *map(str, arguments)]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=True)
        return done.stdout

    def ticks(self) -> list[SessionTick]:
        lines = self.file.read_bytes().split(b"\n")[1:-1]
        return [SessionTick.model_validate_json(line) for line in lines if not line.startswith(b'{"end"')]

    def wait_for(self, seen: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        until = time.monotonic() + patience_s
        while not seen():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until, self.ticks()[-5:]
            time.sleep(0.02)

    def wait_ticks(self, count: int) -> None:
        target = len(self.ticks()) + count
        self.wait_for(lambda: len(self.ticks()) >= target)

    def wait_still(self) -> int:
        """Wait until no more ticks come, and return how many there are."""
        before = -1
        while before != (count := len(self.ticks())):
            before = count
            time.sleep(0.4)
        return count

    def leave_the_pause(self) -> None:
        self.x("key", "q")
        assert self.process.wait(PATIENCE_S) == 0, self.process.communicate()


class Snapshot(SessionListener):
    """Draws what is seen after one tick of a session that is played again."""

    def __init__(self, at: int) -> None:
        self._at = at
        self._world: Any = None
        self.picture: Any = None

    def started(self, header: SessionHeader, world: Any) -> None:
        self._world = world

    def ticked(self, tick: SessionTick) -> None:
        if tick.tick == self._at:
            self.picture = self._world.render()


@on_a_display
def test_a_game_from_the_first_step_to_the_last_is_recorded_as_it_was(display: str, tmp_path: Path) -> None:
    folder = tmp_path / "me"
    with Player(display, folder, "--scenario", "valley", "--seed", "0", "--size", "640x480") as player:
        # look straight down and dig: the view still turns while the button is down
        for _ in range(8):
            player.x("mousemove_relative", 0, 80)
            time.sleep(0.05)
        player.wait_for(lambda: player.ticks()[-1].pose.pitch_deg == 90.0)
        high = player.ticks()[-1].pose.feet[1]
        player.x("mousedown", 1)
        player.x("mousemove_relative", 40, 0)
        player.wait_for(lambda: any(tick.changes for tick in player.ticks()))
        player.x("mouseup", 1)
        player.wait_for(lambda: player.ticks()[-1].pose.on_ground)
        assert player.ticks()[-1].pose.feet[1] == high - 1
        assert any(tick.controls.mine and tick.controls.yaw for tick in player.ticks())
        # jump out of the hole, and walk on
        start, deep = player.ticks()[-1].pose.feet, len(player.ticks())
        player.x("keydown", "w", "keydown", "space")
        player.wait_for(
            lambda: any(tick.pose.feet[1] == high and tick.pose.on_ground for tick in player.ticks()[deep:])
        )
        player.x("keyup", "w", "keyup", "space")
        player.wait_ticks(2)
        ticks = player.ticks()
        assert math.dist(ticks[-1].pose.feet[::2], start[::2]) > 0.5
        assert ticks[-1].controls == SessionControls()
        # place what was dug out
        for _ in range(5):
            player.x("mousemove_relative", "--", 0, -60)
            time.sleep(0.05)
        player.wait_ticks(3)
        before = len([tick for tick in player.ticks() if tick.changes])
        player.x("click", 3)
        player.wait_for(lambda: len([tick for tick in player.ticks() if tick.changes]) > before)
        placed = [change for tick in player.ticks() for change in tick.changes][-1]
        assert (placed.before, placed.natural) == ("air", False)
        # a pause has no ticks, whatever is pressed
        player.x("keydown", "w", "key", "Escape")
        count = player.wait_still()
        player.x("key", "s", "key", "F2")
        assert player.wait_still() == count
        player.leave_the_pause()
        last = player.ticks()[-1]
    end = json.loads(player.file.read_bytes().split(b"\n")[-2])
    assert end["end"] == "left" and end["tick"] == last.tick
    snapshot = Snapshot(last.tick)
    replayed = replay_session(player.file, snapshot)
    assert (replayed.difference, replayed.ended, replayed.ticks) == (None, True, last.tick)
    with Image.open(folder / "screenshots" / "000000.png") as image:
        assert np.array_equal(np.asarray(image), snapshot.picture)
    actions = [judged.action for judged in judge_session(player.file)]
    assert {"move_forward", "mine", "place", "look_down", "look_up"} <= set(actions)  # walking goes before jumping
    video = tmp_path / "me.mp4"
    assert film_session(player.file, video).difference is None
    assert video.stat().st_size > 1000


@on_a_display
def test_focus_wheel_space_resizing_and_a_stopped_process(display: str, tmp_path: Path) -> None:
    other = OtherWindow(display)
    with Player(display, tmp_path / "me") as player:
        # a key that comes up elsewhere is not down for ever, and can be pressed again
        player.x("keydown", "w")
        player.wait_ticks(4)
        player.x("windowfocus", "--sync", other.number)
        lost = player.wait_still()
        player.x("keyup", "w")
        assert player.wait_still() == lost
        player.x("windowfocus", "--sync", player.window)
        player.wait_ticks(4)
        after = player.ticks()[lost:]
        assert all(tick.controls.forward == 0 for tick in after)
        assert after[0].pose.feet[::2] == after[-1].pose.feet[::2]
        player.x("keydown", "d")
        player.wait_ticks(2)
        player.x("keyup", "d", "keydown", "w")
        player.wait_for(lambda: player.ticks()[-1].controls.forward == 1)
        player.x("keyup", "w")
        # three notches there and back
        player.x("click", "--repeat", 3, "--delay", 60, 4)
        player.x("click", "--repeat", 3, "--delay", 60, 5)
        player.wait_ticks(4)
        notched = [tick.controls for tick in player.ticks()]
        assert [held.slot for held in notched if held.slot][-1] == 1
        assert {held.slot for held in notched} >= {7}
        assert not any(held.mine or held.place for held in notched)
        # auto-repeat of space is one jump at a time
        player.wait_for(lambda: player.ticks()[-1].pose.on_ground)
        begun = len(player.ticks())
        player.x("keydown", "space")
        player.wait_ticks(30)
        player.x("keyup", "space")
        heights = [tick.pose.feet[1] for tick in player.ticks()[begun:]]
        rises = [False, *(one < two for one, two in pairwise(heights))]
        assert sum(after and not before for before, after in pairwise(rises)) == 1
        # another size of the window, and the game goes on
        player.x("windowsize", "--sync", player.window, 501, 333)
        time.sleep(0.4)
        count = len(player.ticks())
        player.x("key", "F2")
        player.x("mousemove_relative", 30, 0)
        player.wait_for(lambda: sum(tick.controls.yaw for tick in player.ticks()[count - 1 :]) == 30)
        with Image.open(player.folder / "screenshots" / "000000.png") as image:
            assert image.size == (501, 333)
        # time that passes for a stopped process is no time in the game
        player.process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        stopped = len(player.ticks())
        time.sleep(1.5)
        player.process.send_signal(signal.SIGCONT)
        time.sleep(0.2)
        assert len(player.ticks()) - stopped < 15
        player.process.send_signal(signal.SIGTERM)
        assert player.process.wait(PATIENCE_S) == 0
    other.close()
    replayed = replay_session(player.file)
    assert (replayed.difference, replayed.ended) == (None, True)


@on_a_display
def test_a_killed_game_leaves_a_session_that_plays_again(display: str, tmp_path: Path) -> None:
    with Player(display, tmp_path / "me", "--turn-based") as player:
        player.x("key", "Right", "key", "d", "key", "3")
        player.wait_for(lambda: len(player.ticks()) == 25)
        time.sleep(0.2)
        player.x("key", "f")
        player.wait_for(lambda: len(player.ticks()) > 30)
        player.process.kill()
    with player.file.open("rb+") as stream:
        stream.truncate(player.file.stat().st_size - 7)
    replayed = replay_session(player.file)
    assert (replayed.difference, replayed.ended, replayed.torn) == (None, False, True)
    assert [judged.action for judged in judge_session(player.file)] == ["look_right", "move_right", "slot_3"]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "neither DISPLAY nor WAYLAND_DISPLAY is set"),
        ({"DISPLAY": ":77"}, "no X server answers at DISPLAY=:77"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "only WAYLAND_DISPLAY is set"),
    ],
)
def test_without_a_display_one_sentence_says_so(variables: dict[str, str], words: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("DISPLAY")} | variables
    began = time.monotonic()
    done = subprocess.run(
        [ORESIGHT, "play", "--record", tmp_path / "me"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and time.monotonic() - began < 5.0
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1 and words in done.stderr
    assert not (tmp_path / "me").exists()


@on_a_display
def test_gymnasiums_human_mode_shows_every_picture_in_a_window(display: str) -> None:
    code = (
        "import gymnasium, numpy as np, oresight.craftenv.gymenv\n"
        "made = gymnasium.make('oresight/CraftMine-v0', scenario='outcrop-0', width=320, height=240,"
        " render_mode='human')\n"
        "made.reset()\n"
        "observation = made.step(np.int64(5))[0]\n"
        "import pyglet\n"
        "made.unwrapped._screen._window.dispatch_events()\n"
        "from PIL import ImageGrab\n"
        "shown = np.asarray(ImageGrab.grab(xdisplay='').convert('RGB')).astype(int)\n"
        "x, y = made.unwrapped._screen._window.get_location()\n"
        "inside = shown[y : y + 240, x : x + 320]\n"
        "print(made.render(), int(np.abs(inside - observation['image']).max()))\n"
        "import warnings\n"
        "from gymnasium.utils.env_checker import check_env\n"
        "warnings.simplefilter('error')\n"
        "check_env(made.unwrapped)\n"
        "made.close()\n"
        "made.close()\n"
    )
    env = {**os.environ, "DISPLAY": display}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["None", "0"]


@pytest.mark.parametrize("where", [None, ":77"])
def test_gymnasiums_human_mode_without_a_display_is_one_clear_error(where: str | None) -> None:
    code = (
        "import gymnasium, oresight.craftenv.gymenv\n"
        "gymnasium.make('oresight/CraftMine-v0', scenario='outcrop-0', render_mode='human').reset()\n"
    )
    env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    if where is not None:
        env["DISPLAY"] = where
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().split("\n")[-1].startswith("oresight.craftenv.render.context.OpenGLUnavailable: ")
