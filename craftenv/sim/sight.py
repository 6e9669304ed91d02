"""What is in view, found on the CPU by casting rays: the block faces, and how large each ore stands in the picture.

The same world and pose give the same answer whether or not anything is drawn. Leaves are opaque; water and torches are
not. The picture that sizes refer to is 640 x 480 with a vertical field of view of 70 degrees.
"""

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import CHUNK, HEIGHT, SIGHT_BLOCKS, TAN_HALF_FOV, WORLD_CHUNKS, WORLD_SPAN
from oresight.craftenv.kernels import kernel
from oresight.craftenv.sim.angles import cosine, sine
from oresight.craftenv.sim.geometry import OPAQUE, cast_ray
from oresight.craftenv.sim.world import SLOT_EMPTY, Position, World, read_block

RAY_COLUMNS = 64
RAY_ROWS = 36
PICTURE_WIDTH = 640
PICTURE_HEIGHT = 480
# Ores smaller than this are not written down: the smallest discovery size that a scorer may ask for.
FACE_PX_MIN = 16
# Pixels of one face that are looked at one by one; larger faces are sampled on a regular grid.
_SAMPLES = 1600
# Below this estimate a sampled face is counted again pixel by pixel, so that sizes near a discovery's are exact.
_SLIVER_PX = 512

_ASPECT = PICTURE_WIDTH / PICTURE_HEIGHT
_FOCAL_PX = PICTURE_HEIGHT / 2.0 / TAN_HALF_FOV
# Chunks that sight reaches into: 3 leave at least 48 blocks on every side, the fourth holds a block that begins there.
SIGHT_RADIUS = 4
_ORE_LIMIT_IN_VIEW = 1024


@dataclass(frozen=True)
class OreInView:
    """A natural ore in clear sight.

    Attributes:
        position: The block.
        kind: Its block id.
        face_px: Visible part of its largest face, in square pixels of a 640 x 480 picture.
    """

    position: Position
    kind: int
    face_px: int


def camera_axes(yaw: int, pitch: int) -> npt.NDArray[np.float64]:
    """Return the camera's forward, right and up vectors as rows, float64[3, 3]; angles in counts."""
    s, c, sp, cp = sine(yaw), cosine(yaw), sine(pitch), cosine(pitch)
    return np.array([[-s * cp, -sp, c * cp], [-c, 0.0, -s], [-s * sp, cp, c * sp]], dtype=np.float64)


@kernel
def _cast_view(
    blocks: npt.NDArray[np.uint8],
    opaque: npt.NDArray[np.bool_],
    eye: npt.NDArray[np.float64],
    axes: npt.NDArray[np.float64],
    seen: npt.NDArray[np.uint8],
    fresh: npt.NDArray[np.int64],
) -> int:
    """Mark the faces that the grid of rays meets in `seen`; list those met for the first time as rows of `fresh`.

    `seen` is uint8[256, 256, HEIGHT], a bit a face, wrapping around as the world does. `fresh` has rows x, y, z, block.
    """
    count = 0
    for row in range(RAY_ROWS):
        v = (1.0 - 2.0 * (row + 0.5) / RAY_ROWS) * TAN_HALF_FOV
        for column in range(RAY_COLUMNS):
            u = (2.0 * (column + 0.5) / RAY_COLUMNS - 1.0) * TAN_HALF_FOV * _ASPECT
            dx = axes[0, 0] + u * axes[1, 0] + v * axes[2, 0]
            dy = axes[0, 1] + u * axes[1, 1] + v * axes[2, 1]
            dz = axes[0, 2] + u * axes[1, 2] + v * axes[2, 2]
            norm = np.sqrt(dx * dx + dy * dy + dz * dz)
            x, y, z, face = cast_ray(
                blocks, opaque, False, eye[0], eye[1], eye[2], dx / norm, dy / norm, dz / norm, SIGHT_BLOCKS
            )
            if face < 0 or y < 0:
                continue
            i = x & (WORLD_SPAN - 1)
            k = z & (WORLD_SPAN - 1)
            bit = np.uint8(1 << face)
            if seen[i, k, y] & bit == 0:
                seen[i, k, y] |= bit
                fresh[count, 0] = x
                fresh[count, 1] = y
                fresh[count, 2] = z
                fresh[count, 3] = blocks[i, k, y]
                count += 1
    return count


