"""What a text agent of the grid takes from the messages it is shown: the same words that a language model reads."""

import random
from collections.abc import Sequence

from oresight.gridenv.text import HeardTurn, read_turn
from oresight.harness.errors import AgentEndedError
from oresight.harness.protocols import Message


def told_texts(messages: Sequence[Message], window: int | None = None) -> list[str]:
    """Return the instructions and the observations, oldest first, without the agent's own answers.

    Args:
        messages: As a context strategy yields them.
        window: How many of the past turns to take, the last ones; None for all.
    """
    told: list[str] = []
    turns = 0
    for message in reversed(messages):
        if message.role == "system" or (message.role == "user" and (window is None or turns <= window)):
            told.append(message.text)
            turns += message.role == "user"
    return told[::-1]


def turns_told(messages: Sequence[Message]) -> list[HeardTurn]:
    """Return what each turn in the messages says, oldest first.

    Raises:
        AgentEndedError: There is no turn, or the last one names no direction.
    """
    turns = [turn for message in messages if message.role == "user" and (turn := read_turn(message.text)) is not None]
    if not turns or not turns[-1].ways:
        raise no_way()
    return turns


def no_way() -> AgentEndedError:
    """Return the error of an agent that was shown no direction."""
    return AgentEndedError("the agent was shown no direction in which it can move")


def draws(name: str, seed: int, step: int) -> random.Random:
    """Return the random generator of one decision."""
    return random.Random(f"{name}:{seed}:{step}")


def choose(options: Sequence[str], draw: float) -> str:
    """Return one of some options, all equally likely, by a number that is at least 0 and below 1."""
    return options[int(draw * len(options))]
