"""What the referee calls an ore in clear sight is what the picture shows: its sizes beside an id-buffer render."""

from collections.abc import Iterator

import pytest

from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.blocks import Block
from oresight.craftenv.render.renderer import Renderer
from oresight.craftenv.scenarios.suites import get_scenario, scenario_names
from oresight.craftenv.sim.angles import counts
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.sight import FACE_PX_MIN, PICTURE_HEIGHT, PICTURE_WIDTH, ores_in_view
from oresight.craftenv.sim.world import Position

pytestmark = pytest.mark.gl

# Where a tenth lies between the two, either is right.
TOLERANCE = 0.1
# Pixels on a face's edge fall to one side or the other by rounding; this many at most, on faces of some dozen pixels.
EDGE_PX = 2


@pytest.fixture(scope="module")
def renderer() -> Iterator[Renderer]:
    with Renderer(PICTURE_WIDTH, PICTURE_HEIGHT) as shared:
        yield shared


def _drawn(renderer: Renderer, engine: Engine, position: Position) -> int:
    """Pixels of the largest face of a block in the id-buffer render."""
    player = engine.player
    picture = renderer.draw_faces(engine.world, player.eye, player.yaw, player.pitch)
    return max(picture.pixels_of(position, face) for face in range(6))


@pytest.mark.parametrize("name", scenario_names("craft-mine"))
def test_an_ore_has_the_size_in_pixels_that_is_drawn(name: str, renderer: Renderer) -> None:
    scenario = get_scenario(name)
    engine = Engine(scenario.world_seed, scenario.spawn, counts(scenario.yaw_deg), scenario.inventory_items)
    compared = 0
    # Where the proof's eyes were: near ores and far ones, in the open and in caves.
    for action in scenario.proof:
        engine.run(BY_NAME[action])
        engine.world.ensure_around(engine.player.x, engine.player.z, 5)
        for ore in ores_in_view(engine.world, engine.player.eye, engine.player.yaw, engine.player.pitch):
            drawn = _drawn(renderer, engine, ore.position)
            assert abs(ore.face_px - drawn) <= max(TOLERANCE * drawn, EDGE_PX), (ore, drawn)
            compared += 1
    assert compared, "no ore was in view on the way; the test compares nothing"


def test_an_ore_comes_into_the_facts_with_the_picture_that_first_shows_it(renderer: Renderer) -> None:
    """Turn by turn until an ore enters the picture: the referee and the render agree at each one."""
    engine = Engine(get_scenario("outcrop-0").world_seed, (0.5, 200.0, 0.5))
    engine.world.ensure(0, 0, 5)
    ore = (3, 90, 20)
    engine.world.set(*ore, int(Block.IRON_ORE))
    engine.player.y = 89.0
    seen = []
    for _ in range(60):
        engine.player.yaw = (engine.player.yaw + 40) % 2400
        player = engine.player
        listed = {found.position for found in ores_in_view(engine.world, player.eye, player.yaw, player.pitch)}
        drawn = _drawn(renderer, engine, ore)
        if drawn >= FACE_PX_MIN * (1 + TOLERANCE):
            assert ore in listed
        if drawn < FACE_PX_MIN * (1 - TOLERANCE):
            assert ore not in listed
        seen.append(ore in listed)
    assert True in seen and False in seen
