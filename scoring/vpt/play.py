"""VPT-style recordings of the real game: from ticks to decisions with what is known of each.

No world comes with such a recording. How its lines are read:

- **Pose.** Poses decide how far the view turned, whatever the mouse says; the mouse, at 0.15 degrees a count, decides
  where a line has none. A decision's view is the view of the start and the whole look steps since, so that what is
  carried over makes no new pose.
- **Standing.** The feet's height did not change within the tick, or they came down and went up again (a landing).
- **Effects.** A jump rose; a block was placed if the counter `use_item` rose, or without counters if something left the
  inventory, or if neither is recorded. A natural block was removed if `mine_block` rose for more blocks of a kind than
  were placed.
- **Break.** A gap in the ticks, a jump of the position that no player can make, or a death: what was going on ends
  before it, and play goes on from the pose after it.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from oresight.scoring.records import Point, Pose
from oresight.scoring.sessions.cutting import Cut, Cutter, Tick, dominant, turn_deg
from oresight.scoring.vpt.ores import Acquisitions, Target, counter, item
from oresight.scoring.vpt.reader import LEFT_BUTTON, RIGHT_BUTTON, VptTick

UNDECIDED = (
    "exploitation error: no world comes with the recording, so no ore is known before it is acquired; every decision is"
    " case 1, and none is eligible",
    "success and budget: the recording has no task",
)
UNDECIDED_POSITION = "position novelty: the lines hold no xpos, ypos and zpos"
UNDECIDED_MINING = "blocks removed: the lines hold no counters (stats), so mining alone is never repositioning"
UNDECIDED_TARGET = "acquisitions: the lines hold neither counters (stats) nor an inventory"

MOUSE_DEG = 0.15
PITCH_LIMIT_DEG = 90.0
# The fastest fall is 3.92 blocks a tick, the fastest flight about as much.
WARP_ACROSS_BLOCKS = 4.0
WARP_UP_BLOCKS = 5.0
_LEVEL_BLOCKS = 1e-3
# The game has some thousand kinds of blocks.
_KINDS_MAX = 10_000
_KEYS = {
    "key.keyboard.w": (1, 0),
    "key.keyboard.s": (-1, 0),
    "key.keyboard.a": (0, -1),
    "key.keyboard.d": (0, 1),
}
_JUMP_KEY = "key.keyboard.space"

_Block = tuple[int, int, int]


@dataclass
class _Happened:
    """What happened in a tick, or in all ticks of a decision."""

    stood: dict[_Block, None] = field(default_factory=dict)
    rose: bool = False
    placed: bool = False
    removed: int = 0
    acquired: int = 0

    def add(self, other: "_Happened") -> None:
        self.stood.update(other.stood)
        self.rose |= other.rose
        self.placed |= other.placed
        self.removed += other.removed
        self.acquired += other.acquired


@dataclass(frozen=True)
class VptFacts:
    """What is known of one decision.

    Attributes:
        cut: Its action and ticks.
        pose_after: Feet at its last tick, and the view in whole look steps.
        stood: Blocks in which the feet stood during it.
        rose: The feet rose.
        placed: A block was placed, as far as can be told.
        removed: Natural blocks removed.
        acquired: Target ores acquired.
        resumed: After a break: the pose from which play goes on.
    """

    cut: Cut
    pose_after: Pose
    stood: tuple[_Block, ...]
    rose: bool
    placed: bool
    removed: int
    acquired: int
    resumed: Pose | None


@dataclass(frozen=True)
class _Seen:
    """A line that was taken in, and the state it left."""

    line: VptTick
    feet: Point
    yaw_deg: float
    pitch_deg: float


class VptPlay:
    """Turns the lines of one recording into decisions with their facts; iterate once.

    Args:
        lines: Its ticks.
        target: What counts as acquired.

    Attributes:
        start: The pose of the first line; known once the first decision, or the end, was asked for.
        ticks: Lines of play so far.
        gui_ticks: Lines with a GUI open so far; they are no play.
        gaps: Gaps in the ticks so far.
        breaks: Warps and deaths so far.
        has_position: A line held a position.
        has_counters: A line held counters.
    """

    def __init__(self, lines: Iterable[VptTick], target: Target) -> None:
        self._lines = lines
        self._target = target
        self._cutter = Cutter()
        self._acquisitions = Acquisitions()
        self._stuck = False
        self._before: _Seen | None = None
        self._stats: dict[str, float | dict[str, float]] | None = None
        self._items: dict[str, int] | None = None
        self._placed_blocks: dict[str, int] = {}
        self._pending = _Happened()
        self._sum = _Happened()
        self._recent: deque[tuple[int, Point, _Happened]] = deque()
        self._feet: Point = (0.0, 0.0, 0.0)
        self._view = (0.0, 0.0)
        self._resumed: Pose | None = None
        self._saw_items = False
        self.start = _pose((0.0, 0.0, 0.0), 0.0, 0.0)
        self.ticks = self.gui_ticks = self.gaps = self.breaks = 0
        self.has_position = self.has_counters = False

    @property
    def acquired(self) -> int:
        """Target ores acquired so far."""
        return self._acquisitions.count

    def __iter__(self) -> Iterator[VptFacts]:
        """Yield decision after decision; memory does not grow with their number."""
        pending: VptTick | None = None
        for line in self._lines:
            if pending is not None:
                yield from self._take(pending, line)
            pending = line
        if pending is not None:
            yield from self._take(pending, None)
        yield from self._facts(self._cutter.pause())

    def undecided(self) -> tuple[str, ...]:
        """Say what cannot be scored, and why."""
        missing = {
            UNDECIDED_POSITION: not self.has_position,
            UNDECIDED_MINING: not self.has_counters,
            UNDECIDED_TARGET: not self.has_counters and not self._saw_items,
        }
        return (*UNDECIDED, *(words for words, holds in missing.items() if holds))

    def remarks(self) -> tuple[str, ...]:
        """Say what was no play."""
        counts = {
            "ticks with a GUI open are not scored": self.gui_ticks,
            "gaps in the ticks; play goes on after each": self.gaps,
            "warps or deaths; play goes on after each": self.breaks,
        }
        return tuple(f"{number} {words}" for words, number in counts.items() if number)

    def _take(self, line: VptTick, following: VptTick | None) -> Iterator[VptFacts]:
        before = self._before
        now = self._seen(line)
        self._before = now
        counted = self._counted(line)
        if before is None:
            self.start = self._rebase(now)
            self._resumed = None
            self._stuck = LEFT_BUTTON in line.mouse.buttons
        elif self._stuck and (LEFT_BUTTON in line.mouse.new_buttons or LEFT_BUTTON not in line.mouse.buttons):
            # Attack that is held from the first line on is down on paper only, until it is pressed or let go.
            self._stuck = False
        gap = before is not None and line.tick != before.line.tick + 1
        warp = before is not None and (counted.died or _warped(before.feet, now.feet))
        if gap or warp:
            self.gaps += gap
            self.breaks += warp and not gap
            yield from self._facts(self._cutter.restart())
            self._resumed = self._rebase(now)
            # What led up to no decision is over; only what was acquired stays so.
            self._sum = _Happened(acquired=self._sum.acquired + sum(each.acquired for _, _, each in self._recent))
            self._recent.clear()
            before = None
        if line.is_gui_open:
            self.gui_ticks += 1
            yield from self._facts(self._cutter.pause())
            return
        self.ticks += 1
        yield from self._play(line, before, now, following)

    def _play(self, line: VptTick, before: _Seen | None, now: _Seen, following: VptTick | None) -> Iterator[VptFacts]:
        yaw = 0.0 if before is None else turn_deg(before.yaw_deg, now.yaw_deg)
        pitch = 0.0 if before is None else now.pitch_deg - before.pitch_deg
        changed = before is not None and line.hotbar != before.line.hotbar
        forward = right = 0
        for key in set(line.keyboard.keys):
            along, across = _KEYS.get(key, (0, 0))
            forward += along
            right += across
        happened, self._pending = self._pending, _Happened()
        happened.rose = before is not None and now.feet[1] > before.feet[1] + _LEVEL_BLOCKS
        if line.feet is not None and _stands(before, now, following):
            x, y, z = (math.floor(value + 1e-5) for value in now.feet)
            happened.stood[x, y, z] = None
        self._recent.append((line.tick, now.feet, happened))
        cuts = self._cutter.feed(
            Tick(
                line.tick,
                dominant(
                    mine=LEFT_BUTTON in line.mouse.buttons and not self._stuck,
                    place=RIGHT_BUTTON in line.mouse.buttons,
                    forward=forward,
                    right=right,
                    jump=_JUMP_KEY in line.keyboard.keys,
                    turned=yaw != 0.0 or pitch != 0.0,
                    slot=line.hotbar + 1 if changed else 0,
                ),
                yaw,
                pitch,
            )
        )
        yield from self._facts(cuts)
        self._gather(self._cutter.settled)

    def _facts(self, cuts: Iterable[Cut]) -> Iterator[VptFacts]:
        for cut in cuts:
            self._gather(cut.until)
            happened, self._sum = self._sum, _Happened()
            yaw, pitch = self._view
            self._view = (yaw + cut.yaw_deg, pitch + cut.pitch_deg)
            resumed, self._resumed = self._resumed, None
            yield VptFacts(
                cut,
                _pose(self._feet, *self._view),
                tuple(happened.stood),
                happened.rose,
                happened.placed,
                happened.removed,
                happened.acquired,
                resumed,
            )

    def _gather(self, until: int) -> None:
        """Add up the ticks up to one of which it is known that they belong together."""
        while self._recent and self._recent[0][0] <= until:
            _, self._feet, happened = self._recent.popleft()
            self._sum.add(happened)

    def _rebase(self, now: _Seen) -> Pose:
        self._view = (now.yaw_deg, now.pitch_deg)
        self._feet = now.feet
        return _pose(now.feet, now.yaw_deg, now.pitch_deg)

    def _seen(self, line: VptTick) -> _Seen:
        before = self._before
        feet = line.feet
        self.has_position |= feet is not None
        if feet is None:
            feet = (0.0, 0.0, 0.0) if before is None else before.feet
        # In a GUI the mouse moves a pointer.
        moved = (0.0, 0.0) if line.is_gui_open else (line.mouse.dx * MOUSE_DEG, line.mouse.dy * MOUSE_DEG)
        yaw, pitch = line.yaw, line.pitch
        if yaw is None:
            yaw = 0.0 if before is None else before.yaw_deg + moved[0]
        if pitch is None:
            pitch = 0.0 if before is None else before.pitch_deg + moved[1]
            pitch = min(max(pitch, -PITCH_LIMIT_DEG), PITCH_LIMIT_DEG)
        return _Seen(line, feet, yaw, pitch)

    # --- counters and inventory --------------------------------------------------------------------------------------

    def _counted(self, line: VptTick) -> "_Counted":
        """Take in what counters and inventory say; it counts for the next tick of play."""
        counted = _Counted()
        stats = line.stats
        if stats is not None:
            self.has_counters |= bool(stats)
            # The counters on the first line are those of the whole world, and none of this play.
            if self._stats is not None and stats != self._stats:
                self._count(self._stats, stats, counted)
            for key, value in stats.items() if self._stats is None else ():
                self._note(key if isinstance(value, dict) else counter(key)[0])
            self._stats = stats
        risen = self._inventory(line, counted) if line.inventory is not None else 0
        self._pending.placed |= counted.used if self.has_counters else counted.fell
        self._pending.placed |= not self.has_counters and not self._saw_items
        self._pending.acquired += self._acquisitions.add(mined=counted.mined, picked=counted.picked, risen=risen)
        return counted

    def _count(
        self, old: dict[str, float | dict[str, float]], new: dict[str, float | dict[str, float]], counted: "_Counted"
    ) -> None:
        for key, value in new.items():
            earlier = old.get(key)
            if value == earlier:
                continue
            if isinstance(value, dict):
                before = earlier if isinstance(earlier, dict) else {}
                for name, number in value.items():
                    self._rise(counter(f"{key}:{name}"), number - before.get(name, 0), counted)
            else:
                self._rise(counter(key), value - (earlier if isinstance(earlier, float | int) else 0), counted)

    def _note(self, family: str) -> None:
        self._acquisitions.tells(mining=family == "mine_block", items=family == "pickup")

    def _rise(self, of: tuple[str, str], by: float, counted: "_Counted") -> None:
        family, thing = of
        # A counter that falls is another world's.
        if not 0 < by < 1e6:
            return
        self._note(family)
        if thing == "deaths":
            counted.died = True
        elif family == "use_item":
            counted.used = True
            if len(self._placed_blocks) < _KINDS_MAX:
                self._placed_blocks[thing] = self._placed_blocks.get(thing, 0) + int(by)
        elif family == "pickup" and thing in self._target.items:
            counted.picked += int(by)
        elif family == "mine_block":
            if thing in self._target.blocks:
                counted.mined += int(by)
            again = min(int(by), self._placed_blocks.get(thing, 0))
            if again:
                self._placed_blocks[thing] -= again
            self._pending.removed += int(by) - again

    def _inventory(self, line: VptTick, counted: "_Counted") -> int:
        items: dict[str, int] = {}
        for stack in line.inventory or ():
            name = item(stack.type)
            items[name] = items.get(name, 0) + stack.quantity
        items.pop("air", None)
        self._saw_items |= bool(items)
        self._acquisitions.tells(items=bool(items))
        old, self._items = self._items, items
        # Crafting and chests are no finds.
        if old is None or line.is_gui_open or items == old:
            return 0
        counted.fell = any(items.get(name, 0) < number for name, number in old.items())
        return sum(max(items.get(name, 0) - old.get(name, 0), 0) for name in items if name in self._target.items)


@dataclass
class _Counted:
    """What counters and inventory say of one line."""

    mined: int = 0
    picked: int = 0
    used: bool = False
    fell: bool = False
    died: bool = False


def _pose(feet: Point, yaw_deg: float, pitch_deg: float) -> Pose:
    return Pose.model_construct(feet=feet, yaw_deg=yaw_deg, pitch_deg=pitch_deg, on_ground=True)


def _warped(before: Point, after: Point) -> bool:
    across = math.hypot(after[0] - before[0], after[2] - before[2])
    return across > WARP_ACROSS_BLOCKS or abs(after[1] - before[1]) > WARP_UP_BLOCKS


def _stands(before: _Seen | None, now: _Seen, following: VptTick | None) -> bool:
    if before is None:
        return False
    fell = before.feet[1] - now.feet[1]
    if abs(fell) < _LEVEL_BLOCKS:
        return True
    up = None if following is None or following.ypos is None else following.ypos - now.feet[1]
    return fell > 0 and up is not None and up > _LEVEL_BLOCKS
