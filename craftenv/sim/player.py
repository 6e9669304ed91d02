"""The player: pose, velocity and hotbar, and how one tick moves them through the blocks."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from oresight.craftenv.blocks import ORES, Block
from oresight.craftenv.config import (
    EYE_HEIGHT,
    GRAVITY,
    HOTBAR_SLOTS,
    JUMP_SPEED,
    STACK_LIMIT,
    SWIM_FACTOR,
    SWIM_UP_SPEED,
    TERMINAL_SPEED,
    WALK_PER_TICK,
    WATER_GRAVITY,
    WATER_SINK_SPEED,
)
from oresight.craftenv.kernels import kernel
from oresight.craftenv.sim.angles import cosine, sine
from oresight.craftenv.sim.geometry import SOLID, move_box
from oresight.craftenv.sim.world import read_block

_WATER = int(Block.WATER)
# The player swims while the point this far above the feet is under water.
SWIM_POINT = 0.4
# 1 / sqrt(2), for walking diagonally at walking speed.
_DIAGONAL = 0.7071067811865476


@dataclass
class Stack:
    """A hotbar slot's content: an item (a block id) and how many of it."""

    item: int
    count: int


@dataclass
class Hotbar:
    """Nine slots of at most 64 equal items each."""

    slots: list[Stack | None] = field(default_factory=lambda: [None] * HOTBAR_SLOTS)

    def add(self, item: int, *, precious: bool) -> tuple[bool, Stack | None]:
        """Put one item into the first matching stack, else into the first empty slot.

        Args:
            item: The item to add.
            precious: Whether a full hotbar gives up its fullest common stack for it.

        Returns:
            Whether it found room, and the stack that was given up for it, if any.
        """
        for stack in self.slots:
            if stack is not None and stack.item == item and stack.count < STACK_LIMIT:
                stack.count += 1
                return True, None
        for index, stack in enumerate(self.slots):
            if stack is None:
                self.slots[index] = Stack(item, 1)
                return True, None
        if precious:
            # The fullest stack that is not an ore; among nine stacks of ores the fullest of another kind.
            common = [
                (stack.item not in ORES, stack.count, -index)
                for index, stack in enumerate(self.slots)
                if stack and stack.item != item
            ]
            if common:
                index = -max(common)[2]
                lost = self.slots[index]
                self.slots[index] = Stack(item, 1)
                return True, lost
        return False, None

    def take_one(self, index: int) -> int | None:
        """Take one item out of a slot and return it, or None from an empty slot."""
        stack = self.slots[index]
        if stack is None:
            return None
        stack.count -= 1
        if stack.count == 0:
            self.slots[index] = None
        return stack.item

    def totals(self) -> dict[int, int]:
        """Return how many of each item there are, by item id in ascending order."""
        totals: dict[int, int] = {}
        for stack in self.slots:
            if stack is not None:
                totals[stack.item] = totals.get(stack.item, 0) + stack.count
        return dict(sorted(totals.items()))


@dataclass
class Player:
    """Where the player is and what it carries. Feet in blocks, angles in counts, speed in blocks a tick."""

    x: float
    y: float
    z: float
    yaw: int = 0
    pitch: int = 0
    speed_y: float = 0.0
    on_ground: bool = False
    in_water: bool = False
    slot: int = 0
    hotbar: Hotbar = field(default_factory=Hotbar)

    @property
    def eye(self) -> tuple[float, float, float]:
        """The eye's place (x, y, z)."""
        return self.x, self.y + EYE_HEIGHT, self.z

    @property
    def feet(self) -> tuple[float, float, float]:
        """The feet's place (x, y, z)."""
        return self.x, self.y, self.z


@kernel
def is_swimming(blocks: npt.NDArray[np.uint8], x: float, y: float, z: float) -> bool:
    """Say whether a player with its feet at (x, y, z) is in water deep enough to swim."""
    return read_block(blocks, int(np.floor(x)), int(np.floor(y + SWIM_POINT)), int(np.floor(z))) == _WATER


@kernel
def move_body(
    blocks: npt.NDArray[np.uint8],
    solid: npt.NDArray[np.bool_],
    x: float,
    y: float,
    z: float,
    speed_y: float,
    wish_x: float,
    wish_z: float,
    rising: bool,
    take_off: bool,
) -> tuple[float, float, float, float, bool, bool]:
    """Move a body through one tick.

    Args:
        blocks: The world array, loaded around the body.
        solid: bool by block id.
        x: Feet, in blocks.
        y: Feet.
        z: Feet.
        speed_y: Upwards, in blocks a tick.
        wish_x: How far it wants to walk along x in this tick.
        wish_z: The same along z.
        rising: Whether the jump key is down.
        take_off: Whether it jumps off the ground now.

    Returns:
        The new feet x, y, z and speed, whether it stands on the ground, and whether it swims.
    """
    in_water = is_swimming(blocks, x, y, z)
    if take_off:
        speed_y = JUMP_SPEED
        in_water = False
    if in_water:
        wish_x *= SWIM_FACTOR
        wish_z *= SWIM_FACTOR
        if rising:
            speed_y = SWIM_UP_SPEED
        elif speed_y < -WATER_SINK_SPEED:
            speed_y *= 0.5
        slower = max(speed_y - WATER_GRAVITY, -WATER_SINK_SPEED) if speed_y > -WATER_SINK_SPEED else speed_y
        # The mean of both, as in the air: a player on the floor is pressed against it and keeps standing.
        rise = (speed_y + slower) / 2.0
        speed_y = slower
    else:
        rise = speed_y - GRAVITY / 2.0
        speed_y = max(speed_y - GRAVITY, -TERMINAL_SPEED)
    x, y, z, below, _above, sideways = move_box(blocks, solid, x, y, z, wish_x, rise, wish_z)
    # A ceiling stops the way up but not the jump: the head stays there until the jump would have come down, so that a
    # step of one can be climbed under a ceiling three blocks high.
    if below:
        speed_y = 0.0
    in_water = is_swimming(blocks, x, y, z)
    if in_water and sideways:
        speed_y = SWIM_UP_SPEED  # swimming against a bank lifts the player over its edge
    return x, y, z, speed_y, below, in_water


def advance(
    player: Player, blocks: npt.NDArray[np.uint8], forward: int, right: int, *, jump_held: bool, jump_pressed: bool
) -> bool:
    """Move the player through one tick.

    Args:
        player: Changed in place.
        blocks: The world array, loaded around the player.
        forward: -1, 0 or 1 along the view.
        right: -1, 0 or 1 to the right of the view.
        jump_held: Whether the jump key is down; it swims up in water.
        jump_pressed: Whether the jump key went down in this action and has not jumped yet.

    Returns:
        Whether the player jumped off the ground in this tick.
    """
    speed = WALK_PER_TICK * (_DIAGONAL if forward and right else 1.0)
    sin_yaw, cos_yaw = sine(player.yaw), cosine(player.yaw)
    wish_x = (-sin_yaw * forward - cos_yaw * right) * speed
    wish_z = (cos_yaw * forward - sin_yaw * right) * speed
    take_off = jump_pressed and player.on_ground
    player.x, player.y, player.z, player.speed_y, player.on_ground, player.in_water = move_body(
        blocks,
        SOLID,
        player.x,
        player.y,
        player.z,
        player.speed_y,
        wish_x,
        wish_z,
        jump_held,
        take_off,
    )
    return take_off
