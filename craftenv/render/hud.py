"""Crosshair and hotbar, put onto the finished picture; arrays only, no OpenGL.

Everything is a whole number of pixels per unit, so digits stay sharp. Pictures too narrow for the full hotbar get a
small one without counts.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import HOTBAR_SLOTS
from oresight.craftenv.render.atlas import TILE_PX, read_texture

Stack = tuple[int, int]  # item id and count; a count of 0 is an empty slot

# In units: a slot with its border, and the frame around the row.
_SLOT = 20
_FRAME = 2
_ROW_WIDTH = HOTBAR_SLOTS * _SLOT + 2 * _FRAME
_ROW_HEIGHT = _SLOT + 2 * _FRAME
# One unit is a pixel in pictures up to this high, two in pictures twice as high, and so on.
_UNIT_PER_HEIGHT = 240

# A tile with at most this many opaque pixels is a thin thing: a torch.
_THIN_TEXELS = 64

_BACK = (58, 58, 62)
_EDGE = (24, 24, 26)
_CHOSEN_BACK = (120, 120, 126)
_CHOSEN_EDGE = (255, 255, 255)

_DIGITS = {
    "0": "01110 10001 10011 10101 11001 10001 01110",
    "1": "00100 01100 00100 00100 00100 00100 01110",
    "2": "01110 10001 00001 00110 01000 10000 11111",
    "3": "01110 10001 00001 00110 00001 10001 01110",
    "4": "00010 00110 01010 10010 11111 00010 00010",
    "5": "11111 10000 11110 00001 00001 10001 01110",
    "6": "00110 01000 10000 11110 10001 10001 01110",
    "7": "11111 00001 00010 00100 00100 01000 01000",
    "8": "01110 10001 10001 01110 10001 10001 01110",
    "9": "01110 10001 10001 01111 00001 00010 01100",
}


@cache
def _digit(character: str) -> npt.NDArray[np.bool_]:
    return np.array([[pixel == "1" for pixel in row] for row in _DIGITS[character].split()])


@cache
def _picture(item: int) -> npt.NDArray[np.uint8]:
    """Return the item's picture, uint8[16, 16, 4]: its telling side; a thin thing's upper part is twice as large."""
    picture = read_texture(BLOCKS[Block(item)].side)
    rows, columns = np.nonzero(picture[..., 3] > 127)
    if len(rows) == 0 or len(rows) > _THIN_TEXELS:
        return picture
    half = TILE_PX // 2
    top = min(int(rows.min()), half)
    left = min(max((int(columns.min()) + int(columns.max()) + 1 - half) // 2, 0), half)
    return np.asarray(_enlarge(picture[top : top + half, left : left + half], 2), dtype=np.uint8)


def _blend(area: npt.NDArray[np.uint8], picture: npt.NDArray[np.uint8]) -> None:
    alpha = picture[..., 3:].astype(np.uint16)
    area[:] = ((picture[..., :3] * alpha + area * (255 - alpha) + 127) // 255).astype(np.uint8)


def _enlarge(picture: npt.NDArray[np.generic], factor: int) -> npt.NDArray[np.generic]:
    return picture.repeat(factor, axis=0).repeat(factor, axis=1)


class Hud:
    """Draws onto pictures of one size, keeping the last hotbar it drew."""

    def __init__(self, width: int, height: int) -> None:
        self._width = width
        self._height = height
        self._unit = max(1, min(height // _UNIT_PER_HEIGHT, width // _ROW_WIDTH))
        self._full = width >= _ROW_WIDTH
        self._key: tuple[tuple[Stack, ...], int] | None = None
        self._row = np.zeros((0, 0, 3), dtype=np.uint8)
        self._cross_light, self._cross_dark = self._crosshair()

    def draw(self, image: npt.NDArray[np.uint8], hotbar: Sequence[Stack] | None, slot: int) -> None:
        """Draw onto an image, uint8[height, width, 3], in place.

        Args:
            image: The picture.
            hotbar: The nine stacks, or None for an empty hotbar.
            slot: The selected one, 0 to 8.
        """
        stacks = tuple((int(item), int(count)) for item, count in hotbar) if hotbar else ((0, 0),) * HOTBAR_SLOTS
        if self._key != (stacks, slot):
            self._row = self._draw_full(stacks, slot) if self._full else self._draw_small(stacks, slot)
            self._key = (stacks, slot)
        rows, columns = self._row.shape[:2]
        left = (self._width - columns) // 2
        bottom = self._height - (self._unit * 2 if self._full else 0)
        image[bottom - rows : bottom, left : left + columns] = self._row
        for area in self._cross_dark:
            image[area] = 0
        for area in self._cross_light:
            image[area] = 255

    def _crosshair(self) -> tuple[list[tuple[slice, slice]], list[tuple[slice, slice]]]:
        """Draw a white cross with a black rim, visible on any background."""
        unit = max(1, self._height // _UNIT_PER_HEIGHT)
        arm = 5 * unit if self._height >= 160 else (3 if self._height >= 100 else 1)
        thick, rim = unit, max(1, unit // 2)
        row, column = (self._height - thick) // 2, (self._width - thick) // 2
        light = [
            (slice(row, row + thick), slice(column - arm, column + thick + arm)),
            (slice(row - arm, row + thick + arm), slice(column, column + thick)),
        ]
        dark = [
            (slice(down.start - rim, down.stop + rim), slice(across.start - rim, across.stop + rim))
            for down, across in light
        ]
        return light, dark

    def _draw_full(self, stacks: tuple[Stack, ...], slot: int) -> npt.NDArray[np.uint8]:
        """Draw the row in units with 16 x 16 pictures, then enlarge it."""
        row = np.empty((_ROW_HEIGHT, _ROW_WIDTH, 3), dtype=np.uint8)
        row[:] = _EDGE
        for index in range(HOTBAR_SLOTS):
            self._frame(row, index, _BACK, _EDGE, 1)
        self._frame(row, slot, _CHOSEN_BACK, _CHOSEN_EDGE, 2)
        for index, (item, count) in enumerate(stacks):
            if count <= 0:
                continue
            left, top = _FRAME + index * _SLOT + 2, _FRAME + 2
            _blend(row[top : top + TILE_PX, left : left + TILE_PX], _picture(item))
            self._number(row, str(count), left + TILE_PX, top + TILE_PX)
        return np.asarray(_enlarge(row, self._unit), dtype=np.uint8)

    @staticmethod
    def _frame(
        row: npt.NDArray[np.uint8], index: int, back: tuple[int, ...], edge: tuple[int, ...], thickness: int
    ) -> None:
        # A thick frame grows outwards, into the row's own frame and its neighbours' edges.
        grow = thickness - 1
        left, top = _FRAME + index * _SLOT, _FRAME
        row[top - grow : top + _SLOT + grow, left - grow : left + _SLOT + grow] = edge
        row[top + 1 : top + _SLOT - 1, left + 1 : left + _SLOT - 1] = back

    @staticmethod
    def _number(row: npt.NDArray[np.uint8], text: str, right: int, bottom: int) -> None:
        """Write a number, white with a black rim, its lower right corner at a place."""
        pixels = np.zeros((9, 6 * len(text) + 1), dtype=np.bool_)
        for position, character in enumerate(text):
            pixels[1:8, 6 * position + 1 : 6 * position + 6] = _digit(character)
        rim = np.zeros_like(pixels)
        for down in (-1, 0, 1):
            for across in (-1, 0, 1):
                rim |= np.roll(pixels, (down, across), (0, 1))
        area = row[bottom + 1 - 9 : bottom + 1, right + 1 - pixels.shape[1] : right + 1]
        area[rim] = 0
        area[pixels] = 255

    def _draw_small(self, stacks: tuple[Stack, ...], slot: int) -> npt.NDArray[np.uint8]:
        """Draw a row of plain slots a ninth of the picture wide; the selected one has a white edge."""
        size = self._width // HOTBAR_SLOTS
        row = np.empty((size, size * HOTBAR_SLOTS, 3), dtype=np.uint8)
        row[:] = _EDGE
        for index, (item, count) in enumerate(stacks):
            area = row[:, index * size : (index + 1) * size]
            if index == slot:
                area[:] = _CHOSEN_EDGE
            inner = area[1:-1, 1:-1]
            inner[:] = _BACK
            if count > 0:
                picks = (np.arange(size - 2) * 2 + 1) * TILE_PX // (2 * (size - 2))
                _blend(inner, _picture(item)[np.ix_(picks, picks)])
        return row
