"""Sessions of a person on disk: written line by line, played again, and filmed.

The window and the world are `worlds.craft_session`'s business, the format that of `scoring.records`.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from oresight.harness.errors import RecordError, UsageError
from oresight.harness.files import LineWriter, make_folder
from oresight.harness.film.video import BAD, DIM, GOOD, Panel, VideoWriter, beside, draw_panel, frames_for
from oresight.harness.protocols import Json, Pixels
from oresight.harness.running.replay import first_difference
from oresight.harness.text import visible
from oresight.harness.wording import case_words, verdict_words
from oresight.harness.worlds.base import Size
from oresight.harness.worlds.craft.display import opengl
from oresight.scoring.readers.faults import BadInput, validated
from oresight.scoring.records import SESSION_FORMAT, SessionHeader, SessionTick, StartFacts, parse_json, to_line
from oresight.scoring.sessions.cutting import Cut
from oresight.scoring.sessions.reader import SESSION_NAME, SessionReader
from oresight.scoring.sessions.sharing import session_cuts, together

if TYPE_CHECKING:
    from oresight.harness.worlds.craft.judge import Judged

FILM_SIZE: Size = (640, 480)
FRAMES_PER_SECOND = 10
TICKS_PER_FRAME = 2
START_SECONDS = 1.0
END_SECONDS = 2.0
_HEADER_BYTES = 4096


class SessionWriter:
    """A new session's file; every line is handed to the system before `append` returns. A context manager."""

    def __init__(self, folder: Path) -> None:
        """Look whether the folder is free; the file is made with the first line.

        Raises:
            UsageError: The folder holds a session.
            OresightError: The disk refuses, or something else stands there.
        """
        self.path = folder / SESSION_NAME
        self._lines: LineWriter | None = None
        self._failed = False
        make_folder(folder)
        self._check()

    def _check(self) -> None:
        if self.path.exists() or self.path.is_symlink():
            raise UsageError(
                f"{self.path}: there is a session already, which is never overwritten; choose another folder"
            )

    def __enter__(self) -> "SessionWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lines is not None:
            self._lines.close()

    def append(self, line: Json) -> None:
        """Add a line.

        Raises:
            OresightError: The disk refuses, or somebody else has begun a session here.
        """
        if self._failed:
            return  # the failure is being told; nothing may follow half a line
        if self._lines is None:
            self._check()
            self._lines = LineWriter(self.path)
        self._failed = True
        self._lines.append(line)
        self._failed = False


def session_path(place: Path) -> Path | None:
    """The session that an argument names: a session's file, or the one in a folder; None if it names none."""
    path = place / SESSION_NAME if place.is_dir() else place
    if path.is_symlink() or not path.is_file():
        return None
    try:
        with path.open("rb") as stream:
            return path if SESSION_FORMAT.encode() in stream.read(_HEADER_BYTES) else None
    except OSError:
        return None


@dataclass(frozen=True)
class SessionDifference:
    """The first place where a session and its replay part; tick 0 is the start."""

    tick: int
    field: str
    recorded: object
    replayed: object

    def sentence(self) -> str:
        """In words."""
        where = f"tick {self.tick}" if self.tick else "the start"
        recorded, replayed = (visible(str(value), 80) for value in (self.recorded, self.replayed))
        return f"{where} differs in {visible(self.field)}: recorded {recorded}, replayed {replayed}"


@dataclass(frozen=True)
class SessionReplayed:
    """What the replay of a session found.

    Attributes:
        scenario: Name of the scenario.
        ticks: How many ticks were played again.
        hashes: How many state hashes were compared.
        difference: The first difference, or None.
        torn: Whether a last line that was cut short was left out.
        ended: Whether the player left in good order.
    """

    scenario: str
    ticks: int
    hashes: int
    difference: SessionDifference | None
    torn: bool
    ended: bool


class _World(Protocol):
    """What a follower sees of the world that is played again."""

    def render(self) -> Pixels:
        """What is seen now."""


class SessionListener:
    """Follows a replay; does nothing unless overridden."""

    def started(self, header: SessionHeader, world: _World) -> None:
        """The world stands at the start."""

    def ticked(self, tick: SessionTick) -> None:
        """A tick was played again, and was the same."""

    def ended(self) -> None:
        """All of it was played again without a difference."""


def replay_session(path: Path, listener: SessionListener | None = None, size: Size = FILM_SIZE) -> SessionReplayed:
    """Plays a session again, up to its end or to the first difference.

    Args:
        path: Its file.
        listener: Follows along.
        size: Of the pictures that a listener asks for.

    Raises:
        RecordError: The file is broken.
        ReplayRefusedError: It was recorded with another terrain.
    """
    from oresight.harness.worlds.craft.session import PlayedAgain

    follower = listener or SessionListener()
    with _open(path) as session, PlayedAgain(session.header, size) as world:
        name, ticks, hashes = world.scenario.name, 0, 1
        difference = _difference(0, session.header.start.model_dump(mode="json"), world.start())
        if difference is None:
            follower.started(session.header, world)
            for tick in _ticks(session):
                ticks += 1
                difference = _difference(tick.tick, _recorded(tick), world.tick(tick))
                if difference is not None:
                    break
                hashes += tick.state_hash is not None
                follower.ticked(tick)
        if difference is None and session.end is not None:
            hashes += 1
            end = {"state_hash": session.end.state_hash}
            difference = _difference(session.end.tick, end, {"state_hash": world.state_hash})
        if difference is None:
            follower.ended()
        return SessionReplayed(name, ticks, hashes, difference, session.torn is not None, session.end is not None)


