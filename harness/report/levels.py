"""Errors by what scenarios differ in: the demand on each kind of error, the size of the task DAG, the kind of scenario.

What a scenario demands, its world says.
"""

import re
from collections.abc import Callable, Sequence

from oresight.harness.report.conditions import Condition
from oresight.harness.report.measures import Drawn, drawn, drawn_errors, named
from oresight.harness.report.panels import ALL, Exhibit, Lines, NotEnoughData, Series, undefined_notes
from oresight.harness.worlds import about
from oresight.harness.worlds.base import LEVELS
from oresight.scoring.decisions import ERROR_KINDS, EpisodeSummary
from oresight.scoring.statistics import Figure as Ratio

# More lines than this in one panel are a tangle.
SHOWN_MOST = 6
_NUMBERED = re.compile(r"(.+?)-\d+$")

LevelOf = Callable[[str], str | None]
_OnMap = tuple[str, EpisodeSummary]


def by_demand(kind: str, conditions: Sequence[Condition]) -> Exhibit | NotEnoughData:
    """Each error against the demand on it."""
    title = "Errors by demand"
    panels = []
    for measure in drawn_errors(conditions):
        error = next((each for each in ERROR_KINDS if measure.measure.title.startswith(each)), None)
        if error is None:
            continue

        def level(scenario: str, error: str = error) -> str | None:
            return about(kind).demand_of(scenario, error)

        panels += _panel(conditions, measure, level, LEVELS, f"demand on {error}", "demand")
    if not panels:
        suite = about(kind).graded_suite
        advice = f", such as those of the suite {suite}" if suite else ""
        return NotEnoughData(title, f"it takes scenarios of two or more demands{advice}")
    return _exhibit("demand", title, "Each error against the demand that scenarios make on it.", panels, conditions)


def by_size(kind: str, conditions: Sequence[Condition]) -> Exhibit | NotEnoughData:
    """Success and errors against the size of the task DAG."""
    title = "Success and errors by size of the task DAG"

    world = about(kind)
    panels = [
        panel
        for measure in drawn(conditions)
        for panel in _panel(conditions, measure, world.size_of, world.sizes, "size of the task DAG", "size")
    ]
    if not panels:
        return NotEnoughData(title, "it takes scenarios of two or more sizes, such as those of the suite main")
    return _exhibit("size", title, "Success and errors against the size of the task DAG.", panels, conditions)


def by_kind(conditions: Sequence[Condition]) -> Exhibit | NotEnoughData:
    """Success and errors by kind of scenario; the 3D world has no task DAG whose size could be told."""
    title = "Success and errors by kind of scenario"

    def level(scenario: str) -> str | None:
        found = _NUMBERED.fullmatch(scenario)
        return None if found is None else found[1]

    names = [level(episode.scenario) for condition in conditions for episode in condition.episodes]
    kinds = tuple(dict.fromkeys(name for name in names if name is not None))
    panels = [
        panel
        for measure in drawn(conditions)
        for panel in _panel(conditions, measure, level, kinds, "kind of scenario", "kind", joined=False)
    ]
    if not panels:
        return NotEnoughData(title, "it takes scenarios of two or more kinds, such as those of the suite craft-mine")
    return _exhibit("kind", title, "Success and errors by kind of scenario.", panels, conditions)


def _exhibit(name: str, title: str, words: str, panels: Sequence[Lines], conditions: Sequence[Condition]) -> Exhibit:
    caption = (
        f"{words} Success: Wilson over episodes; errors: bootstrap over episodes, for all conditions together over"
        " maps, since episodes on one map hang together; intervals of 95 %."
    )
    notes: list[str] = []
    if len(conditions) > SHOWN_MOST:
        notes.append(
            f"Drawn are the first {SHOWN_MOST} of {len(conditions)} conditions and all of them together; the table has"
            " the same."
        )
    for panel in panels:
        labelled = [
            (f"{series.label} ({tick})", value)
            for series in panel.series
            for tick, value in zip(panel.ticks, series.values, strict=True)
        ]
        notes += undefined_notes(panel.title[0].lower() + panel.title[1:], labelled)
    return Exhibit(name, title, caption, tuple(panels), tuple(notes))


def _panel(
    conditions: Sequence[Condition],
    measure: Drawn,
    level: LevelOf,
    levels: Sequence[str],
    x_title: str,
    slug: str,
    joined: bool = True,
) -> list[Lines]:
    """A measure by level; nothing if there are episodes of fewer than two levels."""
    by_level = [[_at(condition, level, each) for each in levels] for condition in conditions]
    there = [place for place in range(len(levels)) if any(episodes[place] for episodes in by_level)]
    if len(there) < 2:
        return []
    series = [
        Series(named(condition), colour, tuple(_ratio(measure, episodes[place]) for place in there))
        for colour, (condition, episodes) in enumerate(zip(conditions, by_level, strict=True))
        if colour < SHOWN_MOST
    ]
    if len(conditions) > 1:
        series.append(Series("all conditions", ALL, tuple(_together(measure, by_level, place) for place in there)))
    ticks = tuple(levels[place] for place in there)
    return [Lines(f"{slug}-{measure.slug}", measure.title, x_title, ticks, tuple(series), joined)]


def _at(condition: Condition, level: LevelOf, wanted: str) -> list[_OnMap]:
    """A condition's results on the maps of a level."""
    return [
        (episode.scenario, summary)
        for episode in condition.episodes
        if (summary := episode.summary) is not None and level(episode.scenario) == wanted
    ]


def _ratio(measure: Drawn, episodes: Sequence[_OnMap]) -> Ratio | None:
    return measure.of(summary for _, summary in episodes) if episodes else None


def _together(measure: Drawn, by_level: Sequence[Sequence[Sequence[_OnMap]]], place: int) -> Ratio | None:
    by_map: dict[str, list[EpisodeSummary]] = {}
    for episodes in by_level:
        for scenario, summary in episodes[place]:
            by_map.setdefault(scenario, []).append(summary)
    return measure.over_maps(by_map) if by_map else None
