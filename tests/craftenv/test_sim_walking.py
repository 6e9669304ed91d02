"""Walking distance: hand-built stages with known answers, and real terrain against a slow twin."""

import pytest

from oresight.craftenv.blocks import Block
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.sim.walking import WALK_RADIUS, Walk, Walker, place_below, standing_place
from support.sim_stage import FLOOR, GROUND, draw, fill, play, stage
from support.sim_twins import walk_steps

Cell = tuple[int, int, int]


def _way(engine: Engine, ore: Cell, start: Cell | None = None) -> Walk:
    engine.world.ensure_around(engine.player.x, engine.player.z, WALK_RADIUS)
    place = start or standing_place(engine.world, engine.player)
    assert place is not None
    return Walker().ways(engine.world, place, (ore,))[ore]


def _corridor(profile: list[int], ceiling: int = 11) -> Engine:
    """A corridor one wide along +z over nothing, its floor at the heights given above the stage's lowest floor."""
    engine = Engine(7, (0.5, 90.0, 0.5))
    engine.world.ensure(0, 0, 5)
    for z, height in enumerate(profile):
        engine.world.set(0, FLOOR + height, z, int(Block.STONE))
        if ceiling < 11:
            engine.world.set(0, FLOOR + ceiling, z, int(Block.STONE))
    engine.player.y = FLOOR + profile[0] + 1.0
    engine.player.on_ground = True
    return engine


def test_a_level_corridor_takes_one_step_a_block() -> None:
    profile = [0] * 10
    engine = _corridor(profile)
    ore = (0, GROUND + 1, 13)  # its near face is 4.5 away from the middle of z = 8
    assert _way(engine, ore).steps == 8
    assert _way(engine, (0, GROUND + 1, 4)).steps == 0
    assert _way(engine, (0, GROUND + 1, 5)).steps == 0
    assert _way(engine, (0, GROUND + 1, 6)).steps == 1


@pytest.mark.parametrize(
    ("profile", "steps"),
    [
        ([0, 0, 1, 2, 3], 4),  # up one at a time
        ([0, 0, 2, 2, 2], None),  # two up is no way
        ([3, 3, 0, 0, 0], 4),  # three down is
        ([4, 4, 0, 0, 0], None),  # four down is none
        ([0, 1, 0, 1, 0], 4),
    ],
)
def test_one_block_up_and_three_down_is_a_step(profile: list[int], steps: int | None) -> None:
    engine = _corridor(profile)
    top = FLOOR + profile[-1]
    # A lone ore beyond the end, in reach of the eye over the last floor and no other.
    ore = (0, top + 2, len(profile) + 4)
    assert _way(engine, ore).steps == steps


def test_a_step_up_needs_room_for_the_head_on_both_sides() -> None:
    profile = [0, 0, 1, 1]
    ore = (0, FLOOR + 3, 8)
    assert _way(_corridor(profile), ore).steps == 3
    assert _way(_corridor(profile, ceiling=4), ore).steps == 3  # three cells of room
    engine = _corridor(profile)
    engine.world.set(0, GROUND + 2, 1, int(Block.STONE))  # over the lower side
    assert _way(engine, ore).steps is None
    engine = _corridor(profile)
    engine.world.set(0, GROUND + 2, 2, int(Block.STONE))  # over the higher side
    assert _way(engine, ore).steps is None


def test_a_way_two_high_is_walked_and_one_high_is_none() -> None:
    ore = (0, GROUND + 1, 11)
    profile = [0] * 7
    assert _way(_corridor(profile, ceiling=3), ore).steps == 6
    assert _way(_corridor(profile, ceiling=2), ore, (0, GROUND, 0)).steps is None


def test_water_is_swum_through_up_and_down() -> None:
    engine = stage(0.5, 0.5, radius=7)
    fill(engine, (-7, GROUND, -7), (7, GROUND + 4, 7), Block.STONE)
    fill(engine, (0, GROUND, 0), (0, GROUND + 4, 5), Block.WATER)
    engine.player.y = float(GROUND)
    # Up four from the bottom, then one step up and out to either side of the top of the water.
    ore = (0, GROUND + 6, -6)
    way = _way(engine, ore, (0, GROUND, 0))
    assert way.steps == walk_steps(engine.world, (0, GROUND, 0), [ore])[ore]
    assert way.steps is not None
    assert way.steps >= 4
    assert way.waypoint == (0, GROUND + 4, 0)


