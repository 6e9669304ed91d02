"""Mining, placing and the hotbar, in exact ticks and counts."""

from collections import Counter

import pytest

from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.blocks import BLOCKS, ORES, Block
from oresight.craftenv.config import STACK_LIMIT
from oresight.craftenv.sim.engine import Controls, Engine, Happenings
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.sim.player import Hotbar, Stack
from support.sim_stage import BUSY, FLOOR, GROUND, fill, hashed_actions, overlap, play, stage

IRON = int(Block.IRON_ORE)
COBBLE = int(Block.COBBLESTONE)
BREAKABLE = [block for block in Block if BLOCKS[block].break_ticks and block is not Block.TORCH]


def _facing(*blocks: Block, inventory: dict[int, int] | None = None) -> Engine:
    """A player on a stage whose crosshair rests on the first of a row of blocks at eye height."""
    engine = stage(inventory=inventory)
    for n, block in enumerate(blocks):
        engine.world.set(0, GROUND + 1, 2 + n, int(block))
    return engine


def _fill_hotbar(engine: Engine, *stacks: tuple[Block, int]) -> None:
    engine.player.hotbar.slots = [Stack(int(item), count) for item, count in stacks]


@pytest.mark.parametrize("block", BREAKABLE)
def test_every_block_breaks_at_exactly_its_tick_within_one_action(block: Block) -> None:
    engine = _facing(block)
    needed = BLOCKS[block].break_ticks
    assert 0 < needed <= BY_NAME["mine"].ticks == 40
    happened = Happenings()
    for _ in range(needed - 1):
        engine.tick(Controls(mine=True), happened)
    assert engine.world.get(0, GROUND + 1, 2) == block
    assert engine.crack == (needed - 1) / needed
    engine.tick(Controls(mine=True), happened)
    assert engine.world.get(0, GROUND + 1, 2) == Block.AIR
    assert engine.crack == 0.0
    drop = BLOCKS[block].drop
    assert engine.player.hotbar.totals() == ({int(drop): 1} if drop is not None else {})


def test_bedrock_never_breaks() -> None:
    engine = _facing(Block.BEDROCK)
    before = engine.state_hash()
    happened = play(engine, "mine", "mine")
    assert engine.state_hash() == before
    assert happened.hit_bedrock
    assert happened.changes == []


def test_stone_drops_cobblestone_grass_drops_dirt_and_leaves_drop_nothing() -> None:
    assert BLOCKS[Block.STONE].drop is Block.COBBLESTONE
    assert BLOCKS[Block.GRASS].drop is Block.DIRT
    assert BLOCKS[Block.LEAVES].drop is None
    assert [BLOCKS[ore].drop for ore in ORES] == list(ORES)


def test_the_progress_of_mining_is_lost_when_the_action_ends() -> None:
    engine = _facing(Block.GOLD_ORE, Block.GOLD_ORE)  # 32 ticks each
    happened = play(engine, "mine")
    assert [change.position for change in happened.changes] == [(0, GROUND + 1, 2)]
    assert engine.crack == 0.0
    happened = play(engine, "mine")  # the eight ticks spent on the second block do not count
    assert [change.position for change in happened.changes] == [(0, GROUND + 1, 3)]
    engine = _facing(Block.STONE)
    partial = Happenings()
    for _ in range(19):
        engine.tick(Controls(mine=True), partial)
    engine.tick(Controls(), partial)
    engine.tick(Controls(mine=True), partial)
    assert engine.crack == 1 / 20


def test_holding_on_goes_on_to_the_block_behind() -> None:
    engine = _facing(Block.STONE, Block.STONE, Block.STONE)
    happened = play(engine, "mine")
    assert [change.position[2] for change in happened.changes] == [2, 3]
    assert engine.player.hotbar.totals() == {COBBLE: 2}
    assert [(c.before, c.after, c.natural) for c in happened.changes] == [(Block.STONE, Block.AIR, True)] * 2


def test_the_reach_ends_at_four_and_a_half_blocks() -> None:
    for z, hit in ((4, True), (5, False)):  # the near faces stand 3.5 and 4.5 blocks and a bit from the eye
        engine = stage(z=0.49)
        engine.world.set(0, GROUND + 1, z, int(Block.DIRT))
        assert (engine.target() is not None) is hit
    engine = stage()
    engine.world.set(0, GROUND + 1, 5, int(Block.DIRT))
    assert engine.target() is not None  # at 4.5 exactly


def test_water_is_mined_through_and_never_mined() -> None:
    engine = _facing(Block.WATER, Block.DIRT)
    happened = play(engine, "mine")
    assert [change.before for change in happened.changes] == [Block.DIRT]


