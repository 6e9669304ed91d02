"""The run folder: what is written where, in which order, and what counts as finished.

    run.json          what was asked; written first
    episodes/<id>/    trajectory.jsonl (a header, then a line a decision), replies.jsonl (of a model, each written
                      before it is acted on), frames/, result.json written last
    summary.json      and summary.csv: a row an episode

`disk` does the careful writing, `resume` reads what an earlier attempt left; `runner` decides what to play;
trajectories are described in `scoring.records`.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from oresight.harness import files
from oresight.harness.errors import ForeignFolderError, RecordError, StoreError
from oresight.harness.png import encode_png
from oresight.harness.protocols import Json, Pixels
from oresight.harness.records import resume
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.run_folder import (
    EPISODES_NAME,
    FRAMES_NAME,
    REPLIES_NAME,
    RESULT_NAME,
    RUN_NAME,
    TRAJECTORY_NAME,
    State,
    read_episode,
    read_run,
)
from oresight.scoring.records import BranchResult, EpisodeResult, Frames, RunConfig, RunFile
from oresight.scoring.sessions.reader import SESSION_NAME

__all__ = [
    "EPISODES_NAME", "FRAMES_NAME", "REPLIES_NAME", "RESULT_NAME", "RUN_NAME", "TRAJECTORY_NAME",
    "BranchResult", "EpisodeFolder", "EpisodeResult", "Frames", "RunConfig", "RunFile", "RunFolder",
    "frame_name", "to_csv",
]  # fmt: skip

_FRAME = re.compile(r"([0-9]{6,})\.png")


class EpisodeFolder:
    """Records one episode, from its start or from where an earlier attempt was left; nobody else can meanwhile.

    Raises:
        RunLockedError: Another process records it.
        RecordError: Something else stands in its place.
        StoreError: The disk refuses, or the folder holds something foreign.
    """

    def __init__(self, path: Path, frames: Frames) -> None:
        self.path = path
        self._frames = frames
        self._last: tuple[int, Pixels | bytes] | None = None
        if path.exists() or path.is_symlink():
            _check_attempt(path)
        files.make_folder(path)
        self._lines = files.LineWriter(path / TRAJECTORY_NAME)
        self._replies: files.LineWriter | None = None
        with files.disk_errors(path):
            # From here on the episode counts as unfinished.
            for name in (RESULT_NAME, f".{RESULT_NAME}.tmp"):
                (path / name).unlink(missing_ok=True)
        if frames != "none":
            _remove_torn_frames(path / FRAMES_NAME)
            files.make_folder(path / FRAMES_NAME)

    def kept(self) -> tuple[resume.KeptTrajectory, resume.KeptReplies]:
        """What an earlier attempt left; torn tails are cut.

        Raises:
            InfrastructureError: It is damaged; it is left as it is.
        """
        trajectory = resume.read_trajectory(self.path / TRAJECTORY_NAME)
        replies = resume.read_replies(self.path / REPLIES_NAME)
        self._lines.cut(trajectory.size)
        if (self.path / REPLIES_NAME).exists():
            self._open_replies().cut(replies.size)
        return trajectory, replies

    def cut(self) -> None:
        """Remove what an earlier attempt wrote, to begin again."""
        self._lines.cut(0)

    def header(self, header: Json) -> None:
        """Writes the trajectory's first line."""
        self._lines.append(header)

    def line(self, line: Json) -> None:
        """Appends one decision."""
        self._lines.append(line)

    def reply(self, line: Json) -> None:
        """Appends a reply, or what else belongs with them; on the disk when the call returns."""
        writer = self._open_replies()
        if (self.path / REPLIES_NAME).stat().st_size == 0:
            writer.append(resume.REPLIES_HEADER)
        writer.append(line)

    def frame(self, step: int, pixels: Pixels | bytes | None) -> None:
        """Saves the picture of the observation with this step number, as the run's frames setting asks.

        Args:
            step: That number.
            pixels: The picture, or the PNG that it was made into already.
        """
        if pixels is None or self._frames == "none":
            return
        if self._frames == "last":
            self._last = (step, pixels)
        else:
            self._write_frame(step, pixels)

    def same_frame(self, step: int, pixels: Pixels | None) -> None:
        """As `frame`, while an earlier attempt is replayed: a picture that is there is not written again."""
        if self._frames != "all" or not (self.path / FRAMES_NAME / frame_name(step)).exists():
            self.frame(step, pixels)

    def frame_steps(self) -> frozenset[int]:
        """Step numbers of the observations whose pictures are there."""
        folder = self.path / FRAMES_NAME
        found = [_FRAME.fullmatch(path.name) for path in folder.iterdir()] if folder.is_dir() else []
        return frozenset(int(match[1]) for match in found if match is not None)

    def cut_frames(self, last: int) -> None:
        """Removes the pictures of observations after the one with this step number."""
        folder = self.path / FRAMES_NAME
        if folder.is_dir():
            for path in list(folder.iterdir()):
                match = _FRAME.fullmatch(path.name)
                if match is not None and int(match[1]) > last:
                    path.unlink()

    def finish(self, result: EpisodeResult) -> None:
        """Writes the result; after this the episode is finished."""
        try:
            if self._last is not None:
                self.cut_frames(-1)
                self._write_frame(*self._last)
            files.write_atomically(self.path / RESULT_NAME, files.to_pretty_json(result.model_dump(mode="json")))
        finally:
            self.close()

    def close(self) -> None:
        """Closes the records; may be called twice."""
        try:
            if self._replies is not None:
                self._replies.close()
        finally:
            self._lines.close()

    def _open_replies(self) -> files.LineWriter:
        if self._replies is None:
            self._replies = files.LineWriter(self.path / REPLIES_NAME, durable=True)
        return self._replies

    def _write_frame(self, step: int, pixels: Pixels | bytes) -> None:
        content = pixels if isinstance(pixels, bytes) else encode_png(pixels)
        files.write_atomically(self.path / FRAMES_NAME / frame_name(step), content, durable=False)


