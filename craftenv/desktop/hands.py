"""Hands on the keyboard and the mouse of an X display, by pynput; the one file that names it.

Keys are chosen by what they write (their keysym), not by where they are, so that any layout that has the letters will
do. What is pressed when, and whether it has arrived, is left to `desktop`, which drives, and `desktop_game`, which uses
hands only to release what a driver that has died left pressed.
"""

import importlib
import importlib.util
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from oresight.craftenv.actions import ACTIONS, Effect
from oresight.craftenv.controls import LEFT_BUTTON, RIGHT_BUTTON

# Of the keys in the table of actions; for Latin letters and digits the keysym is the character's number.
KEYSYMS: dict[str, int] = {
    key: ord(" " if key == "space" else key)
    for key in (action.key.lower() for action in ACTIONS if action.effect not in (Effect.LOOK, Effect.WAIT))
    if key not in (LEFT_BUTTON, RIGHT_BUTTON)
}
INSTALL = 'run: python -m pip install "oresight[desktop]" (it compiles evdev: Debian packages gcc and python3-dev)'
VIRTUAL = "xvfb-run -a oresight ..."
_CLAIM = "_ORESIGHT_DESKTOP"
_DEPTHS = (24, 32)


class DesktopUnavailable(RuntimeError):  # noqa: N818 - the public name says what is the matter
    """This display cannot be driven from here; the message says what is missing and what to do."""


class DesktopBusy(DesktopUnavailable):
    """Another driver has this display."""


