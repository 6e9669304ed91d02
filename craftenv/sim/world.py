"""The streaming voxel world: chunks made by seed, kept around the player, and the blocks that differ from the seed.

The loaded part is one array that wraps around, so kernels index it by world coordinates without looking chunks up. What
is loaded never changes what happens: a chunk that streams out and in again comes back with its changes.
"""

import math
from collections import defaultdict

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import ORES, Block
from oresight.craftenv.config import CHUNK, HEIGHT, WORLD_CHUNKS, WORLD_SPAN
from oresight.craftenv.kernels import kernel
from oresight.craftenv.sim.terrain import generate_chunk, mix

Position = tuple[int, int, int]

SLOT_EMPTY = -(2**40)
# Ore blocks a chunk can list; far more than any chunk has, and a chunk beyond it is cut there, the same everywhere.
ORE_LIMIT = 512
_BEDROCK = int(Block.BEDROCK)
_FIRST_ORE = int(ORES[0])
_LAST_ORE = int(ORES[-1])
_SLOT_MASK = WORLD_CHUNKS - 1
_SPAN_MASK = WORLD_SPAN - 1


@kernel
def read_block(blocks: npt.NDArray[np.uint8], x: int, y: int, z: int) -> int:
    """Return the block at a place inside the loaded part; bedrock below the world, air above it."""
    if y < 0:
        return _BEDROCK
    if y >= HEIGHT:
        return 0
    return blocks[x & (WORLD_SPAN - 1), z & (WORLD_SPAN - 1), y]


@kernel
def _collect_ores(chunk: npt.NDArray[np.uint8], out: npt.NDArray[np.int16]) -> int:
    count = 0
    for x in range(CHUNK):
        for z in range(CHUNK):
            for y in range(HEIGHT):
                if _FIRST_ORE <= chunk[x, z, y] <= _LAST_ORE and count < out.shape[0]:
                    out[count, 0] = x
                    out[count, 1] = y
                    out[count, 2] = z
                    count += 1
    return count


@kernel
def _change_key(x: int, y: int, z: int, block: int) -> np.uint64:
    """Hash one changed block; the changes' keys add up to the world's part of the state hash, in any order."""
    h = mix(np.uint64(x) + np.uint64(0x9E3779B97F4A7C15))
    h = mix(h + np.uint64(y) * np.uint64(0xC2B2AE3D27D4EB4F))
    h = mix(h + np.uint64(z) * np.uint64(0x165667B19E3779F9))
    return mix(h + np.uint64(block))


