"""Scores a session while it is played: replays it with a short delay in a world of its own.

Where decisions are cut, and how facts are shared out among those made at once, is the business of
`scoring.sessions.sharing`.
"""

from collections import deque
from dataclasses import dataclass

from oresight.harness.protocols import Json
from oresight.harness.wording import rates_so_far
from oresight.harness.worlds.base import World
from oresight.harness.worlds.craft.refereed import Refereed
from oresight.scoring.decisions import ScoredDecision
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import Pose, SessionHeader, SessionTick
from oresight.scoring.rescoring import Scorer
from oresight.scoring.sessions.cutting import Cut, Cutter
from oresight.scoring.sessions.sharing import Sharing, tick_of, together


@dataclass(frozen=True)
class Judged:
    """One decision of a session.

    Attributes:
        number: Counted from 1.
        action: One of the 21.
        first: The first tick of its control.
        until: The last tick that belongs to it.
        scored: The verdict.
        rates: The errors so far, as `rates_so_far` gives them.
    """

    number: int
    action: str
    first: int
    until: int
    scored: ScoredDecision
    rates: tuple[tuple[str, str, str], ...]


class SessionJudge:
    """Scores a session whose ticks are handed in as they come."""

    def __init__(self, header: SessionHeader, world: World) -> None:
        """Set the world up as it stands at the start.

        Args:
            header: Of the session.
            world: The one that it is played in.

        Raises:
            ReplayRefusedError: The session is of another terrain, or its scenario cannot be played.
        """
        self._played = Refereed(header)
        start = self._played.start()
        self._scorer: Scorer = world.scorer({"scenario": header.scenario, "start": start})
        self._durations = {row.name: row.ticks or 0 for row in header.actions}
        self._pose = Pose.model_validate(start["facts"]["pose"])
        self._sharing = Sharing(self._pose, Parameters())
        self._cutter = Cutter()
        self._waiting: deque[SessionTick] = deque()
        self._marked: tuple[str, int] | None = None
        self._count = 0

    def rates(self) -> tuple[tuple[str, str, str], ...]:
        """Return the errors so far."""
        return rates_so_far(self._scorer.summary())

    def feed(self, tick: SessionTick) -> list[Judged]:
        """Take in the next tick; returns the decisions that are known now."""
        self._waiting.append(tick)
        if tick.action is not None:
            self._marked = tick.action, tick.tick
        if self._marked is None:
            seen, self._pose = tick_of(self._pose, tick), tick.pose
            return self._judge_cuts(self._cutter.feed(seen))
        action, first = self._marked
        if tick.tick - first + 1 < self._durations[action]:
            return []
        return [self._judged(Cut(action, first, tick.tick, tick.tick), self._play(tick.tick))]

    def finish(self) -> list[Judged]:
        """End the session; return the decisions that were still held back."""
        return self._judge_cuts(self._cutter.pause())

    def _judge_cuts(self, cuts: list[Cut]) -> list[Judged]:
        judged: list[Judged] = []
        for group in together(cuts):
            shares = self._sharing.share(self._play(group[0].until), group)
            judged += [self._judged(cut, facts) for cut, facts in shares]
        return judged

    def _judged(self, cut: Cut, facts: Json) -> Judged:
        self._count += 1
        scored = self._scorer.score(cut.action, facts)
        return Judged(self._count, cut.action, cut.first, cut.until, scored, self.rates())

    def _play(self, until: int) -> Json:
        """Play the ticks up to one, and return the facts of all that were played."""
        while self._waiting and self._waiting[0].tick <= until:
            self._played.tick(self._waiting.popleft())
        return self._played.observe()
