"""Conditions side by side on the episodes that all of them have, and the differences, paired by episode.

The conditions are read by `sides`. A figure stands beside its counts, and what the conditions do not share is left out
and named.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oresight.harness.analysis.conditions import Side as Side
from oresight.harness.analysis.conditions import load_sides as load_sides
from oresight.harness.analysis.summary import summary_of
from oresight.harness.errors import UsageError
from oresight.harness.protocols import Json
from oresight.harness.records import folder
from oresight.harness.wording import readings
from oresight.scoring.decisions import ERROR_KINDS, EpisodeSummary
from oresight.scoring.statistics import RESAMPLES, SEED, Counts, Interval, PooledRates, bootstrap_difference, pool

COMPARISON_FORMAT = "oresight.comparison"
METHOD = f"paired bootstrap over episodes, {RESAMPLES} resamples, seed {SEED}, 95 %"
_MILLION = 1_000_000
_NAMED = 5


@dataclass(frozen=True)
class Difference:
    """A condition minus the first one.

    Attributes:
        value: None where one of the two is undefined.
        interval: Of 95 %, or None where there is none.
        n: Pairs of episodes.
    """

    value: float | None
    interval: Interval | None
    n: int

    def to_json(self) -> Json:
        """As a JSON object."""
        interval = None if self.interval is None else list(self.interval)
        return {"value": self.value, "interval": interval, "method": METHOD, "n": self.n}


@dataclass(frozen=True)
class Column:
    """A condition's figures over the shared episodes.

    Attributes:
        label: In words.
        pooled: Success, errors in both readings.
        decisions: Mean number of decisions used.
        cost: US dollars of the shared episodes together; None without a price or a model.
        differences: By the name of the measure; empty for the first condition.
    """

    label: str
    pooled: PooledRates
    decisions: float
    cost: float | None
    differences: dict[str, Difference]


@dataclass(frozen=True)
class Comparison:
    """All conditions.

    Attributes:
        kind: Of the world.
        sides: As they were found.
        shared: Ids of the episodes that all have a result of.
        columns: A condition each, in the same order.
        notes: What a reader has to know, in sentences.
    """

    kind: str
    sides: tuple[Side, ...]
    shared: tuple[str, ...]
    columns: tuple[Column, ...]
    notes: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every condition has a result of every episode that it planned."""
        return all(side.summary.complete and not side.unreadable for side in self.sides)

    def to_json(self) -> Json:
        """As a JSON object."""
        return {
            "format": COMPARISON_FORMAT,
            "version": 1,
            "world": self.kind,
            "complete": self.complete,
            "same_episodes": all(set(side.scored) == set(self.shared) for side in self.sides),
            "shared_episodes": list(self.shared),
            "notes": list(self.notes),
            "conditions": [
                {
                    "label": column.label,
                    "agent": side.summary.run.config.agent,
                    "memory": side.summary.run.config.memory,
                    "prompts": side.summary.run.config.prompts,
                    "sessions": _files(side),
                    "counts": side.summary.counts.to_json(),
                    "shared": {
                        "episodes": len(self.shared),
                        **column.pooled.to_json(),
                        "decisions_used": column.decisions,
                        "cost": column.cost,
                    },
                    "difference_from_first": {name: each.to_json() for name, each in column.differences.items()},
                }
                for side, column in zip(self.sides, self.columns, strict=True)
            ],
        }

    def rows(self) -> list[Json]:
        """A row for each planned episode of each condition."""
        return [
            {"condition": side.label, "shared": row["episode"] in self.shared, **row}
            for side in self.sides
            for row in side.summary.rows()
        ]


def compare(sides: Sequence[Side]) -> Comparison:
    """Sets conditions side by side.

    Raises:
        UsageError: There are fewer than two, they are of different worlds, or they share no episode.
    """
    if len(sides) < 2:
        raise UsageError(f"a comparison needs two or more conditions; found {len(sides)}")
    kinds = {side.summary.run.config.world for side in sides}
    if len(kinds) > 1:
        raise UsageError(f"runs in {' and '.join(sorted(kinds))} cannot be compared; give runs in the same world")
    (kind,) = kinds
    shared, notes = _shared(sides)
    if not shared:
        raise UsageError(f"the conditions share no episode with a result ({'; '.join(notes)}); nothing to compare")
    chosen = [[side.scored[name] for name in shared] for side in sides]
    notes += _branch_notes(sides, chosen)
    columns = tuple(
        _column(side.label, results, chosen[0] if place else None, kind)
        for place, (side, results) in enumerate(zip(sides, chosen, strict=True))
    )
    return Comparison(kind, tuple(sides), shared, columns, tuple(notes))


def measures(kind: str) -> dict[str, Callable[[EpisodeSummary], Counts]]:
    """What is compared, by name: of each episode a numerator and a denominator."""
    found: dict[str, Callable[[EpisodeSummary], Counts]] = {"success": lambda summary: (int(summary.success), 1)}
    for error in ERROR_KINDS:
        for reading in readings(kind):
            found[f"{error}_error_{reading}"] = _counts_of(reading, error)
    found["decisions_used"] = lambda summary: (summary.steps_taken, 1)
    return found


def _counts_of(reading: str, error: str) -> Callable[[EpisodeSummary], Counts]:
    def counts(summary: EpisodeSummary) -> Counts:
        return summary.readings[reading].counts(error)

    return counts


