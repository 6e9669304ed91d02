"""The conditions and episodes of a report: what was planned, what became of it, and what its recordings told.

Knows where things lie; figures are made in `study`, pages elsewhere.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from oresight.harness.analysis.conditions import ConditionRun
from oresight.harness.analysis.summary import summary_of
from oresight.harness.records import folder as run_folder
from oresight.harness.text import visible
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.statistics import EpisodeCounts

_NO_ID = re.compile(r"[^A-Za-z0-9._-]+")
_ID_CHARACTERS = 70
# How a decision stands in the strip of an episode: a character each, none of which a table would quote as a formula.
EXPLORE_ERROR, EXPLOIT_ERROR, BOTH_ERROR, PROGRESS, GAIN, UNSCORED = "xpbPg."


@dataclass(frozen=True)
class Told:
    """What the recording of an episode told.

    Attributes:
        marks: A letter a decision.
        stale: The stale score after each decision.
        summaries: Under each pair of alpha and k that was asked for, the usual pair first.
    """

    marks: str
    stale: tuple[int, ...]
    summaries: tuple[EpisodeSummary, ...]


@dataclass(frozen=True)
class Episode:
    """A planned episode of a condition.

    Attributes:
        name: Its id.
        kind: Of its world.
        result: What became of it; None if it is missing or its result cannot be read.
        told: What its recording told; None if there is none, or none that can be read.
        page: Where its replay page stands, relative to the report's folder; None without one.
    """

    name: str
    kind: str
    result: run_folder.EpisodeResult | None
    told: Told | None = None
    page: str | None = None

    @property
    def scenario(self) -> str:
        """Its scenario's name, which mostly is its id."""
        return self.name if self.result is None else self.result.scenario

    @cached_property
    def summary(self) -> EpisodeSummary | None:
        """The episode in numbers, if it is a result."""
        result = self.result
        return summary_of(result, self.kind) if result is not None and result.outcome.counts else None


@dataclass(frozen=True)
class Condition:
    """Who played, with which memory and prompts.

    Attributes:
        key: A letter, or two, that stand for it in figures.
        id: Names its folder in the report.
        side: What its run says.
        episodes: In planned order.
    """

    key: str
    id: str
    side: ConditionRun
    episodes: tuple[Episode, ...]

    @property
    def label(self) -> str:
        """It in words, fit to be shown."""
        return visible(self.side.label, 200)

    @property
    def kind(self) -> str:
        """Of its world."""
        return self.side.summary.run.config.world

    @property
    def prompts(self) -> str:
        """Name of its prompt set."""
        return self.side.summary.run.config.prompts or "base"

    @property
    def is_model(self) -> bool:
        """Whether a model played; agents read no prompts."""
        return self.side.summary.run.config.model is not None

    @property
    def counts(self) -> EpisodeCounts:
        """How many episodes stand behind its figures, and how many do not."""
        return self.side.summary.counts

    @property
    def summaries(self) -> dict[str, EpisodeSummary]:
        """Of the episodes that are a result, by id."""
        return {each.name: summary for each in self.episodes if (summary := each.summary) is not None}


def conditions_of(sides: Sequence[ConditionRun]) -> list[Condition]:
    """A condition for each side, with a key and an id that no other one has."""
    found: list[Condition] = []
    taken: set[str] = set()
    for number, side in enumerate(sides):
        name = _unique(_slug(side.folder.resolve().name), taken)
        taken.add(name)
        results = {result.id: result for result in side.summary.results}
        config = side.summary.run.config
        episodes = tuple(Episode(each, config.world, results.get(each)) for each in config.episodes)
        found.append(Condition(key_of(number), name, side, episodes))
    return found


def without_place(words: str, folder: Path) -> str:
    """A sentence about a folder without the place where it lies on this machine, which no file is to tell."""
    for place in (str(folder.resolve()), str(folder)):
        words = words.replace(place, folder.resolve().name)
    return words


def key_of(number: int) -> str:
    """A to Z, then AA, AB and so on."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _slug(name: str) -> str:
    return _NO_ID.sub("-", name)[:_ID_CHARACTERS].strip("-.") or "run"


def _unique(name: str, taken: set[str]) -> str:
    # File systems that do not tell capitals apart would put two into one folder.
    lower = {each.lower() for each in taken}
    number, candidate = 2, name
    while candidate.lower() in lower:
        candidate = f"{name}-{number}"
        number += 1
    return candidate
