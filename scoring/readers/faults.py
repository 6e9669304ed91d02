"""The one exception of all readers, and the steps from bytes to a record that raise it."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from oresight.scoring.records import LINE_BYTES_MAX, parse_json

_SHOWN = 60
_Model = TypeVar("_Model", bound=BaseModel)


class BadInput(Exception):  # noqa: N818 (the name says what it is; every reader's caller catches it)
    """A file from outside is not what it should be; `str()` is one sentence for a person.

    Attributes:
        file: Its path as given, with nothing in it that could act on a terminal.
        line: Number of the line from 1, or None where no line is to blame.
        step: Number of the decision from 1, or None where no decision is to blame or its line says it.
        field: Dotted path of the field, or None where no field is to blame.
        found: What was found.
        expected: What was expected, and what to do where that is not plain.
    """

    def __init__(
        self,
        file: Path | str,
        found: str,
        expected: str,
        line: int | None = None,
        field: str | None = None,
        step: int | None = None,
    ):
        self.file = shown_path(file)
        self.line = line
        self.step = step
        self.field = field
        self.found = found
        self.expected = expected
        place = self.file
        if line is not None:
            place += f", line {line}"
        if field is not None:
            place += f", field {field}"
        if step is not None:
            place += f", step {step}"
        super().__init__(f"{place}: found {found}; expected {expected}")

    def __reduce__(self) -> tuple[object, ...]:
        return BadInput, (self.file, self.found, self.expected, self.line, self.field, self.step)


def shown(value: object) -> str:
    """Return a value from outside as short, plain text: control and bidi characters are spelled out."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def shown_path(path: Path | str) -> str:
    """Return a path with control and bidi characters spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in str(path))


def read_object(
    data: bytes, file: Path, line: int | None, what: str, *, unique_keys: bool = False
) -> dict[str, object]:
    """Return the JSON object that `data` holds; with `unique_keys` a field that stands twice is a fault.

    Raises:
        BadInput: It is no UTF-8, no JSON, no object, or beyond a limit.
    """
    if not data.strip():
        raise BadInput(file, "nothing", what, line)
    text = ""
    try:
        text = data.decode("utf-8")
        value = parse_json(text, unique_keys=unique_keys)
    except UnicodeDecodeError as error:
        raise BadInput(file, f"byte 0x{data[error.start]:02x}, which is no UTF-8", what, line) from None
    except json.JSONDecodeError as error:
        # Data of many lines is a whole file, where the line is told from the data itself.
        line = error.lineno if line is None and b"\n" in data else line
        found = f"no JSON ({error.msg.lower()} at column {error.colno})"
        if error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated"):
            found += ", which ends too early, as if truncated"
        raise BadInput(file, found, what, line) from None
    except ValueError as error:
        raise BadInput(
            file, str(error)[:200], f"{what}, in JSON with finite numbers nested at most 64 deep", line
        ) from None
    if not isinstance(value, dict):
        raise BadInput(file, f"{_kind(value)} {shown(value)}", what, line)
    return value


def validated(model: type[_Model], value: object, file: Path, line: int | None, prefix: str = "") -> _Model:
    """Return `value` as a record.

    Args:
        model: What it should be.
        value: What the file holds.
        file: For the message.
        line: For the message.
        prefix: Where in the line the value stands, for example ``facts``.

    Raises:
        BadInput: It is no such record; names the first field at fault.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise from_validation(error, file, line, prefix) from None


def from_validation(error: ValidationError, file: Path, line: int | None, prefix: str = "") -> BadInput:
    """Return the fault that a record's model found."""
    first = error.errors(include_url=False)[0]
    field = _dotted((prefix, *first["loc"]) if prefix else first["loc"])
    if first["type"] == "missing":
        return BadInput(file, "nothing", "this field", line, field)
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    found = f"{_kind(first['input'])} {shown(first['input'])}"
    if field.endswith("version") and first["type"] == "less_than_equal":
        message = f"{message.removeprefix('less than or equal to ')} or older; update oresight to read it"
    return BadInput(file, found, message, line, field or None)


def too_long(file: Path, line: int) -> BadInput:
    """Return the fault of a line beyond the limit."""
    return BadInput(file, "more bytes", f"at most {LINE_BYTES_MAX // 2**20} MB on a line", line)


def unreadable(file: Path, error: OSError) -> BadInput:
    """Return the fault of a file that the system does not give."""
    return BadInput(file, (error.strerror or str(error)).lower(), "a file that can be read")


def _dotted(loc: tuple[int | str, ...]) -> str:
    path = ""
    for part in loc:
        path += f"[{part}]" if isinstance(part, int) else f".{shown_path(part[:_SHOWN])}"
    return path.removeprefix(".")


def _kind(value: object) -> str:
    if value is None:
        return "a null"
    names = {
        bool: "a truth value",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "a value")
