"""What the clients send and what they read, with the real SDKs, against a server on loopback."""

import asyncio
from typing import Any

import numpy as np
import pytest

from oresight.harness.models.base import FinishReason, Usage
from support.loopback import PROTOCOLS, Sent, anthropic_body, gemini_body, loopback, openai_body, reply, saying, script
from support.model_stage import KEYS, SCHEMA, Stage, a_picture, a_request, closing

GOOD = '{"action": "mine"}'


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_reply_has_text_usage_and_finish(protocol: str) -> None:
    with loopback(script(saying(GOOD))) as server:
        told = Stage(server, protocol).ask()
    assert (told.text, told.finish, told.requests, told.retries) == (GOOD, FinishReason.STOP, 1, 0)
    assert (told.usage.input_tokens, told.usage.output_tokens, told.usage.cached_tokens) == (900, 40, 100)
    assert told.usage.reasoning_tokens == (0 if protocol == "anthropic" else 30)
    assert not told.usage.estimated and 0 < told.latency_s < 5


@pytest.mark.parametrize("protocol", [*PROTOCOLS, "compatible"])
def test_pictures_arrive_as_they_are_and_in_order(protocol: str) -> None:
    pictures = [a_picture(seed) for seed in range(3)]
    with loopback(script(saying(GOOD))) as server:
        Stage(server, protocol).ask(a_request(*pictures))
        (heard,) = server.heard
    assert [message.role for message in heard.messages] == ["system", "user", "assistant", "user"]
    assert heard.messages[-1].text == "Step: 1"
    assert len(heard.pictures) == 3
    for sent, seen in zip(pictures, heard.pictures, strict=True):
        assert np.array_equal(sent, seen)


def test_each_provider_gets_its_own_key_and_nothing_else() -> None:
    with loopback(script(saying(GOOD))) as server:
        for protocol in (*PROTOCOLS, "compatible"):
            Stage(server, protocol).ask()
    found = [heard.headers for heard in server.heard]
    assert found[0]["authorization"] == f"Bearer {KEYS['OPENAI_API_KEY']}"
    assert found[1]["x-goog-api-key"] == KEYS["GEMINI_API_KEY"]
    assert KEYS["ANTHROPIC_API_KEY"] in (found[2].get("x-api-key") or found[2]["authorization"])
    assert found[3]["authorization"] == f"Bearer {KEYS['COMPATIBLE_API_KEY']}"
    for headers in found:
        assert sum("MARKER" in value for value in headers.values()) == 1


def test_a_server_of_ones_own_is_told_neither_organization_nor_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-MARKER")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-MARKER")
    with loopback(script(saying(GOOD))) as server:
        Stage(server, "compatible").ask()
    assert not any("org-MARKER" in value or "proj-MARKER" in value for value in server.heard[0].headers.values())


