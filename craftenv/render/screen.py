"""The window on the display: shows finished pictures, and reports what keyboard, mouse and window system do.

All of pyglet that a person's window needs is here; what the events mean is left to the game.
"""

from collections import deque
from ctypes import byref, c_uint
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from oresight.craftenv.controls import (
    LEFT_BUTTON,
    RIGHT_BUTTON,
    Closed,
    Event,
    FocusGained,
    FocusLost,
    Moved,
    Pressed,
    Released,
    Scrolled,
)
from oresight.craftenv.render import context as gl_context
from oresight.craftenv.render.renderer import LARGEST, SMALLEST

Picture = npt.NDArray[np.uint8]


class Screen:
    """The one window of a windowed process. A context manager; closing hides it."""

    def __init__(self, title: str, width: int, height: int) -> None:
        """Open the window and give it the keyboard.

        Args:
            title: What its bar says.
            width: Of its inside, in the units of the window system.
            height: Likewise.

        Raises:
            OpenGLUnavailable: There is no display, or no OpenGL 3.3 on it.
            ContextModeError: The process already draws without a window.
        """
        self._context = gl_context.acquire("windowed")
        self._window: Any = self._context.window
        self._names = gl_context.GLNames()
        self._free = self._context.free_with(self, self._names)
        self._events: deque[Event] = deque()
        self._captured = False
        self._textured = (0, 0)
        with self._context.current() as gl:
            texture, frame = c_uint(), c_uint()
            gl.glGenTextures(1, byref(texture))
            gl.glGenFramebuffers(1, byref(frame))
            self._texture, self._frame = int(texture.value), int(frame.value)
            self._names.framebuffers.append(self._frame)
        self._handlers = _Handlers(self, self._events)
        self._window.push_handlers(self._handlers)
        self._window.set_caption(title)
        self._window.set_minimum_size(*SMALLEST)
        self._window.set_size(width, height)
        self._window.set_visible(True)
        self._window.activate()
        self._window.dispatch_events()  # sends the above off now, and not with the first picture

    def __enter__(self) -> "Screen":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give mouse and keyboard back and hide the window; closing twice does nothing."""
        if self._window is None:
            return
        self.capture(False)
        self._window.remove_handlers(self._handlers)
        self._window.set_visible(False)
        with self._context.current() as gl:
            gl.glDeleteTextures(1, byref(c_uint(self._texture)))
        self._free()
        self._window = None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the inside in real pixels, which are more than its units on a fine screen."""
        width, height = self._window.get_framebuffer_size()
        return int(width), int(height)

    def events(self) -> list[Event]:
        """Return what has happened since the last call, in order."""
        self._window.switch_to()
        self._window.dispatch_events()
        found = list(self._events)
        self._events.clear()
        return found

    def capture(self, wanted: bool) -> None:
        """Hide the pointer and take every movement of the mouse, or give it back."""
        if wanted != self._captured:
            self._captured = wanted
            self._window.set_exclusive_mouse(wanted)
            self.steady()

    @property
    def captured(self) -> bool:
        """Whether the mouse belongs to the game."""
        return self._captured

    def recentre(self) -> None:
        """After a change of size: hold the captured pointer in the new middle."""
        if self._captured:
            self._window.set_exclusive_mouse(False)
            self._window.set_exclusive_mouse(True)
            self.steady()

    def steady(self) -> None:
        """Take a pointer that was just captured to be in the middle, so that its first movement counts in full.

        On X11 pyglet leaves out the first movement, and takes its own move to the middle of a window of odd height for
        one of the mouse.
        """
        window = self._window
        if not getattr(window, "_applied_mouse_exclusive", None) or not hasattr(window, "_mouse_exclusive_client"):
            return
        across, down = window._width // 2, window._height - window._height // 2
        window._mouse_exclusive_client = across, down
        window._mouse_x, window._mouse_y = across / window._scale, window.height - 1 - down / window._scale
        window._mouse_in_window = True

    def show(self, picture: Picture) -> None:
        """Show a picture, uint8[height, width, 3], over the whole inside of the window."""
        height, width = picture.shape[:2]
        across, up = self.size
        pixels = np.ascontiguousarray(picture)
        with self._context.current() as gl:
            gl.glBindTexture(gl.GL_TEXTURE_2D, self._texture)
            gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)
            if self._textured != (width, height):
                self._textured = (width, height)
                gl.glTexImage2D(
                    gl.GL_TEXTURE_2D,
                    0,
                    gl.GL_RGB8,
                    width,
                    height,
                    0,
                    gl.GL_RGB,
                    gl.GL_UNSIGNED_BYTE,
                    pixels.ctypes.data,
                )
            else:
                gl.glTexSubImage2D(
                    gl.GL_TEXTURE_2D, 0, 0, 0, width, height, gl.GL_RGB, gl.GL_UNSIGNED_BYTE, pixels.ctypes.data
                )
            gl.glBindTexture(gl.GL_TEXTURE_2D, 0)
            gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, self._frame)
            gl.glFramebufferTexture2D(
                gl.GL_READ_FRAMEBUFFER, gl.GL_COLOR_ATTACHMENT0, gl.GL_TEXTURE_2D, self._texture, 0
            )
            gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, 0)
            # The top row comes first in the picture and last in the window.
            gl.glBlitFramebuffer(0, 0, width, height, 0, up, across, 0, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)
        self._window.flip()


