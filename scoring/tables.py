"""Tables of pooled figures by prompt set, demand and size of the DAG: pure functions of what was scored.

The scenarios of the grid's suites say their demand (that on exploitation; the one on exploration is its opposite) and
size in their names, "low-small-0" with anything before it; the prompt set is told by whoever ran them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.pooling import Pool, PooledRates
from oresight.scoring.records import Json

DEMANDS = ("low", "medium", "high")
SIZES = ("small", "medium", "large")
Dimension = Literal["prompt", "demand", "size"]
# What a row is called whose scenarios have no such part in their names.
OTHER = "other"

_NAME = re.compile(r"(?:^|-)(low|medium|high)-(small|medium|large)-\d+$")


@dataclass(frozen=True)
class Labels:
    """Where an episode belongs.

    Attributes:
        prompt: Its prompt set.
        demand: Demand on exploitation, or "other".
        size: Size of the DAG, or "other".
    """

    prompt: str
    demand: str
    size: str


def labels_of(scenario: str, prompt: str = OTHER) -> Labels:
    """Return the labels that a scenario's name tells."""
    found = _NAME.search(scenario)
    return Labels(prompt, OTHER, OTHER) if found is None else Labels(prompt, found[1], found[2])


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        labels: What its episodes have in common, in the order of the dimensions.
        pooled: Their figures.
        episodes: How many they are, those without a result included.
    """

    labels: tuple[str, ...]
    pooled: PooledRates
    episodes: int

    def to_json(self) -> Json:
        """Return the row as plain JSON."""
        return {"labels": list(self.labels), "episodes": self.episodes, **self.pooled.to_json()}


def table(episodes: Iterable[tuple[Labels, EpisodeSummary]], *dimensions: Dimension) -> tuple[Row, ...]:
    """Pool episodes by one or more dimensions; a row for each combination that occurs.

    Demands and sizes come in their natural order, prompt sets in the order in which they are met.

    Args:
        episodes: Each with its labels.
        dimensions: "prompt", "demand", "size", outermost first.
    """
    pools: dict[tuple[str, ...], Pool] = {}
    numbers: dict[tuple[str, ...], int] = {}
    for labels, summary in episodes:
        key = tuple(str(getattr(labels, dimension)) for dimension in dimensions)
        pools.setdefault(key, Pool()).add(summary)
        numbers[key] = numbers.get(key, 0) + 1
    met: dict[str, int] = {}
    for key in pools:
        for dimension, label in zip(dimensions, key, strict=True):
            if dimension == "prompt":
                met.setdefault(label, len(met))
    orders = {"prompt": list(met), "demand": [*DEMANDS, OTHER], "size": [*SIZES, OTHER]}

    def place(key: tuple[str, ...]) -> list[int]:
        return [orders[dimension].index(label) for dimension, label in zip(dimensions, key, strict=True)]

    return tuple(Row(key, pools[key].rates(), numbers[key]) for key in sorted(pools, key=place))
