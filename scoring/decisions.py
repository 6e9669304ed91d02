"""What scoring yields, whatever the world: a classified decision, the tally of a reading, an episode's summary.

All of it turns into plain JSON with `to_json`. Numerator and denominator are kept; what a rate makes of them, None
where nothing is eligible, stands in `measures`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from oresight.scoring.core import Case, ErrorKind, Verdict
from oresight.scoring.records import Json, Outcome, ScoreRecord

ERROR_KINDS = ("exploration", "exploitation")
# The readings of the error metric; a world has both, the lenient one alone, or none.
LENIENT, STRICT = "lenient", "strict"
# A place among which a decision ends: the world's own, and comparable.
Node = str | int | tuple[str | int, ...]


@dataclass(frozen=True)
class Reading:
    """The other reading of a decision: whether it is a gain there, whose error, and why it is one."""

    gain: bool
    error: ErrorKind | None
    causes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredDecision:
    """One classified decision; the lenient reading is flat, the strict one beside it.

    Attributes:
        step: Number of the decision, from 1.
        action: Its name; None for no move, which the grid has.
        scored: False for a free preparation and for what follows the end; `case` and `strict` are then None.
        case: From the state before the decision.
        gain: It was a gain.
        progress: It was progress.
        stale: The stale score after it.
        error: Whom the error is attributed to, or None.
        causes: Why it is an error: "no gain", "stale", "patience".
        reasons: Why it is a gain, for example "position", "view", "ore", "target", "nearer", "repositioning".
        node: The node on which it ended, as the world names it; None if not scored.
        strict: The strict reading; None if not scored or if the world has but one reading.
        ticks: Where it was cut out of real-time play: the first and the last tick of its control.
    """

    step: int
    action: str | None
    scored: bool
    case: Case | None
    gain: bool
    progress: bool
    stale: int
    error: ErrorKind | None
    causes: tuple[str, ...]
    reasons: tuple[str, ...]
    node: Node | None
    strict: Reading | None
    ticks: tuple[int, int] | None = None

    @classmethod
    def of(
        cls,
        step: int,
        action: str | None,
        verdict: Verdict,
        reasons: tuple[str, ...],
        node: Node,
        strict_gain: bool | None = None,
    ) -> Self:
        """Make a scored decision from its verdict; `strict_gain` is None in a world with one reading."""
        strict = None
        if strict_gain is not None:
            strict_error = verdict.error_if(strict_gain)
            strict = Reading(strict_gain, strict_error, causes_of(verdict, strict_gain, strict_error))
        return cls(
            step=step,
            action=action,
            scored=True,
            case=verdict.case,
            gain=verdict.gain,
            progress=verdict.progress,
            stale=verdict.stale,
            error=verdict.error,
            causes=causes_of(verdict, verdict.gain, verdict.error),
            reasons=reasons,
            node=node,
            strict=strict,
        )

    @classmethod
    def unscored(cls, step: int, action: str | None, stale: int) -> Self:
        """Make a decision without case, denominator or node; `stale` is the score as it stood."""
        return cls(step, action, False, None, False, False, stale, None, (), (), None, None)

    def to_json(self) -> Json:
        """Return the decision as plain JSON."""
        told = {} if self.ticks is None else {"ticks": list(self.ticks)}
        return {
            "step": self.step,
            "action": self.action,
            **told,
            "scored": self.scored,
            "case": None if self.case is None else int(self.case),
            "gain": self.gain,
            "progress": self.progress,
            "stale": self.stale,
            "error": self.error and str(self.error),
            "causes": list(self.causes),
            "reasons": list(self.reasons),
            "node": list(self.node) if isinstance(self.node, tuple) else self.node,
            "strict": None
            if self.strict is None
            else {
                "gain": self.strict.gain,
                "error": self.strict.error and str(self.strict.error),
                "causes": list(self.strict.causes),
            },
        }


def causes_of(verdict: Verdict, gain: bool, error: ErrorKind | None) -> tuple[str, ...]:
    """Return why a decision is an error under a reading in which it is a gain or not; nothing if it is none."""
    if error is None:
        return ()
    found = {"no gain": not gain, "stale": verdict.stale_rose, "patience": verdict.impatient}
    return tuple(name for name, holds in found.items() if holds)


@dataclass(slots=True)
class Tally:
    """Errors and eligible decisions of one reading; numerators and denominators of both rates."""

    explore_errors: int = 0
    explore_eligible: int = 0
    exploit_errors: int = 0
    exploit_eligible: int = 0
    error_decisions: int = 0

    def add(self, case: Case, error: ErrorKind | None) -> None:
        """Count one scored decision."""
        wrong = error is not None
        self.error_decisions += wrong
        if case.explore_eligible:
            self.explore_eligible += 1
            self.explore_errors += wrong
        if case.exploit_eligible:
            self.exploit_eligible += 1
            self.exploit_errors += wrong

    def counts(self, kind: str) -> tuple[int, int]:
        """Errors of a kind, which is one of `ERROR_KINDS`, and the decisions eligible for it."""
        return {"exploration": self.explore, "exploitation": self.exploit}[kind]

    @property
    def explore(self) -> tuple[int, int]:
        """Errors attributed to exploration, and the decisions eligible for it."""
        return self.explore_errors, self.explore_eligible

    @property
    def exploit(self) -> tuple[int, int]:
        """Errors attributed to exploitation, and the decisions eligible for it."""
        return self.exploit_errors, self.exploit_eligible

    def to_json(self) -> Json:
        """Return the counts as plain JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """An episode in numbers.

    Attributes:
        outcome: How it ended under the budget that was scored.
        reason: Why, in words, where the outcome does not say it all.
        readings: The counts of each reading of the error metric by its name, the default one first; empty in a world
            for which the metric is not defined.
        decisions: All recorded decisions.
        scored_decisions: Those that were scored.
        steps_taken: Decisions up to success or the budget.
        budget: The full budget that was scored, in decisions; None where there was none.
        score: How much of the task was done, from 0 to 1; None where there was no task.
        details: What a world tells beside, as JSON. Its lists of objects with a `step` are events of that decision.
        measured: Numerator and denominator of the measures that followed the episode, by their names.
        usage: What a model's replies cost, where one played; it stands beside the score in a result file.
    """

    outcome: Outcome
    reason: str | None
    readings: Mapping[str, Tally]
    decisions: int
    scored_decisions: int
    steps_taken: int
    budget: int | None
    score: float | None = None
    details: Json = field(default_factory=dict)
    measured: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    usage: Json | None = None

    @classmethod
    def from_json(
        cls,
        score: Mapping[str, Any],
        outcome: Outcome,
        reason: str | None,
        usage: Json | None = None,
        readings: Sequence[str] | None = None,
    ) -> Self:
        """Return the summary that stands in a result file.

        Args:
            score: What `to_json` returned, in this version or an earlier one.
            outcome: The outcome of the result.
            reason: Its reason.
            usage: Its usage.
            readings: Those of the world, for records from before they were named: a world with one told it twice.

        Raises:
            pydantic.ValidationError: It is no summary.
        """
        record = ScoreRecord.model_validate(score)
        names = record.names if record.readings is not None or readings is None else readings
        return cls(
            outcome=outcome,
            reason=reason,
            readings={name: Tally(**record.tallies[name].model_dump()) for name in names},
            decisions=record.decisions,
            scored_decisions=record.scored_decisions,
            steps_taken=record.steps_taken,
            budget=record.budget,
            score=record.share,
            details=record.details,
            measured=record.measures,
            usage=usage,
        )

    @property
    def success(self) -> bool:
        """Whether the episode reached its goal within the budget."""
        return self.outcome is Outcome.SUCCESS

    @property
    def tally(self) -> Tally:
        """The counts of the default reading; nothing is eligible where the metric is not defined."""
        return next(iter(self.readings.values()), Tally())

    def to_json(self) -> Json:
        """Return the summary as plain JSON: the default reading's counts flat, and every reading by its name."""
        tallies = {name: tally.to_json() for name, tally in self.readings.items()}
        # Earlier versions read both names.
        twin = {STRICT: tallies[LENIENT]} if list(tallies) == [LENIENT] else {}
        measured = {"measures": {name: list(counts) for name, counts in self.measured.items()}} if self.measured else {}
        return {
            "outcome": str(self.outcome),
            "reason": self.reason,
            "success": self.success,
            "score": self.score,
            **next(iter(tallies.values()), {}),
            "steps_taken": self.steps_taken,
            "budget": self.budget,
            "decisions": self.decisions,
            "scored_decisions": self.scored_decisions,
            **self.details,
            "readings": list(tallies),
            **tallies,
            **twin,
            **measured,
        }


def outcome_of(recorded: Outcome | None, *, success: bool, budget_spent: bool) -> Outcome:
    """Return how an episode ended under the budget that is scored.

    Args:
        recorded: As written down by whoever played it; None if nobody knows.
        success: The goal was reached within the budget.
        budget_spent: The decisions fill the budget.
    """
    # An infrastructure error is no result under any cut, so that all cuts speak of the same episodes.
    if recorded in (Outcome.INFRASTRUCTURE, Outcome.INCOMPLETE):
        return recorded
    if success:
        return Outcome.SUCCESS
    if budget_spent:
        return Outcome.BUDGET_SPENT
    return recorded if recorded in (Outcome.AGENT_ENDED, Outcome.WORLD_ENDED) else Outcome.INCOMPLETE
