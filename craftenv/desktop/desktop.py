"""The 3D world driven as a person drives it: keys and mouse injected into a real window, pictures taken off the screen.

`DesktopEnv` is the driver, and an environment like `CraftEnv`; the game is a process of its own, `desktop_game`. They
go in lock-step. For every decision the game takes the device that is used, the driver presses the key or moves the
mouse, the game says what it sees until that is what is meant, plays exactly that action's ticks and freezes; the driver
lets go, and the game says that all is up. The picture is read off the screen, and checked to be what the game drew.
"""

import multiprocessing
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from oresight.craftenv.actions import ACTION_NAMES, BY_NAME, Action, Effect
from oresight.craftenv.controls import LEFT_BUTTON, RIGHT_BUTTON
from oresight.craftenv.desktop.camera import Camera, Picture
from oresight.craftenv.desktop.hands import Hands
from oresight.craftenv.desktop.link import Json, Link, LinkClosed, LinkSilent, digest_of
from oresight.craftenv.env import EnvSpec, Observation, Transition
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.craftenv.sim.facts import Facts

# The very first start compiles the simulation.
_START_S = 300.0
_ANSWER_S = 60.0
# How long another user may hold a key, the pointer, or the place in front of the window.
PATIENCE_S = 8.0
_PAUSE_S = 0.05
_END_S = 5.0
# A display that keeps colours otherwise than in eight bits may round them.
ROUNDING = 2
_MOST_STALLS = 3


class DesktopError(RuntimeError):
    """The display does not do as asked, or the game is gone; one sentence says what was found."""


class GameGoneError(DesktopError):
    """The game's process has ended."""


