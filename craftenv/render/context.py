"""The one OpenGL context of the process: made at first use, shared by every renderer, never made twice.

This file alone configures pyglet. It imports pyglet inside functions, so importing the package touches no driver. A
process is headless (EGL, no window, no display server) or windowed, decided by the first use. What is drawn with
the context is left to the renderer.
"""

import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_uint
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast

Mode = Literal["headless", "windowed"]
Made = TypeVar("Made")

_PACKAGES = "libegl1 libgl1 libgl1-mesa-dri"


class OpenGLUnavailable(RuntimeError):  # noqa: N818 - the public name says what is the matter
    """No OpenGL 3.3 context can be had here; the message names the packages to install."""


class ContextModeError(RuntimeError):
    """The process draws in another way than was asked for, or its context cannot be used here."""


@dataclass(frozen=True)
class ContextInfo:
    """What draws the pictures.

    Attributes:
        mode: ``headless`` or ``windowed``.
        renderer: The driver's name for the device, for example ``llvmpipe (LLVM 15.0.6, 256 bits)``.
        version: The driver's version string.
    """

    mode: Mode
    renderer: str
    version: str


@dataclass
class GLNames:
    """GL objects that belong together and are freed together."""

    buffers: list[int] = field(default_factory=list)
    vertex_arrays: list[int] = field(default_factory=list)
    framebuffers: list[int] = field(default_factory=list)
    renderbuffers: list[int] = field(default_factory=list)


