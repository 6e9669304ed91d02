"""The public words of an observation: what a person at the keyboard would know, and nothing more.

Never coordinates (unless an ablation asks for them), the seed, ore positions, the budget or the score.
"""

from collections import Counter

from oresight.craftenv.actions import Action, Effect
from oresight.craftenv.blocks import Block
from oresight.craftenv.config import PITCH_LIMIT_COUNTS, SWIM_FACTOR
from oresight.craftenv.sim.engine import Engine, Happenings
from oresight.craftenv.sim.player import Player

# Feet that moved less than this did not move as far as a person would notice, and this much counts as a free walk.
_NOTICED_BLOCKS = 0.05
_FREE_WALK_SHARE = 0.9
_DROPPED_BLOCKS = 0.6
_JUMP_BLOCKS = 1.25


def _counted(items: list[int]) -> str:
    counts = Counter(Block(item).label for item in items)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def _walk_words(
    happened: Happenings, player: Player, feet_before: tuple[float, float, float], full_blocks: float
) -> list[str]:
    feet = happened.feet
    squared = (feet[-1][0] - feet_before[0]) ** 2 + (feet[-1][2] - feet_before[2]) ** 2
    if squared < _NOTICED_BLOCKS**2:
        return ["blocked"]
    # Free is a walk that came as far as it could, or that was still under way at full speed when it ended.
    last = (feet[-1][0] - feet[-2][0]) ** 2 + (feet[-1][2] - feet[-2][2]) ** 2
    share = _FREE_WALK_SHARE * (SWIM_FACTOR if player.in_water else 1.0)
    free = squared >= (full_blocks * share) ** 2 or last >= (full_blocks / len(feet) * share) ** 2
    words = ["moved" if free else "moved a little, then blocked"]
    if player.in_water:
        words.append("swimming")
    # In the air at the start: the way down to where the jump began is no descent.
    from_above = _JUMP_BLOCKS if feet[0][1] != feet_before[1] and not player.in_water else 0.0
    if feet_before[1] - feet[-1][1] > _DROPPED_BLOCKS + from_above:
        words.append("went down")
    return words


def _look_words(action: Action, player: Player) -> list[str]:
    if action.pitch_counts and abs(player.pitch) == PITCH_LIMIT_COUNTS:
        return ["the view is straight down now" if player.pitch > 0 else "the view is straight up now"]
    return ["turned"]


def _mine_words(happened: Happenings) -> list[str]:
    broken = [change.before for change in happened.changes]
    words = [f"broke {_counted(broken)}"] if broken else []
    if happened.hit_bedrock:
        words.append("this block does not break")
    elif not happened.mined_at:
        words.append("nothing within reach")
    elif not broken:
        words.append("nothing broke")
    return words


def outcome(
    action: Action, happened: Happenings, player: Player, feet_before: tuple[float, float, float], walk_blocks: float
) -> str:
    """Say what an action did, as the player would notice it.

    Args:
        action: The action played.
        happened: What the engine says happened.
        player: The player after it.
        feet_before: The feet before it.
        walk_blocks: How far a free walk of this action goes.
    """
    if action.effect is Effect.MOVE:
        words = _walk_words(happened, player, feet_before, walk_blocks)
    elif action.effect is Effect.LOOK:
        words = _look_words(action, player)
    elif action.effect is Effect.JUMP:
        words = ["jumped" if happened.jumped else "swam up" if player.in_water else "could not jump"]
    elif action.effect is Effect.MINE:
        words = _mine_words(happened)
    elif action.effect is Effect.PLACE:
        placed = [change.after for change in happened.changes]
        words = [f"placed {Block(placed[0]).label}"] if placed else ["nothing was placed"]
    elif action.effect is Effect.SELECT:
        words = [f"selected slot {player.slot + 1}"]
    else:
        words = ["waited"]
    if happened.picked:
        words.append(f"picked up {_counted(happened.picked)}")
    if happened.lost:
        words.append(f"the hotbar is full, lost {_counted(happened.lost)}")
    return "; ".join(words)


def inventory(player: Player) -> str:
    """Say what the hotbar holds, slot by slot."""
    slots = [
        f"slot {index}: {stack.count} {Block(stack.item).label}"
        for index, stack in enumerate(player.hotbar.slots, start=1)
        if stack is not None
    ]
    return "; ".join(slots) if slots else "empty"


def describe(
    engine: Engine,
    step: int,
    target_count: int,
    acquired: int,
    last: tuple[str, str] | None,
    *,
    coordinates: bool,
) -> str:
    """Return the text that stands beside the picture of one decision.

    Args:
        engine: The frozen game.
        step: The number of the decision to be made, counted from 1.
        target_count: How many target items are to be acquired in all.
        acquired: How many have been.
        last: The last action's name and its outcome, None at the start.
        coordinates: Whether an ablation shows where the player is.
    """
    player = engine.player
    target = Block(engine.target_item).label
    lines = [
        f"Task: acquire {target_count} {target} ({acquired} so far).",
        f"Step: {step}",
        f"Last action: {last[0]} -> {last[1]}" if last else "Last action: none",
        f"Selected slot: {player.slot + 1}",
        f"Inventory: {inventory(player)}",
    ]
    if coordinates:
        x, y, z = player.feet
        lines.append(f"Position: x {x:.1f}, y {y:.1f}, z {z:.1f}")
    return "\n".join(lines)
