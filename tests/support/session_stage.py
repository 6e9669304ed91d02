"""What the tests of people's sessions share: games that are played as a window plays them, and recorded in folders."""

from collections.abc import Sequence
from pathlib import Path

from oresight.craftenv.actions import ACTIONS, BY_NAME
from oresight.craftenv.controls import CHOICE_KEYS, Moved, Pressed, Released
from oresight.craftenv.scenarios.suites import get_scenario
from oresight.craftenv.window import TICK_S, Session
from oresight.harness.worlds.craft.session import Recorder
from oresight.harness.worlds.craft.session_replay import SessionWriter
from oresight.harness.worlds.craft.world import CraftWorld

# In real time, for a second: forward, and two look steps to the right meanwhile.
WALK_AND_TURN = "walk and turn"
_CHOICES = {action.name: key for key, action in CHOICE_KEYS.items()}


def proof_of(scenario: str) -> Sequence[str]:
    """Decisions that reach the target."""
    return get_scenario(scenario).proof


def record(
    folder: Path, scenario: str, decisions: Sequence[str], *, turn_based: bool = True, leave: bool = True
) -> Path:
    """Records a game of these decisions.

    Args:
        folder: Of the session.
        scenario: Its name.
        decisions: In real time each is held for as long as it lasts; `WALK_AND_TURN` is several at once.
        turn_based: A key is one decision.
        leave: Leave in good order; else the recording just stops, as when the game is killed.
    """
    world = CraftWorld.of(get_scenario(scenario))
    with SessionWriter(folder) as writer:
        recorder = Recorder(world, "turn-based" if turn_based else "real-time", writer.append)
        session = Session(get_scenario(scenario), [recorder], turn_based=turn_based)
        for name in decisions:
            (_choose if turn_based else _hold)(session, name)
        if leave:
            session.leave()
    return folder


def _choose(session: Session, name: str) -> None:
    key, before = _CHOICES[name], session.decisions
    session.take(Pressed(key))
    session.take(Released(key))
    while session.decisions == before and session.end is None:
        session.advance(TICK_S)


def _hold(session: Session, name: str) -> None:
    if name == WALK_AND_TURN:
        session.take(Pressed("w"))
        _turn(session, 20, 400, 0)
        session.take(Released("w"))
        return
    action = BY_NAME[name]
    if action.yaw_counts or action.pitch_counts:
        _turn(session, action.ticks, action.yaw_counts, action.pitch_counts)
        return
    session.take(Pressed(action.key.lower()))
    _turn(session, action.ticks, 0, 0)
    session.take(Released(action.key.lower()))


def _turn(session: Session, ticks: int, right: int, down: int) -> None:
    for _ in range(ticks):
        session.take(Moved(right / ticks, down / ticks))
        session.advance(TICK_S)


assert len(_CHOICES) == len(ACTIONS), "a turn-based game has a key for each of the 21"
