"""The study without a model: what the metric says of a family of text agents whose weaknesses are known.

Here it is measured: success against each error, errors against the dials, the demands and the DAG's size, and a pair of
agents of equal success and opposite errors. `study_text` puts it into words, `figures` draws it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from harness.family import FAMILY, PAIRS, SOLVER, TEXT_AGENTS, Played, play_all
from harness.protocols import Json
from harness.worlds import own_version, suite_names
from scoring.parameters import Parameters
from scoring.rates import Figure, PooledRates, bootstrap_difference, error_figure, pool, rate
from scoring.regression import Point, Regression, regress
from scoring.summary import EpisodeSummary
from scoring.tables import DEMANDS, SIZES, Dimension, labels_of

KINDS = ("exploration", "exploitation")
MAIN_SEEDS = 3
# Two agents are of equal success if their rates differ by this at most, and fit for a comparison if they neither fail
# nor succeed nearly always.
EQUAL_SUCCESS = 0.02
COMPARABLE = (0.1, 0.95)
# Agents shown one by one in the tables by demand and size, beside the family as a whole.
SHOWN = ("random", "frontier(window=4,noise=0.1)", "frontier(window=16,noise=0)", "depth-first")


@dataclass(frozen=True)
class AgentRow:
    """An agent over all episodes of a sample."""

    agent: str
    pooled: PooledRates

    def error(self, kind: str) -> Figure:
        """Its error rate of one kind."""
        figure: Figure = getattr(self.pooled.lenient, kind)
        return figure


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
            "agents": [{"agent": row.agent, **_figures(row.pooled)} for row in self.rows],
            "success_against_log10_error": {kind: fit.to_json() for kind, fit in self.fits.items()},
        }


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
        rising: Per kind, how many members of the family err more from each level to the next one; by demand in the
            order in which the demand of that kind grows.
    """

    dimension: Dimension
    family: tuple[Level, ...]
    agents: dict[str, tuple[Level, ...]]
    rising: dict[str, int]

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
            "members_rising": self.rising,
        }


