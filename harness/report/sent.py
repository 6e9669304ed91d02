"""The requests of a model as a replay page keeps them.

Pictures are told by their step. Requests of neighbouring steps are mostly alike: each is kept as what differs from the
one before, in lines of text that are shared, so that a page's size does not grow with the square of its steps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oresight.harness.errors import OresightError
from oresight.harness.protocols import ImagePart, Json, Message
from oresight.harness.records.requests import made_again
from oresight.harness.records.scored import Story
from oresight.harness.report.pool import TextPool
from oresight.harness.worlds import World, world_of_header

# A message begins with one of these, a picture follows as PICTURE and its step; everything else is a line of text.
_ROLES = {"system": -1, "user": -2, "assistant": -3}
_PICTURE = -4
_OWN_PROMPTS = "+own:"
# What differs from request to request may take so much of a page, in characters of JSON.
ROOM = 2_000_000


@dataclass(frozen=True)
class Sent:
    """The requests of an episode.

    Attributes:
        requests: Per decision what differs from the request before: how many entries of that one stay at its beginning
            and at its end, and the entries between. An entry is a line of text in the pool, a role, or a picture.
        note: What a reader has to know about them.
    """

    requests: tuple[tuple[int, int, list[int]], ...]
    note: str

    def to_json(self) -> Json:
        """As the page reads it."""
        return {"requests": self.requests, "note": self.note}


def rebuild(story: Story, pool: TextPool) -> Sent | None:
    """Make the requests of a model again; None where no model plays."""
    if not story.by_a_model:
        return None
    lines = [step.line for step in story.steps]
    try:
        world = world_of_header(story.header)
        made = made_again(world, story.header, lines, story.shrunk, story.with_pictures)
    except OresightError as error:
        return Sent((), f"What the model was sent cannot be made again: {error}.")
    requests: list[tuple[int, int, list[int]]] = []
    before: list[int] = []
    room = ROOM
    for messages in made:
        entries = _entries(messages, pool)
        difference = _difference(before, entries)
        room -= 8 * len(difference[2]) + 16
        if room < 0 or pool.full:
            break
        requests.append(difference)
        before = entries
    return Sent(tuple(requests), _note(story, world, len(requests) < len(lines), len(requests)))


def _entries(messages: Sequence[Message], pool: TextPool) -> list[int]:
    return [entry for message in messages for entry in _of_message(message, pool)]


def _of_message(message: Message, pool: TextPool) -> Iterator[int]:
    yield _ROLES[message.role]
    for part in message.parts:
        if isinstance(part, ImagePart):
            yield _PICTURE
            yield part.step
        else:
            for line in part.text.split("\n"):
                yield pool.add(line)


def _difference(before: Sequence[int], after: list[int]) -> tuple[int, int, list[int]]:
    most = min(len(before), len(after))
    head = 0
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail, after[head : len(after) - tail]


def _note(story: Story, world: World, cut: bool, kept: int) -> str:
    notes = [f"Made again from the record by memory {story.header.memory}; requests themselves are not recorded."]
    prompts = story.header.prompts or ""
    if _OWN_PROMPTS in prompts or prompts not in ("", world.prompts):
        notes.append(
            f"The prompts were {prompts}, which are not in the record: the instructions shown are the bundled ones."
        )
    if story.header.versions.get("oresight") != world.versions["oresight"]:
        notes.append("Another version of oresight recorded the episode, whose words may have differed.")
    if story.shrunk is not None:
        notes.append(f"At decision {story.shrunk.step} it was too long for the model and was made to shrink.")
    if cut:
        notes.append(f"Requests after decision {kept} are left out, because they would make this page too large.")
    return " ".join(notes)
