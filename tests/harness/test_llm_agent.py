"""A model as an agent: what is executed, what is asked again, what ends the episode, what is written down before."""

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from oresight.harness.agents.llm import LLMAgent
from oresight.harness.context import make_strategy
from oresight.harness.errors import InfrastructureError, OresightError
from oresight.harness.models.base import FinishReason, ModelRequest, ModelSettings, Reply, Usage
from oresight.harness.models.prices import Price
from oresight.harness.models.provider import ClientOptions
from oresight.harness.models.registry import make_client
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.models.scripted import ScriptedModel
from oresight.harness.protocols import Choice, ContextBudget, Step
from oresight.harness.running import episode
from oresight.scoring.records import Outcome
from support.fake_world import ACTIONS, Corridor
from support.loopback import (
    PROTOCOLS,
    Heard,
    Loopback,
    Sent,
    anthropic_body,
    fault,
    gemini_body,
    loopback,
    openai_body,
    reply,
    saying,
    script,
)
from support.model_stage import KEYS, FastClock

FORWARD = '{"action": "move_forward"}'
LOOK = '{"action": "look_right"}'


class Played:
    """An episode in the corridor with a model, and everything that was kept of it."""

    def __init__(
        self,
        model: Any,
        memory: str = "raw",
        size: tuple[int, int] | None = (6, 4),
        recorded: Sequence[ReplyRecord] = (),
        budget: ContextBudget | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self.records: list[ReplyRecord] = []
        self.world = Corridor(size)
        strategy = make_strategy(memory, "The rules.")
        agent = LLMAgent(
            model, strategy.answer, memory, Price(input=1, output=10), self.records.append, recorded=recorded
        )

        async def play() -> episode.Ending:
            try:
                return await episode.play(
                    self.world,
                    agent,
                    strategy,
                    lambda *_: None,
                    self.steps.append,
                    **({} if budget is None else {"budget": budget}),
                )
            finally:
                await agent.aclose()

        self.ending: episode.Ending | None = None
        self.error: OresightError | None = None
        try:
            self.ending = asyncio.run(play())
        except OresightError as error:
            self.error = error

    @property
    def actions(self) -> list[str]:
        return [step.decision.action for step in self.steps]


def client(server: Loopback, protocol: str, **settings: Any) -> Any:
    around = ClientOptions(FastClock(), random.Random(7), warn=lambda text: None)
    return make_client(server.name(protocol), ModelSettings(**{"timeout_s": 5.0, **settings}), around, KEYS)


# --- B01, B03: replies that are none ---

NEVER: list[tuple[str, Any, str]] = [
    (
        "openai",
        openai_body({"role": "assistant", "content": None, "reasoning_content": f"perhaps {FORWARD}"}, "length"),
        "allowance exhausted",
    ),
    (
        "openai",
        openai_body({"role": "assistant", "content": "", "reasoning_content": FORWARD}, "stop"),
        "reasoning alone",
    ),
    ("openai", openai_body({"role": "assistant", "content": ""}, "stop"), "empty reply"),
    ("openai", openai_body({"role": "assistant", "content": FORWARD}, "length"), "allowance exhausted"),
    ("openai", openai_body({"role": "assistant", "content": None, "refusal": "no"}, "stop"), "refused: no"),
    (
        "openai",
        openai_body({"role": "assistant", "content": None}, "content_filter"),
        "refused (blocked by the provider)",
    ),
    ("openai", openai_body({"role": "assistant", "content": f"<think>{FORWARD}"}, "stop"), "reasoning alone"),
    ("openai", openai_body({"role": "assistant", "content": '{"action": "fly"}'}, "stop"), "inadmissible action"),
    ("openai", openai_body({"role": "assistant", "content": "forward!"}, "stop"), "unparsable reply"),
    ("gemini", gemini_body(None, "MAX_TOKENS"), "allowance exhausted"),
    ("gemini", gemini_body([{"text": FORWARD, "thought": True}], "STOP"), "reasoning alone"),
    ("gemini", {"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": {"promptTokenCount": 900}}, "refused"),
    ("gemini", {"candidates": [{"index": 0, "finishReason": "SAFETY"}]}, "refused (blocked by the provider): SAFETY"),
    ("anthropic", anthropic_body([], "refusal"), "refused"),
    ("anthropic", anthropic_body([{"type": "thinking", "thinking": FORWARD}], "end_turn"), "reasoning alone"),
    ("anthropic", anthropic_body([{"type": "text", "text": FORWARD}], "max_tokens"), "allowance exhausted"),
]


@pytest.mark.parametrize(("protocol", "body", "reason"), NEVER)
def test_a_reply_that_is_none_for_ever_is_one_request_three_reasks_and_a_failure(
    protocol: str, body: Any, reason: str
) -> None:
    with loopback(script(Sent(body=body))) as server:
        played = Played(client(server, protocol))
        assert len(server.heard) == 4
    assert played.steps == [] and played.world.state_hash() == "0000"
    assert played.ending is not None and played.ending.outcome is Outcome.AGENT_ENDED
    assert played.ending.reason is not None and played.ending.reason.startswith(reason)
    assert [(record.step, record.attempt, record.number) for record in played.records] == [(1, n, n) for n in range(4)]
    assert all(record.fault and record.fault.startswith(reason) for record in played.records)


@pytest.mark.parametrize(("protocol", "body", "reason"), NEVER)
def test_the_episode_goes_on_if_the_next_answer_is_good(protocol: str, body: Any, reason: str) -> None:
    def answer(heard: Heard) -> Sent:
        return Sent(body=body) if heard.number == 2 else reply(protocol, FORWARD)

    with loopback(answer) as server:
        played = Played(client(server, protocol))
        assert len(server.heard) == 6
        texts = [heard.text for heard in server.heard]
    assert played.ending is not None and played.ending.outcome is Outcome.SUCCESS
    assert [step.state_hash for step in played.steps] == ["0001", "0002", "0003", "0004", "0005"]
    assert [step.decision.usage["reasks"] for step in played.steps if step.decision.usage] == [0, 0, 1, 0, 0]
    # What was wrong is said at once and never again.
    assert ["No action was taken" in text for text in texts] == [False, False, False, True, False, False]


def test_a_reask_shows_the_reply_and_the_actions_and_adds_no_picture() -> None:
    with loopback(script(saying("fly away"), saying(FORWARD))) as server:
        Played(client(server, "openai"), "screenshots:2")
        first, again, after = server.heard[:3]
    assert [message.role for message in again.messages] == ["system", "user", "assistant", "user"]
    assert again.messages[2].text == "fly away"
    assert all(action in again.messages[3].text for action in ACTIONS)
    assert len(first.pictures) == len(again.pictures) == 1
    assert len(after.pictures) == 2 and "fly away" not in after.text


# --- what a decision is written down as ---


def test_usage_is_summed_over_all_replies_of_a_decision() -> None:
    with loopback(script(fault("openai", 500, "x"), saying("what?"), saying(FORWARD))) as server:
        played = Played(client(server, "openai"))
    usage = played.steps[0].decision.usage
    assert usage is not None
    assert (usage["input_tokens"], usage["output_tokens"], usage["reasoning_tokens"]) == (1800, 80, 60)
    assert (usage["cached_tokens"], usage["requests"], usage["retries"], usage["reasks"]) == (200, 3, 1, 1)
    assert usage["cost"] == pytest.approx((1800 * 1 + 80 * 10) / 1e6)
    assert usage["latency_s"] > 0


def test_what_was_said_is_the_answer_without_its_reasoning() -> None:
    played = Played(ScriptedModel([f"<think>{LOOK}</think> Go. {FORWARD}"]))
    assert played.steps[0].decision.said == f"Go. {FORWARD}"


def test_half_of_a_surrogate_pair_in_a_reply_does_no_harm() -> None:
    body = json.dumps(openai_body({"content": "\ud800 what"}, "stop")).encode()
    with loopback(script(Sent(body=body), saying(FORWARD))) as server:
        played = Played(client(server, "openai"))
        assert "? what" in server.heard[1].text
    assert played.records[0].reply.text == "? what"


def test_every_reply_is_handed_out_before_it_is_acted_on() -> None:
    world = Corridor(None)
    seen: list[tuple[str, str]] = []
    strategy = make_strategy("raw", "R.")

    def on_reply(record: ReplyRecord) -> None:
        seen.append((world.state_hash(), record.reply.text))

    agent = LLMAgent(ScriptedModel(["?", FORWARD]), on_reply=on_reply)
    asyncio.run(episode.play(world, agent, strategy, lambda *_: None, lambda step: None))
    assert seen[:4] == [("0000", "?"), ("0000", FORWARD), ("0001", "?"), ("0001", FORWARD)]


def test_a_record_survives_the_way_to_disk_and_back() -> None:
    told = Reply(
        "a\u2028b\x85\x0b\0\U0001f600", FinishReason.REFUSED, Usage(1, 2, 3, 4, 5, True), "no", True, 1.5, 3, 2
    )
    record = ReplyRecord(7, 1, 9, told, "refused: no")
    assert ReplyRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("step", []),
        ("fault", 5),
        ("reply.text", None),
        ("reply.latency_s", "soon"),
        ("reply.finish", "maybe"),
        ("reply.usage.input_tokens", "x"),
        ("reply.usage.cached_tokens", None),
        ("reply.surprise", 1),
    ],
)
def test_a_record_with_a_field_of_another_type_is_none(field: str, value: object) -> None:
    told = ReplyRecord(3, 1, 7, Reply("yes", note="n"), "no action").to_json()
    *parents, last = field.split(".")
    place = told
    for parent in parents:
        place = place[parent]
    place[last] = value
    with pytest.raises((ValueError, TypeError)):
        ReplyRecord.from_json(told)


