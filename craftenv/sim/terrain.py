"""Seed and chunk position to blocks: hills, lakes, beaches, caves, trees and ore veins.

Pure integer hashing and float64 with + - x / only, so the same seed gives the same blocks on every machine. A chunk
depends on its seed and position alone: what reaches over its border (trees, veins) is drawn again by every chunk it
touches.
"""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import CHUNK, HEIGHT, SEA_LEVEL
from oresight.craftenv.kernels import allocating_kernel, inline_kernel, kernel

AIR = int(Block.AIR)
GRASS = int(Block.GRASS)
DIRT = int(Block.DIRT)
SAND = int(Block.SAND)
GRAVEL = int(Block.GRAVEL)
STONE = int(Block.STONE)
LOG = int(Block.LOG)
LEAVES = int(Block.LEAVES)
WATER = int(Block.WATER)
COAL = int(Block.COAL_ORE)
IRON = int(Block.IRON_ORE)
GOLD = int(Block.GOLD_ORE)
DIAMOND = int(Block.DIAMOND_ORE)
BEDROCK = int(Block.BEDROCK)

# Columns worked out beyond the chunk's border: a tree reaches 2 blocks, a slope needs one more.
MARGIN = 4
REGION = CHUNK + 2 * MARGIN
# Spacing in blocks of the lattice on which cave noise is drawn; must divide CHUNK, and MARGIN must fit in one step.
CAVE_STEP = 8
CAVE_LATTICE = REGION // CAVE_STEP + 3
CAVE_LATTICE_Y = HEIGHT // CAVE_STEP + 2

# One salt for each use of the hash, so that no two drawings share their numbers.
SALT_HEIGHT = 11
SALT_ROUGH = 21
SALT_CAVE_A = 31
SALT_CAVE_B = 32
SALT_CAVE_MOUTH = 33
SALT_GRAVEL = 41
SALT_TREE = 51
SALT_FOREST = 52
SALT_VEIN = 61
SALT_OUTCROP = 71


@inline_kernel
def mix(h: np.uint64) -> np.uint64:
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@kernel
def hash4(seed: int, salt: int, a: int, b: int, c: int) -> np.uint64:
    """Hash five integers to 64 bits."""
    h = mix(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * np.uint64(salt))
    h = mix(h + np.uint64(0x9E3779B97F4A7C15) * np.uint64(a))
    h = mix(h + np.uint64(0xC2B2AE3D27D4EB4F) * np.uint64(b))
    return mix(h + np.uint64(0x165667B19E3779F9) * np.uint64(c))


@inline_kernel
def unit(h: np.uint64) -> float:
    """Turn a hash into a float in [0, 1), exact."""
    return np.float64(h >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inline_kernel
def _smooth(t: float) -> float:
    return t * t * (3.0 - 2.0 * t)


@kernel
def noise2(seed: int, salt: int, x: int, z: int, step: int) -> float:
    """Value noise in [-1, 1) over the plane, with lattice points every `step` blocks."""
    ix = x // step
    iz = z // step
    tx = _smooth((x - ix * step) / step)
    tz = _smooth((z - iz * step) / step)
    a = unit(hash4(seed, salt, ix, iz, step))
    b = unit(hash4(seed, salt, ix + 1, iz, step))
    c = unit(hash4(seed, salt, ix, iz + 1, step))
    d = unit(hash4(seed, salt, ix + 1, iz + 1, step))
    near = a + (b - a) * tx
    far = c + (d - c) * tx
    return (near + (far - near) * tz) * 2.0 - 1.0


@kernel
def surface_height(seed: int, x: int, z: int) -> int:
    """Return the y of the topmost ground block of a column before caves are cut."""
    broad = noise2(seed, SALT_HEIGHT, x, z, 80)
    hills = noise2(seed, SALT_HEIGHT, x, z, 36)
    knolls = noise2(seed, SALT_HEIGHT, x, z, 15)
    bumps = noise2(seed, SALT_HEIGHT, x, z, 7)
    # Rough country has cliffs and crags, smooth country lets one walk.
    rough = 0.5 + 0.5 * noise2(seed, SALT_ROUGH, x, z, 56)
    height = 31.0 + 8.0 * broad + 11.0 * hills + (2.0 + 7.0 * rough) * knolls + (0.3 + 1.7 * rough) * bumps
    if height < 8.0:
        height = 8.0
    if height > HEIGHT - 24.0:
        height = HEIGHT - 24.0
    return int(height)


@allocating_kernel
def _cave_lattice(seed: int, salt: int, ix0: int, iz0: int) -> npt.NDArray[np.float64]:
    lattice = np.empty((CAVE_LATTICE, CAVE_LATTICE_Y, CAVE_LATTICE), dtype=np.float64)
    for i in range(CAVE_LATTICE):
        for j in range(CAVE_LATTICE_Y):
            for k in range(CAVE_LATTICE):
                lattice[i, j, k] = unit(hash4(seed, salt, ix0 + i, j, iz0 + k)) * 2.0 - 1.0
    return lattice


@kernel
def _trilinear(lattice: npt.NDArray[np.float64], dx: int, y: int, dz: int) -> float:
    """Noise at an offset (in blocks) from the lattice's origin."""
    i = dx // CAVE_STEP
    j = y // CAVE_STEP
    k = dz // CAVE_STEP
    tx = _smooth((dx - i * CAVE_STEP) / CAVE_STEP)
    ty = _smooth((y - j * CAVE_STEP) / CAVE_STEP)
    tz = _smooth((dz - k * CAVE_STEP) / CAVE_STEP)
    x00 = lattice[i, j, k] + (lattice[i + 1, j, k] - lattice[i, j, k]) * tx
    x10 = lattice[i, j + 1, k] + (lattice[i + 1, j + 1, k] - lattice[i, j + 1, k]) * tx
    x01 = lattice[i, j, k + 1] + (lattice[i + 1, j, k + 1] - lattice[i, j, k + 1]) * tx
    x11 = lattice[i, j + 1, k + 1] + (lattice[i + 1, j + 1, k + 1] - lattice[i, j + 1, k + 1]) * tx
    low = x00 + (x10 - x00) * ty
    high = x01 + (x11 - x01) * ty
    return low + (high - low) * tz


@kernel
def _is_cave(
    a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], dx: int, y: int, dz: int, top: int, mouth: float
) -> bool:
    """Say whether a block of ground is cut away: a tunnel runs where both noises are near zero."""
    if y < 3:
        return False
    if top <= SEA_LEVEL + 2 and y > top - 6:
        return False  # lakes keep their floor, beaches their sand
    depth = top - y
    width = 0.045
    if depth < 4:
        # Tunnels reach the surface only in some places, and there they open wide.
        if mouth < 0.25:
            return False
        width = 0.06
    u = _trilinear(a, dx, y, dz)
    v = _trilinear(b, dx, y, dz)
    return u * u + v * v < width


