"""Scripted behaviours for calibrating the error metric: things a player does that everybody can judge.

A behaviour is a stage (a world, changed where needed, with the player in it) and a script, a generator that knows the
game fully and yields actions. Nothing here scores anything.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from oresight.craftenv.actions import ACTION_NAMES, BY_NAME
from oresight.craftenv.blocks import Block
from oresight.craftenv.config import (
    HEIGHT,
    LOAD_RADIUS_CHUNKS,
    LOOK_PITCH_COUNTS,
    LOOK_YAW_COUNTS,
    PITCH_LIMIT_COUNTS,
    REACH_BLOCKS,
    YAW_COUNTS,
)
from oresight.craftenv.sim.angles import direction
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.geometry import SOLID, cast_ray
from oresight.craftenv.sim.ground import top_of_column
from oresight.craftenv.sim.player import Player, advance
from oresight.craftenv.sim.terrain import hash4
from oresight.craftenv.sim.world import Position

Script = Callable[[Engine, int], Iterator[str]]

_STONE = int(Block.STONE)
_AIR = int(Block.AIR)
_IRON = int(Block.IRON_ORE)
# No natural world shows a diamond at its surface soon: whoever looks for one has nothing to exploit.
_NEVER_SEEN = int(Block.DIAMOND_ORE)
_PLATFORM_Y = 80  # above every hill
_DEEP_Y = 10
_MOVES = ("move_forward", "move_backward", "move_left", "move_right")
_LOOKS = ("look_left", "look_right", "look_up", "look_down")


@dataclass
class Stage:
    """A game ready to play.

    Attributes:
        engine: World and player.
        veil: Blocks put back after the first look: the player has seen the ore and then it is covered.
    """

    engine: Engine
    veil: dict[Position, int] = field(default_factory=dict)

    def cover(self) -> None:
        """Put the veil's blocks into the world."""
        for (x, y, z), block in self.veil.items():
            self.engine.world.set(x, y, z, block)


@dataclass(frozen=True)
class Behaviour:
    """One row of the calibration.

    Attributes:
        name: What is done, in words.
        case: 1 where no ore is known throughout, 2 where one is from the start on.
        expected: The lenient rate that is expected, lowest and highest.
        stage: Makes the stage for a seed.
        script: What is done there; gets the game and the seed.
        decisions: How many decisions are played at most.
        warm_up: How many of them, from the start, only make the place known and do not count.
    """

    name: str
    case: int
    expected: tuple[float, float]
    stage: Callable[[int], Stage]
    script: Script
    decisions: int = 100
    warm_up: int = 0


# --- stages ----------------------------------------------------------------------------------------------------------


def _ground_cell(seed: int) -> tuple[float, float, float]:
    """Return a standing place on natural grass near the origin."""
    probe = Engine(seed, (0.5, float(HEIGHT), 0.5))
    world = probe.world
    world.ensure(0, 0, 4)
    for radius in range(60):
        for x in range(-radius, radius + 1):
            for z in (-radius, radius):
                feet = top_of_column(world, x, z)
                if world.get(x, int(feet[1]) - 1, z) == Block.GRASS:
                    return feet
    raise ValueError(f"world {seed} has no grass near its origin")


def _natural(seed: int) -> Stage:
    return Stage(Engine(seed, _ground_cell(seed), target_item=_NEVER_SEEN))


