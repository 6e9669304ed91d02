"""Chunks to triangles: arrays in, arrays out, no OpenGL.

A chunk is meshed section by section (16 x 16 x 16, and one more for the open sky above the world). Only faces that
something can see are kept, equal neighbours are merged, and a vertex is two 32-bit words.

A section's open cells fall into rooms: cells that reach each other inside the section. A face belongs to the room it
looks into, so that the renderer can leave out whole caves: `craftenv.render.rooms` finds rooms and the doors by which
they meet the next section's.

Vertex, lowest bits first; lengths in sixteenths of a block from the chunk's corner:
    word 0: x (9 bits), z (9), y (11), face (3)
    word 1: tile (6), light (8), world slot = (cx & 15) * 16 + (cz & 15) (8), at the far end of u (1), of v (1)
(u, v) is (z, y) on the x faces, (x, z) on the y faces and (x, y) on the z faces.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import CHUNK, HEIGHT
from oresight.craftenv.kernels import allocating_kernel, kernel
from oresight.craftenv.render.atlas import LAYER_OF
from oresight.craftenv.render.layout import (
    FACES,
    GROUP_TORCH,
    GROUP_WATER,
    GROUPS,
    LAYERS,
    PAD,
    PAD_Y,
    ROOMS,
    SECTIONS,
    WATER_DROP,
)
from oresight.craftenv.render.rooms import find_rooms

# Light of a face by direction, in hundredths, and of a corner by how many of its neighbours are free.
FACE_LIGHT = np.array([60, 60, 50, 100, 80, 80], dtype=np.int64)
CORNER_LIGHT = np.array([46, 66, 84, 100], dtype=np.int64)

# No chunk needs more quads: half its cells solid like a chess board, six faces each, is the worst there is.
MAX_QUADS = CHUNK * CHUNK * HEIGHT // 2 * FACES

_WATER = int(Block.WATER)
_TORCH = int(Block.TORCH)
_BEDROCK = int(Block.BEDROCK)


def _tables() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    opaque = np.zeros(256, dtype=np.uint8)
    tiles = np.zeros((256, FACES), dtype=np.uint8)
    for block, kind in BLOCKS.items():
        opaque[block] = kind.opaque
        if kind.side:
            side, top, bottom = LAYER_OF[kind.side], LAYER_OF[kind.top], LAYER_OF[kind.bottom]
            tiles[block] = (side, side, bottom, top, side, side)
    return opaque, tiles


OPAQUE, TILES = _tables()


@dataclass(frozen=True)
class Mesh:
    """The quads of one chunk and what the renderer must know to choose among them.

    Attributes:
        vertices: uint32[quads * 4, 2], ordered by layer, then room, then group.
        counts: int32[LAYERS, ROOMS, GROUPS], quads in each.
        boxes: int16[LAYERS, ROOMS, 6], low x, y, z and high x, y, z of a room's quads, in blocks within the chunk.
        doors: int32[LAYERS, ROOMS, 6], where a room meets each side of its section; see `craftenv.render.rooms`.
        labels: uint8[SECTIONS, CELLS], the room of each cell, indexed [x << 8 | z << 4 | y]; NO_ROOM where opaque.
    """

    vertices: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.int32]
    boxes: npt.NDArray[np.int16]
    doors: npt.NDArray[np.int32]
    labels: npt.NDArray[np.uint8]


class Mesher:
    """Meshes chunks, keeping its scratch memory from one to the next (so: one mesher a thread)."""

    def __init__(self) -> None:
        self._cells = np.empty(PAD * PAD * PAD_Y, dtype=np.uint8)
        self._solid = np.empty_like(self._cells)
        self._grow(8192)

    def _grow(self, quads: int) -> None:
        self._raw = np.empty((quads * 4, 2), dtype=np.uint32)
        self._keys = np.empty(quads, dtype=np.int32)

    def mesh(self, blocks: npt.NDArray[np.uint8], slot_x: int, slot_z: int) -> Mesh:
        """Mesh the chunk in a slot of the world's array.

        Args:
            blocks: uint8[256, 256, 96], indexed [x & 255, z & 255, y]; the eight chunks around must be valid too.
            slot_x: cx & 15.
            slot_z: cz & 15.
        """
        _copy_padded(blocks, slot_x, slot_z, OPAQUE, self._cells, self._solid)
        labels, doors = find_rooms(self._solid)
        while True:
            quads = _mesh_chunk(
                self._cells,
                self._solid,
                labels,
                slot_x * 16 + slot_z,
                TILES,
                FACE_LIGHT,
                CORNER_LIGHT,
                self._raw,
                self._keys,
            )
            if quads >= 0:
                break
            self._grow(min(len(self._keys) * 2, MAX_QUADS))
        vertices = np.empty((quads * 4, 2), dtype=np.uint32)
        counts = np.zeros(LAYERS * ROOMS * GROUPS, dtype=np.int32)
        boxes = np.zeros((LAYERS * ROOMS, 6), dtype=np.int16)
        _order(self._raw, self._keys[:quads], vertices, counts, boxes)
        return Mesh(vertices, counts.reshape(LAYERS, ROOMS, GROUPS), boxes.reshape(LAYERS, ROOMS, 6), doors, labels)


@kernel
def _copy_padded(
    blocks: npt.NDArray[np.uint8],
    slot_x: int,
    slot_z: int,
    opaque: npt.NDArray[np.uint8],
    cells: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.uint8],
) -> None:
    """Copy a chunk with a border of one block all round: bedrock below the world, air above."""
    for i in range(PAD):
        x = (slot_x * CHUNK + i - 1) & 255
        for k in range(PAD):
            z = (slot_z * CHUNK + k - 1) & 255
            at = (i * PAD + k) * PAD_Y
            cells[at] = _BEDROCK
            solid[at] = 1
            for y in range(HEIGHT):
                block = blocks[x, z, y]
                cells[at + y + 1] = block
                solid[at + y + 1] = opaque[block]
            cells[at + HEIGHT + 1] = 0
            solid[at + HEIGHT + 1] = 0


@kernel
def _emit(
    vertices: npt.NDArray[np.uint32],
    quad: int,
    face: int,
    tile: int,
    slot: int,
    box: tuple[int, int, int, int, int, int],
    lights: tuple[int, int, int, int],
) -> None:
    """Write one quad. `box` is (plane, u0, v0, u1, v1, drop): the face's rectangle in sixteenths, `drop` its top's sag.

    `lights` belong to the corners (u0, v0), (u1, v0), (u1, v1), (u0, v1).
    """
    plane, u0, v0, u1, v1, drop = box
    axis = face // 2
    # Seen from outside, (u, v) runs counter-clockwise for these faces and clockwise for the others.
    backwards = face == 1 or face == 3 or face == 4
    # The diagonal joins the brighter pair of corners, so that one dark corner stays one.
    first = 0 if lights[0] + lights[2] >= lights[1] + lights[3] else 1
    for n in range(4):
        corner = (first + (4 - n if backwards else n)) % 4
        at_u1 = corner == 1 or corner == 2
        at_v1 = corner >= 2
        u = u1 if at_u1 else u0
        v = v1 if at_v1 else v0
        if axis == 0:
            x, y, z = plane, v, u
        elif axis == 1:
            x, y, z = u, plane, v
        else:
            x, y, z = u, v, plane
        if axis == 1 or at_v1:
            y -= drop
        vertices[quad * 4 + n, 0] = np.uint32(x | (z << 9) | (y << 18) | (face << 29))
        ends = (1 if at_u1 else 0) | (2 if at_v1 else 0)
        vertices[quad * 4 + n, 1] = np.uint32(tile | (lights[corner] << 6) | (slot << 14) | (ends << 22))


@kernel
def _corner_light(solid: npt.NDArray[np.uint8], at: int, side_a: int, side_b: int) -> int:
    """Return how open a corner is, 0 to 3: `at` is the cell before the face, the sides lead to its two neighbours."""
    a = solid[at + side_a]
    b = solid[at + side_b]
    if a and b:
        return 0
    return 3 - (a + b + solid[at + side_a + side_b])


@kernel
def _mesh_chunk(
    cells: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.uint8],
    labels: npt.NDArray[np.uint8],
    slot: int,
    tiles: npt.NDArray[np.uint8],
    face_light: npt.NDArray[np.int64],
    corner_light: npt.NDArray[np.int64],
    vertices: npt.NDArray[np.uint32],
    keys: npt.NDArray[np.int32],
) -> int:
    """Fill vertices and, a quad, its key (layer, room and group in one number).

    Returns:
        The number of quads, or -1 when they do not fit.
    """
    step_x, step_z = PAD * PAD_Y, PAD_Y
    total = 0
    for layer in range(LAYERS):
        floor = layer * CHUNK
        # Look once what there is: most sections are plain rock or plain air and need no more.
        open_cells = seen_through = 0
        for i in range(1, CHUNK + 1):
            for k in range(1, CHUNK + 1):
                at = i * step_x + k * step_z + floor + 1
                for y in range(CHUNK if layer < SECTIONS else 1):
                    if not solid[at + y]:
                        open_cells += 1
                        if cells[at + y]:
                            seen_through += 1
        if open_cells == 0:
            continue
        for face in range(FACES):
            if layer == SECTIONS and face != 3:
                continue
            total = _mesh_faces(
                cells, solid, labels, slot, tiles, face_light[face], corner_light, layer, face, vertices, keys, total
            )
            if total < 0:
                return -1
        if seen_through:
            total = _mesh_torches(cells, labels, slot, layer, tiles, vertices, keys, total)
            if total < 0:
                return -1
            total = _mesh_water(cells, solid, labels, slot, layer, tiles, vertices, keys, total)
            if total < 0:
                return -1
    return total


@allocating_kernel
def _mesh_faces(
    cells: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.uint8],
    labels: npt.NDArray[np.uint8],
    slot: int,
    tiles: npt.NDArray[np.uint8],
    face_light: int,
    corner_light: npt.NDArray[np.int64],
    layer: int,
    face: int,
    vertices: npt.NDArray[np.uint32],
    keys: npt.NDArray[np.int32],
    total: int,
) -> int:
    """Mesh the opaque faces of one direction that look into one section's open cells."""
    capacity = len(keys)
    step_x, step_z, step_y = PAD * PAD_Y, PAD_Y, 1
    mask = np.empty((CHUNK, CHUNK), dtype=np.int64)
    floor = layer * CHUNK
    axis = face // 2
    outward = face % 2
    if axis == 0:
        step_n, step_u, step_v = step_x, step_z, step_y
        cell_n, cell_u, cell_v = 256, 16, 1
    elif axis == 1:
        step_n, step_u, step_v = step_y, step_x, step_z
        cell_n, cell_u, cell_v = 1, 256, 16
    else:
        step_n, step_u, step_v = step_z, step_x, step_y
        cell_n, cell_u, cell_v = 16, 256, 1
    corner = step_x + step_z + floor + 1
    behind = -step_n if outward else step_n
    base_n = floor if axis == 1 else 0
    base_v = 0 if axis == 1 else floor
    for depth in range(1 if layer == SECTIONS else CHUNK):
        any_face = False
        for v in range(CHUNK):
            for u in range(CHUNK):
                front = corner + depth * step_n + u * step_u + v * step_v
                key = 0
                if solid[front + behind] and not solid[front]:
                    any_face = True
                    room = 0
                    if layer < SECTIONS:
                        room = labels[layer, depth * cell_n + u * cell_u + v * cell_v]
                    key = int(
                        (1 << 20)
                        | (np.int64(room) << 16)
                        | (np.int64(tiles[cells[front + behind], face]) << 8)
                        | _corner_light(solid, front, -step_u, -step_v)
                        | (_corner_light(solid, front, step_u, -step_v) << 2)
                        | (_corner_light(solid, front, step_u, step_v) << 4)
                        | (_corner_light(solid, front, -step_u, step_v) << 6)
                    )
                mask[v, u] = key
        if not any_face:
            continue
        for v in range(CHUNK):
            u = 0
            while u < CHUNK:
                key = mask[v, u]
                if key == 0:
                    u += 1
                    continue
                c0, c1, c2, c3 = key & 3, (key >> 2) & 3, (key >> 4) & 3, (key >> 6) & 3
                # Merge only along directions in which the light does not change: the picture stays the same.
                wide = 1
                if c0 == c1 and c3 == c2:
                    while u + wide < CHUNK and mask[v, u + wide] == key:
                        wide += 1
                high = 1
                if c0 == c3 and c1 == c2:
                    while v + high < CHUNK:
                        same = True
                        for w in range(wide):
                            if mask[v + high, u + w] != key:
                                same = False
                                break
                        if not same:
                            break
                        high += 1
                for b in range(high):
                    for a in range(wide):
                        mask[v + b, u + a] = 0
                if total >= capacity:
                    return -1
                scale = face_light * 255
                lights = (
                    scale * corner_light[c0] // 10000,
                    scale * corner_light[c1] // 10000,
                    scale * corner_light[c2] // 10000,
                    scale * corner_light[c3] // 10000,
                )
                plane = (base_n + depth + 1 - outward) * 16
                box = (plane, u * 16, (base_v + v) * 16, (u + wide) * 16, (base_v + v + high) * 16, 0)
                _emit(vertices, total, face, (key >> 8) & 63, slot, box, lights)
                keys[total] = (layer * ROOMS + ((key >> 16) & 7)) * GROUPS + face
                total += 1
                u += wide
    return total


