"""One tick after another: controls in, the player and the blocks changed, and a hash of the state.

The engine owns a world and a player and knows nothing of decisions' scores, pictures or clocks. `Controls` is what is
held down in one tick; `run` turns one of the 21 actions into its ticks.
"""

import hashlib
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from oresight.craftenv.actions import Action, Effect
from oresight.craftenv.blocks import BLOCKS, Block
from oresight.craftenv.config import BODY_HEIGHT, HALF_WIDTH, HEIGHT, PITCH_LIMIT_COUNTS, REACH_BLOCKS, YAW_COUNTS
from oresight.craftenv.sim.angles import direction
from oresight.craftenv.sim.geometry import FACE_NORMALS, SOLID, box_is_free, cast_ray
from oresight.craftenv.sim.player import Player, advance, is_swimming
from oresight.craftenv.sim.world import Position, World

# Chunks around the player's that a tick can reach: the fastest fall is straight, the reach is 4.5 blocks.
_TICK_RADIUS = 1


@dataclass(frozen=True)
class Controls:
    """What is held down, and how far the mouse moves, in one tick."""

    forward: int = 0
    right: int = 0
    yaw_counts: int = 0
    pitch_counts: int = 0
    jump: bool = False
    mine: bool = False
    place: bool = False
    slot: int = 0


@dataclass(frozen=True)
class Target:
    """The block under the crosshair within reach, and the face that the view meets."""

    position: Position
    face: int
    block: int


@dataclass(frozen=True)
class Change:
    """One block that changed: where, from what, to what, and whether the world had made it."""

    position: Position
    before: int
    after: int
    natural: bool


@dataclass
class Happenings:
    """What the ticks of one action did, for the player's text and the referee's facts.

    Attributes:
        feet: The feet after each tick.
        standing: Whether the player stood (on the ground or afloat) after each tick.
        changes: Blocks that changed, in order.
        picked: Items that went into the hotbar.
        lost: Items that found no room, or were given up for an ore.
        acquired: Places of the natural target ores that went into the hotbar.
        jumped: Whether the player left the ground by jumping.
        hit_bedrock: Whether mining met a block that never breaks.
        mined_at: Whether mining had any block within reach.
    """

    feet: list[tuple[float, float, float]] = field(default_factory=list)
    standing: list[bool] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    picked: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    acquired: list[Position] = field(default_factory=list)
    jumped: bool = False
    hit_bedrock: bool = False
    mined_at: bool = False

    def add(self, later: "Happenings") -> None:
        """Append what happened after this."""
        self.feet += later.feet
        self.standing += later.standing
        self.changes += later.changes
        self.picked += later.picked
        self.lost += later.lost
        self.acquired += later.acquired
        self.jumped = self.jumped or later.jumped
        self.hit_bedrock = self.hit_bedrock or later.hit_bedrock
        self.mined_at = self.mined_at or later.mined_at


def controls_of(action: Action, tick: int) -> Controls:
    """Return what one of the 21 actions holds down in its tick number `tick`, counted from 0."""
    first = tick == 0
    return Controls(
        forward=action.forward,
        right=action.right,
        yaw_counts=action.yaw_counts * (tick + 1) // action.ticks - action.yaw_counts * tick // action.ticks,
        pitch_counts=action.pitch_counts * (tick + 1) // action.ticks - action.pitch_counts * tick // action.ticks,
        jump=action.effect is Effect.JUMP,
        mine=action.effect is Effect.MINE,
        place=action.effect is Effect.PLACE and first,
        slot=action.slot if first else 0,
    )


@cache
def _controls_by_tick(action: Action) -> tuple[Controls, ...]:
    return tuple(controls_of(action, tick) for tick in range(action.ticks))


