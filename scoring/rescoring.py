"""Rescoring: what an episode's figures would be under other budgets and other k, without running anything.

The decisions are read once and handed to a scorer for each pair of alpha and k, so that memory does not grow with their
number unless they are kept.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from oresight.scoring.decisions import EpisodeSummary, ScoredDecision
from oresight.scoring.measures import Following, followed
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import Json, Outcome

_ALPHA = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_K = re.compile(r"[0-9]{1,9}")
_Value = TypeVar("_Value", int, float)


@dataclass(frozen=True)
class Settings:
    """The values of alpha and k that are asked for; where there are none, the file says or the defaults hold.

    Attributes:
        alphas: Budget multipliers, each once.
        ks: Forgiven traversals and visits, each once.
    """

    alphas: tuple[float, ...] = ()
    ks: tuple[int, ...] = ()

    @classmethod
    def parse(cls, alpha: str | None, k: str | None) -> "Settings":
        """Read both from a command line, for example "1,2,3"; None if they are not given.

        Raises:
            ValueError: One is no such list; the message is a sentence.
        """
        alphas = () if alpha is None else _values("alpha", alpha, _ALPHA, float, "numbers above 0, for example 1,2,3")
        ks = () if k is None else _values("k", k, _K, int, "whole numbers of 1 or more, for example 1,2,3")
        return cls(alphas, ks)

    def parameters(self, base: Parameters, alpha: float | None = None, k: int | None = None) -> tuple[Parameters, ...]:
        """Return the parameters for each pair, alpha by alpha.

        Args:
            base: All other parameters, and the defaults of these two.
            alpha: What the file says, or None.
            k: What the file says, or None.
        """
        alphas = self.alphas or (base.alpha if alpha is None else alpha,)
        ks = self.ks or (base.k if k is None else k,)
        return tuple(base.model_copy(update={"alpha": a, "k": b}) for a in alphas for b in ks)


@dataclass(frozen=True, slots=True)
class PairResult:
    """An episode under one alpha and one k.

    Attributes:
        alpha: Budget multiplier.
        k: Forgiven traversals and visits.
        summary: The episode in numbers.
        steps: The classified decisions; empty if they were not kept.
    """

    alpha: float
    k: int
    summary: EpisodeSummary
    steps: tuple[ScoredDecision, ...]

    def to_json(self) -> Json:
        """Return the result as plain JSON."""
        return {**self.told(), "steps": [step.to_json() for step in self.steps]}

    def told(self) -> Json:
        """Return all but the steps as plain JSON."""
        return {
            "alpha": self.alpha,
            "k": self.k,
            "outcome": str(self.summary.outcome),
            "summary": self.summary.to_json(),
        }


class Scorer(Protocol):
    """What the scorers of both worlds have in common."""

    @property
    def ended(self) -> bool:
        """Whether what follows is not scored any more."""
        ...

    def score(self, action: Any, facts: Any) -> ScoredDecision:
        """Classify the next decision."""
        ...

    def summary(self, outcome: Outcome | None = None, reason: str | None = None) -> EpisodeSummary:
        """Sum up the decisions so far."""
        ...


class Rescoring:
    """Scores one episode under several parameters at once.

    Args:
        parameters: One or more.
        make: Makes a scorer of parameters.
        keep_steps: Keep the classified decisions.
        keep_rest: Keep also the decisions after the end of what is scored.
        follow: Makes what follows the episode for measures that need every decision; needs the hashes of states.
    """

    def __init__(
        self,
        parameters: Sequence[Parameters],
        make: Callable[[Parameters], Scorer],
        *,
        keep_steps: bool,
        keep_rest: bool = True,
        follow: Callable[[], Following] | None = None,
    ) -> None:
        self._parameters = parameters
        self._scorers = [make(each) for each in parameters]
        self._steps: list[list[ScoredDecision]] = [[] for _ in parameters]
        self._keep_steps = keep_steps
        self._keep_rest = keep_rest
        self._following = [None if follow is None else follow() for _ in parameters]

    def score(
        self,
        action: str | None,
        facts: object = None,
        ticks: tuple[int, int] | None = None,
        state_hash: str | None = None,
    ) -> None:
        """Take in the next decision.

        Args:
            action: Its name, or None.
            facts: Of it.
            ticks: Where it was cut out of real-time play: the first and the last tick of its control.
            state_hash: Of the state after it, where the recording has one.
        """
        for scorer, steps, following in zip(self._scorers, self._steps, self._following, strict=True):
            counts = not scorer.ended
            step = scorer.score(action, facts)
            if counts and following is not None and action is not None and state_hash is not None:
                following.take(action, state_hash, step)
            if self._keep_steps and (self._keep_rest or counts):
                steps.append(step if ticks is None else replace(step, ticks=ticks))

    def results(self, outcome: Outcome | None, reason: str | None) -> tuple[PairResult, ...]:
        """Return the result of each, in the order of the parameters.

        Args:
            outcome: How the episode ended as recorded, or None.
            reason: Why, in words.
        """
        return tuple(
            PairResult(each.alpha, each.k, followed(scorer.summary(outcome, reason), following), tuple(steps))
            for each, scorer, steps, following in zip(
                self._parameters, self._scorers, self._steps, self._following, strict=True
            )
        )


def _values(
    name: str, text: str, form: re.Pattern[str], convert: Callable[[str], _Value], expected: str
) -> tuple[_Value, ...]:
    parts = [part.strip() for part in text.split(",")]
    values: list[_Value] = []
    for part in parts:
        if not form.fullmatch(part) or not 0 < (value := convert(part)) < math.inf:
            raise ValueError(f"{name} is {text!r} and {part!r} is no value of it; expected {expected}")
        if value in values:
            raise ValueError(f"{name} is {text!r}, where a value stands twice; give each once")
        values.append(value)
    return tuple(values)
