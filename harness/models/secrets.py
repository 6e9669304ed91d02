"""Keeps keys and passwords out of every text: error messages, logs, names of servers."""

import base64
import json
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from oresight.harness.errors import UsageError

HIDDEN = "[hidden]"
# Shorter ones stand in ordinary words; a text with each of them hidden could not be read.
_SECRET_CHARACTERS_MIN = 6
_URL_USER = re.compile(r"(?<=://)[^/?#\s\"'<>@]*(?:@[^/?#\s\"'<>@]*)*@")
_LOGGERS = ("openai", "anthropic", "google_genai", "httpx", "httpx2", "httpcore", "httpcore2")


@dataclass(frozen=True)
class Address:
    """A base URL taken apart.

    Attributes:
        url: Without user and password.
        authorization: The header that stands for user and password, or None.
        secrets: What must appear nowhere.
    """

    url: str
    authorization: str | None = None
    secrets: tuple[str, ...] = ()


def read_address(url: str) -> Address:
    """Remove user and password from a base URL.

    Raises:
        UsageError: It is not a web address.
    """
    wrong = UsageError(
        f"{without_user(url)!r} is not the address of a server; expected for example http://127.0.0.1:8000/v1"
    )
    try:
        parts = urlsplit(url)
        host, port, user, password = parts.hostname, parts.port, parts.username, parts.password
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host:
        raise wrong
    netloc = f"[{host}]" if ":" in host else host
    clean = urlunsplit((parts.scheme, netloc if port is None else f"{netloc}:{port}", parts.path, parts.query, ""))
    if user is None and password is None:
        return Address(clean)
    pair = f"{unquote(user or '')}:{unquote(password or '')}"
    encoded = base64.b64encode(pair.encode()).decode("ascii")
    return Address(clean, f"Basic {encoded}", tuple(text for text in (unquote(password or ""), encoded) if text))


def without_user(text: str) -> str:
    """Remove user and password from every URL in a text."""
    return _URL_USER.sub("", text)


class Redactor:
    """Writes `[hidden]` in place of secrets, however they are spelled."""

    def __init__(self, secrets: Iterable[str | None]) -> None:
        spellings = {
            spelling
            for secret in secrets
            if secret and len(secret) >= _SECRET_CHARACTERS_MIN
            for spelling in _spellings(secret)
        }
        # The longest first: one may be a part of another.
        ordered = sorted(spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered)), re.IGNORECASE) if ordered else None

    def __call__(self, text: str) -> str:
        """Remove secrets from a text, and user and password from its URLs."""
        return without_user(text if self._pattern is None else self._pattern.sub(HIDDEN, text))

    def watch_logs(self) -> None:
        """Keep secrets out of what the SDKs log, at any level; call it once their modules are loaded."""
        for name in [*_LOGGERS, *logging.root.manager.loggerDict]:
            if name.partition(".")[0] in _LOGGERS:
                logger = logging.getLogger(name)
                # One client takes the place of an earlier one with the same secrets.
                for other in [each for each in logger.filters if isinstance(each, _LogFilter) and each.like(self)]:
                    logger.removeFilter(other)
                logger.addFilter(_LogFilter(self))

    @property
    def pattern(self) -> str:
        """What is hidden, as one pattern; to distinguish two redactors."""
        return "" if self._pattern is None else self._pattern.pattern


class _LogFilter(logging.Filter):
    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def like(self, redact: Redactor) -> bool:
        return self._redact.pattern == redact.pattern

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            # A message that does not fit its arguments is not worth a request.
            message = str(record.msg)
        record.msg, record.args = self._redact(message), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redact(record.exc_text)
        return True


def _spellings(secret: str) -> set[str]:
    plain = {secret, quote(secret, safe=""), quote(secret), json.dumps(secret)[1:-1], repr(secret)[1:-1]}
    return plain | {base64.b64encode(secret.encode()).decode("ascii").rstrip("=")}
