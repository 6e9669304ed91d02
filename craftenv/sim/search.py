"""Short ways to an ore: best-first search with the real movement kernel as the model and a walking field as the guide.

The search runs over poses that walking, turning and jumping reach in the unchanged world. It ends where one of the
views in steps of 30 and 15 degrees meets a wanted ore within reach, straight or through a few blocks to be mined.
Turning the outcome into actions, and trying them in a game, is left to the planner.
"""

from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import EYE_HEIGHT, HALF_WIDTH, HEIGHT, REACH_BLOCKS, WALK_PER_TICK
from oresight.craftenv.kernels import allocating_kernel, kernel
from oresight.craftenv.sim.aiming import YAWS, aim_at, mines_down
from oresight.craftenv.sim.player import move_body
from oresight.craftenv.sim.terrain import mix
from oresight.craftenv.sim.walking import can_stand
from oresight.craftenv.sim.world import read_block

# The field covers this far around the start.
FIELD_RANGE = 72
FIELD_SIDE = 2 * FIELD_RANGE + 1
# What the search's steps are called in its outcome; the first four index the table of walking directions.
FORWARD, BACKWARD, LEFT, RIGHT, TURN_LEFT, TURN_RIGHT, JUMP, WAIT, AIM = range(9)

_WATER = int(Block.WATER)
_MOVE_TICKS = 20
_TURN_TICKS = 4
_JUMP_TICKS = 8
_FALL = 24  # deepest drop that the field knows; falling does no harm
_PER_BLOCK = 1.0 / (WALK_PER_TICK * _MOVE_TICKS)
_CLIMB = 1.2  # a step up takes a jump, and the walk after it often ends at the next step
_GUESSED_AIM = 4.0  # where no view from a cell's middle meets the ore, one from its edge may
_FAR = np.float32(1e9)
_HASH_BITS = 21
_HASH_SIZE = 1 << _HASH_BITS