@kernel
def _mesh_torches(
    cells: npt.NDArray[np.uint8],
    labels: npt.NDArray[np.uint8],
    slot: int,
    layer: int,
    tiles: npt.NDArray[np.uint8],
    vertices: npt.NDArray[np.uint32],
    keys: npt.NDArray[np.int32],
    total: int,
) -> int:
    """Add a torch: four upright planes through its tile, two each way; the picture's clear parts go later."""
    bright = (255, 255, 255, 255)
    floor = layer * CHUNK
    for i in range(CHUNK):
        for k in range(CHUNK):
            for y in range(floor, floor + CHUNK):
                if cells[((i + 1) * PAD + k + 1) * PAD_Y + y + 1] != _TORCH:
                    continue
                if total + 4 > len(keys):
                    return -1
                x, z, low = i * 16, k * 16, y * 16
                tile = int(np.int64(tiles[_TORCH, 0]))
                _emit(vertices, total, 0, tile, slot, (x + 7, z, low, z + 16, low + 16, 0), bright)
                _emit(vertices, total + 1, 1, tile, slot, (x + 9, z, low, z + 16, low + 16, 0), bright)
                _emit(vertices, total + 2, 4, tile, slot, (z + 7, x, low, x + 16, low + 16, 0), bright)
                _emit(vertices, total + 3, 5, tile, slot, (z + 9, x, low, x + 16, low + 16, 0), bright)
                room = labels[layer, i << 8 | k << 4 | (y - floor)]
                keys[total : total + 4] = (layer * ROOMS + room) * GROUPS + GROUP_TORCH
                total += 4
    return total


