"""The referee's verdicts in words, for the live line and for the panel of a film."""

from oresight.scoring.core import Case
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision, Tally

_CASES = {
    Case.EXPLORE: "explore",
    Case.GOAL: "go for the goal",
    Case.EXPLOIT: "exploit",
    Case.EITHER: "explore or exploit",
}


def case_words(scored: ScoredDecision) -> str:
    """What was required of a decision."""
    return "not scored" if scored.case is None else f"case {int(scored.case)}: {_CASES[scored.case]}"


def verdict_words(scored: ScoredDecision) -> str:
    """What it was: an error with its kind and causes, or a gain with its kinds."""
    if not scored.scored:
        return "preparation"
    if scored.error is not None:
        return f"{scored.error} error: {', '.join(scored.causes)}"
    return f"gain: {', '.join(scored.reasons)}"


def rate_words(errors: int, eligible: int) -> str:
    """A rate with its numerator and denominator; undefined without an eligible decision."""
    return f"{errors}/{eligible} = {errors / eligible:.2f}" if eligible else "undefined (0 decisions)"


def tally_words(tally: Tally) -> tuple[str, str]:
    """Exploration and exploitation error of one reading."""
    return rate_words(*tally.explore), rate_words(*tally.exploit)


def readings(kind: str) -> tuple[str, ...]:
    """The readings that a kind of world has; the grid has but one, which stands where the lenient one does."""
    return ("lenient",) if kind == "grid" else ("lenient", "strict")


def rates_so_far(summary: EpisodeSummary) -> tuple[tuple[str, str, str], ...]:
    """Per kind of error its name and its rate in the lenient and in the strict reading, if the world has that one."""
    lenient = tally_words(summary.tally)
    strict = tally_words(summary.readings["strict"]) if "strict" in summary.readings else ("", "")
    return ("exploration", lenient[0], strict[0]), ("exploitation", lenient[1], strict[1])
