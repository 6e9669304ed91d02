"""The line between the driver and the game: JSON there and back, pixels as bytes, and never an endless wait."""

import hashlib
import json
from multiprocessing.connection import Connection
from typing import Any

Json = dict[str, Any]

# More than the largest picture, 1920 x 1080 in three bytes, and more than any message.
_MOST_BYTES = 16_000_000


def digest_of(pixels: bytes) -> str:
    """Return a fingerprint of a picture."""
    return hashlib.blake2b(pixels, digest_size=16).hexdigest()


class LinkClosed(ConnectionError):  # noqa: N818 - what happened, not what went wrong
    """The other side is gone."""


class LinkSilent(TimeoutError):  # noqa: N818 - likewise
    """The other side does not answer."""


class Link:
    """One end of the line."""

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self._connection = connection

    def send(self, message: Json) -> None:
        """Send a message.

        Raises:
            LinkClosed: The other side has closed.
        """
        self.send_bytes(json.dumps(message, allow_nan=False).encode())

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are.

        Raises:
            LinkClosed: The other side has closed.
        """
        try:
            self._connection.send_bytes(data)
        except OSError as error:
            raise LinkClosed("the other side is gone") from error

    def receive(self, timeout_s: float | None) -> Json:
        """Wait for a message.

        Args:
            timeout_s: How long; None for ever.

        Raises:
            LinkClosed: The other side has closed.
            LinkSilent: Nothing came.
        """
        message: Json = json.loads(self.receive_bytes(timeout_s))
        return message

    def receive_bytes(self, timeout_s: float | None) -> bytes:
        """Wait for bytes.

        Args:
            timeout_s: How long; None for ever.

        Raises:
            LinkClosed: The other side has closed.
            LinkSilent: Nothing came.
        """
        try:
            if not self._connection.poll(timeout_s):
                raise LinkSilent("no answer")
            return self._connection.recv_bytes(_MOST_BYTES)
        except (EOFError, ConnectionError) as error:
            raise LinkClosed("the other side is gone") from error

    def close(self) -> None:
        """Hang up; closing twice does nothing."""
        self._connection.close()
