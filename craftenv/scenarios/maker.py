"""Makes scenarios: looks through a seed's world for a fitting spawn and ore, and proves that the ore can be had.

Everything is drawn from integer hashes of kind and seed and bounded by counts, so the same name gives the same scenario
everywhere. What was made once is kept in the user's cache folder. ``python -m craftenv.scenarios.maker`` makes the
committed ones. The kinds of the suite `craft-mine` are made here, those by demand in `craftenv.scenarios.dials`.
"""

import argparse
import contextlib
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from oresight.craftenv.config import EYE_HEIGHT, TERRAIN_VERSION
from oresight.craftenv.planner import PLAN_LIMIT, PLAN_RADIUS, find_ores, plan_from
from oresight.craftenv.scenarios import dials
from oresight.craftenv.scenarios.scenario import Scenario, UnknownScenarioError, load_scenario
from oresight.craftenv.scenarios.search import (
    REGION_BLOCKS,
    RINGS,
    TARGET,
    Feet,
    acquired_by_proof,
    eye_of,
    mixed,
    regions,
    share_of_sight,
    spawns,
    straight,
)
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.geometry import OPAQUE, cast_ray
from oresight.craftenv.sim.places import is_surface_ore, mouths, on_slope, ores_around, sees_cell
from oresight.craftenv.sim.terrain import surface_height
from oresight.craftenv.sim.world import Position, World

SUITES: dict[str, tuple[str, ...]] = {"craft-mine": ("outcrop", "valley", "cave"), "craft-dials": dials.KINDS}
SUITE_SEEDS = (0, 1, 2)
SHORTEST_PROOF = 8
MAKING_LIMIT_S = 60.0
# Straight distance from spawn to ore, in blocks.
DISTANCES = {"outcrop": (16.0, 32.0), "valley": (20.0, 40.0), "cave": (8.0, 32.0)}
MOUTH_SIGHT_BLOCKS = 24.0
MOUTH_CELLS_SEEN = 3
HILL_BLOCKS = 3.0

_SALTS = {"outcrop": 1, "valley": 2, "cave": 3}
# The best of this many proved ones is taken.
_CANDIDATES = 8
# What makes one better than another: a proof of about this length, an ore that is in sight from some places around the
# spawn, and one that is had without digging.
_LIKED_PROOF = 15
_LIKED_SHARE = 0.25
_HIDDEN_PENALTY = 40.0
_DIGGING_PENALTY = 5.0


@dataclass(frozen=True)
class _Proved:
    """A spawn with a proof, and how much it is wanted (less is better)."""

    spawn: Feet
    yaw_deg: float
    proof: tuple[str, ...]
    score: float