@pytest.mark.parametrize("kept", range(8))
def test_replies_that_are_on_disk_are_not_asked_for_again(kept: int) -> None:
    def answer(request: ModelRequest) -> str:
        asked.append(request.number)
        return "what?" if request.number in (1, 2, 5) else FORWARD

    asked: list[int] = []
    whole = Played(ScriptedModel(answer))
    assert asked == list(range(8))
    asked.clear()
    again = Played(ScriptedModel(answer), recorded=whole.records[:kept])
    assert asked == list(range(kept, 8))
    assert again.records == whole.records[kept:]
    assert [step.decision for step in again.steps] == [step.decision for step in whole.steps]


def test_an_agent_that_starts_in_the_middle_counts_the_replies_before() -> None:
    def answer(request: ModelRequest) -> str:
        asked.append(request.number)
        return FORWARD

    asked: list[int] = []
    told = Reply(FORWARD)
    recorded = [ReplyRecord(1, 0, 0, told), ReplyRecord(1, 1, 1, told), ReplyRecord(2, 0, 2, Reply("?"))]
    agent = LLMAgent(ScriptedModel(answer), recorded=recorded)
    decision = asyncio.run(agent.act([], 2, Choice(ACTIONS)))
    assert asked == [3] and decision.usage is not None and decision.usage["reasks"] == 1


