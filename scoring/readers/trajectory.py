r"""Reads trajectory.jsonl: a header, then a line a decision, one at a time, so that memory does not grow with length.

Lines end at the byte ``\n`` and nowhere else; a text inside may hold any other separator. A last line without its
newline is what a crash leaves: if it is a whole record it counts, else it is left out and reported as torn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from scoring.readers.faults import BadInput, read_object, too_long, unreadable, validated
from scoring.records import LINE_BYTES_MAX, TRAJECTORY_FORMAT, DecisionLine, Header


@dataclass(frozen=True)
class TornTail:
    """A last line that was cut short, and left out."""

    line: int
    fault: BadInput


class Trajectory:
    """An open trajectory: iterate once over its decisions; a context manager.

    Attributes:
        path: The file.
        header: Its first line.
        torn: After the last decision: the torn last line, or None.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn: TornTail | None = None
        try:
            self._stream: BinaryIO = path.open("rb")
        except OSError as error:
            raise unreadable(path, error) from None
        try:
            self.header = self._read_header()
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._stream.close()

    def __iter__(self) -> Iterator[tuple[int, DecisionLine]]:
        """Yield line number and decision.

        Raises:
            BadInput: A line is at fault, or the steps do not count up by one.
        """
        number, step = 1, 0
        while data := self._read_line(number + 1):
            number += 1
            try:
                decision = validated(
                    DecisionLine, read_object(data, self.path, number, "a decision"), self.path, number
                )
            except BadInput as fault:
                if data.endswith(b"\n"):
                    raise
                self.torn = TornTail(number, fault)
                return
            step += 1
            if decision.step != step:
                raise BadInput(self.path, str(decision.step), f"{step}: steps count up from 1 by one", number, "step")
            yield number, decision

    def _read_header(self) -> Header:
        expected = f'the header of a trajectory ("format": "{TRAJECTORY_FORMAT}")'
        return validated(Header, read_object(self._read_line(1), self.path, 1, expected), self.path, 1)

    def _read_line(self, number: int) -> bytes:
        try:
            data = self._stream.readline(LINE_BYTES_MAX + 1)
        except OSError as error:
            raise unreadable(self.path, error) from None
        if len(data) > LINE_BYTES_MAX:
            raise too_long(self.path, number)
        return data


def read_trajectory(path: Path) -> Trajectory:
    """Open a trajectory and read its header.

    Raises:
        BadInput: It cannot be read or has no proper header.
    """
    return Trajectory(path)
