"""Which quads of the rooms in view have a pixel of their own: those are drawn, the hidden ones never reach OpenGL.

One bit a pixel says whether something nearer covers it already. Rooms come nearest first, so a quad without a free
pixel among those whose centres it holds is hidden. OpenGL draws quads a trace larger than they are (see
`craftenv.render.programs`), so it never leaves open what is counted as covered here.
"""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.config import CHUNK
from oresight.craftenv.kernels import allocating_kernel, inline_kernel, kernel
from oresight.craftenv.render.atlas import TILE_PX
from oresight.craftenv.render.camera import NEAR_BLOCKS, Camera
from oresight.craftenv.render.layout import FACES, GROUP_TORCH, GROUP_WATER, GROUPS
from oresight.craftenv.render.store import SlotTable
from oresight.craftenv.render.visibility import SeenRooms

_FIRST_SPANS = 1 << 14
# A quad whose texels are at least this high and wide in the picture is drawn without smaller versions of its tile: it
# looks the same, and choosing among versions is half the cost of a pixel.
_LEAST_TEXEL_PX = 0.5


class DrawList:
    """The quads to draw for one view.

    Attributes:
        vertices: uint32[.., 2]: first the opaque quads that show as large as their tiles or larger, then the other
            opaque ones, both nearest room first, then the torches', then water, farthest room first.
        large: How many large opaque quads there are.
        small: How many other opaque ones.
        torches: How many of torches.
        water: How many of water.
        sky: int32[.., 2]: runs of the picture's cells in which sky shows: the first cell of the run and how many cells.
        cell_px: Width and height of a cell, a power of two; cells are counted row by row from the top left.
        cell_columns: How many cells a row has.
    """

    def __init__(self, width: int, height: int) -> None:
        self._width = width
        self._height = height
        self._covered = np.zeros((height, (width + 63) // 64), dtype=np.uint64)
        self._spans = np.empty((_FIRST_SPANS, 3), dtype=np.int32)
        self.vertices = np.empty((0, 2), dtype=np.uint32)
        self._large_and_small = np.empty(0, dtype=np.int32)
        self._torches_and_water = np.empty(0, dtype=np.int32)
        self.cell_px = 8
        while self.cell_px < 64 and self.cell_px * 12 <= height:
            self.cell_px *= 2
        self.cell_columns = -(-width // self.cell_px)
        self._sky = np.empty((self.cell_columns * -(-height // self.cell_px), 2), dtype=np.int32)
        self.sky = self._sky[:0]
        self.large = 0
        self.small = 0
        self.torches = 0
        self.water = 0

    @property
    def shown(self) -> npt.NDArray[np.uint32]:
        """The vertices that count."""
        return self.vertices[: (self.opaque + self.torches + self.water) * 4]

    @property
    def opaque(self) -> int:
        """How many opaque quads there are."""
        return self.large + self.small

    def fill(self, table: SlotTable, camera: Camera, seen: SeenRooms) -> None:
        """Pick the quads of the rooms in view that show."""
        if len(self.vertices) < len(table.vertices):
            self.vertices = np.empty_like(table.vertices)
            self._large_and_small = np.empty(table.capacity, dtype=np.int32)
            self._torches_and_water = np.empty(table.capacity, dtype=np.int32)
        sizes = np.zeros(4, dtype=np.int64)
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
            _LEAST_TEXEL_PX * camera.pixel_blocks * TILE_PX,
            self._large_and_small,
            self._torches_and_water,
            self.vertices,
            sizes,
        ):
            self._spans = np.empty((len(self._spans) * 2, 3), dtype=np.int32)
        self.large, self.small, self.torches, self.water = sizes.tolist()
        self.sky = self._sky[: _find_sky(self._covered, self._width, self.cell_px, self.cell_columns, self._sky)]


@inline_kernel
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


@inline_kernel
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
    ax, ay, az = _corner(int(np.int64(vertices[quad * 4, 0])), corner_x, corner_y, corner_z, axes)
    bx, by, bz = _corner(int(np.int64(vertices[quad * 4 + 1, 0])), corner_x, corner_y, corner_z, axes)
    cx, cy, cz = _corner(int(np.int64(vertices[quad * 4 + 2, 0])), corner_x, corner_y, corner_z, axes)
    dx, dy, dz = _corner(int(np.int64(vertices[quad * 4 + 3, 0])), corner_x, corner_y, corner_z, axes)
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


@allocating_kernel
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
    texel_scale: float,
    large_and_small: npt.NDArray[np.int32],
    torches_and_water: npt.NDArray[np.int32],
    out: npt.NDArray[np.uint32],
    sizes: npt.NDArray[np.int64],
) -> bool:
    """Fill `out` and `sizes` (large, small, torches, water); return False when there are not enough spans.

    A quad is large when distance squared times `texel_scale` is at most its plane's distance. The two lists of picked
    quads are filled from both ends.
    """
    covered[:] = 0
    points = np.empty((8, 2))
    edges = np.empty((2, height))
    large = small = torches = water = 0
    # What is as many sections away can only be hidden by what is fewer away, or lies in the same section; so a whole
    # level is looked at before any of it counts as covering.
    level, size = 0, 0
    for entry in range(len(rooms)):
        slot, layer, room, cx, cz, away = rooms[entry]
        if away > level:
            for n in range(size):
                _cover(covered, spans[n, 0], spans[n, 1], spans[n, 2])
            level, size = away, 0
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
        at = first[slot, layer, room]
        for group in range(GROUPS):
            quads = counts[slot, layer, room, group]
            if quads == 0:
                continue
            if group < FACES:
                # Where the eye is beside the whole section, all that face one way are turned away.
                low, high = corner_x, corner_x + CHUNK
                if 2 <= group < 4:
                    low, high = corner_y + layer * CHUNK, corner_y + (layer + 1) * CHUNK
                elif group >= 4:
                    low, high = corner_z, corner_z + CHUNK
                if (low >= 0.0) if group % 2 else (high <= 0.0):
                    at += quads
                    continue
            for n in range(quads):
                # In a mesh quads go upwards, eastwards, southwards: those that face that way are nearest last.
                quad = at + quads - 1 - n if group % 2 else at + n
                if size + height > len(spans):
                    return False
                ahead = 0.0
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
                if group == GROUP_TORCH:
                    torches_and_water[torches] = quad
                    torches += 1
                elif group == GROUP_WATER:
                    water += 1
                    torches_and_water[len(torches_and_water) - water] = quad
                else:
                    size = after
                    farthest = 0.0
                    for corner in range(4):
                        word = np.int64(vertices[quad * 4 + corner, 0])
                        x = corner_x + (word & 511) * 0.0625
                        y = corner_y + ((word >> 18) & 2047) * 0.0625
                        z = corner_z + ((word >> 9) & 511) * 0.0625
                        farthest = max(farthest, x * x + y * y + z * z)
                    if farthest * texel_scale <= abs(ahead):
                        large_and_small[large] = quad
                        large += 1
                    else:
                        small += 1
                        large_and_small[len(large_and_small) - small] = quad
            at += quads
    for n in range(size):
        _cover(covered, spans[n, 0], spans[n, 1], spans[n, 2])
    to = 0
    for kind in range(4):
        count = large if kind == 0 else (small if kind == 1 else (torches if kind == 2 else water))
        for n in range(count):
            if kind == 0:
                quad = large_and_small[n]
            elif kind == 1:
                quad = large_and_small[len(large_and_small) - 1 - n]
            elif kind == 2:
                quad = torches_and_water[n]
            else:
                # Found nearest first, so the last found is the farthest.
                quad = torches_and_water[len(torches_and_water) - water + n]
            for corner in range(4):
                out[to, 0] = vertices[quad * 4 + corner, 0]
                out[to, 1] = vertices[quad * 4 + corner, 1]
                to += 1
        sizes[kind] = count
    return True


@kernel
def _find_sky(
    covered: npt.NDArray[np.uint64], width: int, cell_px: int, columns: int, runs: npt.NDArray[np.int32]
) -> int:
    """List the runs of cells with a free pixel; return how many runs there are."""
    height = len(covered)
    found, end = 0, -1
    for top in range(0, height, cell_px):
        for column in range(columns):
            left = column * cell_px
            free = False
            for row in range(top, min(top + cell_px, height)):
                if _has_free(covered, row, left, min(left + cell_px, width)):
                    free = True
                    break
            if not free:
                continue
            cell = top // cell_px * columns + column
            if cell == end:
                runs[found - 1, 1] += 1
            else:
                runs[found, 0], runs[found, 1] = cell, 1
                found += 1
            end = cell + 1
    return found
