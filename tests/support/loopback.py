"""A model server on loopback that speaks the protocols of OpenAI, Gemini and Anthropic, and misbehaves on demand.

It keeps every request with the time of its arrival, its headers and the pictures in it, decoded. What it answers is a
function of the request.
"""

import base64
import io
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

from oresight.harness.protocols import ImagePart, Message, Pixels, TextPart

PROTOCOLS = ("openai", "gemini", "anthropic")
_PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}


@dataclass(frozen=True, eq=False)
class Heard:
    """A request as it arrived."""

    protocol: str
    at: float
    path: str
    headers: dict[str, str]
    raw: bytes
    number: int

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw)

    @property
    def messages(self) -> list[Message]:
        return {"openai": _of_openai, "gemini": _of_gemini, "anthropic": _of_anthropic}[self.protocol](self.body)

    @property
    def pictures(self) -> list[Pixels]:
        return [picture.pixels for message in self.messages for picture in message.images]

    @property
    def text(self) -> str:
        return "\n".join(message.text for message in self.messages)


@dataclass(frozen=True)
class Sent:
    """An answer over HTTP."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    # Seconds before it, and between any two of its bytes.
    delay_s: float = 0.0
    trickle_s: float = 0.0
    cut: int | None = None


SILENCE = Sent(status=-1)
RESET = Sent(status=-2)
Answer = Callable[[Heard], Sent]


class Loopback:
    """The server; use it as a context manager."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.heard: list[Heard] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                outer._serve(self)

            do_GET = do_POST  # noqa: N815

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                # A client that hangs up is no fault here.
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)

    def __enter__(self) -> "Loopback":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()

    def address(self, protocol: str, user: str = "") -> str:
        return f"http://{user}127.0.0.1:{self.port}" + ("/v1" if protocol in ("openai", "compatible") else "")

    def name(self, protocol: str, model: str = "m-1", user: str = "") -> str:
        return f"{protocol}:{model}@{self.address(protocol, user)}"

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        path = handler.path.partition("?")[0]
        protocol = "gemini"
        for name, known in _PATHS.items():
            if path == known:
                protocol = name
        if protocol == "gemini" and not re.fullmatch(r"/v1(beta)?/models/[^/]+:generateContent", path):
            protocol = "unknown"
        with self._lock:
            heard = Heard(
                protocol,
                time.monotonic(),
                handler.path,
                {name.lower(): value for name, value in handler.headers.items()},
                raw,
                len(self.heard),
            )
            self.heard.append(heard)
        sent = self.answer(heard)
        if sent is SILENCE:
            self._stop.wait(30)
            handler.close_connection = True
            return
        if sent is RESET:
            # Closing with a linger of 0 sends a reset.
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.connection.close()
            handler.close_connection = True
            return
        self._stop.wait(sent.delay_s)
        body = sent.body if isinstance(sent.body, bytes) else json.dumps(sent.body).encode()
        handler.send_response(sent.status)
        headers = {"content-type": "application/json", **sent.headers, "content-length": str(len(body))}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if sent.cut is not None:
            handler.wfile.write(body[: sent.cut])
            handler.close_connection = True
        elif sent.trickle_s:
            for start in range(len(body)):
                handler.wfile.write(body[start : start + 1])
                handler.wfile.flush()
                if self._stop.wait(sent.trickle_s):
                    break
        else:
            handler.wfile.write(body)


@contextmanager
def loopback(answer: Answer) -> Iterator[Loopback]:
    with Loopback(answer) as server:
        yield server


def script(*answers: Sent | Callable[[str], Sent]) -> Answer:
    """Answers in turn, the last for ever; an answer may be a function of the protocol."""

    def answer(heard: Heard) -> Sent:
        chosen = answers[min(heard.number, len(answers) - 1)]
        return chosen if isinstance(chosen, Sent) else chosen(heard.protocol)

    return answer


def saying(text: str) -> Callable[[str], Sent]:
    """A good reply with a text, whatever the protocol."""
    return lambda protocol: reply(protocol, text)