@kernel
def _draw_vein(
    out: npt.NDArray[np.uint8],
    x0: int,
    z0: int,
    x: int,
    y: int,
    z: int,
    ore: int,
    size: int,
    h: np.uint64,
    surface: bool,
) -> None:
    """Grow a vein by a random walk from (x, y, z), writing what falls inside the chunk at (x0, z0)."""
    cx, cy, cz = x, y, z
    for _ in range(size):
        lx = cx - x0
        lz = cz - z0
        if 0 <= lx < CHUNK and 0 <= lz < CHUNK and 1 <= cy < HEIGHT:
            block = out[lx, lz, cy]
            if block == STONE or (surface and block in (DIRT, GRASS)):
                out[lx, lz, cy] = ore
        h = mix(h + np.uint64(0x9E3779B97F4A7C15))
        move = int(h % np.uint64(6))
        if move == 0:
            cx += 1
        elif move == 1:
            cx -= 1
        elif move == 2:
            cz += 1
        elif move == 3:
            cz -= 1
        elif move == 4:
            cy += 1
        else:
            cy -= 1
        # A vein stays within 3 blocks of its start, so that only the eight chunks around can share it.
        cx = min(max(cx, x - 3), x + 3)
        cy = min(max(cy, y - 2), y + 2)
        cz = min(max(cz, z - 3), z + 3)


@kernel
def _ore_for(draw: float, y: int) -> int:
    """Choose an ore for a vein at height y: the precious ones only lie deep."""
    if draw < 0.50 or y > 44:
        return COAL
    if draw < 0.86 or y > 22:
        return IRON
    if draw < 0.95 or y > 14:
        return GOLD
    return DIAMOND


@kernel
def _steepness(seed: int, x: int, z: int, top: int) -> int:
    """Return the largest drop in blocks from a column to one three blocks away."""
    drop = top - surface_height(seed, x + 3, z)
    drop = max(drop, top - surface_height(seed, x - 3, z))
    drop = max(drop, top - surface_height(seed, x, z + 3))
    return max(drop, top - surface_height(seed, x, z - 3))


@kernel
def _draw_ores(seed: int, cx: int, cz: int, out: npt.NDArray[np.uint8]) -> None:
    x0 = cx * CHUNK
    z0 = cz * CHUNK
    for nx in range(cx - 1, cx + 2):
        for nz in range(cz - 1, cz + 2):
            for n in range(14):
                h = hash4(seed, SALT_VEIN, nx, nz, n)
                x = nx * CHUNK + int(h % np.uint64(16))
                z = nz * CHUNK + int((h >> np.uint64(4)) % np.uint64(16))
                y = 3 + int((h >> np.uint64(8)) % np.uint64(38))
                ore = _ore_for(unit(mix(h)), y)
                _draw_vein(out, x0, z0, x, y, z, ore, 10, h, False)
            # Outcrops: veins that start on a steep slope and so lie open to the eye.
            for n in range(3):
                h = hash4(seed, SALT_OUTCROP, nx, nz, n)
                x = nx * CHUNK + int(h % np.uint64(16))
                z = nz * CHUNK + int((h >> np.uint64(4)) % np.uint64(16))
                top = surface_height(seed, x, z)
                if top > SEA_LEVEL + 2 and _steepness(seed, x, z, top) >= 3:
                    draw = unit(mix(h))
                    ore = COAL
                    if draw >= 0.45:
                        ore = IRON
                    if draw >= 0.94:
                        ore = GOLD
                    if draw >= 0.98:
                        ore = DIAMOND
                    _draw_vein(out, x0, z0, x, top, z, ore, 14, h, True)


