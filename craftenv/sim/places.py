"""What places of a generated world are like: open ground, ores on the surface, ores in caves and the mouths of caves.

Reads the blocks and the terrain's heights; knows nothing of scenarios or agents.
"""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import HEIGHT
from oresight.craftenv.kernels import allocating_kernel, kernel
from oresight.craftenv.sim.angles import direction
from oresight.craftenv.sim.geometry import OPAQUE, SOLID, cast_ray
from oresight.craftenv.sim.sight import ores_in_view
from oresight.craftenv.sim.terrain import surface_height
from oresight.craftenv.sim.world import Position, World, read_block

_AIR = int(Block.AIR)
_GROUND = frozenset({Block.GRASS, Block.DIRT, Block.SAND, Block.GRAVEL, Block.STONE})
# A full look around: every 30 degrees, and a little up, level and down.
LOOK_YAWS = tuple(range(0, 2400, 200))
LOOK_PITCHES = (-100, 0, 100, 200)
# A mouth belongs to an ore within this straight distance and this many steps through the cave.
MOUTH_BLOCKS = 8
_MOUTH_STEPS = 16
_BOX = 2 * MOUTH_BLOCKS + 1
# A way in lies at most this far below the ground around it.
_MOUTH_DEPTH = 8


@kernel
def _is_surface_ore(blocks: npt.NDArray[np.uint8], seed: int, x: int, y: int, z: int) -> bool:
    if y < surface_height(seed, x, z) - 1:
        return False
    for side in range(6):
        nx = x + (1 if side == 0 else (-1 if side == 1 else 0))
        nz = z + (1 if side == 2 else (-1 if side == 3 else 0))
        ny = y + (1 if side == 4 else (-1 if side == 5 else 0))
        if ny > surface_height(seed, nx, nz) and read_block(blocks, nx, ny, nz) == _AIR:
            return True
    return False


@kernel
def _is_mouth(blocks: npt.NDArray[np.uint8], seed: int, x: int, y: int, z: int) -> bool:
    top = surface_height(seed, x, z)
    if y > top or y < top - _MOUTH_DEPTH:
        return False
    for side in range(5):
        nx = x + (1 if side == 0 else (-1 if side == 1 else 0))
        nz = z + (1 if side == 2 else (-1 if side == 3 else 0))
        ny = y + (1 if side == 4 else 0)
        if ny > surface_height(seed, nx, nz) and read_block(blocks, nx, ny, nz) == _AIR:
            return True
    return False


@allocating_kernel
def _mouths(blocks: npt.NDArray[np.uint8], seed: int, x: int, y: int, z: int, out: npt.NDArray[np.int64]) -> int:
    """List the mouth cells that cave air at an ore leads to, as rows x, y, z of `out`."""
    queue = np.empty((_BOX * _BOX * _BOX, 4), dtype=np.int64)
    been = np.zeros((_BOX, _BOX, _BOX), dtype=np.bool_)
    queue[0, 0], queue[0, 1], queue[0, 2], queue[0, 3] = x, y, z, 0
    been[MOUTH_BLOCKS, MOUTH_BLOCKS, MOUTH_BLOCKS] = True
    head = 0
    tail = 1
    found = 0
    while head < tail:
        cx, cy, cz, steps = queue[head, 0], queue[head, 1], queue[head, 2], queue[head, 3]
        head += 1
        if steps > 0 and found < out.shape[0] and _is_mouth(blocks, seed, cx, cy, cz):
            out[found, 0], out[found, 1], out[found, 2] = cx, cy, cz
            found += 1
        if steps == _MOUTH_STEPS:
            continue
        for side in range(6):
            nx = cx + (1 if side == 0 else (-1 if side == 1 else 0))
            nz = cz + (1 if side == 2 else (-1 if side == 3 else 0))
            ny = cy + (1 if side == 4 else (-1 if side == 5 else 0))
            ax, ay, az = nx - x, ny - y, nz - z
            if ax * ax + ay * ay + az * az > MOUTH_BLOCKS * MOUTH_BLOCKS or ny < 1 or ny >= HEIGHT:
                continue
            if been[ax + MOUTH_BLOCKS, ay + MOUTH_BLOCKS, az + MOUTH_BLOCKS]:
                continue
            if read_block(blocks, nx, ny, nz) != _AIR or ny > surface_height(seed, nx, nz):
                continue
            been[ax + MOUTH_BLOCKS, ay + MOUTH_BLOCKS, az + MOUTH_BLOCKS] = True
            queue[tail, 0], queue[tail, 1], queue[tail, 2], queue[tail, 3] = nx, ny, nz, steps + 1
            tail += 1
    return found


