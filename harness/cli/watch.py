"""`oresight watch`: shows how a run goes that somebody else plays, from what is on disk."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from oresight.harness.analysis.summary import summary_of
from oresight.harness.analysis.watch import Begun, Condition, Ended, Look, State, Watch
from oresight.harness.cli import options
from oresight.harness.cli.display import duration_words, make_console, outcome_words
from oresight.harness.errors import StoreError
from oresight.harness.text import visible
from oresight.harness.wording import episode_words, figure_words
from oresight.scoring.measures import SUCCESS, Measure
from oresight.scoring.statistics import Figure

INTERRUPTED = 130
# A study with more conditions than this is told in two lines each.
_IN_FULL = 2
_SAID_CHARACTERS = 300
_SENTENCES = {
    State.GOING: "The run is going on.",
    State.COMPLETE: "The run is complete.",
    State.LEFT: "Nobody is playing this run; rerun the same command to resume it.",
}


def watch(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder of a run or of a study; may yet come.")],
    interval: Annotated[float, typer.Option(min=0.1, max=3600.0, help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, print it, and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Look once and print it as JSON.")] = False,
) -> None:
    """Follow a run while it is played: episodes, rates, cost, last decisions. Reads only; the run takes no notice.

    Ends by itself: with 0 once the run is complete, with 3 if it is not and nobody plays it. With --once, 3 means not
    complete. Where the output is no terminal, there is a line for each episode that ends.

    Example: oresight watch runs/scout

    Example: oresight watch runs/scout --once
    """
    watching = Watch(run_dir)
    console = make_console()
    try:
        if once or as_json:
            look = watching.look()
            if as_json:
                print(json.dumps(look.to_json(), allow_nan=False, indent=1))
            else:
                _print(console, run_dir, look)
        elif console.is_terminal:
            look = _follow_live(console, watching, run_dir, interval)
        else:
            look = _follow_lines(console, watching, run_dir, interval)
    except KeyboardInterrupt:
        # The run is somebody else's and goes on.
        raise typer.Exit(INTERRUPTED) from None
    if look.state is State.GONE:
        raise StoreError(f"{run_dir}: the run was removed while it was watched")
    if look.state is not State.COMPLETE:
        raise typer.Exit(options.INCOMPLETE)


def _ends(look: Look) -> bool:
    return look.state in (State.COMPLETE, State.LEFT, State.GONE)


def _follow_live(console: Console, watching: Watch, run_dir: Path, interval: float) -> Look:
    look = watching.look()
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while not _ends(look):
            live.update(_screen(run_dir, look, console.height), refresh=True)
            time.sleep(interval)
            look = watching.look()
    if look.state is not State.GONE:
        _print(console, run_dir, look)
    return look


def _follow_lines(console: Console, watching: Watch, run_dir: Path, interval: float) -> Look:
    look = watching.look()
    _print(console, run_dir, look)
    before = look
    while not _ends(look):
        time.sleep(interval)
        look = watching.look()
        if look.state is State.GONE:
            return look
        for condition in look.conditions:
            several = f"{visible(condition.label)}: " if len(look.conditions) > 1 else ""
            for ended in sorted(condition.fresh, key=lambda each: (each.written_s, each.id)):
                console.print(several + _ended_words(ended))
        if before.state is State.WAITING and look.state is not State.WAITING:
            console.print("The run has begun.")
        if _ends(look):
            _print(console, run_dir, look)
        before = look
    return look


def _print(console: Console, run_dir: Path, look: Look) -> None:
    for line in _lines(run_dir, look):
        console.print(line)


def _screen(run_dir: Path, look: Look, height: int) -> Group:
    """What fits on a terminal; the rest is cut off at the right and at the bottom."""
    lines = _lines(run_dir, look)
    room = max(1, height - 1)
    if len(lines) > room:
        shorter = lines[: room - 1]
        lines = [*shorter, f"… {len(lines) - len(shorter)} more lines; --once prints all"]
    return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in lines))


def _lines(run_dir: Path, look: Look) -> list[str]:
    if look.state is State.WAITING or not look.conditions:
        return [f"{visible(str(run_dir))}: not begun yet; waiting for its run.json"]
    lines: list[str] = []
    in_full = len(look.conditions) <= _IN_FULL
    for condition in look.conditions:
        lines += _in_full(condition, look.state) if in_full else _in_short(condition, look.state)
        lines += [f"  note: {visible(note, _SAID_CHARACTERS)}" for note in condition.notes]
    several = len(look.conditions) > 1
    begun = [(condition, each) for condition in look.conditions for each in condition.begun]
    if begun:
        lines += ["", _begun_word(look.state)]
        for condition, each in begun:
            lines += _begun_lines(each, look.now_s, condition.label if several else "")
    last = [(ended, condition) for condition in look.conditions for ended in condition.last]
    if last:
        last.sort(key=lambda pair: pair[0].written_s, reverse=True)
        lines += ["", "finished last"]
        for ended, condition in last[:3]:
            label = f"{visible(condition.label)}: " if several else ""
            lines.append(f"  {label}{_ended_words(ended)}, {_ago(ended.written_s, look.now_s)}")
    return [*lines, "", _SENTENCES[look.state]]


def _in_full(condition: Condition, state: State) -> list[str]:
    lines = [visible(condition.label), f"  {_counts_words(condition, state)}"]
    if condition.finished:
        lines.append(f"  success {figure_words(SUCCESS, condition.success)}")
        lines += [f"  {words}" for words in _measure_words(condition, list(condition.figures))]
    if rest := _cost_and_pace(condition, state):
        lines.append(f"  {rest}")
    return lines


def _in_short(condition: Condition, state: State) -> list[str]:
    lines = [f"{visible(condition.label)}: {_counts_words(condition, state)}"]
    figures: list[str] = []
    if condition.finished:
        figures.append(f"success {figure_words(SUCCESS, condition.success)}")
        # There is no room for all.
        figures += _measure_words(condition, [each for each in condition.figures if each[0].unit.counted])
    if rest := _cost_and_pace(condition, state):
        figures.append(rest)
    return [*lines, f"  {'; '.join(figures)}"] if figures else lines


def _counts_words(condition: Condition, state: State) -> str:
    if condition.kind is None:
        return "not begun"
    begun = len(condition.begun)
    missing = condition.planned - condition.finished - condition.broken - condition.unreadable - begun
    return (
        f"{condition.finished} of {condition.planned} episodes finished, {condition.broken} broken,"
        f" {begun} {_begun_word(state)}, {missing} missing"
        + (f", {condition.unreadable} unreadable" if condition.unreadable else "")
    )


def _begun_word(state: State) -> str:
    return "incomplete" if state is State.LEFT else "under way"


def _measure_words(condition: Condition, figures: Sequence[tuple[Measure, Figure]]) -> list[str]:
    """Every measure but success, which has an interval here; the readings of one behind its title."""
    found: dict[str, list[str]] = {}
    for measure, figure in figures:
        if measure is not SUCCESS:
            reading = f"{measure.reading} " if measure.reading and len(condition.tallies) > 1 else ""
            found.setdefault(measure.title, []).append(reading + figure_words(measure, figure))
    return [f"{title} {', '.join(words)}" for title, words in found.items()]


def _cost_and_pace(condition: Condition, state: State) -> str:
    parts: list[str] = []
    usage = condition.usage
    if usage.replies:
        cost = "no price known" if usage.cost is None else f"${usage.cost:.4f}"
        parts.append(f"{usage.input_tokens} tokens in, {usage.output_tokens} out, {cost}")
    parts.append(f"{condition.steps} decisions")
    if state is State.GOING and condition.pace is not None:
        parts.append(f"{_pace_words(condition.pace)} a minute now")
    elif condition.pace_told is not None:
        parts.append(f"{_pace_words(condition.pace_told)} a minute within an episode")
    return ", ".join(parts) if condition.kind is not None else ""


def _pace_words(pace: float) -> str:
    return f"{pace:.1f}" if pace < 100 else f"{pace:.0f}"


def _begun_lines(begun: Begun, now_s: float, label: str) -> list[str]:
    name = f"{visible(label)}: {begun.id}" if label else begun.id
    budget = "" if begun.budget is None else f" of {begun.budget}"
    line = f"  {name}: decision {begun.steps}{budget}"
    if begun.action is not None:
        line += f", {visible(begun.action, 40)}: {visible(begun.outcome, _SAID_CHARACTERS)}"
    line += f" ({'nothing written yet' if begun.written_s is None else _ago(begun.written_s, now_s)})"
    lines = [line]
    if begun.fault is not None:
        lines.append(f"    asked again, because: {visible(begun.fault, _SAID_CHARACTERS)}")
    if begun.said:
        lines.append(f"    said: {visible(begun.said, _SAID_CHARACTERS)}")
    return lines


def _ended_words(ended: Ended) -> str:
    words = f"{visible(ended.id)}: {outcome_words(ended.result)}"
    told = episode_words(summary_of(ended.result)) if ended.result.outcome.counts else []
    return "; ".join([words, *told])


def _ago(then_s: float, now_s: float) -> str:
    return f"{duration_words(max(0.0, now_s - then_s))} ago"
