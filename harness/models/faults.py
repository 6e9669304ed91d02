"""What an answer that is not a reply means: retry, the end of the run, too large, too long.

The words and codes of all providers stand here side by side, because servers that speak one protocol report faults in
the manner of another.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from oresight.harness.text import visible

WORDS_MAX = 500
_RETRIED = frozenset({408, 409, 425, 429})
# Codes of an error that comes with status 200; anything unknown there is sent again.
_RETRIED_WORDS = re.compile(
    r"rate.?limit|overloaded|unavailable|timeout|server.?error|internal|exhausted", re.IGNORECASE
)

_BAD_KEY_CODES = frozenset(
    {"invalid_api_key", "api_key_invalid", "authentication_error", "unauthenticated", "invalid_authentication"}
)
_BAD_KEY = re.compile(
    r"(incorrect|invalid|wrong|expired) (x-)?api.?key"
    r"|api.?key (is |was |has )?(not valid|invalid|expired|revoked|not found)"
    r"|invalid x-api-key|no api key|missing api key",
    re.IGNORECASE,
)
_SPENT_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "insufficient_balance",
        "insufficient_credits",
        "insufficient_user_quota",
        "account_deactivated",
        "payment_required",
    }
)
_SPENT = re.compile(
    r"credit balance is too low|insufficient (account )?(balance|credits?|quota|funds)|out of credits"
    r"|quota (is |has been )?spent|billing hard limit|limit: 0\b",
    re.IGNORECASE,
)
# Gemini says this of a limit per minute too, and then says when to retry.
_SPENT_UNLESS_TOLD = re.compile(r"exceeded your current quota|check your plan and billing", re.IGNORECASE)
_PER_DAY = re.compile(r"per.?(day|month)", re.IGNORECASE)

_TOO_LARGE_CODES = frozenset({"request_too_large", "payload_too_large"})
_TOO_LARGE = re.compile(
    r"too many (images|pictures|image)|at most \d+ (images?|pictures?|multi)"
    r"|(exceed\w*|more than|max\w*|limit\w*)[^.]{0,40}(number|count) of (images|pictures)"
    r"|(number|count) of (images|pictures)[^.]{0,60}(exceed|limit|max|allowed)"
    r"|(exceed\w*|more than)[^.]{0,30} (images|pictures)\b|(image|picture)s? exceeds?\b|payload size exceeds"
    r"|request (entity )?(is )?too large|body (is )?too large",
    re.IGNORECASE,
)
_TOO_LONG_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "string_above_max_length"}
)
_TOO_LONG = re.compile(
    r"context.?(length|window|size|limit)|prompt is too long|input is too long|prompt too long"
    r"|input token count|token count[^.]{0,40}exceeds|too many (input )?tokens"
    r"|exceeds? the (maximum|max)[^.]{0,40}tokens"
    r"|longer than the (maximum )?model|reduce the length of the (messages|prompt|input)",
    re.IGNORECASE,
)


class Meaning(Enum):
    """What to do about a fault."""

    RETRY = auto()
    STOP_RUN = auto()
    TOO_LARGE = auto()
    TOO_LONG = auto()


@dataclass(frozen=True)
class Fault:
    """An answer that is not a reply, in one form for all protocols.

    Attributes:
        status: Of HTTP, or the one that the body gives.
        codes: Codes and types that the body gives, in lower case.
        words: What the provider says, on one line, cut.
        whole: What the provider says, uncut.
        param: The setting that it complains of, if it names one.
        limits: Names of the quotas that it says are violated.
    """

    status: int
    codes: frozenset[str] = frozenset()
    words: str = ""
    whole: str = ""
    param: str = ""
    limits: str = ""

    def meaning(self, told_s: float | None) -> Meaning:
        """Return what to do about it.

        Args:
            told_s: How long the server asks to wait, if it does.
        """
        if self.codes & _BAD_KEY_CODES or _BAD_KEY.search(self.whole):
            return Meaning.STOP_RUN
        if self._spent(told_s):
            return Meaning.STOP_RUN
        if self.status == 413 or self.codes & _TOO_LARGE_CODES:
            return Meaning.TOO_LARGE
        if self.codes & _TOO_LONG_CODES:
            return Meaning.TOO_LONG
        # A limit of tokens a minute below the size of one request is never kept, however long one waits.
        if self.status in (400, 422, 429, 500) and re.search(r"request too large", self.whole, re.IGNORECASE):
            return Meaning.TOO_LARGE
        if self.status in (400, 404, 422, 500) and _TOO_LARGE.search(self.whole):
            return Meaning.TOO_LARGE
        if self.status in (400, 404, 422, 500) and _TOO_LONG.search(self.whole):
            return Meaning.TOO_LONG
        if self.status in _RETRIED or self.status >= 500 or self.status < 300:
            return Meaning.RETRY
        return Meaning.STOP_RUN

    def _spent(self, told_s: float | None) -> bool:
        if self.codes & _SPENT_CODES or _SPENT.search(self.whole) or _PER_DAY.search(self.limits):
            return True
        return told_s is None and _SPENT_UNLESS_TOLD.search(self.whole) is not None


def read_fault(status: int, body: object, text: str) -> Fault:
    """Parse what a provider answers in place of a reply.

    Args:
        status: Of HTTP.
        body: The answer as JSON, or None if it is not JSON.
        text: The answer as it came, without secrets.
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    top: Mapping[str, Any] = body if isinstance(body, dict) else {}
    error = top.get("error", top)
    inner: Mapping[str, Any] = error if isinstance(error, dict) else {}
    raw_details = inner.get("details")
    details = [item for item in raw_details if isinstance(item, dict)] if isinstance(raw_details, list) else []
    codes = [holder.get(name) for holder in (inner, top) for name in ("code", "type", "status")]
    codes += [detail.get("reason") for detail in details]
    if isinstance(error, str):
        codes.append(error)
    message = _message(error, inner, top) or text
    whole = " ".join(message.split())
    own = _status(inner.get("code")) or _status(inner.get("status"))
    return Fault(
        status=own if own is not None and status < 300 else status,
        codes=frozenset(code.lower() for code in codes if isinstance(code, str)),
        words=visible(whole, WORDS_MAX),
        whole=whole[: 10 * WORDS_MAX],
        param=str(inner.get("param") or ""),
        limits=json.dumps([detail.get("violations") for detail in details if "violations" in detail]),
    )


def status_of_words(fault: Fault) -> int:
    """Return a status for an error that came with 200 and has only words: 400 if it looks final, else 503."""
    if fault.status >= 300:
        return fault.status
    text = " ".join(fault.codes) + " " + fault.whole
    final = re.search(r"invalid.?request|not.?found|does not exist|permission|unknown model", text, re.IGNORECASE)
    return 400 if final and not _RETRIED_WORDS.search(text) else 503


def _message(error: object, inner: Mapping[str, Any], top: Mapping[str, Any]) -> str:
    if isinstance(error, str):
        return error
    for holder in (inner, top):
        for name in ("message", "detail", "msg"):
            value = holder.get(name)
            if isinstance(value, str) and value.strip():
                metadata = holder.get("metadata")
                # A router repeats what the provider behind it said.
                raw = metadata.get("raw") if isinstance(metadata, dict) else None
                return f"{value} ({raw})" if isinstance(raw, str) else value
            if isinstance(value, list) and value:
                return json.dumps(value)
    return ""


def _status(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{3}", value):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
        return value
    return None