def reply(protocol: str, text: str, finish: str | None = None, **more: Any) -> Sent:
    """A good reply with a text in a protocol."""
    if protocol == "openai":
        return Sent(body=openai_body({"role": "assistant", "content": text}, finish or "stop", **more))
    if protocol == "gemini":
        return Sent(body=gemini_body([{"text": text}], finish or "STOP", **more))
    if protocol == "anthropic":
        return Sent(body=anthropic_body([{"type": "text", "text": text}], finish or "end_turn", **more))
    return Sent(404, {"error": {"message": "no such path"}})


def openai_body(message: dict[str, Any], finish: str, **more: Any) -> dict[str, Any]:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 40,
        "total_tokens": 940,
        "prompt_tokens_details": {"cached_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [choice],
        "usage": usage,
    } | more


def gemini_body(parts: list[dict[str, Any]] | None, finish: str, **more: Any) -> dict[str, Any]:
    usage = {"promptTokenCount": 900, "candidatesTokenCount": 10, "thoughtsTokenCount": 30, "totalTokenCount": 940}
    content = {"role": "model"} | ({} if parts is None else {"parts": parts})
    return {
        "candidates": [{"index": 0, "finishReason": finish, "content": content}],
        "usageMetadata": usage | {"cachedContentTokenCount": 100},
    } | more


def anthropic_body(content: list[dict[str, Any]], stop: str, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 800, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 0, "output_tokens": 40}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    } | more


def fault(protocol: str, status: int, message: str, code: str = "", headers: Mapping[str, str] | None = None) -> Sent:
    """An error in the manner of a protocol."""
    if protocol == "gemini":
        body: Any = {"error": {"code": status, "status": code or "UNKNOWN", "message": message}}
    elif protocol == "anthropic":
        body = {"type": "error", "error": {"type": code or "api_error", "message": message}}
    else:
        body = {"error": {"message": message, "type": code or "some_error", "param": None, "code": code or None}}
    return Sent(status, body, headers or {})


# --- requests read back ---


def _picture(data: str) -> ImagePart:
    with Image.open(io.BytesIO(base64.b64decode(data, validate=True))) as image:
        assert image.format == "PNG"
        return ImagePart(np.asarray(image.convert("RGB")), -1)


def _of_openai(body: dict[str, Any]) -> list[Message]:
    messages = []
    for message in body["messages"]:
        content = message["content"]
        parts: list[TextPart | ImagePart] = []
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                parts.append(TextPart(part["text"]))
            else:
                assert part["type"] == "image_url"
                head, _, data = part["image_url"]["url"].partition(",")
                assert head == "data:image/png;base64"
                parts.append(_picture(data))
        messages.append(Message(message["role"], tuple(parts)))
    return messages


def _of_gemini(body: dict[str, Any]) -> list[Message]:
    messages = []
    if "systemInstruction" in body:
        messages.append(Message("system", tuple(TextPart(part["text"]) for part in body["systemInstruction"]["parts"])))
    for content in body["contents"]:
        parts: list[TextPart | ImagePart] = []
        for part in content["parts"]:
            if "text" in part:
                parts.append(TextPart(part["text"]))
            else:
                # Names have two spellings in this protocol, and base64 two alphabets; SDKs mix them.
                data = part["inlineData"]
                assert data.get("mimeType", data.get("mime_type")) == "image/png"
                parts.append(_picture(data["data"].replace("-", "+").replace("_", "/")))
        messages.append(Message({"user": "user", "model": "assistant"}[content["role"]], tuple(parts)))
    return messages


def _of_anthropic(body: dict[str, Any]) -> list[Message]:
    messages = [Message("system", (TextPart(body["system"]),))] if "system" in body else []
    for message in body["messages"]:
        parts: list[TextPart | ImagePart] = []
        for block in message["content"]:
            if block["type"] == "text":
                parts.append(TextPart(block["text"]))
            else:
                assert block["source"]["media_type"] == "image/png"
                parts.append(_picture(block["source"]["data"]))
        messages.append(Message(message["role"], tuple(parts)))
    return messages
