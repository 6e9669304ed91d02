"""Walking, jumping, falling and swimming, in exact values."""

import itertools

import numpy as np
import pytest

from oresight.craftenv.actions import ACTIONS, BY_NAME
from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import GRAVITY, JUMP_SPEED
from oresight.craftenv.sim.angles import direction, sine, sine_table
from oresight.craftenv.sim.engine import Controls, Engine, Happenings
from oresight.craftenv.sim.geometry import GAP
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.sim.terrain import surface_height
from support.sim_stage import BUSY, FLOOR, GROUND, draw, fill, hashed_actions, overlap, play, stage

# The middle of a chunk, its borders on either side of zero, and a corner where four chunks meet far out.
PLACES = [(8, 8), (0, 0), (-1, -16), (-17, 31), (16, -33), (-160, 15)]
# (step x, step z) of the side of the player on which a stage's wall stands, with the yaw that faces it.
SIDES = {(0, 1): 0.0, (-1, 0): 90.0, (0, -1): 180.0, (1, 0): 270.0}


def _stage_with_wall(place: tuple[int, int], side: tuple[int, int], away: float, height: int, **more: object) -> Engine:
    """A player whose box is `away` blocks from a wide wall on one side; the wall is deep enough to walk on."""
    px, pz = place
    dx, dz = side
    # The wall's near face lies on the border of the player's block; walls below and left begin one block earlier.
    centre_x = px + 0.5 if dx == 0 else (px + 1 - 0.3 - away - GAP if dx > 0 else px + 0.3 + away + GAP)
    centre_z = pz + 0.5 if dz == 0 else (pz + 1 - 0.3 - away - GAP if dz > 0 else pz + 0.3 + away + GAP)
    engine = stage(centre_x, centre_z, **more)  # type: ignore[arg-type]
    low = [px - 7, GROUND, pz - 7]
    high = [px + 7, GROUND + height - 1, pz + 7]
    axis = 0 if dx else 2
    if dx + dz > 0:
        low[axis] = (px if dx else pz) + 1
    else:
        high[axis] = (px if dx else pz) - 1
    fill(engine, (low[0], low[1], low[2]), (high[0], high[1], high[2]), Block.STONE)
    assert overlap(engine) is None
    return engine


def test_a_jump_rises_one_and_a_quarter_blocks_and_freezes_there_without_speed() -> None:
    engine = stage()
    happened = play(engine, "jump")
    heights = [feet[1] - GROUND for feet in happened.feet]
    assert heights == [JUMP_SPEED * n - GRAVITY / 2 * n * n for n in range(1, 9)]
    assert heights[-1] == 1.25
    assert engine.player.speed_y == 0.0
    assert happened.jumped
    assert not engine.player.on_ground


def test_after_a_jump_the_player_lands_where_it_jumped_off() -> None:
    engine = stage()
    happened = play(engine, "jump", "wait")
    assert engine.player.feet == (0.5, GROUND, 0.5)
    assert [feet[1] - GROUND for feet in happened.feet[:8]] == [
        1.25 - GRAVITY / 2 * n * n if n < 8 else 0.0 for n in range(1, 9)
    ]
    assert engine.player.on_ground


def test_a_jump_key_held_for_a_minute_jumps_once() -> None:
    engine = stage()
    happened = Happenings()
    for _ in range(1200):
        engine.tick(Controls(jump=True), happened)
    assert sum(a[1] == GROUND and b[1] > GROUND for a, b in itertools.pairwise(happened.feet)) == 0
    assert max(feet[1] for feet in happened.feet) == GROUND + 1.25
    engine.tick(Controls(), happened)
    engine.tick(Controls(jump=True), happened)
    assert happened.feet[-1][1] > GROUND


def test_two_jump_actions_in_a_row_do_not_jump_off_the_air() -> None:
    engine = stage()
    play(engine, "jump")
    assert not play(engine, "jump").jumped
    assert engine.player.y == GROUND
    assert play(engine, "jump").jumped


def test_a_second_walk_takes_the_player_4317_thousandths_of_a_block() -> None:
    for yaw, (dx, dz) in {0.0: (0, 1), 90.0: (-1, 0), 180.0: (0, -1), 270.0: (1, 0)}.items():
        engine = stage(yaw_deg=yaw)
        play(engine, "move_forward")
        assert engine.player.x == pytest.approx(0.5 + 4.317 * dx, abs=1e-12)
        assert engine.player.z == pytest.approx(0.5 + 4.317 * dz, abs=1e-12)
        assert engine.player.y == GROUND
        play(engine, "move_backward")
        assert (engine.player.x, engine.player.z) == pytest.approx((0.5, 0.5), abs=1e-12)


