"""The window for people: the game at 20 ticks a second, or a decision at a time, with pause, help and a referee's view.

`Session` is the game as a person plays it: events and passing time in, ticks out; it needs no window. `play` puts it
onto a screen. What is written down of a session, and what the referee says of it, is the business of the watchers.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from oresight.craftenv.actions import ACTIONS, Action
from oresight.craftenv.blocks import Block
from oresight.craftenv.config import EYE_HEIGHT, PITCH_LIMIT_COUNTS, TICKS_PER_SECOND, WALK_PER_TICK, YAW_COUNTS
from oresight.craftenv.controls import (
    CHOICE_KEYS,
    LEFT_BUTTON,
    RIGHT_BUTTON,
    Choices,
    Closed,
    Event,
    FocusGained,
    FocusLost,
    Hands,
    Pressed,
    Released,
)
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.craftenv.sim.angles import counts
from oresight.craftenv.sim.engine import Controls, Engine, Happenings, controls_of
from oresight.craftenv.text import outcome

if TYPE_CHECKING:
    from oresight.craftenv.render.renderer import Renderer

TICK_S = 1.0 / TICKS_PER_SECOND
# After a long frame, or a process that was stopped, the world runs slower and never takes one big step.
MOST_TICKS_A_FRAME = 4
FRAME_S = 1.0 / 60.0
# A window that is being drawn larger gets pictures of its size once it has kept it for so long.
SETTLED_S = 0.2
NOTE_S = 4.0

Picture = npt.NDArray[np.uint8]
End = Literal["reached", "budget", "left"]

PAUSE_KEY = "escape"
QUIT_KEY = "q"  # while it is paused or over
HELP_KEYS = ("f1", "h")
SCREENSHOT_KEY = "f2"
REFEREE_KEYS = ("f3", "tab")


@dataclass(frozen=True)
class Tick:
    """One tick that has passed.

    Attributes:
        number: Counted from 1.
        action: In the turn-based mode the decision that began with this tick.
        controls: The input of the simulation.
        happened: What this tick alone did.
        last: Whether a decision of the turn-based mode ended with it.
    """

    number: int
    action: Action | None
    controls: Controls
    happened: Happenings
    last: bool


class Watcher(Protocol):
    """Follows a session; it only looks at the engine, and never changes it."""

    def started(self, engine: Engine) -> None:
        """Note that the world stands at the start."""

    def ticked(self, tick: Tick, engine: Engine) -> None:
        """Note that a tick has passed."""

    def ended(self, end: End, engine: Engine) -> None:
        """Note that the session is over, and why."""

    def referee(self) -> Sequence[str]:
        """Return the text of the referee's overlay; called only while it is shown."""


@dataclass(frozen=True)
class _Pose:
    feet: tuple[float, float, float]
    yaw: int
    pitch: int


@dataclass(frozen=True)
class View:
    """From where a picture is drawn: the eye's place in blocks, and angles in counts."""

    eye: tuple[float, float, float]
    yaw: int
    pitch: int