def _column(
    label: str, results: Sequence[folder.EpisodeResult], first: Sequence[folder.EpisodeResult] | None, kind: str
) -> Column:
    summaries = [summary_of(result) for result in results]
    costs = [_cost(result) for result in results]
    known = [cost for cost in costs if cost is not None]
    differences: dict[str, Difference] = {}
    if first is not None:
        before = [summary_of(result) for result in first]
        for name, counts in measures(kind).items():
            differences[name] = _difference(list(map(counts, summaries)), list(map(counts, before)))
        others = [_cost(result) for result in first]
        if None not in costs and None not in others:
            per_episode = _difference(_money(costs), _money(others))
            differences["cost_per_episode"] = Difference(
                None if per_episode.value is None else per_episode.value / _MILLION,
                None
                if per_episode.interval is None
                else (per_episode.interval[0] / _MILLION, per_episode.interval[1] / _MILLION),
                per_episode.n,
            )
    return Column(
        label,
        pool(summaries),
        sum(summary.steps_taken for summary in summaries) / len(summaries),
        sum(known) if len(known) == len(costs) else None,
        differences,
    )


def _cost(result: folder.EpisodeResult) -> float | None:
    cost = None if result.usage is None else result.usage.get("cost")
    return float(cost) if isinstance(cost, int | float) else None


def _money(costs: Sequence[float | None]) -> list[Counts]:
    """In millionths of a dollar, since counts are whole."""
    return [(round((cost or 0.0) * _MILLION), 1) for cost in costs]


def _difference(one: list[Counts], other: list[Counts]) -> Difference:
    values = []
    for counts in (one, other):
        numerator, denominator = (sum(each[place] for each in counts) for place in (0, 1))
        values.append(numerator / denominator if denominator else None)
    if values[0] is None or values[1] is None:
        return Difference(None, None, len(one))
    return Difference(values[0] - values[1], bootstrap_difference(one, other), len(one))


def _shared(sides: Sequence[Side]) -> tuple[tuple[str, ...], list[str]]:
    """Ids of the episodes that all sides have a result of and that are the same, and what to say of the rest."""
    notes: list[str] = []
    scored = [side.scored for side in sides]
    common = [name for name in scored[0] if all(name in each for each in scored)]
    natures = {
        name: {_nature(results[name], side) for results, side in zip(scored, sides, strict=True)} for name in common
    }
    # Runs are made from scenarios by their names; what a session was recorded in, the session alone says.
    by_record = any(side.is_person for side in sides)
    differing = [name for name in common if len(natures[name]) > 1 or (by_record and len(_scenarios(name, sides)) > 1)]
    shared = tuple(name for name in common if name not in differing)
    for side, results in zip(sides, scored, strict=True):
        counts = side.summary.counts
        if counts.scored < counts.planned:
            notes.append(f"{side.label} is incomplete: {side.summary.counts_sentence()}")
        if alone := [name for name in results if name not in common]:
            notes.append(f"{side.label} has {len(alone)} episodes that not all have: {_some(alone)}")
        notes += [*side.unreadable, *side.notes]
    if differing:
        notes.append(f"{len(differing)} episodes are of one name but not the same, and left out: {_some(differing)}")
    if len(shared) < max(len(results) for results in scored):
        notes.append(f"the sets differ: compared on the {len(shared)} episodes that all conditions have a result of")
    return shared, notes


def _branch_notes(sides: Sequence[Side], chosen: Sequence[Sequence[folder.EpisodeResult]]) -> list[str]:
    """What to say of branches: what is counted, and where rollouts are no observations of their own."""
    branches = [result for result in chosen[0] if result.branch is not None]
    if not branches:
        return []
    points = {_branch_point(result) for result in branches}
    notes = [
        f"branches (so many: {len(branches)}; points that they play on from: {len(points)}): counted are the decisions"
        " after the branch point, and the budget is what was left there"
    ]
    for side, results in zip(sides, chosen, strict=True):
        own = [(_branch_point(result), result.branch.decided) for result in results if result.branch is not None]
        alike = len(own) - len(set(own))
        if alike:
            notes.append(
                f"{side.label}: {alike} of {len(own)} branches took the very decisions of another rollout from their"
                " point; unless that is chance they tell nothing more, and the intervals are too narrow"
            )
    return notes


def _branch_point(result: folder.EpisodeResult) -> tuple[str, int, str]:
    assert result.branch is not None
    return result.scenario, result.branch.at, result.branch.digest


def _nature(result: folder.EpisodeResult, side: Side) -> str:
    """What makes an episode the same as another: its world, its budget and how it was scored."""
    versions = {name: version for name, version in side.summary.run.versions.items() if name != "oresight"}
    parameters = sorted(result.parameters.items(), key=lambda item: item[0])
    begun = None if result.branch is None else result.branch.digest
    played = side.summary.run.config.map, sorted(versions.items()), parameters, begun
    return repr((result.scenario, result.budget, *played))


def _scenarios(name: str, sides: Sequence[Side]) -> set[str]:
    """The scenarios that are played under a name, as far as the records can be read."""
    found = [side.scenario(name) for side in sides]
    return {json.dumps(scenario, sort_keys=True) for scenario in found if scenario is not None}


def _files(side: Side) -> Json | None:
    """Which session counts for each episode, where a person has played."""
    if side.sessions is None:
        return None
    return {name: path.relative_to(side.folder).as_posix() for name, path in side.sessions.items()}


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