@dataclass(frozen=True)
class Difference:
    """A difference of two rates with its paired bootstrap interval."""

    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Pair:
    """Two agents of equal success and opposite errors: chosen on the even seeds, measured on the odd ones.

    Attributes:
        explorer: The one that errs less in exploration and more in exploitation.
        exploiter: The other one.
        rows: Of both, on the odd seeds.
        differences: Explorer minus exploiter, on the odd seeds: "success" and each kind of error.
    """

    explorer: str
    exploiter: str
    rows: tuple[AgentRow, AgentRow]
    differences: dict[str, Difference]

    @property
    def confirmed(self) -> bool:
        """Whether the odd seeds say the same: both intervals of the errors on their side of 0, that of success over 0."""
        low = {name: found.interval[0] if found.interval else 0.0 for name, found in self.differences.items()}
        high = {name: found.interval[1] if found.interval else 0.0 for name, found in self.differences.items()}
        return high["exploration"] < 0 < low["exploitation"] and low["success"] <= 0 <= high["success"]

    def to_json(self) -> Json:
        """Return the pair as plain JSON."""
        return {
            "explorer": self.explorer,
            "exploiter": self.exploiter,
            "agents": [{"agent": row.agent, **_figures(row.pooled)} for row in self.rows],
            "differences": {
                name: {"value": found.value, "interval": None if found.interval is None else list(found.interval)}
                for name, found in self.differences.items()
            },
            "confirmed": self.confirmed,
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
        pair: The pair, or None if there is none to choose.
        sensitivity: For each (alpha, k) and kind of error: success against its logarithm, over all seeds.
    """

    seeds: int
    main: Sample
    many: Sample
    demand: Trend
    size: Trend
    pair: Pair | None
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
    names = suite_names("grid", "main", range(seeds))
    played = play_all(names, (*TEXT_AGENTS, SOLVER), workers, lambda done: on_scenario(done, len(names)))
    main = [each for each in played if each.seed < MAIN_SEEDS]
    return Study(
        seeds=seeds,
        main=_sample("main suite", main),
        many=_sample(f"seeds 0 to {seeds - 1}", played),
        demand=_trend("demand", played),
        size=_trend("size", played),
        pair=choose_pair(played),
        sensitivity={pair: _fits(played, number) for number, pair in enumerate(PAIRS)},
    )


def choose_pair(played: Sequence[Played]) -> Pair | None:
    """The two text agents of equal success whose errors lie furthest apart in opposite directions.

    They are chosen on the even seeds, so that what the odd ones say is no result of the choice.
    """
    chosen_on = _by_agent(each for each in played if each.seed % 2 == 0)
    told_by = _by_agent(each for each in played if each.seed % 2 == 1)
    if not chosen_on or not told_by:
        return None
    rates = {agent: _plain_rates(chosen_on[agent]) for agent in TEXT_AGENTS}
    best: tuple[float, str, str] | None = None
    for one in TEXT_AGENTS:
        for other in TEXT_AGENTS:
            apart = _apart(rates[one], rates[other])
            if apart is not None and (best is None or apart > best[0]):
                best = (apart, one, other)
    if best is None:
        return None
    _, explorer, exploiter = best
    one, other = told_by[explorer], told_by[exploiter]
    return Pair(
        explorer,
        exploiter,
        (AgentRow(explorer, pool(one)), AgentRow(exploiter, pool(other))),
        {
            name: _difference(count(one), count(other))
            for name, count in {
                "success": lambda each: [(int(summary.success), 1) for summary in each],
                "exploration": lambda each: [summary.lenient.explore for summary in each],
                "exploitation": lambda each: [summary.lenient.exploit for summary in each],
            }.items()
        },
    )


def _apart(one: tuple[float, float, float] | None, other: tuple[float, float, float] | None) -> float | None:
    """How far the first errs less in exploration and more in exploitation, the lesser of the two; None if it does not."""
    if one is None or other is None or abs(one[0] - other[0]) > EQUAL_SUCCESS:
        return None
    if not all(COMPARABLE[0] <= rates[0] <= COMPARABLE[1] for rates in (one, other)):
        return None
    apart = min(other[1] - one[1], one[2] - other[2])
    return apart if apart > 0 else None


def _plain_rates(summaries: Sequence[EpisodeSummary]) -> tuple[float, float, float] | None:
    totals = [sum(summary.success for summary in summaries), *_totals(summaries)]
    success, explore_errors, explore, exploit_errors, exploit = totals
    if not explore or not exploit:
        return None
    return success / len(summaries), explore_errors / explore, exploit_errors / exploit


def _totals(summaries: Sequence[EpisodeSummary]) -> tuple[int, int, int, int]:
    return (
        sum(summary.lenient.explore_errors for summary in summaries),
        sum(summary.lenient.explore_eligible for summary in summaries),
        sum(summary.lenient.exploit_errors for summary in summaries),
        sum(summary.lenient.exploit_eligible for summary in summaries),
    )


def _difference(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> Difference:
    def share(counts: Sequence[tuple[int, int]]) -> float:
        return sum(count[0] for count in counts) / max(sum(count[1] for count in counts), 1)

    return Difference(share(one) - share(other), bootstrap_difference(one, other))


def _sample(name: str, played: Sequence[Played]) -> Sample:
    by_agent = _by_agent(played)
    rows = tuple(AgentRow(agent, pool(summaries)) for agent, summaries in by_agent.items())
    return Sample(name, len({each.scenario for each in played}), rows, _fits(played, 0))


def _fits(played: Sequence[Played], pair: int) -> dict[str, Regression]:
    points: dict[str, list[Point]] = {kind: [] for kind in KINDS}
    for agent, summaries in _by_agent(played, pair).items():
        if agent == SOLVER:
            continue
        successes = sum(summary.success for summary in summaries)
        explore_errors, explore, exploit_errors, exploit = _totals(summaries)
        points["exploration"].append(Point(agent, successes, len(summaries), explore_errors, explore))
        points["exploitation"].append(Point(agent, successes, len(summaries), exploit_errors, exploit))
    return {kind: regress(points[kind]) for kind in KINDS}


def _trend(dimension: Dimension, played: Sequence[Played]) -> Trend:
    by_agent: dict[str, list[Played]] = {}
    for each in played:
        by_agent.setdefault(each.agent, []).append(each)
    members = [_levels(dimension, by_agent[agent], intervals=False) for agent in FAMILY]
    return Trend(
        dimension,
        _levels(dimension, [each for agent in FAMILY for each in by_agent[agent]]),
        {agent: _levels(dimension, by_agent[agent]) for agent in SHOWN},
        {kind: sum(_rising(_in_order(dimension, kind, levels), kind) for levels in members) for kind in KINDS},
    )


def _levels(dimension: Dimension, played: Sequence[Played], intervals: bool = True) -> tuple[Level, ...]:
    found: list[Level] = []
    for name in DEMANDS if dimension == "demand" else SIZES:
        here = [each for each in played if getattr(labels_of(each.scenario), dimension) == name]
        by_map: dict[str, list[EpisodeSummary]] = {}
        for each in here:
            by_map.setdefault(each.scenario, []).append(each.summary)
        totals = [_totals(summaries) for summaries in by_map.values()]
        errors = {"exploration": [total[:2] for total in totals], "exploitation": [total[2:] for total in totals]}
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
    figure = error_figure(counts)
    return replace(figure, method=figure.method.replace("over episodes", "over maps"))


def _in_order(dimension: Dimension, kind: str, levels: tuple[Level, ...]) -> tuple[Level, ...]:
    # The names tell the demand on exploitation; that on exploration grows the other way.
    return levels[::-1] if dimension == "demand" and kind == "exploration" else levels


def _rising(levels: Sequence[Level], kind: str) -> bool:
    values = [level.errors[kind].value for level in levels]
    return all(
        one is not None and other is not None and one < other for one, other in zip(values, values[1:], strict=False)
    )


def _by_agent(played: Iterable[Played], pair: int = 0) -> dict[str, list[EpisodeSummary]]:
    found: dict[str, list[EpisodeSummary]] = {}
    for each in played:
        found.setdefault(each.agent, []).append(each.summaries[pair])
    return found


def _figures(pooled: PooledRates) -> Json:
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

