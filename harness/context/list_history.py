"""The flat history: the actions so far as a numbered list, without or with notes, and the current observation.

What the model gets follows "Clearing the Fog: Towards Installing and Refining Proactive Exploration Capabilities in LLM
Agents" (SaFaRi), appendices E and G: the actions and the notes on them, and no earlier observation.
"""

from collections.abc import Sequence

from oresight import assets
from oresight.harness.context.assembly import list_lines, observation_parts, system_message, with_record
from oresight.harness.context.notes import Note, notes_schema, remark_lines, take_notes
from oresight.harness.context.reply_fields import fields_of
from oresight.harness.protocols import DEFAULT_BUDGET, AnswerForm, ContextBudget, Message, Observation, Turn

START = 0


class ListHistory:
    """`list`, and `list+notes`."""

    past_pictures = 0

    def __init__(self, instructions: str, with_notes: bool) -> None:
        name = "list_notes" if with_notes else "list"
        sentence = assets.path("prompts", "memory", f"{name}.txt").read_text("utf-8").strip()
        self.answer = AnswerForm({"notes": notes_schema("step")} if with_notes else {}, sentence)
        self._with_notes = with_notes
        self._system = system_message(instructions, sentence)

    def messages(
        self, history: Sequence[Turn], current: Observation, budget: ContextBudget = DEFAULT_BUDGET
    ) -> list[Message]:
        """Return the instructions, and one message with the list of past turns and the current observation."""
        notes, remarks = self._notes(history) if self._with_notes else ({}, [])
        lines = [f"{turn.step}. {turn.decision.action}{_after(notes.get(turn.step))}" for turn in history]
        lines.insert(0, f"{START}. START{_after(notes.get(START))}")
        head = f"Your actions so far ({len(history)}), oldest first:"
        return with_record(
            self._system,
            lambda room: list_lines(head, lines, room),
            remark_lines(remarks),
            observation_parts(history, current),
            budget,
        )

    def _notes(self, history: Sequence[Turn]) -> tuple[dict[int, Note], list[str]]:
        notes: dict[int, Note] = {}
        remarks: list[str] = []
        known = {START}
        latest = START
        for turn in history:
            known.add(turn.step)
            # A note without a place is on the action whose result the model was looking at.
            remarks = take_notes(fields_of(turn), "step", known, latest, notes)
            latest = turn.step
        return notes, remarks


def _after(note: Note | None) -> str:
    return f" {note}" if note else ""
