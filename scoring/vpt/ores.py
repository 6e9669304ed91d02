"""What recordings of the real game call ores and what they drop, and how many were acquired by their counters."""

import re
from dataclasses import dataclass
from functools import lru_cache

# Ore to the items it gives, old and new versions of the game together.
_DROPS: dict[str, tuple[str, ...]] = {
    "coal_ore": ("coal",),
    "copper_ore": ("raw_copper",),
    "iron_ore": ("raw_iron",),
    "gold_ore": ("raw_gold",),
    "diamond_ore": ("diamond",),
    "emerald_ore": ("emerald",),
    "lapis_ore": ("lapis_lazuli",),
    "redstone_ore": ("redstone",),
    "nether_quartz_ore": ("quartz",),
    "nether_gold_ore": ("gold_nugget",),
    "ancient_debris": (),
}
ANY_ORE = "any ore"
_NAME = re.compile(r"(?:minecraft:)?([a-z0-9_]{1,60})")
_COUNTER = re.compile(r"(?:minecraft[.:])?([A-Za-z0-9_]+)[.:/](?:minecraft[.:])?([A-Za-z0-9_]+)")


@dataclass(frozen=True)
class Target:
    """What is looked for.

    Attributes:
        name: As results tell it.
        blocks: The blocks that hold it.
        items: The items that are it in an inventory.
    """

    name: str
    blocks: frozenset[str]
    items: frozenset[str]

    @classmethod
    def parse(cls, text: str | None) -> "Target":
        """Read a target's name: an ore, what an ore gives, or any other block; any ore if None.

        Raises:
            ValueError: It is no name of a block; the message is a sentence.
        """
        if text is None:
            return cls._of(ANY_ORE, tuple(_DROPS))
        found = _NAME.fullmatch(text.strip().lower())
        if found is None:
            raise ValueError(f"target is {text!r}; expected the name of a block, for example iron_ore")
        name = found[1].removeprefix("deepslate_")
        for ore, drops in _DROPS.items():
            if name in (ore, ore.removesuffix("_ore"), *drops):
                return cls._of(ore, (ore,))
        return cls(name, frozenset({name}), frozenset({name}))

    @classmethod
    def _of(cls, name: str, ores: tuple[str, ...]) -> "Target":
        blocks = frozenset(f"{prefix}{ore}" for ore in ores for prefix in ("", "deepslate_"))
        return cls(name, blocks, blocks | {item for ore in ores for item in _DROPS[ore]})


@lru_cache(maxsize=8192)
def counter(key: str) -> tuple[str, str]:
    """Return family and thing of a counter: `minecraft.mine_block:minecraft.iron_ore` is mine_block of iron_ore."""
    found = _COUNTER.fullmatch(key[:200])
    return (found[1], found[2]) if found else ("", key[:200].rpartition(".")[2].rpartition(":")[2])


def item(name: str) -> str:
    """Return an item's plain name."""
    return name.removeprefix("minecraft:").removeprefix("minecraft.")


class Acquisitions:
    """Adds up what counters and inventory say of the target.

    An ore is acquired once it was mined and its item came in, so that an item thrown away and picked up again is none.
    Where the recording tells of one of the two alone, that one decides.
    """

    def __init__(self) -> None:
        self.count = 0
        self._mined = self._picked = self._risen = 0
        self._tells_mining = self._tells_items = False

    def tells(self, *, mining: bool = False, items: bool = False) -> None:
        """Note that the recording counts what is mined, or what comes in, be it of the target or not."""
        self._tells_mining |= mining
        self._tells_items |= items

    def add(self, *, mined: int = 0, picked: int = 0, risen: int = 0) -> int:
        """Take in target blocks mined, target items counted as picked up, and the rise of them in the inventory.

        Returns:
            How many ores were acquired by this.
        """
        self._mined += mined
        self._picked += picked
        self._risen += risen
        came_in = max(self._picked, self._risen)
        if not self._tells_items:
            total = self._mined
        elif self._tells_mining:
            total = min(self._mined, came_in)
        else:
            total = came_in
        fresh = max(total - self.count, 0)
        self.count += fresh
        return fresh