class SharedContext:
    """The context of the process. Get it from `acquire`, never make one.

    Attributes:
        mode: ``headless`` or ``windowed``.
        window: The pyglet window: 1 x 1 and unseen when headless; when windowed, a hidden one that the game shows.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self._pid = os.getpid()
        self._thread = threading.get_ident()
        self._lock = threading.RLock()
        self._depth = 0
        self._doomed: list[GLNames] = []
        self._shared: dict[str, Any] = {}
        # pyglet keeps its display by weak reference only, and its headless display shuts EGL down for the whole
        # process when it is collected; `_display` keeps it for as long as the process lives.
        self.window, self._display = _open_headless() if mode == "headless" else _open_windowed()
        if mode == "headless":
            self._release()

    @contextmanager
    def current(self) -> Iterator[Any]:
        """Make the context current in this thread and yield the module of GL functions.

        A headless context is released afterwards, so that any thread may draw next; a windowed one stays with the
        thread of its window.

        Raises:
            ContextModeError: In a forked child, or in another thread than the window's.
        """
        if os.getpid() != self._pid:
            raise ContextModeError(
                "This process was forked from one that had already drawn, and an OpenGL context does not survive that; "
                "start worker processes with the 'spawn' method."
            )
        if self.mode == "windowed" and threading.get_ident() != self._thread:
            raise ContextModeError(
                "A windowed process draws only in the thread that opened its window; draw there, or in a headless "
                "process."
            )
        with self._lock:
            if self._depth == 0:
                self._make_current()
            self._depth += 1
            try:
                import pyglet.gl as gl

                self._free_doomed(gl)
                yield gl
            finally:
                self._depth -= 1
                if self._depth == 0 and self.mode == "headless":
                    self._release()
                elif self._depth == 0:
                    self._give_window_back()

    def once(self, key: str, make: Callable[[], Made]) -> Made:
        """Return the object shared under a key, made on first use (call inside `current`)."""
        if key not in self._shared:
            self._shared[key] = make()
        return cast(Made, self._shared[key])

    def free_with(self, owner: object, names: GLNames) -> Callable[[], object]:
        """Free GL objects when the owner is collected, or earlier: when the returned function is called."""
        return weakref.finalize(owner, self._doomed.append, names)

    def _free_doomed(self, gl: Any) -> None:
        while self._doomed:
            names = self._doomed.pop()
            for delete, ids in (
                (gl.glDeleteVertexArrays, names.vertex_arrays),
                (gl.glDeleteBuffers, names.buffers),
                (gl.glDeleteFramebuffers, names.framebuffers),
                (gl.glDeleteRenderbuffers, names.renderbuffers),
            ):
                if ids:
                    delete(len(ids), (c_uint * len(ids))(*ids))

    def _make_current(self) -> None:
        if self.mode == "headless":
            from pyglet.libs.egl import egl

            egl.eglBindAPI(egl.EGL_OPENGL_API)  # each thread has its own choice of interface
        self.window.switch_to()

    def _give_window_back(self) -> None:
        """Leave OpenGL as pyglet expects it, so that what the window draws of its own comes out right."""
        import pyglet.gl as gl

        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, 0)
        gl.glViewport(0, 0, *self.window.get_framebuffer_size())
        gl.glBindVertexArray(0)
        gl.glBindSampler(0, 0)
        gl.glUseProgram(0)
        gl.glDisable(gl.GL_DEPTH_TEST)
        gl.glDisable(gl.GL_BLEND)

    def _release(self) -> None:
        from pyglet.libs.egl import egl

        egl.eglMakeCurrent(self._display._display_connection, None, None, None)


_context: SharedContext | None = None
_context_lock = threading.Lock()


def acquire(mode: Mode | None = None) -> SharedContext:
    """Return the process's context, making it on first use.

    Args:
        mode: What the caller needs; None takes what the process has, headless if it has nothing yet.

    Raises:
        ContextModeError: The process already has the other kind.
        OpenGLUnavailable: There is no OpenGL 3.3 here.
    """
    global _context
    with _context_lock:
        if _context is None:
            _context = SharedContext(mode or "headless")
        if mode is not None and _context.mode != mode:
            raise ContextModeError(
                f"This process already draws {_context.mode} and cannot become {mode}; start a second process for that."
            )
        return _context


def describe() -> ContextInfo:
    """Say what draws the pictures, making the context if needed.

    Raises:
        OpenGLUnavailable: There is no OpenGL 3.3 here.
    """
    context = acquire()
    with context.current() as gl:
        info = gl.gl_info
        return ContextInfo(context.mode, info.get_renderer(), info.get_version_string())


def _configure(headless: bool) -> Any:
    """Import pyglet with our options; they count only before pyglet.gl and pyglet.window are first imported."""
    import pyglet

    set_up = "pyglet.window" in sys.modules or "pyglet.gl" in sys.modules
    if set_up and bool(pyglet.options["headless"]) != headless:
        have, want = ("windowed", "headless") if headless else ("headless", "windowed")
        raise ContextModeError(
            f"Other code in this process already set pyglet up to be {have}; pictures here need it {want}. "
            "Open the environment before that code, or in a process of its own."
        )
    pyglet.options["headless"] = headless
    pyglet.options["shadow_window"] = False  # it would be a second context
    pyglet.options["debug_gl"] = False  # an error query after every call costs more than the calls
    return pyglet


def _unavailable(reason: object) -> OpenGLUnavailable:
    text = str(reason).strip().rstrip(".") or type(reason).__name__
    return OpenGLUnavailable(
        f"No OpenGL 3.3 could be opened ({text}); on Debian or Ubuntu install the packages {_PACKAGES}, "
        "or run without pictures."
    )


def _open_headless() -> tuple[Any, Any]:
    _configure(headless=True)
    try:
        from pyglet.libs.egl import egl, eglext
    except (ImportError, AttributeError) as error:
        raise _unavailable(error) from error
    count = egl.EGLint()
    try:
        eglext.eglQueryDevicesEXT(0, None, count)
    except (ImportError, AttributeError, OSError) as error:
        raise _unavailable(error) from error
    failure: Exception | None = None
    # The first device that works: a graphics card without permission must not hide the software renderer behind it.
    for device in range(max(1, count.value)):
        try:
            return _open_device(device)
        except OpenGLUnavailable as error:
            failure = failure or error
    assert failure is not None
    raise failure


def _open_device(device: int) -> tuple[Any, Any]:
    import pyglet

    pyglet.options["headless_device"] = device
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pyglet warns when EGL lists no device and then takes the native display
            import pyglet.gl as gl
            from pyglet.display.headless import HeadlessDisplay
            from pyglet.window import Window, WindowException

            display = HeadlessDisplay()
    except (ImportError, AttributeError, OSError, ValueError) as error:
        raise _unavailable(error) from error
    try:
        config = gl.Config(major_version=3, minor_version=3, double_buffer=False)
        window = Window(width=1, height=1, display=display, config=config, visible=False)
    except (gl.ConfigException, gl.ContextException, WindowException, gl.GLException, AttributeError) as error:
        raise _unavailable(error) from error
    return window, display


def _open_windowed() -> tuple[Any, Any]:
    _configure(headless=False)
    try:
        import pyglet.gl as gl
        from pyglet.display.xlib import NoSuchDisplayException
        from pyglet.window import Window, WindowException
    except (ImportError, AttributeError, OSError) as error:
        raise _unavailable(error) from error
    try:
        config = gl.Config(major_version=3, minor_version=3, double_buffer=True, depth_size=24)
        window = Window(width=640, height=480, config=config, visible=False, resizable=True, vsync=False)
    except NoSuchDisplayException as error:
        raise OpenGLUnavailable(
            "No display was found for the window; set DISPLAY to a running one, or start Xvfb (Debian package xvfb)."
        ) from error
    except (gl.ConfigException, gl.ContextException, WindowException, gl.GLException) as error:
        raise _unavailable(error) from error
    return window, window.display
