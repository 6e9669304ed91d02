"""What several parts of the study are made of: an agent's figures, episodes by agent, sums of their counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.study.family import Played
from oresight.harness.protocols import Json
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.pooling import PooledRates
from oresight.scoring.statistics import Figure

KINDS = ("exploration", "exploitation")


@dataclass(frozen=True)
class AgentRow:
    """An agent over all episodes of a sample."""

    agent: str
    pooled: PooledRates

    def error(self, kind: str) -> Figure:
        """Its error rate of one kind."""
        return self.pooled.error(kind)


def by_agent(played: Iterable[Played], pair: int = 0) -> dict[str, list[EpisodeSummary]]:
    """The summaries of each agent's episodes, in the order of play, under one of the pairs of (alpha, k)."""
    found: dict[str, list[EpisodeSummary]] = {}
    for each in played:
        found.setdefault(each.agent, []).append(each.summaries[pair])
    return found


def totals(summaries: Sequence[EpisodeSummary]) -> tuple[int, int, int, int]:
    """Exploration errors and eligible decisions, exploitation errors and eligible decisions, over some episodes."""
    return (
        sum(summary.tally.explore_errors for summary in summaries),
        sum(summary.tally.explore_eligible for summary in summaries),
        sum(summary.tally.exploit_errors for summary in summaries),
        sum(summary.tally.exploit_eligible for summary in summaries),
    )


def figures_json(pooled: PooledRates) -> Json:
    """Pooled figures of a world with one reading as plain JSON."""
    told = pooled.to_json()
    return {
        name: told[name]
        for name in (
            "success",
            "exploration_error",
            "exploitation_error",
            "budget_used",
            "budget_used_success",
            "decisions",
        )
    }