class DesktopEnv:
    """One scenario of the 3D world in a window. A context manager; `close` ends the game's process."""

    def __init__(
        self, scenario: Scenario, *, width: int = 640, height: int = 480, patience_s: float = PATIENCE_S
    ) -> None:
        """Prepare an environment; the window opens at the first reset.

        Args:
            scenario: What to play.
            width: Of the window's inside and the screenshot, in pixels, 64 to 1920.
            height: Likewise, 48 to 1080.
            patience_s: How long to wait for a display that is in use.
        """
        self.scenario = scenario
        self.spec = EnvSpec(f"craft/{scenario.name}", ACTION_NAMES, scenario.budget)
        self._size = (width, height)
        self._patience_s = patience_s
        self._hands: Hands | None = None
        self._game: _GameProcess | None = None
        self._camera: Camera | None = None

    def reset(self, seed: int | None = None) -> Observation:
        """Restart the episode, opening a window if needed.

        Args:
            seed: As for `CraftEnv.reset`.

        Raises:
            DesktopUnavailable: The display cannot be driven.
            DesktopError: The game does not start, or its window is not to be seen.
        """
        self._open()
        return self._observation(self._ask("reset", seed=seed))

    def _open(self) -> None:
        if self._game is not None:
            return
        self._hands = Hands(alone=True)
        try:
            self._game = _GameProcess(self.scenario, self._size)
            self._camera = Camera()
        except BaseException:
            self.close()
            raise

    def step(self, action: str) -> Transition:
        """Press the input for one of the 21 actions, wait until it has been played, and release it.

        Raises:
            ValueError: No such action.
            DesktopError: It cannot be brought about; nothing is left pressed.
        """
        if action not in BY_NAME:
            raise ValueError(f"unknown action {action!r}; expected one of {', '.join(ACTION_NAMES)}")
        declared = BY_NAME[action]
        until = time.monotonic() + self._patience_s
        while (done := self._try(declared)) is None or done["played"] is None:
            if time.monotonic() > until:
                raise DesktopError(_why(declared, done))
            time.sleep(_PAUSE_S)
        return Transition(
            observation=self._observation(done),
            outcome=done["outcome"],
            reward=done["reward"],
            score=done["score"],
            terminated=done["terminated"],
            truncated=done["truncated"],
        )

    def _try(self, action: Action) -> Json | None:
        """Press, wait until it is played, release.

        Returns:
            What came of it; None if the device was not to be had.
        """
        hands = self._driving()
        key, device = _means(action)
        if not self._ask("ready", device=device, keys=[] if key is None else [key])["taken"]:
            return None
        try:
            if key is not None:
                hands.press(key)
            if action.effect is Effect.LOOK:
                self._turn(action)
            done = self._ask("play", means=action.name)
        finally:
            hands.let_go()
        self._settle()
        return done

    def _turn(self, action: Action) -> None:
        """Move the mouse in pieces until the game has received what is meant; what is too much is taken back."""
        hands = self._driving()
        most = [max(1, side // 2 - 2) for side in self._size]
        meant = (action.yaw_counts, action.pitch_counts)
        stalls, before = 0, (0, 0)
        while stalls < _MOST_STALLS:
            seen = self._ask("look")
            now = (seen["right"], seen["down"])
            if now == meant:
                return
            stalls = stalls + 1 if now == before else 0
            before = now
            right, down = (
                max(-limit, min(limit, wanted - got)) for wanted, got, limit in zip(meant, now, most, strict=True)
            )
            hands.move(right, down)

    def _settle(self) -> None:
        """Wait until the game sees that all is up.

        Raises:
            DesktopError: Something stays down.
        """
        until = time.monotonic() + self._patience_s
        while down := self._ask("quiet")["down"]:
            if time.monotonic() > until:
                raise DesktopError(
                    f"{' and '.join(down)} was released, but stays down in the window; see that nothing else holds it"
                )
            time.sleep(_PAUSE_S)

    def facts(self) -> Facts:
        """Return the referee's facts, as `CraftEnv.facts` does."""
        facts: Facts = self._ask("facts")["facts"]
        return facts

    def state_hash(self) -> str:
        """Return the hash of the game's state, 32 hex digits."""
        return str(self._ask("hash")["hash"])

    def _observation(self, told: Json) -> Observation:
        return Observation(told["text"], self._picture(), ACTION_NAMES, told["step"])

    def _picture(self) -> Picture:
        """Take the picture off the screen.

        Raises:
            DesktopError: The window cannot be seen as it is.
        """
        shown = self._ask("show", anew=True)
        until = time.monotonic() + self._patience_s  # from now on, since the first picture of all takes its time
        while True:
            found: Picture | None = None
            if shown["fits"]:
                found = self._grab(shown)
                if digest_of(found.tobytes()) == shown["digest"]:
                    return found
                differing = self._differing(found)
                if differing == 0.0:
                    return found
            if time.monotonic() > until:
                raise DesktopError(_not_seen(shown, None if found is None else differing))
            time.sleep(_PAUSE_S)
            shown = self._ask("show", anew=False)

    def _grab(self, shown: Json) -> Picture:
        assert self._camera is not None
        return self._camera.take(shown["left"], shown["top"], shown["width"], shown["height"])

    def _differing(self, found: Picture) -> float:
        """Return the share of a picture that differs from what the game drew by more than rounding."""
        game = self._running()
        game.send({"do": "pixels"})
        drawn = np.frombuffer(game.receive_bytes(), np.uint8)
        if drawn.size != found.size:
            return 1.0
        apart = np.abs(found.astype(np.int16) - drawn.reshape(found.shape)).max(axis=2)
        return float((apart > ROUNDING).mean())

    def _driving(self) -> Hands:
        if self._hands is None:
            raise RuntimeError("the environment was not reset; call reset() first")
        return self._hands

    def _running(self) -> "_GameProcess":
        if self._game is None:
            raise RuntimeError("the environment was not reset; call reset() first")
        return self._game

    def _ask(self, what: str, **fields: Any) -> Json:
        game = self._running()
        try:
            game.send({"do": what, **fields})
            return game.receive(_START_S if what in ("reset", "play") else _ANSWER_S)
        except GameGoneError:
            self._driving().any_down(())  # asks the display, which may be why
            raise

    def close(self) -> None:
        """Let go of everything and end the game; it can be reset and used again afterwards."""
        hands, game, camera = self._hands, self._game, self._camera
        self._hands = self._game = self._camera = None
        try:
            if hands is not None:
                hands.close()
        finally:
            if game is not None:
                game.close()
            if camera is not None:
                camera.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _GameProcess:
    """The process of the game, and the line to it."""

    def __init__(self, scenario: Scenario, size: tuple[int, int]) -> None:
        """Start it and wait until its window is open.

        Raises:
            DesktopError: It does not start.
        """
        ours, theirs = multiprocessing.Pipe()
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._link = Link(ours)
        try:
            # A session of its own: Ctrl-C and a killed process group are for the driver, and the game tidies up.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "oresight.craftenv.desktop.game", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            self._link.close()
            self._said.close()
            raise DesktopError(f"the game's process cannot be started ({error}); free memory and try again") from error
        finally:
            theirs.close()
        try:
            self.send({"scenario": scenario.model_dump(mode="json"), "width": size[0], "height": size[1]})
            self.receive(_START_S)
        except BaseException:
            self.close()
            raise

    def send(self, message: Json) -> None:
        """Ask for something.

        Raises:
            DesktopError: The game is gone.
        """
        try:
            self._link.send(message)
        except LinkClosed as error:
            raise self._gone() from error

    def receive(self, timeout_s: float) -> Json:
        """Wait for the answer.

        Raises:
            DesktopError: There is no answer, or it is a fault.
        """
        try:
            told = self._link.receive(timeout_s)
        except LinkSilent as error:
            raise DesktopError(
                f"the game did not answer within {timeout_s:.0f} s; see what else this machine does"
            ) from error
        except LinkClosed as error:
            raise self._gone() from error
        if "fault" in told:
            kind = {"ValueError": ValueError, "RuntimeError": RuntimeError}.get(told.get("kind", ""), DesktopError)
            raise kind(told["fault"])
        return told

    def receive_bytes(self) -> bytes:
        """Wait for pixels.

        Raises:
            DesktopError: There are none.
        """
        try:
            return self._link.receive_bytes(_ANSWER_S)
        except (LinkClosed, LinkSilent) as error:
            raise self._gone() from error

    def _gone(self) -> GameGoneError:
        self._said.seek(0)
        lines = self._said.read()[-4000:].decode(errors="replace").strip().splitlines()
        words = f", its last words: {lines[-1]}" if lines else ""
        return GameGoneError(f"the game's process ended in the middle of the episode{words}; play the episode again")

    def close(self) -> None:
        """Hang up, which ends the game."""
        self._link.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()


def _means(action: Action) -> tuple[str | None, str | None]:
    """Return what a person presses for an action, and on which device; None for neither."""
    if action.effect is Effect.WAIT:
        return None, None
    if action.effect is Effect.LOOK:
        return None, "mouse"
    key = action.key.lower()
    return key, "mouse" if key in (LEFT_BUTTON, RIGHT_BUTTON) else "keyboard"


def _why(action: Action, done: Json | None) -> str:
    """Why an action could not be brought about, in words."""
    if done is None:
        device = _means(action)[1]
        return f"{action.name}: another program holds the {device}; close its menu or dialog and play the episode again"
    seen = done["seen"]
    held = " and ".join(seen["held"]) or "nothing"
    return (
        f"{action.name}: the window sees {held} held down and a mouse moved by ({seen['right']}, {seen['down']}), and"
        f" not {action.key} alone; leave keyboard and mouse to the driver, and play the episode again"
    )


def _not_seen(shown: Json, differing: float | None) -> str:
    """Why there is no picture, in words."""
    if differing is None:
        return (
            f"the window stands at ({shown['left']}, {shown['top']}) with an inside of {shown['width']} x"
            f" {shown['height']}, and cannot be had whole and in its size; choose a smaller --size or a larger display"
        )
    return (
        f"{max(differing, 0.001):.1%} of the window does not show what the game drew; take away what covers it (under"
        " Wayland no program may read the screen: xvfb-run -a oresight ...), and play the episode again"
    )
