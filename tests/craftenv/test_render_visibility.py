"""What is drawn against rays walked cell by cell: nothing in view is left out, nothing hidden shows."""

import numpy as np
import pytest

from oresight.craftenv.blocks import Block
from oresight.craftenv.config import DRAW_RADIUS_CHUNKS
from oresight.craftenv.render.renderer import OPEN_AIR, FacePicture, Renderer
from support.render_stage import StageWorld, cast, ground_eye, hills, noise, pixel_ray

pytestmark = pytest.mark.gl

WIDTH, HEIGHT = 64, 48
# Pixels whose middle lies so near an edge that rounding decides; one upright edge can hold a dozen.
ON_EDGES = 12
Eye = tuple[float, float, float]


def disagreements(world: StageWorld, eye: Eye, yaw: int, pitch: int, faces: FacePicture) -> int:
    """Count the pixels whose face is not the one that a ray through the pixel's middle meets."""
    wrong = 0
    for row in range(HEIGHT):
        for column in range(WIDTH):
            met = cast(world, eye, pixel_ray(yaw, pitch, column, row, WIDTH, HEIGHT), OPEN_AIR.fog_end_blocks)
            drawn = int(faces.face[row, column])
            if met is None:
                # Fog hides what is farther; some of it is drawn all the same.
                continue
            (x, _, z), _ = met
            if max(abs((x >> 4) - (int(eye[0]) >> 4)), abs((z >> 4) - (int(eye[2]) >> 4))) > DRAW_RADIUS_CHUNKS:
                continue
            wrong += (tuple(faces.block[row, column].tolist()), drawn) != met
    return wrong


@pytest.mark.parametrize(
    ("seed", "place", "up", "yaw", "pitch"),
    [
        (1, (120, 120), 0.0, 13, 0),
        (1, (127, 128), 0.0, 700, 100),
        (2, (100, 140), 0.0, 1300, -50),
        (2, (140, 100), 12.0, 1900, 150),
        (3, (128, 128), 30.0, 300, 600),
        (3, (111, 95), 80.0, 2200, 300),  # above the world, looking into it
    ],
)
def test_every_pixel_shows_the_face_that_its_ray_meets(
    seed: int, place: tuple[int, int], up: float, yaw: int, pitch: int
) -> None:
    world = hills(seed)
    x, y, z = ground_eye(world, *place)
    eye = (x + 0.21, y + up, z - 0.13)
    with Renderer(WIDTH, HEIGHT) as renderer:
        faces = renderer.draw_faces(world, eye, yaw, pitch)
    assert disagreements(world, eye, yaw, pitch, faces) <= ON_EDGES


@pytest.mark.parametrize("seed", [1, 2])
def test_every_pixel_is_right_inside_caves(seed: int) -> None:
    world = hills(seed)
    random = np.random.default_rng(seed)
    hollow = np.argwhere(world.blocks[110:146, 110:146, 6:20] == Block.AIR)
    for x, z, y in hollow[random.integers(0, len(hollow), 3)].tolist():
        eye = (110 + x + random.random(), 6 + y + random.random(), 110 + z + random.random())
        yaw, pitch = int(random.integers(0, 2400)), int(random.integers(-600, 601))
        with Renderer(WIDTH, HEIGHT) as renderer:
            faces = renderer.draw_faces(world, eye, yaw, pitch)
        assert disagreements(world, eye, yaw, pitch, faces) <= ON_EDGES


def test_every_pixel_is_right_among_strewn_blocks() -> None:
    world = noise(5, 0.03)
    eye = (128.4, 50.3, 127.9)
    world.blocks[128, 127, 50] = Block.AIR
    with Renderer(WIDTH, HEIGHT) as renderer:
        faces = renderer.draw_faces(world, eye, 1111, -77)
    assert disagreements(world, eye, 1111, -77, faces) <= ON_EDGES


def test_a_face_three_blocks_ahead_has_the_size_that_perspective_gives_it() -> None:
    world = StageWorld()
    world.blocks[128, 131, 50] = Block.IRON_ORE
    with Renderer(640, 480) as renderer:
        faces = renderer.draw_faces(world, (128.5, 50.5, 128.0), 0, 0)
    side = 480 / (2 * 0.7002075382097097) / 3.0
    assert faces.pixels_of((128, 50, 131), 4) == pytest.approx(side * side, rel=0.02)
    assert faces.block[240, 320].tolist() == [128, 50, 131]


def test_a_block_to_the_right_is_drawn_on_the_right_and_one_above_is_drawn_above() -> None:
    world = StageWorld()
    world.blocks[126, 133, 50] = Block.STONE  # looking to +z, right is -x
    world.blocks[128, 133, 53] = Block.DIRT
    with Renderer(640, 480) as renderer:
        faces = renderer.draw_faces(world, (128.5, 50.5, 128.5), 0, 0)
    stone = np.argwhere(np.all(faces.block == (126, 50, 133), axis=-1) & (faces.face >= 0))
    dirt = np.argwhere(np.all(faces.block == (128, 53, 133), axis=-1) & (faces.face >= 0))
    assert stone[:, 1].min() > 320
    assert dirt[:, 0].max() < 240


def test_a_sealed_cave_is_not_drawn_from_outside() -> None:
    world = StageWorld()
    world.blocks[:, :, :40] = Block.STONE
    with Renderer(WIDTH, HEIGHT) as renderer:
        renderer.draw_faces(world, (128.5, 42.0, 128.5), 0, 200)
        before = renderer.quads_drawn
        for x in range(120, 140):
            for z in range(130, 140):
                world.set(x, 34, z, Block.AIR)
        renderer.draw_faces(world, (128.5, 42.0, 128.5), 0, 200)
        assert renderer.quads_drawn == before
