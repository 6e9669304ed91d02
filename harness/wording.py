"""The referee's verdicts in words, for the live line and for the panel of a film."""

from oresight.scoring.core import Case
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision, Tally
from oresight.scoring.measures import Measure, table
from oresight.scoring.statistics import Difference, Figure

UNDEFINED = "–"

_CASES = {
    Case.EXPLORE: "explore",
    Case.GOAL: "go for the goal",
    Case.EXPLOIT: "exploit",
    Case.EITHER: "explore or exploit",
}


def case_words(scored: ScoredDecision) -> str:
    """Return what was required of a decision."""
    return "not scored" if scored.case is None else f"case {int(scored.case)}: {_CASES[scored.case]}"


def verdict_words(scored: ScoredDecision) -> str:
    """Return what it was: an error with its kind and causes, or a gain with its kinds."""
    if not scored.scored:
        return "preparation"
    if scored.error is not None:
        return f"{scored.error} error: {', '.join(scored.causes)}"
    return f"gain: {', '.join(scored.reasons)}"


def rate_words(errors: float, eligible: float) -> str:
    """Return a rate with its numerator and denominator; undefined without an eligible decision."""
    return f"{errors:g}/{eligible:g} = {errors / eligible:.2f}" if eligible else "undefined (0 decisions)"


def figure_words(measure: Measure, figure: Figure) -> str:
    """Return a figure with its interval; a figure of counts with its counts."""
    if figure.value is None:
        return rate_words(0, 0) if measure.unit.counted else UNDEFINED
    words = measure.unit.words(figure.value)
    if measure.unit.counted:
        words = f"{figure.numerator:g}/{figure.denominator:g} = {words}"
    return words if figure.interval is None else f"{words} [{', '.join(map(measure.unit.words, figure.interval))}]"


def difference_words(measure: Measure, difference: Difference | None) -> str:
    """Return a difference with its interval."""
    if difference is None or difference.value is None:
        return UNDEFINED
    value, *ends = (measure.unit.words(each, signed=True) for each in (difference.value, *(difference.interval or ())))
    return f"{value} [{', '.join(ends)}]" if ends else value


def told_of_episodes(reading: str | None) -> list[Measure]:
    """Return the measures that fit a line about an episode: ratios of counts, in one reading or without any."""
    return [
        measure
        for measure in table()
        if measure.unit.counted and not measure.proportion and measure.reading in (None, reading)
    ]


def episode_words(summary: EpisodeSummary) -> list[str]:
    """Return the end of such a line: these measures in the default reading; the score where there are none."""
    measures = told_of_episodes(next(iter(summary.readings), None))
    told = [
        f"{measure.title} {rate_words(*counts)}"
        for measure in measures
        if (counts := measure.counts(summary)) is not None
    ]
    return told if summary.readings or summary.score is None else [f"score {summary.score:.2f}", *told]


def tally_words(tally: Tally) -> tuple[str, str]:
    """Exploration and exploitation error of one reading."""
    return rate_words(*tally.explore), rate_words(*tally.exploit)


def rates_so_far(summary: EpisodeSummary) -> tuple[tuple[str, str, str], ...]:
    """Per kind of error its name and its rate in the lenient and in the strict reading, if the world has that one."""
    lenient = tally_words(summary.tally)
    strict = tally_words(summary.readings["strict"]) if "strict" in summary.readings else ("", "")
    return ("exploration", lenient[0], strict[0]), ("exploitation", lenient[1], strict[1])
