"""A session's ticks as they stand in its file, and back into input of the simulation."""

from oresight.craftenv.blocks import Block
from oresight.craftenv.sim.angles import pitch_degrees, yaw_degrees
from oresight.craftenv.sim.engine import Change, Controls, Engine, Happenings
from oresight.craftenv.window import Tick
from oresight.harness.protocols import Json
from oresight.scoring.records import SessionControls

HASH_TICKS = 20
_NAMES = {"yaw_counts": "yaw", "pitch_counts": "pitch"}


def controls_of(held: SessionControls) -> Controls:
    """Return the input that a recorded tick gives the simulation."""
    return Controls(
        forward=held.forward,
        right=held.right,
        yaw_counts=held.yaw,
        pitch_counts=held.pitch,
        jump=held.jump,
        mine=held.mine,
        place=held.place,
        slot=held.slot,
    )


def controls_json(controls: Controls) -> Json:
    """Return what was held down in a tick, without what is at rest."""
    return {_NAMES.get(name, name): value for name, value in vars(controls).items() if value}


def tick_json(tick: Tick, engine: Engine) -> Json:
    """Return the line of a tick that has just passed."""
    line: Json = {"tick": tick.number}
    if tick.action is not None:
        line["action"] = tick.action.name
    line["controls"] = controls_json(tick.controls)
    return line | state_json(engine, tick.happened, with_hash=tick.last or tick.number % HASH_TICKS == 0)


def state_json(engine: Engine, happened: Happenings, *, with_hash: bool) -> Json:
    """Return what a tick's line says of the world after it."""
    player = engine.player
    state: Json = {
        "pose": {
            "feet": list(player.feet),
            "yaw_deg": yaw_degrees(player.yaw),
            "pitch_deg": pitch_degrees(player.pitch),
            "on_ground": player.on_ground,
        }
    }
    if happened.changes:
        state["changes"] = [_change_json(change) for change in happened.changes]
    if with_hash:
        state["state_hash"] = engine.state_hash()
    return state


def _change_json(change: Change) -> Json:
    return {
        "pos": list(change.position),
        "before": Block(change.before).label,
        "after": Block(change.after).label,
        "natural": change.natural,
    }
