"""The messages protocol of Anthropic, by its own SDK, which is an extra."""

from collections.abc import Collection
from typing import Any, ClassVar

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

_FINISHES = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "refusal": FinishReason.REFUSED,
}


class AnthropicMessages(ProviderClient):
    """Anthropic by its own SDK."""

    lacks: ClassVar[frozenset[str]] = frozenset({"seed", "picture detail"})

    def _open(self, timeout_s: float) -> Any:
        import anthropic

        headers = {}
        if self._address.authorization is not None:
            # The key has a header of its own beside that of the user and password of an address.
            headers = {"Authorization": self._address.authorization, "X-Api-Key": self._key or ""}
        return anthropic.AsyncAnthropic(
            api_key=self._key,
            base_url=self._address.url,
            max_retries=0,
            timeout=timeout_s,
            default_headers=headers,
            http_client=anthropic.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout_s),
        )

    async def _close(self, sdk: Any) -> None:
        await sdk.close()

    async def _send(self, sdk: Any, request: ModelRequest, options: Collection[str]) -> Answer:
        import anthropic

        body = self._body(request, options)
        # What not every version of the SDK has a parameter for stands in the body all the same.
        extra = {name: body.pop(name) for name in ("temperature", "output_config") if name in body}
        try:
            raw = await sdk.messages.with_raw_response.create(**body, extra_body=extra)
        except anthropic.APIStatusError as error:
            return http_answer(error.response)
        except anthropic.APIResponseValidationError as error:
            return http_answer(error.response)
        except anthropic.AnthropicError as error:
            raise self._no_connection(error) from None
        return http_answer(raw.http_response)

    def _body(self, request: ModelRequest, options: Collection[str]) -> Json:
        settings = self.settings
        body: Json = {
            "model": self._model,
            "max_tokens": settings.max_output_tokens,
            "messages": [self._message(message) for message in conversation(request.messages)],
        }
        system = system_text(request.messages)
        if system:
            body["system"] = system
        if "temperature" in options and settings.temperature is not None:
            # The scale ends at 1 here.
            body["temperature"] = min(settings.temperature, 1.0)
        output: Json = {}
        if "reasoning effort" in options:
            output["effort"] = settings.reasoning_effort
        if "structured output" in options and request.schema is not None:
            output["format"] = {"type": "json_schema", "schema": request.schema}
        if output:
            body["output_config"] = output
        return body

    def _message(self, message: Message) -> Json:
        blocks: list[Json] = []
        for part in message.parts:
            if not isinstance(part, TextPart):
                data = self._pictures.base64(part)
                blocks.append({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
            elif part.text.strip():
                # Blocks without a word are refused.
                blocks.append({"type": "text", "text": part.text})
        return {"role": message.role, "content": blocks or [{"type": "text", "text": "(nothing)"}]}

    def _read(self, body: Json) -> Reading:
        content = body.get("content")
        if not isinstance(content, list):
            raise NotAnAnswerError("no list of content blocks")
        texts: list[str] = []
        reasoned = False
        for block in content:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text" and isinstance(block.get("text"), str):
                texts.append(block["text"])
            reasoned = reasoned or kind in ("thinking", "redacted_thinking")
        finish = finish_of(body.get("stop_reason"), _FINISHES)
        details = dictionary(body.get("stop_details"))
        note = ""
        if finish is FinishReason.REFUSED:
            note = next((str(details[name]) for name in ("explanation", "category") if details.get(name)), "refusal")
        return Reading("".join(texts), finish, _usage(body.get("usage")), note, reasoned)


def _usage(value: object) -> Usage | None:
    reported = usage_object(value)
    if not any(count(reported, name) for name in ("input_tokens", "output_tokens")):
        return None
    cached = count(reported, "cache_read_input_tokens")
    written = count(reported, "cache_creation_input_tokens")
    return Usage(
        input_tokens=count(reported, "input_tokens") + cached + written,
        output_tokens=count(reported, "output_tokens"),
        reasoning_tokens=count(reported, "output_tokens_details", "thinking_tokens"),
        cached_tokens=cached,
        cache_write_tokens=written,
    )