def test_settings_stand_where_the_protocol_has_them() -> None:
    settings = {"temperature": 0.5, "max_output_tokens": 77, "reasoning_effort": "low"}
    with loopback(script(saying(GOOD))) as server:
        Stage(server, "openai", **settings, seed=3, picture_detail="high").ask()
        Stage(server, "gemini", **settings, seed=3, picture_detail="high").ask()
        Stage(server, "anthropic", **settings).ask()
        Stage(server, "compatible", max_output_tokens=77).ask()
    openai, gemini, anthropic, compatible = (heard.body for heard in server.heard)
    assert (openai["temperature"], openai["max_completion_tokens"], openai["seed"]) == (0.5, 77, 3)
    assert openai["reasoning_effort"] == "low"
    assert openai["messages"][-1]["content"][-1]["image_url"]["detail"] == "high"
    assert openai["response_format"]["json_schema"] == {"name": "answer", "strict": True, "schema": SCHEMA}
    generation = gemini["generationConfig"]
    assert (generation["temperature"], generation["maxOutputTokens"], generation["seed"]) == (0.5, 77, 3)
    assert list(generation["thinkingConfig"].values()) == ["LOW"]
    assert generation["mediaResolution"] == "MEDIA_RESOLUTION_HIGH"
    assert (generation["responseMimeType"], generation["responseJsonSchema"]) == ("application/json", SCHEMA)
    assert (anthropic["temperature"], anthropic["max_tokens"]) == (0.5, 77)
    assert anthropic["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}
    assert compatible["max_tokens"] == 77 and "max_completion_tokens" not in compatible
    assert compatible["temperature"] == 0


def test_a_setting_that_a_provider_does_not_have_is_left_out_with_a_warning() -> None:
    with loopback(script(saying(GOOD))) as server:
        stage = Stage(server, "anthropic", seed=3, picture_detail="high")
        stage.ask()
        stage.ask()
    assert len(stage.warnings) == 2 and "seed" in stage.warnings[1] and "picture detail" in stage.warnings[0]
    assert "seed" not in server.heard[0].body


REFUSALS = {
    "temperature": {
        "openai": "Unsupported value: 'temperature' does not support 0 with this model.",
        "gemini": "Temperature is not supported for this model.",
        "anthropic": "`temperature` is deprecated for this model.",
    },
    "response_format": {
        "openai": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "gemini": "JSON mode is not enabled for models/m-1",
        "anthropic": "output_config.format: this model does not support structured outputs.",
    },
    "reasoning_effort": {
        "openai": "Unrecognized request argument supplied: reasoning_effort",
        "gemini": "Thinking level is not supported for this model.",
        "anthropic": "output_config.effort: not supported by this model.",
    },
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_settings_that_the_model_refuses_are_dropped_with_one_warning_each(protocol: str) -> None:
    def present(body: dict[str, Any]) -> list[str]:
        text = str(body)
        words = {
            "temperature": "'temperature'",
            "response_format": "'schema'" if protocol != "gemini" else "responseJsonSchema",
            "reasoning_effort": {"openai": "reasoning_effort", "gemini": "thinkingConfig", "anthropic": "effort"}[
                protocol
            ],
        }
        return [name for name, word in words.items() if word in text]

    def answer(heard: Any) -> Sent:
        wrong = present(heard.body)
        if not wrong:
            return reply(protocol, GOOD)
        message = REFUSALS[wrong[0]][protocol]
        error = {"message": message, "type": "invalid_request_error", "code": 400 if protocol == "gemini" else None}
        return Sent(400, {"error": error})

    with loopback(answer) as server:
        stage = Stage(server, protocol, reasoning_effort="low")
        first, second = stage.ask(), stage.ask()
    assert (first.text, first.requests, first.retries) == (GOOD, 4, 0)
    assert (second.text, second.requests) == (GOOD, 1)
    assert len(stage.warnings) == 3
    assert stage.clock.sleeps == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_requests_at_one_time_share_a_client_and_its_one_warning(protocol: str) -> None:
    def answer(heard: Any) -> Sent:
        if "temperature" in str(heard.body):
            error = {"message": REFUSALS["temperature"][protocol], "code": 400 if protocol == "gemini" else None}
            return Sent(400, {"error": error}, delay_s=0.05)
        return reply(protocol, GOOD)

    async def several() -> list[str]:
        told = await asyncio.gather(*(stage.client.complete(a_request()) for _ in range(6)))
        return [one.text for one in told]

    with loopback(answer) as server:
        stage = Stage(server, protocol)
        assert closing(stage.client, several) == [GOOD] * 6
    assert len(stage.warnings) == 1


def test_the_allowance_is_called_what_the_server_calls_it() -> None:
    wrong = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    error = {"message": wrong, "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"}
    with loopback(script(Sent(400, {"error": error}), saying(GOOD))) as server:
        stage = Stage(server, "compatible")
        assert stage.ask().text == GOOD
    assert server.heard[1].body["max_completion_tokens"] == 4096 and "max_tokens" not in server.heard[1].body
    assert stage.warnings == []


NO_TEXT: list[tuple[str, Any, FinishReason, str]] = [
    (
        "openai",
        openai_body({"role": "assistant", "content": None, "reasoning_content": GOOD}, "length"),
        FinishReason.LENGTH,
        "",
    ),
    ("openai", openai_body({"role": "assistant", "content": ""}, "stop"), FinishReason.STOP, ""),
    (
        "openai",
        openai_body({"role": "assistant", "content": None, "refusal": "no"}, "stop"),
        FinishReason.REFUSED,
        "no",
    ),
    ("openai", openai_body({"content": None}, "content_filter"), FinishReason.BLOCKED, "content_filter"),
    ("gemini", gemini_body(None, "MAX_TOKENS"), FinishReason.LENGTH, "MAX_TOKENS"),
    ("gemini", gemini_body([{"text": GOOD, "thought": True}], "STOP"), FinishReason.STOP, "STOP"),
    ("gemini", {"candidates": [{"index": 0, "finishReason": "SAFETY"}]}, FinishReason.BLOCKED, "SAFETY"),
    (
        "gemini",
        {
            "promptFeedback": {"blockReason": "OTHER"},
            "usageMetadata": {"promptTokenCount": 900, "totalTokenCount": 900},
        },
        FinishReason.BLOCKED,
        "OTHER",
    ),
    ("anthropic", anthropic_body([], "refusal"), FinishReason.REFUSED, "refusal"),
    ("anthropic", anthropic_body([], "end_turn"), FinishReason.STOP, ""),
    ("anthropic", anthropic_body([{"type": "thinking", "thinking": GOOD}], "max_tokens"), FinishReason.LENGTH, ""),
]


@pytest.mark.parametrize(("protocol", "body", "finish", "note"), NO_TEXT)
def test_a_reply_without_text_is_what_it_is(protocol: str, body: Any, finish: FinishReason, note: str) -> None:
    with loopback(script(Sent(body=body))) as server:
        told = Stage(server, protocol).ask()
        assert len(server.heard) == 1
    assert (told.text, told.finish, told.note) == ("", finish, note)


def test_thought_tokens_are_counted() -> None:
    usage = {"promptTokenCount": 900, "thoughtsTokenCount": 256, "totalTokenCount": 1156}
    body = gemini_body(None, "MAX_TOKENS", usageMetadata=usage)
    with loopback(script(Sent(body=body))) as server:
        told = Stage(server, "gemini").ask()
    assert told.usage == Usage(input_tokens=900, output_tokens=256, reasoning_tokens=256)


def test_a_server_that_counts_no_tokens_gets_an_estimate() -> None:
    with loopback(script(Sent(body={"choices": [{"message": {"content": GOOD}}]}))) as server:
        told = Stage(server, "compatible").ask()
    assert told.text == GOOD and told.usage.estimated
    assert told.usage.input_tokens > 800 and told.usage.output_tokens == 5


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "none",
        [],
        {"prompt_tokens": "9"},
        {"prompt_tokens": -3, "completion_tokens": True},
        {"prompt_tokens": 10**18, "completion_tokens": 9},
        {"prompt_tokens": 900, "completion_tokens": 10**400},
        {"prompt_tokens": 900, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 10**12}},
        {"prompt_tokens": 900, "completion_tokens": 9, "total_tokens": 1e300},
    ],
    ids=lambda usage: str(usage)[:40],
)
def test_a_count_that_is_none_does_no_harm(usage: Any) -> None:
    with loopback(script(Sent(body=openai_body({"content": GOOD}, "stop", usage=usage)))) as server:
        assert Stage(server, "openai").ask().usage.estimated


def test_an_answer_in_parts_is_read_without_its_reasoning() -> None:
    parts = [
        {"type": "thinking", "thinking": "jump"},
        {"type": "text", "text": GOOD[:5]},
        {"type": "text", "text": GOOD[5:]},
    ]
    with loopback(script(Sent(body=openai_body({"content": parts}, "stop")))) as server:
        assert Stage(server, "compatible").ask().text == GOOD


def test_a_client_goes_on_in_another_loop() -> None:
    with loopback(script(saying(GOOD))) as server:
        stage = Stage(server, "openai")
        assert [stage.ask().text for _ in range(3)] == [GOOD] * 3
