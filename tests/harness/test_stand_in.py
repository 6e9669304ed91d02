"""The bundled scout behind a model server of each protocol plays as it plays by itself, decision by decision."""

import asyncio
import json
import random
import re
from collections.abc import Sequence

import pytest

from oresight.harness.agents.llm import LLMAgent
from oresight.harness.agents.scout.scout import Scout, decide
from oresight.harness.context import make_strategy
from oresight.harness.models.base import ModelSettings
from oresight.harness.models.provider import ClientOptions
from oresight.harness.models.registry import make_client
from oresight.harness.protocols import Agent, ImagePart, Message, Step, TextPart
from oresight.harness.running import episode
from oresight.harness.worlds import find_worlds
from support.loopback import PROTOCOLS, Heard, Sent, loopback, reply
from support.model_stage import KEYS, FastClock

pytestmark = [pytest.mark.gl, pytest.mark.slow]

SCENARIO = "outcrop-0"
_CAPTION = re.compile(r"Earlier picture, step (\d+), (?:at the start:|after (\w+): (.*))")
_STEP = re.compile(r"^Step: (\d+)$", re.MULTILINE)
_LAST = re.compile(r"^Last action: (\w+)(?: -> (.*))?$", re.MULTILINE)


def labelled(messages: Sequence[Message]) -> list[Message]:
    """The messages as the server got them, with the labels of the pictures read from the words beside them."""
    found = []
    for message in messages:
        parts: list[TextPart | ImagePart] = []
        label: tuple[int, str | None, str | None] = (0, None, None)
        for part in message.parts:
            if isinstance(part, TextPart):
                caption, step, last = _CAPTION.search(part.text), _STEP.search(part.text), _LAST.search(part.text)
                if caption is not None:
                    label = (int(caption[1]), caption[2], caption[3])
                elif step is not None and last is not None:
                    label = (int(step[1]), None if last[1] == "none" else last[1], last[2])
                parts.append(part)
            else:
                parts.append(ImagePart(part.pixels, *label))
        found.append(Message(message.role, tuple(parts)))
    return found


def scout_server(heard: Heard) -> Sent:
    messages = labelled(heard.messages)
    step = messages[-1].images[-1].step
    action, said = decide(messages, step, seed=0)
    return reply(heard.protocol, json.dumps({"reason": said, "action": action}))


def play(agent: Agent, memory: str, decisions: int) -> list[Step]:
    (world,) = find_worlds("craft", [SCENARIO])
    steps: list[Step] = []

    class EnoughError(Exception):
        pass

    def on_step(step: Step) -> None:
        steps.append(step)
        if len(steps) == decisions:
            raise EnoughError

    async def run() -> None:
        environment = world.open((320, 240))
        try:
            await episode.play(environment, agent, make_strategy(memory, world.instructions), lambda *_: None, on_step)
        except EnoughError:
            pass
        finally:
            environment.close()
            if isinstance(agent, LLMAgent):
                await agent.aclose()

    asyncio.run(run())
    return steps


@pytest.mark.parametrize(("memory", "decisions"), [("raw", 12), ("screenshots:4", 40)])
def test_an_episode_through_a_model_server_equals_the_scouts_own(memory: str, decisions: int) -> None:
    own = play(Scout(0), memory, decisions)
    assert len({step.decision.action for step in own}) > 1
    for protocol in PROTOCOLS:
        with loopback(scout_server) as server:
            around = ClientOptions(FastClock(), random.Random(1))
            client = make_client(server.name(protocol), ModelSettings(timeout_s=30), around, KEYS)
            through = play(LLMAgent(client), memory, decisions)
            assert len(server.heard) == len(own)
        assert [step.decision.action for step in through] == [step.decision.action for step in own], protocol
        assert [step.state_hash for step in through] == [step.state_hash for step in own], protocol