@allocating_kernel
def fill_field(
    blocks: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.bool_],
    break_ticks: npt.NDArray[np.int64],
    views: npt.NDArray[np.float64],
    ores: npt.NDArray[np.int64],
    x0: int,
    z0: int,
    start_y: int,
    max_actions: int,
    deep: bool,
    field: npt.NDArray[np.float32],
) -> None:
    """Fill the field with about how many actions each standing place is away from an ore; far beyond `max_actions`.

    The start stands in the field's middle column with its feet at `start_y`; places much farther from the ore than it
    are left out.

    `field` is float32[FIELD_SIDE, FIELD_SIDE, HEIGHT] indexed [x - x0, z - z0, y].
    """
    field[:] = _FAR
    heap: list[tuple[float, int]] = [(0.0, -1) for _ in range(0)]
    tried = np.zeros((FIELD_SIDE, FIELD_SIDE, HEIGHT), dtype=np.bool_)
    around = np.empty((ores.shape[0], 3), dtype=np.int64)
    for n in range(ores.shape[0]):
        count = 0
        for m in range(ores.shape[0]):
            if abs(ores[m, 0] - ores[n, 0]) <= 14 and abs(ores[m, 2] - ores[n, 2]) <= 14:
                around[count] = ores[m]
                count += 1
        for i in range(max(0, ores[n, 0] - x0 - 6), min(FIELD_SIDE, ores[n, 0] - x0 + 7)):
            for k in range(max(0, ores[n, 2] - z0 - 6), min(FIELD_SIDE, ores[n, 2] - z0 + 7)):
                for y in range(max(1, ores[n, 1] - 7), min(HEIGHT - 2, ores[n, 1] + 6)):
                    if tried[i, k, y] or not can_stand(blocks, solid, x0 + i, y, z0 + k):
                        continue
                    x = x0 + i + 0.5
                    z = z0 + k + 0.5
                    found = aim_at(blocks, solid, break_ticks, views, around[:count], x, float(y), z, 0, 6, False)
                    cost = float(abs(found[2] - 6) + found[3])
                    if found[0] >= 0:
                        tried[i, k, y] = True
                    else:
                        rx = max(0.0, max(ores[n, 0] - x, x - ores[n, 0] - 1.0))
                        ry = max(0.0, max(ores[n, 1] - y - EYE_HEIGHT, y + EYE_HEIGHT - ores[n, 1] - 1.0))
                        rz = max(0.0, max(ores[n, 2] - z, z - ores[n, 2] - 1.0))
                        if rx * rx + ry * ry + rz * rz > REACH_BLOCKS * REACH_BLOCKS:
                            continue
                        cost = _GUESSED_AIM
                    if cost < field[i, k, y]:
                        field[i, k, y] = cost
                        heappush(heap, (cost, (i * FIELD_SIDE + k) * HEIGHT + y))
        if deep:
            i = ores[n, 0] - x0
            k = ores[n, 2] - z0
            for y in range(ores[n, 1] + 1, HEIGHT - 2):
                if can_stand(blocks, solid, ores[n, 0], y, ores[n, 2]):
                    shaft = mines_down(
                        blocks, solid, break_ticks, around[:count], ores[n, 0] + 0.5, float(y), ores[n, 2] + 0.5
                    )
                    if shaft > 0 and 6.0 + shaft < field[i, k, y]:
                        field[i, k, y] = 6.0 + shaft
                        heappush(heap, (6.0 + shaft, (i * FIELD_SIDE + k) * HEIGHT + y))
    limit = float(max_actions)
    while len(heap) > 0:
        cost, cell = heappop(heap)
        y = cell % HEIGHT
        k = cell // HEIGHT % FIELD_SIDE
        i = cell // HEIGHT // FIELD_SIDE
        if cost > field[i, k, y] + 1e-4 or cost > limit:
            continue
        if i == FIELD_RANGE and k == FIELD_RANGE and y == start_y:
            limit = min(limit, 1.4 * cost + 6.0)
        x = x0 + i
        z = z0 + k
        for side in range(9):
            di = side % 3 - 1
            dk = side // 3 - 1
            ni = i + di
            nk = k + dk
            if not (0 <= ni < FIELD_SIDE and 0 <= nk < FIELD_SIDE):
                continue
            px = x + di
            pz = z + dk
            length = 1.4142135623730951 if di != 0 and dk != 0 else 1.0
            # From a place one lower: the step up needs head room over both, and no corner in between.
            for rise in range(-1, _FALL):
                py = y + rise
                if py < 1 or py > HEIGHT - 3:
                    continue
                if rise >= 0 and rise + y + 1 < HEIGHT and solid[read_block(blocks, x, py + 1, z)]:
                    break
                if side == 4:
                    # Swimming straight up and down.
                    if (rise != 1 and rise != -1) or read_block(blocks, x, y, z) != _WATER:
                        continue
                elif rise < 0 and (length > 1.0 or solid[read_block(blocks, px, y + 1, pz)]):
                    continue
                if not can_stand(blocks, solid, px, py, pz):
                    continue
                if length > 1.0 and (
                    solid[read_block(blocks, px, py, z)]
                    or solid[read_block(blocks, px, py + 1, z)]
                    or solid[read_block(blocks, x, py, pz)]
                    or solid[read_block(blocks, x, py + 1, pz)]
                ):
                    continue
                wet = read_block(blocks, px, py, pz) == _WATER
                step = length * _PER_BLOCK * (2.0 if wet else 1.0)
                if rise < 0 and not wet:
                    step += _CLIMB
                if cost + step < field[ni, nk, py] - 1e-4:
                    field[ni, nk, py] = cost + step
                    heappush(heap, (cost + step, (ni * FIELD_SIDE + nk) * HEIGHT + py))