class World:
    """The blocks of one seed.

    Attributes:
        seed: The terrain seed.
        blocks: The loaded part, uint8[256, 256, 96] indexed [x & 255, z & 255, y].
        slot_cx: Chunk x in each slot, int64[16, 16] indexed [cx & 15, cz & 15], SLOT_EMPTY where none.
        slot_cz: Chunk z likewise.
        slot_version: A serial number a slot, changed whenever the chunk may look different, its border included.
        ores: Where each slot has, or had, an ore, as [x, y, z] within the chunk, int16[16, 16, ORE_LIMIT, 3].
        ore_counts: How many rows of `ores` count, int64[16, 16].
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.blocks: npt.NDArray[np.uint8] = np.zeros((WORLD_SPAN, WORLD_SPAN, HEIGHT), dtype=np.uint8)
        shape = (WORLD_CHUNKS, WORLD_CHUNKS)
        self.slot_cx: npt.NDArray[np.int64] = np.full(shape, SLOT_EMPTY, dtype=np.int64)
        self.slot_cz: npt.NDArray[np.int64] = np.full(shape, SLOT_EMPTY, dtype=np.int64)
        self.slot_version: npt.NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
        self.ores: npt.NDArray[np.int16] = np.zeros((*shape, ORE_LIMIT, 3), dtype=np.int16)
        self.ore_counts: npt.NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
        self.edits = 0  # how often a block was set; lets callers keep what they derived from the blocks
        self.placed: set[Position] = set()
        self._generated: dict[Position, int] = {}
        self._changed_chunks: dict[tuple[int, int], dict[Position, int]] = defaultdict(dict)
        self._change_sum = 0
        self._serial = 0
        self._loaded_around: tuple[int, int, int] | None = None

    def ensure(self, cx: int, cz: int, radius: int) -> None:
        """Load every chunk within `radius` chunks (7 at most) of chunk (cx, cz)."""
        if radius > 7:
            raise ValueError(f"radius {radius} does not fit in the world array; 7 chunks at most")
        if self._loaded_around is not None:
            ax, az, have = self._loaded_around
            if (ax, az) == (cx, cz) and radius <= have:
                return
        for x in range(cx - radius, cx + radius + 1):
            for z in range(cz - radius, cz + radius + 1):
                sx, sz = x & _SLOT_MASK, z & _SLOT_MASK
                if self.slot_cx[sx, sz] != x or self.slot_cz[sx, sz] != z:
                    self._load(x, z, sx, sz)
        self._loaded_around = (cx, cz, radius)

    def ensure_around(self, x: float, z: float, radius: int) -> None:
        """Load every chunk within `radius` chunks of the chunk that holds a place."""
        self.ensure(math.floor(x) >> 4, math.floor(z) >> 4, radius)

    def _load(self, cx: int, cz: int, sx: int, sz: int) -> None:
        chunk = generate_chunk(self.seed, cx, cz)
        self.ore_counts[sx, sz] = _collect_ores(chunk, self.ores[sx, sz])
        bx, bz = sx * CHUNK, sz * CHUNK
        self.blocks[bx : bx + CHUNK, bz : bz + CHUNK] = chunk
        self.slot_cx[sx, sz] = cx
        self.slot_cz[sx, sz] = cz
        for (x, y, z), block in self._changed_chunks.get((cx, cz), {}).items():
            self.blocks[x & _SPAN_MASK, z & _SPAN_MASK, y] = block
            if _FIRST_ORE <= block <= _LAST_ORE:
                self._list_ore(x, y, z)
        self._touch(cx, cz)

    def _list_ore(self, x: int, y: int, z: int) -> None:
        sx, sz = (x >> 4) & _SLOT_MASK, (z >> 4) & _SLOT_MASK
        row = np.array([x & (CHUNK - 1), y, z & (CHUNK - 1)], dtype=np.int16)
        count = int(self.ore_counts[sx, sz])
        listed = self.ores[sx, sz, :count]
        if count < ORE_LIMIT and not (listed == row).all(axis=1).any():
            self.ores[sx, sz, count] = row
            self.ore_counts[sx, sz] = count + 1

    def _touch(self, cx: int, cz: int) -> None:
        self._serial += 1
        self.slot_version[cx & _SLOT_MASK, cz & _SLOT_MASK] = self._serial

    def get(self, x: int, y: int, z: int) -> int:
        """Return the block id at a place inside the loaded part."""
        if y < 0:
            return int(Block.BEDROCK)
        if y >= HEIGHT:
            return int(Block.AIR)
        return int(self.blocks[x & _SPAN_MASK, z & _SPAN_MASK, y])

    def set(self, x: int, y: int, z: int, block: int) -> None:
        """Change a block inside the loaded part; a block set back to what the seed made is no longer a change."""
        if not 0 <= y < HEIGHT:
            raise ValueError(f"y = {y} is outside the world, which reaches from 0 to {HEIGHT - 1}")
        position = (x, y, z)
        before = self.get(x, y, z)
        original = self._generated.setdefault(position, before)
        changes = self._changed_chunks[(x >> 4, z >> 4)]
        if before != original:
            self._change_sum -= int(_change_key(x, y, z, before))
        if block != original:
            self._change_sum += int(_change_key(x, y, z, block))
            changes[position] = block
        else:
            changes.pop(position, None)
        self._change_sum &= (1 << 64) - 1
        self.blocks[x & _SPAN_MASK, z & _SPAN_MASK, y] = block
        self.edits += 1
        if _FIRST_ORE <= block <= _LAST_ORE:
            self._list_ore(x, y, z)
        for cx in {(x - 1) >> 4, x >> 4, (x + 1) >> 4}:
            for cz in {(z - 1) >> 4, z >> 4, (z + 1) >> 4}:
                self._touch(cx, cz)

    def is_natural(self, x: int, y: int, z: int) -> bool:
        """Say whether the block at a place was made by the seed and not placed by the player."""
        return (x, y, z) not in self.placed

    @property
    def change_hash(self) -> int:
        """A 64-bit number over the blocks that differ from the generated world, whatever the order of changes."""
        return self._change_sum

    def changes(self) -> dict[Position, int]:
        """Return the blocks that differ from the generated world."""
        return {position: block for chunk in self._changed_chunks.values() for position, block in chunk.items()}