class Session:
    """A scenario as a person plays it.

    Time passes only in `advance`, a whole number of ticks each time; it stands still while the session is paused, has
    lost the keyboard, or is over, and in the turn-based mode between decisions.
    """

    def __init__(self, scenario: Scenario, watchers: Sequence[Watcher] = (), *, turn_based: bool = False) -> None:
        """Set the world up.

        Args:
            scenario: What is played.
            watchers: Called with every tick.
            turn_based: A key is one of the 21 decisions, and the world stands still between them.
        """
        self.scenario = scenario
        self.turn_based = turn_based
        self.engine = Engine(
            scenario.world_seed,
            scenario.spawn,
            counts(scenario.yaw_deg),
            scenario.inventory_items,
            scenario.target_item,
        )
        self.paused = False
        self.away = False
        self.end: End | None = None
        self.acquired = 0
        self.decisions = 0
        self.last_outcome = ""
        self._watchers = tuple(watchers)
        self._hands = Hands(self.engine.player.slot)
        self._choices = Choices()
        self._running: Action | None = None
        self._happened = Happenings()
        self._done = 0
        self._feet_before = self.engine.player.feet
        self._tick = 0
        self._waiting_s = 0.0
        self._before = self._now = self._pose()
        for watcher in self._watchers:
            watcher.started(self.engine)

    def _pose(self) -> _Pose:
        player = self.engine.player
        return _Pose(player.feet, player.yaw, player.pitch)

    @property
    def frozen(self) -> bool:
        """Whether no time passes, whatever is pressed."""
        return self.paused or self.away or self.end is not None

    def take(self, event: Event) -> None:
        """Take in an event; while no time passes, nothing is pressed."""
        if isinstance(event, FocusLost):
            self.away = True
            self._let_go()
            return
        if isinstance(event, FocusGained):
            self.away = False
            return
        if isinstance(event, Pressed) and self.away:
            self.away = False  # where no window manager reports the focus, a key does
            if event.name in (LEFT_BUTTON, RIGHT_BUTTON):
                return  # the click that comes back to the game does nothing in it
        if self.frozen and not isinstance(event, Released):
            return
        if self.turn_based:
            self._choices.take(event, self.engine.player.slot)
        else:
            self._hands.take(event)

    def pause(self, wanted: bool) -> None:
        """Pause and release every key, or resume."""
        self.paused = wanted
        self._let_go()

    def _let_go(self) -> None:
        self._hands.let_go()
        self._choices.let_go()

    def leave(self) -> None:
        """End the session, if it has not ended."""
        self._finish("left")

    def _finish(self, end: End) -> None:
        if self.end is None:
            self.end = end
            self._waiting_s = TICK_S
            self._let_go()
            for watcher in self._watchers:
                watcher.ended(end, self.engine)

    def advance(self, elapsed_s: float) -> int:
        """Let time pass.

        Args:
            elapsed_s: Since the last call. Of a long time only the first few ticks are made up for.

        Returns:
            How many ticks passed, at most `MOST_TICKS_A_FRAME`.
        """
        if self.frozen:
            return 0
        self._waiting_s += max(elapsed_s, 0.0)
        ticks = 0
        while self._waiting_s >= TICK_S and ticks < MOST_TICKS_A_FRAME and self.end is None:
            if self.turn_based and not self._choose():
                break
            self._waiting_s -= TICK_S
            self._step()
            ticks += 1
        # What is left over is lost, and between decisions no time gathers.
        self._waiting_s = min(self._waiting_s, TICK_S)
        return ticks

    def _choose(self) -> bool:
        """Return whether a decision is under way; take the next one if there is any."""
        if self._running is None:
            self._running = self._choices.next()
            self._done = 0
            self._happened = Happenings()
            self._feet_before = self.engine.player.feet
            # A decision that was only now asked for does not make up for the time before.
            self._waiting_s = min(self._waiting_s, TICK_S)
        return self._running is not None

    def _step(self) -> None:
        action = self._running
        self._before = self._now
        controls = self._hands.controls() if action is None else controls_of(action, self._done)
        happened = Happenings()
        self.engine.tick(controls, happened)
        self._tick += 1
        self._now = self._pose()
        self.acquired += len(happened.acquired)
        last = False
        if action is not None:
            self._done += 1
            self._happened.add(happened)
            last = self._done == action.ticks
        tick = Tick(self._tick, action if self._done == 1 else None, controls, happened, last)
        if last:
            self.engine.let_go()
        for watcher in self._watchers:
            watcher.ticked(tick, self.engine)
        if action is not None and last:
            self._decided(action)
        elif action is None and self.acquired >= self.scenario.target_count:
            self._finish("reached")

    def _decided(self, action: Action) -> None:
        self._running = None
        self.decisions += 1
        walk = WALK_PER_TICK * action.ticks
        words = outcome(action, self._happened, self.engine.player, self._feet_before, walk)
        self.last_outcome = f"{action.name} -> {words}"
        if self.acquired >= self.scenario.target_count:
            self._finish("reached")
        elif self.decisions >= self.scenario.budget:
            self._finish("budget")

    def view(self) -> View:
        """Return where the eye is to be drawn: on its way between the last two ticks.

        A turn by the mouse shows at once, also what the next tick will take of it.
        """
        part = min(self._waiting_s / TICK_S, 1.0)
        before, now = self._before, self._now
        x, y, z = (one + (other - one) * part for one, other in zip(before.feet, now.feet, strict=True))
        if part == 1.0:
            x, y, z = now.feet
        if self.turn_based:
            turn = (now.yaw - before.yaw + YAW_COUNTS // 2) % YAW_COUNTS - YAW_COUNTS // 2
            yaw = before.yaw + round(turn * part)
            pitch = before.pitch + round((now.pitch - before.pitch) * part)
        else:
            right, down = self._hands.turning
            yaw, pitch = now.yaw + right, now.pitch + down
        pitch = min(max(pitch, -PITCH_LIMIT_COUNTS), PITCH_LIMIT_COUNTS)
        return View((x, y + EYE_HEIGHT, z), yaw % YAW_COUNTS, pitch)

    def referee(self) -> list[str]:
        """Return what the watchers' referees say."""
        return [line for watcher in self._watchers for line in watcher.referee()]


def help_lines(turn_based: bool) -> list[str]:
    """Return what the help overlay says, from the table of actions."""
    lines = ["Turn by turn: a key is one decision" if turn_based else "Keys", ""]
    keys: dict[str, list[str]] = {}
    if turn_based:
        for key, action in CHOICE_KEYS.items():
            if not action.slot:
                keys.setdefault(action.name.replace("_", " "), []).append(key)
    else:
        for action in ACTIONS:
            if action.key != "none" and not action.slot and not action.yaw_counts and not action.pitch_counts:
                keys[action.name.replace("_", " ")] = [action.key]
        keys["look around"] = ["mouse"]
    keys["select a slot"] = ["1 to 9", "wheel"]
    keys["pause, and give the mouse back"] = [PAUSE_KEY]
    keys["leave, while paused"] = [QUIT_KEY]
    keys["this help"] = [*HELP_KEYS]
    keys["screenshot"] = [SCREENSHOT_KEY]
    keys["the referee's view"] = [*REFEREE_KEYS]
    return lines + [f"{' or '.join(names)}: {what}" for what, names in keys.items()]


class Surface(Protocol):
    """What `play` needs of a screen; see `craftenv.render.screen.Screen`."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""

    def events(self) -> list[Event]:
        """Return what has happened since the last call."""

    def capture(self, wanted: bool) -> None:
        """Take the mouse or give it back."""

    def recentre(self) -> None:
        """Note that the size has changed."""

    def show(self, picture: Picture) -> None:
        """Show a picture."""


class Game:
    """A session on a surface: draws it, and obeys the keys that are about the window."""

    def __init__(
        self, session: Session, surface: Surface, save: Callable[[Picture], str], *, shows_referee: bool = False
    ) -> None:
        """Put a session onto a surface.

        Args:
            session: The game.
            surface: Where it is seen.
            save: Keeps a screenshot and says what became of it.
            shows_referee: Whether the referee's overlay is there from the start.
        """
        from oresight.craftenv.render.screen import picture_size

        self.session = session
        self.closed = False
        self.shows_help = False
        self.shows_referee = shows_referee
        self._surface = surface
        self._save = save
        self._picture_size = picture_size
        self._note = ""
        self._note_until = 0.0
        self._renderer = self._make_renderer(surface.size)
        self._size = surface.size
        self._settled = 0.0
        self._capture()

    def _make_renderer(self, inside: tuple[int, int]) -> "Renderer":
        from oresight.craftenv.render.renderer import Renderer

        return Renderer(*self._picture_size(inside))

    def close(self) -> None:
        """Free what the pictures took, and give the mouse back."""
        self._surface.capture(False)
        self._renderer.close()

    def _capture(self) -> None:
        self._surface.capture(not self.session.turn_based and not self.session.frozen)

    def handle(self, event: Event) -> None:
        """Take in one event."""
        session = self.session
        if isinstance(event, Closed):
            self.closed = True
        elif isinstance(event, Pressed) and event.name == PAUSE_KEY:
            session.pause(not session.paused)
        elif isinstance(event, Pressed) and event.name == QUIT_KEY and (session.paused or session.end is not None):
            self.closed = True
        elif isinstance(event, Pressed) and event.name in HELP_KEYS:
            self.shows_help = not self.shows_help
        elif isinstance(event, Pressed) and event.name in REFEREE_KEYS:
            self.shows_referee = not self.shows_referee
        elif isinstance(event, Pressed) and event.name == SCREENSHOT_KEY:
            self._note, self._note_until = self._save(self.picture(overlays=False)), time.monotonic() + NOTE_S
        elif isinstance(event, Pressed) and session.paused and event.name in (LEFT_BUTTON, RIGHT_BUTTON):
            session.pause(False)  # the click that comes back to the game does nothing in it
        else:
            session.take(event)
        self._capture()

    def frame(self, elapsed_s: float) -> None:
        """Take in what has happened, let time pass and show one picture."""
        for event in self._surface.events():
            self.handle(event)
        if self.closed:
            return
        self.session.advance(elapsed_s)
        self._capture()
        self._fit(elapsed_s)
        self._surface.show(self.picture())

    def _fit(self, elapsed_s: float) -> None:
        size = self._surface.size
        if size != self._size:
            self._size, self._settled = size, 0.0
            self._surface.recentre()
        self._settled += elapsed_s
        wanted = self._picture_size(size)
        if wanted != (self._renderer.width, self._renderer.height) and self._settled >= SETTLED_S:
            self._renderer.close()
            self._renderer = self._make_renderer(size)

    def picture(self, overlays: bool = True) -> Picture:
        """Draw what is to be seen now, uint8[height, width, 3]."""
        from oresight.craftenv.render.panels import draw_panel
        from oresight.craftenv.render.scene import draw_game

        view = self.session.view()
        picture = draw_game(self._renderer, self.session.engine, view.eye, view.yaw, view.pitch)
        if overlays:
            draw_panel(picture, self._task_lines())
            if self.shows_referee:
                draw_panel(picture, self.session.referee() or ["The referee has nothing to say."], across=1.0)
            if self.shows_help:
                draw_panel(picture, help_lines(self.session.turn_based), across=0.5, down=0.45)
            elif banner := self._banner():
                draw_panel(picture, [banner], across=0.5, down=0.4)
        return picture

    def _task_lines(self) -> list[str]:
        session = self.session
        target = Block(session.engine.target_item).label.replace("_", " ")
        lines = [f"Get {session.scenario.target_count} {target} ({session.acquired} so far)"]
        if session.turn_based:
            lines.append(f"Decision {min(session.decisions + 1, session.scenario.budget)}")
            if session.last_outcome:
                lines.append(session.last_outcome)
        lines.append("F1: help")
        if self._note and time.monotonic() < self._note_until:
            lines.append(self._note)
        return lines

    def _banner(self) -> str:
        session = self.session
        if session.end == "reached":
            return "Done: you have it. Q leaves."
        if session.end == "budget":
            return "No decisions are left. Q leaves."
        if session.paused:
            return "Paused. Press Esc or click to resume, Q to leave."
        return "The keyboard is elsewhere; click here to resume." if session.away else ""


def play(
    make_session: Callable[[], Session],
    title: str,
    size: tuple[int, int],
    save: Callable[[Picture], str],
    *,
    shows_referee: bool = False,
) -> Session:
    """Open a window and play in it until it is closed.

    Args:
        make_session: Sets the game up, once the window is there.
        title: The window's title.
        size: Width and height of its inside.
        save: Keeps a screenshot and says what became of it.
        shows_referee: Whether the referee's overlay is there from the start.

    Returns:
        The game, which is over.

    Raises:
        OpenGLUnavailable: There is no display, or no OpenGL 3.3 on it.
    """
    from oresight.craftenv.render.screen import Screen

    with Screen(title, *size) as screen:
        session = make_session()
        try:
            game = Game(session, screen, save, shows_referee=shows_referee)
            try:
                _loop(game)
            finally:
                game.close()
        finally:
            session.leave()
    return session


def _loop(game: Game) -> None:
    before = time.monotonic()
    with _asked_to_stop() as asked:
        while not (game.closed or asked.is_set()):
            now = time.monotonic()
            game.frame(now - before)
            before = now
            time.sleep(max(0.0, FRAME_S - (time.monotonic() - now)))


@contextmanager
def _asked_to_stop() -> Iterator[threading.Event]:
    """Take Ctrl-C and the like as a wish to leave: between two frames, and not in the middle of a tick."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked  # no other thread may ask for signals
        return
    before = {number: signal.signal(number, lambda *_: asked.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
