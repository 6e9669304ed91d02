"""Conditions side by side on the episodes that all of them have, and the differences, paired by episode.

The conditions are read by `sides`. A figure stands beside its counts, and what the conditions do not share is left out
and named.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from oresight.harness.analysis.conditions import ConditionRun as ConditionRun
from oresight.harness.analysis.conditions import load_conditions as load_conditions
from oresight.harness.analysis.summary import summary_of
from oresight.harness.errors import UsageError
from oresight.harness.protocols import Json
from oresight.harness.records import folder
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.measures import table
from oresight.scoring.pooling import PooledRates, pool
from oresight.scoring.statistics import Difference, difference_of

COMPARISON_FORMAT = "oresight.comparison"
_NAMED = 5


@dataclass(frozen=True)
class Column:
    """A condition's figures over the shared episodes.

    Attributes:
        label: In words.
        pooled: Figures of all measures.
        cost: US dollars of the shared episodes together; None without a price or a model.
        differences: By the name of the measure; empty for the first condition.
    """

    label: str
    pooled: PooledRates
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
    sides: tuple[ConditionRun, ...]
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
                        "decisions_used": column.pooled["decisions_used"].value,
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


def compare(sides: Sequence[ConditionRun]) -> Comparison:
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
    summaries = [[summary_of(result, kind) for result in results] for results in chosen]
    columns = tuple(
        _column(side.label, results, summaries[0] if place else None)
        for place, (side, results) in enumerate(zip(sides, summaries, strict=True))
    )
    return Comparison(kind, tuple(sides), shared, columns, tuple(notes))


def _column(label: str, summaries: Sequence[EpisodeSummary], first: Sequence[EpisodeSummary] | None) -> Column:
    pooled = pool(summaries)
    differences = {} if first is None else _differences(summaries, first, pooled.readings)
    costs = [None if summary.usage is None else summary.usage.get("cost") for summary in summaries]
    cost = None if None in costs else sum(cost for cost in costs if cost is not None)
    return Column(label, pooled, cost, differences)


def _differences(
    summaries: Sequence[EpisodeSummary], first: Sequence[EpisodeSummary], readings: Sequence[str]
) -> dict[str, Difference]:
    """Of each measure, over the episodes for which it is defined in both conditions; without the others."""
    found: dict[str, Difference] = {}
    for measure in table():
        if measure.reading is not None and measure.reading not in readings:
            continue
        pairs = [
            (one, other)
            for summary, before in zip(summaries, first, strict=True)
            if (one := measure.counts(summary)) is not None and (other := measure.counts(before)) is not None
        ]
        if pairs:
            found[measure.name] = difference_of([one for one, _ in pairs], [other for _, other in pairs])
    return found


def _shared(sides: Sequence[ConditionRun]) -> tuple[tuple[str, ...], list[str]]:
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


def _branch_notes(sides: Sequence[ConditionRun], chosen: Sequence[Sequence[folder.EpisodeResult]]) -> list[str]:
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


def _nature(result: folder.EpisodeResult, side: ConditionRun) -> str:
    """What makes an episode the same as another: its world, its budget and how it was scored."""
    versions = {name: version for name, version in side.summary.run.versions.items() if name != "oresight"}
    parameters = sorted(result.parameters.items(), key=lambda item: item[0])
    begun = None if result.branch is None else result.branch.digest
    played = side.summary.run.config.map, sorted(versions.items()), parameters, begun
    return repr((result.scenario, result.budget, *played))


def _scenarios(name: str, sides: Sequence[ConditionRun]) -> set[str]:
    """The scenarios that are played under a name, as far as the records can be read."""
    found = [side.scenario(name) for side in sides]
    return {json.dumps(scenario, sort_keys=True) for scenario in found if scenario is not None}


def _files(side: ConditionRun) -> Json | None:
    """Which session counts for each episode, where a person has played."""
    if side.sessions is None:
        return None
    return {name: path.relative_to(side.folder).as_posix() for name, path in side.sessions.items()}


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
