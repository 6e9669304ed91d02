"""Writes the replay page of an episode: one file that holds its data, its style and its scripts; pictures are links.

What stands on it is worked out in `words`, `views` and `sent`; the page's scripts in `assets/report` show it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from oresight.harness import files
from oresight.harness.agents.llm import judge
from oresight.harness.models.parsing import Fault
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.protocols import Json, space_of
from oresight.harness.records.scored import Story, StoryStep
from oresight.harness.report.html import render
from oresight.harness.report.pool import TEXT_CHARACTERS, TextPool
from oresight.harness.report.sent import rebuild
from oresight.harness.wording import rate_words
from oresight.harness.worlds import about
from oresight.harness.worlds.story import Explanation
from oresight.harness.worlds.view import View
from oresight.scoring.adapters import readings_of
from oresight.scoring.core import ErrorKind

NO_PICTURE = (
    "No picture of this step was kept. It can be drawn again from the recording: by oresight report with --pictures"
    " missing, or by oresight replay with --frames."
)
_ERRORS = {None: 0, ErrorKind.EXPLORATION: 1, ErrorKind.EXPLOITATION: 2, ErrorKind.BOTH: 3}


@dataclass(frozen=True)
class Links:
    """Where else a page leads; addresses are relative to it and ready for an href.

    Attributes:
        label: The condition in words.
        index: The study's page; None for a page that stands alone.
        previous: The replay before this one in the study, or None.
        next: The one after it, or None.
        pictures: Per step number the picture that the agent saw before that decision.
        no_picture: What is said where one is missing; says how to get it.
        folder: The episode's own folder, or None.
    """

    label: str = ""
    index: str | None = None
    previous: str | None = None
    next: str | None = None
    pictures: Mapping[int, str] = field(default_factory=dict)
    no_picture: str = NO_PICTURE
    folder: str | None = None


def write_replay(story: Story, target: Path, links: Links) -> None:
    """Writes the page of an episode.

    Args:
        story: The episode.
        target: The file; its folder exists.
        links: Where else it leads.

    Raises:
        StoreError: The disk refuses.
    """
    files.write_atomically(target, replay_page(story, links).encode("utf-8"), durable=False)


def replay_page(story: Story, links: Links) -> str:
    """The page of an episode, as HTML."""
    kind = story.header.kind
    view = about(kind).view(story)
    data = page_data(story, links, view)
    summary = story.summary
    return render(
        "replay.html",
        story=story,
        header=story.header,
        summary=summary,
        links=links,
        kind=kind,
        scenario=str(story.header.scenario.get("name", story.name)),
        readings=readings_of(kind),
        totals=_totals(story),
        data=data,
        view=view,
        has_pictures=about(kind).pictures,
        scripts=["replay_tools.js", view.script, "replay.js"],
    )


def page_data(story: Story, links: Links, view: View | None = None) -> Json:
    """What the page's scripts read; `view` is that of the story's world, if it is known already."""
    view = view or about(story.header.kind).view(story)
    pool = TextPool()
    told = about(story.header.kind).story(story)
    headings: list[str] = []
    steps = [
        _step(step, words, end, event)
        | _texts(pool, step.line.observation, step.line.outcome, step.line.said)
        | {"w": _words(words, pool, headings)}
        | ({"r": [_reply(record, story, pool) for record in step.replies]} if step.replies else {})
        for step, words, end, event in zip(story.steps, told, view.ends, view.events, strict=True)
    ]
    sent = rebuild(story, pool)
    return {
        "kind": story.header.kind,
        "k": story.parameters.k,
        "readings": readings_of(story.header.kind),
        "headings": headings,
        "by_a_person": story.by_a_person,
        "steps": steps,
        "nodes": view.nodes,
        "drawing": view.drawing,
        "pictures": {str(step): href for step, href in sorted(links.pictures.items())},
        "no_picture": links.no_picture,
        "has_pictures": about(story.header.kind).pictures,
        "event_names": view.event_names,
        "line": None if view.line is None else asdict(view.line),
        "leaves_out_staying": view.leaves_out_staying,
        "folder": links.folder,
        "ending": [_reply(record, story, pool) for record in story.unanswered],
        "sent": None if sent is None else sent.to_json(),
        "limit": TEXT_CHARACTERS,
        **pool.to_json(),
    }


def _step(decision: StoryStep, told: Explanation, end: int, event: int) -> Json:
    """A decision: action, case, error per reading, gain and progress, stale score and parts, node, event."""
    scored = decision.scored
    step: Json = {
        "a": decision.line.action,
        "c": 0 if scored.case is None else int(scored.case),
        "e": _ERRORS[scored.error],
        "g": 2 if decision.judged.progress else int(scored.gain),
        "t": scored.stale,
        "p": [told.parts.cycles, told.parts.edges, told.parts.nodes],
        "n": end,
    }
    if scored.strict is not None:
        step["x"] = _ERRORS[scored.strict.error]
    if event:
        step["k"] = event
    return step


def _texts(pool: TextPool, observation: str, outcome: str, said: str) -> Json:
    texts = {"o": observation, "u": outcome, "s": said}
    return {name: pool.add(text) for name, text in texts.items() if text}


def _words(told: Explanation, pool: TextPool, headings: list[str]) -> list[int]:
    """Heading and text in turns, both by number."""
    flat: list[int] = []
    for heading, text in told.rows():
        if heading not in headings:
            headings.append(heading)
        flat += (headings.index(heading), pool.add(text))
    return flat


def _reply(record: ReplyRecord, story: Story, pool: TextPool) -> Json:
    """A reply of a model: its text, how it ended, what it cost, and what was wrong with it."""
    reply = record.reply
    told: Json = {
        "text": pool.add(reply.text),
        "finish": reply.finish.value,
        "tokens": [reply.usage.input_tokens, reply.usage.output_tokens],
        "seconds": round(reply.latency_s, 2),
    }
    if reply.usage.reasoning_tokens:
        told["reasoning_tokens"] = reply.usage.reasoning_tokens
    if reply.usage.cached_tokens:
        told["cached_tokens"] = reply.usage.cached_tokens
    if reply.usage.estimated:
        told["estimated"] = True
    if reply.reasoned:
        told["reasoned"] = True
    if reply.retries:
        told["retries"] = reply.retries
    if reply.note:
        told["note"] = pool.add(reply.note)
    if record.fault is not None:
        told["fault"] = pool.add(record.fault)
        judged = judge(reply, space_of(story.header.actions))
        if isinstance(judged, Fault):
            told["reason"] = pool.add(judged.reason)
    return told


def _totals(story: Story) -> Sequence[tuple[str, tuple[str, ...]]]:
    """Per kind of error its rate in each reading, with numerator and denominator."""
    summary = story.summary
    tallies = summary.readings.values()
    return (
        ("exploration", tuple(_rate(*tally.explore) for tally in tallies)),
        ("exploitation", tuple(_rate(*tally.exploit) for tally in tallies)),
    )


def _rate(errors: int, eligible: int) -> str:
    """A rate as a table shows it: undefined is a dash."""
    return rate_words(errors, eligible) if eligible else "–"
