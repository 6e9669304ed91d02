"""The outline of the block under the crosshair, and the cracks on it: arrays only, no OpenGL."""

import math

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import Block
from oresight.craftenv.kernels import kernel
from oresight.craftenv.render.atlas import CRACK_STAGES, FIRST_CRACK_LAYER

Box = tuple[tuple[float, float, float], tuple[float, float, float]]

_WHOLE: Box = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
_TORCH: Box = ((0.4375, 0.0, 0.4375), (0.5625, 0.625, 0.5625))

_LINE_PX = 2.2  # in a picture 480 pixels high
_LEAST_LINE_PX = 1.0


def _strips() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Frame each side of a unit cube with four strips: corners, and the way each goes inwards; float64[24 * 4, 3]."""
    corners, inwards = [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for level in (0.0, 1.0):
            for along, across in ((u, v), (v, u)):
                for edge in (0.0, 1.0):
                    for end, inner in ((0.0, False), (1.0, False), (1.0, True), (0.0, True)):
                        corner, inward = np.zeros(3), np.zeros(3)
                        corner[axis], corner[along], corner[across] = level, end, edge
                        if inner:
                            inward[across] = 1.0 - 2.0 * edge
                        corners.append(corner)
                        inwards.append(inward)
    return np.array(corners), np.array(inwards)


_CORNERS, _INWARDS = _strips()
OUTLINE_QUADS = len(_CORNERS) // 4


def outline(
    target: tuple[int, int, int], block: int, eye: tuple[float, float, float], pixel_blocks: float, height: int
) -> npt.NDArray[np.float32]:
    """Return the outline as quads, float32[OUTLINE_QUADS * 4, 3] relative to the eye; equally thick near and far."""
    low, high = _TORCH if block == Block.TORCH else _WHOLE
    size = (high[0] - low[0], high[1] - low[1], high[2] - low[2])
    corner = (target[0] + low[0] - eye[0], target[1] + low[1] - eye[1], target[2] + low[2] - eye[2])
    x, y, z = corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0, corner[2] + size[2] / 2.0
    distance = math.sqrt(x * x + y * y + z * z)
    line_px = max(_LEAST_LINE_PX, _LINE_PX * height / 480.0)
    thickness = min(line_px * pixel_blocks * distance, min(size) / 3.0)
    out = np.empty(_CORNERS.shape, dtype=np.float32)
    _place(_CORNERS, _INWARDS, corner, size, thickness, out)
    return out


@kernel
def _place(
    corners: npt.NDArray[np.float64],
    inwards: npt.NDArray[np.float64],
    corner: tuple[float, float, float],
    size: tuple[float, float, float],
    thickness: float,
    out: npt.NDArray[np.float32],
) -> None:
    """Fill `out` with the strips of a box of a size, its lowest corner at a place."""
    for n in range(len(corners)):
        for axis in range(3):
            out[n, axis] = corner[axis] + corners[n, axis] * size[axis] + inwards[n, axis] * thickness


def cracks(target: tuple[int, int, int], progress: float) -> npt.NDArray[np.uint32]:
    """Return the six cracked faces of a block as vertices in the format of `craftenv.render.mesher`.

    Args:
        target: The block.
        progress: Above 0 and up to 1.
    """
    x, y, z = (target[0] & 15) * 16, target[1] * 16, (target[2] & 15) * 16
    slot = (target[0] >> 4 & 15) * 16 + (target[2] >> 4 & 15)
    stage = min(int(progress * CRACK_STAGES), CRACK_STAGES - 1)
    second = (FIRST_CRACK_LAYER + stage) | 255 << 6 | slot << 14
    words = []
    for face in range(6):
        axis, level = face // 2, face % 2 * 16
        for u, v in ((0, 0), (16, 0), (16, 16), (0, 16)):
            offsets = ((level, v, u), (u, level, v), (u, v, level))[axis]
            place = (x + offsets[0]) | (z + offsets[2]) << 9 | (y + offsets[1]) << 18
            words.append((place | face << 29, second | (u > 0) << 22 | (v > 0) << 23))
    return np.array(words, dtype=np.uint32)
