"""The mesher against the same logic written plainly, on worlds drawn at random."""

from collections import Counter

import numpy as np
import pytest

from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.render.atlas import LAYER_OF
from oresight.craftenv.render.layout import FACES, GROUP_TORCH, GROUP_WATER, GROUPS, LAYERS, NO_ROOM, ROOMS, SECTIONS
from oresight.craftenv.render.mesher import CORNER_LIGHT, FACE_LIGHT, Mesh, Mesher
from support.render_stage import ALONG, STEPS, Cell, StageWorld, hills, noise

Face = tuple[Cell, int, int, tuple[int, int, int, int]]  # block, face, tile, light of the corners


def add(*places: Cell) -> Cell:
    return sum(p[0] for p in places), sum(p[1] for p in places), sum(p[2] for p in places)


def times(step: Cell, factor: int) -> Cell:
    return step[0] * factor, step[1] * factor, step[2] * factor


def corner_light(world: StageWorld, front: Cell, u: Cell, v: Cell, face: int) -> int:
    a, b = world.opaque(*add(front, u)), world.opaque(*add(front, v))
    openness = 0 if a and b else 3 - a - b - world.opaque(*add(front, u, v))
    return int(FACE_LIGHT[face]) * 255 * int(CORNER_LIGHT[openness]) // 10000


