"""A person's row of the calibration table: of what was recorded, what can stand beside the agents.

The table is `calibrate`'s business; which session of a scenario counts is `people`'s.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from oresight.harness.analysis.summary import summary_of
from oresight.harness.errors import UsageError
from oresight.harness.records.people import Played
from oresight.harness.worlds import World
from oresight.scoring.decisions import EpisodeSummary

# What a row may be called, so that no name breaks a table.
_NO_NAME = re.compile(r"[^\w .-]")

HOW_TO = """People stand here beside the agents where they have recorded their play; the project comes with no
recordings. For a row of your own play the suite's scenarios, outcrop, valley and cave with 0, 1 and 2 each, once and
into a folder of its own, and measure the table with them:

    oresight play --scenario outcrop-0 --record recordings/me/outcrop-0
    python -m experiments.calibration --sessions recordings/me --out .

`--sessions` is given once a person. Play in real time is cut into decisions, see [recordings.md](recordings.md). A
session that was left early is a failure, one that broke off is no result, and of several of one scenario the first
one counts.
"""


@dataclass(frozen=True)
class Person:
    """What is measured of a person.

    Attributes:
        name: As it stands in the table.
        summaries: Of the sessions that count.
        notes: What is wrong with the others, and what else is to be known, in sentences.
    """

    name: str
    summaries: tuple[EpisodeSummary, ...]
    notes: tuple[str, ...]


def person_of(played: Played, worlds: Sequence[World]) -> Person:
    """Chooses the sessions in the worlds that the agents play too.

    Raises:
        UsageError: There is none with a result.
    """
    known = {world.name: world for world in worlds}
    same = {name for name in played.files if name in known and played.scenarios[name] == known[name].scenario}
    counting = [result for result in played.results if result.id in same and result.outcome.counts]
    if not counting:
        reason = next(iter((*played.faults, *played.notes)), "they are of other scenarios")
        raise UsageError(
            f"{played.name}: no session has a result in a scenario that the agents play ({reason}); record one, for"
            f" example: oresight play --scenario {worlds[0].name} --record recordings/me/{worlds[0].name}"
        )
    notes = [*played.faults, *played.notes]
    if others := sorted(set(played.files) - same):
        notes.append(f"no scenarios that the agents play, and left out: {', '.join(others)}")
    sessions = f"{len(counting)} session{'' if len(counting) == 1 else 's'}"
    return Person(
        f"person {_NO_NAME.sub('_', played.name)}, {sessions}",
        tuple(summary_of(result) for result in counting),
        tuple(f"{played.name}: {note}" for note in notes),
    )
