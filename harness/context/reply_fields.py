"""What a past reply held besides its action, parsed from the recorded text, so that a history can be rebuilt.

Nothing in a reply can break a strategy: what is missing or invalid is left out of the fields.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from oresight.harness.models.parsing import Answer, parse_answer
from oresight.harness.protocols import Choice, Turn


def fields_of(turn: Turn) -> Mapping[str, Any]:
    """Return the fields of the answer that a turn's action was taken from; empty if it is not in this form."""
    return _fields(turn.decision.said, turn.decision.action)


# Every request reads all replies of the episode again.
@lru_cache(maxsize=8192)
def _fields(said: str, action: str) -> Mapping[str, Any]:
    answer = parse_answer(said, Choice((action,)))
    return MappingProxyType(dict(answer.fields) if isinstance(answer, Answer) else {})


def whole_number(value: object) -> int | None:
    """Return a whole number, also one that stands in quotes; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e9:
        return int(value)
    return value if isinstance(value, int) and abs(value) < 1e9 else None


def shown(value: object) -> str:
    """Return a value that the model gave as a remark quotes it, on one line and short."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (ValueError, RecursionError):
        text = "something"
    return text if len(text) <= 40 else f"{text[:40]}..."
