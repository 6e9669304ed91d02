"""Conditions against each other: prompt sets, memory against raw, and two episodes that differ most."""

from collections.abc import Sequence

from oresight.harness.analysis.compare import compare
from oresight.harness.errors import UsageError
from oresight.harness.report.conditions import Condition, Episode
from oresight.harness.report.measures import drawn, named
from oresight.harness.report.panels import (
    ALL,
    Change,
    Changes,
    Exhibit,
    Lines,
    NotEnoughData,
    Series,
    Timeline,
    Timelines,
    undefined_notes,
)
from oresight.harness.text import visible
from oresight.harness.wording import rate_words
from oresight.harness.worlds.prompts import REASONING_SUFFIX
from oresight.scoring.decisions import ERROR_KINDS, EpisodeSummary
from oresight.scoring.statistics import Difference
from oresight.scoring.statistics import Figure as Ratio

RAW = "raw"
# With fewer scored decisions an episode's share of errors says little.
_SCORED_LEAST = 10
_Group = tuple[str, str]


def by_prompts(conditions: Sequence[Condition]) -> Exhibit | NotEnoughData:
    """Success and errors under each prompt set, with and without reasoning, on the same episodes under each."""
    title = "Success and errors by prompt set"
    groups: dict[_Group, dict[str, Condition]] = {}
    for condition in conditions:
        config = condition.side.summary.run.config
        if condition.is_model:
            groups.setdefault((config.agent, config.memory), {}).setdefault(condition.prompts, condition)
    sets = max((list(group) for group in groups.values()), key=len, default=[])
    if len(sets) < 2:
        return NotEnoughData(
            title, "it takes a model that plays with two or more prompt sets, for example base and balance"
        )
    chosen = [group for group in groups.values() if all(name in group for name in sets)]
    shared: dict[str, list[EpisodeSummary]] = {name: [] for name in sets}
    for group in chosen:
        results = [group[name].summaries for name in sets]
        for episode in results[0]:
            if all(episode in each for each in results):
                for name, each in zip(sets, results, strict=True):
                    shared[name].append(each[episode])
    episodes = len(shared[sets[0]])
    if not episodes:
        return NotEnoughData(title, "it takes episodes that have a result under every prompt set; there is none")
    strategies = tuple(dict.fromkeys(name.removesuffix(REASONING_SUFFIX) for name in sets))
    panels: list[Lines] = []
    notes: list[str] = []
    for measure in drawn(conditions):
        ratios = {name: measure.of(shared[name]) for name in sets}
        series = [
            Series(words, ALL, tuple(ratios.get(strategy + suffix) for strategy in strategies), hollow)
            for words, suffix, hollow in (
                ("without reasoning", "", False),
                ("with reasoning", REASONING_SUFFIX, True),
            )
        ]
        kept: tuple[Series, ...] = tuple(each for each in series if any(value is not None for value in each.values))
        shown = tuple(visible(strategy, 40) for strategy in strategies)
        panels.append(Lines(f"prompts-{measure.slug}", measure.title, "prompt set", shown, kept, joined=False))
        labelled: list[tuple[str, Ratio | None]] = [(visible(name, 60), ratio) for name, ratio in ratios.items()]
        notes += undefined_notes(measure.name, labelled)
    caption = (
        f"The same {episodes} episodes under each prompt set, of {len(chosen)} pairs of model and memory. Success:"
        " Wilson; errors: bootstrap over episodes; intervals of 95 %."
    )
    return Exhibit("prompts", title, caption, tuple(panels), tuple(notes))


