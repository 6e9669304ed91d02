"""The dials of the 3D world: scenarios by two demands of three levels each, as many as there are seeds.

**Exploration demand** is how far and how hidden the nearest ore is: the straight distance from the spawn to the nearest
ore that lies open on the surface, and the share of places around the spawn from which a look around shows an ore. From
the spawn itself none is ever in sight.

**Exploitation demand** is how many ores are needed and how deep they lie: the blocks that must be dug away before each
of the needed ones shows a face. They belong to one vein and lie around its nearest ore, so what is dug away are mostly
the ores before them, and each brings the next one to light.

The levels of a demand do not overlap in anything that is measured here. Drawing and playing back are
`craftenv.scenarios.search`'s, keeping what was made is `craftenv.scenarios.maker`'s.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from oresight.craftenv.planner import PLAN_RADIUS, engine_for, find_ores, plan, plan_from
from oresight.craftenv.scenarios.scenario import BUDGET, Scenario, UnknownScenarioError
from oresight.craftenv.scenarios.search import (
    TARGET,
    Feet,
    acquired_by_proof,
    eye_of,
    mixed,
    regions,
    share_of_sight,
    spawns,
)
from oresight.craftenv.scenarios.search import straight as distance_to
from oresight.craftenv.sim.digging import covers
from oresight.craftenv.sim.places import is_surface_ore, ores_around
from oresight.craftenv.sim.world import Position, World

LEVELS = ("low", "medium", "high")


@dataclass(frozen=True)
class Exploration:
    """A level of exploration demand; both ends of a range belong to it.

    Attributes:
        distance_blocks: Straight distance from the spawn to the nearest ore on the surface.
        share_of_sight: Share of the 24 places on the `SIGHT_RINGS` around the spawn that show an ore.
    """

    distance_blocks: tuple[float, float]
    share_of_sight: tuple[float, float]


@dataclass(frozen=True)
class Exploitation:
    """A level of exploitation demand.

    Attributes:
        target_count: Ores needed.
        digging_blocks: For the needed ores together, the blocks that cover each before anything is dug.
    """

    target_count: int
    digging_blocks: tuple[int, int]


# Eight places lie on each, all around; a look around from each of them is what a search of the neighbourhood sees.
SIGHT_RINGS = (8, 16, 24)
# Two to four free walks away and seen from every second place; twice as far and seen from a few places; out of sight
# from anywhere near, and towards the end of what a picture shows.
EXPLORATION = {
    "low": Exploration((8.0, 16.0), (12 / 24, 1.0)),
    "medium": Exploration((18.0, 28.0), (2 / 24, 8 / 24)),
    "high": Exploration((30.0, 48.0), (0.0, 0.0)),
}
# One that lies bare; a second one behind a block; three of which but one lies bare.
EXPLOITATION = {
    "low": Exploitation(1, (0, 0)),
    "medium": Exploitation(2, (1, 1)),
    "high": Exploitation(3, (2, 6)),
}
# What lies this near to the nearest ore counts as the same place: two free walks. Farther ores may lie bare again.
PLACE_BLOCKS = 8
# A proof of this length still fits twice into the budget; most fit into a hundred.
LONGEST_PROOF = 80
# No ore may be had sooner, even one hidden a few blocks below the spawn.
SHORTEST_PROOF = 6
_PREFIX = "dials"
KINDS = tuple(f"{_PREFIX}-{exploration}-{exploitation}" for exploration in LEVELS for exploitation in LEVELS)

# Veins are looked for within this far of a region's middle, whose loaded part reaches 112 blocks.
_REGION_BLOCKS = 160
_RINGS = 5
_SPAWNS_A_VEIN = 64
_SALT = 4
_NEIGHBOURS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


@dataclass(frozen=True)
class Demands:
    """What the demands of a spawn are, as measured.

    Attributes:
        vein: The nearest ore on the surface, and the ores of its place that hang together with it.
        distance_blocks: See `Exploration`.
        share_of_sight: See `Exploration`.
        digging_blocks: See `Exploitation`; None where the vein has too few.
    """

    vein: tuple[Position, ...]
    distance_blocks: float
    share_of_sight: float
    digging_blocks: int | None


class _Ores:
    """The target ores that are loaded, for looking up those of a place."""

    def __init__(self, world: World) -> None:
        self._all = find_ores(world, TARGET)
        self._array = np.array(self._all, dtype=np.int64).reshape(-1, 3)
        self.on_surface = [ore for ore in self._all if is_surface_ore(world, ore)]

    def near(self, ore: Position) -> list[Position]:
        """Return the ores of a place, the one it is named by included, in the order of their positions."""
        squared = ((self._array - np.array(ore)) ** 2).sum(axis=1)
        return [self._all[index] for index in np.flatnonzero(squared <= PLACE_BLOCKS**2).tolist()]


def budget_for(proof_length: int) -> int:
    """Return the decisions allowed for a proof of a given length."""
    return max(BUDGET, 2 * proof_length)


def levels_of(kind: str) -> tuple[str, str]:
    """Return the levels of exploration and of exploitation demand that a kind such as ``dials-low-high`` names.

    Raises:
        UnknownScenarioError: It names none.
    """
    if kind not in KINDS:
        raise UnknownScenarioError(f"unknown kind {kind!r}; expected one of {', '.join(KINDS)}")
    _, exploration, exploitation = kind.split("-")
    return exploration, exploitation


def measure(world: World, spawn: Feet, target_count: int) -> Demands | None:
    """Measure the demands of starting somewhere, or return None where no ore lies on the surface around.

    Args:
        world: Loaded around the spawn.
        spawn: Feet.
        target_count: Ores needed.
    """
    ores = _Ores(world)
    nearest = _nearest(spawn, ores.on_surface)
    if nearest is None:
        return None
    vein = _vein(nearest, ores)
    return Demands(
        vein,
        distance_to(spawn, nearest),
        share_of_sight(world, spawn, SIGHT_RINGS),
        _digging_blocks(world, vein, ores, target_count),
    )


def faults(scenario: Scenario) -> list[str]:
    """Return what keeps a scenario from having the demands that its name says, proof included; nothing if it has."""
    levels = levels_of(scenario.kind)
    exploration, exploitation = EXPLORATION[levels[0]], EXPLOITATION[levels[1]]
    complaints = []
    acquired = acquired_by_proof(scenario)
    length = len(scenario.proof)
    if len(acquired) < scenario.target_count or acquired[scenario.target_count - 1][1] != length:
        complaints.append(
            f"the proof of {length} decisions acquires {acquired}, not {scenario.target_count} at its end"
        )
    if scenario.budget != budget_for(length):
        complaints.append(f"the budget is {scenario.budget}; {budget_for(length)} is wanted for {length} decisions")
    if scenario.target_count != exploitation.target_count:
        complaints.append(f"{scenario.target_count} ores are needed; {exploitation.target_count} are wanted")
    world = World(scenario.world_seed)
    world.ensure_around(scenario.spawn[0], scenario.spawn[2], PLAN_RADIUS)
    demands = measure(world, scenario.spawn, scenario.target_count)
    if demands is None:
        return [*complaints, "no ore lies on the surface"]
    for name, value, (low, high) in (
        ("distance", demands.distance_blocks, exploration.distance_blocks),
        ("share of sight", demands.share_of_sight, exploration.share_of_sight),
        ("digging", demands.digging_blocks, exploitation.digging_blocks),
    ):
        if value is None or not low <= value <= high:
            complaints.append(f"the {name} is {value}; {low} to {high} is wanted")
    if seen := ores_around(world, eye_of(scenario.spawn), scenario.target_item):
        complaints.append(f"the spawn sees ores at {sorted(seen)}")
    return complaints


def make(kind: str, seed: int, give_up_s: float) -> Scenario:
    """Make and prove a scenario; the same kind and seed always give the same one.

    Args:
        kind: One of `KINDS`.
        seed: Which one, 0 or more.
        give_up_s: Seconds after which nothing is found.

    Raises:
        UnknownScenarioError: No such kind, or nothing in the seed's world fits.
    """
    levels = levels_of(kind)
    world_seed = mixed(_SALT, *(LEVELS.index(level) for level in levels), seed) >> 16  # 48 bits: exact in JSON
    give_up_at = time.monotonic() + give_up_s
    for middle in regions(_REGION_BLOCKS, _RINGS):
        world = World(world_seed)
        world.ensure_around(*middle, PLAN_RADIUS)
        for vein in _veins(world, middle, EXPLOITATION[levels[1]]):
            world.ensure_around(vein[0][0], vein[0][2], PLAN_RADIUS)
            for spawn, number in _spawns_around(world, vein, EXPLORATION[levels[0]]):
                if time.monotonic() > give_up_at:
                    raise UnknownScenarioError(
                        f"no solvable world for this seed: {kind}-{seed} was given up after {give_up_s:.0f} s;"
                        " try another seed"
                    )
                scenario = _prove(kind, seed, world, vein, spawn, number)
                if scenario is not None:
                    return scenario
    raise UnknownScenarioError(
        f"no solvable world for this seed: nothing within {_RINGS * _REGION_BLOCKS} blocks makes {kind}-{seed};"
        " try another seed"
    )


def _veins(world: World, middle: tuple[int, int], level: Exploitation) -> Iterator[tuple[Position, ...]]:
    """Yield the veins of a region that have a level's demand, each beginning with an ore on the surface."""
    ores = _Ores(world)
    left = ores.on_surface
    # Listed before any is yielded: the loaded part moves while they are looked at.
    found = []
    while left:
        vein = _vein(left[0], ores)
        left = [ore for ore in left if ore not in vein]
        if max(abs(vein[0][0] - middle[0]), abs(vein[0][2] - middle[1])) > _REGION_BLOCKS // 2:
            continue
        digging = _digging_blocks(world, vein, ores, level.target_count)
        if digging is not None and level.digging_blocks[0] <= digging <= level.digging_blocks[1]:
            found.append(vein)
    yield from found