class Hands:
    """What presses and moves. A context manager; closing lets go of everything."""

    def __init__(self, *, alone: bool = False) -> None:
        """Reach for the keyboard and the mouse of the display that DISPLAY names.

        Args:
            alone: Whether no other driver may have this display meanwhile.

        Raises:
            DesktopUnavailable: pynput, the display or its XTEST extension is missing, or the keyboard has no such keys.
            DesktopBusy: Another driver has this display.
        """
        self._down: list[str] = []
        self._display = _open_display()
        try:
            self._keycodes = {name: int(self._display.keysym_to_keycode(keysym)) for name, keysym in KEYSYMS.items()}
            missing = [name for name, code in self._keycodes.items() if code == 0]
            if missing:
                raise DesktopUnavailable(
                    f"no key of this display's keyboard layout writes {', '.join(missing)}; add a layout that has them,"
                    f" for example: setxkbmap us,ru; or play on a display of its own: {VIRTUAL}"
                )
            keyboard, mouse = _import_pynput()
            self._keyboard, self._mouse = keyboard.Controller(), mouse.Controller()
            self._keys = {name: keyboard.KeyCode.from_vk(keysym) for name, keysym in KEYSYMS.items()}
            self._buttons = {LEFT_BUTTON: mouse.Button.left, RIGHT_BUTTON: mouse.Button.right}
            if alone:
                self._claim()
        except BaseException:
            self._display.close()
            raise

    def __enter__(self) -> "Hands":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def screen(self) -> tuple[int, int]:
        """Width and height of the display in pixels."""
        screen = self._display.screen()
        return int(screen.width_in_pixels), int(screen.height_in_pixels)

    @property
    def keycodes(self) -> dict[str, int]:
        """Which key of the keyboard is pressed for each name."""
        return dict(self._keycodes)

    def press(self, name: str) -> None:
        """Press a key or button and keep it down.

        Args:
            name: Of `craftenv.controls`, such as `w` or `left button`.
        """
        # Noted first: who is interrupted in between lets go of one key too many rather than of one too few.
        self._down.append(name)
        with _display_errors():
            if name in self._buttons:
                self._mouse.press(self._buttons[name])
            else:
                self._keyboard.press(self._keys[name])

    def move(self, right: int, down: int) -> None:
        """Move the pointer by a number of pixels; at the edge of the display it moves by less."""
        with _display_errors():
            self._mouse.move(right, down)

    def let_go(self, names: Iterable[str] = ()) -> None:
        """Let go of everything that these hands have pressed.

        Args:
            names: What to release as well, whatever pressed it.
        """
        with _display_errors():
            for name in dict.fromkeys([*self._down, *names]):
                if name in self._buttons:
                    self._mouse.release(self._buttons[name])
                else:
                    self._keyboard.release(self._keys[name])
        self._down.clear()

    def any_down(self, names: Iterable[str]) -> bool:
        """Return whether any of these keys or buttons is down on the display, whatever pressed it."""
        with _display_errors():
            keymap = self._display.query_keymap()
            buttons = self._display.screen().root.query_pointer().mask
        masks = {LEFT_BUTTON: 1 << 8, RIGHT_BUTTON: 1 << 10}
        return any(
            bool(buttons & masks[name])
            if name in masks
            else bool(keymap[self._keycodes[name] // 8] & 1 << self._keycodes[name] % 8)
            for name in names
        )

    def close(self) -> None:
        """Let go of everything and of the display; closing twice does nothing."""
        if self._display is None:
            return
        displays = [self._display]
        self._display = None
        with suppress(DesktopUnavailable):  # a display that is gone holds nothing down
            self.let_go()
        # Taken from pynput, whose own farewell to a display that has died prints what went wrong.
        displays += [each.__dict__.pop("_display", None) for each in (self._keyboard, self._mouse)]
        for display in filter(None, displays):
            with suppress(DesktopUnavailable), _display_errors():
                display.close()

    def _claim(self) -> None:
        """Own a selection, which the server gives back when this process is gone."""
        atom = self._display.intern_atom(_CLAIM)
        if self._display.get_selection_owner(atom) != 0:
            raise DesktopBusy(
                "another oresight already drives this display, and there is one keyboard and one mouse; wait for it, or"
                f" play on a display of its own: {VIRTUAL}"
            )
        self._window = self._display.screen().root.create_window(0, 0, 1, 1, 0, 0)
        self._window.set_selection_owner(atom, 0)
        self._display.sync()


@contextmanager
def _display_errors() -> Iterator[None]:
    """Turn what a display that goes away raises into one exception.

    Raises:
        DesktopUnavailable: It is gone.
    """
    error = importlib.import_module("Xlib.error")
    try:
        yield
    except (error.ConnectionClosedError, OSError) as fault:
        raise DesktopUnavailable("the X display is gone; start it again, and give the same command again") from fault


def check_packages() -> None:
    """Look for what injects, without a display.

    Raises:
        DesktopUnavailable: It is not installed.
    """
    for package in ("pynput", "Xlib"):
        if importlib.util.find_spec(package) is None:
            raise DesktopUnavailable(f"the desktop way presses keys through pynput, which is not installed; {INSTALL}")


def _open_display() -> Any:
    """Connect to the display.

    Raises:
        DesktopUnavailable: It cannot be opened, or it allows no injection.
    """
    check_packages()
    display, error = (importlib.import_module(f"Xlib.{name}") for name in ("display", "error"))
    faults = (error.DisplayError, error.ConnectionClosedError, error.XauthError, error.XNoAuthError, OSError)
    try:
        found = display.Display()
    except faults as fault:
        words = " ".join(str(fault).split())
        raise DesktopUnavailable(
            f"no connection to an X display ({words}); set DISPLAY, and XAUTHORITY where it asks for one, or start one"
            f" without a screen with: {VIRTUAL}"
        ) from fault
    if not found.query_extension("XTEST"):
        found.close()
        raise DesktopUnavailable(
            "this X server takes no injected keys, for it has no XTEST extension; play on a display of its own:"
            f" {VIRTUAL}"
        )
    depth = found.screen().root_depth
    if depth not in _DEPTHS:
        found.close()
        raise DesktopUnavailable(
            f"this display has {depth} bits a pixel, and pictures are taken of {' or '.join(map(str, _DEPTHS))}; start"
            ' one that has them: xvfb-run -a -s "-screen 0 1280x1024x24" oresight ...'
        )
    return found


def _import_pynput() -> tuple[Any, Any]:
    """Keyboard and mouse.

    Raises:
        DesktopUnavailable: They cannot be loaded.
    """
    try:
        return importlib.import_module("pynput.keyboard"), importlib.import_module("pynput.mouse")
    except ImportError as fault:
        words = " ".join(str(fault).split())
        raise DesktopUnavailable(f"pynput cannot be loaded ({words}); {INSTALL}") from fault
