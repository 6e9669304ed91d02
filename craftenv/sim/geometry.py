"""Boxes and rays in the block grid: collision at any speed, and what a ray meets first.

Faces are numbered 0 -x, 1 +x, 2 -y, 3 +y, 4 -z, 5 +z. Everything is float64 with + - x / and comparisons.
"""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import BODY_HEIGHT, HALF_WIDTH
from oresight.craftenv.kernels import inline_kernel, kernel
from oresight.craftenv.sim.world import read_block

FACE_NORMALS: tuple[tuple[int, int, int], ...] = (
    (-1, 0, 0),
    (1, 0, 0),
    (0, -1, 0),
    (0, 1, 0),
    (0, 0, -1),
    (0, 0, 1),
)

SOLID: npt.NDArray[np.bool_] = np.array([BLOCKS[block].solid for block in Block], dtype=np.bool_)
OPAQUE: npt.NDArray[np.bool_] = np.array([BLOCKS[block].opaque for block in Block], dtype=np.bool_)
SOLID.setflags(write=False)
OPAQUE.setflags(write=False)

# A wall stops the box this far off, so that rounding never puts its side inside the block. Feet stand exactly on top.
GAP = 1.0 / (1 << 20)

_TORCH = int(Block.TORCH)
_WATER = int(Block.WATER)
# The torch's stick within its block: 2/16 wide and 10/16 high.
TORCH_LOW = 7.0 / 16.0
TORCH_HIGH = 9.0 / 16.0
TORCH_TOP = 10.0 / 16.0


@inline_kernel
def _last_cell(edge: float) -> int:
    """Return the last cell that an upper edge reaches into; an edge on a border reaches the cell before it."""
    return int(np.ceil(edge)) - 1


@kernel
def _any_solid(
    blocks: npt.NDArray[np.uint8], solid: npt.NDArray[np.bool_], x0: int, x1: int, y0: int, y1: int, z0: int, z1: int
) -> bool:
    for x in range(x0, x1 + 1):
        for z in range(z0, z1 + 1):
            for y in range(y0, y1 + 1):
                if solid[read_block(blocks, x, y, z)]:
                    return True
    return False


@kernel
def box_is_free(blocks: npt.NDArray[np.uint8], solid: npt.NDArray[np.bool_], x: float, y: float, z: float) -> bool:
    """Say whether the player's box, feet centre at (x, y, z), overlaps no solid block."""
    return not _any_solid(
        blocks,
        solid,
        int(np.floor(x - HALF_WIDTH)),
        _last_cell(x + HALF_WIDTH),
        int(np.floor(y)),
        _last_cell(y + BODY_HEIGHT),
        int(np.floor(z - HALF_WIDTH)),
        _last_cell(z + HALF_WIDTH),
    )


@kernel
def move_box(
    blocks: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.bool_],
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
) -> tuple[float, float, float, bool, bool, bool]:
    """Move the player's box by (dx, dy, dz), first along x, then along z, then up or down, stopping at solid blocks.

    Every layer of cells between the old and the new place is looked at, so no speed passes through a wall. Sideways
    comes first: from the top of a jump that leaves four ticks of walking above a step of one, 0.6 block at any angle.

    Returns:
        The new feet centre (x, y, z), and whether it hit something below, above and sideways.
    """
    below = above = sideways = False
    x0 = int(np.floor(x - HALF_WIDTH))
    x1 = _last_cell(x + HALF_WIDTH)
    z0 = int(np.floor(z - HALF_WIDTH))
    z1 = _last_cell(z + HALF_WIDTH)
    y0 = int(np.floor(y))
    y1 = _last_cell(y + BODY_HEIGHT)

    if dx != 0.0:
        free = x + dx
        if dx > 0.0:
            layer = x1 + 1
            last = _last_cell(free + HALF_WIDTH)
            while layer <= last:
                if _any_solid(blocks, solid, layer, layer, y0, y1, z0, z1):
                    free = max(x, layer - HALF_WIDTH - GAP)
                    sideways = True
                    break
                layer += 1
        else:
            layer = x0 - 1
            last = int(np.floor(free - HALF_WIDTH))
            while layer >= last:
                if _any_solid(blocks, solid, layer, layer, y0, y1, z0, z1):
                    free = min(x, layer + 1.0 + HALF_WIDTH + GAP)
                    sideways = True
                    break
                layer -= 1
        x = free
        x0 = int(np.floor(x - HALF_WIDTH))
        x1 = _last_cell(x + HALF_WIDTH)

    if dz != 0.0:
        free = z + dz
        if dz > 0.0:
            layer = z1 + 1
            last = _last_cell(free + HALF_WIDTH)
            while layer <= last:
                if _any_solid(blocks, solid, x0, x1, y0, y1, layer, layer):
                    free = max(z, layer - HALF_WIDTH - GAP)
                    sideways = True
                    break
                layer += 1
        else:
            layer = z0 - 1
            last = int(np.floor(free - HALF_WIDTH))
            while layer >= last:
                if _any_solid(blocks, solid, x0, x1, y0, y1, layer, layer):
                    free = min(z, layer + 1.0 + HALF_WIDTH + GAP)
                    sideways = True
                    break
                layer -= 1
        z = free
        z0 = int(np.floor(z - HALF_WIDTH))
        z1 = _last_cell(z + HALF_WIDTH)

    if dy < 0.0:
        layer = int(np.floor(y)) - 1
        last = _last_cell(y + dy)  # feet that come to rest exactly on a block's top stand on it
        y += dy
        while layer >= last:
            if _any_solid(blocks, solid, x0, x1, layer, layer, z0, z1):
                y = layer + 1.0
                below = True
                break
            layer -= 1
    elif dy > 0.0:
        layer = _last_cell(y + BODY_HEIGHT) + 1
        last = _last_cell(y + dy + BODY_HEIGHT)
        free = y + dy
        while layer <= last:
            if _any_solid(blocks, solid, x0, x1, layer, layer, z0, z1):
                free = max(y, layer - BODY_HEIGHT - GAP)
                above = True
                break
            layer += 1
        y = free
    return x, y, z, below, above, sideways


