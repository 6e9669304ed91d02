"""A game as its player sees it: the one place that says which parts of an engine go into a picture."""

import numpy as np
import numpy.typing as npt

from oresight.craftenv.config import LOAD_RADIUS_CHUNKS
from oresight.craftenv.render.renderer import Renderer
from oresight.craftenv.sim.engine import Engine


def draw_game(
    renderer: Renderer, engine: Engine, eye: tuple[float, float, float], yaw: int, pitch: int
) -> npt.NDArray[np.uint8]:
    """Draw a game with the targeted block, its cracks and the hotbar.

    Args:
        renderer: Draws; the picture has its size.
        engine: The game; chunks around the player are loaded if they are not.
        eye: Where from, in blocks; the player's eye, or a place between two ticks.
        yaw: Where to, in counts.
        pitch: Likewise.

    Returns:
        uint8[height, width, 3] RGB, the caller's own.
    """
    player = engine.player
    engine.world.ensure_around(player.x, player.z, LOAD_RADIUS_CHUNKS)
    target = engine.target()
    return renderer.draw(
        engine.world,
        eye,
        yaw,
        pitch,
        target=target.position if target is not None else None,
        crack=engine.crack,
        hotbar=[(stack.item, stack.count) if stack is not None else (0, 0) for stack in player.hotbar.slots],
        slot=player.slot,
    )
