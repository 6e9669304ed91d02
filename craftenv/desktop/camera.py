"""The eye of the desktop way: takes pictures off the screen, by mss; and looks for all that the desktop way needs."""

import importlib.metadata
from typing import Any

import numpy as np
import numpy.typing as npt

from oresight.craftenv.desktop.hands import DesktopUnavailable, Hands

Picture = npt.NDArray[np.uint8]

_LIBRARIES = "libxcb1 libxcb-randr0 libxcb-render0 libxcb-shm0 libxcb-xfixes0"


class Camera:
    """Takes pictures of the display that DISPLAY names; the pointer is never in them."""

    def __init__(self) -> None:
        """Open it.

        Raises:
            DesktopUnavailable: A library is missing, or the display gives no pictures.
        """
        import mss

        try:
            self._mss: Any = mss.MSS()
        except (mss.ScreenShotError, OSError, AttributeError) as error:
            words = " ".join(str(error).split())
            raise DesktopUnavailable(
                f"no pictures can be taken of this display ({words}); on Debian or Ubuntu install the packages"
                f" {_LIBRARIES}"
            ) from error

    def take(self, left: int, top: int, width: int, height: int) -> Picture:
        """Take a picture of a part of the display, uint8[height, width, 3] RGB.

        Raises:
            DesktopUnavailable: The display gives none.
        """
        import mss

        try:
            shot = self._mss.grab({"left": left, "top": top, "width": width, "height": height})
        except (mss.ScreenShotError, OSError) as error:
            raise DesktopUnavailable(
                f"the display gives no picture ({error}); see that it is still there, and give the same command again"
            ) from error
        pixels = np.frombuffer(shot.raw, np.uint8).reshape(height, width, 4)
        return np.ascontiguousarray(pixels[:, :, 2::-1])

    def close(self) -> None:
        """Let go of the display."""
        self._mss.close()


def describe_desktop() -> str:
    """Say what would drive the display.

    Raises:
        DesktopUnavailable: It cannot be driven.
    """
    with Hands() as hands:
        width, height = hands.screen
        Camera().close()
    versions = " and ".join(f"{name} {importlib.metadata.version(name)}" for name in ("pynput", "mss"))
    return f"{versions}, a display of {width} x {height}"


def check_desktop(size: tuple[int, int]) -> None:
    """Look for what playing through a window needs, without opening one.

    Args:
        size: Of the window's inside.

    Raises:
        DesktopUnavailable: Something is missing, or the window does not fit.
        DesktopBusy: Another driver has this display.
    """
    with Hands(alone=True) as hands:
        screen = hands.screen
        Camera().close()
    if size[0] > screen[0] or size[1] > screen[1]:
        raise DesktopUnavailable(
            f"a window of {size[0]} x {size[1]} does not fit on a display of {screen[0]} x {screen[1]}; choose a"
            ' smaller --size, or a larger display: xvfb-run -a -s "-screen 0 1920x1080x24" oresight ...'
        )