@kernel
def _draw_tree(out: npt.NDArray[np.uint8], lx: int, lz: int, ground: int, trunk: int) -> None:
    """Draw a tree whose trunk stands on (lx, ground, lz), in chunk coordinates that may lie outside the chunk."""
    crown = ground + trunk
    for dy in range(-2, 2):
        reach = 2 if dy < 0 else 1
        for dx in range(-reach, reach + 1):
            for dz in range(-reach, reach + 1):
                corner = abs(dx) == reach and abs(dz) == reach
                if corner and (dy >= 0 or (dx + dz) % 4 == 0):
                    continue
                x = lx + dx
                z = lz + dz
                y = crown + dy + 1
                if 0 <= x < CHUNK and 0 <= z < CHUNK and 0 < y < HEIGHT and out[x, z, y] == AIR:
                    out[x, z, y] = LEAVES
    if 0 <= lx < CHUNK and 0 <= lz < CHUNK:
        for y in range(ground + 1, crown + 1):
            out[lx, lz, y] = LOG


@allocating_kernel
def generate_chunk(seed: int, cx: int, cz: int) -> npt.NDArray[np.uint8]:
    """Return the blocks of one chunk, uint8[16, 16, HEIGHT] indexed [x, z, y] within the chunk."""
    out = np.zeros((CHUNK, CHUNK, HEIGHT), dtype=np.uint8)
    x0 = cx * CHUNK - MARGIN
    z0 = cz * CHUNK - MARGIN
    tops = np.empty((REGION, REGION), dtype=np.int64)
    for i in range(REGION):
        for k in range(REGION):
            tops[i, k] = surface_height(seed, x0 + i, z0 + k)

    ix0 = x0 // CAVE_STEP
    iz0 = z0 // CAVE_STEP
    shift_x = x0 - ix0 * CAVE_STEP
    shift_z = z0 - iz0 * CAVE_STEP
    cave_a = _cave_lattice(seed, SALT_CAVE_A, ix0, iz0)
    cave_b = _cave_lattice(seed, SALT_CAVE_B, ix0, iz0)

    for lx in range(CHUNK):
        for lz in range(CHUNK):
            i = lx + MARGIN
            k = lz + MARGIN
            x = x0 + i
            z = z0 + k
            top = tops[i, k]
            fall = max(max(top - tops[i + 1, k], top - tops[i - 1, k]), max(top - tops[i, k + 1], top - tops[i, k - 1]))
            mouth = noise2(seed, SALT_CAVE_MOUTH, x, z, 24)
            gravel = noise2(seed, SALT_GRAVEL, x, z, 11) > 0.55
            out[lx, lz, 0] = BEDROCK
            for y in range(1, top + 1):
                if _is_cave(cave_a, cave_b, i + shift_x, y, k + shift_z, top, mouth):
                    continue
                depth = top - y
                block = STONE
                if top <= SEA_LEVEL + 1:
                    if depth < 3:
                        block = GRAVEL if gravel else SAND
                elif fall < 2 and depth < 4:
                    # Steep ground is bare rock; elsewhere grass over dirt.
                    block = GRASS if depth == 0 else DIRT
                elif gravel and depth < 2:
                    block = GRAVEL
                out[lx, lz, y] = block
            for y in range(top + 1, SEA_LEVEL + 1):
                out[lx, lz, y] = WATER

    _draw_ores(seed, cx, cz, out)

    for i in range(1, REGION - 1):
        for k in range(1, REGION - 1):
            x = x0 + i
            z = z0 + k
            h = hash4(seed, SALT_TREE, x, z, 0)
            density = 0.006 + 0.016 * max(0.0, noise2(seed, SALT_FOREST, x, z, 40))
            top = tops[i, k]
            if unit(h) >= density or top <= SEA_LEVEL + 1:
                continue
            fall = max(max(top - tops[i + 1, k], top - tops[i - 1, k]), max(top - tops[i, k + 1], top - tops[i, k - 1]))
            mouth = noise2(seed, SALT_CAVE_MOUTH, x, z, 24)
            if fall >= 2 or _is_cave(cave_a, cave_b, i + shift_x, top, k + shift_z, top, mouth):
                continue
            _draw_tree(out, i - MARGIN, k - MARGIN, top, 4 + int(mix(h) % np.uint64(3)))
    return out
