r"""Reads session.jsonl: a header, then a line a tick, one at a time, and perhaps the line that says how it ended.

Lines end at the byte ``\n`` and nowhere else. A last line without its newline is what a crash leaves: if it is a whole
record it counts, else it is left out and reported as torn.
"""

from collections.abc import Iterator

from oresight.scoring.readers.faults import BadInput, read_object, shown, validated
from oresight.scoring.readers.lines import LineFile, TornTail
from oresight.scoring.records import SESSION_FORMAT, SessionEnd, SessionHeader, SessionTick

SESSION_NAME = "session.jsonl"


class SessionReader(LineFile):
    """An open session: iterate once over its ticks; a context manager.

    Attributes:
        path: The file.
        header: Its first line.
        torn: After the last tick: the torn last line, or None.
        end: After the last tick: how the session ended, or None where it was cut off.
    """

    header: SessionHeader

    def read_head(self) -> None:
        """Read the header."""
        self.end: SessionEnd | None = None
        expected = f'the header of a session ("format": "{SESSION_FORMAT}")'
        self.header = validated(SessionHeader, read_object(self.read_line(1), self.path, 1, expected), self.path, 1)
        self._actions = {action.name for action in self.header.actions}

    def __iter__(self) -> Iterator[tuple[int, SessionTick]]:
        """Yield line number and tick.

        Raises:
            BadInput: A line is at fault, the ticks do not count up by one, or something stands after the end.
        """
        number, tick = 1, 0
        while data := self.read_line(number + 1):
            number += 1
            if self.end is not None:
                if data.endswith(b"\n"):
                    raise BadInput(self.path, "another line", "nothing after the line that ends the session", number)
                return
            try:
                record = self._record(data, number)
            except BadInput as fault:
                if data.endswith(b"\n"):
                    raise
                self.torn = TornTail(number, fault)
                return
            if isinstance(record, SessionEnd):
                if record.tick != tick:
                    raise BadInput(self.path, str(record.tick), f"{tick}: the number of the last tick", number, "tick")
                self.end = record
                continue
            tick += 1
            self._check(record, tick, number)
            yield number, record

    def _record(self, data: bytes, number: int) -> SessionTick | SessionEnd:
        value = read_object(data, self.path, number, "a tick")
        if "end" in value:
            return validated(SessionEnd, value, self.path, number)
        return validated(SessionTick, value, self.path, number)

    def _check(self, record: SessionTick, tick: int, number: int) -> None:
        if record.tick != tick:
            raise BadInput(self.path, str(record.tick), f"{tick}: ticks count up from 1 by one", number, "tick")
        if record.action is None:
            if tick == 1 and self.header.mode == "turn-based":
                raise BadInput(
                    self.path, "nothing", "the decision that a turn-based session begins with", number, "action"
                )
        elif self.header.mode != "turn-based":
            raise BadInput(self.path, shown(record.action), "none in a session in real time", number, "action")
        elif record.action not in self._actions:
            raise BadInput(self.path, shown(record.action), "an action of the header's table", number, "action")
