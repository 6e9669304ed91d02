"""Which rooms of the meshed chunks a view may see, nearest first; no OpenGL.

The view spreads from the eye's room through doors into the next sections' rooms, only away from the eye, and carries
along the window of the picture that is still open: what the doors so far leave of it. A straight line of sight passes
exactly such doors, so nothing in view is ever left out; caves and valleys behind hills mostly are.
"""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.config import CHUNK, DRAW_RADIUS_CHUNKS, HEIGHT
from oresight.craftenv.kernels import allocating_kernel, kernel
from oresight.craftenv.render.camera import Camera
from oresight.craftenv.render.layout import FACES, LAYERS, NO_ROOM, ROOMS, SECTIONS
from oresight.craftenv.render.store import SlotTable

_SPAN = 2 * DRAW_RADIUS_CHUNKS + 1
_NODES = _SPAN * _SPAN * LAYERS * ROOMS
# Slack of windows, in halves of a picture, for rounding: a tenth of a pixel in the largest picture.
_SLACK = 1e-4
# A door nearer than this to the eye is taken to fill the whole window: the eye may be just passing it.
_TOUCHING_BLOCKS = 0.1
# Places less far in front of the eye than this are cut off before they are projected.
_LEAST_DEPTH = 1e-4
_SKY_BLOCKS = 1000.0


class SeenRooms:
    """The rooms a view may see, nearest first.

    Attributes:
        size: How many there are.
        rooms: int64[size.., 6], each room's slot, layer and number, its chunk's x and z, and how many sections away it
            is, counted along the axes.
        windows: float64[size.., 4], the part of the picture it may be in: left, low, right, high, in halves.
    """

    def __init__(self) -> None:
        self.size = 0
        self.rooms = np.zeros((_NODES, 6), dtype=np.int64)
        self.windows = np.zeros((_NODES, 4), dtype=np.float64)


def find_rooms_in_view(table: SlotTable, camera: Camera, reach_blocks: float, seen: SeenRooms) -> None:
    """Find the rooms a view may see, up to a distance; `seen` is filled with the result."""
    seen.size = _spread(
        table.boxes,
        table.doors,
        table.labels,
        table.drawable,
        np.array(camera.eye, dtype=np.float64),
        camera.axes,
        reach_blocks,
        seen.rooms,
        seen.windows,
    )


@kernel
def _project(
    corners: npt.NDArray[np.float64], count: int, axes: npt.NDArray[np.float64], out: npt.NDArray[np.float64]
) -> bool:
    """Put the smallest upright rectangle around a flat polygon's picture.

    Args:
        corners: float64[count, 3], relative to the eye.
        count: How many corners.
        axes: See `Camera.axes`.
        out: Filled with left, low, right and high, in halves of the picture.

    Returns:
        False when the polygon is behind the eye.
    """
    out[0] = out[1] = np.inf
    out[2] = out[3] = -np.inf
    previous = count - 1
    px = axes[0, 0] * corners[previous, 0] + axes[0, 1] * corners[previous, 1] + axes[0, 2] * corners[previous, 2]
    py = axes[1, 0] * corners[previous, 0] + axes[1, 1] * corners[previous, 1] + axes[1, 2] * corners[previous, 2]
    pz = axes[2, 0] * corners[previous, 0] + axes[2, 1] * corners[previous, 1] + axes[2, 2] * corners[previous, 2]
    found = False
    for n in range(count):
        x = axes[0, 0] * corners[n, 0] + axes[0, 1] * corners[n, 1] + axes[0, 2] * corners[n, 2]
        y = axes[1, 0] * corners[n, 0] + axes[1, 1] * corners[n, 1] + axes[1, 2] * corners[n, 2]
        z = axes[2, 0] * corners[n, 0] + axes[2, 1] * corners[n, 1] + axes[2, 2] * corners[n, 2]
        if (pz > _LEAST_DEPTH) != (z > _LEAST_DEPTH):
            part = (_LEAST_DEPTH - pz) / (z - pz)
            cx, cy = (px + (x - px) * part) / _LEAST_DEPTH, (py + (y - py) * part) / _LEAST_DEPTH
            out[0], out[1], out[2], out[3] = min(out[0], cx), min(out[1], cy), max(out[2], cx), max(out[3], cy)
            found = True
        if z > _LEAST_DEPTH:
            cx, cy = x / z, y / z
            out[0], out[1], out[2], out[3] = min(out[0], cx), min(out[1], cy), max(out[2], cx), max(out[3], cy)
            found = True
        px, py, pz = x, y, z
    return found