def test_right_of_a_view_to_positive_z_is_negative_x() -> None:
    engine = stage()
    play(engine, "move_right")
    assert engine.player.x == pytest.approx(0.5 - 4.317, abs=1e-12)
    play(engine, "move_left")
    assert engine.player.x == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("side", SIDES)
def test_a_wall_stops_the_box_a_hairs_breadth_before_it(place: tuple[int, int], side: tuple[int, int]) -> None:
    engine = _stage_with_wall(place, side, 0.5, 2, yaw_deg=SIDES[side])
    x, z = engine.player.x, engine.player.z
    play(engine, "move_forward")
    assert (engine.player.x - x, engine.player.z - z) == pytest.approx((0.5 * side[0], 0.5 * side[1]), abs=1e-9)
    before = engine.player.feet
    play(engine, "move_forward")
    assert engine.player.feet == pytest.approx(before, abs=2 * GAP)
    assert overlap(engine) is None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("side", SIDES)
def test_jump_then_forward_climbs_one_block_and_never_two(place: tuple[int, int], side: tuple[int, int]) -> None:
    for turn, away, head_room in itertools.product((-45, -30, 0, 30, 45), (0.0, 0.25, 0.45, 0.6), (3, None)):
        for height in (1, 2):
            engine = _stage_with_wall(place, side, away, height, yaw_deg=(SIDES[side] + turn) % 360)
            px, pz = place
            if head_room is not None:
                fill(engine, (px - 7, GROUND + head_room, pz - 7), (px + 7, GROUND + head_room, pz + 7), Block.STONE)
            play(engine, "jump", "move_forward")
            wanted = GROUND + 1 if height == 1 else GROUND
            assert engine.player.y == wanted, (place, side, turn, away, head_room, height)
            assert overlap(engine) is None


@pytest.mark.parametrize("side", SIDES)
def test_a_step_under_a_ceiling_two_blocks_high_is_not_climbed(side: tuple[int, int]) -> None:
    for away in (0.0, 0.3, 0.6):
        engine = _stage_with_wall((0, 0), side, away, 1, yaw_deg=SIDES[side])
        fill(engine, (-7, GROUND + 2, -7), (7, GROUND + 2, 7), Block.STONE)
        play(engine, "jump", "move_forward")
        assert engine.player.y == GROUND
        assert overlap(engine) is None


def test_a_jump_under_a_low_ceiling_stops_at_it() -> None:
    engine = stage()
    fill(engine, (0, GROUND + 2, 0), (0, GROUND + 2, 0), Block.STONE)
    play(engine, "jump")
    assert engine.player.y == pytest.approx(GROUND + 0.2, abs=2 * GAP)
    play(engine, "wait")
    assert engine.player.y == GROUND


def test_stairs_are_climbed_one_jump_and_step_at_a_time() -> None:
    engine = stage()
    for n in range(1, 5):
        fill(engine, (-1, GROUND, n), (1, GROUND + n - 1, n), Block.STONE)
    fill(engine, (-1, GROUND + 4, 5), (1, GROUND + 4, 5), Block.STONE)
    heights = []
    for _ in range(4):
        play(engine, "jump", "move_forward")
        heights.append(engine.player.y - GROUND)
    assert heights == [1, 2, 3, 4]


@pytest.mark.parametrize("yaw_deg", [0, 45, 135, 225, 315])
def test_walking_off_an_edge_falls_beside_it_without_touching(yaw_deg: int) -> None:
    engine = stage(yaw_deg=yaw_deg, radius=2)
    for _ in range(4):
        play(engine, "move_forward")
        assert overlap(engine) is None
    assert engine.player.y < FLOOR


def _surface(engine: Engine, x: int, z: int) -> int:
    """The top of the highest solid block of a column, found block by block."""
    return 1 + max(y for y in range(96) if BLOCKS[Block(engine.world.get(x, y, z))].solid)


