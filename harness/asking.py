"""What a request may cost, and what its answer may hold: the values that strategies and model clients agree on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# A token of ordinary text is about four bytes. A picture is priced alike whatever its size: the dearest that a provider
# asks for one of 640 x 480, rounded up. Both are estimates, made to stay within a bound and not to write a bill.
BYTES_PER_TOKEN = 4
PICTURE_TOKENS = 800
# What a message costs beside its text.
MESSAGE_TOKENS = 4


@dataclass(frozen=True)
class ContextBudget:
    """The bound on one request. Instructions, goal and current observation are sent even where they exceed it.

    Attributes:
        max_tokens: Of text and pictures together, as `text_tokens` and `PICTURE_TOKENS` estimate them.
        max_pictures: The current one included.
    """

    max_tokens: int = 100_000
    max_pictures: int = 100

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.max_pictures < 1:
            raise ValueError(
                f"a context budget of {self.max_tokens} tokens and {self.max_pictures} pictures; expected 1 or more"
            )

    def shrunk(self, sent_tokens: int | None = None, sent_pictures: int | None = None) -> "ContextBudget":
        """Half of this bound, or half of what was sent where that is less.

        Args:
            sent_tokens: Estimate of the request that was too long.
            sent_pictures: How many pictures it had.
        """
        tokens = self.max_tokens if sent_tokens is None else min(self.max_tokens, sent_tokens)
        pictures = self.max_pictures if sent_pictures is None else min(self.max_pictures, sent_pictures)
        return ContextBudget(max(tokens // 2, 1), max(pictures // 2, 1))


DEFAULT_BUDGET = ContextBudget()


def text_tokens(text: str) -> int:
    """Estimated tokens of a text."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


@dataclass(frozen=True)
class AnswerForm:
    """What a reply may hold beside its action.

    Attributes:
        properties: JSON schemas of the further fields by name. All may be left out by a model whose answers no schema
            enforces; where one does, null or an empty list says "nothing".
        sentence: What the prompt says about them; may be empty.
    """

    properties: Mapping[str, Any] = field(default_factory=dict)
    sentence: str = ""

    def schema(self, actions: Sequence[str]) -> dict[str, Any]:
        """JSON schema of the whole answer, in the strict form that providers enforce."""
        properties = {"action": {"type": "string", "enum": list(actions)}, **self.properties}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
