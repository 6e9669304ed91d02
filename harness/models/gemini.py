"""The protocol of Gemini, by the google-genai SDK."""

import importlib
from collections.abc import Collection
from typing import Any, get_args

from oresight.harness.models.base import (
    FinishReason,
    ModelRequest,
    Usage,
    conversation,
    count,
    system_text,
    usage_object,
)
from oresight.harness.models.provider import (
    Answer,
    NotAnAnswerError,
    ProviderClient,
    Reading,
    dictionary,
    finish_of,
    http_answer,
)
from oresight.harness.protocols import Json, Message, TextPart

_FINISHES = {"STOP": FinishReason.STOP, "MAX_TOKENS": FinishReason.LENGTH}
_BLOCKED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "MODEL_ARMOR",
    }
)


class Gemini(ProviderClient):
    """Gemini by its own SDK."""

    def _open(self, timeout_s: float) -> Any:
        from google import genai

        headers = {} if self._address.authorization is None else {"Authorization": self._address.authorization}
        # A client of our own: the SDK's would follow redirects, and one of its two kinds sends again by itself.
        http = _http_module().AsyncClient(follow_redirects=False, timeout=timeout_s)
        sdk = genai.Client(
            vertexai=False,
            api_key=self._key,
            http_options=genai.types.HttpOptions(
                base_url=self._address.url,
                headers=headers,
                timeout=int(timeout_s * 1000),
                retry_options=genai.types.HttpRetryOptions(attempts=1),
                httpx_async_client=http,
            ),
        )
        return sdk, http

    async def _close(self, sdk: Any) -> None:
        client, http = sdk
        await client.aio.aclose()
        client.close()
        await http.aclose()

    async def _send(self, sdk: Any, request: ModelRequest, options: Collection[str]) -> Answer:
        from google.genai import errors

        client, _ = sdk
        try:
            answered = await client.aio.models.generate_content(
                model=self._model, contents=self._contents(request), config=self._config(request, options)
            )
        except errors.APIError as error:
            return http_answer(error.response)
        except _http_module().HTTPError as error:
            raise self._no_connection(error) from None
        raw = answered.sdk_http_response
        return Answer(200, {name.lower(): value for name, value in (raw.headers or {}).items()}, raw.body or "")

    def _contents(self, request: ModelRequest) -> list[Json]:
        return [
            {"role": "model" if message.role == "assistant" else "user", "parts": self._parts(message)}
            for message in conversation(request.messages)
        ]

    def _parts(self, message: Message) -> list[Json]:
        return [
            {"text": part.text}
            if isinstance(part, TextPart)
            else {"inline_data": {"mime_type": "image/png", "data": self._pictures.base64(part)}}
            for part in message.parts
        ]

    def _config(self, request: ModelRequest, options: Collection[str]) -> Json:
        settings = self.settings
        # The answer is read here, and not by the SDK, whose types do not take everything that a server may send.
        config: Json = {"should_return_http_response": True, "max_output_tokens": settings.max_output_tokens}
        system = system_text(request.messages)
        if system:
            config["system_instruction"] = system
        if "temperature" in options:
            config["temperature"] = settings.temperature
        if "seed" in options:
            config["seed"] = settings.seed
        if "reasoning effort" in options and settings.reasoning_effort is not None:
            config["thinking_config"] = {"thinkingLevel": settings.reasoning_effort.upper()}
        if "picture detail" in options and settings.picture_detail is not None:
            config["media_resolution"] = f"MEDIA_RESOLUTION_{settings.picture_detail.upper()}"
        if "structured output" in options and request.schema is not None:
            config["response_mime_type"] = "application/json"
            config["response_json_schema"] = request.schema
        return config

    def _read(self, body: Json) -> Reading:
        usage = _usage(body.get("usageMetadata"))
        blocked = dictionary(body.get("promptFeedback")).get("blockReason")
        if blocked:
            return Reading("", FinishReason.BLOCKED, usage, str(blocked))
        candidates = body.get("candidates")
        if candidates is None and "usageMetadata" not in body and "promptFeedback" not in body:
            raise NotAnAnswerError("neither candidates nor a reason for their absence")
        if not candidates:
            raise NotAnAnswerError("no candidate")
        if not isinstance(candidates, list) or not isinstance(candidates[0], dict):
            raise NotAnAnswerError("no list of candidates")
        candidate = candidates[0]
        parts = dictionary(candidate.get("content")).get("parts") or []
        if not isinstance(parts, list):
            raise NotAnAnswerError("no list of parts")
        said = [part for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
        text = "".join(part["text"] for part in said if not part.get("thought"))
        reasoned = any(part.get("thought") for part in said)
        reason = str(candidate.get("finishReason") or "")
        if reason in _BLOCKED:
            return Reading("", FinishReason.BLOCKED, usage, str(candidate.get("finishMessage") or reason), reasoned)
        finish = finish_of(reason, _FINISHES)
        return Reading(text, finish, usage, "" if text else reason, reasoned)


def _usage(value: object) -> Usage | None:
    reported = usage_object(value)
    thoughts = count(reported, "thoughtsTokenCount")
    sent = count(reported, "promptTokenCount") + count(reported, "toolUsePromptTokenCount")
    said = count(reported, "candidatesTokenCount") + thoughts
    if not sent and not said:
        return None
    return Usage(sent, said, thoughts, count(reported, "cachedContentTokenCount"))


def _http_module() -> Any:
    """Return the HTTP library whose clients the SDK takes: httpx, or its successor under another name."""
    from google.genai import types

    declared: Any = types.HttpxAsyncClient
    accepted = get_args(declared) or (declared,)
    return importlib.import_module(accepted[-1].__module__.partition(".")[0])
