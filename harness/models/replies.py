"""A reply of a model as it is written down before it is acted on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from oresight.harness.models.base import FinishReason, Reply, Usage
from oresight.harness.protocols import Json


@dataclass(frozen=True)
class ReplyRecord:
    """A reply as it is written down before it is acted on.

    Attributes:
        step: Number of the decision that it was asked for, from 1.
        attempt: 0 for the first reply of a decision, 1 to 3 for re-asks.
        number: How many replies the episode had before.
        reply: What came.
        fault: Why it was no answer, or None.
    """

    step: int
    attempt: int
    number: int
    reply: Reply
    fault: str | None = None

    def to_json(self) -> Json:
        """Return it as a JSON object."""
        return {
            "step": self.step,
            "attempt": self.attempt,
            "number": self.number,
            "fault": self.fault,
            "reply": {**asdict(self.reply), "finish": self.reply.finish.value},
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "ReplyRecord":
        """Return the record that `to_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: It is not such a record.
        """
        fields = dict(record["reply"])
        reply = Reply(**{**fields, "finish": FinishReason(fields["finish"]), "usage": Usage(**fields["usage"])})
        read = cls(record["step"], record["attempt"], record["number"], reply, record["fault"])
        return _RECORD.validate_python(asdict(read))


# What stands in a file may be of any type.
_RECORD = TypeAdapter(ReplyRecord)
