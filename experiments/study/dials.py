"""The study of the 3D world's dials: bundled agents over the suite `craft-dials`, and what each demand does to them.

Everything that is said of it follows from its episodes, which stand in its file: the file alone is enough to say it
again. Words and figures are made elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median_low
from typing import Literal

from pydantic import BaseModel

from experiments.study.rows import KINDS
from oresight.craftenv.scenarios.suites import scenario_names
from oresight.harness.analysis.summary import READINGS, summary_of
from oresight.harness.errors import OresightError
from oresight.harness.protocols import Json
from oresight.harness.records.folder import EpisodeResult
from oresight.harness.running.executors import make_executor
from oresight.harness.running.runner import Progress, RunPlan, run_all
from oresight.harness.worlds import World, find_worlds, own_version
from oresight.harness.worlds.base import LEVELS
from oresight.harness.worlds.craft.world import dial_levels
from oresight.scoring.statistics import (
    Counts,
    Figure,
    Interval,
    bootstrap_difference,
    figure_of,
    rate,
    success_figure,
)

SUITE = "craft-dials"
# Both demands, each named as the error that it is meant to move.
DIALS = KINDS
# Who plays, with which memory, from the one that knows nothing to the one that knows everything. Only the scout looks
# at pictures.
AGENTS = (("random", "raw"), ("scout", "raw"), ("scout", "screenshots(8)"), ("oracle", "raw"))
# With eligible decisions in fewer episodes at low or at high demand, nothing is said of a difference: a bootstrap over
# them would show their number and not chance.
EPISODES_LEAST = 5
_SIZE = (640, 480)
Verdict = Literal["grows", "falls", "not told apart", "undefined"]


class EpisodeRow(BaseModel, extra="forbid", frozen=True):
    """One episode in numbers, as it stands in the study's file.

    Attributes:
        player: Agent and memory.
        exploration: Level of exploration demand.
        exploitation: Level of exploitation demand.
        seed: Of the scenario.
        success: Whether the ores were acquired within the budget.
        steps: Decisions taken.
        budget: Decisions allowed.
        decisions_scored: Those of them that were scored.
        first_seen: The decision that discovered the first ore; None if none did.
        lenient: Exploration errors and eligible decisions, exploitation errors and eligible decisions.
        strict: The same in the strict reading.
    """

    player: str
    exploration: Literal["low", "medium", "high"]
    exploitation: Literal["low", "medium", "high"]
    seed: int
    success: bool
    steps: int
    budget: int
    decisions_scored: int
    first_seen: int | None
    lenient: tuple[int, int, int, int]
    strict: tuple[int, int, int, int]

    def level(self, dial: str) -> str:
        """Its level of one demand."""
        return self.exploration if dial == "exploration" else self.exploitation

    def counts(self, kind: str, reading: str) -> Counts:
        """Errors of one kind, and the decisions eligible for it."""
        found = self.lenient if reading == "lenient" else self.strict
        return found[:2] if kind == "exploration" else found[2:]


class DialsFile(BaseModel, extra="forbid", frozen=True):
    """dials.json, but for the figures in it, which follow from the rest.

    Attributes:
        seeds: How many seeds each setting was played with, from 0.
        levels: What the levels mean: for each demand and level its ranges.
        proofs: For each setting the lengths of its proofs, by seed.
        episodes: All of them.
    """

    format: Literal["oresight.dials"] = "oresight.dials"
    version: Literal[1] = 1
    oresight: str
    seeds: int
    levels: dict[str, dict[str, dict[str, tuple[float, float] | int]]]
    proofs: dict[str, list[int]]
    episodes: tuple[EpisodeRow, ...]

    @property
    def players(self) -> tuple[str, ...]:
        """Who played, in order."""
        return tuple(dict.fromkeys(row.player for row in self.episodes))

    def rows(self, player: str, dial: str | None = None, level: str | None = None) -> list[EpisodeRow]:
        """A player's episodes at one level of a demand, or all; in the order of the other demand, then of the seeds."""
        found = [row for row in self.episodes if row.player == player and (dial is None or row.level(dial) == level)]
        return sorted(found, key=lambda row: (*(LEVELS.index(row.level(each)) for each in DIALS), row.seed))

    def to_json(self) -> Json:
        """Return the study as plain JSON, its figures included."""
        return {
            **self.model_dump(mode="json"),
            "by_level": [
                {"player": player, "demand": dial, "level": level, **cell(self.rows(player, dial, level)).to_json()}
                for player in self.players
                for dial in DIALS
                for level in LEVELS
            ],
            "trends": [trend.to_json() for trend in all_trends(self)],
        }