def _spawns_around(world: World, vein: tuple[Position, ...], level: Exploration) -> Iterator[tuple[Feet, int]]:
    """Yield places to start whose nearest ore on the surface is the vein's, and that have a level's demand."""
    surface = _Ores(world).on_surface
    low, high = level.distance_blocks
    middle = vein[0][0], vein[0][2]
    for spawn, number in spawns(world, middle, mixed(world.seed, *middle), _SPAWNS_A_VEIN, int(high)):
        nearest = _nearest(spawn, surface)
        if nearest not in vein or not low <= distance_to(spawn, nearest) <= high:
            continue
        if ores_around(world, eye_of(spawn), TARGET):
            continue
        least, most = level.share_of_sight
        if least <= share_of_sight(world, spawn, SIGHT_RINGS, most) <= most:
            yield spawn, number


def _prove(kind: str, seed: int, world: World, vein: tuple[Position, ...], spawn: Feet, number: int) -> Scenario | None:
    level = EXPLOITATION[levels_of(kind)[1]]
    scenario = Scenario(
        name=f"{kind}-{seed}",
        kind=kind,
        seed=seed,
        world_seed=world.seed,
        spawn=spawn,
        yaw_deg=float(number % 12 * 30),
        target_count=level.target_count,
    )
    proof = plan(scenario, LONGEST_PROOF, ores=vein)
    if proof is None or len(proof) < SHORTEST_PROOF:
        return None
    if plan_from(engine_for(scenario), SHORTEST_PROOF - 1, shafts=False) is not None:
        return None
    proved = scenario.model_copy(update={"proof": proof, "budget": budget_for(len(proof))})
    return None if faults(proved) else proved


def _nearest(spawn: Feet, ores: Sequence[Position]) -> Position | None:
    return min(ores, key=lambda ore: (distance_to(spawn, ore), ore), default=None)


def _vein(ore: Position, ores: _Ores) -> tuple[Position, ...]:
    """Return an ore with those of its place that it hangs together with, face to face."""
    near = set(ores.near(ore))
    vein = [ore]
    for x, y, z in vein:  # grows while it is gone through
        around = [(x + dx, y + dy, z + dz) for dx, dy, dz in _NEIGHBOURS]
        vein += [other for other in around if other in near and other not in vein]
    return tuple(vein)


def _digging_blocks(world: World, vein: Sequence[Position], ores: _Ores, count: int) -> int | None:
    """Return what covers the `count` barest ores of the vein, or None where others of the place lie barer."""
    if len(vein) < count:
        return None
    near = ores.near(vein[0])
    depths = dict(zip(near, covers(world, vein[0], near), strict=True))
    of_vein = sum(sorted(depths[ore] for ore in vein)[:count])
    return of_vein if of_vein == sum(sorted(depths.values())[:count]) else None
