"""Small worlds for the renderer's tests, and the renderer's logic once more, slow and plain."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import HEIGHT, TAN_HALF_FOV
from oresight.craftenv.sim.angles import cosine, direction, sine

STEPS = ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))
# In the plane of each pair of faces: the steps along u and along v.
ALONG = {0: ((0, 0, 1), (0, 1, 0)), 1: ((1, 0, 0), (0, 0, 1)), 2: ((1, 0, 0), (0, 1, 0))}

Cell = tuple[int, int, int]


@dataclass
class StageWorld:
    """A world of 16 x 16 chunks, all of them loaded; empty unless blocks are set."""

    blocks: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((256, 256, HEIGHT), dtype=np.uint8))
    slot_cx: npt.NDArray[np.int64] = field(default_factory=lambda: np.arange(16)[:, None].repeat(16, axis=1))
    slot_cz: npt.NDArray[np.int64] = field(default_factory=lambda: np.arange(16)[None, :].repeat(16, axis=0))
    slot_version: npt.NDArray[np.int64] = field(default_factory=lambda: np.ones((16, 16), dtype=np.int64))

    def get(self, x: int, y: int, z: int) -> int:
        if y < 0:
            return int(Block.BEDROCK)
        return int(self.blocks[x & 255, z & 255, y]) if y < HEIGHT else int(Block.AIR)

    def set(self, x: int, y: int, z: int, block: int) -> None:
        self.blocks[x & 255, z & 255, y] = block
        for cx in {(x - 1) >> 4, x >> 4, (x + 1) >> 4}:
            for cz in {(z - 1) >> 4, z >> 4, (z + 1) >> 4}:
                self.slot_version[cx & 15, cz & 15] += 1

    def opaque(self, x: int, y: int, z: int) -> bool:
        return BLOCKS[Block(self.get(x, y, z))].opaque


def hills(seed: int) -> StageWorld:
    """Rolling ground with trees of a kind, pits, ores, a lake and caves, drawn at random."""
    random = np.random.default_rng(seed)
    world = StageWorld()
    x, z = np.meshgrid(np.arange(256), np.arange(256), indexing="ij")
    ground = 30 + 6 * np.sin(x * np.pi / 16 + seed) + 5 * np.cos(z * np.pi / 32) + random.integers(0, 2, (256, 256))
    y = np.arange(HEIGHT)
    below = y < ground[..., None]
    world.blocks[below] = Block.STONE
    world.blocks[below & (y >= ground[..., None] - 1)] = Block.GRASS
    ore = random.random(world.blocks.shape)
    for number, block in enumerate((Block.COAL_ORE, Block.IRON_ORE, Block.GOLD_ORE, Block.DIAMOND_ORE)):
        world.blocks[below & (ore > 0.1 * number) & (ore < 0.1 * number + 0.01)] = block
    caves = np.sin(x / 3.0)[..., None] + np.cos(z / 4.0)[..., None] + np.sin(y / 3.0)
    world.blocks[below & (np.abs(caves) < 0.35)] = Block.AIR
    world.blocks[~below & (y < 28)] = Block.WATER
    for _ in range(300):
        i, k = random.integers(3, 253, 2)
        top = int(ground[i, k]) + 1
        world.blocks[i - 1 : i + 2, k - 1 : k + 2, top + 2 : top + 5] = Block.LEAVES
        world.blocks[i, k, top : top + 3] = Block.LOG
    world.blocks[:, :, 0] = Block.BEDROCK
    return world


def noise(seed: int, share: float) -> StageWorld:
    """Blocks of every kind strewn into air."""
    random = np.random.default_rng(seed)
    world = StageWorld()
    kinds = random.integers(1, len(Block), world.blocks.shape).astype(np.uint8)
    world.blocks[:] = np.where(random.random(world.blocks.shape) < share, kinds, 0)
    return world


def ground_eye(world: StageWorld, x: int, z: int) -> tuple[float, float, float]:
    """An eye that stands in the open above everything at a place."""
    column = world.blocks[x, z]
    return x + 0.5, float(np.nonzero(column)[0].max()) + 1.0 + 1.62, z + 0.5


def cast(
    world: StageWorld, eye: tuple[float, float, float], ray: npt.NDArray[np.float64], reach: float
) -> tuple[Cell, int] | None:
    """Walk along a ray, cell by cell, to the first opaque block: the block and the face that is met."""
    cell = [int(np.floor(value)) for value in eye]
    step = [1 if value > 0 else -1 for value in ray]
    with np.errstate(divide="ignore"):
        apart = np.abs(1.0 / ray)
    to_next = [(cell[n] + (step[n] > 0) - eye[n]) / ray[n] if ray[n] else np.inf for n in range(3)]
    while True:
        axis = int(np.argmin(to_next))
        if to_next[axis] > reach:
            return None
        cell[axis] += step[axis]
        to_next[axis] += apart[axis]
        if world.opaque(*cell):
            return (cell[0], cell[1], cell[2]), axis * 2 + (step[axis] < 0)


def pixel_ray(yaw: int, pitch: int, column: int, row: int, width: int, height: int) -> npt.NDArray[np.float64]:
    """The direction through the middle of a pixel, of length 1."""
    forward = np.array(direction(yaw, pitch))
    right = np.array([-cosine(yaw), 0.0, -sine(yaw)])
    up = np.cross(right, forward)
    across = (2 * (column + 0.5) / width - 1) * TAN_HALF_FOV * width / height
    above = (1 - 2 * (row + 0.5) / height) * TAN_HALF_FOV
    ray = forward + right * across + up * above
    return ray / np.linalg.norm(ray)