def test_what_on_reply_raises_comes_before_the_action() -> None:
    class CapReachedError(OresightError):
        pass

    def on_reply(record: ReplyRecord) -> None:
        raise CapReachedError("enough")

    world = Corridor(None)
    agent = LLMAgent(ScriptedModel([FORWARD]), on_reply=on_reply)
    with pytest.raises(CapReachedError):
        asyncio.run(episode.play(world, agent, make_strategy("raw", "R."), lambda *_: None, lambda step: None))
    assert world.state_hash() == "0000"


# --- B07: outages are no play ---


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_outage_is_no_failure_of_the_agent(protocol: str) -> None:
    with loopback(script(saying(FORWARD), fault(protocol, 503, "down"))) as server:
        played = Played(client(server, protocol))
    assert isinstance(played.error, InfrastructureError) and played.actions == ["move_forward"]
    assert len(played.records) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_too_many_pictures_is_a_sentence_with_memory_and_count(protocol: str) -> None:
    def answer(heard: Heard) -> Sent:
        if len(heard.pictures) > 3:
            return fault(protocol, 400, "Too many images in request. Max is 3.")
        return reply(protocol, LOOK)

    with loopback(answer) as server:
        played = Played(client(server, protocol), "screenshots:8")
        assert len(server.heard) == 4
    assert isinstance(played.error, InfrastructureError)
    assert "screenshots" in str(played.error) and "sent 4 pictures" in str(played.error)
    assert "\n" not in str(played.error)


