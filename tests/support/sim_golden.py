"""The golden hashes: what three worlds come to under 300 fixed decisions each, on every machine.

Run as a script to write the file anew, which is right only together with a new `TERRAIN_VERSION`.
"""

import hashlib
import itertools
import json
from typing import Any

from oresight.craftenv.actions import ACTIONS
from oresight.craftenv.blocks import Block
from oresight.craftenv.config import TERRAIN_VERSION
from oresight.craftenv.sim.engine import Engine
from oresight.craftenv.sim.ground import spawn_on_ground
from oresight.craftenv.sim.terrain import generate_chunk
from support.places import DATA
from support.sim_stage import BUSY, hashed_actions

PATH = DATA / "golden_hashes.json"
DECISIONS = 300
EVERY = 10
# A terrain seed each, with a start on the edge of the chunks around zero; the odd one digs and builds all the time.
WORLDS = (0, 1, 2026)
INVENTORY = {int(Block.COBBLESTONE): 32, int(Block.TORCH): 8, int(Block.PLANKS): 16}


def golden_run(world_seed: int) -> dict[str, Any]:
    """Play one world; return its hash at the start and after every tenth decision, and one over all 300.

    Beside them stands a digest of the blocks of the 49 chunks around the origin as the seed made them.
    """
    terrain = hashlib.blake2b(digest_size=16)
    for cx, cz in itertools.product(range(-3, 4), repeat=2):
        terrain.update(generate_chunk(world_seed, cx, cz).tobytes())
    engine = Engine(world_seed, spawn_on_ground(world_seed, 0.5, 0.5), 0, INVENTORY)
    start = engine.state_hash()
    hashes = []
    for action in hashed_actions(world_seed, DECISIONS, BUSY if world_seed % 2 else ACTIONS):
        engine.run(action)
        hashes.append(engine.state_hash())
    return {
        "world_seed": world_seed,
        "terrain": terrain.hexdigest(),
        "start": start,
        "after": hashes[EVERY - 1 :: EVERY],
        "all": hashlib.blake2b("".join(hashes).encode(), digest_size=16).hexdigest(),
    }


def make() -> dict[str, Any]:
    """Return the content of the file."""
    return {
        "terrain_version": TERRAIN_VERSION,
        "decisions": DECISIONS,
        "every": EVERY,
        "worlds": [golden_run(seed) for seed in WORLDS],
    }


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(json.dumps(make(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {PATH}")
