"""Films an episode: plays its record again and draws the world between decisions, with the referee beside the picture.

`replay` runs the world, `video` encodes and draws the panel; this file decides what is on screen when.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from oresight.harness.errors import Outcome, RecordError
from oresight.harness.film.video import BAD, DIM, GOOD, Panel, VideoWriter, beside, draw_panel, frames_for
from oresight.harness.protocols import Environment, FilmEnvironment
from oresight.harness.running.replay import Listener, Replayed, replay
from oresight.harness.wording import case_words, rates_so_far, verdict_words
from oresight.harness.worlds import World, world_of_header
from oresight.scoring.records import DecisionLine, Header
from oresight.scoring.rescoring import Scorer

FRAMES_PER_SECOND = 10
FILM_SIZE = (640, 480)
# The simulation has 20 ticks a second: every other one makes a film in real time.
TICKS_PER_FRAME = 2
VERDICT_SECONDS = 0.5
START_SECONDS = 1.5
END_SECONDS = 3.0


class _Camera(Listener):
    """Draws while a replay runs."""

    def __init__(self, writer: VideoWriter, on_decision: Callable[[int], None]) -> None:
        self._writer = writer
        self._on_decision = on_decision
        self._ticks = 0
        self._environment: FilmEnvironment | None = None
        self._scorer: Scorer | None = None
        self._kind = ""
        self._branch_at = 0
        self.panel = Panel("", 0, 1)

    def started(self, header: Header, world: World, environment: Environment) -> None:
        if world.pictures:
            world.prepare(FILM_SIZE)
        self._environment = cast(FilmEnvironment, environment)
        self._scorer = world.scorer(header.model_dump(mode="json"))
        self._kind = world.kind
        self._branch_at = 0 if header.branch is None else header.branch.at
        title = f"{header.agent} · {world.name}"
        self.panel = Panel(title, 0, world.budget, rates=rates_so_far(self._scorer.summary()))
        self.shoot(START_SECONDS)

    def deciding(self, line: DecisionLine) -> None:
        self._ticks = 0
        self.panel = replace(
            self.panel, step=line.step, action=line.action, said=line.said, outcome="", case="", verdict=""
        )

    def ticked(self) -> None:
        self._ticks += 1
        if self._ticks % TICKS_PER_FRAME == 0:
            self.shoot()

    def decided(self, line: DecisionLine) -> None:
        assert self._scorer is not None
        scored = self._scorer.score(line.action, line.facts)
        self.panel = replace(
            self.panel,
            outcome=line.outcome,
            case=case_words(scored),
            verdict=verdict_words(scored) if line.step > self._branch_at else "before the branch",
            colour=BAD if scored.error else GOOD if scored.scored else DIM,
            stale=scored.stale,
            rates=rates_so_far(self._scorer.summary()),
        )
        self.shoot(VERDICT_SECONDS)
        self._on_decision(line.step)

    def ended(self) -> None:
        assert self._scorer is not None
        outcome = self._scorer.summary().outcome
        self.panel = replace(self.panel, closing="" if outcome is Outcome.INCOMPLETE else str(outcome))
        self.shoot(END_SECONDS)

    def shoot(self, seconds: float = 0.0) -> None:
        """Adds the present picture with the present panel."""
        assert self._environment is not None
        picture = self._environment.render()
        frame = beside(picture, draw_panel(self.panel, picture.shape[0]))
        self._writer.add(frame, frames_for(seconds, FRAMES_PER_SECOND))


def film(
    episode: Path,
    video: Path,
    on_decision: Callable[[int], None] = lambda step: None,
    find_world: Callable[[Header], World] = world_of_header,
) -> Replayed:
    """Makes an MP4 of an episode, and checks it on the way.

    The film ends where record and replay part; nothing is left if they part at the start.

    Args:
        episode: The episode's folder, or its trajectory.
        video: Where the MP4 goes.
        on_decision: Called with the number of each decision filmed.
        find_world: Gives the world of a header.

    Raises:
        OresightError: The record is broken or refused, a part is missing, or the disk refuses.
    """
    if not video.parent.is_dir():
        raise RecordError(f"{video}: the folder {video.parent} does not exist; make it or name another place")
    with VideoWriter(video, FRAMES_PER_SECOND) as writer:
        return replay(episode, _Camera(writer, on_decision), find_world, size=FILM_SIZE)
