"""What all clients of a provider do alike: send, judge, wait, send again, give up; leave out what a model refuses.

A protocol adds three things: how a request of it looks, how it is sent with the SDK, and how its answer is read.
"""

import asyncio
import json
import logging
import random
import re
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from oresight.harness.errors import ContextTooLongError, InfrastructureError, RequestTooLargeError, RunStoppedError
from oresight.harness.models import retry
from oresight.harness.models.base import (
    FinishReason,
    ModelRequest,
    ModelSettings,
    PictureEncoder,
    Reply,
    Usage,
    estimate,
)
from oresight.harness.models.faults import Fault, Meaning, read_fault, status_of_words
from oresight.harness.models.secrets import Address, Redactor
from oresight.harness.protocols import Json
from oresight.harness.text import visible

# Left out one by one where a model refuses them; the first whose pattern a complaint matches goes.
OPTIONAL: dict[str, re.Pattern[str]] = {
    "structured output": re.compile(
        r"response.?(format|json.?schema|schema|mime.?type)|json.?(schema|mode|_object)|structured.?output"
        r"|output_?config\.format|output_config: extra|output_format|guided|grammar|additionalProperties",
        re.IGNORECASE,
    ),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "picture detail": re.compile(
        r"image_url\S*detail|\bdetail\b.*(support|invalid|unknown)|media.?resolution", re.IGNORECASE
    ),
    "reasoning effort": re.compile(r"reasoning|\beffort\b|thinking|output_?config", re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
}
_SDK_GRACE_S = 10.0
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Reading:
    """An answer of a protocol, read; `usage` is None where the server counts nothing."""

    text: str
    finish: FinishReason = FinishReason.STOP
    usage: Usage | None = None
    note: str = ""
    reasoned: bool = False


class NoAnswerError(Exception):
    """Nothing came back over HTTP; the message says why."""


class NotAnAnswerError(Exception):
    """What came back is not an answer of the protocol; the message says what is missing."""


@dataclass
class ClientOptions:
    """What a client needs besides its name and settings; tests pass their own.

    Attributes:
        clock: Time.
        draw: Jitter of the waits.
        limit_s: How long a request is tried in all.
        warn: Told once of each setting that is left out.
    """

    clock: retry.Clock = field(default_factory=retry.RealClock)
    draw: random.Random = field(default_factory=random.Random)
    limit_s: float = retry.LIMIT_S
    warn: Callable[[str], None] = field(default_factory=lambda: logging.getLogger("oresight").warning)


class ProviderClient:
    """Base of the clients of a provider."""

    # Settings that the protocol has no place for.
    lacks: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        name: str,
        model: str,
        key: str | None,
        address: Address,
        settings: ModelSettings,
        surroundings: ClientOptions | None = None,
    ) -> None:
        self.name = name
        self.settings = settings
        self._model = model
        self._key = key
        self._address = address
        self._around = surroundings or ClientOptions()
        self._redact = Redactor((key, *address.secrets))
        self._pictures = PictureEncoder()
        self._sdk: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._active = {option for option in self._wanted() if option not in self.lacks}
        for option in sorted(self._wanted() & self.lacks):
            self._around.warn(f"{name} has no setting for {option}; it is left out")

    async def complete(self, request: ModelRequest) -> Reply:
        """Send a request, again as often as the limits allow, and return the reply."""
        retries = retry.Retries(self._around.clock, self._around.draw, self._around.limit_s)
        requests = 0
        while True:
            requests += 1
            sent = self._around.clock.now()
            options = frozenset(self._active)
            told: float | None = None
            try:
                answer = await self._ask(request, options, min(self.settings.timeout_s, max(retries.left_s, 0.001)))
                told, read = self._judge(answer, options)
            except NoAnswerError as error:
                read = str(error)
            if isinstance(read, Reading):
                return self._reply(read, request, self._around.clock.now() - sent, requests, retries.count)
            if read is None:
                continue
            wait = retries.next_wait(told)
            if wait is None:
                raise InfrastructureError(self._gave_up(read, told, requests, retries))
            await retries.wait(wait)

    async def aclose(self) -> None:
        """Close the SDK's client, if it was opened in this event loop."""
        sdk, self._sdk = self._sdk, None
        if sdk is not None and self._loop is asyncio.get_running_loop():
            await self._close(sdk)

    # --- what a protocol adds ---

    def _open(self, timeout_s: float) -> Any:
        """Make the SDK's client, without retries, redirects, or a user and password in its URL."""
        raise NotImplementedError

    async def _close(self, sdk: Any) -> None:
        """Close the SDK's client."""
        raise NotImplementedError

    async def _send(self, sdk: Any, request: ModelRequest, options: Collection[str]) -> Answer:
        """Send one request.

        Raises:
            NoAnswerError: Nothing came back.
        """
        raise NotImplementedError

    def _read(self, body: Json) -> Reading:
        """Parse an answer.

        Raises:
            NotAnAnswerError: It is not an answer of the protocol.
        """
        raise NotImplementedError

    def _adapt(self, fault: Fault) -> bool:
        """Change something beside the optional settings; return False if there is nothing to change."""
        return False

    # --- the rest ---

    def _wanted(self) -> set[str]:
        settings = self.settings
        values = {
            "structured output": settings.structured or None,
            "seed": settings.seed,
            "picture detail": settings.picture_detail,
            "reasoning effort": settings.reasoning_effort,
            "temperature": settings.temperature,
        }
        return {name for name, value in values.items() if value is not None}

    async def _ask(self, request: ModelRequest, options: Collection[str], timeout_s: float) -> Answer:
        loop = asyncio.get_running_loop()
        if self._sdk is None or self._loop is not loop:
            # Connections belong to the loop that opened them.
            self._sdk, self._loop = self._open(self.settings.timeout_s + _SDK_GRACE_S), loop
            self._redact.watch_logs()
        try:
            # Over all of it: an SDK's own timeout starts again with every byte that trickles in.
            async with asyncio.timeout(timeout_s):
                return await self._send(self._sdk, request, options)
        except TimeoutError:
            raise NoAnswerError(f"no answer within {timeout_s:.3g} s") from None

    def _judge(self, answer: Answer, options: Collection[str]) -> tuple[float | None, Reading | str | None]:
        """Classify an answer: a reading; a reason to retry; or None to retry at once with fewer options."""
        body = _json(answer.text)
        told = retry.told_wait(answer.headers, body if body is not None else answer.text, self._around.clock.wall())
        text = self._redact(answer.text)
        fault = read_fault(answer.status, _json(text), text)
        if 200 <= answer.status < 300:
            if not (isinstance(body, dict) and body.get("error")):
                try:
                    if not isinstance(body, dict):
                        raise NotAnAnswerError("no JSON object")
                    return told, self._read(body)
                except NotAnAnswerError as error:
                    shown = visible(" ".join(text.split()), _SHOWN_CHARACTERS)
                    return (
                        told,
                        f"status {answer.status} with no answer of the protocol ({error}): {shown or 'nothing'}",
                    )
            fault = replace(fault, status=status_of_words(fault))
        meaning = fault.meaning(told)
        words = f"status {fault.status}: {fault.words or 'no words'}"
        if meaning is Meaning.RETRY:
            return told, words
        if meaning is Meaning.TOO_LARGE:
            raise RequestTooLargeError(f"{self.name} takes no request of this size ({words})")
        if meaning is Meaning.TOO_LONG:
            raise ContextTooLongError(f"context too long: {self.name} takes less than it was sent ({words})")
        if fault.status in (400, 422) and self._leave_out(fault, options):
            return told, None
        if 300 <= answer.status < 400:
            where = visible(
                self._redact(answer.headers.get("location", "nowhere")).partition("?")[0], _SHOWN_CHARACTERS
            )
            raise RunStoppedError(
                f"{self.name} answers with a redirect to {where} (status {answer.status}), which is not followed, since"
                " it would take the key along; give the right address"
            )
        raise RunStoppedError(
            f"{self.name} refuses the request ({words}); correct that and rerun the same command to resume"
        )

    def _leave_out(self, fault: Fault, options: Collection[str]) -> bool:
        if self._adapt(fault):
            return True
        for option, pattern in OPTIONAL.items():
            if option in options and (pattern.search(fault.param) or (not fault.param and pattern.search(fault.whole))):
                if option in self._active:
                    self._active.discard(option)
                    self._around.warn(f"{self.name} refuses {option} and is asked without it ({fault.words})")
                return True
        return False

    def _reply(self, read: Reading, request: ModelRequest, latency_s: float, requests: int, retries: int) -> Reply:
        return Reply(
            text=read.text,
            finish=read.finish,
            usage=read.usage or estimate(request.messages, read.text),
            note=visible(" ".join(self._redact(read.note).split()), _SHOWN_CHARACTERS),
            reasoned=read.reasoned,
            latency_s=round(latency_s, 3),
            requests=requests,
            retries=retries,
        )

    def _gave_up(self, words: str, told: float | None, requests: int, retries: retry.Retries) -> str:
        if told is not None and told >= retries.left_s:
            limit = f"the {retries.limit_s:.0f} s that a request is tried"
            why = f"it asks to wait {told:.0f} s, more than is left of {limit}"
        else:
            why = f"given up after {requests} requests in {retries.elapsed_s:.0f} s"
        return f"{self.name}: {words}; {why}"

    def _no_connection(self, error: BaseException) -> NoAnswerError:
        """Return the error for a connection that failed.

        Raises:
            RunStoppedError: The server's certificate is invalid, which no retry changes.
        """
        causes = list(_causes(error))
        for cause in causes:
            if isinstance(cause, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(cause):
                words = visible(self._redact(str(cause)), _SHOWN_CHARACTERS)
                raise RunStoppedError(f"{self.name}: the server's certificate is not valid ({words})") from None
        deepest = next((cause for cause in reversed(causes) if str(cause)), error)
        words = visible(" ".join(self._redact(f"{type(deepest).__name__}: {deepest}").split()), _SHOWN_CHARACTERS)
        return NoAnswerError(f"no connection ({words})")


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def http_answer(response: Any) -> Answer:
    """Convert an SDK's HTTP response to an answer."""
    return Answer(response.status_code, {name.lower(): text for name, text in response.headers.items()}, response.text)


def finish_of(reason: object, known: Mapping[str, FinishReason]) -> FinishReason:
    """Return why a reply ended.

    A reply without a reason is accepted, since some servers never give one. A reason that is not known may
    stand for half a text or for a fault of the server, and is never taken for a stop.

    Raises:
        NotAnAnswerError: The reason is not known.
    """
    if reason is None or reason == "":
        return FinishReason.STOP
    found = known.get(reason) if isinstance(reason, str) else None
    if found is None:
        raise NotAnAnswerError(f"it ended with {visible(str(reason), 60)!r}")
    return found


def dictionary(value: object) -> Mapping[str, Any]:
    """Return the value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}
