"""Writes the pictures of a recorded episode or session: what was seen before each decision, and one of the end.

`replay` and `sessions` play the record again; here is decided which states become pictures. They are numbered and
drawn like those in a run's folder, and a folder of them is there in full or not at all.
"""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol, cast

from oresight.harness import files
from oresight.harness.errors import UsageError
from oresight.harness.png import encode_png
from oresight.harness.protocols import Environment, FilmEnvironment, Pixels
from oresight.harness.records import folder as run_folder
from oresight.harness.running.replay import Listener, Replayed, open_trajectory, replay, trajectory_path
from oresight.harness.worlds import Size, World, about, world_of_header
from oresight.harness.worlds.craft.display import opengl
from oresight.harness.worlds.craft.session_replay import SessionListener, SessionReplayed, decisions_of, replay_session
from oresight.scoring.readers.run_folder import run_around
from oresight.scoring.records import DecisionLine, Header, SessionHeader, SessionTick

DEFAULT_SIZE: Size = (640, 480)


class FrameFolder:
    """A folder of pictures that gets its name only when it is complete. A context manager.

    Raises:
        UsageError: Something is there already.
        OresightError: The disk refuses.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._temporary = self._path.with_name(f".{self._path.name}.tmp")
        self.count = 0
        self._check()
        files.make_folder(self._path.parent)
        if self._temporary.exists() or self._temporary.is_symlink():
            raise UsageError(
                f"{self._temporary}: is being written, or was left when such a command was killed; remove it"
            )
        files.make_folder(self._temporary)

    def __enter__(self) -> "FrameFolder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._temporary.is_dir():
            with files.disk_errors(self._temporary):
                for path in self._temporary.iterdir():
                    path.unlink()
                self._temporary.rmdir()

    def add(self, picture: Pixels, first: int, last: int) -> None:
        """Writes a picture under the numbers of all decisions that it was seen before."""
        content = encode_png(picture)
        for step in range(first, last + 1):
            files.write_atomically(self._temporary / run_folder.frame_name(step), content, durable=False)
            self.count += 1

    def keep(self) -> None:
        """The pictures are complete: gives the folder its name."""
        self._check()
        with files.disk_errors(self._path):
            self._temporary.replace(self._path)

    def _check(self) -> None:
        if self._path.is_symlink() or (self._path.exists() and not self._path.is_dir()):
            raise UsageError(f"{self._path}: is a link or a file; choose a new or empty folder for the pictures")
        if self._path.is_dir():
            with files.disk_errors(self._path):
                held = sorted(item.name for item in self._path.iterdir())
            if held:
                raise UsageError(f"{self._path}: holds {held[0]!r}; choose a new or empty folder for the pictures")


def export_episode(
    episode: Path,
    folder: Path,
    size: Size | None = None,
    on_decision: Callable[[int], None] = lambda step: None,
    find_world: Callable[[Header], World] = world_of_header,
) -> tuple[Replayed, int]:
    """Draws an episode again: a picture before each decision, and one of the end, as its run keeps them.

    Where record and replay part nothing is written. In the grid, where an agent has words alone, the pictures are maps.

    Args:
        episode: The episode's folder, or its trajectory.
        folder: Of the pictures; new or empty.
        size: Of the pictures; None for that of the run, or 640 x 480 where it had none.
        on_decision: Called with the number of each decision drawn.
        find_world: Gives the world of a header.

    Returns:
        What the replay found, and how many pictures were written.

    Raises:
        UsageError: The folder is not empty, or a size is given for a map.
        OresightError: The record is broken or refused, a part is missing, or the disk refuses.
    """
    path = trajectory_path(episode)
    with open_trajectory(path) as trajectory:
        world = about(trajectory.header.kind)
    if size is not None and not world.pictures:
        raise UsageError(f"the pictures of {world.title} have a size of their own; leave out --size")
    with FrameFolder(folder) as frames:
        run = run_around(path) if world.pictures else None
        chosen = size or (None if run is None else run.config.size) or DEFAULT_SIZE
        replayed = replay(path, _Shots(frames, chosen, on_decision), find_world, size=chosen)
        if replayed.difference is not None:
            return replayed, 0
        frames.keep()
        return replayed, frames.count


def export_session(
    path: Path, folder: Path, size: Size | None = None, on_tick: Callable[[int], None] = lambda tick: None
) -> tuple[SessionReplayed, int]:
    """Draws a session again: a picture before each decision that is cut out of it, and one after the last.

    Decisions that were made at the same time, such as looks while walking, were made on the same picture.

    Args:
        path: The session's file.
        folder: Of the pictures; new or empty.
        size: Of the pictures; None for 640 x 480.
        on_tick: Called with the number of each tick played.

    Returns:
        What the replay found, and how many pictures were written.

    Raises:
        UsageError: The folder is not empty.
        OresightError: The session is broken or refused, a part is missing, or the disk refuses.
    """
    groups = deque((group[-1].until, len(group)) for group in decisions_of(path))
    opengl()
    with FrameFolder(folder) as frames:
        replayed = replay_session(path, _SessionShots(frames, groups, on_tick), size or DEFAULT_SIZE)
        if replayed.difference is not None:
            return replayed, 0
        frames.keep()
        return replayed, frames.count


class _Shots(Listener):
    """Draws while an episode is replayed."""

    def __init__(self, frames: FrameFolder, size: Size, on_decision: Callable[[int], None]) -> None:
        self._frames = frames
        self._size = size
        self._on_decision = on_decision
        self._environment: FilmEnvironment | None = None

    def started(self, header: Header, world: World, environment: Environment) -> None:
        if world.pictures:
            world.prepare(self._size)
        self._environment = cast(FilmEnvironment, environment)
        self._shoot(1)

    def decided(self, line: DecisionLine) -> None:
        self._shoot(line.step + 1)
        self._on_decision(line.step)

    def _shoot(self, step: int) -> None:
        assert self._environment is not None
        self._frames.add(self._environment.render(), step, step)


class _Rendered(Protocol):
    def render(self) -> Pixels:
        """What is seen now."""


class _SessionShots(SessionListener):
    """Draws while a session is played again: wherever a group of decisions begins, and where the last one ends."""

    def __init__(self, frames: FrameFolder, groups: "deque[tuple[int, int]]", on_tick: Callable[[int], None]) -> None:
        self._frames = frames
        self._groups = groups
        self._on_tick = on_tick
        self._world: _Rendered | None = None

    def started(self, header: SessionHeader, world: _Rendered) -> None:
        self._world = world
        self._shoot()

    def ticked(self, tick: SessionTick) -> None:
        if self._groups and tick.tick == self._groups[0][0]:
            self._groups.popleft()
            self._shoot()
        self._on_tick(tick.tick)

    def _shoot(self) -> None:
        assert self._world is not None
        begun = self._groups[0][1] if self._groups else 1
        self._frames.add(self._world.render(), self._frames.count + 1, self._frames.count + begun)
