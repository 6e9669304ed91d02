r"""Reads trajectory.jsonl: a header, then a line a decision, one at a time, so that memory does not grow with length.

Lines end at the byte ``\n`` and nowhere else; a text inside may hold any other separator. A last line without its
newline is what a crash leaves: if it is a whole record it counts, else it is left out and reported as torn.
"""

from collections.abc import Iterator
from pathlib import Path

from oresight.scoring.readers.faults import BadInput, read_object, validated
from oresight.scoring.readers.lines import LineFile, TornTail
from oresight.scoring.records import TRAJECTORY_FORMAT, DecisionLine, Header


class Trajectory(LineFile):
    """An open trajectory: iterate once over its decisions; a context manager.

    Attributes:
        path: The file.
        header: Its first line.
        torn: After the last decision: the torn last line, or None.
    """

    header: Header

    def read_head(self) -> None:
        """Read the header."""
        expected = f'the header of a trajectory ("format": "{TRAJECTORY_FORMAT}")'
        self.header = validated(Header, read_object(self.read_line(1), self.path, 1, expected), self.path, 1)

    def __iter__(self) -> Iterator[tuple[int, DecisionLine]]:
        """Yield line number and decision.

        Raises:
            BadInput: A line is at fault, or the steps do not count up by one.
        """
        number, step = 1, 0
        while data := self.read_line(number + 1):
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


def read_trajectory(path: Path) -> Trajectory:
    """Open a trajectory and read its header.

    Raises:
        BadInput: It cannot be read or has no proper header.
    """
    return Trajectory(path)