def _hill_between(world: World, spawn: Feet, ore: Position) -> bool:
    """Say whether the ground on the straight way rises 3 blocks above the eye, and the ore lies lower behind it."""
    dx, dz = ore[0] + 0.5 - spawn[0], ore[2] + 0.5 - spawn[2]
    steps = 2 * int((dx * dx + dz * dz) ** 0.5)
    crest = max(
        (
            surface_height(world.seed, int((spawn[0] + dx * n / steps) // 1), int((spawn[2] + dz * n / steps) // 1)) + 1
            for n in range(4, steps - 3)
        ),
        default=0,
    )
    if crest < spawn[1] + EYE_HEIGHT + HILL_BLOCKS or ore[1] + 1 >= crest:
        return False
    eye = eye_of(spawn)
    to = (dx, ore[1] + 0.5 - eye[1], dz)
    length = (to[0] * to[0] + to[1] * to[1] + to[2] * to[2]) ** 0.5
    x, y, z, face = cast_ray(
        world.blocks, OPAQUE, False, *eye, to[0] / length, to[1] / length, to[2] / length, length - 2.0
    )
    return bool(face >= 0 and y <= surface_height(world.seed, x, z))


def fits(kind: str, world: World, spawn: Feet, ore: Position) -> bool:
    """Say whether spawn and ore stand to each other as a kind of scenario wants; sight of the ore is another matter.

    Args:
        kind: ``outcrop``, ``valley`` or ``cave``.
        world: Loaded around both.
        spawn: Feet.
        ore: The ore to be found.
    """
    low, high = DISTANCES[kind]
    if not low <= straight(spawn, ore) <= high:
        return False
    if kind == "outcrop":
        return is_surface_ore(world, ore) and on_slope(world, ore)
    if kind == "valley":
        return is_surface_ore(world, ore) and _hill_between(world, spawn, ore)
    near = [cell for cell in mouths(world, ore) if straight(eye_of(spawn), cell) <= MOUTH_SIGHT_BLOCKS]
    return sum(sees_cell(world, eye_of(spawn), cell) for cell in near) >= MOUTH_CELLS_SEEN


def first_ore(scenario: Scenario) -> tuple[Position, int] | None:
    """Play a scenario's proof; return the first ore that it acquires and after how many decisions, or None."""
    return next(iter(acquired_by_proof(scenario)), None)


def faults(scenario: Scenario) -> list[str]:
    """Return what keeps a scenario from being one of its kind, proof included; nothing if it is."""
    if scenario.kind in dials.KINDS:
        return dials.faults(scenario)
    found = first_ore(scenario)
    if found is None:
        return ["the proof acquires nothing"]
    ore, decisions = found
    complaints = []
    if decisions != len(scenario.proof) or not SHORTEST_PROOF <= decisions <= scenario.budget // 2:
        complaints.append(f"the proof has {len(scenario.proof)} decisions and is done after {decisions}")
    world = World(scenario.world_seed)
    world.ensure_around(scenario.spawn[0], scenario.spawn[2], PLAN_RADIUS)
    if not fits(scenario.kind, world, scenario.spawn, ore):
        complaints.append(f"the ore at {ore} does not lie as {scenario.kind} wants")
    seen = ores_around(world, eye_of(scenario.spawn), scenario.target_item)
    if seen:
        complaints.append(f"the spawn sees ores at {sorted(seen)}")
    return complaints


def _candidate_ores(kind: str, world: World) -> list[Position]:
    ores = find_ores(world, TARGET)
    if kind == "cave":
        return [ore for ore in ores if mouths(world, ore)]
    return [ore for ore in ores if is_surface_ore(world, ore)]


def _prove(kind: str, world: World, spawn: Feet, number: int, ores: list[Position]) -> _Proved | None:
    goals = [ore for ore in ores if fits(kind, world, spawn, ore)]
    if not goals or ores_around(world, eye_of(spawn), TARGET):
        return None
    yaw_deg = float(number % 12 * 30)
    engine = Engine(world.seed, spawn, round(yaw_deg / 0.15))
    proof = plan_from(engine, PLAN_LIMIT, goals, shafts=False)
    if proof is None or len(proof) < SHORTEST_PROOF:
        return None
    # Another ore must not be had sooner, even one hidden a few blocks below the spawn.
    close = [ore for ore in find_ores(world, TARGET) if straight(spawn, ore) < 30.0]
    if plan_from(engine, SHORTEST_PROOF - 1, close, shafts=False) is not None:
        return None
    found = first_ore(_scenario(kind, 0, world.seed, spawn, yaw_deg, proof))
    if found is None or found[1] != len(proof) or found[0] not in goals:
        return None
    score = (
        abs(len(proof) - _LIKED_PROOF)
        + _HIDDEN_PENALTY * max(0.0, _LIKED_SHARE - share_of_sight(world, spawn))
        + _DIGGING_PENALTY * (proof.count("mine") - 1)
    )
    return _Proved(spawn, yaw_deg, proof, score)


def _scenario(kind: str, seed: int, world_seed: int, spawn: Feet, yaw_deg: float, proof: tuple[str, ...]) -> Scenario:
    return Scenario(
        name=f"{kind}-{seed}",
        kind=kind,
        seed=seed,
        world_seed=world_seed,
        spawn=spawn,
        yaw_deg=yaw_deg,
        proof=proof,
    )


def make_scenario(kind: str, seed: int) -> Scenario:
    """Make and prove a scenario; the same kind and seed always give the same one.

    Args:
        kind: ``outcrop``, ``valley``, ``cave``, or one of `dials.KINDS`.
        seed: Which one, 0 or more.

    Raises:
        UnknownScenarioError: No such kind, or nothing in the seed's world fits.
    """
    if kind in dials.KINDS:
        return dials.make(kind, seed, MAKING_LIMIT_S)
    if kind not in _SALTS:
        raise UnknownScenarioError(f"unknown kind {kind!r}; expected one of {', '.join((*_SALTS, *dials.KINDS))}")
    world_seed = mixed(_SALTS[kind], seed) >> 16  # 48 bits: exact in every JSON reader
    give_up_at = time.monotonic() + MAKING_LIMIT_S
    proved: list[_Proved] = []
    for region in regions():
        world = World(world_seed)
        world.ensure_around(*region, PLAN_RADIUS)
        ores = _candidate_ores(kind, world)
        for spawn, number in spawns(world, region, mixed(world_seed, *region)):
            if time.monotonic() > give_up_at:
                raise UnknownScenarioError(
                    f"no solvable world for this seed: {kind}-{seed} was given up after {MAKING_LIMIT_S:.0f} s"
                )
            one = _prove(kind, world, spawn, number, ores)
            if one is not None:
                proved.append(one)
            if len(proved) == _CANDIDATES:
                break
        # A region that held anything is enough: farther ones are not better.
        if proved:
            best = min(proved, key=lambda one: one.score)
            return _scenario(kind, seed, world_seed, best.spawn, best.yaw_deg, best.proof)
    raise UnknownScenarioError(
        f"no solvable world for this seed: nothing within {RINGS * REGION_BLOCKS} blocks makes {kind}-{seed}; "
        "try another seed"
    )


def cache_folder() -> Path:
    """Return the folder in which made scenarios are kept: in the user's cache, one for each version of the terrain."""
    return platformdirs.user_cache_path("oresight") / f"scenarios-{TERRAIN_VERSION}"


def make_or_load_cached(kind: str, seed: int, folder: Path | None = None) -> Scenario:
    """Return a scenario from the cache, or make it and keep it there; a broken cache file is replaced.

    Args:
        kind: As for `make_scenario`.
        seed: Which one.
        folder: Where to keep it, by default `cache_folder`.

    Raises:
        UnknownScenarioError: No such kind, or nothing in the seed's world fits.
    """
    path = (folder or cache_folder()) / f"{kind}-{seed}.json"
    try:
        kept = load_scenario(path.read_text(encoding="utf-8"), str(path))
        if (kept.kind, kept.seed) == (kind, seed) and len(acquired_by_proof(kept)) >= kept.target_count:
            return kept
    except (OSError, ValueError):
        pass  # not there, not readable or no scenario: it is made now
    made = make_scenario(kind, seed)
    # A cache that cannot be written costs time, nothing else.
    with contextlib.suppress(OSError):
        write_scenario(made, path)
    return made


def write_scenario(scenario: Scenario, path: Path) -> None:
    """Write a scenario as JSON; a reader sees the old file or the whole new one.

    Raises:
        OSError: The folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(scenario.model_dump(mode="json"), indent=1) + "\n")
        Path(name).chmod(0o644)  # temporary files are private
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def main() -> None:
    """Make scenarios and write them into a folder."""
    kinds = [kind for kinds in SUITES.values() for kind in kinds]
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path, help="where to write, for example assets/scenarios")
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SUITE_SEEDS))
    asked = parser.parse_args()
    for kind in asked.kinds:
        for seed in asked.seeds:
            began = time.monotonic()
            scenario = make_scenario(kind, seed)
            write_scenario(scenario, asked.folder / f"{scenario.name}.json")
            took = time.monotonic() - began
            print(
                f"{scenario.name}: proof of {len(scenario.proof)} decisions, {took:.1f} s, {faults(scenario) or 'good'}"
            )


if __name__ == "__main__":
    main()
