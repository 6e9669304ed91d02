"""What leaves the machine: whole episodes under every context strategy, every request kept, re-asks among them.

The agent is told nothing that it could not know: in the grid no node that was neither seen nor named as a neighbour of
a seen one, in the 3D world no coordinates, seed, ore positions, budget or score.
"""

import asyncio
import json
import random
import re
from dataclasses import replace

import numpy as np
import pytest

from oresight.gridenv.mapfile import parse_map
from oresight.gridenv.model import Exploration
from oresight.harness.agents.llm import LLMAgent
from oresight.harness.context import STRATEGIES, make_strategy
from oresight.harness.models.base import ModelRequest, Reply
from oresight.harness.protocols import Environment, Step
from oresight.harness.running import episode
from oresight.harness.worlds import find_worlds
from oresight.harness.worlds.base import World
from oresight.scoring.records import Outcome
from support.fake_world import with_open

GRID = ("low-large-0", "medium-large-1", "high-medium-2")
# Every so many replies the model says something that cannot be executed.
NONSENSE = ("", "no idea", '{"action": "fly"}', '{"action": ')
NONSENSE_EVERY = 5


class Wanderer:
    """A model that goes anywhere, now and then answers nonsense, and keeps what it was sent."""

    name = "wanderer"

    def __init__(self, seed: int) -> None:
        self.sent: list[ModelRequest] = []
        self._draw = random.Random(seed)

    async def complete(self, request: ModelRequest) -> Reply:
        self.sent.append(request)
        if len(self.sent) % NONSENSE_EVERY == 0:
            return Reply(self._draw.choice(NONSENSE))
        assert request.schema is not None
        action = self._draw.choice(request.schema["properties"]["action"]["enum"])
        return Reply(json.dumps({"action": action, "notes": [{"text": "been here", "tag": "FAILED"}]}))

    async def aclose(self) -> None:
        """Nothing to close."""


def text_of(request: ModelRequest) -> str:
    """All words of a request, its schema included."""
    return "\n".join(message.text for message in request.messages) + json.dumps(request.schema)


def play(world: World, memory: str, model: Wanderer, size: tuple[int, int] | None) -> list[tuple[Step, int]]:
    """Play an episode; return each step with the number of requests that had been made when it was done."""
    strategy = make_strategy(memory, world.instructions, world.digest())
    steps: list[tuple[Step, int]] = []
    environment = world.open(size)
    try:
        agent = LLMAgent(model, form=strategy.answer, memory=memory)
        ending = asyncio.run(
            episode.play(
                environment,
                agent,
                strategy,
                lambda observation, state_hash, facts: None,
                lambda step: steps.append((step, len(model.sent))),
            )
        )
    finally:
        environment.close()
    assert ending.outcome in (Outcome.SUCCESS, Outcome.BUDGET_SPENT)
    assert len(model.sent) > len(steps), "nothing was asked again"
    return steps


@pytest.mark.parametrize("memory", [name for name in STRATEGIES if name != "screenshots"])
@pytest.mark.parametrize("scenario", GRID)
def test_no_request_of_a_grid_episode_names_a_node_that_the_agent_cannot_know(scenario: str, memory: str) -> None:
    (world,) = find_worlds("grid", [scenario])
    map_ = parse_map(world.scenario["map"])
    parents = {node.id: {parent for option in node.options for parent in option} for node in map_.nodes}
    model = Wanderer(1)
    steps = play(world, memory, model, None)

    walk = Exploration(map_)
    begin = hidden_names = 0
    for step, end in steps:
        seen = {node.id for node in map_.nodes if node.cell in walk.observed}
        told = seen | {name for name in parents if parents[name] & seen} | {p for name in seen for p in parents[name]}
        hidden = set(parents) - told
        hidden_names += len(hidden)
        for request in model.sent[begin:end]:
            words = text_of(request)
            assert not [name for name in hidden if name in words]
            assert not re.search(r"seed|budget", words, re.IGNORECASE)
        walk.move(step.decision.action)
        begin = end
    assert hidden_names, "every node was known from the start; the test looked for nothing"


@pytest.mark.gl
@pytest.mark.parametrize("memory", list(STRATEGIES))
def test_requests_of_a_3d_episode_hold_the_pictures_shown_and_no_private_fact(memory: str) -> None:
    (world,) = find_worlds("craft", ["outcrop-1"])
    model = Wanderer(2)
    steps = play(with_open(world, lambda size: shortened(world, size)), memory, model, (96, 72))

    shown = {step.observed.step: step.observed.image for step, _ in steps}
    private = [str(world.scenario["world_seed"])]
    for step, _ in steps:
        pose = step.facts["pose_after"]
        places = [pose["feet"], *(ore["pos"] for ore in step.facts["ores_in_view"])]
        private += [rf"{x:.0f}\W+{y:.0f}\W+{z:.0f}" for x, y, z in places]
        private += [rf"{pose['feet'][0]:.2f}"]
    begin = 0
    for step, end in steps:
        for request in model.sent[begin:end]:
            words = text_of(request)
            assert not re.search(r"seed|budget|score|stale|coordinate|position: x", words, re.IGNORECASE)
            pictures = [image for message in request.messages for image in message.images]
            # The current picture is there, whole and last; every other one is labelled with its true step.
            assert pictures[-1].step == step.step
            for picture in pictures:
                image = shown[picture.step]
                assert image is not None and np.array_equal(picture.pixels, image)
        begin = end
    everything = "\n".join(text_of(request) for request in model.sent)
    assert not [fact for fact in private if re.search(rf"(?<![\w.-]){fact}(?![\w.])", everything)]


def shortened(world: World, size: tuple[int, int] | None) -> Environment:
    """The world with a budget of a few decisions."""
    environment = world.open(size)
    environment.spec = replace(environment.spec, budget=24)  # type: ignore[misc,type-var]
    return environment
