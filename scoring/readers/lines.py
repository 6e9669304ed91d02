r"""A file of JSON lines that is read one line at a time; what trajectories and sessions have in common.

Lines end at the byte ``\n`` and nowhere else; a text inside may hold any other separator.
"""

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from oresight.scoring.readers.faults import BadInput, too_long, unreadable
from oresight.scoring.records import LINE_BYTES_MAX


@dataclass(frozen=True)
class TornTail:
    """A last line that was cut short, and left out."""

    line: int
    fault: BadInput


class LineFile:
    """An open file of lines; a context manager.

    Attributes:
        path: The file.
        torn: After the last line: the torn one, or None.
    """

    def __init__(self, path: Path) -> None:
        """Open a file, and close it again if its head is at fault.

        Raises:
            BadInput: It cannot be read, or `read_head` says what is wrong.
        """
        self.path = path
        self.torn: TornTail | None = None
        try:
            self._stream: BinaryIO = path.open("rb")
        except OSError as error:
            raise unreadable(path, error) from None
        try:
            self.read_head()
        except BaseException:
            self._stream.close()
            raise

    def read_head(self) -> None:
        """Read what stands before the records; for the kinds of file to say."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._stream.close()

    def read_line(self, number: int) -> bytes:
        """Return the next line with its newline if it has one; empty at the end of the file.

        Raises:
            BadInput: It cannot be read, or is longer than a line may be.
        """
        try:
            data = self._stream.readline(LINE_BYTES_MAX + 1)
        except OSError as error:
            raise unreadable(self.path, error) from None
        if len(data) > LINE_BYTES_MAX:
            raise too_long(self.path, number)
        return data