def test_a_drop_goes_to_the_matching_stack_then_to_the_first_empty_slot() -> None:
    engine = _facing(Block.STONE)
    engine.player.hotbar.slots[2] = Stack(COBBLE, 63)
    play(engine, "mine")
    assert engine.player.hotbar.slots[2] == Stack(COBBLE, STACK_LIMIT)
    engine.world.set(0, GROUND + 1, 2, int(Block.STONE))
    play(engine, "mine")
    assert engine.player.hotbar.slots[:3] == [Stack(COBBLE, 1), None, Stack(COBBLE, 64)]


def test_with_a_full_hotbar_a_common_drop_is_lost_and_said_so() -> None:
    engine = _facing(Block.STONE)
    full = [(Block.DIRT, 64)] * 8 + [(Block.COBBLESTONE, 64)]
    _fill_hotbar(engine, *full)
    happened = play(engine, "mine")
    assert happened.lost == [COBBLE]
    assert happened.picked == []
    assert engine.player.hotbar.totals() == {int(Block.DIRT): 512, COBBLE: 64}
    assert engine.world.get(0, GROUND + 1, 2) == Block.AIR


def test_with_a_full_hotbar_the_target_ore_replaces_the_fullest_common_stack() -> None:
    engine = _facing(Block.IRON_ORE)
    _fill_hotbar(
        engine,
        *[(Block.COAL_ORE, 64), (Block.DIRT, 9), (Block.SAND, 60), (Block.GRAVEL, 60)],
        *[(Block.GOLD_ORE, 64), (Block.LOG, 1), (Block.PLANKS, 2), (Block.TORCH, 3), (Block.COAL_ORE, 64)],
    )
    happened = play(engine, "mine")
    assert engine.player.hotbar.slots[2] == Stack(IRON, 1)
    assert happened.lost == [int(Block.SAND)] * 60
    assert happened.acquired == [(0, GROUND + 1, 2)]


def test_an_ore_that_is_not_the_target_replaces_nothing() -> None:
    engine = _facing(Block.GOLD_ORE)
    _fill_hotbar(engine, *[(Block.DIRT, 64)] * 9)
    happened = play(engine, "mine")
    assert happened.lost == [int(Block.GOLD_ORE)]
    assert happened.acquired == []


def test_among_nine_stacks_of_ores_the_fullest_of_another_kind_is_replaced() -> None:
    engine = _facing(Block.IRON_ORE)
    _fill_hotbar(engine, *[(Block.IRON_ORE, 64)] * 3, *[(Block.COAL_ORE, 9), (Block.GOLD_ORE, 12)] * 3)
    happened = play(engine, "mine")
    assert engine.player.hotbar.slots[4] == Stack(IRON, 1)
    assert happened.lost == [int(Block.GOLD_ORE)] * 12


def test_with_nine_full_stacks_of_the_target_one_more_is_lost() -> None:
    engine = _facing(Block.IRON_ORE)
    _fill_hotbar(engine, *[(Block.IRON_ORE, 64)] * 9)
    happened = play(engine, "mine")
    assert happened.lost == [IRON]
    assert happened.acquired == []


def test_an_ore_that_the_player_placed_is_not_acquired_again() -> None:
    engine = _facing(Block.STONE, inventory={IRON: 1})
    play(engine, "place")
    assert engine.world.get(0, GROUND + 1, 1) == IRON
    happened = play(engine, "mine")
    assert [(change.before, change.natural) for change in happened.changes] == [(IRON, False)]
    assert happened.acquired == []
    assert happened.picked == [IRON]


def test_a_block_is_placed_against_the_face_under_the_crosshair() -> None:
    engine = _facing(Block.AIR, Block.STONE, inventory={COBBLE: 2})
    happened = play(engine, "place")
    assert [(c.position, c.before, c.after, c.natural) for c in happened.changes] == [
        ((0, GROUND + 1, 2), Block.AIR, COBBLE, False)
    ]
    assert engine.player.hotbar.slots[0] == Stack(COBBLE, 1)
    play(engine, "place")
    assert engine.player.hotbar.slots[0] is None
    assert not play(engine, "place").changes


def test_nothing_is_placed_without_an_item_or_without_a_face() -> None:
    engine = _facing(Block.STONE)
    before = engine.state_hash()
    play(engine, "place")
    assert engine.state_hash() == before
    engine = stage(inventory={COBBLE: 1})
    before = engine.state_hash()
    play(engine, "place")
    assert engine.state_hash() == before


@pytest.mark.parametrize("item", [Block.COBBLESTONE, Block.TORCH])
@pytest.mark.parametrize("pitch_deg", [0, 30, 60, 75, 90])
def test_nothing_is_ever_placed_into_the_player(pitch_deg: int, item: Block) -> None:
    engine = stage(0.5, 0.69, inventory={int(item): 64})
    fill(engine, (-1, GROUND, 1), (1, GROUND + 2, 1), Block.STONE)
    engine.player.pitch = round(pitch_deg / 0.15)
    before = engine.state_hash()
    for _ in range(3):
        assert play(engine, "place").changes == []
        assert overlap(engine) is None
    assert engine.state_hash() == before


