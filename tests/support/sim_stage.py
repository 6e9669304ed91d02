"""Small stages for tests of the simulation: a stone floor high above any terrain, and what a test puts on it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from oresight.craftenv.actions import ACTIONS, BY_NAME, Action
from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import BODY_HEIGHT, HALF_WIDTH
from oresight.craftenv.scenarios.scenario import Scenario
from oresight.craftenv.sim.engine import Engine, Happenings
from oresight.craftenv.sim.ground import spawn_on_ground

# No hill or tree reaches this high, and twelve layers are left above it.
FLOOR = 82
GROUND = FLOOR + 1
SYMBOLS = {
    ".": Block.AIR,
    "#": Block.STONE,
    "L": Block.LEAVES,
    "~": Block.WATER,
    "I": Block.IRON_ORE,
    "C": Block.COAL_ORE,
    "B": Block.BEDROCK,
    "T": Block.TORCH,
}


def stage(
    x: float = 0.5,
    z: float = 0.5,
    *,
    yaw_deg: float = 0.0,
    radius: int = 9,
    inventory: Mapping[int, int] | None = None,
    seed: int = 7,
) -> Engine:
    """Return an engine whose player stands on a square stone floor around (x, z)."""
    engine = Engine(seed, (x, float(GROUND), z), round(yaw_deg / 0.15), inventory)
    cx, cz = int(np.floor(x)), int(np.floor(z))
    fill(engine, (cx - radius, FLOOR, cz - radius), (cx + radius, FLOOR, cz + radius), Block.STONE)
    engine.player.on_ground = True
    return engine


def scenario(world_seed: int = 3, **more: object) -> Scenario:
    """A scenario without proof, on the ground of a world."""
    spawn = spawn_on_ground(world_seed, 0.5, 0.5)
    return Scenario.model_validate(
        {"name": "test", "kind": "test", "seed": 0, "world_seed": world_seed, "spawn": spawn, **more}
    )


def fill(engine: Engine, low: tuple[int, int, int], high: tuple[int, int, int], block: Block) -> None:
    """Set every block from `low` to `high`, both included."""
    for x in range(low[0], high[0] + 1):
        for y in range(low[1], high[1] + 1):
            for z in range(low[2], high[2] + 1):
                engine.world.set(x, y, z, int(block))


def draw(engine: Engine, layers: list[str], x0: int, y0: int, z0: int) -> None:
    """Build text maps, lowest layer first; in each a line is a z (growing downwards) and a column an x."""
    for dy, layer in enumerate(layers):
        for dz, line in enumerate(layer.split()):
            for dx, symbol in enumerate(line):
                engine.world.set(x0 + dx, y0 + dy, z0 + dz, int(SYMBOLS[symbol]))


def play(engine: Engine, *names: str) -> Happenings:
    """Run actions by name and return what the last one did."""
    happened = Happenings()
    for name in names:
        happened = engine.run(BY_NAME[name])
    return happened


def hashed_actions(seed: int, count: int, pool: Sequence[Action] = ACTIONS) -> Iterator[Action]:
    """Return a stream of actions drawn from a pool by a hash, the same on every machine."""
    for n in range(count):
        digest = hashlib.blake2b(f"{seed}:{n}".encode(), digest_size=8).digest()
        yield pool[int.from_bytes(digest, "little") % len(pool)]


# A pool in which digging and building outweigh everything else.
BUSY: tuple[Action, ...] = ACTIONS + tuple(
    BY_NAME[name]
    for name in ["mine"] * 12 + ["place"] * 6 + ["look_down"] * 3 + ["look_right", "jump"] * 3 + ["move_forward"] * 4
)


def overlap(engine: Engine) -> tuple[int, int, int] | None:
    """Return a solid block that the player's box overlaps, found without the engine's own geometry."""
    player = engine.player
    for x in range(int(np.floor(player.x - HALF_WIDTH)) - 1, int(np.floor(player.x + HALF_WIDTH)) + 2):
        for z in range(int(np.floor(player.z - HALF_WIDTH)) - 1, int(np.floor(player.z + HALF_WIDTH)) + 2):
            for y in range(int(np.floor(player.y)), int(np.floor(player.y + BODY_HEIGHT)) + 1):
                if (
                    x < player.x + HALF_WIDTH
                    and x + 1 > player.x - HALF_WIDTH
                    and y < player.y + BODY_HEIGHT
                    and y + 1 > player.y
                    and z < player.z + HALF_WIDTH
                    and z + 1 > player.z - HALF_WIDTH
                    and BLOCKS[Block(engine.world.get(x, y, z))].solid
                ):
                    return x, y, z
    return None
