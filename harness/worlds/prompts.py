"""Prompt sets by name, and one's own prompts: a TOML or JSON file with texts in place of the bundled parts.

    environment = "You walk on a grid ..."
    strategy = "Look for unknown cells first."

What a prompt is made of, and in which order, is for the worlds to say; the bundled parts lie in assets/prompts.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import RootModel, ValidationError

from oresight.harness import files
from oresight.harness.errors import RecordError, UnknownNameError, UsageError

LIMIT_BYTES = 1_000_000
# A prompt set is a strategy, or a strategy with this behind it: the same with a request to reason before answering.
REASONING_SUFFIX = "-reasoning"
# Separates the name of a set from the fingerprint of the user's own texts in it.
_OWN = "+own:"

Strategy = TypeVar("Strategy", bound=str)


def set_names(strategies: Sequence[str]) -> list[str]:
    """Names of the prompt sets: every strategy, without and with reasoning."""
    return [*strategies, *(f"{strategy}{REASONING_SUFFIX}" for strategy in strategies)]


def find_set(name: str | None, strategies: Sequence[Strategy]) -> tuple[Strategy, bool]:
    """Strategy of a prompt set, and whether it asks for reasoning; without a name the first, without.

    The name may be as it is recorded, with the mark of a user's own texts.

    Raises:
        UnknownNameError: There is no such set.
    """
    if name is None:
        return strategies[0], False
    name = name.partition(_OWN)[0]
    for strategy in strategies:
        if name in (strategy, f"{strategy}{REASONING_SUFFIX}"):
            return strategy, name != strategy
    raise UnknownNameError("prompt set", name, set_names(strategies))


class _PromptFile(RootModel[dict[str, str]]):
    """Texts by the name of their part."""


@dataclass(frozen=True)
class OwnPrompts:
    """The parts of a file.

    Attributes:
        parts: Texts by the name of their part.
        fingerprint: Of all texts, so that a run is not continued with others.
    """

    parts: Mapping[str, str]
    fingerprint: str


def load_prompts(path: Path, known: Sequence[str]) -> OwnPrompts:
    """Read a file of prompts.

    Args:
        path: Ends in .toml or .json.
        known: The parts that the world's prompts are made of.

    Raises:
        UsageError: It is neither, cannot be read as such, or holds something other than texts for known parts.
        OresightError: The file cannot be read.
    """
    data = _read(path)
    unknown = [part for part in data if part not in known]
    if unknown:
        raise UsageError(f"{path}: unknown part {unknown[0][:100]!r}; the parts of a prompt are {', '.join(known)}")
    if not data:
        raise UsageError(f"{path}: holds no part of a prompt; expected one or more of {', '.join(known)}")
    try:
        parts = _PromptFile.model_validate(data, strict=True).root
    except ValidationError as error:
        part = str(error.errors()[0]["loc"][0])
        raise UsageError(f"{path}: {part} is {str(data[part])[:40]!r}; expected a text") from error
    for part, text in parts.items():
        # JSON can spell half of a surrogate pair, which no provider takes.
        if not _is_text(text):
            raise UsageError(f"{path}: {part} holds half of a surrogate pair; expected a text of whole characters")
    told = json.dumps(parts, sort_keys=True).encode()
    return OwnPrompts(parts, hashlib.sha256(told).hexdigest()[:16])


def full_name(name: str | None, strategies: Sequence[str], own: OwnPrompts | None) -> str:
    """Return how a set of prompts is recorded: by its name, and by a fingerprint of the user's own texts in it.

    Args:
        name: Of the set; None for the plain one.
        strategies: Of the world.
        own: Texts in place of some of its parts.

    Raises:
        UnknownNameError: There is no such set.
    """
    strategy, reasoning = find_set(name, strategies)
    named = f"{strategy}{REASONING_SUFFIX}" if reasoning else strategy
    return named if own is None else f"{named}{_OWN}{own.fingerprint}"


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(path: Path) -> dict[str, Any]:
    if path.suffix == ".json":
        try:
            return files.read_json(path, LIMIT_BYTES)
        except RecordError as error:
            raise UsageError(str(error)) from error
    if path.suffix != ".toml":
        raise UsageError(f"{path}: a file of prompts ends in .toml or .json")
    return files.read_toml(path, LIMIT_BYTES, "a file of prompts")
