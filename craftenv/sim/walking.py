"""Walking distance over the true world: steps one block up or three down, to where an ore comes within reach.

Breadth-first over standing places: cells for the feet with room for the body, and ground or water to be on.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import EYE_HEIGHT, HALF_WIDTH, HEIGHT, REACH_BLOCKS
from oresight.craftenv.kernels import allocating_kernel, kernel
from oresight.craftenv.sim.geometry import SOLID
from oresight.craftenv.sim.player import Player
from oresight.craftenv.sim.world import Position, World, read_block

WALK_RANGE = 64
_SIDE = 2 * WALK_RANGE + 1
_CELLS = _SIDE * _SIDE * HEIGHT
_WATER = int(Block.WATER)
_DROP = 3
# Chunks that a search must find loaded: 5 leave 80 blocks on every side.
WALK_RADIUS = 5


@dataclass(frozen=True)
class Walk:
    """The way to an ore.

    Attributes:
        steps: Its length, or None where there is no way.
        waypoint: The place at the end of the way's first straight stretch, None at the goal or without a way.
    """

    steps: int | None
    waypoint: Position | None


@kernel
def can_stand(blocks: npt.NDArray[np.uint8], solid: npt.NDArray[np.bool_], x: int, y: int, z: int) -> bool:
    """Say whether the feet can be in a cell: room for the body, and ground below or water around."""
    here = read_block(blocks, x, y, z)
    if solid[here] or solid[read_block(blocks, x, y + 1, z)]:
        return False
    return here == _WATER or solid[read_block(blocks, x, y - 1, z)]


@kernel
def step_to(
    blocks: npt.NDArray[np.uint8], solid: npt.NDArray[np.bool_], x: int, y: int, z: int, dx: int, dz: int
) -> int:
    """Return the y at which a step from a standing place to the next column ends, -1 where it cannot be made."""
    nx = x + dx
    nz = z + dz
    if solid[read_block(blocks, nx, y + 1, nz)]:
        # The head's way is shut; the only way left is up, and that needs the cell above it free as well.
        return -1
    if solid[read_block(blocks, nx, y, nz)]:
        if solid[read_block(blocks, nx, y + 2, nz)] or solid[read_block(blocks, x, y + 2, z)]:
            return -1
        return y + 1
    for drop in range(_DROP + 1):
        ny = y - drop
        if ny < 0 or solid[read_block(blocks, nx, ny, nz)]:
            return -1
        if can_stand(blocks, solid, nx, ny, nz):
            return ny
    return -1


@kernel
def _in_reach(x: int, y: int, z: int, ore: npt.NDArray[np.int64]) -> bool:
    total = 0.0
    for axis in range(3):
        eye = x + 0.5 if axis == 0 else (y + EYE_HEIGHT if axis == 1 else z + 0.5)
        off = max(0.0, max(ore[axis] - eye, eye - (ore[axis] + 1.0)))
        total += off * off
    return total <= REACH_BLOCKS * REACH_BLOCKS


@allocating_kernel
def _search(
    blocks: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.bool_],
    start: npt.NDArray[np.int64],
    ores: npt.NDArray[np.int64],
    parents: npt.NDArray[np.int32],
    queue: npt.NDArray[np.int32],
    steps: npt.NDArray[np.int64],
    waypoints: npt.NDArray[np.int64],
) -> None:
    """Fill `steps` (-1 without a way) and `waypoints` (rows x, y, z; y = -1 for none) for each ore.

    `parents` must be all -1 and is left so.
    """
    x0 = start[0] - WALK_RANGE
    z0 = start[2] - WALK_RANGE
    first = np.int32((WALK_RANGE * _SIDE + WALK_RANGE) * HEIGHT + start[1])
    queue[0] = first
    parents[first] = first
    head = 0
    tail = 1
    level_end = 1
    depth = 0
    left = ores.shape[0]
    goals = np.full(ores.shape[0], -1, dtype=np.int64)
    for n in range(ores.shape[0]):
        steps[n] = -1
        waypoints[n, 1] = -1
    while head < tail and left > 0:
        if head == level_end:
            depth += 1
            level_end = tail
        cell = queue[head]
        head += 1
        y = cell % HEIGHT
        column = cell // HEIGHT
        ix = column // _SIDE
        iz = column % _SIDE
        x = x0 + ix
        z = z0 + iz
        for n in range(ores.shape[0]):
            if steps[n] < 0 and _in_reach(x, y, z, ores[n]):
                steps[n] = depth
                goals[n] = cell
                left -= 1
        for side in range(6):
            dx = 1 if side == 0 else (-1 if side == 1 else 0)
            dz = 1 if side == 2 else (-1 if side == 3 else 0)
            if side < 4:
                if not (0 <= ix + dx < _SIDE and 0 <= iz + dz < _SIDE):
                    continue
                ny = step_to(blocks, solid, x, y, z, dx, dz)
            else:
                # Swimming goes straight up and down too.
                ny = y + 1 if side == 4 else y - 1
                if read_block(blocks, x, y, z) != _WATER or not can_stand(blocks, solid, x, ny, z):
                    continue
            if ny < 0 or ny >= HEIGHT:
                continue
            other = np.int32(((ix + dx) * _SIDE + iz + dz) * HEIGHT + ny)
            if parents[other] < 0:
                parents[other] = cell
                queue[tail] = other
                tail += 1
    for n in range(ores.shape[0]):
        if steps[n] <= 0:
            continue
        # From the goal back to the start; the waypoint is where the last of the equal first steps ends.
        way = np.empty(steps[n] + 1, dtype=np.int64)
        cell = np.int32(goals[n])
        for i in range(steps[n], -1, -1):
            way[i] = cell
            cell = parents[cell]
        last = 1
        while last < steps[n] and way[last + 1] - way[last] == way[1] - way[0]:
            last += 1
        column = way[last] // HEIGHT
        waypoints[n, 0] = x0 + column // _SIDE
        waypoints[n, 1] = way[last] % HEIGHT
        waypoints[n, 2] = z0 + column % _SIDE
    for i in range(tail):
        parents[queue[i]] = -1


def standing_place(world: World, player: Player) -> Position | None:
    """Return the cell of the feet over the ground that bears the player, or None in the air."""
    x, y, z = player.feet
    if not (player.on_ground or player.in_water):
        return None
    cell_y = int(np.floor(y))
    own = (int(np.floor(x)), cell_y, int(np.floor(z)))
    if can_stand(world.blocks, SOLID, *own):
        return own
    # The feet's middle is over an edge: of the cells under the box, the nearest that bears.
    best: tuple[float, Position] | None = None
    for cx in range(int(np.floor(x - HALF_WIDTH)), int(np.floor(x + HALF_WIDTH)) + 1):
        for cz in range(int(np.floor(z - HALF_WIDTH)), int(np.floor(z + HALF_WIDTH)) + 1):
            if can_stand(world.blocks, SOLID, cx, cell_y, cz):
                away = (cx + 0.5 - x) * (cx + 0.5 - x) + (cz + 0.5 - z) * (cz + 0.5 - z)
                if best is None or away < best[0]:
                    best = (away, (cx, cell_y, cz))
    return best[1] if best else own


def place_below(world: World, player: Player) -> Position:
    """Return the place that a player in the air would land on, straight below."""
    x, z = int(np.floor(player.x)), int(np.floor(player.z))
    y = min(int(np.floor(player.y)), HEIGHT - 1)
    while y > 1 and not can_stand(world.blocks, SOLID, x, y, z):
        y -= 1
    return x, y, z


class Walker:
    """Finds ways to ores, keeping the last answer until the place or the world changes."""

    def __init__(self) -> None:
        self._parents: npt.NDArray[np.int32] = np.full(_CELLS, -1, dtype=np.int32)
        self._queue: npt.NDArray[np.int32] = np.empty(_CELLS, dtype=np.int32)
        self._key: tuple[Position, int, tuple[Position, ...]] | None = None
        self._ways: dict[Position, Walk] = {}

    def ways(self, world: World, place: Position, ores: tuple[Position, ...]) -> dict[Position, Walk]:
        """Return the way from a standing place to each ore.

        Args:
            world: Loaded at least WALK_RADIUS chunks around the place.
            place: The feet's cell.
            ores: Which ores.
        """
        key = (place, world.edits, ores)
        if key == self._key:
            return self._ways
        ways: dict[Position, Walk] = {}
        if ores:
            steps = np.empty(len(ores), dtype=np.int64)
            waypoints = np.zeros((len(ores), 3), dtype=np.int64)
            _search(
                world.blocks,
                SOLID,
                np.array(place, dtype=np.int64),
                np.array(ores, dtype=np.int64),
                self._parents,
                self._queue,
                steps,
                waypoints,
            )
            for ore, count, (x, y, z) in zip(ores, steps.tolist(), waypoints.tolist(), strict=True):
                ways[ore] = Walk(count if count >= 0 else None, (x, y, z) if y >= 0 else None)
        self._key = key
        self._ways = ways
        return ways
