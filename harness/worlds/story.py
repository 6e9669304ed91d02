"""The referee's reasoning in words, decision by decision: what was required, and why it was a gain or an error.

The scorer decides, and `harness.wording` has the short words; here the numbers behind a verdict are told as well. This
file has what the worlds share; each world's own words stand in its folder.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oresight.harness.records.scored import Story, StoryStep
from oresight.harness.worlds.segment import Parts, Segment
from oresight.scoring.core import ErrorKind
from oresight.scoring.decisions import Reading, ScoredDecision

ERRORS = {
    ErrorKind.EXPLORATION: "Exploration error",
    ErrorKind.EXPLOITATION: "Exploitation error",
    ErrorKind.BOTH: "Exploration and exploitation error",
}
_SHOWN = 6


@dataclass(frozen=True)
class Explanation:
    """A decision in words; an empty text says that there is nothing to say.

    Attributes:
        verdict: What it was.
        required: The case, and what follows from it.
        targets: What there was to go for.
        why: Why it was a gain by itself, or that it was none.
        stale: The stale score and its parts, before and after.
        patience: Scored decisions since the last progress, where there is a limit.
        strict: What the strict reading says, where there is one.
        parts: The stale score's parts after it.
    """

    verdict: str
    required: str
    targets: str
    why: str
    stale: str
    patience: str
    strict: str
    parts: Parts

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield what there is to say under its heading."""
        told = (
            ("Verdict", self.verdict),
            ("Required", self.required),
            ("Targets", self.targets),
            ("Gain", self.why),
            ("Stale score", self.stale),
            ("Patience", self.patience),
            ("Strict reading", self.strict),
        )
        return ((heading, text) for heading, text in told if text)


def verdict_of(step: StoryStep, stale_before: int, unscored: str) -> str:
    """Return what a decision was, in the first reading."""
    verdict = verdict_sentence(step.judged, stale_before, unscored)
    if step.judged.scored and not step.scored.scored:
        return f"Not counted: it was decided in the recording that this branch plays on from. There: {verdict}"
    return verdict


def verdict_sentence(scored: ScoredDecision, stale_before: int, unscored: str) -> str:
    """Return what a decision was by itself."""
    if not scored.scored:
        return unscored
    if scored.error is not None:
        return f"{ERRORS[scored.error]}: {_causes(scored.causes, scored.stale, stale_before)}."
    return "Gain and progress." if scored.progress else "Gain, without progress."


def strict_sentence(scored: ScoredDecision, strict: Reading, stale_before: int) -> str:
    """Return what the other reading says."""
    if strict.error is None:
        return "The same." if scored.error is None else "No error."
    causes = _causes(strict.causes, scored.stale, stale_before)
    if strict.error is scored.error and strict.causes == scored.causes:
        return "The same."
    return f"{ERRORS[strict.error]}: {causes}."


def stale_sentence(scored: ScoredDecision, before: Parts, after: Parts, k: int) -> str:
    """Return the stale score and what it is made of, before and after a decision."""
    if not scored.scored:
        return f"{_sum(after)}, as before: the decision is not in the segment."
    if scored.progress:
        return f"0: progress begins a new segment here (before: {_sum(before)})."
    length = f"k = {k}; the segment has {count(after.moves, 'move')} since {_since(after.since)}"
    if after == before:
        return f"{_sum(after)}, as before: the decision ended where it began and adds nothing ({length})."
    change = "unchanged" if before.stale == after.stale else f"was {_sum(before)}"
    return f"{_sum(after)}, {change} ({length})."


def listed(names: Sequence[str], of: int | None = None) -> str:
    """Return the first few of some names, and how many more there are."""
    total = len(names) if of is None else of
    shown = ", ".join(names[:_SHOWN])
    return shown if total <= min(len(names), _SHOWN) else f"{shown} and {total - min(len(names), _SHOWN)} more"


def _causes(causes: Sequence[str], stale: int, before: int) -> str:
    words = {
        "no gain": "no gain",
        "stale": f"the stale score rose from {before} to {stale}",
        "patience": "the patience is used up",
    }
    return ", ".join(words.get(cause, cause) for cause in causes)


def _sum(parts: Parts) -> str:
    return f"{parts.stale} = c {parts.cycles} + e {parts.edges} + n {parts.nodes}"


def _since(step: int) -> str:
    return f"decision {step}" if step else "the start"


def count(number: int, name: str) -> str:
    """Return a number with its noun."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def plain_words(story: Story) -> list[Explanation]:
    """Return the steps of a world without words of its own: the verdict, and the stale score where there is one."""
    segment = Segment(story.parameters.k, None, leaves_out_staying=False)
    found = []
    for step in story.steps:
        before, scored = segment.parts(), step.judged
        after = segment.take(scored)
        found.append(
            Explanation(
                verdict=verdict_of(step, before.stale, "Not judged: the error metric is not defined in this world."),
                required="" if scored.case is None else f"Case {int(scored.case)}.",
                targets="",
                why=f"Gain: {', '.join(scored.reasons)}." if scored.gain and scored.reasons else "",
                stale=stale_sentence(scored, before, after, story.parameters.k) if scored.scored else "",
                patience="",
                strict="",
                parts=after,
            )
        )
    return found
