"""A run's figures: what was planned, what became of it, and both error rates with their numerators and denominators.

Written beside the episodes as summary.json and summary.csv, and printed by the commands. The pooling itself is done by
`scoring.pooling`; only episodes that are a result are pooled, the others are counted and named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from oresight.harness.protocols import Json
from oresight.harness.records.reader import Run, State
from oresight.scoring.adapters import readings_of
from oresight.scoring.decisions import EpisodeSummary, Tally
from oresight.scoring.measures import table
from oresight.scoring.pooling import PooledRates, pool
from oresight.scoring.records import EpisodeResult, Outcome, RunFile
from oresight.scoring.statistics import EpisodeCounts, rate

SUMMARY_FORMAT = "oresight.summary"
READINGS = ("lenient", "strict")
USAGE_COUNTS = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "replies", "reasks")


@dataclass(frozen=True)
class RunSummary:
    """What became of a run's episodes.

    Attributes:
        run: What was asked.
        results: Of the episodes that ended, in planned order; infrastructure errors among them.
        standing: How the others stand that were begun: incomplete, unreadable or contradictory; what is not named here
            is missing.
    """

    run: RunFile
    results: tuple[EpisodeResult, ...]
    standing: Mapping[str, State] = field(default_factory=dict)

    @property
    def counts(self) -> EpisodeCounts:
        """How many episodes stand behind the figures, and how many do not."""
        others = list(self.standing.values())
        incomplete = others.count(State.INCOMPLETE)
        outcomes = [result.outcome for result in self.results] + [Outcome.INCOMPLETE] * incomplete
        missing = len(self.run.config.episodes) - len(self.results) - len(others)
        return EpisodeCounts.of(outcomes, unreadable=len(others) - incomplete, missing=missing)

    @property
    def complete(self) -> bool:
        """Whether every planned episode is a result."""
        return self.counts.complete

    @property
    def broken(self) -> tuple[EpisodeResult, ...]:
        """Episodes that ended in an infrastructure error; the same command plays them again."""
        return tuple(result for result in self.results if not result.outcome.counts)

    def pooled(self) -> PooledRates:
        """The figures over the episodes that are a result."""
        kind = self.run.config.world
        return pool(summary_of(result, kind) for result in self.results if result.outcome.counts)

    def tallies(self) -> dict[str, Tally]:
        """Return the counts of both errors over the episodes that are a result, by reading."""
        kind = self.run.config.world
        summaries = [summary_of(result, kind) for result in self.results if result.outcome.counts]
        found = {
            name: [each.readings[name] for each in summaries if name in each.readings] for name in readings_of(kind)
        }
        return {name: _sum(tallies) for name, tallies in found.items()}

    def usage(self) -> Json | None:
        """What all replies cost, of broken episodes too; None where no model played, cost None without a price."""
        told = [result.usage for result in self.results if result.usage is not None]
        if not told:
            return None
        total: Json = {name: sum(each.get(name, 0) for each in told) for name in USAGE_COUNTS}
        costs = [each.get("cost") for each in told]
        total["cost"] = None if None in costs else sum(costs)
        return total

    def counts_sentence(self) -> str:
        """The counts that stand beside every figure."""
        counts = self.counts
        outcomes = f"{counts.succeeded} succeeded, {counts.failed} failed"
        return (
            f"{counts.scored} of {counts.planned} episodes scored ({outcomes}),"
            f" {counts.infrastructure} broken, {counts.missing} missing"
            + (f", {counts.incomplete} incomplete" if counts.incomplete else "")
            + (f", {counts.unreadable} unreadable" if counts.unreadable else "")
        )

    def as_json(self) -> Json:
        """Content of summary.json."""
        return {
            "format": SUMMARY_FORMAT,
            "version": 1,
            "complete": self.complete,
            "counts": self.counts.to_json(),
            "pooled": self.pooled().to_json(),
            "usage": self.usage(),
            "episodes": self.rows(),
        }

    def rows(self) -> list[Json]:
        """A row for each planned episode; figures of one that is no result are None."""
        by_id = {result.id: result for result in self.results}
        return [
            _row(name, by_id.get(name), self.standing.get(name, State.MISSING)) for name in self.run.config.episodes
        ]


def summarise(
    run: RunFile, results: Sequence[EpisodeResult], standing: Mapping[str, State] | None = None
) -> RunSummary:
    """Return the summary of what has been played so far; `standing` as in `RunSummary`, missing ones left out."""
    others = {name: state for name, state in (standing or {}).items() if state is not State.MISSING}
    return RunSummary(run, tuple(results), others)


def summarise_run(run: Run) -> RunSummary:
    """Return the summary of a run as it lies on disk."""
    ended = {each.name: each.result for each in run.episodes if each.result is not None and not each.is_faulty}
    standing = {each.name: each.state for each in run.episodes if each.name not in ended}
    return summarise(run.file, list(ended.values()), standing)


def summary_of(result: EpisodeResult, kind: str | None = None) -> EpisodeSummary:
    """Return the scorer's summary as it stands in a result file; `kind` is the world's, where the caller knows it."""
    return EpisodeSummary.from_json(
        result.score, result.outcome, result.reason, result.usage, kind and readings_of(kind)
    )


def _sum(tallies: Sequence[Tally]) -> Tally:
    return Tally(**{each.name: sum(getattr(tally, each.name) for tally in tallies) for each in fields(Tally)})


def _row(name: str, result: EpisodeResult | None, standing: State) -> Json:
    row: Json = {
        "episode": name,
        "outcome": str(standing) if result is None else str(result.outcome),
        "reason": None if result is None else result.reason,
        "steps": None if result is None else result.steps,
        "budget": None if result is None else result.budget,
    }
    summary = summary_of(result) if result is not None and result.outcome.counts else None
    row["scored_decisions"] = None if summary is None else summary.scored_decisions
    for reading in READINGS:
        # A world with one reading has its counts under both names.
        told = None if summary is None or not summary.readings else summary
        tally: Tally | None = None if told is None else told.readings.get(reading, told.tally)
        for kind in ("explore", "exploit"):
            errors, eligible = (None, None) if tally is None else getattr(tally, kind)
            row[f"{reading}_{kind}_errors"] = errors
            row[f"{reading}_{kind}_eligible"] = eligible
            error = None if errors is None or eligible is None else rate(errors, eligible)
            row[f"{reading}_{'exploration' if kind == 'explore' else 'exploitation'}_error"] = error
    for measure in table():
        # The errors stand above, with their counts.
        if measure.reading is None:
            counts = None if summary is None else measure.counts(summary)
            row[measure.name] = None if counts is None else rate(*counts)
            if measure.unit.counted and not measure.proportion:
                row[f"{measure.name}_numerator"], row[f"{measure.name}_denominator"] = counts or (None, None)
    usage = {} if result is None or result.usage is None else result.usage
    for name in (*USAGE_COUNTS, "cost"):
        row[name] = usage.get(name)
    # These alone may differ between two runs of the same command.
    timing = {} if result is None else result.timing
    for name in ("seconds", "latency_s", "requests", "retries"):
        row[f"timing_{name}"] = timing.get(name)
    return row