@kernel
def _count_hits(
    blocks: npt.NDArray[np.uint8],
    opaque: npt.NDArray[np.bool_],
    eye: npt.NDArray[np.float64],
    axes: npt.NDArray[np.float64],
    x: int,
    y: int,
    z: int,
    axis: int,
    plane: float,
    face: int,
    u0: int,
    u1: int,
    v0: int,
    v1: int,
    stride: int,
) -> int:
    """Count those of every stride-th pixel of a window whose ray meets a face first."""
    hits = 0
    for v in range(v0 + stride // 2, v1, stride):
        for u in range(u0 + stride // 2, u1, stride):
            right = (u + 0.5 - PICTURE_WIDTH / 2.0) / _FOCAL_PX
            up = (PICTURE_HEIGHT / 2.0 - v - 0.5) / _FOCAL_PX
            dx = axes[0, 0] + right * axes[1, 0] + up * axes[2, 0]
            dy = axes[0, 1] + right * axes[1, 1] + up * axes[2, 1]
            dz = axes[0, 2] + right * axes[1, 2] + up * axes[2, 2]
            along = dx if axis == 0 else (dy if axis == 1 else dz)
            if along == 0.0:
                continue
            t = (plane - eye[axis]) / along
            if t <= 0.0:
                continue
            if axis != 0 and not x <= eye[0] + t * dx < x + 1:
                continue
            if axis != 1 and not y <= eye[1] + t * dy < y + 1:
                continue
            if axis != 2 and not z <= eye[2] + t * dz < z + 1:
                continue
            norm = np.sqrt(dx * dx + dy * dy + dz * dz)
            bx, by, bz, met = cast_ray(
                blocks, opaque, False, eye[0], eye[1], eye[2], dx / norm, dy / norm, dz / norm, t * norm + 0.5
            )
            if met == face and bx == x and by == y and bz == z:
                hits += 1
    return hits


@kernel
def _face_area(
    blocks: npt.NDArray[np.uint8],
    opaque: npt.NDArray[np.bool_],
    eye: npt.NDArray[np.float64],
    axes: npt.NDArray[np.float64],
    x: int,
    y: int,
    z: int,
    axis: int,
    plane: float,
    face: int,
) -> int:
    """Count the pixels in which a face is seen, sampling large faces on a grid."""
    low_u = float(PICTURE_WIDTH)
    high_u = 0.0
    low_v = float(PICTURE_HEIGHT)
    high_v = 0.0
    behind = 0
    for corner in range(4):
        px = float(x)
        py = float(y)
        pz = float(z)
        first = corner & 1
        second = corner >> 1
        if axis == 0:
            px, py, pz = plane, py + first, pz + second
        elif axis == 1:
            px, py, pz = px + first, plane, pz + second
        else:
            px, py, pz = px + first, py + second, plane
        rx = px - eye[0]
        ry = py - eye[1]
        rz = pz - eye[2]
        depth = rx * axes[0, 0] + ry * axes[0, 1] + rz * axes[0, 2]
        if depth < 0.05:
            behind += 1
            continue
        u = PICTURE_WIDTH / 2.0 + _FOCAL_PX * (rx * axes[1, 0] + ry * axes[1, 1] + rz * axes[1, 2]) / depth
        v = PICTURE_HEIGHT / 2.0 - _FOCAL_PX * (rx * axes[2, 0] + ry * axes[2, 1] + rz * axes[2, 2]) / depth
        low_u = min(low_u, u)
        high_u = max(high_u, u)
        low_v = min(low_v, v)
        high_v = max(high_v, v)
    if behind == 4:
        return 0
    if behind > 0:
        # The face reaches beside or behind the eye. A point in the frame lies at most 49.4 degrees off the axis, so its
        # depth is 0.65 of its distance; a face whose depths differ by 1.42 at most is out of the frame beyond 3 blocks.
        rx = x + 0.5 - eye[0]
        ry = y + 0.5 - eye[1]
        rz = z + 0.5 - eye[2]
        if rx * rx + ry * ry + rz * rz > 16.0:
            return 0
        low_u = 0.0
        high_u = float(PICTURE_WIDTH)
        low_v = 0.0
        high_v = float(PICTURE_HEIGHT)
    u0 = max(0, int(np.floor(low_u)))
    u1 = min(PICTURE_WIDTH, int(np.ceil(high_u)))
    v0 = max(0, int(np.floor(low_v)))
    v1 = min(PICTURE_HEIGHT, int(np.ceil(high_v)))
    if u1 <= u0 or v1 <= v0:
        return 0
    stride = 1
    while (u1 - u0) * (v1 - v0) > _SAMPLES * stride * stride:
        stride += 1
    hits = _count_hits(blocks, opaque, eye, axes, x, y, z, axis, plane, face, u0, u1, v0, v1, stride)
    if stride > 1 and hits * stride * stride < _SLIVER_PX:
        # Little shows of a large face: the grid may miss a narrow gap, so every pixel is looked at.
        stride = 1
        hits = _count_hits(blocks, opaque, eye, axes, x, y, z, axis, plane, face, u0, u1, v0, v1, 1)
    return hits * stride * stride


@kernel
def _find_ores(
    blocks: npt.NDArray[np.uint8],
    opaque: npt.NDArray[np.bool_],
    slot_cx: npt.NDArray[np.int64],
    slot_cz: npt.NDArray[np.int64],
    ores: npt.NDArray[np.int16],
    ore_counts: npt.NDArray[np.int64],
    first_ore: int,
    last_ore: int,
    eye: npt.NDArray[np.float64],
    axes: npt.NDArray[np.float64],
    out: npt.NDArray[np.int64],
) -> int:
    """List the ores in clear sight as rows x, y, z, block, square pixels of `out`."""
    found = 0
    cx = int(np.floor(eye[0])) >> 4
    cz = int(np.floor(eye[2])) >> 4
    for nx in range(cx - SIGHT_RADIUS, cx + SIGHT_RADIUS + 1):
        for nz in range(cz - SIGHT_RADIUS, cz + SIGHT_RADIUS + 1):
            sx = nx & (WORLD_CHUNKS - 1)
            sz = nz & (WORLD_CHUNKS - 1)
            if slot_cx[sx, sz] != nx or slot_cz[sx, sz] != nz:
                continue
            for n in range(ore_counts[sx, sz]):
                x = nx * CHUNK + ores[sx, sz, n, 0]
                y = int(ores[sx, sz, n, 1])
                z = nz * CHUNK + ores[sx, sz, n, 2]
                rx = x + 0.5 - eye[0]
                ry = y + 0.5 - eye[1]
                rz = z + 0.5 - eye[2]
                away2 = rx * rx + ry * ry + rz * rz
                if away2 > (SIGHT_BLOCKS + 1.0) * (SIGHT_BLOCKS + 1.0):
                    continue
                depth = rx * axes[0, 0] + ry * axes[0, 1] + rz * axes[0, 2]
                if depth < -1.0:
                    continue
                block = read_block(blocks, x, y, z)
                if block < first_ore or block > last_ore:
                    continue
                largest = 0
                for face in range(6):
                    axis = face >> 1
                    positive = face & 1
                    corner = x if axis == 0 else (y if axis == 1 else z)
                    plane = float(corner + positive)
                    if positive == 1 and eye[axis] <= plane:
                        continue
                    if positive == 0 and eye[axis] >= plane:
                        continue
                    sign = 1 if positive == 1 else -1
                    ax = x + (sign if axis == 0 else 0)
                    ay = y + (sign if axis == 1 else 0)
                    az = z + (sign if axis == 2 else 0)
                    if opaque[read_block(blocks, ax, ay, az)]:
                        continue
                    # The face's own middle must lie within the range.
                    fx = rx + (0.5 * sign if axis == 0 else 0.0)
                    fy = ry + (0.5 * sign if axis == 1 else 0.0)
                    fz = rz + (0.5 * sign if axis == 2 else 0.0)
                    if fx * fx + fy * fy + fz * fz > SIGHT_BLOCKS * SIGHT_BLOCKS:
                        continue
                    area = _face_area(blocks, opaque, eye, axes, x, y, z, axis, plane, face)
                    largest = max(largest, area)
                if largest >= FACE_PX_MIN and found < out.shape[0]:
                    out[found, 0] = x
                    out[found, 1] = y
                    out[found, 2] = z
                    out[found, 3] = block
                    out[found, 4] = largest
                    found += 1
    return found


class SeenFaces:
    """Which block faces have ever been in view, kept around the player and packed away elsewhere."""

    def __init__(self) -> None:
        shape = (WORLD_CHUNKS, WORLD_CHUNKS)
        self._masks: npt.NDArray[np.uint8] = np.zeros((WORLD_SPAN, WORLD_SPAN, HEIGHT), dtype=np.uint8)
        self._slot_cx: npt.NDArray[np.int64] = np.full(shape, SLOT_EMPTY, dtype=np.int64)
        self._slot_cz: npt.NDArray[np.int64] = np.full(shape, SLOT_EMPTY, dtype=np.int64)
        self._packed: dict[tuple[int, int], bytes] = {}
        self._fresh: npt.NDArray[np.int64] = np.empty((RAY_COLUMNS * RAY_ROWS, 4), dtype=np.int64)

    def _ensure(self, cx: int, cz: int) -> None:
        for x in range(cx - SIGHT_RADIUS, cx + SIGHT_RADIUS + 1):
            for z in range(cz - SIGHT_RADIUS, cz + SIGHT_RADIUS + 1):
                sx, sz = x % WORLD_CHUNKS, z % WORLD_CHUNKS
                old = (int(self._slot_cx[sx, sz]), int(self._slot_cz[sx, sz]))
                if old == (x, z):
                    continue
                part = self._masks[sx * CHUNK : (sx + 1) * CHUNK, sz * CHUNK : (sz + 1) * CHUNK]
                if part.any():
                    self._packed[old] = zlib.compress(part.tobytes(), 1)
                packed = self._packed.pop((x, z), None)
                if packed is None:
                    part[:] = 0
                else:
                    part[:] = np.frombuffer(zlib.decompress(packed), dtype=np.uint8).reshape(part.shape)
                self._slot_cx[sx, sz] = x
                self._slot_cz[sx, sz] = z

    def look(self, world: World, eye: tuple[float, float, float], yaw: int, pitch: int) -> list[tuple[Position, int]]:
        """Mark what is in view and return the natural faces first seen now, as (block position, block id)."""
        self._ensure(int(np.floor(eye[0])) >> 4, int(np.floor(eye[2])) >> 4)
        count = _cast_view(
            world.blocks, OPAQUE, np.array(eye, dtype=np.float64), camera_axes(yaw, pitch), self._masks, self._fresh
        )
        fresh = [((int(x), int(y), int(z)), int(block)) for x, y, z, block in self._fresh[:count].tolist()]
        return [(position, block) for position, block in fresh if position not in world.placed]


def ores_in_view(world: World, eye: tuple[float, float, float], yaw: int, pitch: int) -> list[OreInView]:
    """Return the natural ores in clear sight within 48 blocks, in the order of their positions.

    Args:
        world: Loaded at least SIGHT_RADIUS chunks around the eye.
        eye: Where from, (x, y, z) in blocks.
        yaw: View direction in counts.
        pitch: View direction in counts.
    """
    out = np.empty((_ORE_LIMIT_IN_VIEW, 5), dtype=np.int64)
    count = _find_ores(
        world.blocks,
        OPAQUE,
        world.slot_cx,
        world.slot_cz,
        world.ores,
        world.ore_counts,
        int(Block.COAL_ORE),
        int(Block.DIAMOND_ORE),
        np.array(eye, dtype=np.float64),
        camera_axes(yaw, pitch),
        out,
    )
    found = [OreInView((x, y, z), kind, px) for x, y, z, kind, px in out[:count].tolist()]
    return sorted((ore for ore in found if ore.position not in world.placed), key=lambda ore: ore.position)
