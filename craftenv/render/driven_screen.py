"""The window of a game that is driven by injected keys and mouse: it takes the devices, and knows where it is seen.

A key that is injected must arrive here and in no other program, so keyboard and mouse are grabbed for the moment in
which it is pressed; other users of the display have them in between. Keys are known by their key code, since
what a symbol is called depends on the layout and on what else is held down.
"""

from collections.abc import Mapping
from ctypes import POINTER, byref, cast
from typing import Any

import numpy as np
import numpy.typing as npt

from oresight.craftenv.controls import Event, Pressed, Released
from oresight.craftenv.render.screen import Screen

Picture = npt.NDArray[np.uint8]


class DrivenScreen(Screen):
    """A screen of which the program presses the keys and the mouse."""

    def __init__(self, title: str, width: int, height: int, keycodes: Mapping[str, int]) -> None:
        """Open the window.

        Args:
            title: What its bar says.
            width: Of its inside in pixels; it keeps its size.
            height: Likewise.
            keycodes: The keys that count, by name.

        Raises:
            OpenGLUnavailable: There is no display, or no OpenGL 3.3 on it.
            ContextModeError: The process already draws without a window.
        """
        super().__init__(title, width, height)
        from pyglet.libs.x11 import xlib

        self._xlib: Any = xlib
        self._wanted = width, height
        self._shown_size = (0, 0)
        self._key_names = {code: name for name, code in keycodes.items()}
        self._server = self._window._x_display
        self._window.set_minimum_size(width, height)
        self._window.set_maximum_size(width, height)

    def events(self) -> list[Event]:
        """Return what has happened since the last call, everything included that the server knows of by now."""
        found: list[Event] = []
        # Twice, so that a pointer that is put back into the middle is there, and its way back is taken in.
        for _ in range(2):
            self._sync()
            found += self._keys()
            found += super().events()
        self._sync()
        return found

    def _sync(self) -> None:
        self._xlib.XSync(self._server, 0)

    def _keys(self) -> list[Event]:
        """Return what the keyboard did; taken before pyglet sees it."""
        xlib, found = self._xlib, list[Event]()
        event = xlib.XEvent()
        mask = xlib.KeyPressMask | xlib.KeyReleaseMask
        for window in (self._window._window, self._window._view):
            while xlib.XCheckWindowEvent(self._server, window, mask, byref(event)):
                name = self._key_names.get(event.xkey.keycode)
                if name is not None:
                    found.append(Pressed(name) if event.type == xlib.KeyPress else Released(name))
        return found

    def come_forward(self) -> None:
        """Be on top, wholly on the display, of the right size, and ask for the keyboard."""
        xlib = self._xlib
        xlib.XMapRaised(self._server, self._window._window)
        self._ask_window_manager()
        self._window.activate()
        if self.size != self._wanted:
            self._window.set_size(*self._wanted)
        left, top = self._window.get_location()
        across, down = self._display_size()
        wanted = (
            max(0, min(left, across - self._wanted[0])),
            max(0, min(top, down - self._wanted[1])),
        )
        if wanted != (left, top):
            self._window.set_location(*wanted)
        self._sync()

    def _ask_window_manager(self) -> None:
        """Ask for the top in the words of window managers, which may not let a window take it."""
        xlib = self._xlib
        event = xlib.XEvent()
        event.xclient.type = xlib.ClientMessage
        event.xclient.display = cast(self._server, POINTER(xlib.Display))
        event.xclient.window = self._window._window
        event.xclient.message_type = xlib.XInternAtom(self._server, b"_NET_ACTIVE_WINDOW", 0)
        event.xclient.format = 32
        event.xclient.data.l[0] = 2  # as a pager asks, on behalf of a person
        mask = xlib.SubstructureRedirectMask | xlib.SubstructureNotifyMask
        xlib.XSendEvent(self._server, self._window._get_root(), 0, mask, byref(event))

    def _display_size(self) -> tuple[int, int]:
        attributes = self._xlib.XWindowAttributes()
        self._xlib.XGetWindowAttributes(self._server, self._window._get_root(), byref(attributes))
        return int(attributes.width), int(attributes.height)

    def take_devices(self, *, keyboard: bool, mouse: bool) -> bool:
        """Take the keyboard or the mouse, so that what is pressed comes here and nowhere else.

        Returns:
            Whether they were to be had; if not, nothing is taken.
        """
        xlib, window = self._xlib, self._window._window
        now, at_once = xlib.CurrentTime, xlib.GrabModeAsync
        taken = True
        if keyboard:
            taken = xlib.XGrabKeyboard(self._server, window, 0, at_once, at_once, now) == 0
        if mouse and taken:
            self.capture(True)
            # pyglet does not ask whether it got the pointer; the owner gets it again.
            taken = xlib.XGrabPointer(self._server, window, 1, 0, at_once, at_once, window, 0, now) == 0
        if not taken:
            self.give_devices_back()
        return taken

    def give_devices_back(self) -> None:
        """Let everybody have keyboard and mouse."""
        self._xlib.XUngrabKeyboard(self._server, self._xlib.CurrentTime)
        self.capture(False)
        self._sync()

    @property
    def place(self) -> tuple[int, int, int, int]:
        """Left, top, width and height of the inside, in pixels of the display."""
        left, top = self._window.get_location()
        return int(left), int(top), *self.size

    @property
    def fits(self) -> bool:
        """Whether the window has its size and is wholly on the display."""
        left, top, width, height = self.place
        across, down = self._display_size()
        return (
            (width, height) == self._wanted and min(left, top) >= 0 and left + width <= across and top + height <= down
        )

    def present(self, picture: Picture) -> None:
        """Show a picture, uint8[height, width, 3], and return once the server has it."""
        if self.size != self._shown_size:
            # OpenGL learns of a window's new size when it swaps buffers, and the first picture goes amiss.
            self._shown_size = self.size
            self.show(picture)
        self.show(picture)
        with self._context.current() as gl:
            gl.glFinish()
        self._sync()
