"""Name of a world to the adapter that reads its facts: one table for live scoring, for files and for replay pages.

An adapter answers the metric's questions from a world's private facts. A world without one has success, score and
budget, and no error metric; its decisions are counted and not judged.
"""

import importlib
import importlib.metadata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from oresight.scoring.branch import after_branch
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.parameters import Parameters, RecordedInputs
from oresight.scoring.plain import PlainScorer
from oresight.scoring.records import DecisionLine, Header
from oresight.scoring.rescoring import Scorer

GROUP = "oresight.adapters"
_BUNDLED = {
    "craft": "oresight.scoring.craft.episodes:CraftAdapter",
    "grid": "oresight.scoring.grid.episodes:GridAdapter",
}


@dataclass(frozen=True)
class Recorded:
    """What a trajectory's header says to an adapter, checked.

    Attributes:
        name: Of the scenario.
        scenario: As the adapter's scorers take it.
        start: The start's facts, as they take them.
        inputs: What the facts were recorded under, where that can be another thing each time.
    """

    name: str
    scenario: Any
    start: Any = None
    inputs: RecordedInputs | None = None


class Adapter(ABC):
    """How the metric reads the facts of one world.

    Attributes:
        readings: The readings that it gives, the default one first; empty without the error metric.
        scores_rest: Whether decisions after the episode's end are handed to the scorer too.
    """

    readings: ClassVar[tuple[str, ...]] = ()
    scores_rest: ClassVar[bool] = True

    @abstractmethod
    def scorer(self, parameters: Parameters, scenario: Any, start: Any) -> Scorer:
        """Return a scorer of one episode from its start.

        Args:
            parameters: Of the metric.
            scenario: As a header has it, or as `read` gives it.
            start: The start's facts, likewise.
        """

    def read(self, header: Header, path: Path, parameters: Sequence[Parameters]) -> Recorded:
        """Return what a header says, checked.

        Raises:
            BadInput: It is not what this world writes.
        """
        return Recorded(str(header.scenario.get("name", path.stem)), header.scenario, header.start.facts)

    def facts(self, line: DecisionLine, path: Path, number: int) -> Any:
        """Return the facts of a decision as the scorers take them, checked.

        Args:
            line: The decision.
            path: Of its file, for messages.
            number: Of its line in the file.

        Raises:
            BadInput: They are not what this world writes.
        """
        return line.facts

    def reached(self, summary: EpisodeSummary) -> str:
        """Return in a few words how far an episode came."""
        return f"a score of {summary.score:g}" if summary.score is not None else "no score"


class PlainAdapter(Adapter):
    """Stands in for the adapter of a world that has none: success, score and budget."""

    def scorer(self, parameters: Parameters, scenario: Any, start: Any) -> Scorer:
        """Return a scorer that judges nothing."""
        budget = scenario.get("budget") if isinstance(scenario, Mapping) else None
        return PlainScorer(budget if isinstance(budget, int) else None)


def find_adapter(world: str) -> Adapter:
    """Return the adapter of a world by its name; a plain one where there is none.

    A world's name is that of its entry point, or bundled; the adapter is found by the same name.
    """
    return _find(world)


def readings_of(world: str) -> tuple[str, ...]:
    """Return the readings of the error metric that a world has; none where it has no error metric."""
    return find_adapter(world).readings


def live_scorer(adapter: Adapter, header: Mapping[str, Any], parameters: Parameters) -> Scorer:
    """Return a scorer for an episode that is being played, from its trajectory's header."""
    return after_branch(adapter.scorer(parameters, header["scenario"], header["start"]["facts"]), header)


@cache
def _find(world: str) -> Adapter:
    place = _BUNDLED.get(world)
    if place is not None:
        module, _, name = place.partition(":")
        made: Adapter = getattr(importlib.import_module(module), name)()
        return made
    for entry in importlib.metadata.entry_points(group=GROUP, name=world):
        found: Adapter = entry.load()()
        return found
    return PlainAdapter()
