"""Scores an episode that plays on from a decision of a recorded one: what was decided before is not counted.

The world's scorer is handed those decisions like all others, since what was seen, entered and tried before the branch
point decides what is a gain after it. Rates, decisions, discoveries and budget are those of the branch alone: of
the decisions after the branch point, and of what was left of the budget there. How much was acquired, and with it
success, is a matter of the whole episode.

Free preparations right before the branch point are judged together with the branch's first scored decision, as they are
in any episode.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from oresight.scoring.decisions import LENIENT, STRICT, EpisodeSummary, ScoredDecision, Tally
from oresight.scoring.records import Branch, Outcome
from oresight.scoring.rescoring import Scorer


class BranchScorer:
    """Scores the decisions of a branch, with the recorded ones before it.

    Args:
        inner: Scores an episode of this world from its start.
        at: How many decisions were recorded before.
    """

    def __init__(self, inner: Scorer, at: int) -> None:
        self._inner = inner
        self._at = at
        self._scored = 0
        self._readings: dict[str, Tally] = {}

    @property
    def ended(self) -> bool:
        """Whether what follows is not scored any more."""
        return self._inner.ended

    def score(self, action: Any, facts: Any) -> ScoredDecision:
        """Classify the next decision; one before the branch point is not scored here, but in its own recording."""
        scored = self._inner.score(action, facts)
        if scored.step <= self._at:
            return ScoredDecision.unscored(scored.step, scored.action, scored.stale)
        if scored.case is not None:
            self._scored += 1
            self._tally(LENIENT).add(scored.case, scored.error)
            if scored.strict is not None:
                self._tally(STRICT).add(scored.case, scored.strict.error)
        return scored

    def summary(self, outcome: Outcome | None = None, reason: str | None = None) -> EpisodeSummary:
        """Sum up the branch's own decisions so far."""
        whole = self._inner.summary(outcome, reason)
        return replace(
            whole,
            readings={name: self._tally(name) for name in whole.readings},
            decisions=max(0, whole.decisions - self._at),
            scored_decisions=self._scored,
            steps_taken=max(0, whole.steps_taken - self._at),
            budget=None if whole.budget is None else max(0, whole.budget - self._at),
            details={name: self._own(value) for name, value in whole.details.items()},
        )

    def _tally(self, reading: str) -> Tally:
        return self._readings.setdefault(reading, Tally())

    def _own(self, told: Any) -> Any:
        """Return what is reported of the whole episode, without events before the branch point."""
        if not isinstance(told, list):
            return told
        return [each for each in told if not isinstance(each, dict) or each.get("step", math.inf) > self._at]


def after_branch(scorer: Scorer, header: Mapping[str, Any]) -> Scorer:
    """Return a scorer for the episode of a trajectory's header: the same one, unless the episode is a branch."""
    branch = header.get("branch")
    return scorer if branch is None else BranchScorer(scorer, Branch.model_validate(branch).at)
