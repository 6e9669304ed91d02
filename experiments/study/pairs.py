"""Two agents with the same outcome and opposite errors: over all maps, and on a single one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.study.family import TEXT_AGENTS, Played
from experiments.study.rows import AgentRow, by_agent, figures_json, totals
from oresight.harness.protocols import Json
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.pooling import pool
from oresight.scoring.statistics import Counts, bootstrap_difference

# Two agents are of equal success if their rates differ by this at most, and fit for a comparison if they neither fail
# nor succeed nearly always.
EQUAL_SUCCESS = 0.02
COMPARABLE = (0.1, 0.95)
# On a single map, so many decisions of each kind make a rate that says something.
ELIGIBLE_LEAST = 10

_Rates = tuple[float, float, float]


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

    def holds(self) -> dict[str, bool]:
        """What the odd seeds confirm: an error's interval lies on its side of 0, that of success across it."""
        none = (0.0, 0.0)
        low = {name: (found.interval or none)[0] for name, found in self.differences.items()}
        high = {name: (found.interval or none)[1] for name, found in self.differences.items()}
        return {
            "success": low["success"] <= 0 <= high["success"],
            "exploration": high["exploration"] < 0,
            "exploitation": low["exploitation"] > 0,
        }

    @property
    def confirmed(self) -> bool:
        """Whether the odd seeds confirm all of it."""
        return all(self.holds().values())

    def to_json(self) -> Json:
        """Return the pair as plain JSON."""
        return {
            "explorer": self.explorer,
            "exploiter": self.exploiter,
            "agents": [{"agent": row.agent, **figures_json(row.pooled)} for row in self.rows],
            "differences": {
                name: {"value": found.value, "interval": None if found.interval is None else list(found.interval)}
                for name, found in self.differences.items()
            },
            "confirmed": self.confirmed,
        }


@dataclass(frozen=True)
class Example:
    """One map that two text agents both solve with opposite errors; the clearest case in the main suite.

    Attributes:
        scenario: The map's scenario.
        explorer: The one that errs less in exploration and more in exploitation.
        exploiter: The other one.
        summaries: Of both.
        cases: On how many maps of the main suite there are two such agents at all.
        maps: How many maps were looked at.
    """

    scenario: str
    explorer: str
    exploiter: str
    summaries: tuple[EpisodeSummary, EpisodeSummary]
    cases: int
    maps: int

    def to_json(self) -> Json:
        """Return the example as plain JSON."""
        return {
            "scenario": self.scenario,
            "explorer": self.explorer,
            "exploiter": self.exploiter,
            "summaries": [
                {"agent": agent, "steps_taken": each.steps_taken, "budget": each.budget, **each.tally.to_json()}
                for agent, each in zip((self.explorer, self.exploiter), self.summaries, strict=True)
            ],
            "maps_with_such_agents": self.cases,
            "maps": self.maps,
        }


def choose_pair(played: Sequence[Played]) -> Pair | None:
    """The two text agents of equal success whose errors lie furthest apart in opposite directions.

    They are chosen on the even seeds, so that what the odd ones say is no result of the choice.
    """
    chosen_on = by_agent(each for each in played if each.seed % 2 == 0)
    told_by = by_agent(each for each in played if each.seed % 2 == 1)
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
    first, second = told_by[explorer], told_by[exploiter]
    counts: dict[str, Callable[[EpisodeSummary], Counts]] = {
        "success": lambda summary: (int(summary.success), 1),
        "exploration": lambda summary: summary.tally.explore,
        "exploitation": lambda summary: summary.tally.exploit,
    }
    return Pair(
        explorer,
        exploiter,
        (AgentRow(explorer, pool(first)), AgentRow(exploiter, pool(second))),
        {name: _difference(list(map(count, first)), list(map(count, second))) for name, count in counts.items()},
    )


def choose_example(played: Sequence[Played]) -> Example | None:
    """The map and the two text agents that both solve it with errors furthest apart in opposite directions."""
    best: tuple[float, Played, Played] | None = None
    by_map: dict[str, list[Played]] = {}
    for each in played:
        if each.agent in TEXT_AGENTS and each.summary.success:
            by_map.setdefault(each.scenario, []).append(each)
    with_such = set()
    for scenario, solved in by_map.items():
        rates = {each.agent: _plain_rates([each.summary], least=ELIGIBLE_LEAST) for each in solved}
        for one in solved:
            for other in solved:
                apart = _opposite(rates[one.agent], rates[other.agent])
                if apart is not None:
                    with_such.add(scenario)
                    if best is None or apart > best[0]:
                        best = (apart, one, other)
    if best is None:
        return None
    _, one, other = best
    maps = len({each.scenario for each in played})
    return Example(one.scenario, one.agent, other.agent, (one.summary, other.summary), len(with_such), maps)


def _apart(one: _Rates | None, other: _Rates | None) -> float | None:
    """`_opposite`, for agents of equal success that neither fail nor succeed nearly always."""
    if one is None or other is None or abs(one[0] - other[0]) > EQUAL_SUCCESS:
        return None
    if not all(COMPARABLE[0] <= rates[0] <= COMPARABLE[1] for rates in (one, other)):
        return None
    return _opposite(one, other)


def _opposite(one: _Rates | None, other: _Rates | None) -> float | None:
    """By how much the first errs less in exploration and more in exploitation, the lesser of the two, or None."""
    if one is None or other is None:
        return None
    apart = min(other[1] - one[1], one[2] - other[2])
    return apart if apart > 0 else None


def _plain_rates(summaries: Sequence[EpisodeSummary], least: int = 1) -> _Rates | None:
    """Success and both error rates; None with fewer eligible decisions of either kind than `least`."""
    explore_errors, explore, exploit_errors, exploit = totals(summaries)
    if min(explore, exploit) < least:
        return None
    successes = sum(summary.success for summary in summaries)
    return successes / len(summaries), explore_errors / explore, exploit_errors / exploit


def _difference(one: Sequence[Counts], other: Sequence[Counts]) -> Difference:
    def share(counts: Sequence[Counts]) -> float:
        return sum(count[0] for count in counts) / max(sum(count[1] for count in counts), 1)

    return Difference(share(one) - share(other), bootstrap_difference(one, other))
