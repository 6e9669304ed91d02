"""The generated world: what every seed has, and that chunks fit together."""

import numpy as np
import pytest

from oresight.craftenv.blocks import BLOCKS, ORES, Block
from oresight.craftenv.config import SEA_LEVEL
from oresight.craftenv.sim.geometry import SOLID
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.sim.world import ORE_LIMIT, World
from support.sim_stage import FLOOR

SEEDS = [0, 1, 2, -9]


def _region(seed: int) -> tuple[World, np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]:
    """A world and its blocks from -64 to 63 on both axes, indexed [x + 64, z + 64, y]."""
    world = World(seed)
    world.ensure(0, 0, 4)
    return world, np.roll(world.blocks, (64, 64), axis=(0, 1))[:128, :128]


@pytest.mark.parametrize("seed", SEEDS)
def test_bedrock_lies_at_the_bottom_and_nowhere_else(seed: int) -> None:
    _, blocks = _region(seed)
    assert (blocks[:, :, 0] == Block.BEDROCK).all()
    assert (blocks[:, :, 1:] != Block.BEDROCK).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_reaches_as_high_as_the_stages_of_the_tests(seed: int) -> None:
    _, blocks = _region(seed)
    assert not blocks[:, :, FLOOR - 1 :].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_water_fills_up_to_sea_level_and_lies_on_ground_or_water(seed: int) -> None:
    _, blocks = _region(seed)
    water = blocks == Block.WATER
    assert not water[:, :, SEA_LEVEL + 1 :].any()
    below = blocks[:, :, :-1][water[:, :, 1:]]
    assert (SOLID[below] | (below == Block.WATER)).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_are_whole_across_chunk_borders(seed: int) -> None:
    _, blocks = _region(seed)
    inner = np.argwhere(blocks[4:-4, 4:-4] == Block.LEAVES) + np.array([4, 4, 0])
    for x, z, y in inner.tolist():
        around = blocks[x - 2 : x + 3, z - 2 : z + 3, max(0, y - 2) : y + 3]
        assert (around == Block.LOG).any(), (x - 64, y, z - 64)


def test_every_natural_block_occurs_and_nothing_else() -> None:
    seen = set()
    for seed in SEEDS:
        seen |= set(np.unique(_region(seed)[1]).tolist())
    made = {Block.COBBLESTONE, Block.PLANKS, Block.TORCH}
    assert seen == {int(block) for block in Block if block not in made}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_ore_of_a_chunk_is_listed_once(seed: int) -> None:
    world, _ = _region(seed)
    assert world.ore_counts.max() < ORE_LIMIT
    for cx in range(-4, 4):
        for cz in range(-4, 4):
            rows = world.ores[cx & 15, cz & 15, : int(world.ore_counts[cx & 15, cz & 15])].tolist()
            listed = {(cx * 16 + x, y, cz * 16 + z) for x, y, z in rows}
            assert len(listed) == len(rows)
            part = world.blocks[(cx & 15) * 16 : (cx & 15) * 16 + 16, (cz & 15) * 16 : (cz & 15) * 16 + 16]
            assert len(listed) == np.isin(part, [int(ore) for ore in ORES]).sum()
            assert all(world.get(*position) in ORES for position in listed)


def test_an_ore_set_by_hand_is_listed_once_and_survives_streaming() -> None:
    world = World(1)
    world.ensure(0, 0, 1)
    before = int(world.ore_counts[0, 0])
    for block in (Block.IRON_ORE, Block.AIR, Block.IRON_ORE, Block.GOLD_ORE):
        world.set(3, 90, 4, int(block))
    assert int(world.ore_counts[0, 0]) == before + 1
    world.ensure(16, 0, 1)
    world.ensure(0, 0, 1)
    assert world.get(3, 90, 4) == Block.GOLD_ORE
    assert world.ores[0, 0, : int(world.ore_counts[0, 0])].tolist().count([3, 90, 4]) == 1


def test_a_block_at_a_chunks_corner_touches_the_meshes_of_all_four_chunks() -> None:
    world = World(1)
    world.ensure(0, 0, 2)
    before = world.slot_version.copy()
    world.set(0, 50, 0, int(Block.SAND))
    changed = {tuple(slot) for slot in np.argwhere(world.slot_version != before).tolist()}
    assert changed == {(0, 0), (15, 0), (0, 15), (15, 15)}
    before = world.slot_version.copy()
    world.set(8, 50, 8, int(Block.SAND))
    assert np.argwhere(world.slot_version != before).tolist() == [[0, 0]]


def test_a_place_above_or_below_the_world_cannot_be_set_but_read() -> None:
    world = World(1)
    world.ensure(0, 0, 1)
    assert (world.get(0, -1, 0), world.get(0, 96, 0), world.get(0, 1000, 0)) == (Block.BEDROCK, Block.AIR, Block.AIR)
    for y in (-1, 96):
        with pytest.raises(ValueError, match="outside the world"):
            world.set(0, y, 0, int(Block.SAND))
    with pytest.raises(ValueError, match="7 chunks at most"):
        world.ensure(0, 0, 8)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spawn_on_the_ground_stands_or_floats_with_nothing_in_the_way(seed: int) -> None:
    for x, z in ((0.5, 0.5), (-17.2, 33.9), (100.0, -100.0)):
        sx, sy, sz = spawn_on_ground(seed, x, z)
        world = World(seed)
        world.ensure_around(sx, sz, 1)
        cell = (int(sx // 1), int(sy), int(sz // 1))
        assert (cell[0], cell[2]) == (int(x // 1), int(z // 1))
        below = BLOCKS[Block(world.get(cell[0], cell[1] - 1, cell[2]))]
        assert below.solid or world.get(*cell) == Block.WATER
        assert not BLOCKS[Block(world.get(*cell))].solid
