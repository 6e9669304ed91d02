"""A model that says what a script says: for tests of whole runs, and for trying prompts without a provider.

A script is a list of replies, a file of them, or a function of the request. It knows no state but the number of the
reply within the episode, so that an episode that is resumed hears what it would have heard.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oresight.harness.errors import UsageError
from oresight.harness.models.base import FinishReason, ModelRequest, Reply, Usage, estimate
from oresight.scoring.records import LINE_BYTES_MAX, Json, parse_json

ScriptReply = str | Reply
Script = Sequence[ScriptReply] | Callable[[ModelRequest], ScriptReply]


class ScriptUsage(BaseModel):
    """Tokens of a line of a script."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    reasoning_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)


class ScriptLine(BaseModel):
    """A line of a script that says more than a text."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    text: str = ""
    finish: FinishReason = Field(default=FinishReason.STOP, strict=False)
    note: str = ""
    usage: ScriptUsage = ScriptUsage()

    def reply(self) -> Reply:
        """Return the reply of this line."""
        told = self.usage
        usage = Usage(told.input_tokens, told.output_tokens, told.reasoning_tokens, told.cached_tokens)
        return Reply(self.text, self.finish, usage, self.note)


class ScriptedModel:
    """Answers from a script; a list is started again when it is used up."""

    def __init__(self, script: Script, name: str = "scripted") -> None:
        if not callable(script) and not script:
            raise UsageError(f"{name}: the script holds no reply; give at least one")
        self.name = name
        self._script = script

    async def complete(self, request: ModelRequest) -> Reply:
        """Return the next reply of the script."""
        script = self._script
        said = script(request) if callable(script) else script[request.number % len(script)]
        if isinstance(said, Reply):
            return said
        return Reply(said, usage=estimate(request.messages, said))

    async def aclose(self) -> None:
        """Do nothing; there is no connection."""


def read_script(path: Path) -> list[ScriptReply]:
    """Read the replies in a file: `.jsonl` has a JSON string or object per line, others a plain reply per line.

    An object has `text`, and perhaps `finish` (`stop`, `allowance exhausted`, `refused`, `blocked`), `note`, `usage`.

    Raises:
        UsageError: It cannot be read, or a line of it is not a reply.
    """
    try:
        content = path.read_bytes()
        # Line feeds alone separate lines: a reply may hold any other separator.
        lines = [line.removesuffix("\r") for line in content.decode("utf-8").split("\n")]
    except OSError as error:
        raise UsageError(f"{path}: the script cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: the script is not UTF-8 text (byte {error.start})") from error
    if path.suffix != ".jsonl":
        return [line for line in lines if line]
    return [_line(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _line(path: Path, number: int, line: str) -> ScriptReply:
    if len(line) > LINE_BYTES_MAX:
        raise UsageError(f"{path}, line {number}: longer than {LINE_BYTES_MAX} bytes")
    try:
        value = parse_json(line)
        if isinstance(value, str):
            return value
        if not isinstance(value, dict):
            raise ValueError("expected a string or an object")
        fields: Json = value
        return ScriptLine(**fields).reply()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{path}, line {number}: {where}: {first['msg']}; expected a string or an object with text"
        ) from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"{path}, line {number}: {error}; expected a string or an object with text") from error
