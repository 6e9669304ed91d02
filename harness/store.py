"""The run folder: what is written where, in which order, and what counts as finished.

    run.json          what was asked; written first
    episodes/<id>/    trajectory.jsonl (a header, then a line a decision), frames/, result.json written last
    summary.json      and summary.csv: a row an episode

`disk` does the careful writing; `runner` decides what to play; trajectories are described in `scoring.records`.
"""

import csv
import io
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from harness import disk
from harness.errors import ForeignFolderError, Outcome, RecordError, StoreError
from harness.protocols import Json, Pixels
from scoring.summary import Tally

Frames = Literal["all", "last", "none"]

TRAJECTORY_NAME = "trajectory.jsonl"
RESULT_NAME = "result.json"
FRAMES_NAME = "frames"


class FileModel(BaseModel):
    """A file of a run; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RunConfig(FileModel):
    """What a run command asks for; the same config goes on in the same folder.

    Attributes:
        prompts: Name of the prompt set, where the world has several.
        map: Fingerprint of the map, where it came from a file.
    """

    world: str
    agent: str
    memory: str
    episodes: tuple[str, ...]
    frames: Frames
    size: tuple[int, int] | None
    prompts: str | None = None
    map: str | None = None


class RunFile(FileModel):
    """run.json."""

    format: Literal["oresight.run"] = "oresight.run"
    version: Literal[1] = 1
    config: RunConfig
    versions: dict[str, str | int]


class EpisodeResult(FileModel):
    """result.json: written last, so that an episode with one is finished.

    Attributes:
        reason: Why it ended, in words, where the outcome does not say it all.
        score: The scorer's summary, both readings; empty if the world never opened.
        parameters: What it was scored with.
        timing: Seconds and the like; alone may differ between two runs of the same command.
    """

    format: Literal["oresight.result"] = "oresight.result"
    version: Literal[1] = 1
    id: str
    scenario: str
    agent: str
    memory: str
    outcome: Outcome
    reason: str | None = None
    steps: int = Field(ge=0)
    budget: int = Field(ge=1)
    score: dict[str, Any]
    parameters: dict[str, Any] = Field(default_factory=dict)
    timing: dict[str, float] = Field(default_factory=dict)
    traceback: str | None = None

    @model_validator(mode="after")
    def _a_result_is_scored(self) -> "EpisodeResult":
        if self.outcome.counts:
            TypeAdapter(Tally).validate_python(self.score.get("lenient"))
            TypeAdapter(Tally).validate_python(self.score.get("strict"))
            for name in ("decisions", "scored_decisions", "steps_taken", "budget", "acquired", "target_count"):
                if not isinstance(self.score.get(name), int):
                    raise ValueError(f"score.{name} is missing or no whole number")
        return self


class EpisodeFolder:
    """Records one episode, from its start; whatever an earlier attempt left is removed first."""

    def __init__(self, path: Path, frames: Frames) -> None:
        self.path = path
        self._frames = frames
        self._last: tuple[int, Pixels] | None = None
        if path.exists() or path.is_symlink():
            _remove_attempt(path)
        disk.make_folder(path)
        if frames != "none":
            disk.make_folder(path / FRAMES_NAME)
        self._lines = disk.LineWriter(path / TRAJECTORY_NAME)

    def header(self, header: Json) -> None:
        """Writes the trajectory's first line."""
        self._lines.append(header)

    def line(self, line: Json) -> None:
        """Appends one decision."""
        self._lines.append(line)

    def frame(self, step: int, pixels: Pixels | None) -> None:
        """Saves the picture of the observation with this step number, as the run's frames setting asks."""
        if pixels is None or self._frames == "none":
            return
        if self._frames == "last":
            self._last = (step, pixels)
        else:
            self._write_frame(step, pixels)

    def finish(self, result: EpisodeResult) -> None:
        """Writes the result; after this the episode is finished."""
        if self._last is not None:
            self._write_frame(*self._last)
        self.close()
        disk.write_atomically(self.path / RESULT_NAME, disk.to_pretty_json(result.model_dump(mode="json")))

    def close(self) -> None:
        """Closes the trajectory; may be called twice."""
        self._lines.close()

    def _write_frame(self, step: int, pixels: Pixels) -> None:
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, format="PNG", compress_level=1)
        disk.write_atomically(self.path / FRAMES_NAME / frame_name(step), buffer.getvalue(), durable=False)


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
        with disk.disk_errors(path):
            path.mkdir(parents=True, exist_ok=True)
        self._lock = disk.FolderLock(path)
        try:
            if not self._check_foreign():
                disk.write_atomically(path / "run.json", disk.to_pretty_json(run.model_dump(mode="json")))
            disk.make_folder(path / "episodes")
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
        return self.path / "episodes" / disk.checked_id(episode_id)

    def finished(self, episode_id: str) -> EpisodeResult | None:
        """The result of an episode that is finished and counts, else None: it is to be played.

        A missing, empty or broken result file is no result.
        """
        path = self.episode_path(episode_id) / RESULT_NAME
        if not path.is_file() or path.is_symlink():
            return None
        try:
            result = load_result(path)
        except RecordError:
            return None
        return result if result.id == episode_id and result.outcome.counts else None

    def start_episode(self, episode_id: str) -> EpisodeFolder:
        """A fresh folder for one episode."""
        return EpisodeFolder(self.episode_path(episode_id), self.run.config.frames)

    def write_summary(self, summary: Json, rows: Sequence[Mapping[str, object]]) -> None:
        """Writes summary.json and summary.csv; all rows have the same columns."""
        disk.write_atomically(self.path / "summary.json", disk.to_pretty_json(summary))
        disk.write_atomically(self.path / "summary.csv", to_csv(rows).encode())

    def _check_foreign(self) -> bool:
        """True if the folder holds this run, False if it is new or empty."""
        if not self.path.exists():
            return False
        file = self.path / "run.json"
        advice = "choose another --out folder"
        if not file.exists() and not file.is_symlink():
            with disk.disk_errors(self.path):
                others = [
                    item.name for item in self.path.iterdir() if item.name not in (disk.LOCK_NAME, ".run.json.tmp")
                ]
            if others:
                raise ForeignFolderError(
                    f"{self.path}: holds other things ({sorted(others)[0]!r}) and no run; {advice}"
                )
            return False
        try:
            found = RunFile.model_validate(disk.read_json(file))
        except (ValidationError, RecordError) as error:
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


