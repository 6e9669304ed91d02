"""When a request is sent again, and after what wait: shared by all protocols.

A request is tried for ten minutes in all, waits and answers together. Waits grow from one second to one minute and are
jittered downwards; what the server says (header, date or body) is the least that is waited. A server that asks for more
than is left gets no further request.
"""

import asyncio
import email.utils
import math
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from typing_extensions import override

LIMIT_S = 600.0
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
# Spreads clients that were asked to wait until the same moment.
TOLD_JITTER_S = 0.5

_IN_WORDS = re.compile(
    r"(?:try again|retry|wait)[a-z ]{0,20}?\b(?:in|after|for)?\s*"
    r"((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b\s*)+"
    r"|(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?s)",
    re.IGNORECASE,
)
_PIECE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|mil|h|m|s)", re.IGNORECASE)
_UNITS_S = {"ms": 0.001, "mil": 0.001, "h": 3600.0, "m": 60.0, "s": 1.0}
_DURATION = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)s")


class Clock(Protocol):
    """Time, so that tests need not wait."""

    def now(self) -> float:
        """Return the seconds on a clock that never goes back."""

    def wall(self) -> float:
        """Return the seconds since 1970."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class RealClock(Clock):
    """The clock of the machine."""

    @override
    def now(self) -> float:
        return time.monotonic()

    @override
    def wall(self) -> float:
        return time.time()

    @override
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass
class Retries:
    """The waits of one request.

    Attributes:
        clock: Its time.
        draw: Its jitter.
        limit_s: How long it is tried in all.
        count: How often it was sent again.
    """

    clock: Clock
    draw: random.Random
    limit_s: float = LIMIT_S
    count: int = 0
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock.now()

    @property
    def elapsed_s(self) -> float:
        """Since the first attempt."""
        return self.clock.now() - self._began

    @property
    def left_s(self) -> float:
        """Until the limit."""
        return self.limit_s - self.elapsed_s

    def next_wait(self, told_s: float | None) -> float | None:
        """Return the seconds to wait before the next attempt, or None if there is to be none.

        Args:
            told_s: What the server asks for.
        """
        longest = min(FIRST_WAIT_S * 2.0 ** min(self.count, 10), LONGEST_WAIT_S)
        wait = longest * (0.5 + 0.5 * self.draw.random())
        if told_s is not None:
            wait = max(wait, told_s + TOLD_JITTER_S * self.draw.random())
        return wait if wait < self.left_s else None

    async def wait(self, seconds: float) -> None:
        """Wait before the next attempt."""
        self.count += 1
        await self.clock.sleep(seconds)


def told_wait(headers: Mapping[str, str], body: object, wall: float) -> float | None:
    """Return the seconds that a server asks to wait: the longest of several, or None if it says nothing.

    Args:
        headers: Of its answer, names in lower case.
        body: Its answer as JSON or text.
        wall: The present, in seconds since 1970.
    """
    waits = [_milliseconds(headers.get("retry-after-ms")), _retry_after(headers, wall)]
    waits += [_retry_info(detail) for detail in _details(body)]
    waits += [_in_words(text) for text in _messages(body)]
    found = [wait for wait in waits if wait is not None and not math.isnan(wait)]
    return max(0.0, *found) if found else None


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _milliseconds(text: str | None) -> float | None:
    value = _number(text)
    return None if value is None else value / 1000.0


def _retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    text = headers.get("retry-after")
    seconds = _number(text)
    if text is None or seconds is not None:
        return seconds
    until = _date(text)
    if until is None:
        return None
    # A date is by the server's clock, if the answer states it; a wrong local clock must not make the retry early.
    server = _date(headers.get("date", ""))
    return until - (wall if server is None else server)


def _date(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _error(body: object) -> object:
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        return body["error"]
    return body


def _details(body: object) -> list[Any]:
    error = _error(body)
    details = error.get("details") if isinstance(error, dict) else None
    return details if isinstance(details, list) else []


def _retry_info(detail: object) -> float | None:
    delay = detail.get("retryDelay") if isinstance(detail, dict) else None
    if isinstance(delay, str) and (match := _DURATION.fullmatch(delay.strip())):
        return float(match[1])
    if isinstance(delay, dict):
        seconds, nanos = delay.get("seconds", 0), delay.get("nanos", 0)
        return (_number(str(seconds)) or 0.0) + (_number(str(nanos)) or 0.0) / 1e9
    return None


def _messages(body: object) -> list[str]:
    error = _error(body)
    if isinstance(error, str):
        return [error[:2000]]
    if not isinstance(error, dict):
        return []
    found = [error.get(name) for name in ("message", "error", "detail")]
    return [text[:2000] for text in found if isinstance(text, str)]


def _in_words(text: str) -> float | None:
    match = _IN_WORDS.search(text)
    if match is None:
        return None
    return sum(float(number) * _UNITS_S[unit.lower()] for number, unit in _PIECE.findall(match[1]))