def plain_faces(world: StageWorld, cx: int, cz: int) -> Counter[Face]:
    """The opaque faces that look into a chunk's cells, one by one, as set out in the block table."""
    faces: Counter[Face] = Counter()
    for x in range(cx * 16, cx * 16 + 16):
        for z in range(cz * 16, cz * 16 + 16):
            for y in range(97):
                if world.opaque(x, y, z):
                    continue
                for face, step in enumerate(STEPS):
                    block = add((x, y, z), times(step, -1))
                    if not world.opaque(*block):
                        continue
                    kind = BLOCKS[Block(world.get(*block))]
                    tile = LAYER_OF[(kind.side, kind.side, kind.bottom, kind.top, kind.side, kind.side)[face]]
                    u, v = ALONG[face // 2]
                    lights = tuple(
                        corner_light(world, (x, y, z), times(u, du), times(v, dv), face)
                        for du, dv in ((-1, -1), (1, -1), (1, 1), (-1, 1))
                    )
                    faces[block, face, tile, lights] += 1
    return faces


def quads_of(mesh: Mesh) -> list[tuple[int, int, dict[tuple[int, int], tuple[tuple[int, int, int], int]]]]:
    """Each quad's face and tile, and by its end of u and of v the corner's place in sixteenths and its light."""
    quads = []
    for words in mesh.vertices.reshape(-1, 4, 2).tolist():
        corners = {}
        for first, second in words:
            place = (first & 511, first >> 18 & 2047, first >> 9 & 511)
            corners[second >> 22 & 1, second >> 23 & 1] = (place, second >> 6 & 255)
        quads.append((words[0][0] >> 29, words[0][1] & 63, corners))
    return quads


def meshed_faces(mesh: Mesh, cx: int, cz: int) -> Counter[Face]:
    """The opaque quads of a mesh cut up into single faces again."""
    faces: Counter[Face] = Counter()
    kinds = np.tile(np.arange(GROUPS), LAYERS * ROOMS).repeat(mesh.counts.reshape(-1))
    for (face, tile, corners), kind in zip(quads_of(mesh), kinds, strict=True):
        if kind >= FACES:
            continue
        assert kind == face
        (low, _), (high, _) = corners[0, 0], corners[1, 1]
        lights = tuple(corners[ends][1] for ends in ((0, 0), (1, 0), (1, 1), (0, 1)))
        u, v = ALONG[face // 2]
        wide = (np.dot(high, u) - np.dot(low, u)) // 16
        tall = (np.dot(high, v) - np.dot(low, v)) // 16
        assert wide >= 1 and tall >= 1
        # Merged along u only where the light does not change along u; so every part has the whole's light.
        assert wide == 1 or (lights[0] == lights[1] and lights[3] == lights[2])
        assert tall == 1 or (lights[0] == lights[3] and lights[1] == lights[2])
        inwards = STEPS[face ^ 1] if face % 2 else (0, 0, 0)
        base = add((cx * 16, 0, cz * 16), (low[0] // 16, low[1] // 16, low[2] // 16), inwards)
        for a in range(wide):
            for b in range(tall):
                faces[add(base, times(u, a), times(v, b)), face, tile, lights] += 1
    return faces


@pytest.mark.parametrize(("seed", "share"), [(1, 0.02), (2, 0.3), (3, 0.9)])
def test_meshes_cover_exactly_the_visible_faces_of_strewn_blocks(seed: int, share: float) -> None:
    world = noise(seed, share)
    world.blocks[:, :, 40:90] = 0  # keep the plain twin quick
    mesh = Mesher().mesh(world.blocks, 3, 5)
    assert meshed_faces(mesh, 3, 5) == plain_faces(world, 3, 5)


def test_meshes_cover_exactly_the_visible_faces_of_hills() -> None:
    world = hills(4)
    mesh = Mesher().mesh(world.blocks, 0, 15)  # at the array's edge, where neighbours wrap around
    assert meshed_faces(mesh, 0, 15) == plain_faces(world, 0, 15)


def test_equal_faces_of_a_floor_merge_into_one_quad() -> None:
    world = StageWorld()
    world.blocks[:, :, :8] = Block.STONE
    assert len(Mesher().mesh(world.blocks, 2, 2).vertices) == 4


def test_faces_on_top_of_the_world_look_into_the_sky_layer() -> None:
    world = StageWorld()
    world.blocks[40, 40, 95] = Block.STONE
    mesh = Mesher().mesh(world.blocks, 2, 2)
    assert mesh.counts[SECTIONS, 0, 3] == 1
    assert mesh.counts[SECTIONS - 1].sum() == 5


def test_the_corner_beside_a_wall_is_darker_than_the_open_floor() -> None:
    world = StageWorld()
    world.blocks[:, :, 0] = Block.STONE
    world.blocks[40, :, 1] = Block.STONE
    floors = [corners for face, _, corners in quads_of(Mesher().mesh(world.blocks, 2, 2)) if face == 3]
    lights = sorted({light for corners in floors for _, light in corners.values()})
    assert lights == [168, 255]


def test_open_water_stands_lower_than_water_under_rock() -> None:
    world = StageWorld()
    world.blocks[40, 40, 10] = Block.WATER
    world.blocks[44, 44, 10] = Block.WATER
    world.blocks[44, 44, 11] = Block.STONE
    mesh = Mesher().mesh(world.blocks, 2, 2)
    water = [corners for _, tile, corners in quads_of(mesh) if tile == LAYER_OF["water"]]
    tops = {max(place[1] for place, _ in corners.values()) for corners in water}
    assert mesh.counts[..., GROUP_WATER].sum() == 11
    assert tops == {160, 174, 176}


def test_a_torch_is_four_planes_and_hides_nothing() -> None:
    world = StageWorld()
    world.blocks[40, 40, 10] = Block.STONE
    world.blocks[40, 40, 11] = Block.TORCH
    counts = Mesher().mesh(world.blocks, 2, 2).counts
    assert counts[..., GROUP_TORCH].sum() == 4
    assert counts[..., :FACES].sum() == 6 + 1  # and the bedrock under the world


def test_cells_share_a_room_exactly_if_they_reach_each_other_inside_the_section() -> None:
    world = noise(7, 0.62)
    labels = Mesher().mesh(world.blocks, 1, 1).labels[2]
    cells = {
        (x, y, z) for x in range(16, 32) for y in range(32, 48) for z in range(16, 32) if not world.opaque(x, y, z)
    }
    room_of = {(x, y, z): int(labels[(x - 16) << 8 | (z - 16) << 4 | (y - 32)]) for x, y, z in cells}
    assert np.count_nonzero(labels == NO_ROOM) == 4096 - len(cells)
    left = set(cells)
    while left:
        reached = {min(left)}
        edge = set(reached)
        while edge:
            edge = {add(cell, step) for cell in edge for step in STEPS} & cells - reached
            reached |= edge
        left -= reached
        assert len({room_of[cell] for cell in reached}) == 1


def test_the_busiest_possible_chunk_fits() -> None:
    world = StageWorld()
    x, z, y = np.indices((256, 256, 96), sparse=True)
    world.blocks[(x + z + y) % 2 == 0] = Block.STONE
    mesh = Mesher().mesh(world.blocks, 8, 8)
    assert len(mesh.vertices) == mesh.counts.sum() * 4
    assert mesh.counts.sum() > 70_000