def _before_a_wall(seed: int) -> Stage:
    stage = _natural(seed)
    x, y, z = (int(v // 1) for v in stage.engine.player.feet)
    _fill(stage.engine, (x - 4, x + 4), (y, y + 5), (z + 1, z + 1), _STONE)
    return stage


def _deep(seed: int, target: int = _NEVER_SEEN) -> Stage:
    """A chamber of one block by two, deep in natural rock."""
    engine = Engine(seed, (0.5, float(HEIGHT), 0.5), target_item=target)
    _fill(engine, (-1, 1), (_DEEP_Y - 1, _DEEP_Y + 2), (-1, 1), _STONE)
    _fill(engine, (0, 0), (_DEEP_Y, _DEEP_Y + 1), (0, 0), _AIR)
    engine.player.x, engine.player.y, engine.player.z = 0.5, float(_DEEP_Y), 0.5
    engine.player.on_ground = True
    return Stage(engine)


def _platform(seed: int, half: int, target: int = _NEVER_SEEN) -> Stage:
    """A bare stone floor high above the land."""
    engine = Engine(seed, (0.5, float(_PLATFORM_Y + 1), 0.5), target_item=target)
    engine.world.ensure(0, 0, LOAD_RADIUS_CHUNKS)
    _fill(engine, (-half, half), (_PLATFORM_Y, _PLATFORM_Y), (-half, half), _STONE)
    engine.player.on_ground = True
    return Stage(engine)


def _arena(seed: int) -> Stage:
    stage = _platform(seed, 4)
    for low, high in (((-4, -4), (4, -4)), ((-4, 4), (4, 4)), ((-4, -4), (-4, 4)), ((4, -4), (4, 4))):
        _fill(stage.engine, (low[0], high[0]), (_PLATFORM_Y + 1, _PLATFORM_Y + 5), (low[1], high[1]), _STONE)
    return stage


# Steps of the staircase: one block up every two blocks, so that what stands on the top can be seen from the foot.
_STEPS = 8


def _staircase(seed: int, target: int = _NEVER_SEEN) -> Stage:
    """A staircase up from the platform, with a landing at its top."""
    stage = _platform(seed, 2, target)
    for step in range(1, _STEPS + 1):
        _fill(stage.engine, (-1, 1), (_PLATFORM_Y, _PLATFORM_Y + step), (2 * step, 2 * step + 1), _STONE)
    top = 2 * _STEPS + 2
    _fill(stage.engine, (-1, 1), (_PLATFORM_Y, _PLATFORM_Y + _STEPS), (top, top + 2), _STONE)
    return stage


def _staircase_to_ore(seed: int) -> Stage:
    stage = _staircase(seed, _IRON)
    landing = _PLATFORM_Y + _STEPS
    _fill(stage.engine, (0, 0), (landing + 1, landing + 2), (2 * _STEPS + 3, 2 * _STEPS + 3), _STONE)
    stage.engine.world.set(0, landing + 3, 2 * _STEPS + 3, _IRON)
    stage.engine.player.pitch = -LOOK_PITCH_COUNTS
    return stage


def _walled_platform(seed: int) -> Stage:
    stage = _platform(seed, 24)
    _fill(stage.engine, (-7, 7), (_PLATFORM_Y + 1, _PLATFORM_Y + 5), (3, 3), _STONE)
    return stage


def _ore_behind_a_wall(seed: int) -> Stage:
    """An ore seen over a floor; then a wall rises in between that is walked round."""
    stage = _platform(seed, 24, _IRON)
    stage.engine.world.set(0, _PLATFORM_Y + 1, 14, _IRON)
    stage.veil = {(x, y, 3): _STONE for x in range(-7, 8) for y in range(_PLATFORM_Y + 1, _PLATFORM_Y + 6)}
    return stage


def _ore_on_a_floor(seed: int) -> Stage:
    stage = _platform(seed, 24, _IRON)
    stage.engine.world.set(0, _PLATFORM_Y + 1, 20, _IRON)
    return stage


def _ore_above(seed: int) -> Stage:
    """An ore nine blocks above a floor and two ahead; the player carries dirt."""
    stage = _platform(seed, 6, _IRON)
    engine = stage.engine
    engine.world.set(0, _PLATFORM_Y + 10, 2, _IRON)
    for _ in range(40):
        engine.player.hotbar.add(int(Block.DIRT), precious=False)
    engine.player.pitch = -5 * LOOK_PITCH_COUNTS
    return stage


def _buried_ore(offset: Position, pitch_steps: int) -> Callable[[int], Stage]:
    """An ore in deep rock, seen once through a thin shaft that then closes."""

    def build(seed: int) -> Stage:
        stage = _deep(seed, _IRON)
        engine = stage.engine
        world = engine.world
        world.ensure(0, 0, 4)
        engine.player.pitch = pitch_steps * LOOK_PITCH_COUNTS
        ore = (offset[0], _DEEP_Y + offset[1], offset[2])
        # Solid rock all along: a natural cave on the way would make it another behaviour.
        low = [min(0, part) - 2 for part in offset]
        high = [max(0, part) + 3 for part in offset]
        chamber = {(0, _DEEP_Y, 0), (0, _DEEP_Y + 1, 0)}
        for x in range(low[0], high[0] + 1):
            for y in range(max(1, _DEEP_Y + low[1]), _DEEP_Y + high[1] + 1):
                for z in range(low[2], high[2] + 1):
                    if (x, y, z) not in chamber:
                        world.set(x, y, z, _STONE)
        world.set(*ore, _IRON)
        eye = engine.player.eye
        for n in range(1, 2000):
            point = [eye[axis] + (ore[axis] + 0.5 - eye[axis]) * n / 2000 for axis in range(3)]
            cell = (int(point[0] // 1), int(point[1] // 1), int(point[2] // 1))
            if cell != ore and cell not in chamber and cell not in stage.veil:
                stage.veil[cell] = world.get(*cell)
                world.set(*cell, _AIR)
        return stage

    return build


def _fill(engine: Engine, xs: tuple[int, int], ys: tuple[int, int], zs: tuple[int, int], block: int) -> None:
    """Set every block of a box, both ends included."""
    for x in range(xs[0], xs[1] + 1):
        for y in range(ys[0], ys[1] + 1):
            for z in range(zs[0], zs[1] + 1):
                engine.world.set(x, y, z, block)


# --- scripts ---------------------------------------------------------------------------------------------------------


def _repeat(*actions: str) -> Script:
    def script(_game: Engine, _seed: int) -> Iterator[str]:
        while True:
            yield from actions

    return script


def _then(first: Iterable[str], *rest: str) -> Script:
    """Some actions once, then others for ever (or the end, if there are none)."""
    opening = tuple(first)

    def script(_game: Engine, _seed: int) -> Iterator[str]:
        yield from opening
        while rest:
            yield from rest

    return script


def _random(actions: tuple[str, ...]) -> Script:
    def script(_game: Engine, seed: int) -> Iterator[str]:
        draw = 0
        while True:
            yield actions[int(hash4(seed, 0, draw, 0, 0)) % len(actions)]
            draw += 1

    return script


def _predict(game: Engine, turn: int, jump_first: bool) -> Player:
    """Return where a walk forward would end after so many looks to the right, without touching the game."""
    ghost = replace(game.player, yaw=(game.player.yaw + turn * LOOK_YAW_COUNTS) % YAW_COUNTS)
    blocks = game.world.blocks
    if jump_first:
        for tick in range(BY_NAME["jump"].ticks):
            advance(ghost, blocks, 0, 0, jump_held=True, jump_pressed=tick == 0)
    for _ in range(BY_NAME["move_forward"].ticks):
        advance(ghost, blocks, 1, 0, jump_held=False, jump_pressed=False)
    return ghost


def _explore(game: Engine, _seed: int) -> Iterator[str]:
    """Walk where open ground can be seen that was not walked before, turning as little as possible."""
    walked: set[tuple[int, int]] = set()
    while True:
        x, y, z = game.player.feet
        walked.add((int(x // 4), int(z // 4)))
        plans = []
        for turn in range(-5, 7):
            for jump_first in (False, True):
                end = _predict(game, turn, jump_first)
                went = ((end.x - x) ** 2 + (end.z - z) ** 2) ** 0.5
                if went >= 2.0 and end.y > y - 4.0 and not end.in_water:
                    known = (int(end.x // 4), int(end.z // 4)) in walked
                    plans.append((known, abs(turn) + jump_first, turn, jump_first))
        if plans:
            _, _, turn, jump_first = min(plans)
            yield from ["look_right" if turn > 0 else "look_left"] * abs(turn)
            if jump_first:
                yield "jump"
            yield "move_forward"
        else:  # shut in: cut steps up and out
            yield from _advance(game, (game.player.yaw + 300) // 600 % 4 * 600, 1)


def _first_hit(game: Engine, yaw: int, pitch: int) -> Position | None:
    x, y, z, face = cast_ray(game.world.blocks, SOLID, True, *game.player.eye, *direction(yaw, pitch), REACH_BLOCKS)
    return (x, y, z) if face >= 0 else None


def _turn_to(game: Engine, yaw: int, pitch: int) -> Iterator[str]:
    turns = ((yaw - game.player.yaw) // LOOK_YAW_COUNTS + 6) % 12 - 6
    yield from ["look_right" if turns > 0 else "look_left"] * abs(turns)
    tilts = (pitch - game.player.pitch) // LOOK_PITCH_COUNTS
    yield from ["look_down" if tilts > 0 else "look_up"] * abs(tilts)


def _best_aim(game: Engine, cell: Position, keep: set[Position]) -> tuple[bool, int, int, int] | None:
    """Return the view that meets a block first by the fewest looks, if there is one.

    Returns:
        Whether a block of `keep` lies right behind it, the number of looks, yaw and pitch in counts.
    """
    blocks = game.world.blocks
    index = (cell[0] & 255, cell[2] & 255, cell[1])
    options = []
    for yaw in range(0, YAW_COUNTS, LOOK_YAW_COUNTS):
        for pitch in range(-PITCH_LIMIT_COUNTS, PITCH_LIMIT_COUNTS + 1, LOOK_PITCH_COUNTS):
            if _first_hit(game, yaw, pitch) != cell:
                continue
            block = blocks[index]
            blocks[index] = _AIR
            behind = _first_hit(game, yaw, pitch)
            blocks[index] = block
            turns = abs(((yaw - game.player.yaw) // LOOK_YAW_COUNTS + 6) % 12 - 6)
            tilts = abs(pitch - game.player.pitch) // LOOK_PITCH_COUNTS
            options.append((behind in keep, turns + tilts, yaw, pitch))
    return min(options) if options else None


def _dig(game: Engine, cells: Iterable[Position], keep: set[Position]) -> Iterator[str]:
    """Mine blocks, the one that needs the fewest looks first, sparing those in `keep`; what no view meets is left."""
    while left := [cell for cell in cells if SOLID[game.world.get(*cell)]]:
        aims = [aim for cell in left if (aim := _best_aim(game, cell, keep)) is not None]
        if not aims:
            return
        _, _, yaw, pitch = min(aims)
        yield from _turn_to(game, yaw, pitch)
        yield "mine"


def _advance(game: Engine, yaw: int, rise: int) -> Iterator[str]:
    """Cut one block of tunnel towards a yaw of 0, 90, 180 or 270 degrees, level, a step down or a step up; go there."""
    step_x, step_z = {0: (0, 1), 600: (-1, 0), 1200: (0, -1), 1800: (1, 0)}[yaw]
    x, y, z = int(game.player.x // 1), int(game.player.y // 1), int(game.player.z // 1)
    ahead = (x + step_x, z + step_z)
    keep = {(ahead[0], y + rise - 1, ahead[1]), (ahead[0] + step_x, y + 2 * rise - 1, ahead[1] + step_z)}
    cells = [(ahead[0], y + height, ahead[1]) for height in {-1: (1, 0, -1), 0: (1, 0), 1: (1, 2)}[rise]]
    if rise > 0:
        cells.append((x, y + 2, z))
    yield from _dig(game, cells, keep)
    # Walk along the yaw with the pitch as it is: only the yaw decides where the feet go.
    yield from _turn_to(game, yaw, game.player.pitch)
    if rise > 0:
        yield "jump"
    yield "move_forward"


def _tunnel(rise: int) -> Script:
    def script(game: Engine, _seed: int) -> Iterator[str]:
        while True:
            yield from _advance(game, 0, rise)

    return script


def _branches(game: Engine, _seed: int) -> Iterator[str]:
    """A level tunnel with a branch of three blocks to the left at every third block, walked out and back."""
    while True:
        for _ in range(3):
            yield from _advance(game, 0, 0)
        home = (game.player.x, game.player.z)
        for _ in range(3):
            yield from _advance(game, 1800, 0)
        while abs(game.player.x - home[0]) > 1.0:
            yield "move_backward"


def _spiral(game: Engine, _seed: int) -> Iterator[str]:
    turn = 0
    while True:
        yield from _advance(game, (0, 600, 1200, 1800)[turn % 4], 1)
        turn += 1


def _shaft(game: Engine, _seed: int) -> Iterator[str]:
    yield from _turn_to(game, game.player.yaw, PITCH_LIMIT_COUNTS)
    while True:
        yield "mine"


def _pillar(*after_each: str) -> Script:
    """Jump and put a block underneath, again and again."""

    def script(game: Engine, _seed: int) -> Iterator[str]:
        yield from _turn_to(game, game.player.yaw, PITCH_LIMIT_COUNTS)
        while game.player.y < _PLATFORM_Y + 8:
            yield from ("jump", "place", *after_each)

    return script


_AROUND = ("move_right", "move_right", "move_forward", "move_forward", "move_forward", "move_left")

BEHAVIOURS: tuple[Behaviour, ...] = (
    Behaviour("idle", 1, (0.9, 1.0), _natural, _repeat("wait")),
    Behaviour("mining the sky", 1, (0.9, 1.0), _natural, _then(["look_up"] * 6, "mine")),
    Behaviour("walking into a wall", 1, (0.9, 1.0), _before_a_wall, _repeat("move_forward")),
    Behaviour("pacing", 1, (0.9, 1.0), _natural, _repeat("move_forward", "move_backward")),
    Behaviour("nodding", 1, (0.9, 1.0), _natural, _repeat("look_down", "look_up")),
    Behaviour("hopping", 1, (0.9, 1.0), _natural, _repeat("jump")),
    Behaviour("spinning", 1, (0.55, 0.8), _natural, _repeat("look_right")),
    Behaviour("spinning, 300 decisions", 1, (0.8, 1.0), _natural, _repeat("look_right"), decisions=300),
    Behaviour("one of the 21 at random", 1, (0.3, 0.6), _natural, _random(ACTION_NAMES)),
    Behaviour("random moves and looks", 1, (0.05, 0.35), _natural, _random(_MOVES + _LOOKS)),
    Behaviour("the same in a walled arena", 1, (0.7, 1.0), _arena, _random(_MOVES + _LOOKS), 300, warm_up=200),
    Behaviour("exploring where it sees", 1, (0.0, 0.1), _natural, _explore),
    Behaviour("level tunnel", 1, (0.0, 0.05), _deep, _tunnel(0)),
    Behaviour("stairs down", 1, (0.0, 0.05), _deep, _tunnel(-1), decisions=24),
    Behaviour("branch mine", 1, (0.0, 0.05), _deep, _branches),
    Behaviour("climbing", 1, (0.0, 0.05), _staircase, _repeat("jump", "move_forward"), decisions=16),
    Behaviour("detour", 1, (0.0, 0.05), _walled_platform, _then(_AROUND)),
    Behaviour(
        "out and back",
        1,
        (0.0, 0.05),
        lambda seed: _platform(seed, 24),
        _then(["move_forward"] * 5 + ["look_right"] * 6 + ["move_forward"] * 5),
    ),
    Behaviour("one look around", 1, (0.0, 0.05), _natural, _then(["look_right"] * 12)),
    Behaviour("climbing to the ore", 2, (0.0, 0.05), _staircase_to_ore, _repeat("jump", "move_forward"), 16),
    Behaviour("tunnelling to the ore", 2, (0.0, 0.05), _buried_ore((0, 1, 20), 0), _tunnel(0)),
    Behaviour("stairs down to the ore", 2, (0.0, 0.05), _buried_ore((0, -7, 8), 3), _tunnel(-1), 40),
    Behaviour("shaft down to the ore", 2, (0.0, 0.05), _buried_ore((0, -8, 0), 6), _shaft),
    Behaviour("detour to the ore", 2, (0.0, 0.05), _ore_behind_a_wall, _then(_AROUND)),
    Behaviour("pillar up to the ore, pausing", 2, (0.0, 0.3), _ore_above, _pillar("wait"), 35, warm_up=11),
    Behaviour("pillar up to the ore, not pausing", 2, (0.0, 0.3), _ore_above, _pillar(), 35, warm_up=11),
    Behaviour("spiral stairs up to the ore", 2, (0.0, 0.3), _buried_ore((0, 12, 2), -4), _spiral),
    Behaviour("waiting", 2, (0.9, 1.0), _ore_on_a_floor, _repeat("wait")),
    Behaviour("walking away", 2, (0.9, 1.0), _ore_on_a_floor, _repeat("move_backward"), 6),
    Behaviour("spinning", 2, (0.9, 1.0), _ore_on_a_floor, _repeat("look_right")),
    Behaviour("pacing", 2, (0.9, 1.0), _ore_on_a_floor, _repeat("move_forward", "move_backward")),
    Behaviour("looking to and fro", 2, (0.9, 1.0), _ore_on_a_floor, _repeat("look_right", "look_left")),
)
