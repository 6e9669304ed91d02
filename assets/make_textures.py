"""Draws the block textures: 16 x 16 RGBA pixel art, every pixel from an integer hash and the small tables below.

Running this file writes ``textures/*.png`` beside it. The pictures are committed; a test draws them again and compares
every pixel. Two rules shaped them: ground must stay calm when it repeats over a hillside (a few close shades), and an
ore must be told from everything else by colour as well as by pattern, also where a whole face shrinks to a few pixels
(so about 40 % of the face carries a colour whose hue no other block has; coal alone is told by being near black).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIZE = 16
_Pixels = NDArray[np.uint8]
_Field = NDArray[np.int64]
_Colour = tuple[int, int, int]

_ROWS, _COLUMNS = np.mgrid[0:SIZE, 0:SIZE].astype(np.int64)


@dataclass(frozen=True)
class _Ore:
    """What lies in the stone of an ore: stamps at (column, row), drawn from dark, plain and bright shades."""

    colours: tuple[_Colour, _Colour, _Colour]
    stamps: tuple[tuple[str, int, int], ...]


# Stamps: d dark, o plain, h bright, anything else leaves the stone; rows are divided by slashes.
_BIG_BLOB = ".hoo./hoooo/ooood/ooodd/.odd."
_SMALL_BLOB = ".ho./hooo/oood/.od."
_FLECK = "..hh/.hoo/ooo./dd.."
_CLUMP = ".ho../hhooo/hoood/.oodd/..od."
_BIG_LOZENGE = "...h.../..hho../.hhooo./hhooood/.ooodd./..odd../...d..."
_SMALL_LOZENGE = "..h../.hho./hoood/.odd./..d.."

_ORES: dict[str, _Ore] = {
    "coal_ore": _Ore(
        ((14, 14, 18), (26, 26, 30), (48, 48, 54)),
        (
            (_BIG_BLOB, 1, 1),
            (_SMALL_BLOB, 9, 0),
            (_BIG_BLOB, 10, 5),
            (_SMALL_BLOB, 4, 7),
            (_BIG_BLOB, 14, 10),
            (_BIG_BLOB, 6, 11),
        ),
    ),
    # Salmon, hue 6 degrees: dirt and wood lie at 24 and more, and nothing else in the world is red.
    "iron_ore": _Ore(
        ((222, 98, 84), (252, 128, 112), (255, 170, 156)),
        (
            (_FLECK, 0, 0),
            (_FLECK, 5, 1),
            (_FLECK, 11, 0),
            (_FLECK, 3, 5),
            (_FLECK, 8, 6),
            (_FLECK, 13, 5),
            (_FLECK, 0, 10),
            (_FLECK, 5, 11),
            (_FLECK, 11, 10),
        ),
    ),
    # Yellow, hue 54 degrees and saturated: sand is pale, planks and torches are orange, grass is green.
    "gold_ore": _Ore(
        ((214, 186, 10), (250, 226, 24), (255, 246, 120)),
        (
            (_CLUMP, 1, 0),
            (_CLUMP, 9, 1),
            (_CLUMP, 14, 6),
            (_CLUMP, 5, 6),
            (_CLUMP, 1, 12),
            (_CLUMP, 9, 11),
        ),
    ),
    # Cyan, hue 176 degrees: water and sky lie beyond 205.
    "diamond_ore": _Ore(
        ((24, 196, 188), (60, 236, 226), (176, 255, 250)),
        (
            (_BIG_LOZENGE, 0, 0),
            (_BIG_LOZENGE, 8, 4),
            (_BIG_LOZENGE, 1, 9),
            (_SMALL_LOZENGE, 9, 11),
            (_SMALL_LOZENGE, 7, -1),
        ),
    ),
}


def _hash(seed: int, x: _Field, y: _Field) -> _Field:
    """Mix a seed and coordinates into 0..65535, the same on every machine."""
    value = (x * 0x1F1F1F1F + y * 0x2545F491 + seed * 0x9E3779B1) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x6C8E9CF5)):
        value = ((value ^ (value >> shift)) * factor) & 0xFFFFFFFF
    return np.asarray((value ^ (value >> 16)) & 0xFFFF)


def _grain(seed: int) -> _Field:
    """One draw a pixel, 0..255."""
    return _hash(seed, _COLUMNS, _ROWS) >> 8


def _clouds(seed: int, cell_x: int, cell_y: int) -> _Field:
    """Soft noise, 0..255, that joins itself at the edges; the cells must divide 16."""

    def corner(right: int, down: int) -> _Field:
        x = (_COLUMNS // cell_x + right) % (SIZE // cell_x)
        y = (_ROWS // cell_y + down) % (SIZE // cell_y)
        return _hash(seed, x, y) >> 8

    fx, fy = _COLUMNS % cell_x, _ROWS % cell_y
    upper = corner(0, 0) * (cell_x - fx) + corner(1, 0) * fx
    lower = corner(0, 1) * (cell_x - fx) + corner(1, 1) * fx
    field: _Field = (upper * (cell_y - fy) + lower * fy) // (cell_x * cell_y)
    return field


def _paint(field: _Field, shades: tuple[_Colour, ...], alpha: int = 255) -> _Pixels:
    """Turn a field of 0..255 into shades, each for an equal share of the pixels, darkest first."""
    order = np.argsort(field, axis=None, kind="stable")
    rank = np.empty(SIZE * SIZE, dtype=np.int64)
    rank[order] = np.arange(SIZE * SIZE)
    index = (rank * len(shades) // (SIZE * SIZE)).reshape(SIZE, SIZE)
    pixels = np.full((SIZE, SIZE, 4), alpha, dtype=np.uint8)
    pixels[..., :3] = np.array(shades, dtype=np.uint8)[index]
    return pixels


def _around(colour: _Colour, *percents: int) -> tuple[_Colour, ...]:
    """Shades of a colour: each percentage is a brightness, 100 is the colour itself."""
    shades = []
    for percent in percents:
        red, green, blue = (min(255, (channel * percent + 50) // 100) for channel in colour)
        shades.append((red, green, blue))
    return tuple(shades)


def _stone() -> _Pixels:
    return _paint(
        _clouds(11, 8, 2) * 2 + _clouds(12, 4, 4) + _grain(13), _around((127, 128, 130), 93, 97, 100, 102, 106)
    )


def _dirt() -> _Pixels:
    return _paint(_clouds(21, 4, 4) + _grain(22) * 2, _around((133, 97, 68), 88, 95, 100, 103, 109))


def _grass_top() -> _Pixels:
    return _paint(_clouds(31, 4, 4) + _grain(32) * 2, _around((106, 152, 70), 91, 96, 100, 103, 107))


def _grass_side() -> _Pixels:
    pixels = _dirt()
    grass = _grass_top()
    # The fringe hangs two to five pixels deep, its last pixel in the shade.
    depth = 3 + (_hash(41, _COLUMNS[0], 0 * _COLUMNS[0]) * 3 >> 16)
    for column in range(SIZE):
        pixels[: depth[column], column] = grass[: depth[column], column]
        last = depth[column] - 1
        pixels[last, column, :3] = np.array((80, 116, 54), dtype=np.uint8)
    return pixels


def _sand() -> _Pixels:
    return _paint(_clouds(51, 8, 4) + _grain(52), _around((219, 203, 170), 95, 98, 100, 102))


def _cells(seed: int, count: int) -> tuple[_Field, _Field]:
    """Pebbles: for each pixel the number of its pebble and how clearly it lies inside it (0 on a seam)."""
    step = SIZE // count
    best = np.full((SIZE, SIZE), 1 << 20, dtype=np.int64)
    second = best.copy()
    owner = np.zeros((SIZE, SIZE), dtype=np.int64)
    for number in range(count * count):
        row, column = np.array(number // count), np.array(number % count)
        x = int(column) * step + int(_hash(seed, column, row)) * step // 65536
        y = int(row) * step + int(_hash(seed + 1, column, row)) * step // 65536
        dx, dy = abs(_COLUMNS - x), abs(_ROWS - y)
        distance = np.minimum(dx, SIZE - dx) ** 2 + np.minimum(dy, SIZE - dy) ** 2
        second = np.where(distance < best, best, np.minimum(second, distance))
        owner = np.where(distance < best, number, owner)
        best = np.minimum(best, distance)
    return owner, second - best


def _cobblestone() -> _Pixels:
    owner, inside = _cells(61, 4)
    pixels = _paint(_hash(63, owner, owner) // 512 + _grain(64) // 4, _around((126, 126, 127), 88, 97, 103, 112))
    pixels[inside <= 1, :3] = np.array((88, 88, 90), dtype=np.uint8)
    return pixels


def _gravel() -> _Pixels:
    return _paint(_clouds(71, 2, 2) * 2 + _grain(72) * 2, _around((122, 115, 111), 82, 93, 102, 113))


def _log_side() -> _Pixels:
    return _paint(_clouds(81, 2, 16) * 3 + _clouds(82, 2, 4) + _grain(83), _around((106, 82, 52), 76, 90, 100, 112))


def _log_top() -> _Pixels:
    ring = np.maximum(abs(2 * _COLUMNS - 15), abs(2 * _ROWS - 15)) // 2
    pixels = _paint(_clouds(91, 4, 4) + _grain(92), _around((178, 144, 92), 95, 100, 104))
    pixels[ring % 3 == 1, :3] = np.array((150, 116, 70), dtype=np.uint8)
    bark = _log_side()
    pixels[ring == 7] = bark[ring == 7]
    return pixels


def _planks() -> _Pixels:
    pixels = _paint(_clouds(101, 8, 1) * 2 + _grain(102), _around((172, 134, 86), 94, 98, 101, 105))
    seam = np.array((122, 90, 54), dtype=np.uint8)
    pixels[3::4, :, :3] = seam
    for board, column in enumerate((2, 10, 6, 14)):
        pixels[4 * board : 4 * board + 3, column, :3] = seam
    return pixels


def _leaves() -> _Pixels:
    return _paint(_clouds(111, 2, 2) + _grain(112), _around((62, 104, 46), 68, 84, 100, 114))


def _water() -> _Pixels:
    return _paint(_clouds(121, 8, 2) * 2 + _grain(122) // 2, _around((52, 98, 196), 95, 98, 101, 106), alpha=165)


def _torch() -> _Pixels:
    pixels = np.zeros((SIZE, SIZE, 4), dtype=np.uint8)
    # The unseen pixels have the wood's colour, so that a smaller copy of the picture gets no black rim.
    pixels[..., :3] = np.array((104, 80, 50), dtype=np.uint8)
    for column, shade in ((7, 112), (8, 90)):
        pixels[8:, column] = np.array((104 * shade // 100, 80 * shade // 100, 50 * shade // 100, 255), dtype=np.uint8)
    # The flame is orange, not yellow: yellow is gold's.
    pixels[6:8, 7:9] = np.array((255, 164, 62, 255), dtype=np.uint8)
    pixels[6, 7] = np.array((255, 232, 196, 255), dtype=np.uint8)
    return pixels


def _bedrock() -> _Pixels:
    return _paint(_clouds(131, 4, 4) * 2 + _grain(132), _around((92, 92, 96), 48, 74, 100, 136))


def _ore(ore: _Ore) -> _Pixels:
    pixels = _stone()
    shades = dict(zip("doh", ore.colours, strict=True))
    taken = np.zeros((SIZE, SIZE), dtype=bool)
    for stamp, left, top in ore.stamps:
        for down, line in enumerate(stamp.split("/")):
            for right, mark in enumerate(line):
                if mark in shades:
                    row, column = (top + down) % SIZE, (left + right) % SIZE
                    pixels[row, column, :3] = np.array(shades[mark], dtype=np.uint8)
                    taken[row, column] = True
    # A darker rim below what lies in the stone lifts it off the ground.
    rim = np.roll(taken, 1, axis=0) & ~taken
    pixels[rim, :3] = pixels[rim, :3] // 8 * 7
    return pixels


_GROUNDS: dict[str, Callable[[], _Pixels]] = {
    "stone": _stone,
    "grass_top": _grass_top,
    "grass_side": _grass_side,
    "dirt": _dirt,
    "sand": _sand,
    "gravel": _gravel,
    "cobblestone": _cobblestone,
    "log_side": _log_side,
    "log_top": _log_top,
    "leaves": _leaves,
    "planks": _planks,
    "torch": _torch,
    "water": _water,
    "bedrock": _bedrock,
}


def draw_all() -> dict[str, _Pixels]:
    """Draw every texture: its name to its pixels, uint8 of shape (16 rows, 16 columns, RGBA), first row uppermost."""
    textures = {name: draw() for name, draw in _GROUNDS.items()}
    textures.update({name: _ore(ore) for name, ore in _ORES.items()})
    return textures


def main() -> None:
    """Write the textures as PNG files beside this script."""
    folder = Path(__file__).resolve().parent / "textures"
    folder.mkdir(exist_ok=True)
    for name, pixels in draw_all().items():
        Image.fromarray(pixels).save(folder / f"{name}.png")


if __name__ == "__main__":
    main()
