"""The chat completions protocol: OpenAI itself and any server that speaks it (vLLM, Ollama, llama.cpp and others)."""

from collections.abc import Collection
from typing import Any

from oresight.harness.models.base import (
    FinishReason,
    ModelRequest,
    Usage,
    conversation,
    count,
    system_text,
    usage_object,
)
from oresight.harness.models.faults import Fault
from oresight.harness.models.provider import (
    Answer,
    NotAnAnswerError,
    ProviderClient,
    Reading,
    finish_of,
    http_answer,
)
from oresight.harness.protocols import Json, Message, TextPart

OPENAI_URL = "https://api.openai.com/v1"
_NO_KEY = "none"
_FINISHES = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.BLOCKED,
    "refusal": FinishReason.REFUSED,
}


class OpenAIChat(ProviderClient):
    """OpenAI by its own SDK."""

    # What the allowance is called; servers know one or the other.
    _allowance = "max_completion_tokens"

    def _open(self, timeout_s: float) -> Any:
        import openai

        headers = {} if self._address.authorization is None else {"Authorization": self._address.authorization}
        sdk = openai.AsyncOpenAI(
            api_key=self._key or _NO_KEY,
            base_url=self._address.url,
            max_retries=0,
            timeout=timeout_s,
            default_headers=headers,
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout_s),
        )
        if self._address.url != OPENAI_URL:
            # Read by the SDK from the environment, and sent only to OpenAI.
            sdk.organization = sdk.project = None
        return sdk

    async def _close(self, sdk: Any) -> None:
        await sdk.close()

    async def _send(self, sdk: Any, request: ModelRequest, options: Collection[str]) -> Answer:
        import openai

        body = self._body(request, options)
        # Not as its typed argument: the SDK would walk through every part of every message, which takes it tens of
        # milliseconds for a chat of a hundred turns, at each of them.
        untyped = {"messages": body.pop("messages")}
        try:
            raw = await sdk.chat.completions.with_raw_response.create(messages=[], extra_body=untyped, **body)
        except openai.APIStatusError as error:
            return http_answer(error.response)
        except openai.APIResponseValidationError as error:
            return http_answer(error.response)
        except openai.OpenAIError as error:
            raise self._no_connection(error) from None
        return http_answer(raw.http_response)

    def _body(self, request: ModelRequest, options: Collection[str]) -> Json:
        settings = self.settings
        body: Json = {"model": self._model, "messages": self._messages(request, options)}
        body[self._allowance] = settings.max_output_tokens
        if "temperature" in options:
            body["temperature"] = settings.temperature
        if "seed" in options:
            body["seed"] = settings.seed
        if "reasoning effort" in options:
            body["reasoning_effort"] = settings.reasoning_effort
        if "structured output" in options and request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _messages(self, request: ModelRequest, options: Collection[str]) -> list[Json]:
        system = system_text(request.messages)
        messages: list[Json] = [{"role": "system", "content": system}] if system else []
        return messages + [self._message(message, options) for message in conversation(request.messages)]

    def _message(self, message: Message, options: Collection[str]) -> Json:
        # Plain text is what every server takes, from whomever it comes.
        if not message.images:
            return {"role": message.role, "content": message.text}
        parts: list[Json] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                parts.append({"type": "text", "text": part.text})
            else:
                image = {"url": f"data:image/png;base64,{self._pictures.base64(part)}"}
                if "picture detail" in options and self.settings.picture_detail is not None:
                    image["detail"] = self.settings.picture_detail
                parts.append({"type": "image_url", "image_url": image})
        return {"role": message.role, "content": parts}

    def _adapt(self, fault: Fault) -> bool:
        other = "max_tokens" if self._allowance == "max_completion_tokens" else "max_completion_tokens"
        about = fault.param or fault.whole
        # Once, and only in the direction that a server asks for; else two complaints would chase each other.
        if type(self)._allowance != self._allowance or self._allowance not in about:
            return False
        if not any(
            word in fault.whole.lower() for word in ("unsupported", "not supported", "unrecognized", "unknown", "extra")
        ):
            return False
        self._allowance = other
        return True

    def _read(self, body: Json) -> Reading:
        choices = body.get("choices")
        if not isinstance(choices, list):
            raise NotAnAnswerError("no list of choices")
        usage = _usage(body.get("usage"))
        if not choices:
            raise NotAnAnswerError("no choice")
        choice = choices[0]
        if isinstance(choice, dict) and choice.get("error"):
            raise NotAnAnswerError("an error in place of the first choice")
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise NotAnAnswerError("no message in the first choice")
        text = _text(message.get("content"))
        reasoned = any(message.get(name) for name in ("reasoning_content", "reasoning", "thinking"))
        refusal = message.get("refusal")
        finish = finish_of(choice.get("finish_reason"), _FINISHES)
        if isinstance(refusal, str) and refusal:
            return Reading("", FinishReason.REFUSED, usage, refusal, reasoned)
        note = "content_filter" if finish is FinishReason.BLOCKED else ""
        return Reading(text, finish, usage, note, reasoned)


class CompatibleChat(OpenAIChat):
    """A user's own server, by its address."""

    _allowance = "max_tokens"


def _text(content: object) -> str:
    """Return the answer proper, which some servers send in parts, with the reasoning in separate parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [
            part.get("text")
            for part in content
            if isinstance(part, dict) and part.get("type") in ("text", "output_text")
        ]
        return "".join(text for text in texts if isinstance(text, str))
    raise NotAnAnswerError("a content that is not text")


def _usage(value: object) -> Usage | None:
    reported = usage_object(value)
    if not count(reported, "prompt_tokens") and not count(reported, "completion_tokens"):
        return None
    return Usage(
        input_tokens=count(reported, "prompt_tokens"),
        output_tokens=count(reported, "completion_tokens"),
        reasoning_tokens=count(reported, "completion_tokens_details", "reasoning_tokens"),
        cached_tokens=count(reported, "prompt_tokens_details", "cached_tokens"),
    )
