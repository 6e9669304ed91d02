"""What a text agent of the grid takes from the messages it is shown: the same words that a language model reads."""

import random
from collections.abc import Sequence

from oresight.gridenv.text import HeardTurn, read_turn
from oresight.harness.errors import AgentEndedError
from oresight.harness.protocols import Message


def told_texts(messages: Sequence[Message], window: int | None = None) -> list[str]:
    """The instructions and what the agent was told, oldest first; its own answers are left out.

    Args:
        messages: As a context strategy yields them.
        window: Of past turns the last so many alone; None for all that there are.
    """
    told: list[str] = []
    turns = 0
    for message in reversed(messages):
        if message.role == "system" or (message.role == "user" and (window is None or turns <= window)):
            told.append(message.text)
            turns += message.role == "user"
    return told[::-1]


def turns_told(messages: Sequence[Message]) -> list[HeardTurn]:
    """What every turn in the messages tells, oldest first.

    Raises:
        AgentEndedError: There is none, or the last one names no direction.
    """
    turns = [turn for message in messages if message.role == "user" and (turn := read_turn(message.text)) is not None]
    if not turns or not turns[-1].ways:
        raise no_way()
    return turns


def no_way() -> AgentEndedError:
    """The error of an agent that was told of no direction."""
    return AgentEndedError("the agent was told of no direction that it could move in")


def draws(name: str, seed: int, step: int) -> random.Random:
    """The generator of one decision."""
    return random.Random(f"{name}:{seed}:{step}")


def choose(options: Sequence[str], draw: float) -> str:
    """One of some options, each as likely as the other, by a number from 0 to 1, which it stays below."""
    return options[int(draw * len(options))]