@pytest.mark.parametrize("up", [60, 200])
@pytest.mark.parametrize("place", [(8, 8), (0, 0), (-1, -1), (15, 16), (-16, 47)])
def test_a_fall_from_a_height_ends_exactly_on_the_surface(up: int, place: tuple[int, int]) -> None:
    x, z = place
    top = surface_height(11, x, z)
    engine = Engine(11, (x + 0.5, top + 1.0 + up, z + 0.5))
    below = _surface(engine, x, z)
    ticks = 0
    while not engine.player.on_ground:
        assert engine.player.y > 0
        play(engine, "slot_1")
        assert overlap(engine) is None
        ticks += 1
        assert ticks < 2000
    assert engine.player.y == below
    assert engine.player.speed_y == 0.0


def test_a_fall_onto_bare_bedrock_ends_on_it_and_never_below_zero() -> None:
    engine = Engine(5, (0.5, 201.0, 0.5))
    fill(engine, (-2, 1, -2), (2, 95, 2), Block.AIR)
    play(engine, *["wait"] * 12)
    assert engine.player.feet == (0.5, 1.0, 0.5)
    fill(engine, (-2, 0, -2), (2, 0, 2), Block.AIR)
    play(engine, "wait")
    assert engine.player.feet == (0.5, 0.0, 0.5)
    assert engine.player.on_ground


def test_a_fall_into_water_of_any_depth_ends_on_its_floor() -> None:
    for depth in (1, 2, 3, 5, 8):
        engine = Engine(5, (0.5, 220.0, 0.5))
        fill(engine, (-2, FLOOR, -2), (2, FLOOR, 2), Block.STONE)
        fill(engine, (-2, GROUND, -2), (2, GROUND + depth - 1, 2), Block.WATER)
        play(engine, *["wait"] * 20)
        assert engine.player.feet == (0.5, GROUND, 0.5)
        assert engine.player.on_ground


def test_a_fall_across_a_chunk_border_meets_ground_that_was_not_loaded_before() -> None:
    for seed in (1, 2, 3):
        engine = Engine(seed, (15.5, 296.0, 15.5), round(315 / 0.15))  # looks to +x, +z
        while not (engine.player.on_ground or engine.player.in_water):
            play(engine, "move_forward")
            assert overlap(engine) is None
        assert engine.player.x > 30
        assert engine.player.y > 1


def test_the_state_at_the_start_knows_ground_and_water() -> None:
    assert not Engine(7, (0.5, 90.0, 0.5)).player.on_ground
    x, y, z = spawn_on_ground(7, 0.5, 0.5)
    assert Engine(7, (x, y, z)).player.on_ground or Engine(7, (x, y, z)).player.in_water


def _pool(depth: int = 6, *, yaw_deg: float = 0.0) -> Engine:
    """A player afloat in a basin of 7 x 7 whose rim lies level with the water."""
    engine = stage(radius=7, yaw_deg=yaw_deg)
    fill(engine, (-7, GROUND, -7), (7, GROUND + depth - 1, 7), Block.STONE)
    fill(engine, (-3, GROUND, -3), (3, GROUND + depth - 1, 3), Block.WATER)
    engine.player.on_ground = False
    return engine


def test_in_water_the_player_sinks_slowly_to_the_floor_and_walks_at_half_speed() -> None:
    engine = _pool()
    engine.player.y = GROUND + 4.0
    happened = play(engine, "wait")
    steps = [a[1] - b[1] for a, b in itertools.pairwise(happened.feet)]
    assert all(0 <= step <= 1 / 16 for step in steps)
    play(engine, *["wait"] * 5)
    assert engine.player.y == GROUND
    engine.player.z = -2.5
    play(engine, "move_forward")
    assert engine.player.z == pytest.approx(-2.5 + 4.317 / 2, abs=1e-12)


def test_jumping_swims_up_to_the_surface_and_stays_there() -> None:
    engine = _pool()
    engine.player.y = float(GROUND)
    play(engine, *["jump"] * 8)
    assert GROUND + 5 <= engine.player.y <= GROUND + 6.5
    for _ in range(20):
        play(engine, "jump")
        assert engine.player.y > GROUND + 5


@pytest.mark.parametrize("yaw_deg", range(0, 360, 30))
def test_swimming_against_a_bank_gets_out_of_the_water(yaw_deg: int) -> None:
    for depth in (1, 2, 3, 6):
        engine = _pool(depth, yaw_deg=yaw_deg)
        engine.player.y = float(GROUND)
        out = []
        for _ in range(8):
            happened = play(engine, "move_forward")
            out += [
                feet
                for feet in happened.feet
                if feet[1] == GROUND + depth and max(abs(feet[0] - 0.5), abs(feet[2] - 0.5)) > 3.3
            ]
            if out:
                break
        assert out, (yaw_deg, depth)