def is_surface_ore(world: World, ore: Position) -> bool:
    """Say whether an ore lies in the ground's top two layers with a face to the open air above the ground."""
    return bool(_is_surface_ore(world.blocks, world.seed, *ore))


def on_slope(world: World, ore: Position) -> bool:
    """Say whether the ground rises or falls by three blocks or more within three blocks of a place."""
    x, _, z = ore
    tops = [surface_height(world.seed, x + dx, z + dz) for dx in (-3, 0, 3) for dz in (-3, 0, 3)]
    return bool(max(tops) - min(tops) >= 3)


def mouths(world: World, ore: Position) -> list[Position]:
    """Return the mouth cells of an ore in a cave, nearest through the cave first.

    A mouth cell is air below the terrain's surface beside or under open air; it counts for the ore if it lies within
    MOUTH_BLOCKS of it and cave air leads from one to the other. An ore that lies on the surface itself has none.
    """
    if ore[1] > surface_height(world.seed, ore[0], ore[2]) - 2:
        return []
    out = np.empty((256, 3), dtype=np.int64)
    count = _mouths(world.blocks, world.seed, *ore, out)
    return [(x, y, z) for x, y, z in out[:count].tolist()]


def sees_cell(world: World, eye: tuple[float, float, float], cell: Position) -> bool:
    """Say whether nothing opaque stands between an eye and the middle of a cell, neither steeply above nor below."""
    to = tuple(cell[axis] + 0.5 - eye[axis] for axis in range(3))
    length = float(np.sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]))
    if length == 0.0 or abs(to[1]) > 0.85 * length:
        return False
    face = cast_ray(world.blocks, OPAQUE, False, *eye, to[0] / length, to[1] / length, to[2] / length, length)[3]
    return bool(face < 0)


def ores_around(world: World, eye: tuple[float, float, float], kind: int) -> dict[Position, int]:
    """Return the ores of a kind that a full look around shows, with the size of the largest face in square pixels."""
    seen: dict[Position, int] = {}
    for yaw in LOOK_YAWS:
        for pitch in LOOK_PITCHES:
            for ore in ores_in_view(world, eye, yaw, pitch):
                if ore.kind == kind:
                    seen[ore.position] = max(seen.get(ore.position, 0), ore.face_px)
    return seen


def open_ground(world: World, x: int, z: int) -> Position | None:
    """Return the standing place of a column on natural ground under the open sky, or None."""
    top = surface_height(world.seed, x, z)
    if world.get(x, top, z) not in _GROUND:
        return None
    if any(world.get(x, y, z) != _AIR for y in range(top + 1, HEIGHT)):
        return None
    return x, top + 1, z


def has_free_view(world: World, eye: tuple[float, float, float]) -> bool:
    """Say whether half of the level views reach eight blocks far and none is shut within 1.5 blocks."""
    reaching = 0
    for yaw in LOOK_YAWS:
        way = direction(yaw, 0)
        if cast_ray(world.blocks, SOLID, False, *eye, *way, 1.5)[3] >= 0:
            return False
        reaching += int(cast_ray(world.blocks, SOLID, False, *eye, *way, 8.0)[3] < 0)
    return reaching >= len(LOOK_YAWS) // 2