@kernel
def _box_in_window(
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    axes: npt.NDArray[np.float64],
    window: npt.NDArray[np.float64],
    reach_squared: float,
) -> bool:
    """Say whether a box, given relative to the eye, is near enough and meets the pyramid through a window.

    Tried against each of the pyramid's sides in turn, so a box may pass that misses it at an edge.
    """
    distance = 0.0
    for axis in range(3):
        if low[axis] > 0.0:
            distance += low[axis] * low[axis]
        elif high[axis] < 0.0:
            distance += high[axis] * high[axis]
    if distance > reach_squared:
        return False
    for side in range(4):
        row = side % 2
        sign = 1.0 if side < 2 else -1.0
        farthest = 0.0
        for axis in range(3):
            normal = sign * (axes[row, axis] - window[side] * axes[2, axis])
            farthest += normal * (high[axis] if normal > 0.0 else low[axis])
        if farthest < 0.0:
            return False
    return True


@allocating_kernel
def _spread(
    boxes: npt.NDArray[np.int16],
    doors: npt.NDArray[np.int32],
    labels: npt.NDArray[np.uint8],
    drawable: npt.NDArray[np.bool_],
    eye: npt.NDArray[np.float64],
    axes: npt.NDArray[np.float64],
    reach: float,
    found_rooms: npt.NDArray[np.int64],
    found_windows: npt.NDArray[np.float64],
) -> int:
    home_x, home_z = int(np.floor(eye[0])) >> 4, int(np.floor(eye[2])) >> 4
    home_layer = min(max(int(np.floor(eye[1])) >> 4, 0), SECTIONS)
    middle = DRAW_RADIUS_CHUNKS
    reached = np.zeros((_SPAN, _SPAN, LAYERS, ROOMS), dtype=np.bool_)
    windows = np.empty((_SPAN, _SPAN, LAYERS, ROOMS, 4), dtype=np.float64)
    # Steps lead away from the eye only, one section at a time: what widens a room's window comes before it.
    queue = np.empty((_NODES, 4), dtype=np.int64)
    tail = 0
    home_slot = (home_x & 15) * 16 + (home_z & 15)
    home_room = NO_ROOM
    if home_layer < SECTIONS and eye[1] >= 0.0:
        x, y, z = int(np.floor(eye[0])) & 15, int(np.floor(eye[1])) & 15, int(np.floor(eye[2])) & 15
        home_room = labels[home_slot, home_layer, x << 8 | z << 4 | y]
    for room in range(ROOMS):
        # An eye inside rock is in no room; it looks into all of its section's.
        if home_room in (room, NO_ROOM):
            reached[middle, middle, home_layer, room] = True
            windows[middle, middle, home_layer, room] = (-1.0 - _SLACK, -1.0 - _SLACK, 1.0 + _SLACK, 1.0 + _SLACK)
            queue[tail] = (middle, middle, home_layer, room)
            tail += 1
    low, high, seen = np.empty(3), np.empty(3), np.empty(4)
    corners = np.empty((4, 3))
    found = 0
    head = 0
    while head < tail:
        ix, iz, layer, room = queue[head]
        head += 1
        cx, cz = home_x + ix - middle, home_z + iz - middle
        slot = (cx & 15) * 16 + (cz & 15)
        if not drawable[slot]:
            continue
        window = windows[ix, iz, layer, room]
        corner_x, corner_y, corner_z = cx * CHUNK - eye[0], -eye[1], cz * CHUNK - eye[2]
        box = boxes[slot, layer, room]
        low[0], low[1], low[2] = corner_x + box[0], corner_y + box[1], corner_z + box[2]
        high[0], high[1], high[2] = corner_x + box[3], corner_y + box[4], corner_z + box[5]
        if box[0] <= box[3] and _box_in_window(low, high, axes, window, reach * reach):
            away = abs(ix - middle) + abs(iz - middle) + abs(layer - home_layer)
            found_rooms[found] = (slot, layer, room, cx, cz, away)
            found_windows[found] = window
            found += 1
        for side in range(FACES):
            door = doors[slot, layer, room, side]
            if door < 0:
                continue
            jx, jz, other = ix, iz, layer
            if side == 0:
                jx -= 1
                if ix > middle or jx < 0:
                    continue
            elif side == 1:
                jx += 1
                if ix < middle or jx >= _SPAN:
                    continue
            elif side == 2:
                other -= 1
                if layer > home_layer or other < 0:
                    continue
            elif side == 3:
                other += 1
                if layer < home_layer or other >= LAYERS:
                    continue
            elif side == 4:
                jz -= 1
                if iz > middle or jz < 0:
                    continue
            else:
                jz += 1
                if iz < middle or jz >= _SPAN:
                    continue
            slot_there = ((home_x + jx - middle) & 15) * 16 + ((home_z + jz - middle) & 15)
            if not drawable[slot_there]:
                continue
            for next_room in range(ROOMS):
                door_there = doors[slot_there, other, next_room, side ^ 1]
                if door_there < 0:
                    continue
                u0, u1 = float(max(door & 31, door_there & 31)), float(min(door >> 10 & 31, door_there >> 10 & 31))
                v0 = float(max(door >> 5 & 31, door_there >> 5 & 31))
                v1 = float(min(door >> 15 & 31, door_there >> 15 & 31))
                if u0 >= u1 or v0 >= v1:
                    continue
                floor = corner_y + layer * CHUNK
                if layer == SECTIONS and side != 2:
                    v1 = _SKY_BLOCKS + max(0.0, eye[1] - HEIGHT)
                if side < 2:
                    plane = corner_x + (CHUNK if side else 0)
                    corners[:, 0] = plane
                    corners[0, 2] = corners[3, 2] = corner_z + u0
                    corners[1, 2] = corners[2, 2] = corner_z + u1
                    corners[0, 1] = corners[1, 1] = floor + v0
                    corners[2, 1] = corners[3, 1] = floor + v1
                elif side < 4:
                    plane = floor + (CHUNK if side == 3 else 0)
                    corners[:, 1] = plane
                    corners[0, 0] = corners[3, 0] = corner_x + u0
                    corners[1, 0] = corners[2, 0] = corner_x + u1
                    corners[0, 2] = corners[1, 2] = corner_z + v0
                    corners[2, 2] = corners[3, 2] = corner_z + v1
                else:
                    plane = corner_z + (CHUNK if side == 5 else 0)
                    corners[:, 2] = plane
                    corners[0, 0] = corners[3, 0] = corner_x + u0
                    corners[1, 0] = corners[2, 0] = corner_x + u1
                    corners[0, 1] = corners[1, 1] = floor + v0
                    corners[2, 1] = corners[3, 1] = floor + v1
                if abs(plane) > reach:
                    continue
                if abs(plane) < _TOUCHING_BLOCKS:
                    seen[:] = window
                else:
                    if not _project(corners, 4, axes, seen):
                        continue
                    seen[0] = max(seen[0] - _SLACK, window[0])
                    seen[1] = max(seen[1] - _SLACK, window[1])
                    seen[2] = min(seen[2] + _SLACK, window[2])
                    seen[3] = min(seen[3] + _SLACK, window[3])
                    if seen[0] >= seen[2] or seen[1] >= seen[3]:
                        continue
                there = windows[jx, jz, other, next_room]
                if reached[jx, jz, other, next_room]:
                    there[0], there[1] = min(there[0], seen[0]), min(there[1], seen[1])
                    there[2], there[3] = max(there[2], seen[2]), max(there[3], seen[3])
                else:
                    reached[jx, jz, other, next_room] = True
                    there[:] = seen
                    queue[tail] = (jx, jz, other, next_room)
                    tail += 1
    return found