# --- context too long ---


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_context_too_long_shrinks_once_and_then_fails_with_that_reason(protocol: str) -> None:
    def answer(heard: Heard) -> Sent:
        if len(heard.messages) > 9:
            return fault(protocol, 400, "prompt is too long: 9 > 8 maximum", "context_length_exceeded")
        return reply(protocol, LOOK)

    with loopback(answer) as server:
        played = Played(client(server, protocol), "raw")
        lengths = [len(heard.messages) for heard in server.heard]
    # The fifth decision is asked for with half as much, which grows until it is too long again.
    assert lengths[:5] == [2, 4, 6, 8, 10] and lengths[5] < 10
    assert len(played.steps) >= 5
    if played.ending is not None and played.ending.outcome is Outcome.AGENT_ENDED:
        assert played.ending.reason is not None and "context too long" in played.ending.reason


def test_a_context_that_is_too_long_twice_is_a_failure() -> None:
    with loopback(script(fault("openai", 400, "x", "context_length_exceeded"))) as server:
        played = Played(client(server, "openai"))
        assert len(server.heard) == 2
    assert played.ending is not None and played.ending.outcome is Outcome.AGENT_ENDED
    assert played.ending.reason is not None and played.ending.reason.startswith("context too long")


# --- B09: pictures ---


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("memory", [0, 1, 8])
def test_the_current_picture_is_in_every_request_and_the_memory_holds_its_number(protocol: str, memory: int) -> None:
    def answer(heard: Heard) -> Sent:
        # Each move gives a picture of another colour; a re-ask lies in between.
        return reply(
            protocol, "hm" if heard.number == 3 else [FORWARD, '{"action": "move_backward"}'][heard.number > 4]
        )

    with loopback(answer) as server:
        played = Played(client(server, protocol), f"screenshots:{memory}")
        requests = [heard for heard in server.heard if "No action was taken" not in heard.text]
    assert len(requests) == len(played.steps) == 20
    saved = [step.observed.image for step in played.steps]
    for number, (heard, step) in enumerate(zip(requests, played.steps, strict=True)):
        pictures = heard.pictures
        assert len(pictures) == min(number, memory) + 1
        for shown, kept in zip(pictures, saved[number + 1 - len(pictures) : number + 1], strict=True):
            assert kept is not None and np.array_equal(shown, kept)
        captions = [f"Earlier picture, step {each}," for each in range(max(number - memory, 0), number)]
        assert [words in heard.messages[-1].text for words in captions] == [True] * len(captions)
        assert heard.messages[-1].text.count("Earlier picture") == len(captions)
        assert step.step == number + 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_same_history_is_the_same_request_byte_for_byte(protocol: str) -> None:
    raw = []
    for _ in range(2):
        with loopback(script(saying(LOOK))) as server:
            Played(client(server, protocol), "screenshots:3")
            raw.append([heard.raw for heard in server.heard])
    assert len(raw[0]) == 20 and raw[0] == raw[1]
