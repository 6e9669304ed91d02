"""Slow, readable twins of the simulation's kernels: rays, pictures of faces, and walking."""

import itertools
from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import EYE_HEIGHT, REACH_BLOCKS, TAN_HALF_FOV
from oresight.craftenv.sim.angles import direction
from oresight.craftenv.sim.world import World

Vector = tuple[float, float, float]
Cell = tuple[int, int, int]
Hit = tuple[int, int, int, int]
FACES_ENTERED = {(0, 1): 0, (0, -1): 1, (1, 1): 2, (1, -1): 3, (2, 1): 4, (2, -1): 5}


def cells_along(eye: Vector, way: Vector, length: float) -> tuple[list[tuple[Cell, int]], bool]:
    """Return the cells a ray enters within a length, with the face it enters by, and whether it grazes an edge.

    All crossings of whole coordinates are listed and sorted; a cell lies between two that follow each other.
    """
    crossings = []
    for axis in range(3):
        if way[axis] == 0.0:
            continue
        low, high = sorted((eye[axis], eye[axis] + way[axis] * (length + 2.0)))
        for k in range(int(np.ceil(low)), int(np.floor(high)) + 1):
            t = (k - eye[axis]) / way[axis]
            # An eye in the plane between two cells is in the upper one, which a ray downwards leaves at once.
            if t > 0.0 or (t == 0.0 and way[axis] < 0.0):
                crossings.append((t, axis))
    crossings.sort()
    cells = []
    grazes = False
    for (t, axis), (after, _) in itertools.pairwise(crossings):
        if t > length:
            break
        grazes = grazes or after - t < 1e-9 or abs(t - length) < 1e-9
        middle = (t + after) / 2
        x, y, z = (int(np.floor(eye[n] + middle * way[n])) for n in range(3))
        cells.append(((x, y, z), FACES_ENTERED[axis, 1 if way[axis] > 0 else -1]))
    return cells, grazes


def first_hit(stops: Callable[[Cell], bool], eye: Vector, way: Vector, length: float) -> tuple[Hit | None, bool]:
    """Return the first cell along a ray that stops it, with the face entered, and whether the ray grazes an edge."""
    cells, grazes = cells_along(eye, way, length)
    for cell, face in cells:
        if stops(cell):
            return (*cell, face), grazes
    return None, grazes


def opaque_in(world: World) -> Callable[[Cell], bool]:
    """Return a test of whether sight stops at a cell."""
    return lambda cell: BLOCKS[Block(world.get(*cell))].opaque


def pixel_ray(yaw: int, pitch: int, column: float, row: float, columns: int, rows: int) -> Vector:
    """Return the unit direction through a place of a 4:3 picture, measured in its columns and rows."""
    forward = np.array(direction(yaw, pitch))
    up = np.array(direction(yaw, pitch - 600))
    right = np.cross(up, forward) * -1.0
    u = (2.0 * column / columns - 1.0) * TAN_HALF_FOV * 4.0 / 3.0
    v = (1.0 - 2.0 * row / rows) * TAN_HALF_FOV
    way = forward + u * right + v * up
    x, y, z = (way / np.sqrt(way @ way)).tolist()
    return x, y, z


def faces_in_view(world: World, eye: Vector, yaw: int, pitch: int) -> set[Hit]:
    """Return the faces that the 64 x 36 rays meet within 48 blocks."""
    stops = opaque_in(world)
    faces = set()
    for row in range(36):
        for column in range(64):
            hit, _ = first_hit(stops, eye, pixel_ray(yaw, pitch, column + 0.5, row + 0.5, 64, 36), 48.0)
            if hit is not None and hit[1] >= 0:
                faces.add(hit)
    return faces


