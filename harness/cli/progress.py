"""The display of long work: a line for each episode that ends, and one line that tells how far it is."""

import time

from rich.console import Console
from rich.text import Text

from oresight.harness.analysis.summary import summary_of
from oresight.harness.cli.display import duration_words, outcome_words
from oresight.harness.protocols import Step
from oresight.harness.records.folder import EpisodeResult
from oresight.harness.running.runner import Progress
from oresight.harness.text import visible
from oresight.harness.wording import episode_words, told_of_episodes
from oresight.harness.worlds import World
from oresight.scoring.decisions import ScoredDecision
from oresight.scoring.pooling import Pool


class EpisodeLines(Progress):
    """A line per episode; while somebody watches, also the figures so far, the cost, and the time that is left."""

    def __init__(self, console: Console, name_width: int = 14, several: bool = False) -> None:
        """Makes the display.

        Args:
            console: To print on.
            name_width: Of the longest episode's name.
            several: Whether the episodes are of several conditions, which are then named.
        """
        self._console = console
        self._name_width = max(14, name_width)
        self._several = several
        self._status = console.status("starting") if console.is_terminal else None
        self._began = time.monotonic()
        self._planned = self._kept = self._done = self._results = self._successes = 0
        self._pool = Pool()
        self._figures: list[str] = []
        self._cost: float | None = None
        self._now = ""

    def planned(self, episodes: int) -> None:
        """Takes in how much there is to do."""
        self._planned = episodes

    def started(self, world: World, number: int, planned: int) -> None:
        """Shows that work is under way."""
        self._now = visible(world.name)
        self._show()

    def stepped(self, world: World, step: Step, scored: ScoredDecision) -> None:
        """Shows the last decision."""
        if self._status is not None:
            self._now = f"{visible(world.name)}: decision {step.step} of {world.budget}"
            self._show()

    def finished(self, result: EpisodeResult, played: bool) -> None:
        """Prints the episode's figures."""
        self._done += 1
        self._kept += not played
        self._add(result)
        kept = "" if played else " (played before)"
        line = f"{visible(result.id):<{self._name_width}} {outcome_words(result)}{kept}"
        if self._several:
            line = f"{visible(result.agent)}, {visible(result.memory)}: {line}"
        if result.outcome.counts:
            line = "; ".join([line, ", ".join(episode_words(summary_of(result)))]).removesuffix("; ")
        self._console.print(line)
        self._show()

    def stopped(self, reason: str) -> None:
        """Says why."""
        self.close()
        self._console.print(visible(reason))

    def warned(self, words: str) -> None:
        """Passes it on."""
        self._console.print(f"warning: {visible(words)}")

    def close(self) -> None:
        """Takes the line of figures away; may be called twice."""
        if self._status is not None:
            self._status.stop()

    def _add(self, result: EpisodeResult) -> None:
        cost = None if result.usage is None else result.usage.get("cost")
        if isinstance(cost, int | float):
            self._cost = (self._cost or 0.0) + cost
        if not result.outcome.counts:
            return
        self._results += 1
        self._successes += result.outcome == "success"
        self._pool.add(summary_of(result))
        pooled = self._pool.rates()
        figures = [(each, pooled.plain(each.name)) for each in told_of_episodes(next(iter(pooled.readings), None))]
        self._figures = [
            f"{measure.title} {measure.unit.words(figure.value)}"
            for measure, figure in figures
            if figure.value is not None
        ]

    def _show(self) -> None:
        if self._status is None:
            return
        if self._done >= self._planned:
            self._status.stop()
            return
        parts = [f"{self._done} of {self._planned} episodes"]
        if self._results:
            parts.append(f"{self._successes} of {self._results} succeeded")
            parts += self._figures
        if self._cost is not None:
            parts.append(f"${self._cost:.4f}")
        played = self._done - self._kept
        if played:
            left = (time.monotonic() - self._began) / played * (self._planned - self._done)
            parts.append(f"about {duration_words(left)} left")
        self._status.update(Text(", ".join([*parts, self._now])))
        self._status.start()
