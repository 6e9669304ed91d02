"""Sessions of the 3D world that a person plays: the window, what is written down of it, and the same played again."""

from collections.abc import Callable, Sequence
from typing import Literal

from oresight.craftenv.config import TICKS_PER_SECOND
from oresight.craftenv.env import CraftEnv
from oresight.craftenv.scenarios.scenario import UnknownScenarioError
from oresight.craftenv.scenarios.suites import get_scenario
from oresight.craftenv.sim.engine import Engine, Happenings
from oresight.craftenv.sim.facts import Referee
from oresight.craftenv.window import End, Session, Tick, Watcher, play
from oresight.harness.errors import MissingPartError, ReplayRefusedError, UsageError
from oresight.harness.protocols import Json, Pixels
from oresight.harness.wording import case_words, verdict_words
from oresight.harness.worlds.base import Size, World
from oresight.harness.worlds.craft.judge import Judged, SessionJudge
from oresight.harness.worlds.craft.ticks import controls_of, state_json, tick_json
from oresight.harness.worlds.craft.world import CraftWorld, of_session, recorded_scenario
from oresight.scoring import records

AGENT = "human"
Mode = Literal["real-time", "turn-based"]


def play_in_window(
    scenario_name: str,
    size: Size,
    save: Callable[[Pixels], str],
    record: Callable[[Json], None] | None,
    *,
    turn_based: bool,
) -> Session:
    """Open a window and let a person play until it is closed.

    Args:
        scenario_name: What is played.
        size: Of the window's inside.
        save: Keeps a screenshot and says what became of it.
        record: Takes every line of the session, as it comes; None for a session that is not recorded.
        turn_based: A key is one of the 21 decisions.

    Returns:
        The session, which has ended.

    Raises:
        UsageError: There is no such scenario.
        MissingPartError: There is no display, or no OpenGL on it.
    """
    try:
        scenario = get_scenario(scenario_name)
    except UnknownScenarioError as error:
        raise UsageError(str(error)) from error
    world = CraftWorld.of(scenario)
    mode: Mode = "turn-based" if turn_based else "real-time"
    watchers: list[Watcher] = [Overlay(world, mode)]
    if record is not None:
        watchers.append(Recorder(world, mode, record))
    from oresight.craftenv.render.context import OpenGLUnavailable

    try:
        return play(
            lambda: Session(scenario, watchers, turn_based=turn_based), f"oresight - {scenario.name}", size, save
        )
    except OpenGLUnavailable as error:
        raise MissingPartError(str(error)) from error


class Recorder:
    """Writes a session down, a line a tick."""

    def __init__(self, world: World, mode: Mode, record: Callable[[Json], None]) -> None:
        """Record a session of a world through a function that keeps lines."""
        self._world = world
        self._mode = mode
        self._record = record
        self._tick = 0

    def started(self, engine: Engine) -> None:
        """Write the header."""
        self._record(header_json(self._world, self._mode, engine))

    def ticked(self, tick: Tick, engine: Engine) -> None:
        """Write the tick."""
        self._tick = tick.number
        self._record(tick_json(tick, engine))

    def ended(self, end: End, engine: Engine) -> None:
        """Write how it ended."""
        self._record({"end": end, "tick": self._tick, "state_hash": engine.state_hash()})

    def referee(self) -> Sequence[str]:
        """Nothing: a recorder does not judge."""
        return ()


class Overlay:
    """The referee's overlay: scores decisions as they are known and says so to the player."""

    def __init__(self, world: World, mode: Mode) -> None:
        """Score a session of a world."""
        self._world = world
        self._mode = mode
        self._judge: SessionJudge | None = None
        self._last: Judged | None = None

    def started(self, engine: Engine) -> None:
        """Set the referee's own world up."""
        header = records.SessionHeader.model_validate(header_json(self._world, self._mode, engine))
        self._judge = SessionJudge(header, self._world)

    def ticked(self, tick: Tick, engine: Engine) -> None:
        """Score what is known now."""
        assert self._judge is not None
        self._note(self._judge.feed(records.SessionTick.model_validate(tick_json(tick, engine))))

    def ended(self, end: End, engine: Engine) -> None:
        """Score what was held back."""
        assert self._judge is not None
        self._note(self._judge.finish())

    def _note(self, judged: list[Judged]) -> None:
        self._last = judged[-1] if judged else self._last

    def referee(self) -> Sequence[str]:
        """Case, gain or error, stale score, and errors so far."""
        assert self._judge is not None
        lines = ["The referee", ""]
        if self._last is None:
            lines.append("no decision yet")
        else:
            lines += [f"decision {self._last.number}: {self._last.action}", case_words(self._last.scored)]
            lines += [verdict_words(self._last.scored), f"stale score {self._last.scored.stale}"]
        lines += ["", "errors so far"]
        for name, lenient, strict in self._judge.rates():
            lines += [name, f"    lenient {lenient}", f"    strict {strict}"]
        return lines


def header_json(world: World, mode: Mode, engine: Engine) -> Json:
    """Return the header of a session whose engine stands at the start."""
    return {
        "format": records.SESSION_FORMAT,
        "version": records.VERSION,
        "kind": "craft-session",
        "mode": mode,
        "agent": AGENT,
        "scenario": world.scenario,
        "actions": list(world.action_rows),
        "ticks_per_second": TICKS_PER_SECOND,
        "score_inputs": world.score_inputs,
        "versions": world.versions,
        "start": {"state_hash": engine.state_hash(), "facts": Referee(engine).start()},
    }


def judge_of(header: records.SessionHeader) -> SessionJudge:
    """Return a referee for a recorded session.

    Raises:
        ReplayRefusedError: It was another terrain.
    """
    return SessionJudge(header, of_session(header))


class PlayedAgain:
    """A recorded session, played again in a world of its own; a context manager."""

    def __init__(self, header: records.SessionHeader, size: Size) -> None:
        """Set the world up as it stood at the start.

        Args:
            header: Of the session.
            size: Of the pictures.

        Raises:
            ReplayRefusedError: It was another terrain.
        """
        self.scenario = recorded_scenario(header)
        self._env = CraftEnv(self.scenario, pictures=False, width=size[0], height=size[1])
        try:
            self._env.reset()
        except ValueError as error:
            raise ReplayRefusedError(f"the header's scenario cannot be played: {error}") from error

    def __enter__(self) -> "PlayedAgain":
        return self

    def __exit__(self, *_: object) -> None:
        self._env.close()

    @property
    def state_hash(self) -> str:
        """Of the present state."""
        return self._env.state_hash()

    def start(self) -> Json:
        """What the header says of the start."""
        return {"state_hash": self.state_hash, "facts": Referee(self._env.engine).start()}

    def tick(self, recorded: records.SessionTick) -> Json:
        """Play a tick; returns what its line says of the world after it."""
        engine, happened = self._env.engine, Happenings()
        if recorded.action is not None:
            engine.let_go()
        engine.tick(controls_of(recorded.controls), happened)
        return state_json(engine, happened, with_hash=recorded.state_hash is not None)

    def render(self) -> Pixels:
        """What is seen now, uint8[height, width, 3]."""
        return self._env.render()
