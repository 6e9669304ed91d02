"""Histories for the tests of context strategies: made-up turns, and ones that were really played in the grid."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from oresight.gridenv.env import GridEnv
from oresight.gridenv.suites import get_scenario
from oresight.harness.context import STRATEGIES, make_strategy
from oresight.harness.protocols import ContextStrategy, Decision, Message, TextPart, Turn
from oresight.harness.worlds.craft.digest import CraftDigest
from oresight.harness.worlds.grid.digest import GridDigest
from support.fake_world import Seen

ACTIONS = ("move_forward", "move_left", "look_left", "look_right", "look_down", "jump", "mine", "wait")
OUTCOMES = ("moved", "blocked", "moved a little, then blocked", "turned", "broke 1 stone; picked up 1 cobblestone")


def seen(step: int, action: str | None = None, outcome: str = "", picture: bool = True) -> Seen:
    """A craft observation; each step has its own picture."""
    last = f"{action} -> {outcome}" if action else "none"
    text = f"Task: acquire 1 iron ore (0 so far).\nStep: {step}\nLast action: {last}\nInventory: empty"
    pixels = np.full((2, 2, 3), step % 256, dtype=np.uint8) if picture else None
    return Seen(text, pixels, ACTIONS, step)


def said(action: str, **fields: Any) -> str:
    """A model's reply."""
    return json.dumps({"action": action, **fields})


def craft_turns(replies: Sequence[tuple[str, str, str]]) -> tuple[list[Turn], Seen]:
    """A history and what is observed after it, from actions, what was said with them, and outcomes."""
    turns: list[Turn] = []
    current = seen(1)
    for number, (action, words, outcome) in enumerate(replies, 1):
        turns.append(Turn(number, current, Decision(action, words), outcome))
        current = seen(number + 1, action, outcome)
    return turns, current


def long_craft(decisions: int) -> tuple[list[Turn], Seen]:
    """A talkative episode: notes, branches, ores and nonsense, at every turn."""
    replies = []
    for number in range(1, decisions + 1):
        action = ACTIONS[number * 7 % len(ACTIONS)]
        fields: dict[str, Any] = {
            "notes": [{"step": number // 2, "node": number // 2, "tag": "DEAD END", "text": f"place {number} " * 20}],
            "ores": [{"kind": "iron ore", "right_deg": number % 90 - 45, "down_deg": 5, "blocks": number % 30}],
        }
        if number % 5 == 0:
            fields["parent"] = number // 3
        if number % 7 == 0:
            fields["position"] = number * 2
        replies.append((action, "I think. " * 10 + said(action, **fields), OUTCOMES[number % len(OUTCOMES)]))
    return craft_turns(replies)


def grid_walk(name: str, moves: int, words: str = "") -> tuple[list[Turn], Any, GridEnv]:
    """A walk that takes the least visited way; the environment is returned too, to know what must not be told."""
    environment = GridEnv(get_scenario(name), brief=False)
    observation = environment.reset()
    turns: list[Turn] = []
    visits: dict[Any, int] = {}
    for number in range(1, moves + 1):
        x, y = environment.walk.position
        visits[x, y] = visits.get((x, y), 0) + 1
        ahead = {"up": (x, y + 1), "down": (x, y - 1), "left": (x - 1, y), "right": (x + 1, y)}
        action = min(observation.actions, key=lambda way: visits.get(ahead[way], 0))
        transition = environment.step(action)
        turns.append(Turn(number, observation, Decision(action, words or said(action)), transition.outcome))
        observation = transition.observation
        if transition.terminated or transition.truncated:
            break
    return turns, observation, environment


def strategies(kind: str = "craft", instructions: str = "Rules.") -> dict[str, ContextStrategy]:
    """Every strategy, with the digest of a kind of world."""
    return {
        name: make_strategy(name, instructions, {"craft": CraftDigest(), "grid": GridDigest()}[kind])
        for name in STRATEGIES
    }


def plain(messages: Sequence[Message]) -> list[tuple[str, tuple[Any, ...]]]:
    """Messages as values that compare: pictures by step, label and first pixel."""
    return [
        (
            message.role,
            tuple(
                part.text
                if isinstance(part, TextPart)
                else (part.step, part.action, part.outcome, int(part.pixels[0, 0, 0]))
                for part in message.parts
            ),
        )
        for message in messages
    ]
