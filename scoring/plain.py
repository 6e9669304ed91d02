"""Scores episodes of a world for which the error metric is not defined: success, score and budget, and no cases."""

from collections.abc import Mapping
from typing import Any

from oresight.scoring.decisions import EpisodeSummary, ScoredDecision, outcome_of
from oresight.scoring.records import Outcome


class PlainScorer:
    """Follows one episode by what its facts say of the task; decisions are counted and not classified.

    A decision's facts may hold `score`, how much of the task is done (a number from 0 to 1), and `success`, whether
    it is done. Where they never say so, the recorded outcome does.

    Args:
        budget: Decisions allowed; None where there is no limit.
    """

    def __init__(self, budget: int | None) -> None:
        self.budget = budget
        self._decisions = 0
        self._steps_taken = 0
        self._score: float | None = None
        self._success: bool | None = None

    @property
    def ended(self) -> bool:
        """Whether what follows is not scored any more."""
        return self._success is True or (self.budget is not None and self._steps_taken >= self.budget)

    def score(self, action: str | None, facts: Mapping[str, Any] | None) -> ScoredDecision:
        """Take in the next decision.

        Raises:
            ValueError: The facts' score or success is none.
        """
        self._decisions += 1
        if not self.ended:
            self._steps_taken += 1
            self._take_in(facts or {})
        return ScoredDecision.unscored(self._decisions, action, 0)

    def summary(self, outcome: Outcome | None = None, reason: str | None = None) -> EpisodeSummary:
        """Sum up the decisions so far.

        Args:
            outcome: How the episode ended as recorded by whoever played it; None if nobody knows.
            reason: Why, in words.
        """
        success = outcome is Outcome.SUCCESS if self._success is None else self._success
        spent = self.budget is not None and self._steps_taken >= self.budget
        return EpisodeSummary(
            outcome=outcome_of(outcome, success=success, budget_spent=spent),
            reason=reason,
            readings={},
            decisions=self._decisions,
            scored_decisions=0,
            steps_taken=self._steps_taken,
            budget=self.budget,
            score=float(success) if self._score is None else self._score,
        )

    def _take_in(self, facts: Mapping[str, Any]) -> None:
        score, success = facts.get("score"), facts.get("success")
        if score is not None:
            if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
                raise ValueError(f"facts.score is {score!r}; expected a number from 0 to 1")
            self._score = float(score)
        if success is not None:
            if not isinstance(success, bool):
                raise ValueError(f"facts.success is {success!r}; expected true or false")
            self._success = success