def _recorded(tick: SessionTick) -> Json:
    """What a line says of the world after its tick, as it is written."""
    line = tick.model_dump(mode="json", include={"pose", "changes", "state_hash"})
    return {name: value for name, value in line.items() if value or name == "pose"}


def _difference(tick: int, recorded: Json, replayed: Json) -> SessionDifference | None:
    # Through JSON and back, as the recorded side has been.
    found = first_difference(recorded, parse_json(to_line(replayed).decode()))
    return None if found is None else SessionDifference(tick, *found)


def _open(path: Path) -> SessionReader:
    try:
        return SessionReader(path)
    except BadInput as error:
        raise RecordError(str(error)) from error


def _ticks(session: SessionReader) -> Iterator[SessionTick]:
    try:
        for _, tick in session:
            yield tick
    except BadInput as error:
        raise RecordError(str(error)) from error


class _Camera(SessionListener):
    """Draws while a session is played again; the decisions in it are known before."""

    def __init__(self, writer: VideoWriter, judged: "Sequence[Judged]", on_tick: Callable[[int], None]) -> None:
        self._writer = writer
        self._judged = deque(judged)
        self._on_tick = on_tick
        self._world: _World | None = None
        self._panel = Panel("", 0, 1)

    def started(self, header: SessionHeader, world: _World) -> None:
        self._world = world
        self._panel = Panel(f"{header.agent} · {header.scenario['name']}", 0, int(header.scenario["budget"]))
        self._shoot(START_SECONDS)

    def ticked(self, tick: SessionTick) -> None:
        if self._judged and tick.tick >= self._judged[0].first:
            current = self._judged[0]
            if current.number != self._panel.step:
                self._panel = replace(self._panel, step=current.number, action=current.action, case="", verdict="")
        while self._judged and tick.tick >= self._judged[0].until:
            self._panel = _told(self._panel, self._judged.popleft())
        if tick.tick % TICKS_PER_FRAME == 0:
            self._shoot()
        self._on_tick(tick.tick)

    def ended(self) -> None:
        self._shoot(END_SECONDS)

    def _shoot(self, seconds: float = 0.0) -> None:
        assert self._world is not None
        picture = self._world.render()
        frame = beside(picture, draw_panel(self._panel, picture.shape[0]))
        self._writer.add(frame, frames_for(seconds, FRAMES_PER_SECOND))


def _told(panel: Panel, judged: "Judged") -> Panel:
    scored = judged.scored
    return replace(
        panel,
        step=judged.number,
        action=judged.action,
        case=case_words(scored),
        verdict=verdict_words(scored),
        colour=BAD if scored.error else GOOD if scored.scored else DIM,
        stale=scored.stale,
        rates=judged.rates,
    )


def judge_session(path: Path) -> "list[Judged]":
    """Scores the decisions of a session, in order.

    Raises:
        OresightError: The session is broken or refused.
    """
    from oresight.harness.worlds.craft.session import judge_of

    judged: list[Judged] = []
    with _open(path) as session:
        judge = judge_of(session.header)
        for tick in _ticks(session):
            judged += judge.feed(tick)
        return judged + judge.finish()


def decisions_of(path: Path) -> list[list[Cut]]:
    """Where a session is cut into decisions, in order; those that were made at the same time are together.

    Raises:
        RecordError: The file is broken.
    """
    with _open(path) as session:
        try:
            start = validated(StartFacts, session.header.start.facts, path, 1, "start.facts")
        except BadInput as error:
            raise RecordError(str(error)) from error
        return list(together(session_cuts(session.header, start.pose, _ticks(session))))


def film_session(path: Path, video: Path, on_tick: Callable[[int], None] = lambda tick: None) -> SessionReplayed:
    """Makes an MP4 of a session with the referee's view, and checks it on the way.

    Args:
        path: The session's file.
        video: Where the MP4 goes.
        on_tick: Called with the number of each tick filmed.

    Raises:
        OresightError: The session is broken or refused, a part is missing, or the disk refuses.
    """
    if not video.parent.is_dir():
        raise RecordError(f"{video}: the folder {video.parent} does not exist; make it or name another place")
    opengl()
    judged = judge_session(path)
    with VideoWriter(video, FRAMES_PER_SECOND) as writer:
        return replay_session(path, _Camera(writer, judged, on_tick))