def test_turning_left_and_right_counts_two_hundred_and_tilting_one_hundred() -> None:
    engine = stage()
    play(engine, "look_right")
    assert (engine.player.yaw, engine.player.pitch) == (200, 0)
    play(engine, "look_left", "look_left")
    assert engine.player.yaw == 2200
    play(engine, "look_down")
    assert engine.player.pitch == 100
    play(engine, "look_up", "look_up")
    assert engine.player.pitch == -100


def test_the_pitch_stops_at_straight_up_and_straight_down() -> None:
    engine = stage()
    play(engine, *["look_up"] * 9)
    assert engine.player.pitch == -600
    assert direction(0, -600) == (0.0, 1.0, 0.0)
    play(engine, *["look_down"] * 20)
    assert engine.player.pitch == 600
    assert direction(0, 600) == (0.0, -1.0, 0.0)


def test_twelve_turns_are_the_same_view_and_the_same_state() -> None:
    engine = stage()
    start = engine.state_hash()
    for _ in range(12):
        assert engine.state_hash() != start or engine.player.yaw == 0
        play(engine, "look_right")
    assert engine.state_hash() == start
    play(engine, *["look_left"] * 24)
    assert engine.state_hash() == start


def test_the_sine_table_agrees_with_the_maths_library_and_is_symmetric() -> None:
    table = sine_table()
    angles = np.arange(2400) * (2 * np.pi / 2400)
    assert np.abs(table - np.sin(angles)).max() < 2e-15
    assert (table[0], table[600], table[1200], table[1800]) == (0.0, 1.0, 0.0, -1.0)
    assert (table[1:600] == table[1199:600:-1]).all()
    assert (table[1:1200] == -table[2399:1200:-1]).all()
    assert sine(-1) == -sine(1)


def test_waiting_on_the_ground_changes_nothing() -> None:
    engine = stage()
    before = engine.state_hash()
    play(engine, "wait", "wait")
    assert engine.state_hash() == before


def test_digging_away_the_ground_on_the_last_tick_leaves_nothing_to_jump_off() -> None:
    engine = stage()
    fill(engine, (-1, FLOOR - 3, -1), (1, FLOOR - 1, 1), Block.DIRT)
    engine.player.pitch = 600
    engine.world.set(0, FLOOR - 1, 0, int(Block.COBBLESTONE))  # two blocks of 20 ticks each: the second goes at tick 40
    happened = play(engine, "mine")
    assert [change.position[1] for change in happened.changes] == [FLOOR, FLOOR - 1]
    assert engine.player.y == FLOOR
    assert not engine.player.on_ground
    assert not happened.standing[-1]
    assert not play(engine, "jump").jumped


def _rampage(seed: int, decisions: int) -> None:
    inventory = {int(Block.COBBLESTONE): 64, int(Block.TORCH): 64, int(Block.PLANKS): 64}
    engine = Engine(seed, spawn_on_ground(seed, 0.5, 0.5), 0, inventory)

    def check() -> None:
        assert engine.player.y >= 0.0
        assert overlap(engine) is None, (engine.player, overlap(engine))

    for action in hashed_actions(seed, decisions, BUSY if seed % 2 else ACTIONS):
        engine.run(action, check)


@pytest.mark.parametrize("seed", [1, 2, 3, -4])
def test_no_decision_ever_puts_the_player_into_a_block(seed: int) -> None:
    _rampage(seed, 1500)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
def test_ten_thousand_decisions_never_put_the_player_into_a_block(seed: int) -> None:
    _rampage(100 + seed, 10_000)


def test_the_ticks_of_every_action_are_those_of_the_table() -> None:
    engine = stage()
    for name, action in BY_NAME.items():
        before = engine.ticks
        assert len(engine.run(action).feet) == action.ticks
        assert engine.ticks - before == action.ticks, name


def test_a_passage_one_wide_and_two_high_is_walked_through_at_a_chunk_border() -> None:
    engine = stage(-0.5, 12.5)
    wall = ["#.#\n" * 6, "#.#\n" * 6, "###\n" * 6]
    draw(engine, wall, -2, GROUND, 14)
    play(engine, "move_forward", "move_forward")
    assert engine.player.z == pytest.approx(12.5 + 2 * 4.317, abs=1e-12)
    assert overlap(engine) is None
