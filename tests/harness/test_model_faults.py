"""Every fault of a provider and what comes of it, in each protocol, with the real SDKs."""

import email.utils
import json
import time
from typing import Any

import pytest

from oresight.harness.errors import (
    AgentEndedError,
    ContextTooLongError,
    InfrastructureError,
    RequestTooLargeError,
    RunStoppedError,
)
from support.loopback import PROTOCOLS, RESET, SILENCE, Heard, Sent, fault, loopback, reply, saying, script
from support.model_stage import Stage

GOOD = '{"action": "mine"}'
FORWARD = '{"action": "move_forward"}'


def by_protocol(status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> Any:
    return lambda protocol: fault(protocol, status, message, code, headers)


# --- sent again ---


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_passing_faults_are_retried(protocol: str, status: int) -> None:
    with loopback(script(by_protocol(status, "a moment"), saying(GOOD))) as server:
        stage = Stage(server, protocol)
        told = stage.ask()
        assert len(server.heard) == 2
    assert (told.text, told.requests, told.retries) == (GOOD, 2, 1)
    assert len(stage.clock.sleeps) == 1 and 0.5 <= stage.clock.sleeps[0] <= 1


NO_ANSWERS: list[Any] = [
    b"",
    b"<html>Bad gateway</html>",
    b'{"choices": [{"mess',
    b"null",
    b"[]",
    b'"ok"',
    b"{}",
    {"choices": None, "candidates": "x", "content": None},
    {"choices": [None], "candidates": [None], "content": "mine"},
    {"choices": [{"message": {"content": {"action": "mine"}}}], "candidates": [[]], "content": {"text": "mine"}},
    {"error": {"message": "upstream overloaded", "code": 502}},
    {"error": "something broke"},
    b"\xff\xfe\x00",
    b"[" * 100_000,
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("body", NO_ANSWERS, ids=[str(body)[:30] for body in NO_ANSWERS])
def test_a_200_that_is_no_answer_of_the_protocol_is_retried(protocol: str, body: Any) -> None:
    with loopback(script(Sent(body=body), saying(GOOD))) as server:
        told = Stage(server, protocol).ask()
    assert (told.text, told.retries) == (GOOD, 1)


# What a server says when it, and not the model, ended the reply; and reasons that nobody has heard of.
ABNORMAL = {
    "openai": ["error", "abort", "insufficient_system_resource", "network_error", "tool_calls", "cancelled", "STOPPED"],
    "gemini": ["OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "SOMETHING_NEW", "stop", "NO_IMAGE"],
    "anthropic": ["pause_turn", "tool_use", "error", "compaction", "overloaded", "stop"],
}


@pytest.mark.parametrize(("protocol", "reason"), [(name, each) for name, found in ABNORMAL.items() for each in found])
def test_a_complete_action_behind_an_abnormal_end_is_never_played(protocol: str, reason: str) -> None:
    with loopback(script(reply(protocol, FORWARD, reason), saying(GOOD))) as server:
        told = Stage(server, protocol).ask()
    assert (told.text, told.retries) == (GOOD, 1)


@pytest.mark.parametrize(("protocol", "reason"), [(name, found[0]) for name, found in ABNORMAL.items()])
def test_a_server_that_ends_every_reply_abnormally_is_an_infrastructure_error(protocol: str, reason: str) -> None:
    with loopback(script(reply(protocol, FORWARD, reason))) as server, pytest.raises(InfrastructureError, match=reason):
        Stage(server, protocol).ask()


NOTHING_CHOSEN: list[tuple[str, Any]] = [
    ("openai", {"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 3}}),
    ("openai", {"choices": [{"finish_reason": "stop", "error": {"code": 502}, "message": {"content": FORWARD}}]}),
    ("openai", {"choices": [{"finish_reason": "error", "error": "upstream", "message": {"content": ""}}]}),
    ("openai", {"choices": [{"finish_reason": ["stop"], "message": {"content": FORWARD}}]}),
    ("openai", {"choices": [{"finish_reason": "stop", "message": {"content": FORWARD}}], "error": {"code": 502}}),
    ("gemini", {"candidates": [], "usageMetadata": {"promptTokenCount": 900}}),
    ("gemini", {"usageMetadata": {"promptTokenCount": 900}}),
    ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "content": []}),
]


@pytest.mark.parametrize(("protocol", "body"), NOTHING_CHOSEN)
def test_nothing_chosen_or_an_error_inside_a_200_is_sent_again(protocol: str, body: Any) -> None:
    with loopback(script(Sent(body=body), saying(GOOD))) as server:
        told = Stage(server, protocol).ask()
    assert (told.text, told.retries) == (GOOD, 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("cut", [0, 20])
def test_a_connection_that_breaks_is_retried(protocol: str, cut: int) -> None:
    broken = Sent(body=json.dumps({"a": "b" * 100}).encode(), cut=cut)
    with loopback(script(RESET, broken, saying(GOOD))) as server:
        told = Stage(server, protocol).ask()
    assert (told.text, told.retries) == (GOOD, 2)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_silent_server_costs_one_timeout_a_request_and_no_more_than_the_limit(protocol: str) -> None:
    with loopback(script(SILENCE)) as server:
        stage = Stage(server, protocol, timeout_s=0.15)
        began = time.monotonic()
        with pytest.raises(InfrastructureError, match=r"no answer within 0\.15 s"):
            stage.ask()
        seconds = time.monotonic() - began
        requests = len(server.heard)
    # Waits of 1, 2, 4 ... 60 seconds, jittered down to a half at least.
    assert 13 <= requests <= 25
    assert requests * 0.15 <= seconds < requests * 0.15 + 3
    assert sum(stage.clock.sleeps) + requests * 0.15 <= 600
    # The last request may be given up while the server still reads it.
    assert len(stage.clock.sleeps) in (requests - 1, requests)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_that_trickles_is_as_good_as_silent(protocol: str) -> None:
    def answer(heard: Heard) -> Sent:
        if heard.number == 0:
            return Sent(body=reply(protocol, GOOD).body, trickle_s=0.05)
        return reply(protocol, GOOD)

    with loopback(answer) as server:
        began = time.monotonic()
        told = Stage(server, protocol, timeout_s=0.3).ask()
        assert time.monotonic() - began < 3
    assert (told.text, told.retries) == (GOOD, 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_outage_ends_as_an_infrastructure_error_within_ten_minutes(protocol: str) -> None:
    with loopback(script(by_protocol(503, "down for maintenance"))) as server:
        stage = Stage(server, protocol)
        with pytest.raises(InfrastructureError, match=r"status 503: down for maintenance; given up after \d+ requests"):
            stage.ask()
        assert len(server.heard) == len(stage.clock.sleeps) + 1
    waits = stage.clock.sleeps
    assert 500 < sum(waits) <= 600
    longest = [min(2.0**number, 60.0) for number in range(len(waits))]
    assert all(most / 2 <= wait <= most for wait, most in zip(waits, longest, strict=True))


def test_nobody_listening_is_an_infrastructure_error() -> None:
    with loopback(script(saying(GOOD))) as server:
        stage = Stage(server, "openai")
    with pytest.raises(InfrastructureError, match=r"no connection \(.*(refused|failed)"):
        stage.ask()


# --- waits that the server tells ---

RETRY_INFO = {
    "error": {
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "wait",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}],
    }
}


def in_five_seconds() -> dict[str, str]:
    return {"retry-after": email.utils.formatdate(time.time() + 5, usegmt=True)}


WAITS: list[tuple[int, dict[str, str], Any, float, float]] = [
    (429, {"retry-after": "65"}, None, 65, 66),
    (429, {"retry-after": "0"}, None, 0, 1),
    (429, {"retry-after-ms": "1500"}, None, 1.5, 2),
    (429, {"retry-after-ms": "1500", "retry-after": "2"}, None, 2, 2.5),
    (429, {"retry-after": "-5"}, None, 0, 1),
    (429, {"retry-after": "soon"}, None, 0.5, 1),
    (429, {"retry-after": "nan"}, None, 0.5, 1),
    (429, {}, RETRY_INFO, 7, 7.5),
    (503, {}, [RETRY_INFO], 7, 7.5),
    (429, {}, {"error": {"message": "Rate limit reached. Please try again in 1m20.5s."}}, 80.5, 81),
    (429, {}, {"error": {"message": "Please retry in 350ms"}}, 0.5, 1),
    (529, {}, None, 0.5, 1),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("status", "headers", "body", "least", "most"), WAITS)
def test_the_next_attempt_comes_no_earlier_than_told(
    protocol: str, status: int, headers: dict[str, str], body: Any, least: float, most: float
) -> None:
    first = Sent(status, body or fault(protocol, status, "busy").body, headers)
    with loopback(script(first, saying(GOOD))) as server:
        stage = Stage(server, protocol)
        assert stage.ask().text == GOOD
    assert len(stage.clock.sleeps) == 1 and least <= stage.clock.sleeps[0] <= most


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_date_is_waited_for(protocol: str) -> None:
    first = Sent(429, fault(protocol, 429, "busy").body, in_five_seconds())
    with loopback(script(first, saying(GOOD))) as server:
        stage = Stage(server, protocol)
        stage.ask()
    assert 4 <= stage.clock.sleeps[0] <= 6.5


def test_waits_are_kept_on_a_real_clock() -> None:
    from oresight.harness.models.retry import RealClock

    first = Sent(429, fault("openai", 429, "busy").body, {"retry-after-ms": "1200"})
    with loopback(script(first, saying(GOOD))) as server:
        stage = Stage(server, "openai")
        stage.client._around.clock = RealClock()  # type: ignore[attr-defined]
        stage.ask()
        assert 1.2 <= server.heard[1].at - server.heard[0].at < 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("wait", ["86400", "601", "inf", "1e300"])
def test_an_absurd_wait_is_an_infrastructure_error_at_once(protocol: str, wait: str) -> None:
    with loopback(script(by_protocol(429, "busy", headers={"retry-after": wait}))) as server:
        stage = Stage(server, protocol)
        with pytest.raises(InfrastructureError, match="it asks to wait"):
            stage.ask()
        assert len(server.heard) == 1
    assert stage.clock.sleeps == []


def test_told_waits_stay_within_the_limit_too() -> None:
    with loopback(script(by_protocol(429, "busy", headers={"retry-after": "250"}))) as server:
        stage = Stage(server, "openai")
        with pytest.raises(InfrastructureError):
            stage.ask()
        assert len(server.heard) == 3
    assert 500 <= sum(stage.clock.sleeps) <= 600


# --- the end of the run ---

STOPS: list[tuple[int, str, str]] = [
    (401, "no such user", ""),
    (403, "not from your country", "permission_denied"),
    (402, "pay first", ""),
    (404, "The model `m-1` does not exist", "model_not_found"),
    (400, "that makes no sense", "invalid_request_error"),
    (405, "no", ""),
    (410, "gone", ""),
    (418, "a teapot", ""),
    (400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
    (429, "Incorrect API key provided", "invalid_api_key"),
    (500, "Invalid API key", ""),
    (429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"),
    (429, "You exceeded your current quota, please check your plan and billing details.", ""),
    (503, "your account is out", "insufficient_quota"),
    (400, "Your credit balance is too low to access the Anthropic API.", "invalid_request_error"),
    (200, "Incorrect API key provided", "invalid_api_key"),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("status", "message", "code"), STOPS)
def test_what_no_retry_mends_stops_the_run_at_once_with_the_providers_words(
    protocol: str, status: int, message: str, code: str
) -> None:
    with loopback(script(by_protocol(status, message, code))) as server:
        stage = Stage(server, protocol)
        with pytest.raises(RunStoppedError) as stopped:
            stage.ask()
        assert len(server.heard) == 1
    assert message in str(stopped.value) and stage.client.name in str(stopped.value)
    assert stage.clock.sleeps == []


def test_a_daily_quota_of_gemini_stops_the_run_and_one_a_minute_is_waited_for() -> None:
    def exhausted(quota: str) -> Sent:
        details = [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "33s"},
        ]
        message = "You exceeded your current quota, please check your plan and billing details."
        error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message, "details": details}
        return Sent(429, {"error": error})

    daily = exhausted("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
    with loopback(script(daily)) as server, pytest.raises(RunStoppedError):
        Stage(server, "gemini").ask()
    with loopback(script(exhausted("GenerateRequestsPerMinutePerProjectPerModel"), saying(GOOD))) as server:
        stage = Stage(server, "gemini")
        assert stage.ask().text == GOOD
        assert stage.clock.sleeps[0] >= 33


# --- too large, too long ---


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (413, "Request Entity Too Large"),
        (413, ""),
        (400, "Too many images in request. Max is 5."),
        (400, "At most 1 image(s) may be provided in one prompt."),
        (400, "Request payload size exceeds the limit: 20971520 bytes."),
        (400, "messages.3.content.1.image: image exceeds 5 MB maximum"),
    ],
)
def test_a_request_too_large_is_one_sentence_and_no_retry(protocol: str, status: int, message: str) -> None:
    with loopback(script(by_protocol(status, message, "invalid_request_error"))) as server:
        with pytest.raises(RequestTooLargeError):
            Stage(server, protocol).ask()
        assert len(server.heard) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", ""),
        ("too much", "context_length_exceeded"),
        ("prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error"),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "INVALID_ARGUMENT"),
        ("the request exceeds the available context size. try increasing the context size", ""),
    ],
)
def test_a_context_too_long_is_told_apart(protocol: str, message: str, code: str) -> None:
    with loopback(script(by_protocol(400, message, code))) as server:
        with pytest.raises(ContextTooLongError, match="context too long") as error:
            Stage(server, protocol).ask()
        assert len(server.heard) == 1
    assert isinstance(error.value, AgentEndedError)