@kernel
def _guess(field: npt.NDArray[np.float32], x0: int, z0: int, x: float, y: float, z: float) -> float:
    """Return the field's value for feet anywhere: the best of the places under the box, at or below the feet."""
    best = float(_FAR)
    for i in range(int(np.floor(x - HALF_WIDTH)) - x0, int(np.floor(x + HALF_WIDTH)) - x0 + 1):
        for k in range(int(np.floor(z - HALF_WIDTH)) - z0, int(np.floor(z + HALF_WIDTH)) - z0 + 1):
            if not (0 <= i < FIELD_SIDE and 0 <= k < FIELD_SIDE):
                continue
            for down in range(_FALL):
                level = int(np.floor(y + 0.01)) - down
                if level < 0:
                    break
                if level < HEIGHT and field[i, k, level] < _FAR:
                    best = min(best, float(field[i, k, level]))
                    break
    return best


@kernel
def _key(x: float, y: float, z: float, yaw: int, mark: int) -> np.uint64:
    """Return one number for all poses that count as the same: half a block, same yaw, same footing."""
    h = np.uint64(int(np.floor(x * 2.0)) & 0xFFFFF)
    h = h * np.uint64(1 << 20) + np.uint64(int(np.floor(z * 2.0)) & 0xFFFFF)
    h = h * np.uint64(1 << 10) + np.uint64(int(np.floor(y * 2.0)) & 0x3FF)
    return h * np.uint64(64) + np.uint64(yaw * 4 + mark) + np.uint64(1)