def load_result(path: Path) -> EpisodeResult:
    """Reads a result file.

    Raises:
        RecordError: It is broken.
    """
    try:
        return EpisodeResult.model_validate(disk.read_json(path))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RecordError(f"{path}: field {place!r}: {first['msg']}; run the episode again") from error


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


def _remove_attempt(path: Path) -> None:
    """Removes what an unfinished attempt left; only the files an episode has, so that nothing foreign is lost."""
    known = {TRAJECTORY_NAME, RESULT_NAME, FRAMES_NAME, f".{RESULT_NAME}.tmp"}
    if path.is_symlink() or not path.is_dir():
        raise RecordError(f"{path}: expected an episode's folder, found a link or a file; remove it")
    foreign = sorted(item.name for item in path.iterdir() if item.name not in known)
    if foreign:
        raise StoreError(f"{path}: holds {foreign[0]!r}, which is no part of an episode; move it away")
    with disk.disk_errors(path):
        # The result goes first: from here on the episode counts as unfinished.
        for name in (RESULT_NAME, f".{RESULT_NAME}.tmp", TRAJECTORY_NAME):
            (path / name).unlink(missing_ok=True)
        frames = path / FRAMES_NAME
        if frames.is_symlink():
            frames.unlink()
        elif frames.exists():
            shutil.rmtree(frames)
