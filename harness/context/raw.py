"""The chat so far, text only for past turns, and the current screenshot alone."""

import json
from collections.abc import Sequence

from oresight.harness.context.assembly import message_tokens, observation_parts, system_message, whole_characters
from oresight.harness.protocols import DEFAULT_BUDGET, AnswerForm, ContextBudget, Message, Observation, TextPart, Turn


class Raw:
    """Instructions, the past turns that fit, the current observation."""

    past_pictures = 0
    answer = AnswerForm()

    def __init__(self, instructions: str) -> None:
        self._system = system_message(instructions)

    def messages(
        self, history: Sequence[Turn], current: Observation, budget: ContextBudget = DEFAULT_BUDGET
    ) -> list[Message]:
        """Return the instructions, as much of the chat as fits, and the current observation."""
        return with_chat(self._system, history, Message("user", observation_parts(history, current)), budget)


def with_chat(system: Message, turns: Sequence[Turn], last: Message, budget: ContextBudget) -> list[Message]:
    """Return the instructions, the newest past turns that fit (as text only) and the last message."""
    room = budget.max_tokens - message_tokens((system, last))
    kept: list[Message] = []
    for turn in reversed(turns):
        told = Message("user", (TextPart(turn.observation.text),))
        reply = Message("assistant", (TextPart(reply_text(turn)),))
        room -= message_tokens((told, reply))
        if room < 0:
            break
        kept += (reply, told)
    return [system, *reversed(kept), last]


def reply_text(turn: Turn) -> str:
    """Return what the agent answered; for an agent that says nothing, its action alone."""
    return whole_characters(turn.decision.said) or json.dumps({"action": turn.decision.action})
