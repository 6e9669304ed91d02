"""Text on pictures for people: panels of lines, put onto a finished picture; no OpenGL."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

_MARGIN = 8
_LINE = 19
_SIZE = 15
_INK = (240, 241, 243)
# How much of the picture still shows behind a panel, out of 256.
_BACK_SHARE = 76


def _scale(height: int) -> float:
    return max(0.85, height / 720.0)


@lru_cache(maxsize=16)
def _letters(lines: tuple[str, ...], scale: float, most_width: int) -> npt.NDArray[np.uint8]:
    """Return how much ink is where: uint8[height, width], as wide as the longest line needs."""
    font = ImageFont.load_default(max(round(_SIZE * scale), 7))
    margin = round(_MARGIN * scale)
    width = max(int(font.getlength(line)) for line in lines) + 2 * margin + 1
    image = Image.new("L", (max(min(width, most_width), 1), round(len(lines) * _LINE * scale) + 2 * margin), 0)
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((margin, margin + round(number * _LINE * scale)), line, fill=255, font=font)
    return np.asarray(image, dtype=np.uint8)


def draw_panel(picture: npt.NDArray[np.uint8], lines: Sequence[str], across: float = 0.0, down: float = 0.0) -> None:
    """Put lines of text on a darkened panel onto a picture, uint8[height, width, 3], in place.

    Args:
        picture: What to draw on.
        lines: From top to bottom; none draws nothing.
        across: Where the panel lies, from 0 (at the left edge) to 1 (at the right edge).
        down: Likewise from top to bottom.
    """
    if not lines:
        return
    height, width = picture.shape[:2]
    letters = _letters(tuple(lines), _scale(height), width)[:height]
    rows, columns = letters.shape
    top, left = round((height - rows) * down), round((width - columns) * across)
    area = picture[top : top + rows, left : left + columns]
    ink = letters[..., None].astype(np.uint16)
    back = area.astype(np.uint16) * _BACK_SHARE >> 8
    area[:] = ((back * (255 - ink) + np.array(_INK, dtype=np.uint16) * ink) // 255).astype(np.uint8)
