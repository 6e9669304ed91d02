"""What the tests of models share: time that need not be waited for, clients of a loopback server, one request."""

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from oresight.harness.models.base import ModelClient, ModelRequest, ModelSettings, Reply
from oresight.harness.models.provider import ClientOptions
from oresight.harness.models.registry import make_client
from oresight.harness.protocols import ImagePart, Message, TextPart
from support.loopback import Loopback

KEYS = {
    "OPENAI_API_KEY": "zz-MARKER-77-openai",
    "GEMINI_API_KEY": "zz-MARKER-77-gemini",
    "ANTHROPIC_API_KEY": "zz-MARKER-77-anthropic",
    "COMPATIBLE_API_KEY": "zz-MARKER-77-compatible",
}
SCHEMA = {
    "type": "object",
    "properties": {"action": {"type": "string", "enum": ["mine", "jump"]}},
    "required": ["action"],
    "additionalProperties": False,
}


class FastClock:
    """A clock on which waiting takes no time, and is counted; everything else takes as long as it does."""

    def __init__(self) -> None:
        self.sleeps: list[float] = []

    def now(self) -> float:
        return time.monotonic() + sum(self.sleeps)

    def wall(self) -> float:
        return time.time() + sum(self.sleeps)

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await asyncio.sleep(0)


class Stage:
    """A client of a server, with what it waited and warned of."""

    def __init__(self, server: Loopback, protocol: str, user: str = "", **settings: Any) -> None:
        self.clock = FastClock()
        self.warnings: list[str] = []
        around = ClientOptions(self.clock, random.Random(7), warn=self.warnings.append)
        self.client: ModelClient = make_client(
            server.name(protocol, user=user), ModelSettings(**{"timeout_s": 5.0, **settings}), around, KEYS
        )

    def ask(self, request: ModelRequest | None = None) -> Reply:
        return asyncio.run(self._asked(request or a_request()))

    async def _asked(self, request: ModelRequest) -> Reply:
        try:
            return await self.client.complete(request)
        finally:
            await self.client.aclose()


def a_request(*pictures: Any, schema: Any = None, text: str = "Step: 1") -> ModelRequest:
    shown = pictures or (a_picture(1),)
    return ModelRequest(
        [
            Message("system", (TextPart("The rules."),)),
            Message("user", (TextPart("Step: 0"),)),
            Message("assistant", (TextPart('{"action": "jump"}'),)),
            Message("user", (TextPart(text), *(ImagePart(pixels, step) for step, pixels in enumerate(shown)))),
        ],
        schema or SCHEMA,
    )


def a_picture(seed: int, width: int = 24, height: int = 16) -> Any:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def closing(client: ModelClient, work: Callable[[], Any]) -> Any:
    """Runs a coroutine function and closes the client in the same loop."""

    async def run() -> Any:
        try:
            return await work()
        finally:
            await client.aclose()

    return asyncio.run(run())
