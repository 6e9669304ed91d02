"""No chat, but a summary of what the agent was shown and did, and the current observation.

What the summary says depends on the world and comes from its `Digest`; the idea is from section 3 of "Exploration and
Exploitation Errors Are Measurable for Language Model Agents".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from oresight.harness.context.assembly import observation_parts, system_message, with_record
from oresight.harness.protocols import DEFAULT_BUDGET, AnswerForm, ContextBudget, Message, Observation, Turn


@dataclass(frozen=True)
class Summary:
    """A history summed up.

    Attributes:
        lines: Returns it as lines of at most the given number of tokens, line breaks included; without the oldest
            where not all fits.
        remarks: What was ignored in the last reply, a line each.
    """

    lines: Callable[[int], Sequence[str]]
    remarks: Sequence[str] = ()


class Digest(Protocol):
    """Sums up a history in the words of one kind of world. It reads only what the agent was shown and said."""

    @property
    def answer(self) -> AnswerForm:
        """What a reply may hold for it, and what the prompt says of the summary."""

    def summarise(self, instructions: str, history: Sequence[Turn], current: Observation) -> Summary:
        """Summarise the history.

        Args:
            instructions: The system message, which may describe the world too.
            history: All turns of the episode, oldest first.
            current: What is observed now.
        """


class Structured:
    """Instructions, the summary, the current observation."""

    past_pictures = 0

    def __init__(self, instructions: str, digest: Digest) -> None:
        self.answer = digest.answer
        self._digest = digest
        self._instructions = instructions
        self._system = system_message(instructions, digest.answer.sentence)

    def messages(
        self, history: Sequence[Turn], current: Observation, budget: ContextBudget = DEFAULT_BUDGET
    ) -> list[Message]:
        """Return the instructions, and one message with the summary of the past and the current observation."""
        summary = self._digest.summarise(self._instructions, history, current)
        return with_record(self._system, summary.lines, summary.remarks, observation_parts(history, current), budget)
