"""Careful reading and writing: nothing half-written under its final name, no link followed, no name taken as a path.

Knows nothing of what the files mean; `store` does.
"""

import fcntl
import json
import os
import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from oresight.harness.errors import RecordError, RunLockedError, StoreError, UsageError
from oresight.scoring import records

ID_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,80}")
LOCK_NAME = ".lock"
# How long what is left of a killed process may hold a file.
_LOCK_PATIENCE_S = 30.0


def checked_id(text: str) -> str:
    """Return `text` if it may name a file or folder of a run.

    Raises:
        RecordError: It is not 1 to 80 of letters, digits, dot, underscore and dash, or it is a dot or two.
    """
    if text in (".", "..") or not ID_PATTERN.fullmatch(text):
        raise RecordError(f"{text[:100]!r} cannot be an id; expected 1 to 80 letters, digits, '.', '_' or '-'")
    return text


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn errors of the disk into one sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(
            f"{path}: cannot be written or read ({reason}); free space, check permissions, or choose another folder"
        ) from error


def to_pretty_json(value: Mapping[str, Any]) -> bytes:
    """Return a file's content, indented for human readers; NaN and Infinity are refused."""
    return (json.dumps(value, allow_nan=False, indent=1) + "\n").encode("ascii")


def make_folder(path: Path) -> None:
    """Make a folder with its parents; an existing folder is accepted, a link is not.

    Raises:
        StoreError: The disk refuses.
        RecordError: Something else stands there.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise RecordError(f"{path}: expected a folder, found a link or a file; choose another place")
    with disk_errors(path):
        path.mkdir(parents=True, exist_ok=True)


def open_plain(path: Path, flags: int) -> int:
    """Open a regular file without following a link in the last part of its path; return the descriptor."""
    if path.is_symlink():
        raise RecordError(f"{path}: is a link, which is never followed; remove it or choose another folder")
    with disk_errors(path):
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


def write_atomically(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a file atomically: all of it or nothing.

    Args:
        path: Its final name; the folder must exist.
        content: All of it.
        durable: Also force it to the disk before it gets its name.

    Raises:
        StoreError: The disk refuses; what stood there before still does.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    descriptor = open_plain(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with disk_errors(path):
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(path)
        if durable:
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def read_json(path: Path, limit_bytes: int = 64_000_000) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        RecordError: It is not a regular file, too long, or not a JSON object of finite numbers.
    """
    descriptor = open_plain(path, os.O_RDONLY)
    with disk_errors(path), os.fdopen(descriptor, "rb") as stream:
        content = stream.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise RecordError(f"{path}: longer than {limit_bytes} bytes; this is not a file of a run")
    try:
        value = records.parse_json(content.decode())
    except ValueError as error:
        raise RecordError(f"{path}: not valid JSON ({error}); delete it or restore it from a copy") from error
    if not isinstance(value, dict):
        raise RecordError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


class LineWriter:
    """A file of JSON lines that grows by one line at a time, each handed to the system before the call returns.

    While it is open the file is locked, so that no other process appends to it, not even the rest of
    one that is being killed.
    """

    def __init__(self, path: Path, durable: bool = False) -> None:
        """Open the file, or make it.

        Args:
            path: Its name.
            durable: Also force every line to the disk before the call returns.

        Raises:
            RunLockedError: Another process writes it, and does so for longer than a process takes to die.
        """
        self._path = path
        self._durable = durable
        descriptor = open_plain(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            _wait_for_lock(descriptor, path)
        except BaseException:
            os.close(descriptor)
            raise
        self._stream: IO[bytes] = os.fdopen(descriptor, "r+b", buffering=0)

    def cut(self, size: int) -> None:
        """Cut the file to its first `size` bytes, if it is longer."""
        with disk_errors(self._path):
            if self._path.stat().st_size > size:
                self._stream.truncate(size)
                os.fsync(self._stream.fileno())

    def append(self, value: Mapping[str, Any]) -> None:
        """Add one line; the only newline is the one at its end."""
        line = records.to_line(value)
        with disk_errors(self._path):
            written = 0
            while written < len(line):
                written += self._stream.write(line[written:])
            if self._durable:
                os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Force the file to the disk and closes it; may be called twice."""
        if not self._stream.closed:
            with disk_errors(self._path):
                try:
                    os.fsync(self._stream.fileno())
                finally:
                    self._stream.close()


def _wait_for_lock(descriptor: int, path: Path) -> None:
    until = time.monotonic() + _LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if time.monotonic() > until:
                raise RunLockedError(f"{path}: another process is writing this episode; wait for it") from error
        time.sleep(0.05)


class FolderLock:
    """A kernel lock on a folder: held while this object is open, gone when the process is, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = open_plain(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            raise RunLockedError(
                f"{folder}: another process is writing this run; wait for it or choose another --out folder"
            ) from error

    def close(self) -> None:
        """Release the lock; may be called twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def is_locked(folder: Path) -> bool | None:
    """Return whether a process of this machine holds the folder's `FolderLock`; looks without taking it.

    Returns:
        None where the system has no list of its locks.
    """
    try:
        held = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return None
    try:
        lock = (folder / LOCK_NAME).lstat()
    except OSError:
        return False
    # A line is "1: FLOCK ADVISORY WRITE pid major:minor:inode 0 EOF". Some file systems give files another device than
    # the list does, so that the inode alone is compared; one who waits for a lock has "->" in the second place.
    rows = [line.split() for line in held.splitlines()]
    return any(row[1] == "FLOCK" and row[5].rpartition(":")[2] == str(lock.st_ino) for row in rows if len(row) > 5)


def read_toml(path: Path, limit_bytes: int, expected: str) -> dict[str, Any]:
    """Read a TOML file that a person wrote.

    Args:
        path: The file; a link is not followed.
        limit_bytes: Longer ones are refused.
        expected: What the file should be, for messages.

    Raises:
        UsageError: It is no TOML, or too long, or a link.
        OresightError: It cannot be read.
    """
    try:
        descriptor = open_plain(path, os.O_RDONLY)
    except RecordError as error:
        raise UsageError(str(error)) from error
    with disk_errors(path), os.fdopen(descriptor, "rb") as stream:
        content = stream.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise UsageError(f"{path}: longer than {limit_bytes} bytes; expected {expected}")
    try:
        return tomllib.loads(content.decode())
    # ValueError is also what text that is not UTF-8 raises.
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not valid TOML ({error}); correct the file") from error
