"""Where one can stand in a generated world, found without a player."""

from oresight.craftenv.config import HEIGHT
from oresight.craftenv.sim.geometry import SOLID, box_is_free
from oresight.craftenv.sim.walking import can_stand
from oresight.craftenv.sim.world import World


def spawn_on_ground(seed: int, x: float, z: float) -> tuple[float, float, float]:
    """Return the highest free standing place of a world at (x, z), feet (x, y, z) in blocks; afloat where water is."""
    world = World(seed)
    world.ensure_around(x, z, 1)
    return top_of_column(world, x, z)


def top_of_column(world: World, x: float, z: float) -> tuple[float, float, float]:
    """Return the highest free standing place of a column in a world that is loaded there."""
    column_x, column_z = int(x // 1), int(z // 1)
    for y in range(HEIGHT - 2, 0, -1):
        if can_stand(world.blocks, SOLID, column_x, y, column_z) and box_is_free(
            world.blocks, SOLID, column_x + 0.5, float(y), column_z + 0.5
        ):
            return column_x + 0.5, float(y), column_z + 0.5
    raise ValueError(f"nowhere to stand at x {column_x}, z {column_z}")
