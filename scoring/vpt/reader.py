r"""Reads VPT-style recordings of the real game: JSON Lines, a line a tick, 20 a second; a film beside them is not read.

One line is in memory at a time. Lines end at the byte ``\n`` and nowhere else. A last line that was cut short is left
out. Ticks count up; a line that repeats the tick before it is left out too, and one that goes back is a fault.
"""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Annotated, BinaryIO, Self

from pydantic import ConfigDict, Field, StrictBool

from oresight.scoring.readers.faults import BadInput, read_object, too_long, unreadable, validated
from oresight.scoring.records import LINE_BYTES_MAX, Coordinate, Count, Number, Record, Text

LEFT_BUTTON, RIGHT_BUTTON = 0, 1
LEGEND = "a tick of a recording (mouse, keyboard, isGuiOpen, hotbar, tick)"

# A mouse that moves so far within a twentieth of a second is none.
MOUSE_COUNTS_MAX = 100_000
# The game holds the view within 90 degrees; what is written may be rounded.
_PITCH_MAX = 90.01
_INVENTORY_MAX = 4096

_Moved = Annotated[float, Field(strict=True, ge=-MOUSE_COUNTS_MAX, le=MOUSE_COUNTS_MAX)]
_Pitch = Annotated[float, Field(strict=True, ge=-_PITCH_MAX, le=_PITCH_MAX)]
_Yaw = Annotated[float, Field(strict=True, ge=-1e9, le=1e9)]
_Buttons = Annotated[list[Count], Field(max_length=64)]
_Keys = Annotated[list[Text], Field(max_length=256)]


class _Part(Record):
    """Part of a line; the names in the files are the aliases."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=False)


class Mouse(_Part):
    """The mouse in one tick: how far it moved, and its buttons: 0 the left one, 1 the right one."""

    dx: _Moved = 0.0
    dy: _Moved = 0.0
    buttons: _Buttons
    new_buttons: _Buttons = Field(default=[], alias="newButtons")


class Keyboard(_Part):
    """The keys that are down, and those that just went down."""

    keys: _Keys
    new_keys: _Keys = Field(default=[], alias="newKeys")


class Item(_Part):
    """A stack in the inventory."""

    type: Text
    quantity: Count


class VptTick(_Part):
    """One line. Pose, inventory and counters may be missing; what follows from them is then undecided."""

    mouse: Mouse
    keyboard: Keyboard
    is_gui_open: StrictBool = Field(alias="isGuiOpen")
    hotbar: Annotated[int, Field(strict=True, ge=0, le=8)]
    tick: Count
    yaw: _Yaw | None = None
    pitch: _Pitch | None = None
    xpos: Coordinate | None = None
    ypos: Coordinate | None = None
    zpos: Coordinate | None = None
    inventory: Annotated[list[Item], Field(max_length=_INVENTORY_MAX)] | None = None
    stats: dict[str, Number | dict[str, Number]] | None = None

    @property
    def feet(self) -> tuple[float, float, float] | None:
        """Where the player stands, if the line says so in full."""
        if self.xpos is None or self.ypos is None or self.zpos is None:
            return None
        return (self.xpos, self.ypos, self.zpos)


class VptRecording:
    """An open recording: iterate once over its ticks; a context manager.

    Attributes:
        path: The file.
        torn: After the last tick: the number of the line that was cut short, or None.
        repeated: Lines left out so far because they repeat the tick before them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn: int | None = None
        self.repeated = 0
        try:
            self._stream: BinaryIO = path.open("rb")
        except OSError as error:
            raise unreadable(path, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def __iter__(self) -> Iterator[VptTick]:
        """Yield tick after tick.

        Raises:
            BadInput: A line is at fault, or a tick is earlier than the one before it.
        """
        number = 0
        before: int | None = None
        while data := self._read_line(number + 1):
            number += 1
            try:
                tick = validated(VptTick, read_object(data, self.path, number, LEGEND), self.path, number)
            except BadInput:
                # Nothing can be cut off the first line and leave a recording.
                if data.endswith(b"\n") or number == 1:
                    raise
                self.torn = number
                return
            if before is not None and tick.tick < before:
                expected = f"{before + 1} or more: ticks count up, in the order in which they were played"
                raise BadInput(self.path, str(tick.tick), expected, number, "tick")
            if tick.tick == before:
                self.repeated += 1
                continue
            before = tick.tick
            yield tick
        if number == 0:
            raise BadInput(self.path, "nothing", LEGEND, 1)

    def remarks(self) -> tuple[str, ...]:
        """Say what was left out."""
        told: list[str] = []
        if self.repeated:
            told.append(f"{self.repeated} lines repeat the tick before them and are left out")
        if self.torn is not None:
            told.append(f"line {self.torn} was cut short and is left out")
        return tuple(told)

    def _read_line(self, number: int) -> bytes:
        try:
            data = self._stream.readline(LINE_BYTES_MAX + 1)
        except OSError as error:
            raise unreadable(self.path, error) from None
        if len(data) > LINE_BYTES_MAX:
            raise too_long(self.path, number)
        return data
