"""The input and output of every model client."""

import base64
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from oresight.harness.errors import UsageError
from oresight.harness.png import encode_png
from oresight.harness.protocols import PICTURE_TOKENS, ImagePart, Json, Message, Pixels, TextPart, text_tokens

_PICTURES_KEPT = 16


class FinishReason(StrEnum):
    """Why a reply ended; the words stand in records."""

    STOP = "stop"
    LENGTH = "allowance exhausted"
    REFUSED = "refused"
    BLOCKED = "blocked"


# No request or reply has more tokens than this; a server that says so is not believed, and the tokens are estimated.
TOKENS_MAX = 100_000_000


@dataclass(frozen=True)
class ModelSettings:
    """What is asked of a model; None leaves it to the model.

    Attributes:
        temperature: 0 for the likeliest answer.
        max_output_tokens: The allowance for a reply, reasoning included.
        timeout_s: After which an unanswered request counts as failed.
        reasoning_effort: `low`, `medium`, `high` or another value that the model knows.
        picture_detail: `low`, `high` or another value that the model knows.
        seed: For models that sample with one.
        structured: Whether a JSON schema is sent where the provider takes one.
    """

    temperature: float | None = 0.0
    max_output_tokens: int = 4096
    timeout_s: float = 120.0
    reasoning_effort: str | None = None
    picture_detail: str | None = None
    seed: int | None = None
    structured: bool = True

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise UsageError(f"temperature is {self.temperature}; expected 0 to 2")
        if self.max_output_tokens < 1:
            raise UsageError(f"the output allowance is {self.max_output_tokens} tokens; expected 1 or more")
        if not 0 < self.timeout_s <= 3600:
            raise UsageError(f"the timeout is {self.timeout_s} s; expected more than 0 and at most 3600")


@dataclass(frozen=True)
class ModelRequest:
    """One request.

    Attributes:
        messages: Oldest first, the instructions as `system`.
        schema: JSON schema of the answer, or None for free text.
        number: How many replies the episode has had before this one, re-asks included.
    """

    messages: Sequence[Message]
    schema: Json | None = None
    number: int = 0


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply.

    Attributes:
        input_tokens: All input, cached or not.
        output_tokens: All output, reasoning included.
        reasoning_tokens: The part of the output that was reasoning.
        cached_tokens: The part of the input that was read from a cache.
        cache_write_tokens: The part of the input that was written to a cache.
        estimated: The server counted nothing; these are estimates by length.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class Reply:
    """One answer of a model.

    Attributes:
        text: The answer proper; reasoning that the protocol keeps apart is not in it. May be empty.
        finish: Why it ended.
        usage: What it cost.
        note: The provider's words on a refusal or block; else empty.
        reasoned: The protocol brought reasoning apart from the answer.
        latency_s: Of the last request.
        requests: Sent for this reply, those with a setting that the model refuses among them.
        retries: Requests that failed and were sent again.
    """

    text: str
    finish: FinishReason = FinishReason.STOP
    usage: Usage = field(default_factory=Usage)
    note: str = ""
    reasoned: bool = False
    latency_s: float = 0.0
    requests: int = 1
    retries: int = 0


class ModelClient(Protocol):
    """A model, whatever its protocol."""

    @property
    def name(self) -> str:
        """As it stands in records: `provider:model`, an address without user and password."""

    async def complete(self, request: ModelRequest) -> Reply:
        """Send a request to the model and return its reply.

        Raises:
            RunStoppedError: The provider will not serve this run.
            InfrastructureError: The provider failed for as long as a request is tried.
            RequestTooLargeError: It takes no request of this size.
            ContextTooLongError: The model takes less than it was sent.
        """

    async def aclose(self) -> None:
        """Close its connections; a later request opens new ones."""


class PictureEncoder:
    """Pictures as base64 of PNG; the last few are kept, since a memory of pictures sends each of them again."""

    def __init__(self) -> None:
        # The array is kept with its text, so that its id is not given to another one meanwhile.
        self._kept: OrderedDict[int, tuple[Pixels, str]] = OrderedDict()

    def base64(self, picture: ImagePart) -> str:
        """Return the picture as PNG in Base64."""
        key = id(picture.pixels)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        text = base64.b64encode(encode_png(picture.pixels)).decode("ascii")
        self._kept[key] = (picture.pixels, text)
        if len(self._kept) > _PICTURES_KEPT:
            self._kept.popitem(last=False)
        return text


def system_text(messages: Sequence[Message]) -> str:
    """Return the instructions."""
    return "\n\n".join(message.text for message in messages if message.role == "system")


def conversation(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without the instructions, merging neighbours of one role.

    Some servers require that the roles alternate.
    """
    merged: list[Message] = []
    for message in messages:
        if message.role == "system":
            continue
        if merged and merged[-1].role == message.role:
            merged[-1] = Message(message.role, merged[-1].parts + message.parts)
        else:
            merged.append(message)
    return merged


def estimate(messages: Sequence[Message], reply: str) -> Usage:
    """Estimate the tokens by length, for a server that does not count them."""
    parts = [part for message in messages for part in message.parts]
    sent = sum(text_tokens(part.text) if isinstance(part, TextPart) else PICTURE_TOKENS for part in parts)
    return Usage(input_tokens=sent, output_tokens=text_tokens(reply), estimated=True)


def count(usage: Mapping[str, Any], *path: str) -> int:
    """Return a number of tokens that a server reports; 0 where it is missing or not such a number."""
    value: Any = usage
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def usage_object(value: object) -> Mapping[str, Any]:
    """Return what a server reports of tokens; empty if it reports nothing, or a number beyond belief.

    If one of its numbers is absurd, the others are not to be trusted either.
    """
    if not isinstance(value, dict) or any(map(_beyond_belief, value.values())):
        return {}
    return value


def _beyond_belief(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_beyond_belief, value.values()))
    return isinstance(value, int | float) and not abs(value) <= TOKENS_MAX
