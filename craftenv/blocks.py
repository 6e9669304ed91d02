"""The block table: every kind of block with what it is, breaks to, and looks like.

One row a block; simulation, renderer, text and scorer all read this table and nothing else.
"""

from dataclasses import dataclass
from enum import IntEnum


class Block(IntEnum):
    """Block ids as they stand in the world arrays (uint8)."""

    AIR = 0
    GRASS = 1
    DIRT = 2
    SAND = 3
    GRAVEL = 4
    STONE = 5
    COBBLESTONE = 6
    LOG = 7
    LEAVES = 8
    PLANKS = 9
    TORCH = 10
    WATER = 11
    COAL_ORE = 12
    IRON_ORE = 13
    GOLD_ORE = 14
    DIAMOND_ORE = 15
    BEDROCK = 16

    @property
    def label(self) -> str:
        """The block's name as texts and files spell it, for example ``iron_ore``."""
        return self.name.lower()


@dataclass(frozen=True)
class BlockKind:
    """What one kind of block is.

    Attributes:
        solid: The player's box cannot overlap it.
        opaque: Sight stops at it (leaves do, water and torches do not).
        break_ticks: Ticks of mining until it breaks; 0 means that it never does.
        drop: What goes to the hotbar when it breaks, or None.
        top: Texture name (a file under assets/textures, without its ending) of the face that looks up.
        side: Texture name of the four upright faces.
        bottom: Texture name of the face that looks down.
    """

    solid: bool
    opaque: bool
    break_ticks: int
    drop: Block | None
    top: str
    side: str
    bottom: str


def _cube(texture: str, break_ticks: int, drop: Block | None, top: str = "", bottom: str = "") -> BlockKind:
    return BlockKind(True, True, break_ticks, drop, top or texture, texture, bottom or top or texture)


BLOCKS: dict[Block, BlockKind] = {
    Block.AIR: BlockKind(False, False, 0, None, "", "", ""),
    Block.GRASS: _cube("grass_side", 10, Block.DIRT, top="grass_top", bottom="dirt"),
    Block.DIRT: _cube("dirt", 8, Block.DIRT),
    Block.SAND: _cube("sand", 8, Block.SAND),
    Block.GRAVEL: _cube("gravel", 10, Block.GRAVEL),
    Block.STONE: _cube("stone", 20, Block.COBBLESTONE),
    Block.COBBLESTONE: _cube("cobblestone", 20, Block.COBBLESTONE),
    Block.LOG: _cube("log_side", 24, Block.LOG, top="log_top"),
    Block.LEAVES: _cube("leaves", 4, None),
    Block.PLANKS: _cube("planks", 20, Block.PLANKS),
    Block.TORCH: BlockKind(False, False, 2, Block.TORCH, "torch", "torch", "torch"),
    Block.WATER: BlockKind(False, False, 0, None, "water", "water", "water"),
    Block.COAL_ORE: _cube("coal_ore", 24, Block.COAL_ORE),
    Block.IRON_ORE: _cube("iron_ore", 28, Block.IRON_ORE),
    Block.GOLD_ORE: _cube("gold_ore", 32, Block.GOLD_ORE),
    Block.DIAMOND_ORE: _cube("diamond_ore", 36, Block.DIAMOND_ORE),
    Block.BEDROCK: _cube("bedrock", 0, None),
}

ORES: tuple[Block, ...] = (Block.COAL_ORE, Block.IRON_ORE, Block.GOLD_ORE, Block.DIAMOND_ORE)