@kernel
def _ray_meets_torch(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, x: int, y: int, z: int) -> bool:
    """Slab test of a ray against the torch in a block."""
    near = 0.0
    far = 1e9
    for axis in range(3):
        if axis == 0:
            o, d, low, high = ox - x, dx, TORCH_LOW, TORCH_HIGH
        elif axis == 1:
            o, d, low, high = oy - y, dy, 0.0, TORCH_TOP
        else:
            o, d, low, high = oz - z, dz, TORCH_LOW, TORCH_HIGH
        if d == 0.0:
            if o < low or o > high:
                return False
            continue
        first = (low - o) / d
        second = (high - o) / d
        if first > second:
            first, second = second, first
        near = max(near, first)
        far = min(far, second)
    return near <= far


@kernel
def cast_ray(
    blocks: npt.NDArray[np.uint8],
    stops: npt.NDArray[np.bool_],
    torches: bool,
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
    length: float,
) -> tuple[int, int, int, int]:
    """Follow a ray through the grid to the first block that stops it.

    Args:
        blocks: The world array.
        stops: bool by block id, which blocks stop the ray.
        torches: Whether a torch that the ray touches stops it too.
        ox: Origin x; the block that holds the origin is not looked at.
        oy: Origin y.
        oz: Origin z.
        dx: Direction x, of unit length with dy and dz.
        dy: Direction y.
        dz: Direction z.
        length: How far to look, in blocks.

    Returns:
        Block x, y, z and the face that the ray enters, or face -1 where nothing stops it.
    """
    x = int(np.floor(ox))
    y = int(np.floor(oy))
    z = int(np.floor(oz))
    huge = 1e30
    step_x = 1 if dx > 0.0 else -1
    step_y = 1 if dy > 0.0 else -1
    step_z = 1 if dz > 0.0 else -1
    delta_x = abs(1.0 / dx) if dx != 0.0 else huge
    delta_y = abs(1.0 / dy) if dy != 0.0 else huge
    delta_z = abs(1.0 / dz) if dz != 0.0 else huge
    next_x = ((x + 1 - ox) if dx > 0.0 else (ox - x)) * delta_x if dx != 0.0 else huge
    next_y = ((y + 1 - oy) if dy > 0.0 else (oy - y)) * delta_y if dy != 0.0 else huge
    next_z = ((z + 1 - oz) if dz > 0.0 else (oz - z)) * delta_z if dz != 0.0 else huge
    while True:
        if next_x <= next_y and next_x <= next_z:
            if next_x > length:
                break
            x += step_x
            face = 0 if step_x > 0 else 1
            next_x += delta_x
        elif next_y <= next_z:
            if next_y > length:
                break
            y += step_y
            face = 2 if step_y > 0 else 3
            next_y += delta_y
        else:
            if next_z > length:
                break
            z += step_z
            face = 4 if step_z > 0 else 5
            next_z += delta_z
        block = read_block(blocks, x, y, z)
        if stops[block]:
            return x, y, z, face
        if torches and block == _TORCH and _ray_meets_torch(ox, oy, oz, dx, dy, dz, x, y, z):
            return x, y, z, face
    return 0, 0, 0, -1