@allocating_kernel
def _mesh_water(
    cells: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.uint8],
    labels: npt.NDArray[np.uint8],
    slot: int,
    layer: int,
    tiles: npt.NDArray[np.uint8],
    vertices: npt.NDArray[np.uint32],
    keys: npt.NDArray[np.int32],
    total: int,
) -> int:
    """Water shows where it meets something that is neither opaque nor water; its open surface stands a little lower."""
    step_x, step_z = PAD * PAD_Y, PAD_Y
    mask = np.empty((CHUNK, CHUNK), dtype=np.uint8)
    floor = layer * CHUNK
    tile = int(np.int64(tiles[_WATER, 3]))
    for y in range(floor, floor + CHUNK):
        for k in range(CHUNK):
            for i in range(CHUNK):
                at = (i + 1) * step_x + (k + 1) * step_z + y + 1
                is_water = cells[at] == _WATER
                open_top = is_water and cells[at + 1] != _WATER and not solid[at + 1]
                key = (layer * ROOMS + labels[layer, i << 8 | k << 4 | (y - floor)]) * GROUPS + GROUP_WATER
                mask[k, i] = 1 + labels[layer, i << 8 | k << 4 | (y - floor)] if open_top else 0
                if not is_water:
                    continue
                for face in (0, 1, 2, 4, 5):
                    if face == 0:
                        step = -step_x
                    elif face == 1:
                        step = step_x
                    elif face == 2:
                        step = -1
                    elif face == 4:
                        step = -step_z
                    else:
                        step = step_z
                    if cells[at + step] == _WATER or solid[at + step]:
                        continue
                    if total >= len(keys):
                        return -1
                    x, z, low = i * 16, k * 16, y * 16
                    drop = WATER_DROP if open_top else 0
                    if face < 2:
                        box = (x + face * 16, z, low, z + 16, low + 16, drop)
                    elif face == 2:
                        box = (low, x, z, x + 16, z + 16, 0)
                    else:
                        box = (z + (face - 4) * 16, x, low, x + 16, low + 16, drop)
                    _emit(vertices, total, face, tile, slot, box, (204, 204, 204, 204))
                    keys[total] = key
                    total += 1
        for k in range(CHUNK):
            i = 0
            while i < CHUNK:
                if not mask[k, i]:
                    i += 1
                    continue
                wide = 1
                room = mask[k, i] - 1
                while i + wide < CHUNK and mask[k, i + wide] == room + 1:
                    wide += 1
                high = 1
                while k + high < CHUNK and np.all(mask[k + high, i : i + wide] == room + 1):
                    high += 1
                mask[k : k + high, i : i + wide] = 0
                if total >= len(keys):
                    return -1
                box = ((y + 1) * 16, i * 16, k * 16, (i + wide) * 16, (k + high) * 16, WATER_DROP)
                _emit(vertices, total, 3, tile, slot, box, (255, 255, 255, 255))
                keys[total] = (layer * ROOMS + room) * GROUPS + GROUP_WATER
                total += 1
                i += wide
    return total


