"""Rooms: the open cells of a section that reach each other inside it, and the doors where they meet its sides.

A door is the rectangle around a room's cells at one side, packed as u0 | v0 << 5 | u1 << 10 | v1 << 15 (0 to 16), or -1
where the room does not reach that side. (u, v) is (z, y) on the x sides, (x, z) on the y sides and (x, y) on the z
sides.
"""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.config import CHUNK
from oresight.craftenv.kernels import allocating_kernel
from oresight.craftenv.render.layout import CELLS, FACES, LAYERS, NO_ROOM, PAD, PAD_Y, ROOMS, SECTIONS

FULL_DOOR = 16 << 10 | 16 << 15


def find_rooms(solid: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Find the rooms and doors of a chunk.

    Args:
        solid: uint8[PAD * PAD * PAD_Y], 1 where opaque, indexed ((x + 1) * PAD + z + 1) * PAD_Y + y + 1.

    Returns:
        labels: uint8[SECTIONS, CELLS], the room of each cell, indexed [x << 8 | z << 4 | y]; NO_ROOM where opaque.
        doors: int32[LAYERS, ROOMS, 6]. The sky's layer is one room, open on all sides.
    """
    labels = np.empty((SECTIONS, CELLS), dtype=np.uint8)
    doors = np.full((LAYERS, ROOMS, FACES), -1, dtype=np.int32)
    doors[SECTIONS, 0] = FULL_DOOR
    _flood(solid, labels, doors)
    return labels, doors


@allocating_kernel
def _flood(solid: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8], doors: npt.NDArray[np.int32]) -> None:
    step_x, step_z = PAD * PAD_Y, PAD_Y
    unseen = NO_ROOM - 1
    stack = np.empty(CELLS, dtype=np.int64)
    edges = np.empty((ROOMS, FACES, 4), dtype=np.int64)  # u0, v0, u1, v1 while a section is flooded
    for section in range(SECTIONS):
        corner = step_x + step_z + section * CHUNK + 1
        here = labels[section]
        open_cells = 0
        for x in range(CHUNK):
            for z in range(CHUNK):
                at = corner + x * step_x + z * step_z
                for y in range(CHUNK):
                    blocked = solid[at + y]
                    here[x << 8 | z << 4 | y] = NO_ROOM if blocked else unseen
                    open_cells += 1 - blocked
        if open_cells == 0:
            continue
        if open_cells == CELLS:
            here[:] = 0
            doors[section, 0] = FULL_DOOR
            continue
        edges[:, :, :2] = CHUNK
        edges[:, :, 2:] = -1
        rooms = 0
        for start in range(CELLS):
            if here[start] != unseen:
                continue
            room = min(rooms, ROOMS - 1)
            rooms += 1
            here[start] = room
            stack[0] = start
            size = 1
            while size:
                size -= 1
                cell = stack[size]
                x, z, y = cell >> 8, (cell >> 4) & 15, cell & 15
                for side in range(FACES):
                    if side < 2:
                        place, step, u, v = x, 256, z, y
                    elif side < 4:
                        place, step, u, v = y, 1, x, z
                    else:
                        place, step, u, v = z, 16, x, y
                    if place == (CHUNK - 1 if side % 2 else 0):
                        edge = edges[room, side]
                        edge[0] = min(edge[0], u)
                        edge[1] = min(edge[1], v)
                        edge[2] = max(edge[2], u + 1)
                        edge[3] = max(edge[3], v + 1)
                        continue
                    other = cell + step if side % 2 else cell - step
                    if here[other] == unseen:
                        here[other] = room
                        stack[size] = other
                        size += 1
        for room in range(ROOMS):
            for side in range(FACES):
                edge = edges[room, side]
                if edge[2] >= 0:
                    doors[section, room, side] = edge[0] | edge[1] << 5 | edge[2] << 10 | edge[3] << 15
