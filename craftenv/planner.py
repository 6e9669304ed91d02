"""Full-knowledge play through the 21 actions: proves that a scenario can be solved, and is the oracle's brain.

The planner reads the whole world, which no agent may. `craftenv.sim.search` finds the way; here it is turned into
actions and tried in a game of its own, so that what is returned is known to work.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.config import HEIGHT, LOOK_PITCH_COUNTS, LOOK_YAW_COUNTS, PITCH_LIMIT_COUNTS, WALK_PER_TICK
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.craftenv.sim.aiming import BREAK_TICKS, PITCHES, YAWS
from oresight.craftenv.sim.angles import cosine, counts, direction, sine
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.geometry import SOLID
from oresight.craftenv.sim.search import FIELD_RANGE, FIELD_SIDE, fill_field, search
from oresight.craftenv.sim.world import Position, World

PLAN_LIMIT = 50
# Chunks that the planner reads around the player: 7 leave at least 112 blocks on every side.
PLAN_RADIUS = 7
_NAMES = ("move_forward", "move_backward", "move_left", "move_right", "look_left", "look_right", "jump", "wait")
# How much the search trusts its guide: 1 finds the shortest plans; more is for when that takes too many poses.
_WEIGHTS = (1.0, 1.5)
_MAX_NODES = 300_000
_MORE_MINES = 4
# Ores farther away than the field reaches are no use.
_ORE_RANGE = FIELD_RANGE - 8


def engine_for(scenario: Scenario) -> Engine:
    """Return a fresh game of a scenario."""
    return Engine(
        scenario.world_seed,
        scenario.spawn,
        counts(scenario.yaw_deg),
        scenario.inventory_items,
        scenario.target_item,
    )


def plan(
    game: Scenario | Callable[[], Engine],
    max_actions: int = PLAN_LIMIT,
    *,
    target_count: int | None = None,
    ores: Sequence[Position] | None = None,
) -> tuple[str, ...] | None:
    """Find a short list of actions that acquires the target, and try it out.

    Args:
        game: A scenario, or a function that returns a fresh game each time it is called.
        max_actions: The longest plan wanted.
        target_count: How many ores; by default the scenario's number, or one.
        ores: The only ores to go for, by default any of the target kind.

    Returns:
        The actions, or None where no plan was found.
    """
    if isinstance(game, Scenario):
        scenario = game
        wanted = target_count or scenario.target_count

        def fresh() -> Engine:
            return engine_for(scenario)
    else:
        fresh = game
        wanted = target_count or 1
    engine = fresh()
    actions: list[str] = []
    acquired = 0
    while acquired < wanted:
        part = plan_from(engine, max_actions - len(actions), ores)
        if part is None:
            return None
        # A shaft that falls through a cave loses time that no plan foresees.
        gained = 0
        for name in (part + ("mine",) * _MORE_MINES)[: max_actions - len(actions)]:
            gained = len(engine.run(BY_NAME[name]).acquired)
            actions.append(name)
            if gained:
                break  # possibly another one, met on the way
        if gained == 0:
            return None
        acquired += gained
    return tuple(actions)


def plan_from(
    engine: Engine, max_actions: int, ores: Sequence[Position] | None = None, *, shafts: bool = True
) -> tuple[str, ...] | None:
    """Find actions that get one more ore from where a game stands; the game is not changed.

    Args:
        engine: The game.
        max_actions: The longest plan wanted.
        ores: The only ores to go for, by default any of the game's target kind.
        shafts: Whether to dig straight down where walking does not lead to an ore.

    Returns:
        The actions, not yet tried, or None.
    """
    player, world = engine.player, engine.world
    world.ensure_around(player.x, player.z, PLAN_RADIUS)
    x0, z0 = int(np.floor(player.x)) - FIELD_RANGE, int(np.floor(player.z)) - FIELD_RANGE
    goals = [ore for ore in (ores if ores is not None else find_ores(world, engine.target_item)) if world.get(*ore)]
    goals = [ore for ore in goals if max(abs(ore[0] - x0 - FIELD_RANGE), abs(ore[2] - z0 - FIELD_RANGE)) <= _ORE_RANGE]
    if not goals or max_actions < 1:
        return None
    targets = np.array(goals, dtype=np.int64)
    views, walks = _tables(player.yaw)
    field = np.empty((FIELD_SIDE, FIELD_SIDE, HEIGHT), dtype=np.float32)
    tilt = (player.pitch + PITCH_LIMIT_COUNTS) // LOOK_PITCH_COUNTS
    mines = 0
    # Shafts only where no ore can be had from where one can walk.
    for deep in (False, True):
        start_y = int(np.floor(player.y))
        fill_field(world.blocks, SOLID, BREAK_TICKS, views, targets, x0, z0, start_y, max_actions, deep, field)
        for weight in _WEIGHTS:
            steps, yaw, pitch, mines = search(
                world.blocks,
                SOLID,
                BREAK_TICKS,
                views,
                walks,
                targets,
                field,
                x0,
                z0,
                np.array([player.x, player.y, player.z, player.speed_y], dtype=np.float64),
                int(player.on_ground) + 2 * int(player.in_water),
                tilt,
                max_actions,
                deep,
                weight,
                _MAX_NODES,
            )
            if mines >= 0:
                break
        if mines > 0 or not shafts:
            break
    if mines <= 0:
        return None
    names = [_NAMES[step] for step in steps.tolist()]
    turned = names.count("look_right") - names.count("look_left")
    names += _turn((yaw - turned) % YAWS)
    names += ["look_down" if pitch > tilt else "look_up"] * abs(pitch - tilt)
    names += ["mine"] * mines
    return tuple(names)


def _turn(around: int) -> list[str]:
    return ["look_right"] * around if around <= YAWS // 2 else ["look_left"] * (YAWS - around)


def _tables(yaw: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the view directions [yaw, pitch, 3] and one tick's walks [yaw, action, 2] around a yaw in counts."""
    views = np.empty((YAWS, PITCHES, 3), dtype=np.float64)
    walks = np.empty((YAWS, 4, 2), dtype=np.float64)
    for turn in range(YAWS):
        facing = yaw + turn * LOOK_YAW_COUNTS
        for tilt in range(PITCHES):
            views[turn, tilt] = direction(facing, tilt * LOOK_PITCH_COUNTS - PITCH_LIMIT_COUNTS)
        # Written as the player's own walk is, so that it is equal to the last bit.
        sin_yaw, cos_yaw = sine(facing), cosine(facing)
        for index, (forward, right) in enumerate(((1, 0), (-1, 0), (0, -1), (0, 1))):
            walks[turn, index] = (
                (-sin_yaw * forward - cos_yaw * right) * (WALK_PER_TICK * 1.0),
                (cos_yaw * forward - sin_yaw * right) * (WALK_PER_TICK * 1.0),
            )
    return views, walks


def find_ores(world: World, kind: int) -> list[Position]:
    """Return the natural ores of a kind that are loaded and still stand, in the order of their positions."""
    found: list[Position] = []
    for sx, sz in np.argwhere(world.ore_counts > 0).tolist():
        cx, cz = int(world.slot_cx[sx, sz]), int(world.slot_cz[sx, sz])
        for lx, y, lz in world.ores[sx, sz, : int(world.ore_counts[sx, sz])].tolist():
            ore = (cx * 16 + lx, y, cz * 16 + lz)
            if world.get(*ore) == kind and world.is_natural(*ore):
                found.append(ore)
    return sorted(found)
