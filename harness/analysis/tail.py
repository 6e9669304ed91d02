"""The new lines of a file that grows, and may be cut, replaced or removed meanwhile; nothing is read twice.

What the lines mean is the reader's business. The file is never locked and never written.
"""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from oresight.scoring.records import LINE_BYTES_MAX

# Of the last line that was read, so that a file which was cut and has grown again is not taken for the same.
_MARK_BYTES = 64


class Tail:
    """Where reading a file has come to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state: tuple[int, int, int] | None = None
        self._offset = 0
        self._mark = b""
        self._too_long = False

    @property
    def written_s(self) -> float | None:
        """When the file was last written, in seconds since the epoch, as of the last look; None if it was not there."""
        return None if self._state is None else self._state[2] / 1e9

    def lines(self, forget: Callable[[], None]) -> Iterator[bytes]:
        r"""Yield the whole lines that have come since the last look, each with the \n at its end.

        A torn line at the end is left until it is whole; one that is longer than any record is left out.

        Args:
            forget: Called where the file is another than before: all that was read of it is void, and reading starts
                at its beginning.

        Raises:
            OSError: It is there and cannot be read.
        """
        state = self._look()
        if state is None:
            if self._state is not None:
                self._restart(forget)
            return
        if state == self._state:
            return
        if self._state is not None and (state[0] != self._state[0] or state[1] < self._offset):
            self._restart(forget)
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        with os.fdopen(descriptor, "rb") as stream:
            stream.seek(self._offset - len(self._mark))
            if stream.read(len(self._mark)) != self._mark:
                self._restart(forget)
                stream.seek(0)
            while line := stream.readline(LINE_BYTES_MAX + 1):
                whole = line.endswith(b"\n")
                if not whole and len(line) <= LINE_BYTES_MAX:
                    break
                self._offset += len(line)
                self._mark = line[-_MARK_BYTES:]
                wanted = whole and not self._too_long
                self._too_long = not whole
                if wanted:
                    yield line
        self._state = state

    def _look(self) -> tuple[int, int, int] | None:
        """Return what tells the file from another and from itself before: inode, size, time; None if it is none."""
        try:
            found = self._path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None

    def _restart(self, forget: Callable[[], None]) -> None:
        self._state = None
        self._offset = 0
        self._mark = b""
        self._too_long = False
        forget()
