"""How deep blocks lie: how many blocks stand between them and the open air above the ground.

Reads the blocks and the terrain's heights; knows nothing of scenarios or agents.
"""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import HEIGHT
from oresight.craftenv.kernels import kernel
from oresight.craftenv.sim.terrain import surface_height
from oresight.craftenv.sim.world import Position, World, read_block

# A way that leads farther round than this is not looked for.
DIGGING_RANGE = 20
_SIDE = 2 * DIGGING_RANGE + 1
_UNKNOWN = 255
_AIR = int(Block.AIR)
_WATER = int(Block.WATER)


@kernel
def _fill_digging(
    blocks: npt.NDArray[np.uint8],
    seed: int,
    x0: int,
    z0: int,
    digging: npt.NDArray[np.uint8],
    cells: npt.NDArray[np.int64],
) -> None:
    """Fill uint8[_SIDE, _SIDE, HEIGHT], indexed [x - x0, z - z0, y], with blocks to break from the open air to a cell.

    The cell itself counts if it is a block. `cells` is int64[2, number of cells], to work in.
    """
    digging[:] = _UNKNOWN
    now = 0
    count = 0
    for i in range(_SIDE):
        for k in range(_SIDE):
            for y in range(surface_height(seed, x0 + i, z0 + k) + 1, HEIGHT):
                block = read_block(blocks, x0 + i, y, z0 + k)
                if block in (_AIR, _WATER):
                    digging[i, k, y] = 0
                    cells[now, count] = (i * _SIDE + k) * HEIGHT + y
                    count += 1
    # Layer by layer: what can be walked or swum through belongs to the same layer, a block to the next one.
    for broken in range(_UNKNOWN - 1):
        head = 0
        following = 0
        while head < count:
            cell = cells[now, head]
            head += 1
            y = cell % HEIGHT
            k = cell // HEIGHT % _SIDE
            i = cell // HEIGHT // _SIDE
            for side in range(6):
                ni = i + (1 if side == 0 else (-1 if side == 1 else 0))
                nk = k + (1 if side == 2 else (-1 if side == 3 else 0))
                ny = y + (1 if side == 4 else (-1 if side == 5 else 0))
                if not (0 <= ni < _SIDE and 0 <= nk < _SIDE and 1 <= ny < HEIGHT) or digging[ni, nk, ny] != _UNKNOWN:
                    continue
                block = read_block(blocks, x0 + ni, ny, z0 + nk)
                if block in (_AIR, _WATER):
                    digging[ni, nk, ny] = broken
                    cells[now, count] = (ni * _SIDE + nk) * HEIGHT + ny
                    count += 1
                else:
                    digging[ni, nk, ny] = broken + 1
                    cells[1 - now, following] = (ni * _SIDE + nk) * HEIGHT + ny
                    following += 1
        if following == 0:
            return
        now = 1 - now
        count = following


def covers(world: World, middle: Position, places: list[Position]) -> list[int]:
    """Return for each block how many others must be broken, at least, before one of its faces is bare.

    0 is a block with a face to the open air above the ground, or to a cave or water that leads there.

    Args:
        world: Loaded around the middle.
        middle: Ways are looked for within DIGGING_RANGE of it.
        places: Blocks within that range.
    """
    x0, z0 = middle[0] - DIGGING_RANGE, middle[2] - DIGGING_RANGE
    digging = np.empty((_SIDE, _SIDE, HEIGHT), dtype=np.uint8)
    cells = np.empty((2, _SIDE * _SIDE * HEIGHT), dtype=np.int64)
    _fill_digging(world.blocks, world.seed, x0, z0, digging, cells)
    return [int(digging[x - x0, z - z0, y]) - 1 for x, y, z in places]