def picture_size(inside: tuple[int, int]) -> tuple[int, int]:
    """Return the size to draw pictures in for a window: its own, or of its shape where that is too large to draw."""
    scale = min(1.0, LARGEST[0] / inside[0], LARGEST[1] / inside[1])
    width, height = (max(int(side * scale), least) for side, least in zip(inside, SMALLEST, strict=True))
    return width, height


class _Handlers:
    """pyglet's events in the game's words; True keeps pyglet from doing anything of its own."""

    def __init__(self, screen: Screen, events: deque[Event]) -> None:
        from pyglet.window import key, mouse

        self._screen = screen
        self._events = events
        self._symbol_name = key.symbol_string
        self._buttons = {mouse.LEFT: LEFT_BUTTON, mouse.RIGHT: RIGHT_BUTTON}

    def _key_name(self, symbol: int) -> str:
        # Digits are reported as _1, and as NUM_1 on the block beside.
        return str(self._symbol_name(symbol)).lower().removeprefix("num").removeprefix("_")

    def on_key_press(self, symbol: int, modifiers: int) -> bool:
        self._events.append(Pressed(self._key_name(symbol)))
        return True

    def on_key_release(self, symbol: int, modifiers: int) -> bool:
        self._events.append(Released(self._key_name(symbol)))
        return True

    def on_mouse_press(self, x: float, y: float, button: int, modifiers: int) -> bool:
        if button in self._buttons:
            self._events.append(Pressed(self._buttons[button]))
        return True

    def on_mouse_release(self, x: float, y: float, button: int, modifiers: int) -> bool:
        if button in self._buttons:
            self._events.append(Released(self._buttons[button]))
        return True

    def on_mouse_motion(self, x: float, y: float, dx: float, dy: float) -> bool:
        if self._screen.captured:
            self._events.append(Moved(dx, -dy))
        return True

    def on_mouse_drag(self, x: float, y: float, dx: float, dy: float, buttons: int, modifiers: int) -> bool:
        return self.on_mouse_motion(x, y, dx, dy)

    def on_mouse_scroll(self, x: float, y: float, scroll_x: float, scroll_y: float) -> bool:
        if scroll_y:
            self._events.append(Scrolled(scroll_y))
        return True

    def on_show(self) -> bool:
        self._screen.steady()
        return True

    def on_mouse_enter(self, x: float, y: float) -> bool:
        self._screen.steady()
        return True

    def on_mouse_leave(self, x: float, y: float) -> bool:
        self._screen.steady()
        return True

    def on_activate(self) -> bool:
        self._screen.steady()
        self._events.append(FocusGained())
        return True

    def on_deactivate(self) -> bool:
        # pyglet leaves out a press of a key that it takes to be down, and it does not see what comes up elsewhere.
        pressed = getattr(self._screen._window, "pressed_keys", None)
        if pressed is not None:
            pressed.clear()
        self._events.append(FocusLost())
        return True

    def on_hide(self) -> bool:
        return self.on_deactivate()

    def on_close(self) -> bool:
        self._events.append(Closed())
        return True