class Engine:
    """A seeded world with one player in it.

    Attributes:
        world: The blocks.
        player: Pose, velocity and hotbar.
        target_item: The ore that is looked for; a full hotbar makes room for it.
        ticks: Ticks since the start.
    """

    def __init__(
        self,
        seed: int,
        spawn: tuple[float, float, float],
        yaw_counts: int = 0,
        inventory: Mapping[int, int] | None = None,
        target_item: int = int(Block.IRON_ORE),
    ) -> None:
        """Put a player into the world of a seed.

        Args:
            seed: The terrain seed, any 64-bit integer.
            spawn: Where the feet start, (x, y, z) in blocks; anywhere free, in the air too.
            yaw_counts: Where the player looks.
            inventory: Start items by id, put into the hotbar in the order given.
            target_item: The ore that is looked for.

        Raises:
            ValueError: The spawn is inside a solid block, or the inventory does not fit.
        """
        self.world = World(seed)
        self.player = Player(*spawn, yaw=yaw_counts % YAW_COUNTS)
        self.target_item = target_item
        self.ticks = 0
        self._mining: Position | None = None
        self._mined_ticks = 0
        self._jump_armed = True
        self._load_around_player()
        blocks = self.world.blocks
        if not box_is_free(blocks, SOLID, *spawn):
            raise ValueError(f"spawn {spawn} is inside a solid block of world {seed}; choose a free place")
        self.player.on_ground = self._has_ground()
        self.player.in_water = is_swimming(blocks, *spawn)
        for item, count in (inventory or {}).items():
            for _ in range(count):
                if not self.player.hotbar.add(item, precious=False)[0]:
                    raise ValueError(f"the start inventory does not fit into nine slots: {inventory}")

    def _has_ground(self) -> bool:
        player = self.player
        return not box_is_free(self.world.blocks, SOLID, player.x, player.y - 1e-9, player.z)

    def _load_around_player(self) -> None:
        self.world.ensure_around(self.player.x, self.player.z, _TICK_RADIUS)

    def target(self) -> Target | None:
        """Return the block under the crosshair within reach, or None. Water is looked through."""
        player = self.player
        x, y, z, face = cast_ray(
            self.world.blocks, SOLID, True, *player.eye, *direction(player.yaw, player.pitch), REACH_BLOCKS
        )
        return Target((x, y, z), face, self.world.get(x, y, z)) if face >= 0 else None

    @property
    def crack(self) -> float:
        """How far the block being mined is towards breaking, 0 up to 1."""
        if self._mining is None:
            return 0.0
        return self._mined_ticks / BLOCKS[Block(self.world.get(*self._mining))].break_ticks

    def tick(self, controls: Controls, happened: Happenings) -> None:
        """Advance the world by one tick of 1/20 s.

        Args:
            controls: What is held down; a held jump key jumps once, until a tick without it.
            happened: What happened is added here.
        """
        player = self.player
        if controls.slot:
            player.slot = controls.slot - 1
        if controls.yaw_counts or controls.pitch_counts:
            player.yaw = (player.yaw + controls.yaw_counts) % YAW_COUNTS
            player.pitch = min(max(player.pitch + controls.pitch_counts, -PITCH_LIMIT_COUNTS), PITCH_LIMIT_COUNTS)
        if not controls.jump:
            self._jump_armed = True
        jumped = advance(
            player,
            self.world.blocks,
            controls.forward,
            controls.right,
            jump_held=controls.jump,
            jump_pressed=controls.jump and self._jump_armed,
        )
        if controls.jump:
            self._jump_armed = False
        if jumped:
            happened.jumped = True
        self._load_around_player()
        if controls.mine:
            self._mine(happened)
        else:
            self._mining = None
            self._mined_ticks = 0
        if controls.place:
            self._place(happened)
        self.ticks += 1
        happened.feet.append(player.feet)
        happened.standing.append(player.on_ground or player.in_water)

    def run(self, action: Action, on_tick: Callable[[], None] | None = None) -> Happenings:
        """Play one of the 21 actions to its end and freeze.

        Args:
            action: Which one.
            on_tick: Called after every tick, for films; it must not change anything.

        Returns:
            What happened.
        """
        happened = Happenings()
        for controls in _controls_by_tick(action):
            self.tick(controls, happened)
            if on_tick is not None:
                on_tick()
        self.let_go()
        return happened

    def let_go(self) -> None:
        """Let everything go, as at the end of an action: mining progress is lost and the next jump is a new press."""
        self._mining = None
        self._mined_ticks = 0
        self._jump_armed = True

    def _mine(self, happened: Happenings) -> None:
        target = self.target()
        if target is None:
            self._mining = None
            self._mined_ticks = 0
            return
        happened.mined_at = True
        if target.position != self._mining:
            self._mining = target.position
            self._mined_ticks = 0
        needed = BLOCKS[Block(target.block)].break_ticks
        if needed == 0:
            happened.hit_bedrock = True
            self._mining = None
            return
        self._mined_ticks += 1
        if self._mined_ticks >= needed:
            self._mining = None
            self._mined_ticks = 0
            self._break(target, happened)

    def _break(self, target: Target, happened: Happenings) -> None:
        world = self.world
        natural = world.is_natural(*target.position)
        world.placed.discard(target.position)
        world.set(*target.position, int(Block.AIR))
        # A player who dug away the ground under the feet no longer stands, and cannot jump off it.
        self.player.on_ground = self.player.on_ground and self._has_ground()
        happened.changes.append(Change(target.position, target.block, int(Block.AIR), natural))
        drop = BLOCKS[Block(target.block)].drop
        if drop is None:
            return
        wanted = drop == self.target_item
        room, given_up = self.player.hotbar.add(int(drop), precious=wanted)
        if given_up is not None:
            happened.lost.extend([given_up.item] * given_up.count)
        if not room:
            happened.lost.append(int(drop))
            return
        happened.picked.append(int(drop))
        if wanted and natural:
            happened.acquired.append(target.position)

    def _place(self, happened: Happenings) -> None:
        player, world = self.player, self.world
        target = self.target()
        stack = player.hotbar.slots[player.slot]
        if target is None or stack is None:
            return
        normal = FACE_NORMALS[target.face]
        x, y, z = (target.position[axis] + normal[axis] for axis in range(3))
        if not 0 <= y < HEIGHT:
            return
        before = world.get(x, y, z)
        block = stack.item
        if before not in (Block.AIR, Block.WATER):
            return
        if block == Block.TORCH and not (normal[1] == 1 and SOLID[target.block]):
            return  # a torch stands on a floor
        if self._overlaps_player(x, y, z):
            return
        player.hotbar.take_one(player.slot)
        world.set(x, y, z, block)
        world.placed.add((x, y, z))
        happened.changes.append(Change((x, y, z), before, block, False))

    def _overlaps_player(self, x: int, y: int, z: int) -> bool:
        player = self.player
        return (
            x < player.x + HALF_WIDTH
            and x + 1 > player.x - HALF_WIDTH
            and y < player.y + BODY_HEIGHT
            and y + 1 > player.y
            and z < player.z + HALF_WIDTH
            and z + 1 > player.z - HALF_WIDTH
        )

    def state_hash(self) -> str:
        """Return 32 hex digits over pose, velocity, inventory, slot and the blocks that differ from the seed's."""
        player = self.player
        digest = hashlib.blake2b(digest_size=16)
        digest.update(
            struct.pack(
                "<4d2i2?iQ",
                # Adding 0.0 turns -0.0 into 0.0: equal numbers are equal states.
                player.x + 0.0,
                player.y + 0.0,
                player.z + 0.0,
                player.speed_y + 0.0,
                player.yaw,
                player.pitch,
                player.on_ground,
                player.in_water,
                player.slot,
                self.world.change_hash,
            )
        )
        for stack in player.hotbar.slots:
            item, count = (stack.item, stack.count) if stack is not None else (0, 0)
            digest.update(struct.pack("<2i", item, count))
        return digest.hexdigest()
