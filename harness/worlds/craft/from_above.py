"""The 3D world from above, as a small shaded picture of its surface: a background for what an episode did there.

Made from the seed alone, as the world was before anybody changed it. Columns are kept by chunk, so that episodes in one
scenario share the work.
"""

import base64
import functools
import io
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oresight import assets
from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import CHUNK, HEIGHT, TERRAIN_VERSION
from oresight.craftenv.sim.terrain import generate_chunk
from oresight.scoring.records import Header

# Areas are widened to whole multiples of this and to at least MIN_BLOCKS, so that episodes share them.
STEP_BLOCKS = 16
MIN_BLOCKS = 48
MAX_BLOCKS = 384
_COLOURS = 64
# How much a slope of one block lightens or darkens, and how steep a slope may count.
_SHADE = 0.11
_STEEPEST = 3


@dataclass(frozen=True)
class Ground:
    """A picture of the surface, a pixel a block; x grows to the right, z downwards.

    Attributes:
        source: The picture as a data URL.
        left: Smallest x.
        top: Smallest z.
        width: In blocks.
        depth: In blocks.
    """

    source: str
    left: int
    top: int
    width: int
    depth: int


def ground(header: Header, left: float, top: float, right: float, bottom: float) -> Ground | None:
    """Return the surface around an area in blocks; None for another terrain version or too large an area."""
    seed = header.scenario.get("world_seed")
    if header.versions.get("terrain") != TERRAIN_VERSION or type(seed) is not int or not -(2**63) <= seed < 2**63:
        return None
    x0, x1 = _widened(left, right)
    z0, z1 = _widened(top, bottom)
    if max(x1 - x0, z1 - z0) > MAX_BLOCKS:
        return None
    return Ground(_picture(seed, x0, z0, x1, z1), x0, z0, x1 - x0, z1 - z0)


def _widened(low: float, high: float) -> tuple[int, int]:
    lack = max(0.0, MIN_BLOCKS - (high - low)) / 2
    return (
        int(np.floor((low - lack) / STEP_BLOCKS)) * STEP_BLOCKS,
        int(np.ceil((high + lack) / STEP_BLOCKS)) * STEP_BLOCKS,
    )


@functools.lru_cache(maxsize=32)
def _picture(seed: int, x0: int, z0: int, x1: int, z1: int) -> str:
    from PIL import Image

    # One column more to the left and above, for the slope there.
    kinds, heights = _surface(seed, x0 - CHUNK, z0 - CHUNK, x1, z1)
    skip = CHUNK - 1
    kinds, heights = kinds[skip:, skip:], heights[skip:, skip:].astype(np.int64)
    slope = 2 * heights[1:, 1:] - heights[:-1, 1:] - heights[1:, :-1]
    shade = 1.0 + _SHADE * np.clip(slope, -_STEEPEST, _STEEPEST)
    # High ground is lighter, so that hills and hollows show where they are flat.
    shade = shade * (0.72 + 0.5 * heights[1:, 1:] / HEIGHT)
    colours = _palette()[kinds[1:, 1:]] * shade[:, :, None]
    pixels = np.clip(colours, 0, 255).astype(np.uint8).transpose(1, 0, 2)
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).quantize(_COLOURS).save(buffer, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def _surface(seed: int, x0: int, z0: int, x1: int, z1: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Kind and height of the topmost block of each column, indexed [x, z]; the edges are edges of chunks."""
    columns = [
        [_chunk(seed, cx, cz) for cz in range(z0 // CHUNK, z1 // CHUNK)] for cx in range(x0 // CHUNK, x1 // CHUNK)
    ]
    kinds = np.concatenate([np.concatenate([kinds for kinds, _ in row], axis=1) for row in columns])
    heights = np.concatenate([np.concatenate([heights for _, heights in row], axis=1) for row in columns])
    return kinds, heights


@functools.lru_cache(maxsize=4096)
def _chunk(seed: int, cx: int, cz: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    blocks = generate_chunk(seed, cx, cz)
    heights = HEIGHT - 1 - np.argmax(blocks[:, :, ::-1] != Block.AIR, axis=2)
    kinds = np.take_along_axis(blocks, heights[:, :, None], axis=2)[:, :, 0]
    return kinds, heights.astype(np.uint8)


@functools.cache
def _palette() -> npt.NDArray[np.float64]:
    """Return the mean colour of every block's upper face, float64[blocks, 3]."""
    from PIL import Image

    colours = np.zeros((len(Block), 3))
    for block in Block:
        if name := BLOCKS[block].top:
            with Image.open(assets.path("textures", f"{name}.png")) as texture:
                colours[block] = np.asarray(texture.convert("RGB"), dtype=np.float64).mean(axis=(0, 1))
    return colours
