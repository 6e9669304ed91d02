"""What every maker of scenarios needs: hashed draws, regions to look through, places to start, proofs played back.

Everything is drawn from integer hashes and bounded by counts, so the same numbers give the same places everywhere. What
makes a place fit is the business of the makers.
"""

from collections.abc import Iterator

from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.blocks import Block
from oresight.craftenv.config import EYE_HEIGHT
from oresight.craftenv.planner import engine_for
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.craftenv.sim.ground import top_of_column
from oresight.craftenv.sim.places import has_free_view, open_ground, ores_around
from oresight.craftenv.sim.world import Position, World

TARGET = int(Block.IRON_ORE)
# Looked at, ring by ring around the origin: regions this far apart, spawns drawn within this far of their middle.
REGION_BLOCKS = 96
RINGS = 3
SPAWN_RANGE = 48
SPAWNS_A_REGION = 160
# A face of this many square pixels counts as seen, as in a discovery.
SEEN_PX = 64
# Places around a spawn from which one looks around: at these distances, in eight directions each.
SIGHT_RINGS = (8, 16)
_DIRECTIONS = ((1, 0), (0, 1), (-1, 0), (0, -1), (0.7, 0.7), (-0.7, 0.7), (-0.7, -0.7), (0.7, -0.7))
_MASK = (1 << 64) - 1

Feet = tuple[float, float, float]


def mixed(*numbers: int) -> int:
    """Hash integers to 64 bits (SplitMix64 over them in turn)."""
    h = 0
    for number in numbers:
        h = (h + number + 0x9E3779B97F4A7C15) & _MASK
        h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & _MASK
        h ^= h >> 31
    return h


def eye_of(feet: Feet) -> Feet:
    """Return where the eye is above standing feet."""
    return feet[0], feet[1] + EYE_HEIGHT, feet[2]


def straight(a: Feet, block: Position) -> float:
    """Return the straight distance from a point to a block's middle."""
    dx, dy, dz = block[0] + 0.5 - a[0], block[1] + 0.5 - a[1], block[2] + 0.5 - a[2]
    return float((dx * dx + dy * dy + dz * dz) ** 0.5)


def regions(spacing: int = REGION_BLOCKS, rings: int = RINGS) -> Iterator[tuple[int, int]]:
    """Yield the middles of the regions, ring by ring around the origin."""
    for ring in range(rings + 1):
        for i in range(-ring, ring + 1):
            for k in range(-ring, ring + 1):
                if max(abs(i), abs(k)) == ring:
                    yield i * spacing, k * spacing


def spawns(
    world: World, middle: tuple[int, int], draw: int, count: int = SPAWNS_A_REGION, reach: int = SPAWN_RANGE
) -> Iterator[tuple[Feet, int]]:
    """Yield good places to start around a middle, each with a number of its own.

    Args:
        world: Loaded there.
        middle: x and z.
        draw: What the draws are hashed from.
        count: How many are drawn; fewer are good.
        reach: How far from the middle in x and in z, in blocks.
    """
    for n in range(count):
        h = mixed(draw, n)
        x = middle[0] + h % (2 * reach) - reach
        z = middle[1] + (h >> 20) % (2 * reach) - reach
        place = open_ground(world, x, z)
        if place is not None:
            spawn = (place[0] + 0.5, float(place[1]), place[2] + 0.5)
            if has_free_view(world, eye_of(spawn)):
                yield spawn, h >> 40


def share_of_sight(world: World, spawn: Feet, rings: tuple[int, ...] = SIGHT_RINGS, enough: float = 1.0) -> float:
    """Return the share of places around a spawn from which a look around shows an ore, 0 to 1.

    Args:
        world: Loaded there.
        spawn: Feet.
        rings: How far away the places are, in blocks; eight on each ring.
        enough: By how much the share exceeds this is irrelevant, so the search ends there.
    """
    seen = 0
    places = [(ring * east, ring * south) for ring in rings for east, south in _DIRECTIONS]
    for east, south in places:
        feet = top_of_column(world, spawn[0] + east, spawn[2] + south)
        seen += int(any(px >= SEEN_PX for px in ores_around(world, eye_of(feet), TARGET).values()))
        if seen > enough * len(places):
            break
    return seen / len(places)


def acquired_by_proof(scenario: Scenario) -> list[tuple[Position, int]]:
    """Play a scenario's proof; return the ores that it acquires, each with the number of decisions until then."""
    engine = engine_for(scenario)
    return [
        (ore, count) for count, name in enumerate(scenario.proof, start=1) for ore in engine.run(BY_NAME[name]).acquired
    ]