@dataclass(frozen=True)
class Cell:
    """Episodes that have something in common, pooled.

    Attributes:
        success: Share of successes.
        errors: By kind and reading.
        budget_used: Mean of decisions taken / budget.
        seen: Share of episodes in which an ore was discovered.
        first_seen: By which decision an ore was discovered in half of the episodes; None if it was in fewer.
    """

    success: Figure
    errors: dict[tuple[str, str], Figure]
    budget_used: float
    seen: Figure
    first_seen: int | None

    def to_json(self) -> Json:
        """Return the figures as plain JSON."""
        return {
            "success": self.success.to_json(),
            **{f"{kind}_error_{reading}": figure.to_json() for (kind, reading), figure in self.errors.items()},
            "budget_used": self.budget_used,
            "seen": self.seen.to_json(),
            "first_seen": self.first_seen,
        }


@dataclass(frozen=True)
class Trend:
    """What a demand does to one measure of one player.

    Attributes:
        player: Who.
        measure: "exploration", "exploitation" (their errors), "success", "search" (decisions until an ore is
            discovered, all of an episode in which none is) or "decisions" (taken).
        reading: "lenient" or "strict" of an error; None for the others.
        dial: The demand that is turned.
        values: At its three levels, rates or means; None where nothing was eligible.
        episodes: How many have an eligible decision, at each level.
        difference: The last less the first.
        interval: Of the difference, 95 %; None where it is undefined or rests on too few episodes.
    """

    player: str
    measure: str
    reading: str | None
    dial: str
    values: tuple[float | None, ...]
    episodes: tuple[int, ...]
    difference: float | None
    interval: Interval | None

    @property
    def verdict(self) -> Verdict:
        """Whether the measure grows from low to high demand, beyond what chance explains."""
        if self.interval is None:
            return "undefined"
        if self.interval[0] > 0:
            return "grows"
        return "falls" if self.interval[1] < 0 else "not told apart"

    @property
    def step_by_step(self) -> bool:
        """Whether each level's value lies above the one before."""
        return all(one is not None and other is not None and one < other for one, other in pairwise(self.values))

    def to_json(self) -> Json:
        """Return the trend as plain JSON."""
        return {
            "player": self.player,
            "measure": self.measure,
            "reading": self.reading,
            "demand": self.dial,
            "values": list(self.values),
            "episodes": list(self.episodes),
            "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "verdict": self.verdict,
        }


def cell(rows: Sequence[EpisodeRow]) -> Cell:
    """Pool some episodes, at least one."""
    seen = [row.first_seen for row in rows if row.first_seen is not None]
    # Who never saw one saw it later than everybody else.
    middle = median_low([*seen, *[10**9] * (len(rows) - len(seen))])
    return Cell(
        success_figure(sum(row.success for row in rows), len(rows)),
        {
            (kind, reading): figure_of([row.counts(kind, reading) for row in rows])
            for kind in KINDS
            for reading in READINGS
        },
        fmean(row.steps / row.budget for row in rows),
        success_figure(len(seen), len(rows)),
        middle if middle in seen else None,
    )


_PLAIN = (("success", None), ("search", None), ("decisions", None))


def all_trends(file: DialsFile) -> list[Trend]:
    """Every measure of every player against each of the two demands."""
    return [
        trend(file, player, measure, reading, dial)
        for player in file.players
        for measure, reading in (*((kind, reading) for kind in KINDS for reading in READINGS), *_PLAIN)
        for dial in DIALS
    ]


