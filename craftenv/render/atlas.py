"""The pictures on the blocks, as layers of one texture array; no OpenGL here.

Block textures come from the files under assets/textures; the cracks of mining are drawn here.
"""

import numpy as np
import numpy.typing as npt
from PIL import Image

from oresight import assets
from oresight.craftenv.blocks import BLOCKS

TILE_PX = 16
MIP_LEVELS = 5  # 16, 8, 4, 2, 1
CRACK_STAGES = 6

TEXTURE_NAMES: tuple[str, ...] = tuple(
    sorted({name for kind in BLOCKS.values() for name in (kind.top, kind.side, kind.bottom) if name})
)
LAYER_OF: dict[str, int] = {name: layer for layer, name in enumerate(TEXTURE_NAMES)}
FIRST_CRACK_LAYER = len(TEXTURE_NAMES)
LAYERS = FIRST_CRACK_LAYER + CRACK_STAGES

# Cracks: walks of pixels from the middle outwards, cut off later the further mining has come.
_CRACKS = (
    ((8, 8), (7, 7), (6, 7), (5, 6), (5, 5), (4, 4), (3, 4), (2, 3), (1, 3), (0, 2)),
    ((8, 8), (9, 7), (9, 6), (10, 5), (10, 4), (11, 3), (12, 3), (12, 2), (13, 1), (13, 0)),
    ((8, 8), (9, 9), (10, 9), (11, 10), (12, 10), (13, 11), (13, 12), (14, 13), (15, 13), (15, 14)),
    ((8, 8), (7, 9), (7, 10), (6, 11), (5, 11), (4, 12), (4, 13), (3, 14), (3, 15), (2, 15)),
    ((10, 5), (11, 6), (12, 6), (13, 7), (14, 7), (15, 8), (15, 8), (15, 8), (15, 8), (15, 8)),
    ((5, 6), (4, 7), (3, 8), (2, 8), (1, 9), (0, 9), (0, 9), (0, 9), (0, 9), (0, 9)),
    ((10, 9), (10, 10), (9, 11), (9, 12), (10, 13), (10, 14), (9, 15), (9, 15), (9, 15), (9, 15)),
    ((7, 7), (7, 6), (8, 5), (8, 4), (7, 3), (6, 2), (6, 1), (7, 0), (7, 0), (7, 0)),
)


def read_texture(name: str) -> npt.NDArray[np.uint8]:
    """Read a bundled texture as uint8[16, 16, 4] RGBA, top row first.

    Raises:
        ValueError: The file has another size.
    """
    file = assets.path("textures", name + ".png")
    with Image.open(file) as image:
        if image.size != (TILE_PX, TILE_PX):
            raise ValueError(f"{file}: found {image.size[0]} x {image.size[1]} pixels, expected {TILE_PX} x {TILE_PX}.")
        return np.asarray(image.convert("RGBA"), dtype=np.uint8)


def crack_picture(stage: int) -> npt.NDArray[np.uint8]:
    """Draw the cracks of one stage, 0 to CRACK_STAGES - 1, as uint8[16, 16, 4]: dark on nothing."""
    picture = np.zeros((TILE_PX, TILE_PX, 4), dtype=np.uint8)
    reach = 3 + stage * 7 // (CRACK_STAGES - 1)
    for number, walk in enumerate(_CRACKS):
        # The side branches open once the main ones are well under way.
        steps = reach if number < 4 else reach - 3
        for x, y in walk[: max(0, steps)]:
            picture[y, x] = (16, 14, 14, 230)
    return picture


def layers() -> npt.NDArray[np.uint8]:
    """Return all layers as uint8[LAYERS, 16, 16, 4]: the block textures, then the cracks."""
    tiles = [read_texture(name) for name in TEXTURE_NAMES]
    tiles += [crack_picture(stage) for stage in range(CRACK_STAGES)]
    return np.stack(tiles)


def mipmaps(tiles: npt.NDArray[np.uint8]) -> list[npt.NDArray[np.uint8]]:
    """Return the layers at 16, 8, 4, 2 and 1 pixels; colours are averaged by opacity, so clear parts lend none."""
    levels = [np.ascontiguousarray(tiles)]
    while levels[-1].shape[1] > 1:
        count, size = levels[-1].shape[0], levels[-1].shape[1] // 2
        quads = levels[-1].reshape(count, size, 2, size, 2, 4).astype(np.float64)
        weight = quads[..., 3:]
        alpha = weight.sum(axis=(2, 4))
        colour = (quads[..., :3] * weight).sum(axis=(2, 4)) / np.maximum(alpha, 1e-9)
        level = np.concatenate([colour, alpha / 4.0], axis=-1)
        levels.append(np.ascontiguousarray(np.rint(level).astype(np.uint8)))
    return levels