class RunFolder:
    """One run on disk, locked while open.

    Raises:
        ForeignFolderError: The folder holds another run, or anything else.
        RunLockedError: Another process writes it.
        StoreError: It cannot be written.
    """

    def __init__(self, path: Path, run: RunFile) -> None:
        self.path = path
        self.run = run
        if path.exists() and not path.is_dir():
            raise ForeignFolderError(f"{path}: is a file; give --out a folder that is new, empty or holds this run")
        # Looked at before anything is written, so that a foreign folder stays as it was.
        self._check_foreign()
        with files.disk_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        self._lock = files.FolderLock(path)
        try:
            if not self._check_foreign():
                files.write_atomically(path / RUN_NAME, files.to_pretty_json(run.model_dump(mode="json")))
            files.make_folder(path / EPISODES_NAME)
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the lock; may be called twice."""
        self._lock.close()

    def episode_path(self, episode_id: str) -> Path:
        """Folder of one episode."""
        return self.path / EPISODES_NAME / files.checked_id(episode_id)

    def finished(self, episode_id: str) -> EpisodeResult | None:
        """Return the result of an episode that is finished, else None: it is to be played."""
        record = read_episode(self.episode_path(episode_id), self.run)
        return record.result if record.state is State.FINISHED else None

    def standing(self, results: Sequence[EpisodeResult]) -> dict[str, State]:
        """Return how the planned episodes stand that have none of these results."""
        ended = {result.id for result in results}
        others = [name for name in self.run.config.episodes if name not in ended]
        return {name: read_episode(self.episode_path(name), self.run).state for name in others}

    def write_summary(self, summary: Json, rows: Sequence[Mapping[str, object]]) -> None:
        """Writes summary.json and summary.csv; all rows have the same columns."""
        files.write_atomically(self.path / "summary.json", files.to_pretty_json(summary))
        files.write_atomically(self.path / "summary.csv", to_csv(rows).encode())

    def _check_foreign(self) -> bool:
        """True if the folder holds this run, False if it is new or empty."""
        if not self.path.exists():
            return False
        file = self.path / RUN_NAME
        advice = "choose another --out folder"
        if not file.exists() and not file.is_symlink():
            with files.disk_errors(self.path):
                others = [
                    item.name for item in self.path.iterdir() if item.name not in (files.LOCK_NAME, ".run.json.tmp")
                ]
            if others:
                raise ForeignFolderError(
                    f"{self.path}: holds other things ({sorted(others)[0]!r}) and no run; {advice}"
                )
            return False
        try:
            found = read_run(self.path)
        except BadInput as error:
            raise ForeignFolderError(f"{file}: is not the run.json of an oresight run; {advice}") from error
        if found.config != self.run.config:
            differing = [
                name for name in RunConfig.model_fields if getattr(found.config, name) != getattr(self.run.config, name)
            ]
            raise ForeignFolderError(f"{self.path}: holds another run (its {', '.join(differing)} differ); {advice}")
        if found.versions != self.run.versions:
            raise ForeignFolderError(
                f"{self.path}: was begun with other versions ({found.versions}, now {self.run.versions}); {advice}"
            )
        return True


def frame_name(step: int) -> str:
    """File name of the picture of the observation with this step number."""
    return f"{step:06d}.png"


def to_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as CSV; a text that a spreadsheet would take for a formula is quoted."""

    def cell(value: object) -> object:
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
            return "'" + value
        return "" if value is None else value

    stream = io.StringIO()
    if rows:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)
    return stream.getvalue()


def _check_attempt(path: Path) -> None:
    """Looks at what an unfinished attempt left, so that nothing foreign is lost."""
    known = {SESSION_NAME, TRAJECTORY_NAME, REPLIES_NAME, RESULT_NAME, FRAMES_NAME, f".{RESULT_NAME}.tmp"}
    if path.is_symlink() or not path.is_dir():
        raise RecordError(f"{path}: expected an episode's folder, found a link or a file; remove it")
    with files.disk_errors(path):
        foreign = sorted(item.name for item in path.iterdir() if item.name not in known)
    if foreign:
        raise StoreError(f"{path}: holds {foreign[0]!r}, which is no part of an episode; move it away")
    with files.disk_errors(path):
        for name in known:
            # A link is never followed, so what it leads to is no record of ours.
            if (path / name).is_symlink():
                (path / name).unlink()


def _remove_torn_frames(frames: Path) -> None:
    """Removes what a crash may have left of pictures: temporary files, and files without content."""
    if not frames.is_dir():
        return
    with files.disk_errors(frames):
        for path in list(frames.iterdir()):
            if path.name.endswith(".png.tmp") or (_FRAME.fullmatch(path.name) and path.lstat().st_size == 0):
                path.unlink()