def trend(file: DialsFile, player: str, measure: str, reading: str | None, dial: str) -> Trend:
    """What a demand does to one measure of one player.

    The difference is between episodes in pairs, of the same other demand and the same number of their seed.
    """
    levels = [[_counts(row, measure, reading) for row in file.rows(player, dial, level)] for level in LEVELS]
    values = tuple(rate(sum(one for one, _ in counts), sum(other for _, other in counts)) for counts in levels)
    episodes = tuple(sum(eligible > 0 for _, eligible in counts) for counts in levels)
    first, last = values[0], values[-1]
    enough = min(episodes[0], episodes[-1]) >= EPISODES_LEAST
    return Trend(
        player,
        measure,
        reading,
        dial,
        values,
        episodes,
        last - first if first is not None and last is not None else None,
        bootstrap_difference(levels[-1], levels[0]) if enough else None,
    )


def _counts(row: EpisodeRow, measure: str, reading: str | None) -> Counts:
    if reading is not None:
        return row.counts(measure, reading)
    search = row.steps if row.first_seen is None else row.first_seen
    return {"success": int(row.success), "search": search, "decisions": row.steps}[measure], 1


def play(
    seeds: int,
    work: Path,
    workers: int = 1,
    note: Callable[[str], None] = lambda words: None,
) -> DialsFile:
    """Plays everything; the same whatever the number of workers.

    Args:
        seeds: How many of each setting, from 0; those beyond the suite's own are made and proved on their first use.
        work: An empty folder for the runs.
        workers: How many processes play.
        note: Told what is being done.

    Raises:
        OresightError: No world exists for one of the seeds, an episode broke, or a run cannot be made, for example for
            want of OpenGL.
    """
    names = scenario_names(SUITE, tuple(range(seeds)))
    worlds: list[World] = []
    for name in names:
        note(f"making the worlds: {len(worlds)} of {len(names)}")
        worlds += find_worlds("craft", [name])
    plans = [
        RunPlan(agent, memory, tuple(worlds), frames="none", size=_SIZE if agent == "scout" else None)
        for agent, memory in AGENTS
    ]
    told = [(plan, work / f"{number}-{plan.agent}") for number, plan in enumerate(plans)]
    summaries = run_all(told, _Counting(len(plans) * len(worlds), note), make_executor(workers))
    broken = sum(len(summary.broken) for summary in summaries)
    if broken:
        raise OresightError(f"{broken} episodes broke, and a study needs every one; run the command again")
    return DialsFile(
        oresight=own_version(),
        seeds=seeds,
        levels=dial_levels(),
        proofs=_proofs(worlds),
        episodes=tuple(
            _row(f"{plan.agent}, {plan.memory}", result)
            for plan, summary in zip(plans, summaries, strict=True)
            for result in summary.results
        ),
    )


def _proofs(worlds: Sequence[World]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for world in worlds:
        found.setdefault("-".join(_setting(world.name)[:2]), []).append(len(world.proof()))
    return found


def _setting(scenario: str) -> tuple[str, str, int]:
    """Both demands and the seed of a scenario such as `dials-low-high-0`."""
    _, exploration, exploitation, seed = scenario.split("-")
    return exploration, exploitation, int(seed)


def _row(player: str, result: EpisodeResult) -> EpisodeRow:
    exploration, exploitation, seed = _setting(result.scenario)
    summary = summary_of(result)
    found = result.score["discoveries"]
    return EpisodeRow.model_validate(
        {
            "player": player,
            "exploration": exploration,
            "exploitation": exploitation,
            "seed": seed,
            "success": summary.success,
            "steps": summary.steps_taken,
            "budget": result.budget,
            "decisions_scored": summary.scored_decisions,
            "first_seen": min((each["step"] for each in found), default=None),
            "lenient": (*summary.tally.explore, *summary.tally.exploit),
            "strict": (*summary.readings["strict"].explore, *summary.readings["strict"].exploit),
        }
    )


class _Counting(Progress):
    """Tells how many episodes are done."""

    def __init__(self, planned: int, note: Callable[[str], None]) -> None:
        self._done, self._planned, self._note = 0, planned, note

    def finished(self, result: EpisodeResult, played: bool) -> None:
        self._done += 1
        self._note(f"playing: {self._done} of {self._planned} episodes")