def by_memory(conditions: Sequence[Condition]) -> Exhibit | NotEnoughData:
    """Every memory minus raw context, of the same agent or model with the same prompts, paired by episode."""
    title = "Memory against raw context"
    pairs = _memory_pairs(conditions)
    if not pairs:
        return NotEnoughData(title, "it takes an agent or model that plays with raw and with another memory")
    notes: list[str] = []
    columns = []
    for raw, other, colour in pairs:
        try:
            column = compare([raw.side, other.side]).columns[1]
        except UsageError as error:
            notes.append(f"{named(other)} against {named(raw)} is left out: {error}.")
            continue
        columns.append((f"{named(other)} − {raw.key}", colour, column))
    if not columns:
        return NotEnoughData(title, " ".join(notes))
    panels = []
    for measure in drawn(conditions):
        nothing = Difference(None, None, 0)
        changes = tuple(
            Change(label, colour, column.differences.get(measure.measure.name, nothing))
            for label, colour, column in columns
        )
        panels.append(Changes(f"memory-{measure.slug}", f"Change of {measure.name}", "memory minus raw", changes))
        undefined = [change.label for change in changes if change.difference.value is None]
        if undefined:
            notes.append(f"The change of {measure.name} is undefined for: {'; '.join(undefined)}.")
    caption = (
        "Each memory minus raw context on the episodes that both have a result of: paired bootstrap over episodes,"
        " intervals of 95 %. Left of zero is less, right of it more."
    )
    return Exhibit("memory", title, caption, tuple(panels), tuple(dict.fromkeys(notes)))


def two_episodes(conditions: Sequence[Condition]) -> Exhibit | NotEnoughData:
    """Two conditions on the scenario on which their shares of errors lie furthest apart, decision by decision."""
    title = "Two episodes side by side"
    if len(conditions) < 2:
        return NotEnoughData(title, "it takes two or more conditions on the same scenario")
    found = _furthest_apart(conditions, _SCORED_LEAST) or _furthest_apart(conditions, 1)
    if found is None:
        return NotEnoughData(
            title, "it takes a scenario that two conditions have a recording of, with different errors"
        )
    name, sides = found
    rows = tuple(_timeline(conditions, condition, episode) for condition, episode in sides)
    caption = (
        f"{visible(name)}: of all scenarios that two conditions played, the one on which the shares of erroneous"
        " decisions lie furthest apart. Marks above: errors of exploration, of exploitation, of both, and progress;"
        " line below: the stale score. An error is no gain, or a stale score that rose."
    )
    return Exhibit("episodes", title, caption, (Timelines("episodes", visible(name), rows),))


def _memory_pairs(conditions: Sequence[Condition]) -> list[tuple[Condition, Condition, int]]:
    """Raw and another memory of the same player, with the number of the other one's colour."""
    raws: dict[_Group, Condition] = {}
    for condition in conditions:
        if condition.side.summary.run.config.memory == RAW and not condition.side.is_person:
            raws.setdefault(_player(condition), condition)
    return [
        (raws[_player(condition)], condition, colour)
        for colour, condition in enumerate(conditions)
        if condition.side.summary.run.config.memory != RAW and _player(condition) in raws
    ]


def _player(condition: Condition) -> _Group:
    return condition.side.summary.run.config.agent, condition.prompts


def _furthest_apart(
    conditions: Sequence[Condition], scored_least: int
) -> tuple[str, tuple[tuple[Condition, Episode], tuple[Condition, Episode]]] | None:
    by_scenario: dict[str, list[tuple[float, Condition, Episode]]] = {}
    for condition in conditions:
        for episode in condition.episodes:
            summary = episode.summary
            if summary is None or episode.told is None or summary.scored_decisions < scored_least:
                continue
            share = summary.tally.error_decisions / summary.scored_decisions
            by_scenario.setdefault(episode.scenario, []).append((share, condition, episode))
    best: tuple[float, str] | None = None
    for name, there in by_scenario.items():
        shares = [share for share, _, _ in there]
        apart = max(shares) - min(shares)
        if len({each.key for _, each, _ in there}) > 1 and apart > 0 and (best is None or apart > best[0]):
            best = apart, name
    if best is None:
        return None
    ordered = sorted(by_scenario[best[1]], key=lambda each: each[0])
    return best[1], ((ordered[0][1], ordered[0][2]), (ordered[-1][1], ordered[-1][2]))


def _timeline(conditions: Sequence[Condition], condition: Condition, episode: Episode) -> Timeline:
    assert episode.told is not None and episode.summary is not None
    summary = episode.summary
    errors = "; ".join(f"{kind} error {rate_words(*summary.tally.counts(kind))}" for kind in ERROR_KINDS)
    words = f"{summary.outcome} after {summary.steps_taken} of {summary.budget} decisions\n{errors}"
    colour = next(number for number, each in enumerate(conditions) if each.key == condition.key)
    return Timeline(named(condition), colour, episode.told.marks, episode.told.stale, words, episode.page)
