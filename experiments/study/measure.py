"""Everything that the study measures: success against each error, errors by dials, demands and sizes, and the pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.study.family import PAIRS, SOLVER, TEXT_AGENTS, Played, play_all
from experiments.study.pairs import Example, Pair, choose_example, choose_pair
from experiments.study.rows import KINDS, AgentRow, by_agent, figures_json, totals
from experiments.study.trends import Trend, trend_by
from oresight.gridenv.suites import scenario_names
from oresight.harness.protocols import Json
from oresight.harness.worlds import own_version
from oresight.scoring.parameters import Parameters
from oresight.scoring.pooling import pool
from oresight.scoring.regression import Point, Regression, regress

MAIN_SEEDS = 3


@dataclass(frozen=True)
class Sample:
    """A set of episodes, the same for every agent.

    Attributes:
        name: What it is called.
        scenarios: How many scenarios each agent played.
        rows: Per agent its figures.
        fits: Per kind of error success against its logarithm, over the agents that read the text alone.
    """

    name: str
    scenarios: int
    rows: tuple[AgentRow, ...]
    fits: dict[str, Regression]

    def row(self, agent: str) -> AgentRow:
        """The figures of one agent."""
        return next(row for row in self.rows if row.agent == agent)

    def to_json(self) -> Json:
        """Return the sample as plain JSON."""
        return {
            "name": self.name,
            "scenarios": self.scenarios,
            "agents": [{"agent": row.agent, **figures_json(row.pooled)} for row in self.rows],
            "success_against_log10_error": {kind: fit.to_json() for kind, fit in self.fits.items()},
        }


@dataclass(frozen=True)
class Study:
    """Everything that was found.

    Attributes:
        seeds: How many seeds there are for each demand and size.
        main: The main suite, its three seeds.
        many: All seeds.
        demand: Errors by demand, over all seeds.
        size: Errors by size of the DAG, over all seeds.
        pair: The pair over all maps, or None if there is none to choose.
        example: The pair on one map, or None if there is none.
        sensitivity: For each (alpha, k) and kind of error: success against its logarithm, over all seeds.
    """

    seeds: int
    main: Sample
    many: Sample
    demand: Trend
    size: Trend
    pair: Pair | None
    example: Example | None
    sensitivity: dict[tuple[float, int], dict[str, Regression]]

    def to_json(self) -> Json:
        """Return the study as plain JSON."""
        return {
            "format": "oresight.study",
            "version": 1,
            "oresight": own_version(),
            "seeds": self.seeds,
            "parameters": {"alpha": Parameters().alpha, "k": Parameters().k},
            "samples": [self.main.to_json(), self.many.to_json()],
            "by_demand": self.demand.to_json(),
            "by_size": self.size.to_json(),
            "pair": None if self.pair is None else self.pair.to_json(),
            "example": None if self.example is None else self.example.to_json(),
            "sensitivity": [
                {"alpha": alpha, "k": k, **{kind: fit.to_json() for kind, fit in fits.items()}}
                for (alpha, k), fits in self.sensitivity.items()
            ],
        }


def study(seeds: int, workers: int = 1, on_scenario: Callable[[int, int], None] = lambda done, planned: None) -> Study:
    """Plays and measures everything; the same whatever the number of workers.

    Args:
        seeds: How many seeds for each demand and size, from 0; the main suite has the first three.
        workers: How many processes play.
        on_scenario: Called with the numbers of scenarios done and planned.
    """
    names = scenario_names("main", tuple(range(seeds)))
    played = play_all(names, (*TEXT_AGENTS, SOLVER), workers, lambda done: on_scenario(done, len(names)))
    main = [each for each in played if each.seed < MAIN_SEEDS]
    return Study(
        seeds=seeds,
        main=_sample("main suite", main),
        many=_sample(f"seeds 0 to {seeds - 1}", played),
        demand=trend_by("demand", played),
        size=trend_by("size", played),
        pair=choose_pair(played),
        example=choose_example(main),
        sensitivity={pair: _fits(played, number) for number, pair in enumerate(PAIRS)},
    )


def _sample(name: str, played: Sequence[Played]) -> Sample:
    rows = tuple(AgentRow(agent, pool(summaries)) for agent, summaries in by_agent(played).items())
    return Sample(name, len({each.scenario for each in played}), rows, _fits(played, 0))


def _fits(played: Sequence[Played], pair: int) -> dict[str, Regression]:
    points: dict[str, list[Point]] = {kind: [] for kind in KINDS}
    for agent, summaries in by_agent(played, pair).items():
        if agent == SOLVER:
            continue
        successes = sum(summary.success for summary in summaries)
        explore_errors, explore, exploit_errors, exploit = totals(summaries)
        points["exploration"].append(Point(agent, successes, len(summaries), explore_errors, explore))
        points["exploitation"].append(Point(agent, successes, len(summaries), exploit_errors, exploit))
    return {kind: regress(points[kind]) for kind in KINDS}
