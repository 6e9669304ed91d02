"""From a standing place, which view gets an ore: straight, through a few blocks to be mined, or down a shaft.

Views are numbered in the steps that the look actions make: twelve of 30 degrees around, thirteen of 15 from straight up
to straight down. Kernels only; where to stand is the search's affair.
"""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import EYE_HEIGHT, HALF_WIDTH, HEIGHT, REACH_BLOCKS, WORLD_SPAN
from oresight.craftenv.kernels import allocating_kernel, kernel
from oresight.craftenv.sim.geometry import cast_ray
from oresight.craftenv.sim.world import read_block

YAWS = 12
PITCHES = 13
# How long each block takes to break, by block id; 0 means that it never does.
BREAK_TICKS: npt.NDArray[np.int64] = np.array([BLOCKS[block].break_ticks for block in Block], dtype=np.int64)
BREAK_TICKS.setflags(write=False)

_AIR = int(Block.AIR)
_MINE_TICKS = 40
_MINES_AT_MOST = 3  # through blocks in the way; a shaft may take more
_NEAR_ORES = 64  # ores that one looks at from one place, and blocks that one digs through


@kernel
def _passes(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, x: int, y: int, z: int) -> bool:
    """Say whether a ray comes through a block, or so near it that rounding decides."""
    near = 0.0
    far = REACH_BLOCKS
    for axis in range(3):
        o = ox - x if axis == 0 else (oy - y if axis == 1 else oz - z)
        d = dx if axis == 0 else (dy if axis == 1 else dz)
        if abs(d) < 1e-12:
            if o < -1e-9 or o > 1.0 + 1e-9:
                return False
            continue
        first = -o / d
        second = (1.0 - o) / d
        near = max(near, min(first, second))
        far = min(far, max(first, second))
    return near <= far + 1e-9


@kernel
def mines_down(
    blocks: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.bool_],
    break_ticks: npt.NDArray[np.int64],
    ores: npt.NDArray[np.int64],
    x: float,
    y: float,
    z: float,
) -> int:
    """Return how often to mine straight down until a wanted ore below breaks, 0 where the player would not sink to one.

    A player whose box stands over one column sinks as it digs, so the next block is always within reach.
    """
    i = int(np.floor(x))
    k = int(np.floor(z))
    if np.floor(x - HALF_WIDTH) < i or np.floor(x + HALF_WIDTH) > i:
        return 0
    if np.floor(z - HALF_WIDTH) < k or np.floor(z + HALF_WIDTH) > k:
        return 0
    bottom = HEIGHT
    for n in range(ores.shape[0]):
        if ores[n, 0] == i and ores[n, 2] == k and ores[n, 1] < y:
            bottom = min(bottom, ores[n, 1])
    if bottom == HEIGHT:
        return 0
    mines = 1
    ticks = 0
    for level in range(int(np.floor(y)) - 1, bottom - 1, -1):
        block = read_block(blocks, i, level, k)
        if not solid[block]:
            continue
        needed = break_ticks[block]
        if needed == 0:
            return 0
        ticks += needed
        if ticks > _MINE_TICKS:
            mines += 1
            ticks = needed
        for n in range(ores.shape[0]):
            if ores[n, 0] == i and ores[n, 2] == k and ores[n, 1] == level:
                return mines
    return 0


@allocating_kernel
def aim_at(
    blocks: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.bool_],
    break_ticks: npt.NDArray[np.int64],
    views: npt.NDArray[np.float64],
    ores: npt.NDArray[np.int64],
    x: float,
    y: float,
    z: float,
    yaw: int,
    pitch: int,
    deep: bool,
) -> tuple[int, int, int, int]:
    """Find the cheapest view from a standing place that gets a wanted ore.

    Args:
        blocks: The world array; changed and put back.
        solid: bool by block id.
        break_ticks: int64 by block id.
        views: float64[YAWS, PITCHES, 3], unit vectors.
        ores: Wanted ores, int64[n, 3].
        x: Feet.
        y: Feet.
        z: Feet.
        yaw: Index of the present yaw.
        pitch: Index of the present pitch.
        deep: Whether to dig a shaft straight down, too.

    Returns:
        Cost in actions (-1 for none), yaw index, pitch index, times to mine.
    """
    best = (-1, 0, 0, 0)
    if deep:
        shaft = mines_down(blocks, solid, break_ticks, ores, x, y, z)
        if shaft > 0:
            best = (abs(PITCHES - 1 - pitch) + shaft, yaw, PITCHES - 1, shaft)
    eye = y + EYE_HEIGHT
    near = np.empty((_NEAR_ORES, 3), dtype=np.int64)
    count_near = 0
    for n in range(ores.shape[0]):
        total = 0.0
        for axis in range(3):
            at = x if axis == 0 else (eye if axis == 1 else z)
            off = max(0.0, max(ores[n, axis] - at, at - (ores[n, axis] + 1.0)))
            total += off * off
        if total <= REACH_BLOCKS * REACH_BLOCKS and count_near < _NEAR_ORES:
            near[count_near] = ores[n]
            count_near += 1
    if count_near == 0:
        return best
    gone = np.empty((_NEAR_ORES, 4), dtype=np.int64)
    for way in range(YAWS):
        around = (way - yaw) % YAWS
        turns = min(around, YAWS - around)
        for tilt in range(PITCHES):
            cost = turns + abs(tilt - pitch)
            if best[0] >= 0 and cost + 1 >= best[0]:
                continue
            dx = views[way, tilt, 0]
            dy = views[way, tilt, 1]
            dz = views[way, tilt, 2]
            passes = False
            for n in range(count_near):
                passes = passes or _passes(x, eye, z, dx, dy, dz, near[n, 0], near[n, 1], near[n, 2])
            if not passes:
                continue
            count = 0
            ticks = 0
            mines = 1
            while count < _NEAR_ORES:
                bx, by, bz, face = cast_ray(blocks, solid, True, x, eye, z, dx, dy, dz, REACH_BLOCKS)
                if face < 0:
                    break
                block = read_block(blocks, bx, by, bz)
                needed = break_ticks[block]
                if needed == 0:
                    break
                wanted = False
                for n in range(count_near):
                    if near[n, 0] == bx and near[n, 1] == by and near[n, 2] == bz:
                        wanted = True
                ticks += needed
                if ticks > _MINE_TICKS:
                    mines += 1
                    ticks = needed
                if mines > _MINES_AT_MOST:
                    break
                if wanted:
                    if best[0] < 0 or cost + mines < best[0]:
                        best = (cost + mines, way, tilt, mines)
                    break
                if by < y and abs(bx + 0.5 - x) < 0.5 + HALF_WIDTH and abs(bz + 0.5 - z) < 0.5 + HALF_WIDTH:
                    break  # it bears the player, who would fall and look elsewhere
                gone[count, 0] = bx & (WORLD_SPAN - 1)
                gone[count, 1] = bz & (WORLD_SPAN - 1)
                gone[count, 2] = by
                gone[count, 3] = block
                count += 1
                blocks[bx & (WORLD_SPAN - 1), bz & (WORLD_SPAN - 1), by] = _AIR
            for n in range(count):
                blocks[gone[n, 0], gone[n, 1], gone[n, 2]] = gone[n, 3]
    return best
