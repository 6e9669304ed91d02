"""What a model was sent with each request, made again: requests are not recorded, but follow from what is.

A context strategy is a function of the history and the current observation, both of which are in the record, so that
the messages come out the same. Pictures are told by their step; their pixels are none.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from oresight.harness.protocols import DEFAULT_BUDGET, Choice, Decision, Message, Seen, Turn
from oresight.harness.records.reader import Episode
from oresight.harness.records.resume import Shrunk
from oresight.harness.worlds import World, about, world_of_header
from oresight.scoring.readers.run_folder import run_around
from oresight.scoring.records import DecisionLine, Header

# Strategies look at no pixels.
_NO_PIXELS = np.zeros((1, 1, 3), dtype=np.uint8)


def requests_of(episode: Episode) -> Iterator[Sequence[Message]]:
    """Return the messages that were sent before each recorded decision; an episode that no model played has them too.

    Raises:
        OresightError: Its records are broken, or its world cannot be had here.
    """
    header = episode.header
    run = run_around(episode.folder)
    with_pictures = None if run is None else run.config.size is not None
    shrunk = episode.kept_replies().shrunk
    return made_again(world_of_header(header), header, episode.decisions(), shrunk, with_pictures)


def made_again(
    world: World,
    header: Header,
    lines: Iterable[DecisionLine],
    shrunk: Shrunk | None,
    with_pictures: bool | None,
) -> Iterator[Sequence[Message]]:
    """Return the messages that were sent before each of the decisions.

    Args:
        world: That was played in.
        header: Of the trajectory.
        lines: The decisions, in order.
        shrunk: When what is sent was made to shrink, and to what; None if it never was.
        with_pictures: Whether pictures were sent; None where nobody says, so that it is as usual in the world.

    Raises:
        UsageError: There is no context strategy as the header names it.
    """
    strategy = world.strategy(header.memory)
    shown = about(header.kind).pictures if with_pictures is None else with_pictures

    def messages() -> Iterator[Sequence[Message]]:
        turns: list[Turn] = []
        for line in lines:
            observed = Seen(line.observation, _NO_PIXELS if shown else None, Choice(), line.step)
            budget = DEFAULT_BUDGET if shrunk is None or line.step < shrunk.step else shrunk.budget
            yield strategy.messages(turns, observed, budget)
            turns.append(Turn(line.step, observed, Decision(line.action, line.said), line.outcome))

    return messages()