@allocating_kernel
def _order(
    raw: npt.NDArray[np.uint32],
    keys: npt.NDArray[np.int32],
    vertices: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int32],
    boxes: npt.NDArray[np.int16],
) -> None:
    """Sort the quads by key, count them, and put a box around each room's."""
    for quad in range(len(keys)):
        counts[keys[quad]] += 1
    place = np.zeros(len(counts), dtype=np.int64)
    for key in range(1, len(counts)):
        place[key] = place[key - 1] + counts[key - 1]
    boxes[:, :3] = 1000
    boxes[:, 3:] = -1000
    for quad in range(len(keys)):
        key = keys[quad]
        to = place[key]
        place[key] += 1
        room = key // GROUPS
        for n in range(4):
            word = raw[quad * 4 + n, 0]
            vertices[to * 4 + n, 0] = word
            vertices[to * 4 + n, 1] = raw[quad * 4 + n, 1]
            x, y, z = np.int64(word & 511), np.int64((word >> 18) & 2047), np.int64((word >> 9) & 511)
            boxes[room, 0] = min(boxes[room, 0], x >> 4)
            boxes[room, 1] = min(boxes[room, 1], y >> 4)
            boxes[room, 2] = min(boxes[room, 2], z >> 4)
            boxes[room, 3] = max(boxes[room, 3], (x + 15) >> 4)
            boxes[room, 4] = max(boxes[room, 4], (y + 15) >> 4)
            boxes[room, 5] = max(boxes[room, 5], (z + 15) >> 4)
