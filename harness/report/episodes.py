"""One episode of a report, from its recording to its page; a function of its task, fit for another process."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from oresight.harness import files
from oresight.harness.analysis.summary import summary_of
from oresight.harness.errors import OresightError
from oresight.harness.records.folder import EpisodeResult
from oresight.harness.records.scored import Story, read_story
from oresight.harness.report.conditions import (
    BOTH_ERROR,
    EXPLOIT_ERROR,
    EXPLORE_ERROR,
    GAIN,
    PROGRESS,
    UNSCORED,
    Told,
    without_place,
)
from oresight.harness.report.episode_page import Links, write_replay
from oresight.harness.report.html import render
from oresight.harness.report.pictures import PicturePlan, Pictures, find_pictures
from oresight.harness.text import visible
from oresight.scoring.core import ErrorKind
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision
from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.faults import BadInput

_ERRORS = {
    ErrorKind.EXPLORATION: EXPLORE_ERROR,
    ErrorKind.EXPLOITATION: EXPLOIT_ERROR,
    ErrorKind.BOTH: BOTH_ERROR,
}


@dataclass(frozen=True)
class EpisodeTask:
    """What is to be done for an episode.

    Attributes:
        recording: Its folder, or the file of a person's session.
        name: Its id.
        label: The condition in words.
        result: What became of it, if it ended.
        target: Where its page goes.
        index: Address of the study's page, from the page.
        previous: Address of the page before, or None.
        next: Address of the page after, or None.
        folder: Address of the recording, or None where it is not to be linked to.
        pictures: What is to be done about its pictures; None in a world without.
        parameters: Under which it is scored; the first are the ones that are shown.
    """

    recording: Path
    name: str
    label: str
    result: EpisodeResult | None
    target: Path
    index: str
    previous: str | None
    next: str | None
    folder: str | None
    pictures: PicturePlan | None
    parameters: Sequence[Parameters]


@dataclass(frozen=True)
class EpisodeDone:
    """What came of it.

    Attributes:
        told: What the recording told; None if it cannot be read.
        problems: In sentences.
        linked: Pictures that the page links to or holds.
        copied: Pictures copied.
        drawn: Pictures drawn again.
    """

    told: Told | None
    problems: tuple[str, ...] = ()
    linked: int = 0
    copied: int = 0
    drawn: int = 0


def do_episode(task: EpisodeTask) -> EpisodeDone:
    """Reads an episode, scores it, and writes its page; what is at fault with it is told, and stops nothing.

    Raises:
        OresightError: The disk refuses what is written.
    """
    files.make_folder(task.target.parent)
    try:
        story = read_story(task.recording, task.parameters)
    except (OresightError, BadInput) as error:
        page = render(
            "unread.html",
            name=visible(task.name),
            label=task.label,
            index=task.index,
            previous=task.previous,
            next=task.next,
            problem=visible(without_place(str(error), task.recording)),
        )
        files.write_atomically(task.target, page.encode(), durable=False)
        return EpisodeDone(None, (f"{task.recording}: no replay: {error}",))
    story = replace(story, notes=tuple(without_place(note, task.recording) for note in story.notes))
    problems = [f"{task.recording}: {problem}" for problem in _odds(task.result, story.summary)]
    pictures = Pictures()
    if task.pictures is not None:
        pictures = find_pictures(task.recording, len(story.steps), task.pictures)
        if pictures.problem is not None:
            problems.append(f"{task.recording}: {pictures.problem}")
    links = Links(task.label, task.index, task.previous, task.next, pictures=pictures.links, folder=task.folder)
    write_replay(story, task.target, links)
    return EpisodeDone(_told(story), tuple(problems), len(pictures.links), pictures.copied, pictures.drawn)


def mark_of(scored: ScoredDecision) -> str:
    """The letter that a decision has in the strip of its episode."""
    if not scored.scored:
        return UNSCORED
    if scored.error is not None:
        return _ERRORS[scored.error]
    return PROGRESS if scored.progress else GAIN


def _told(story: Story) -> Told:
    return Told(
        "".join(mark_of(step.scored) for step in story.steps),
        tuple(step.scored.stale for step in story.steps),
        tuple(result.summary for result in story.results),
    )


def _odds(result: EpisodeResult | None, summary: EpisodeSummary) -> list[str]:
    """Where the result and the recording do not say the same."""
    if result is None or not result.outcome.counts:
        return []
    written = summary_of(result)
    alike = all(written.readings.get(name) == tally for name, tally in summary.readings.items())
    if written.outcome == summary.outcome and alike:
        return []
    return [
        f"the result says {str(written.outcome)!r} with {written.tally.error_decisions} errors, the recording"
        f" {str(summary.outcome)!r} with {summary.tally.error_decisions}; the tables show the result"
    ]
