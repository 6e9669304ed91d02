"""The state: what its hash covers, that nothing outside it matters, and that it is the same everywhere."""

import gc
import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from oresight.craftenv.actions import ACTIONS
from oresight.craftenv.blocks import Block
from oresight.craftenv.config import TERRAIN_VERSION
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.facts import Referee
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.sim.player import Player, Stack
from oresight.craftenv.sim.terrain import generate_chunk
from oresight.craftenv.sim.world import World
from support import sim_golden
from support.places import TESTS
from support.sim_stage import BUSY, GROUND, fill, hashed_actions, play, scenario, stage


def _episode(world_seed: int, decisions: int, *, facts: bool) -> tuple[list[str], str]:
    """Return the state hashes of an episode, and a digest of its facts."""
    digest = hashlib.blake2b(digest_size=16)
    hashes = []
    with CraftEnv(scenario(world_seed, inventory={"cobblestone": 9}), pictures=False) as env:
        env.reset()
        if facts:
            digest.update(json.dumps(env.facts()).encode())
        for action in hashed_actions(world_seed, decisions, BUSY):
            env.step(action.name)
            hashes.append(env.state_hash())
            if facts:
                digest.update(json.dumps(env.facts(), allow_nan=False).encode())
    return hashes, digest.hexdigest()


def _set(name: str, value: object) -> Callable[[Player], None]:
    return lambda player: setattr(player, name, value)


@pytest.mark.parametrize(
    "change",
    [
        _set("x", 0.5000000000000001),
        _set("y", 83.00000000000001),
        _set("z", 0.4999999999999999),
        _set("speed_y", -0.0390625),
        _set("yaw", 2399),
        _set("pitch", -1),
        _set("on_ground", False),
        _set("in_water", True),
        _set("slot", 8),
        lambda player: player.hotbar.slots.__setitem__(0, Stack(int(Block.DIRT), 3)),
        lambda player: player.hotbar.slots.__setitem__(0, Stack(int(Block.SAND), 2)),
        lambda player: player.hotbar.slots.__setitem__(0, None),
        lambda player: player.hotbar.slots.reverse(),
    ],
)
def test_the_state_hash_changes_with_each_thing_it_covers(change: Callable[[Player], None]) -> None:
    engine = stage(inventory={int(Block.DIRT): 2})
    before = engine.state_hash()
    change(engine.player)
    assert engine.state_hash() != before


def test_a_block_that_changes_and_changes_back_is_the_same_state_again() -> None:
    engine = stage()
    before = engine.state_hash()
    hashes = {before}
    for block in (Block.SAND, Block.DIRT, Block.STONE):
        engine.world.set(3, GROUND, 3, int(block))
        hashes.add(engine.state_hash())
    engine.world.set(4, GROUND, 3, int(Block.STONE))
    hashes.add(engine.state_hash())
    assert len(hashes) == 5
    engine.world.set(3, GROUND, 3, int(Block.AIR))
    engine.world.set(4, GROUND, 3, int(Block.AIR))
    assert engine.state_hash() == before


def test_the_order_of_changes_does_not_matter_and_their_places_do() -> None:
    spots = [(1, GROUND, -1), (-1, GROUND, 1), (1, GROUND + 1, 1), (-1, GROUND, -1)]
    hashes = set()
    for order in (spots, spots[::-1]):
        engine = stage()
        for spot in order:
            engine.world.set(*spot, int(Block.SAND))
        hashes.add(engine.state_hash())
    assert len(hashes) == 1
    singles = set()
    for spot in spots:
        engine = stage()
        engine.world.set(*spot, int(Block.SAND))
        singles.add(engine.state_hash())
    assert len(singles) == 4


def test_placing_and_mining_one_block_twenty_times_returns_to_the_same_state() -> None:
    engine = stage(inventory={int(Block.COBBLESTONE): 1})
    fill(engine, (0, GROUND + 1, 3), (0, GROUND + 1, 3), Block.BEDROCK)
    start = engine.state_hash()
    play(engine, "place")
    placed = engine.state_hash()
    assert placed != start
    for _ in range(20):
        play(engine, "mine")
        assert engine.state_hash() == start
        play(engine, "place")
        assert engine.state_hash() == placed


def test_slots_selected_to_and_fro_return_to_the_same_state() -> None:
    engine = stage()
    play(engine, "slot_1")
    first = engine.state_hash()
    for _ in range(20):
        play(engine, "slot_2", "wait")
        assert engine.state_hash() != first
        play(engine, "slot_1")
        assert engine.state_hash() == first


def test_minus_zero_is_zero() -> None:
    engine = stage()
    engine.player.z = 0.0
    before = engine.state_hash()
    engine.player.z = -0.0
    assert engine.state_hash() == before


