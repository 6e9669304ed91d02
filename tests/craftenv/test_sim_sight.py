"""What is in view: rays and face sizes against slow twins, and hand-made stages with known answers."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oresight.craftenv.blocks import ORES, Block
from oresight.craftenv.config import HEIGHT, TAN_HALF_FOV, WORLD_SPAN
from oresight.craftenv.sim.angles import direction
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.geometry import OPAQUE, cast_ray
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.sim.sight import SeenFaces, ores_in_view
from support.sim_stage import GROUND, fill, play, stage
from support.sim_twins import faces_in_view, first_hit, picture_of_faces

FOCAL = 240 / TAN_HALF_FOV
IRON = Block.IRON_ORE


def _ores(engine: Engine) -> dict[tuple[int, int, int], int]:
    player = engine.player
    engine.world.ensure_around(player.x, player.z, 5)
    return {ore.position: ore.face_px for ore in ores_in_view(engine.world, player.eye, player.yaw, player.pitch)}


def _put(engine: Engine, x: int, y: int, z: int, block: Block = IRON) -> None:
    engine.world.ensure_around(engine.player.x, engine.player.z, 5)
    engine.world.set(x, y, z, int(block))


coordinate = st.floats(-3.0, 7.0, allow_nan=False)


@settings(max_examples=150, deadline=None)
@given(
    cells=st.sets(st.tuples(*[st.integers(-2, 5)] * 3), max_size=60),
    eye=st.tuples(coordinate, coordinate, coordinate),
    yaw=st.integers(0, 2399),
    pitch=st.integers(-600, 600),
    length=st.floats(0.5, 14.0),
)
@example(cells={(0, -1, 0)}, eye=(0.0, 0.0, 0.0), yaw=0, pitch=1, length=1.0)
def test_a_ray_meets_the_same_block_and_face_as_its_slow_twin(
    cells: set[tuple[int, int, int]], eye: tuple[float, float, float], yaw: int, pitch: int, length: float
) -> None:
    blocks = np.zeros((WORLD_SPAN, WORLD_SPAN, HEIGHT), dtype=np.uint8)
    up = 20  # the scene floats well above the bedrock that begins below zero
    for x, y, z in cells:
        blocks[x & 255, z & 255, y + up] = int(Block.STONE)
    place = (eye[0], eye[1] + up, eye[2])
    way = direction(yaw, pitch)
    wanted, grazes = first_hit(
        lambda cell: 0 <= cell[1] < HEIGHT and blocks[cell[0] & 255, cell[2] & 255, cell[1]] != 0, place, way, length
    )
    if grazes:
        return  # through an edge or exactly as far as its length: either answer is right
    x, y, z, face = cast_ray(blocks, OPAQUE, False, *place, *way, length)
    assert (None if face < 0 else (x, y, z, face)) == wanted


@pytest.mark.parametrize(("seed", "yaw", "pitch"), [(1, 0, 0), (2, 700, 200), (3, 1850, -300)])
def test_the_faces_in_view_are_those_of_the_slow_twin(seed: int, yaw: int, pitch: int) -> None:
    engine = Engine(seed, spawn_on_ground(seed, 0.5, 0.5))
    engine.world.ensure(0, 0, 5)
    eye = engine.player.eye
    wanted = faces_in_view(engine.world, eye, yaw, pitch)
    seen = SeenFaces()
    fresh = seen.look(engine.world, eye, yaw, pitch)
    got = {
        (x, y, z, face) for (x, y, z), _ in fresh for face in range(6) if seen._masks[x & 255, z & 255, y] & (1 << face)
    }
    assert len(got ^ wanted) <= 2  # a ray through an edge may go either way
    assert abs(len(fresh) - len(wanted)) <= 2
    assert all(block == engine.world.get(*position) for position, block in fresh)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "pitch"), [(0, 0), (3, 120)])
def test_the_ores_in_view_and_their_sizes_are_those_of_a_picture_of_faces(seed: int, pitch: int) -> None:
    engine = Engine(seed, spawn_on_ground(seed, 8.5, 8.5))
    world, eye = engine.world, engine.player.eye
    world.ensure(0, 0, 5)
    yaw = max(range(0, 2400, 150), key=lambda yaw: len(ores_in_view(world, eye, yaw, pitch)))
    faces, pixels = np.unique(picture_of_faces(world, eye, yaw, pitch).reshape(-1, 4), axis=0, return_counts=True)
    wanted: dict[tuple[int, int, int], int] = {}
    for (x, y, z, face), count in zip(faces.tolist(), pixels.tolist(), strict=True):
        middle = [x + 0.5, y + 0.5, z + 0.5]
        middle[face >> 1] += 0.5 if face & 1 else -0.5
        if face >= 0 and world.get(x, y, z) in ORES and math.dist(middle, eye) <= 48.0:
            wanted[x, y, z] = max(wanted.get((x, y, z), 0), count)
    got = {ore.position: ore.face_px for ore in ores_in_view(world, eye, yaw, pitch)}
    assert {ore for ore, px in wanted.items() if px >= 20} <= set(got)
    assert set(got) <= set(wanted)
    for ore, px in got.items():
        exact = px < 512  # larger faces are sampled
        assert px == pytest.approx(wanted[ore], rel=0.0 if exact else 0.07, abs=2)
    assert got


@pytest.mark.parametrize("blocks_away", [1, 2, 3, 5, 8, 12, 20, 30, 40, 47])
def test_an_ore_straight_ahead_covers_the_square_of_focal_length_over_distance(blocks_away: int) -> None:
    engine = stage()
    _put(engine, 0, GROUND + 1, blocks_away)
    side = FOCAL / (blocks_away - 0.5)
    (px,) = _ores(engine).values()
    if blocks_away == 1:  # half a block from the eye: taller than the frame
        low, high = 240 - 0.38 * side, 480
        side = FOCAL / 0.5
        assert px == pytest.approx(min(640.0, side) * (high - max(0.0, low)), rel=0.05)
    else:
        assert px == pytest.approx(side * side, rel=0.04, abs=2 * side + 1)


def test_sight_ends_at_forty_eight_blocks() -> None:
    engine = stage()
    _put(engine, 0, GROUND + 1, 48)  # its face is 47.5 blocks away
    assert len(_ores(engine)) == 1
    engine = stage()
    _put(engine, 0, GROUND + 1, 49)
    assert _ores(engine) == {}


def test_an_ore_of_less_than_sixteen_pixels_is_not_written_down() -> None:
    engine = stage()
    _put(engine, 0, GROUND + 1, 30)
    fill(engine, (0, GROUND + 1, 29), (0, GROUND + 1, 29), Block.STONE)
    assert _ores(engine) == {}
    assert min(_ores_of_a_far_sliver(), default=16) >= 16


def _ores_of_a_far_sliver() -> list[int]:
    engine = stage(0.5, 0.5)
    for z in (40, 44, 47):
        _put(engine, 3, GROUND + 8, z)
    engine.player.pitch = 590
    return list(_ores(engine).values())


@pytest.mark.parametrize("cover", [Block.STONE, Block.LEAVES, Block.BEDROCK, Block.GRASS])
def test_an_ore_behind_an_opaque_wall_is_not_seen(cover: Block) -> None:
    engine = stage()
    _put(engine, 0, GROUND + 1, 5)
    fill(engine, (-2, GROUND, 3), (2, GROUND + 4, 3), cover)
    assert _ores(engine) == {}


@pytest.mark.parametrize("cover", [Block.WATER, Block.TORCH, Block.AIR])
def test_water_and_torches_are_seen_through(cover: Block) -> None:
    engine = stage()
    _put(engine, 0, GROUND + 1, 5)
    bare = _ores(engine)
    fill(engine, (-1, GROUND, 2), (1, GROUND + 3, 4), cover)
    assert _ores(engine) == bare
    assert list(bare) == [(0, GROUND + 1, 5)]


def test_an_ore_buried_on_all_sides_is_not_seen() -> None:
    engine = stage()
    fill(engine, (-1, GROUND, 4), (1, GROUND + 2, 6), Block.STONE)
    _put(engine, 0, GROUND + 1, 5)
    assert _ores(engine) == {}


def test_an_ore_behind_two_blocks_that_touch_at_an_edge_is_not_seen() -> None:
    engine = stage(yaw_deg=315)  # looks to +x, +z
    fill(engine, (1, GROUND, 0), (1, GROUND + 3, 0), Block.STONE)
    fill(engine, (0, GROUND, 1), (0, GROUND + 3, 1), Block.STONE)
    _put(engine, 4, GROUND + 1, 4)
    assert _ores(engine) == {}
    engine.world.set(1, GROUND + 1, 0, int(Block.AIR))
    assert list(_ores(engine)) == [(4, GROUND + 1, 4)]


def test_an_ore_round_a_corner_appears_when_its_face_does() -> None:
    engine = stage(-0.5, 0.5, radius=12)
    fill(engine, (0, GROUND, 2), (6, GROUND + 3, 2), Block.STONE)
    _put(engine, 3, GROUND + 1, 6)
    engine.player.yaw = round(315 / 0.15)
    sizes = []
    for _ in range(30):
        sizes.append(_ores(engine).get((3, GROUND + 1, 6), 0))
        engine.player.x -= 0.1
    hidden = [size == 0 for size in sizes]
    assert hidden[0]
    assert not hidden[-1]
    assert hidden == sorted(hidden, reverse=True)  # once in sight it stays so


def test_an_ore_out_of_the_frame_is_not_seen_and_a_cut_one_counts_what_is_inside() -> None:
    engine = stage(radius=12)
    _put(engine, 0, GROUND + 1, 6)
    whole = _ores(engine)[0, GROUND + 1, 6]
    edge = math.degrees(math.atan(TAN_HALF_FOV * 4 / 3))
    assert edge == pytest.approx(43.03, abs=0.01)
    engine.player.yaw = round(edge / 0.15)
    assert _ores(engine)[0, GROUND + 1, 6] == pytest.approx(whole, rel=0.5)
    assert 0.3 * whole < _ores(engine)[0, GROUND + 1, 6]
    engine.player.yaw = round((edge + 6) / 0.15)
    assert _ores(engine) == {}
    engine.player.yaw = 1200
    assert _ores(engine) == {}


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_scene_turned_by_quarters_looks_the_same(turn: int) -> None:
    def rotated(x: int, z: int, quarters: int) -> tuple[int, int]:
        for _ in range(quarters):
            x, z = -z, x  # a quarter to the right
        return x, z

    def build(quarters: int) -> dict[tuple[int, int, int], int]:
        engine = stage(yaw_deg=90 * quarters)
        scene = {(-2, 0, 5): IRON, (3, 2, 9): IRON, (0, 1, 12): Block.COAL_ORE, (1, 0, 4): Block.STONE}
        for (x, y, z), block in scene.items():
            tx, tz = rotated(x, z, quarters)
            _put(engine, tx, GROUND + y, tz, block)
        return _ores(engine)

    straight, turned = build(0), build(turn // 90)
    assert len(straight) == 3
    for (x, y, z), px in straight.items():
        tx, tz = rotated(x, z, turn // 90)
        assert turned[tx, y, tz] == pytest.approx(px, rel=0.02, abs=2)


def test_a_narrow_gap_before_a_near_ore_is_measured_pixel_by_pixel() -> None:
    engine = stage(0.5, 0.97)
    _put(engine, 0, GROUND + 1, 4)
    fill(engine, (-3, GROUND, 3), (-1, GROUND + 3, 3), Block.STONE)
    fill(engine, (1, GROUND, 3), (3, GROUND + 3, 3), Block.STONE)
    fill(engine, (0, GROUND, 3), (0, GROUND + 3, 3), Block.STONE)
    engine.world.set(0, GROUND + 1, 3, int(Block.AIR))
    engine.world.set(0, GROUND + 1, 2, int(Block.STONE))
    engine.player.x = 1.02  # a sliver of the ore shows past the block at z = 2
    player = engine.player
    picture = picture_of_faces(engine.world, player.eye, player.yaw, player.pitch, 8.0).reshape(-1, 4)
    wanted = int((picture == [0, GROUND + 1, 4, 4]).all(axis=1).sum())
    assert _ores(engine).get((0, GROUND + 1, 4), 0) == pytest.approx(wanted, rel=0.03, abs=15 if wanted < 16 else 2)


def test_an_ore_that_the_player_placed_is_not_in_view_as_a_natural_one() -> None:
    engine = stage(inventory={int(IRON): 1})
    fill(engine, (0, GROUND + 1, 3), (0, GROUND + 1, 3), Block.STONE)
    play(engine, "place")
    assert engine.world.get(0, GROUND + 1, 2) == IRON
    assert _ores(engine) == {}


def test_ores_of_all_four_kinds_are_told_apart() -> None:
    engine = stage()
    for n, ore in enumerate(ORES):
        _put(engine, 2 * n - 3, GROUND + 1, 6, ore)
    kinds = {ore.position: ore.kind for ore in ores_in_view(engine.world, engine.player.eye, 0, 0)}
    assert kinds == {(2 * n - 3, GROUND + 1, 6): int(ore) for n, ore in enumerate(ORES)}


def test_faces_seen_are_remembered_far_away_and_back() -> None:
    engine = Engine(2, spawn_on_ground(2, 0.5, 0.5))
    seen = SeenFaces()
    world = engine.world
    world.ensure(0, 0, 5)
    first = len(seen.look(world, engine.player.eye, 0, 100))
    assert first > 100
    assert seen.look(world, engine.player.eye, 0, 100) == []
    for cx in [*range(0, 40, 2), *range(40, -1, -2)]:
        world.ensure(cx, 0, 5)
        seen.look(world, (cx * 16 + 8.0, 90.0, 8.0), 0, 300)
    world.ensure(0, 0, 5)
    assert seen.look(world, engine.player.eye, 0, 100) == []
