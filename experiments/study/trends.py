"""Errors by one property of the maps: the demand, or the size of the task DAG."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from experiments.study.family import FAMILY, Played
from experiments.study.rows import KINDS, totals
from oresight.gridenv.generate import SIZES
from oresight.gridenv.suites import labels_of
from oresight.harness.protocols import Json
from oresight.harness.worlds.base import LEVELS as DEMANDS
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.statistics import Figure, figure_of, rate

Dimension = Literal["demand", "size"]

# Agents shown one by one, beside the family as a whole.
SHOWN = ("random", "frontier(window=4,noise=0.1)", "frontier(window=16,noise=0)", "depth-first")


@dataclass(frozen=True)
class Level:
    """Episodes on maps of one demand or one size.

    Attributes:
        name: The demand on exploitation, or the size.
        maps: How many there are.
        episodes: How many were played on them.
        success: Share of successes.
        errors: Per kind the error rate, its interval by a bootstrap over maps: episodes on one map hang together.
    """

    name: str
    maps: int
    episodes: int
    success: float
    errors: dict[str, Figure]

    def to_json(self) -> Json:
        """Return the level as plain JSON."""
        return {
            "level": self.name,
            "maps": self.maps,
            "episodes": self.episodes,
            "success": self.success,
            **{f"{kind}_error": figure.to_json() for kind, figure in self.errors.items()},
        }


@dataclass(frozen=True)
class Trend:
    """Errors by one property of the maps.

    Attributes:
        dimension: "demand" (on exploitation; the one on exploration is its opposite) or "size".
        family: The levels in their order, over all episodes of the family.
        agents: The same for each agent that is shown by itself.
        rising: Per kind, the members of the family that err more from each level to the next one; by demand in the
            order in which the demand of that kind grows.
    """

    dimension: Dimension
    family: tuple[Level, ...]
    agents: dict[str, tuple[Level, ...]]
    rising: dict[str, tuple[str, ...]]

    def levels(self, kind: str, agent: str | None = None) -> tuple[Level, ...]:
        """The levels in the order in which the demand of a kind of error, or the size, grows."""
        return _in_order(self.dimension, kind, self.family if agent is None else self.agents[agent])

    def rises(self, kind: str) -> bool:
        """Whether the family's error of a kind grows from each level to the next one."""
        return _rising(self.levels(kind), kind)

    def to_json(self) -> Json:
        """Return the trend as plain JSON."""
        return {
            "dimension": self.dimension,
            "family": [level.to_json() for level in self.family],
            "agents": {agent: [level.to_json() for level in levels] for agent, levels in self.agents.items()},
            "family_rises": {kind: self.rises(kind) for kind in KINDS},
            "members_rising": {kind: list(members) for kind, members in self.rising.items()},
        }


def trend_by(dimension: Dimension, played: Sequence[Played]) -> Trend:
    """Errors by the demand or by the size of the DAG."""
    by_agent: dict[str, list[Played]] = {}
    for each in played:
        by_agent.setdefault(each.agent, []).append(each)
    members = {agent: _levels(dimension, by_agent[agent], intervals=False) for agent in FAMILY}
    return Trend(
        dimension,
        _levels(dimension, [each for agent in FAMILY for each in by_agent[agent]]),
        {agent: _levels(dimension, by_agent[agent]) for agent in SHOWN},
        {
            kind: tuple(agent for agent, levels in members.items() if _rising(_in_order(dimension, kind, levels), kind))
            for kind in KINDS
        },
    )


def _levels(dimension: Dimension, played: Sequence[Played], intervals: bool = True) -> tuple[Level, ...]:
    found: list[Level] = []
    for name in DEMANDS if dimension == "demand" else SIZES:
        place = 0 if dimension == "demand" else 1
        here = [each for each in played if (labels := labels_of(each.scenario)) and labels[place] == name]
        by_map: dict[str, list[EpisodeSummary]] = {}
        for each in here:
            by_map.setdefault(each.scenario, []).append(each.summary)
        counts = [totals(summaries) for summaries in by_map.values()]
        errors = {"exploration": [count[:2] for count in counts], "exploitation": [count[2:] for count in counts]}
        found.append(
            Level(
                name,
                len(by_map),
                len(here),
                sum(each.summary.success for each in here) / len(here),
                {kind: _map_figure(errors[kind], intervals) for kind in KINDS},
            )
        )
    return tuple(found)


def _map_figure(counts: Sequence[tuple[int, int]], interval: bool) -> Figure:
    if not interval:
        errors, eligible = (sum(count[place] for count in counts) for place in (0, 1))
        return Figure(rate(errors, eligible), errors, eligible, None, "no interval", len(counts))
    figure = figure_of(counts)
    return replace(figure, method=figure.method.replace("over episodes", "over maps"))


def _in_order(dimension: Dimension, kind: str, levels: tuple[Level, ...]) -> tuple[Level, ...]:
    # The names tell the demand on exploitation; that on exploration grows the other way.
    return levels[::-1] if dimension == "demand" and kind == "exploration" else levels


def _rising(levels: Sequence[Level], kind: str) -> bool:
    values = [level.errors[kind].value for level in levels]
    return all(one is not None and other is not None and one < other for one, other in pairwise(values))
