"""Which quads of the rooms in view have a pixel of their own: those are drawn, the hidden ones never reach OpenGL.

One bit a pixel says whether something nearer covers it already. Rooms come nearest first, so a quad without a free pixel
among those whose centres it holds is hidden. OpenGL draws quads a trace larger than they are (see
`craftenv.render.programs`), so it never leaves open what is counted as covered here.
"""

import numpy as np
import numpy.typing as npt

from craftenv.config import CHUNK
from craftenv.render.camera import NEAR_BLOCKS, Camera
from craftenv.render.layout import FACES, GROUP_TORCH, kernel
from craftenv.render.store import SlotTable
from craftenv.render.visibility import SeenRooms

_FIRST_SPANS = 1 << 14


class DrawList:
    """The quads to draw for one view.

    Attributes:
        vertices: uint32[.., 2]: first the opaque quads, nearest room first, then the torches', then water, farthest
            room first.
        opaque: How many opaque quads there are.
        torches: How many of torches.
        water: How many of water.
    """

    def __init__(self, width: int, height: int) -> None:
        self._width = width
        self._height = height
        self._covered = np.zeros((height, (width + 63) // 64), dtype=np.uint64)
        self._spans = np.empty((_FIRST_SPANS, 3), dtype=np.int32)
        self.vertices = np.empty((0, 2), dtype=np.uint32)
        self.opaque = 0
        self.torches = 0
        self.water = 0

    @property
    def shown(self) -> npt.NDArray[np.uint32]:
        """The vertices that count."""
        return self.vertices[: (self.opaque + self.torches + self.water) * 4]

    def fill(self, table: SlotTable, camera: Camera, seen: SeenRooms) -> None:
        """Pick the quads of the rooms in view that show."""
        if len(self.vertices) < len(table.vertices):
            self.vertices = np.empty_like(table.vertices)
        sizes = np.zeros(3, dtype=np.int64)
        while not _pick(
            table.vertices,
            table.first,
            table.counts,
            np.array(camera.eye, dtype=np.float64),
            camera.axes,
            seen.rooms[: seen.size],
            seen.windows,
            self._width,
            self._height,
            self._covered,
            self._spans,
            self.vertices,
            sizes,
        ):
            self._spans = np.empty((len(self._spans) * 2, 3), dtype=np.int32)
        self.opaque, self.torches, self.water = (int(size) for size in sizes)


@kernel
def _corner(
    word: int, corner_x: float, corner_y: float, corner_z: float, axes: npt.NDArray[np.float64]
) -> tuple[float, float, float]:
    """Unpack a vertex and turn it into the view: to the right, up and forward, in the units of `Camera.axes`."""
    x = corner_x + (word & 511) * 0.0625
    y = corner_y + ((word >> 18) & 2047) * 0.0625
    z = corner_z + ((word >> 9) & 511) * 0.0625
    return (
        axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z,
        axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z,
        axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z,
    )


@kernel
def _outline(
    vertices: npt.NDArray[np.uint32],
    quad: int,
    corner_x: float,
    corner_y: float,
    corner_z: float,
    axes: npt.NDArray[np.float64],
    width: int,
    height: int,
    points: npt.NDArray[np.float64],
) -> int:
    """Project a quad, cut off where it comes too near; return how many corners it has in the picture, 0 if none.

    `points` is filled with x and y in pixels, y downwards.
    """
    ax, ay, az = _corner(np.int64(vertices[quad * 4, 0]), corner_x, corner_y, corner_z, axes)
    bx, by, bz = _corner(np.int64(vertices[quad * 4 + 1, 0]), corner_x, corner_y, corner_z, axes)
    cx, cy, cz = _corner(np.int64(vertices[quad * 4 + 2, 0]), corner_x, corner_y, corner_z, axes)
    dx, dy, dz = _corner(np.int64(vertices[quad * 4 + 3, 0]), corner_x, corner_y, corner_z, axes)
    half_w, half_h = 0.5 * width, 0.5 * height
    if az > NEAR_BLOCKS and bz > NEAR_BLOCKS and cz > NEAR_BLOCKS and dz > NEAR_BLOCKS:
        points[0, 0], points[0, 1] = half_w + half_w * ax / az, half_h - half_h * ay / az
        points[1, 0], points[1, 1] = half_w + half_w * bx / bz, half_h - half_h * by / bz
        points[2, 0], points[2, 1] = half_w + half_w * cx / cz, half_h - half_h * cy / cz
        points[3, 0], points[3, 1] = half_w + half_w * dx / dz, half_h - half_h * dy / dz
        return 4
    count = 0
    px, py, pz = dx, dy, dz
    for n in range(4):
        if n == 0:
            x, y, z = ax, ay, az
        elif n == 1:
            x, y, z = bx, by, bz
        elif n == 2:
            x, y, z = cx, cy, cz
        else:
            x, y, z = dx, dy, dz
        if (pz > NEAR_BLOCKS) != (z > NEAR_BLOCKS):
            part = (NEAR_BLOCKS - pz) / (z - pz)
            points[count, 0] = half_w + half_w * (px + (x - px) * part) / NEAR_BLOCKS
            points[count, 1] = half_h - half_h * (py + (y - py) * part) / NEAR_BLOCKS
            count += 1
        if z > NEAR_BLOCKS:
            points[count, 0] = half_w + half_w * x / z
            points[count, 1] = half_h - half_h * y / z
            count += 1
        px, py, pz = x, y, z
    return count


@kernel
def _scan(
    points: npt.NDArray[np.float64],
    count: int,
    window: tuple[int, int, int, int],
    covered: npt.NDArray[np.uint64],
    edges: npt.NDArray[np.float64],
    spans: npt.NDArray[np.int32],
    size: int,
) -> int:
    """List a convex outline's rows as (row, first column, end column) behind the first `size` spans.

    Args:
        points: See `_outline`; clockwise in the picture or counter-clockwise.
        count: How many points.
        window: First column, first row, end column and end row of what is looked at.
        covered: The pixels that something nearer covers.
        edges: float64[2, height], scratch.
        spans: Filled; must have room for a picture's height of rows.
        size: Spans already there.

    Returns:
        The new number of spans, or -1 when no pixel is free.
    """
    top, bottom = np.inf, -np.inf
    left, right = np.inf, -np.inf
    for n in range(count):
        left, right = min(left, points[n, 0]), max(right, points[n, 0])
        top, bottom = min(top, points[n, 1]), max(bottom, points[n, 1])
    if right <= window[0] or left >= window[2] or bottom <= window[1] or top >= window[3]:
        return -1
    first_row = int(np.ceil(max(top, float(window[1])) - 0.5))
    end_row = int(np.ceil(min(bottom, float(window[3])) - 0.5))
    if first_row >= end_row:
        return -1
    # A pixel belongs to the outline when its centre does; a centre on an edge counts for one side only.
    previous = count - 1
    for n in range(count):
        x0, y0, x1, y1 = points[previous, 0], points[previous, 1], points[n, 0], points[n, 1]
        previous = n
        side = 0
        if y0 > y1:
            x0, y0, x1, y1 = x1, y1, x0, y0
            side = 1
        if y1 <= window[1] or y0 >= window[3]:
            continue
        begin = int(np.ceil(max(y0, float(window[1])) - 0.5))
        end = int(np.ceil(min(y1, float(window[3])) - 0.5))
        if begin < end:
            slope = (x1 - x0) / (y1 - y0)
            for row in range(begin, end):
                edges[side, row] = x0 + (row + 0.5 - y0) * slope
    free = False
    for row in range(first_row, end_row):
        a, b = edges[0, row], edges[1, row]
        if a > b:
            a, b = b, a
        start = int(np.ceil(max(a, float(window[0])) - 0.5))
        end = int(np.ceil(min(b, float(window[2])) - 0.5))
        if start >= end:
            continue
        spans[size, 0], spans[size, 1], spans[size, 2] = row, start, end
        size += 1
        if not free:
            free = _has_free(covered, row, start, end)
    return size if free else -1


@kernel
def _has_free(covered: npt.NDArray[np.uint64], row: int, start: int, end: int) -> bool:
    first_word, last_word = start >> 6, (end - 1) >> 6
    every = ~np.uint64(0)
    for word in range(first_word, last_word + 1):
        mask = every
        if word == first_word:
            mask &= every << np.uint64(start & 63)
        if word == last_word:
            mask &= every >> np.uint64(63 - ((end - 1) & 63))
        if ~covered[row, word] & mask:
            return True
    return False


@kernel
def _cover(covered: npt.NDArray[np.uint64], row: int, start: int, end: int) -> None:
    first_word, last_word = start >> 6, (end - 1) >> 6
    every = ~np.uint64(0)
    for word in range(first_word, last_word + 1):
        mask = every
        if word == first_word:
            mask &= every << np.uint64(start & 63)
        if word == last_word:
            mask &= every >> np.uint64(63 - ((end - 1) & 63))
        covered[row, word] |= mask


@kernel
def _pick(
    vertices: npt.NDArray[np.uint32],
    first: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    eye: npt.NDArray[np.float64],
    axes: npt.NDArray[np.float64],
    rooms: npt.NDArray[np.int64],
    windows: npt.NDArray[np.float64],
    width: int,
    height: int,
    covered: npt.NDArray[np.uint64],
    spans: npt.NDArray[np.int32],
    out: npt.NDArray[np.uint32],
    sizes: npt.NDArray[np.int64],
) -> bool:
    """Fill `out` and `sizes` (opaque, torches, water); return False when there are not enough spans."""
    covered[:] = 0
    points = np.empty((8, 2))
    edges = np.empty((2, height))
    opaque = torches = water = 0
    torch_quads = np.empty(64, dtype=np.int64)
    # Water is written to the end of `out`, backwards, and moved to its place at last.
    for entry in range(len(rooms)):
        slot, layer, room, cx, cz = rooms[entry]
        corner_x, corner_y, corner_z = cx * CHUNK - eye[0], -eye[1], cz * CHUNK - eye[2]
        window = (
            int(max(0.0, np.floor((windows[entry, 0] + 1.0) * 0.5 * width))),
            int(max(0.0, np.floor((1.0 - windows[entry, 3]) * 0.5 * height))),
            int(min(float(width), np.ceil((windows[entry, 2] + 1.0) * 0.5 * width))),
            int(min(float(height), np.ceil((1.0 - windows[entry, 1]) * 0.5 * height))),
        )
        open_rows = False
        for row in range(window[1], window[3]):
            if window[0] < window[2] and _has_free(covered, row, window[0], window[2]):
                open_rows = True
                break
        if not open_rows:
            continue
        size = 0
        at = first[slot, layer, room]
        for group in range(FACES + 2):
            quads = counts[slot, layer, room, group]
            if quads == 0:
                continue
            for quad in range(at, at + quads):
                if size + height > len(spans):
                    return False
                if group < FACES:
                    word = np.int64(vertices[quad * 4, 0])
                    if group < 2:
                        ahead = corner_x + (word & 511) * 0.0625
                    elif group < 4:
                        ahead = corner_y + ((word >> 18) & 2047) * 0.0625
                    else:
                        ahead = corner_z + ((word >> 9) & 511) * 0.0625
                    # Its front is turned away from the eye.
                    if (ahead >= 0.0) if group % 2 else (ahead <= 0.0):
                        continue
                corners = _outline(vertices, quad, corner_x, corner_y, corner_z, axes, width, height, points)
                if corners == 0:
                    continue
                after = _scan(points, corners, window, covered, edges, spans, size)
                if after < 0:
                    continue
                if group < FACES:
                    size = after
                    out[opaque * 4 : opaque * 4 + 4] = vertices[quad * 4 : quad * 4 + 4]
                    opaque += 1
                elif group == GROUP_TORCH:
                    if torches == len(torch_quads):
                        more = np.empty(torches * 2, dtype=np.int64)
                        more[:torches] = torch_quads
                        torch_quads = more
                    torch_quads[torches] = quad
                    torches += 1
                else:
                    water += 1
                    to = len(out) - water * 4
                    out[to : to + 4] = vertices[quad * 4 : quad * 4 + 4]
            at += quads
        for n in range(size):
            _cover(covered, spans[n, 0], spans[n, 1], spans[n, 2])
    for n in range(torches):
        to = (opaque + n) * 4
        out[to : to + 4] = vertices[torch_quads[n] * 4 : torch_quads[n] * 4 + 4]
    start, source = (opaque + torches) * 4, len(out) - water * 4
    for n in range(water * 4):
        out[start + n, 0] = out[source + n, 0]
        out[start + n, 1] = out[source + n, 1]
    sizes[0], sizes[1], sizes[2] = opaque, torches, water
    return True
