"""Follows a run or a study by what is on disk, while somebody else plays it; how it is shown is `cli.watch`'s business.

Nothing is written, and no lock is taken: whether somebody plays is seen from the list of locks that the system has.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from oresight.harness import files
from oresight.harness.analysis.watching.run import Condition, RunWatch
from oresight.harness.errors import UsageError
from oresight.harness.protocols import Json
from oresight.harness.records import folder as run_folder
from oresight.harness.running.study_file import STUDY_NAME, labelled_folders

WATCH_FORMAT = "oresight.watch"
# What a run that is just beginning has in its folder.
_BEGINNING = {files.LOCK_NAME, f".{run_folder.RUN_NAME}.tmp", f".{STUDY_NAME}.tmp", run_folder.RUN_NAME, STUDY_NAME}


class State(StrEnum):
    """How it stands with a run or a study."""

    WAITING = "not begun"
    GOING = "going on"
    COMPLETE = "complete"
    LEFT = "left"
    GONE = "gone"


@dataclass(frozen=True)
class Look:
    """A run or a study at one moment.

    Attributes:
        state: How it stands.
        conditions: A study has several; none before it has begun.
        now_s: When, in seconds since the epoch.
    """

    state: State
    conditions: tuple[Condition, ...]
    now_s: float

    def to_json(self) -> Json:
        """As a JSON object."""
        return {
            "format": WATCH_FORMAT,
            "version": 1,
            "state": str(self.state),
            "conditions": [condition.to_json(self.now_s) for condition in self.conditions],
        }


class Watch:
    """Follows what is in a folder, from whenever it comes until nobody asks any more."""

    def __init__(
        self,
        path: Path,
        monotonic: Callable[[], float] = time.monotonic,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Reads nothing yet.

        Args:
            path: Folder of a run or of a study; it need not be there yet.
            monotonic: A clock that measures the pace, in seconds.
            wall_ns: The clock of files' times, in nanoseconds.
        """
        self._path = path
        self._monotonic = monotonic
        self._wall_ns = wall_ns
        self._runs: list[RunWatch] = []
        # The folder and the file that say what it is; another folder of the same name holds another run.
        self._identity: tuple[int, int] | None = None

    def look(self) -> Look:
        """How it stands now.

        Raises:
            UsageError: The folder holds something else.
            RecordError: The file that says what was planned is none.
            StoreError: The disk refuses.
        """
        played_before = self._played()
        if not self._find():
            return self._look(State.GONE if self._identity is not None else State.WAITING, ())
        conditions = tuple(run.look() for run in self._runs)
        if all(condition.complete for condition in conditions):
            return self._look(State.COMPLETE, conditions)
        # Asked before and after: between the two a process may have ended, or begun.
        left = played_before is False and self._played() is False
        return self._look(State.LEFT if left else State.GOING, conditions)

    def _look(self, state: State, conditions: tuple[Condition, ...]) -> Look:
        return Look(state, conditions, self._wall_ns() / 1e9)

    def _played(self) -> bool | None:
        """Whether a process plays it; None if that cannot be told."""
        found = [files.is_locked(folder) for folder in {self._path, *(run.path for run in self._runs)}]
        return None if None in found else any(found)

    def _find(self) -> bool:
        """Finds the runs, if they are there; True if so."""
        if not self._path.exists():
            return False
        if not self._path.is_dir():
            raise UsageError(f"{self._path}: is a file; name the folder of a run or of a study")
        for name in (STUDY_NAME, run_folder.RUN_NAME):
            with files.disk_errors(self._path):
                try:
                    found = (self._path / name).lstat()
                except FileNotFoundError:
                    continue
            identity = (found.st_ino, found.st_mtime_ns)
            if identity != self._identity:
                self._begin(study=name == STUDY_NAME)
                self._identity = identity
            return True
        with files.disk_errors(self._path):
            others = sorted({each.name for each in self._path.iterdir()} - _BEGINNING)
        if others and self._identity is None:
            raise UsageError(
                f"{self._path}: holds other things ({others[0]!r}) and no run; name the folder of a run or of a study"
            )
        return False

    def _begin(self, study: bool) -> None:
        folders: dict[Path, str | None] = {self._path: None}
        if study:
            folders = {**labelled_folders(self._path)}
        self._runs = [RunWatch(folder, label, self._monotonic, self._wall_ns) for folder, label in folders.items()]