def picture_of_faces(world: World, eye: Vector, yaw: int, pitch: int, length: float = 50.0) -> npt.NDArray[np.int64]:
    """Return what each pixel of a 640 x 480 picture meets first, int64[480, 640, 4] of x, y, z, face (-1 none)."""
    solid = np.array([BLOCKS[block].opaque for block in Block])
    forward, up = np.array(direction(yaw, pitch)), np.array(direction(yaw, pitch - 600))
    right = -np.cross(up, forward)
    u = (2.0 * (np.arange(640) + 0.5) / 640 - 1.0) * TAN_HALF_FOV * 4.0 / 3.0
    picture = np.full((480, 640, 4), -1, dtype=np.int64)
    origin = np.array(eye)
    for row in range(480):
        v = (1.0 - 2.0 * (row + 0.5) / 480) * TAN_HALF_FOV
        way = forward + u[:, None] * right + v * up
        way /= np.sqrt((way * way).sum(axis=1))[:, None]
        times, axes = [], []
        for axis in range(3):
            steps = np.arange(int(length) + 1)
            rising = way[:, axis, None] > 0
            border = np.where(rising, np.floor(origin[axis]) + 1 + steps, np.floor(origin[axis]) - steps)
            with np.errstate(divide="ignore"):
                times.append((border - origin[axis]) / way[:, axis, None])
            axes.append(np.full(times[-1].shape, axis))
        t, axis_of = np.concatenate(times, axis=1), np.concatenate(axes, axis=1)
        order = np.argsort(t, axis=1)
        t = np.take_along_axis(t, order, axis=1)
        axis_of = np.take_along_axis(axis_of, order, axis=1)
        middle = (t[:, :-1] + t[:, 1:]) / 2
        reach = t[:, :-1] <= length
        cells = np.floor(origin + np.where(reach, middle, 0.0)[..., None] * way[:, None, :]).astype(np.int64)
        x, y, z = cells[..., 0], cells[..., 1], cells[..., 2]
        block = world.blocks[x & 255, z & 255, np.clip(y, 0, 95)]
        stops = (solid[block] & (y < 96) | (y < 0)) & reach
        first = stops.argmax(axis=1)
        met = stops[np.arange(640), first]
        chosen = axis_of[np.arange(640), first]
        face = 2 * chosen + (way[np.arange(640), chosen] < 0)
        picture[row, met, :3] = cells[np.arange(640), first][met]
        picture[row, met, 3] = face[met]
    return picture


class Ground:
    """A world's blocks at one moment, for walking over them."""

    def __init__(self, world: World) -> None:
        self._blocks = world.blocks.tobytes()
        self._solid = [BLOCKS[block].solid for block in Block]

    def get(self, cell: Cell) -> int:
        """Return a cell's block."""
        x, y, z = cell
        if y < 0:
            return int(Block.BEDROCK)
        return self._blocks[((x & 255) * 256 + (z & 255)) * 96 + y] if y < 96 else int(Block.AIR)

    def solid(self, x: int, y: int, z: int) -> bool:
        """Say whether a cell stops the body."""
        return self._solid[self.get((x, y, z))]

    def stands(self, cell: Cell) -> bool:
        """Say whether the feet can be in a cell: two cells of room, on ground or in water."""
        x, y, z = cell
        if self.solid(x, y, z) or self.solid(x, y + 1, z):
            return False
        return self.solid(x, y - 1, z) or self.get(cell) == Block.WATER

    def steps_from(self, cell: Cell) -> list[Cell]:
        """Return where one step leads: level, up one with room above the head, down at most three, or swimming."""
        x, y, z = cell
        ends = []
        for nx, nz in ((x + 1, z), (x - 1, z), (x, z + 1), (x, z - 1)):
            if self.solid(nx, y, nz):
                if self.stands((nx, y + 1, nz)) and not self.solid(x, y + 2, z):
                    ends.append((nx, y + 1, nz))
                continue
            if self.solid(nx, y + 1, nz):
                continue
            for lower in range(y, y - 4, -1):
                if self.solid(nx, lower, nz):
                    break
                if self.stands((nx, lower, nz)):
                    ends.append((nx, lower, nz))
                    break
        if self.get(cell) == Block.WATER:
            ends += [end for end in ((x, y + 1, z), (x, y - 1, z)) if self.stands(end)]
        return [end for end in ends if 0 <= end[1] < 96]


def reaches(cell: Cell, ore: Cell) -> bool:
    """Say whether an ore's box comes within reach of the eye over the middle of a cell."""
    eye = (cell[0] + 0.5, cell[1] + EYE_HEIGHT, cell[2] + 0.5)
    nearest = [min(max(eye[n], ore[n]), ore[n] + 1) for n in range(3)]
    return sum((eye[n] - nearest[n]) ** 2 for n in range(3)) <= REACH_BLOCKS**2


def walk_steps(world: World, start: Cell, ores: list[Cell]) -> dict[Cell, int | None]:
    """Return the number of steps from a place to within reach of each ore, None where no way leads there."""
    ground = Ground(world)
    found: dict[Cell, int | None] = dict.fromkeys(ores)
    far = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for ore in ores:
            if abs(ore[0] - cell[0]) < 6 and found[ore] is None and reaches(cell, ore):
                found[ore] = far[cell]
        for end in ground.steps_from(cell):
            if end not in far and max(abs(end[0] - start[0]), abs(end[2] - start[2])) <= 64:
                far[end] = far[cell] + 1
                queue.append(end)
    return found