def test_changes_survive_streaming_out_and_in_again() -> None:
    engine = Engine(3, spawn_on_ground(3, 0.5, 0.5))
    world = engine.world
    world.ensure(0, 0, 5)
    spots = {(x, 40, -x): int(Block.PLANKS) for x in range(-30, 31, 3)}
    for spot, block in spots.items():
        world.set(*spot, block)
    changes, state = world.changes(), engine.state_hash()
    before = world.blocks.copy()
    for cx in [*range(0, 41, 3), *range(40, -1, -3), 0]:
        world.ensure(cx, 0, 5)
    assert world.changes() == changes
    assert engine.state_hash() == state
    for x in range(-64, 64, 16):
        for z in range(-64, 64, 16):
            part = np.s_[x % 256 : x % 256 + 16, z % 256 : z % 256 + 16]
            assert (world.blocks[part] == before[part]).all()


def test_a_chunk_is_the_same_whatever_was_loaded_before() -> None:
    one, other = World(-5), World(-5)
    one.ensure(0, 0, 7)
    for cx in range(-30, 1):
        other.ensure(cx, 3, 2)
    for cx, cz in [(0, 3), (-2, 1), (-1, 5)]:
        part = np.s_[(cx % 16) * 16 : (cx % 16) * 16 + 16, (cz % 16) * 16 : (cz % 16) * 16 + 16]
        assert (one.blocks[part] == other.blocks[part]).all()
        assert (one.blocks[part] == generate_chunk(-5, cx, cz)).all()


def test_different_seeds_make_different_worlds_and_negative_and_huge_seeds_are_seeds() -> None:
    seen = {generate_chunk(seed, 0, 0).tobytes() for seed in (0, 1, -1, 2**63 - 1, -(2**63), 2**32)}
    assert len(seen) == 6


def test_the_episode_is_the_same_with_and_without_facts_and_with_others_running_between() -> None:
    alone, facts = _episode(5, 150, facts=True)
    assert _episode(5, 150, facts=True) == (alone, facts)
    assert _episode(5, 150, facts=False)[0] == alone
    with (
        CraftEnv(scenario(9), pictures=False) as other,
        CraftEnv(scenario(5, inventory={"cobblestone": 9}), pictures=False) as env,
    ):
        other.reset()
        other.facts()
        env.reset()
        hashes = []
        for action, aside in zip(hashed_actions(5, 150, BUSY), hashed_actions(8, 150), strict=True):
            other.step(aside.name)
            other.facts()
            env.step(action.name)
            hashes.append(env.state_hash())
            np.random.rand()  # whoever uses the global generator disturbs nothing
        assert hashes == alone


def test_a_reset_environment_plays_the_same_episode_again() -> None:
    with CraftEnv(scenario(4), pictures=False) as env:
        runs = []
        for _ in range(2):
            env.reset()
            env.facts()
            run = []
            for action in hashed_actions(4, 60, BUSY):
                env.step(action.name)
                run.append((env.state_hash(), json.dumps(env.facts())))
            runs.append(run)
        assert runs[0] == runs[1]


def test_two_processes_with_different_hash_seeds_come_to_the_same_hashes_and_facts() -> None:
    code = "import test_sim_state as t; print(t._episode(6, 120, facts=True))"
    results = {repr(_episode(6, 120, facts=True))}
    for hash_seed in ("1", "4711"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": hash_seed,
            "PYTHONPATH": f"{TESTS}{os.pathsep}{Path(__file__).parent}",
        }
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        results.add(done.stdout.strip())
    assert len(results) == 1


def test_three_worlds_come_to_the_committed_hashes() -> None:
    committed = json.loads(sim_golden.PATH.read_text(encoding="utf-8"))
    assert committed["terrain_version"] == TERRAIN_VERSION
    assert committed == sim_golden.make()


def test_the_golden_decisions_cover_all_twenty_one_actions() -> None:
    for seed in sim_golden.WORLDS:
        pool = BUSY if seed % 2 else ACTIONS
        assert len({action.name for action in hashed_actions(seed, sim_golden.DECISIONS, pool)}) == 21


def _reopen(times: int) -> int:
    """Open, play and close environments; return by how many bytes memory grew after the first few."""
    prepared = scenario(3)
    gc.collect()
    tracemalloc.start()
    try:
        base = 0
        for n in range(times):
            with CraftEnv(prepared, pictures=False) as env:
                env.reset()
                env.facts()
                for name in ("look_right", "move_forward", "mine"):
                    env.step(name)
                    env.facts()
            if n == 4:
                gc.collect()
                base = tracemalloc.get_traced_memory()[0]
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - base
    finally:
        tracemalloc.stop()


def test_memory_is_flat_over_fifty_reopenings() -> None:
    assert _reopen(50) < 200_000


@pytest.mark.soak
def test_memory_is_flat_over_a_thousand_reopenings() -> None:
    assert _reopen(1000) < 200_000


def test_the_cost_of_what_was_seen_stays_in_bounds_while_walking_far() -> None:
    with CraftEnv(scenario(3), pictures=False) as env:
        env.reset()
        referee = Referee(env.engine)
        referee.start()
        player = env.engine.player
        sizes = []
        for n in range(60):
            player.x, player.y = player.x + 16.0, 90.0
            env.engine.world.ensure_around(player.x, player.z, 1)
            referee.observe(play(env.engine, "look_right"))
            if n in (29, 59):
                sizes.append(len(referee._seen._packed))
        assert sizes[1] < 3 * sizes[0] + 50