def test_the_waypoint_ends_the_first_straight_stretch() -> None:
    engine = Engine(7, (0.5, 90.0, 0.5))
    engine.world.ensure(0, 0, 5)
    fill(engine, (0, FLOOR, 0), (0, FLOOR, 6), Block.STONE)
    fill(engine, (0, FLOOR, 6), (9, FLOOR, 6), Block.STONE)
    ore = (14, GROUND + 1, 6)
    way = _way(engine, ore, (0, GROUND, 0))
    assert (way.steps, way.waypoint) == (15, (0, GROUND, 6))
    way = _way(engine, ore, (0, GROUND, 6))
    assert (way.steps, way.waypoint) == (9, (9, GROUND, 6))
    way = _way(engine, ore, (9, GROUND, 6))
    assert (way.steps, way.waypoint) == (0, None)


def test_a_way_longer_than_the_range_is_none() -> None:
    engine = Engine(7, (0.5, 90.0, 0.5))
    engine.world.ensure(0, 0, 5)
    fill(engine, (0, FLOOR, 0), (0, FLOOR, 70), Block.STONE)
    assert _way(engine, (0, GROUND + 1, 69), (0, GROUND, 0)).steps == 64
    assert _way(engine, (0, GROUND + 1, 70), (0, GROUND, 0)).steps is None


def test_the_answer_is_kept_until_place_or_world_change() -> None:
    engine = _corridor([0] * 10)
    walker = Walker()
    ore = (0, GROUND + 1, 13)
    place = (0, GROUND, 0)
    first = walker.ways(engine.world, place, (ore,))
    assert walker.ways(engine.world, place, (ore,)) is first
    engine.world.set(0, FLOOR, 4, int(Block.AIR))
    assert walker.ways(engine.world, place, (ore,))[ore].steps is None
    engine.world.set(0, FLOOR, 4, int(Block.STONE))
    assert walker.ways(engine.world, place, (ore,))[ore].steps == 8


def test_the_standing_place_at_an_edge_is_the_cell_that_bears() -> None:
    engine = _corridor([0] * 6)
    engine.player.x = 1.2  # over the edge but still borne by the block at x = 0
    assert standing_place(engine.world, engine.player) == (0, GROUND, 0)
    engine.player.on_ground = False
    assert standing_place(engine.world, engine.player) is None
    engine.player.x = 0.5
    engine.player.y += 3
    assert place_below(engine.world, engine.player) == (0, GROUND, 0)


def test_a_pillar_keeps_the_place_below_in_mind_while_in_the_air() -> None:
    engine = _corridor([0] * 6)
    assert standing_place(engine.world, engine.player) == (0, GROUND, 0)
    play(engine, "jump")
    assert standing_place(engine.world, engine.player) is None


def test_a_text_map_of_a_winding_way() -> None:
    engine = Engine(7, (0.5, 90.0, 0.5))
    engine.world.ensure(0, 0, 5)
    floor = """
        ####
        ...#
        ####
        #...
        ####
    """
    draw(engine, [floor], 0, FLOOR, 0)
    ore = (7, GROUND + 1, 4)
    way = _way(engine, ore, (0, GROUND, 0))
    assert way.steps == walk_steps(engine.world, (0, GROUND, 0), [ore])[ore]
    assert way.waypoint == (3, GROUND, 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_walking_distances_on_real_terrain_are_those_of_the_slow_twin(seed: int) -> None:
    x, y, z = spawn_on_ground(seed, 4.5, 4.5)
    engine = Engine(seed, (x, y, z))
    world = engine.world
    world.ensure_around(x, z, WALK_RADIUS)
    ores = []
    for cx in range(-3, 4):
        for cz in range(-3, 4):
            count = int(world.ore_counts[cx & 15, cz & 15])
            for lx, oy, lz in world.ores[cx & 15, cz & 15, :count].tolist()[::80]:
                ores.append((cx * 16 + lx, oy, cz * 16 + lz))
    start = (int(x // 1), int(y), int(z // 1))
    got = {ore: way.steps for ore, way in Walker().ways(world, start, tuple(ores)).items()}
    assert got == walk_steps(world, start, ores)
    assert any(steps is not None for steps in got.values())
