"""What several commands print: the live line of a decision, an episode's end, a run's figures.

Everything that comes from a file or a model is passed through `words.visible`, and Rich's markup is off throughout.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from oresight.harness.analysis.summary import RunSummary
from oresight.harness.protocols import Step
from oresight.harness.records.folder import EpisodeResult
from oresight.harness.running.runner import Progress
from oresight.harness.text import visible
from oresight.harness.wording import figure_words, rates_so_far, verdict_words
from oresight.harness.worlds import World
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision
from oresight.scoring.measures import SUCCESS
from oresight.scoring.pooling import PooledRates


def make_console(stderr: bool = False) -> Console:
    """A console on standard output, or on standard error, that takes every text as it is."""
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=True, stderr=stderr)


class LiveLines(Progress):
    """A line per decision."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def started(self, world: World, number: int, planned: int) -> None:
        """Names the episode and explains the columns."""
        self._console.print(f"{visible(world.name)}: {world.budget} decisions at most")
        self._console.print(
            Text("step  action         case  verdict                              stale  outcome", style="dim")
        )

    def stepped(self, world: World, step: Step, scored: ScoredDecision) -> None:
        """Prints the decision."""
        self._console.print(live_line(step, scored))

    def finished(self, result: EpisodeResult, played: bool) -> None:
        """Says how the episode ended."""
        kept = "" if played else " (played before)"
        self._console.print(f"{visible(result.id)}: {outcome_words(result)}{kept}")


def live_line(step: Step, scored: ScoredDecision) -> Text:
    """One decision on one line."""
    style = "red" if scored.error else "green" if scored.scored else "dim"
    case = "-" if scored.case is None else str(int(scored.case))
    line = Text()
    line.append(f"{step.step:>4}  {visible(step.decision.action, 14):<14} {case:^4}  ")
    line.append(f"{verdict_words(scored):<37}", style=style)
    line.append(f"{scored.stale:>4}   ")
    line.append(visible(step.outcome, 200))
    return line


def duration_words(seconds: float) -> str:
    """About how long."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def outcome_words(result: EpisodeResult) -> str:
    """An episode's outcome with the steps it took."""
    reason = f" ({visible(result.reason, 300)})" if result.reason else ""
    return f"{result.outcome}{reason} after {result.steps} of {result.budget} decisions"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows under each other in columns that are as wide as they need; nothing is cut, whatever the terminal."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(
        "   ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def rates_table(summary: EpisodeSummary) -> str:
    """Both error rates of one episode in both readings."""
    return columns([("error", "lenient", "strict"), *rates_so_far(summary)])


def print_run(console: Console, summary: RunSummary) -> None:
    """A run's figures: counts first, then the pooled rates."""
    console.print(summary.counts_sentence())
    print_pooled(console, summary.pooled())
    if usage := summary.usage():
        cost = "" if usage["cost"] is None else f", ${usage['cost']:.4f}"
        console.print(
            f"{usage['replies']} replies ({usage['reasks']} of them re-asks), {usage['input_tokens']} tokens in,"
            f" {usage['output_tokens']} out{cost}"
        )
    for result in summary.broken:
        console.print(f"broken: {visible(result.id)}: {visible(result.reason or '', 300)}")
    if not summary.complete:
        console.print("The run is incomplete; rerun the same command to resume it.")


def print_pooled(console: Console, pooled: PooledRates) -> None:
    """Pooled figures with intervals of 95 %: success, then every other measure, in the readings that there are."""
    if not pooled.measures:
        return
    # Recordings of the real game have decisions, but no task.
    if pooled.success.denominator:
        console.print(f"success: {figure_words(SUCCESS, pooled.success)}")
    several = len(pooled.readings) > 1
    rows: dict[str, list[str]] = {"pooled": list(pooled.readings) if several else ["value"]}
    for measure in pooled.measures:
        if measure.name != "success":
            rows.setdefault(measure.title, []).append(figure_words(measure, pooled[measure.name]))
    width = max(map(len, rows.values()))
    console.print(columns([(title, *cells, *[""] * (width - len(cells))) for title, cells in rows.items()]))
    console.print(f"{pooled.scored_decisions} of {pooled.decisions} decisions scored")
