"""Whether there is a display that a window can open on; asks the server itself, and never waits long."""

import socket
import sys

from oresight.harness.errors import MissingPartError
from oresight.harness.settings import Settings

_PATIENCE_S = 2.0
_X_PORT = 6000
# The first bytes of a client of X11: little-endian, protocol 11.0, no authorisation. Whatever comes back, it is X.
_HELLO = b"l\0\x0b\0\0\0\0\0\0\0\0\0"
ADVICE = "set DISPLAY to a running X server, or start one without a screen with: xvfb-run -a oresight ..."


def find_display(settings: Settings) -> str:
    """Names the display that a window would open on.

    Raises:
        MissingPartError: There is no display.
    """
    if sys.platform in ("win32", "darwin"):
        return "the desktop"
    if settings.x_display is None and settings.wayland_display is None:
        raise MissingPartError(f"neither DISPLAY nor WAYLAND_DISPLAY is set; {ADVICE}")
    if settings.x_display is None:
        raise MissingPartError(
            "only WAYLAND_DISPLAY is set, and windows open through X11; switch XWayland on, which sets DISPLAY, or"
            " start a server with: xvfb-run -a oresight ..."
        )
    if not x_answers(settings.x_display):
        raise MissingPartError(f"no X server answers at DISPLAY={settings.x_display}; {ADVICE}")
    return f"X display {settings.x_display}"


def x_answers(display: str) -> bool:
    """Return whether an X server answers where a display's name says."""
    host, _, number = display.rpartition(":")
    number = number.partition(".")[0]
    if not number.isdigit():
        return False
    if host not in ("", "unix"):
        return _answers(socket.AF_UNSPEC, (host.partition("/")[2] or host, _X_PORT + int(number)))
    paths = (f"/tmp/.X11-unix/X{number}", f"\0/tmp/.X11-unix/X{number}")
    return any(_answers(socket.AF_UNIX, path) for path in paths)


def _answers(family: int, address: str | tuple[str, int]) -> bool:
    try:
        if isinstance(address, tuple):
            connection = socket.create_connection(address, _PATIENCE_S)
        else:
            connection = socket.socket(family, socket.SOCK_STREAM)
            connection.settimeout(_PATIENCE_S)
        with connection:
            if isinstance(address, str):
                connection.connect(address)
            connection.sendall(_HELLO)
            return len(connection.recv(1)) == 1
    except OSError:
        return False


def opengl() -> tuple[str, str]:
    """Name and version of the OpenGL renderer that draws the pictures.

    Raises:
        MissingPartError: There is no display; the message says what to install.
    """
    from oresight.craftenv.render.context import OpenGLUnavailable, describe

    try:
        info = describe()
    except OpenGLUnavailable as error:
        raise MissingPartError(str(error)) from error
    return info.renderer, info.version
