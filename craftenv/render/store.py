"""Keeps the meshes of the chunks around one renderer's eye up to date with the world; arrays only, no OpenGL."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from oresight.craftenv.config import DRAW_RADIUS_CHUNKS
from oresight.craftenv.kernels import kernel
from oresight.craftenv.render.layout import CELLS, FACES, GROUPS, LAYERS, ROOMS, SECTIONS, SLOTS
from oresight.craftenv.render.mesher import Mesher

_NOTHING = -(2**41)  # no chunk has this number, and it is not the world's mark for an empty slot either
_FIRST_CAPACITY = 1 << 18  # quads; more than most places need, and memory never written to costs nothing


class WorldView(Protocol):
    """What the renderer reads of a world; see `craftenv.sim.world.World`."""

    blocks: npt.NDArray[np.uint8]
    slot_cx: npt.NDArray[np.int64]
    slot_cz: npt.NDArray[np.int64]
    slot_version: npt.NDArray[np.int64]


@dataclass
class SlotTable:
    """What lies in each world slot's mesh; see `craftenv.render.mesher.Mesh`.

    Attributes:
        vertices: uint32[quads * 4, 2], those of all slots; each slot's lie together.
        first: int32[SLOTS, LAYERS, ROOMS], the room's first quad in `vertices`.
        counts: int32[SLOTS, LAYERS, ROOMS, GROUPS].
        boxes: int16[SLOTS, LAYERS, ROOMS, 6].
        doors: int32[SLOTS, LAYERS, ROOMS, 6].
        labels: uint8[SLOTS, SECTIONS, CELLS].
        drawable: bool[SLOTS]; where False the slot has no mesh that belongs into the picture.
    """

    vertices: npt.NDArray[np.uint32] = field(default_factory=lambda: np.empty((_FIRST_CAPACITY * 4, 2), np.uint32))
    first: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((SLOTS, LAYERS, ROOMS), np.int32))
    counts: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((SLOTS, LAYERS, ROOMS, GROUPS), np.int32))
    boxes: npt.NDArray[np.int16] = field(default_factory=lambda: np.zeros((SLOTS, LAYERS, ROOMS, 6), np.int16))
    doors: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros((SLOTS, LAYERS, ROOMS, FACES), np.int32))
    labels: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((SLOTS, SECTIONS, CELLS), np.uint8))
    drawable: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(SLOTS, np.bool_))

    @property
    def capacity(self) -> int:
        """How many quads there is room for."""
        return len(self.vertices) // 4


class Spans:
    """Hands out stretches of one long row, first fit, and joins what comes back."""

    def __init__(self, length: int) -> None:
        self.length = length
        self._free = [(0, length)]

    def take(self, size: int) -> int | None:
        """Return where `size` free places begin, or None when there is no such stretch."""
        for index, (start, end) in enumerate(self._free):
            if end - start >= size:
                if end - start == size:
                    del self._free[index]
                else:
                    self._free[index] = (start + size, end)
                return start
        return None

    def give(self, start: int, size: int) -> None:
        """Take a stretch back."""
        merged: list[tuple[int, int]] = []
        for a, b in sorted([*self._free, (start, start + size)]):
            if merged and merged[-1][1] == a:
                merged[-1] = (merged[-1][0], b)
            else:
                merged.append((a, b))
        self._free = merged

    def grow(self, length: int) -> None:
        """Add places at the end."""
        before, self.length = self.length, length
        self.give(before, length - before)


class ChunkStore:
    """The meshes around the eye.

    Attributes:
        table: Where each slot's quads lie and what they are.
    """

    def __init__(self) -> None:
        self.table = SlotTable()
        self._mesher = Mesher()
        self._held = np.full((SLOTS, 3), _NOTHING, dtype=np.int64)
        self._stale = np.zeros(SLOTS, dtype=np.int64)
        self._spans = Spans(_FIRST_CAPACITY)
        self._span_of: dict[int, tuple[int, int]] = {}
        self._world: WorldView | None = None
        self._home: tuple[int, int] | None = None

    def sync(self, world: WorldView, home_x: int, home_z: int) -> None:
        """Bring the meshes around a chunk up to date; only what changed is built again.

        The chunks within DRAW_RADIUS_CHUNKS are meshed if they and all their neighbours are loaded.
        """
        if world is not self._world:
            self._drop(list(self._span_of))
            self._held[:] = _NOTHING
            self._world = world
        if self._home != (home_x, home_z):
            self._home = (home_x, home_z)
            limit = DRAW_RADIUS_CHUNKS + 1
            far = np.maximum(np.abs(self._held[:, 0] - home_x), np.abs(self._held[:, 1] - home_z)) > limit
            self._drop([slot for slot in self._span_of if far[slot]])
        count = _find_stale(
            world.slot_cx,
            world.slot_cz,
            world.slot_version,
            self._held,
            home_x,
            home_z,
            self.table.drawable,
            self._stale,
        )
        for slot in self._stale[:count].tolist():
            self._rebuild(world, slot)

    def _drop(self, slots: list[int]) -> None:
        for slot in slots:
            self._spans.give(*self._span_of.pop(slot))
            self._held[slot] = _NOTHING

    def _rebuild(self, world: WorldView, slot: int) -> None:
        slot_x, slot_z = divmod(slot, 16)
        mesh = self._mesher.mesh(world.blocks, slot_x, slot_z)
        if slot in self._span_of:
            self._drop([slot])
        quads = len(mesh.vertices) // 4
        start = 0
        if quads:
            start = self._place(quads)
            self._span_of[slot] = (start, quads)
            self.table.vertices[start * 4 : (start + quads) * 4] = mesh.vertices
        per_room = mesh.counts.sum(axis=2)
        self.table.first[slot] = start + (np.cumsum(per_room) - per_room.ravel()).reshape(per_room.shape)
        self.table.counts[slot] = mesh.counts
        self.table.boxes[slot] = mesh.boxes
        self.table.doors[slot] = mesh.doors
        self.table.labels[slot] = mesh.labels
        place = (world.slot_cx[slot_x, slot_z], world.slot_cz[slot_x, slot_z], world.slot_version[slot_x, slot_z])
        self._held[slot] = place

    def _place(self, quads: int) -> int:
        start = self._spans.take(quads)
        while start is None:
            larger = np.empty((len(self.table.vertices) * 2, 2), dtype=np.uint32)
            larger[: len(self.table.vertices)] = self.table.vertices
            self.table.vertices = larger
            self._spans.grow(self.table.capacity)
            start = self._spans.take(quads)
        return start


@kernel
def _find_stale(
    slot_cx: npt.NDArray[np.int64],
    slot_cz: npt.NDArray[np.int64],
    slot_version: npt.NDArray[np.int64],
    held: npt.NDArray[np.int64],
    home_x: int,
    home_z: int,
    drawable: npt.NDArray[np.bool_],
    stale: npt.NDArray[np.int64],
) -> int:
    """Compare the world's chunks around the eye's with the meshes held.

    Args:
        slot_cx: The world's, as are the next two.
        slot_cz: Likewise.
        slot_version: Likewise.
        held: int64[SLOTS, 3], chunk x, chunk z and version of the mesh in each slot.
        home_x: The eye's chunk.
        home_z: Likewise.
        drawable: bool[SLOTS], set to where a mesh belongs into the picture: near, loaded, and so its neighbours.
        stale: int64[SLOTS], filled with the slots that need a new mesh.

    Returns:
        How many slots are stale.
    """
    drawable[:] = False
    count = 0
    for cx in range(home_x - DRAW_RADIUS_CHUNKS, home_x + DRAW_RADIUS_CHUNKS + 1):
        for cz in range(home_z - DRAW_RADIUS_CHUNKS, home_z + DRAW_RADIUS_CHUNKS + 1):
            whole = True
            for x in range(cx - 1, cx + 2):
                for z in range(cz - 1, cz + 2):
                    if slot_cx[x & 15, z & 15] != x or slot_cz[x & 15, z & 15] != z:
                        whole = False
            if not whole:
                continue
            slot = (cx & 15) * 16 + (cz & 15)
            drawable[slot] = True
            if held[slot, 0] != cx or held[slot, 1] != cz or held[slot, 2] != slot_version[cx & 15, cz & 15]:
                stale[count] = slot
                count += 1
    return count