def test_a_pillar_is_built_by_jumping_and_placing_below() -> None:
    engine = stage(inventory={COBBLE: 5})
    engine.player.pitch = 600
    for n in range(1, 4):
        happened = play(engine, "jump", "place")
        assert [change.position for change in happened.changes] == [(0, GROUND + n - 1, 0)]
        play(engine, "wait")
        assert engine.player.y == GROUND + n
        assert engine.player.on_ground


def test_placing_replaces_water() -> None:
    engine = _facing(Block.WATER, Block.STONE, inventory={COBBLE: 1})
    happened = play(engine, "place")
    assert [(c.before, c.after) for c in happened.changes] == [(Block.WATER, COBBLE)]


def test_a_torch_stands_only_on_a_floor_and_does_not_stop_the_player() -> None:
    torch = int(Block.TORCH)
    engine = _facing(Block.STONE, inventory={torch: 2})
    assert play(engine, "place").changes == []  # against a wall
    engine.player.pitch = 400
    happened = play(engine, "place")
    assert [(c.position, c.after) for c in happened.changes] == [((0, GROUND, 1), torch)]
    fill(engine, (0, GROUND + 1, 2), (0, GROUND + 1, 2), Block.AIR)
    play(engine, "move_forward")
    assert engine.player.z == pytest.approx(0.5 + 4.317, abs=1e-12)


def test_a_torch_under_the_crosshair_is_mined_and_given_back() -> None:
    engine = stage(inventory={int(Block.TORCH): 1})
    engine.world.set(0, GROUND, 1, int(Block.TORCH))
    engine.world.placed.add((0, GROUND, 1))
    engine.player.pitch = round(52 / 0.15)
    target = engine.target()
    assert target is not None
    assert target.block == Block.TORCH
    play(engine, "mine")
    assert engine.player.hotbar.totals()[int(Block.TORCH)] == 2


def test_nothing_is_placed_above_the_top_of_the_world() -> None:
    engine = Engine(7, (0.5, 97.0, 0.5), 0, {COBBLE: 1})
    engine.world.set(0, 95, 0, int(Block.STONE))
    engine.player.y = 96.0
    engine.player.on_ground = True
    engine.player.pitch = 600
    play(engine, "jump")
    before = engine.player.hotbar.totals()
    assert play(engine, "place").changes == []
    assert engine.player.hotbar.totals() == before


def test_slots_are_selected_by_their_number_and_selecting_again_changes_nothing() -> None:
    engine = stage()
    for n in range(1, 10):
        play(engine, f"slot_{n}")
        assert engine.player.slot == n - 1
    before = engine.state_hash()
    play(engine, "slot_9")
    assert engine.state_hash() == before


def test_only_the_selected_slot_is_placed_from() -> None:
    engine = _facing(Block.STONE, inventory={COBBLE: 1, int(Block.PLANKS): 1})
    assert play(engine, "slot_3", "place").changes == []
    assert [change.after for change in play(engine, "slot_2", "place").changes] == [Block.PLANKS]


def test_a_start_inventory_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit into nine slots"):
        Engine(7, (0.5, 90.0, 0.5), 0, {COBBLE: 577})
    assert Engine(7, (0.5, 90.0, 0.5), 0, {COBBLE: 576}).player.hotbar.totals() == {COBBLE: 576}


def test_a_spawn_inside_a_block_is_refused() -> None:
    with pytest.raises(ValueError, match="inside a solid block"):
        Engine(7, (0.5, 1.5, 0.5))


def test_taking_from_an_empty_slot_takes_nothing() -> None:
    assert Hotbar().take_one(4) is None


def _count_everything(seed: int, decisions: int) -> None:
    start = {COBBLE: 20, int(Block.TORCH): 9, int(Block.DIRT): 64}
    engine = Engine(seed, spawn_on_ground(seed, 0.5, 0.5), 0, start)
    owned = Counter(start)
    kinds: Counter[str] = Counter()
    for action in hashed_actions(seed, decisions, BUSY):
        before = engine.world.changes()
        happened = engine.run(action)
        for change in happened.changes:
            kinds["dug" if change.after == Block.AIR else "placed"] += 1
            if change.after == Block.AIR:
                drop = BLOCKS[Block(change.before)].drop
                if drop is not None:
                    owned[int(drop)] += 1
            else:
                owned[change.after] -= 1
        owned.subtract(happened.lost)
        assert {item: count for item, count in owned.items() if count} == engine.player.hotbar.totals()
        if not happened.changes:
            assert engine.world.changes() == before
    assert min(kinds["dug"], kinds["placed"]) > 3


@pytest.mark.parametrize("seed", [21, 22])
def test_the_inventory_balances_with_the_blocks_changed(seed: int) -> None:
    _count_everything(seed, 1200)


def test_the_floor_of_the_stage_is_where_the_tests_think() -> None:
    assert stage().world.get(0, FLOOR, 0) == Block.STONE