@allocating_kernel
def search(
    blocks: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.bool_],
    break_ticks: npt.NDArray[np.int64],
    views: npt.NDArray[np.float64],
    walks: npt.NDArray[np.float64],
    ores: npt.NDArray[np.int64],
    field: npt.NDArray[np.float32],
    x0: int,
    z0: int,
    start: npt.NDArray[np.float64],
    footing: int,
    pitch: int,
    max_actions: int,
    deep: bool,
    weight: float,
    max_nodes: int,
) -> tuple[npt.NDArray[np.int8], int, int, int]:
    """Search from a pose for the shortest way to get a wanted ore.

    Args:
        blocks: The world array.
        solid: bool by block id.
        break_ticks: int64 by block id.
        views: float64[YAWS, PITCHES, 3], unit vectors; yaw index 0 is the start's.
        walks: float64[YAWS, 4, 2], x and z of one tick's walk for forward, backward, left and right.
        ores: Wanted ores, int64[n, 3].
        field: From `fill_field`.
        x0: Of the field.
        z0: Of the field.
        start: Feet x, y, z and vertical speed.
        footing: 1 on the ground, 2 in water, added.
        pitch: Index of the start's pitch.
        max_actions: Longest plan.
        deep: Whether to dig shafts straight down, too.
        weight: How much the field counts: 1 searches widely, more goes straight.
        max_nodes: Poses to look at, at most.

    Returns:
        The steps up to the aiming (int8, the numbers above), then yaw index, pitch index and times to mine, which is 0
        where there is no plan and -1 where the search was given up.
    """
    pose = np.empty((max_nodes, 4), dtype=np.float64)
    feet = np.empty(max_nodes, dtype=np.int8)  # 1 on the ground, 2 in water, 4 at the top of a jump
    yaws = np.empty(max_nodes, dtype=np.int8)
    made_by = np.empty(max_nodes, dtype=np.int8)
    parent = np.empty(max_nodes, dtype=np.int64)
    spent = np.empty(max_nodes, dtype=np.int64)
    aims = np.zeros((max_nodes, 3), dtype=np.int8)
    keys = np.zeros(_HASH_SIZE, dtype=np.uint64)
    least = np.zeros(_HASH_SIZE, dtype=np.int64)
    pose[0] = start
    feet[0] = footing
    yaws[0] = 0
    parent[0] = -1
    spent[0] = 0
    made_by[0] = WAIT
    used = 1
    known = 0
    heap = [(weight * _guess(field, x0, z0, start[0], start[1], start[2]), 0)]
    goal = -1
    while len(heap) > 0:
        _, node = heappop(heap)
        if made_by[node] == AIM:
            goal = node
            break
        x = pose[node, 0]
        y = pose[node, 1]
        z = pose[node, 2]
        yaw = yaws[node]
        if feet[node] == 1 and pose[node, 3] == 0.0 and used < max_nodes:
            cost, way, tilt, mines = aim_at(blocks, solid, break_ticks, views, ores, x, y, z, yaw, pitch, deep)
            if cost > 0 and spent[node] + cost <= max_actions:
                made_by[used] = AIM
                parent[used] = node
                spent[used] = spent[node] + cost
                aims[used, 0] = way
                aims[used, 1] = tilt
                aims[used, 2] = mines
                heappush(heap, (float(spent[used]), used))
                used += 1
        g = spent[node] + 1
        if g >= max_actions:
            continue
        for action in range(8):
            if feet[node] & 4 and action > RIGHT:
                continue
            if action == JUMP and feet[node] & 3 == 0:
                continue
            if action == WAIT and feet[node] & 1:
                continue
            wx = wz = 0.0
            ticks = _MOVE_TICKS
            new_yaw = int(yaw)
            if action <= RIGHT:
                wx = walks[yaw, action, 0]
                wz = walks[yaw, action, 1]
            elif action in (TURN_LEFT, TURN_RIGHT):
                ticks = _TURN_TICKS
                new_yaw = (yaw + (YAWS - 1 if action == TURN_LEFT else 1)) % YAWS
            elif action == JUMP:
                ticks = _JUMP_TICKS
            nx, ny, nz, speed = x, y, z, pose[node, 3]
            ground = feet[node] & 1 != 0
            water = feet[node] & 2 != 0
            for tick in range(ticks):
                take_off = action == JUMP and tick == 0 and ground
                nx, ny, nz, speed, ground, water = move_body(
                    blocks, solid, nx, ny, nz, speed, wx, wz, action == JUMP, take_off
                )
            if action <= RIGHT and abs(nx - x) + abs(nz - z) + abs(ny - y) < 0.05:
                continue
            mark = (1 if ground else 0) + (2 if water else 0)
            if action == JUMP and mark == 0:
                mark = 4
            h = _guess(field, x0, z0, nx, ny, nz)
            if h >= _FAR or g + h * 0.8 > max_actions:
                continue
            key = _key(nx, ny, nz, new_yaw, 3 if mark == 4 else mark)
            slot = np.int64(mix(key) & np.uint64(_HASH_SIZE - 1))
            while keys[slot] != 0 and keys[slot] != key:
                slot = (slot + 1) & (_HASH_SIZE - 1)
            if keys[slot] == key:
                if least[slot] <= g:
                    continue
            else:
                known += 1
                keys[slot] = key
            least[slot] = g
            if used >= max_nodes or known > _HASH_SIZE // 2:
                return np.empty(0, dtype=np.int8), 0, 0, -1
            pose[used, 0] = nx
            pose[used, 1] = ny
            pose[used, 2] = nz
            pose[used, 3] = speed
            feet[used] = mark
            yaws[used] = new_yaw
            made_by[used] = action
            parent[used] = node
            spent[used] = g
            heappush(heap, (g + weight * h, used))
            used += 1
    if goal < 0:
        return np.empty(0, dtype=np.int8), 0, 0, 0
    length = 0
    node = parent[goal]
    while parent[node] >= 0:
        length += 1
        node = parent[node]
    steps = np.empty(length, dtype=np.int8)
    node = parent[goal]
    for n in range(length - 1, -1, -1):
        steps[n] = made_by[node]
        node = parent[node]
    return steps, int(aims[goal, 0]), int(aims[goal, 1]), int(aims[goal, 2])
