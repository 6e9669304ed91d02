"""The study of the dials in words: Markdown made of what was measured, its verdicts included."""

import textwrap
from collections.abc import Sequence

from experiments.study.dials import DIALS, EPISODES_LEAST, SUITE, Cell, DialsFile, Trend, cell, trend
from experiments.study.rows import KINDS
from oresight.harness.analysis.summary import READINGS
from oresight.harness.worlds.base import LEVELS
from oresight.scoring.statistics import Figure

# What turns a demand's name into a claim about an error: each is said to move its own.
_VERBS = {
    "grows": "grows",
    "falls": "**falls**",
    "not told apart": "is not told apart at low and high",
    "undefined": "says nothing, for want of episodes",
}


def to_markdown(file: DialsFile) -> str:
    """The whole of docs/dials.md."""
    parts = [_opening(file), _worlds(file), _verdicts(file), *(_demand(file, dial) for dial in DIALS), _settings(file)]
    return "\n\n".join(parts) + "\n"


def _opening(file: DialsFile) -> str:
    settings = len(LEVELS) ** len(DIALS)
    made = _paragraph(
        f"Made by `python -m experiments.study --world craft --seeds {file.seeds}`; the numbers are in"
        " [dials.json](dials.json), and the same command makes the same numbers."
        " No language model is involved. Everything below is as it came out."
        " The levels of exploration demand were set farther apart once, after a trial over three seeds; agents and"
        " metric were not touched."
    )
    who = _paragraph(
        f"Each of {_listed([f'`{player}`' for player in file.players])} (agent, memory) played {settings} settings x"
        f" {file.seeds} seeds = {settings * file.seeds} episodes; seeds 0 to 2 are the suite `{SUITE}`. Error rates are"
        " pooled, errors / eligible decisions, with a bootstrap over episodes of 95 %; success has a Wilson interval."
        " A verdict compares low with high demand, in pairs of episodes of the same other demand and seed number: an"
        " error grows if the 95 % interval of the difference lies above 0, falls if it lies below, and is otherwise not"
        f" told apart. Where fewer than {EPISODES_LEAST} episodes at low or at high demand have an eligible decision,"
        " nothing is said."
    )
    return f"# What the dials of the 3D world do\n\n{made}\n\n{who}"


def _worlds(file: DialsFile) -> str:
    rows = []
    for level in LEVELS:
        explore, exploit = file.levels["exploration"][level], file.levels["exploitation"][level]
        rows.append(
            (
                level,
                _range(explore["distance_blocks"], "{:g}"),
                _range(explore["share_of_sight"], "{:.0%}"),
                str(exploit["target_count"]),
                _range(exploit["digging_blocks"], "{:g}"),
            )
        )
    heading = ("demand", "blocks to the nearest ore", "places that show one", "ores needed", "blocks over them")
    told = _paragraph(
        "Exploration demand is how far the nearest ore on the surface is from the spawn, and from how many places"
        " around it (8 each at 8, 16 and 24 blocks) a look around shows one; the spawn itself shows none. Exploitation"
        " demand is how many ores are needed and how many blocks lie over them before anything is dug, for the needed"
        " ores together. These belong to one vein: mostly it is the ore before it that covers an ore."
    )
    proofs = [
        (exploration, *(_range(_ends(file.proofs[f"{exploration}-{exploitation}"]), "{:g}") for exploitation in LEVELS))
        for exploration in LEVELS
    ]
    budgets = {row.budget for row in file.episodes}
    lengths = _paragraph(
        "With full knowledge a world of each setting takes so many decisions (lowest to highest); the budget is"
        f" {_listed([str(budget) for budget in sorted(budgets)])}."
    )
    columns = ("exploration demand", *(f"exploitation {level}" for level in LEVELS))
    return f"""## The worlds

{told}

{_table(heading, rows)}

{lengths}

{_table(columns, proofs)}"""


def verdict_lines(file: DialsFile) -> list[str]:
    """For each kind of error a sentence: whether the demand that is named after it moves it."""
    return [_summary(kind, _named_after(file, kind)) for kind in KINDS]


def _named_after(file: DialsFile, kind: str) -> list[Trend]:
    """What a demand does to its own error, for each player; twice where the readings differ."""
    found = []
    for player in file.players:
        lenient, strict = (trend(file, player, kind, reading, kind) for reading in READINGS)
        found += [lenient] if lenient.values == strict.values else [lenient, strict]
    return found


def _verdicts(file: DialsFile) -> str:
    own = [f"- `{player}`: the {kind} error {_own(file, player, kind)}." for player in file.players for kind in KINDS]
    crossed = [
        f"- The {kind} error with the demand on {dial}: {_each(file, kind, 'lenient', dial)}."
        for kind, dial in zip(KINDS, reversed(DIALS), strict=True)
    ]
    plain = [
        f"- {name} with the demand on {dial}: {_each(file, measure, None, dial)}."
        for measure, name in (("success", "Success"), ("decisions", "Decisions taken"))
        for dial in DIALS
    ]
    search = (
        f"- Decisions until an ore is seen with the demand on exploration: {_each(file, 'search', None, DIALS[0])}."
    )
    seen = [f"- {_seen(file, player)}" for player in file.players]
    moved = [any(each.verdict == "grows" for each in _named_after(file, kind)) for kind in KINDS]
    return "\n\n".join(
        [
            "## Do the demands move the errors as their names say?",
            *(_paragraph(line) for line in verdict_lines(file)),
            "\n".join(own),
            *([] if all(moved) else [_paragraph(_BEHIND)]),
            "What they move beside that, lenient reading:",
            "\n".join([search, *plain, *crossed]),
            "In how many episodes an ore is seen, from low to high exploration demand:",
            "\n".join(seen),
        ]
    )


_BEHIND = (
    "What may lie behind it, though nothing here proves it: an error rate is a share of decisions. A farther ore asks"
    " for more decisions of the same kind, not for harder ones, and an ore under another one is in front of the player"
    " once that is dug away. Demands of this sort lengthen an episode first; whether they also make an agent err more"
    " often is a question of what it forgets on the way, and these agents are few and simple."
)


def _summary(kind: str, trends: Sequence[Trend]) -> str:
    counts = {verdict: sum(each.verdict == verdict for each in trends) for verdict in _VERBS}
    if counts["grows"] == len(trends):
        answer = "yes, for every agent and in both readings"
    elif counts["grows"] == 0:
        answer = "**no**"
    else:
        answer = "**not in general**"
    parts = [
        f"grows in {counts['grows']}",
        f"falls in {counts['falls']}",
        f"is not told apart in {counts['not told apart']}",
    ]
    if counts["undefined"]:
        parts.append(f"says nothing, for want of episodes, in {counts['undefined']}")
    steps = sum(each.step_by_step for each in trends)
    return (
        f"The {kind} error with the demand on {kind}: {answer}. Of {len(trends)} cases, an agent each and twice where"
        f" the readings differ, it {_listed(parts)}; from each level to the next one it rises in {steps}."
    )


def _own(file: DialsFile, player: str, kind: str) -> str:
    found = [trend(file, player, kind, reading, kind) for reading in READINGS]
    same = found[0].values == found[1].values
    told = [f"{_VERBS[found[0].verdict]} ({_path(found[0])})"]
    if not same:
        told.append(f"strict, it {_VERBS[found[1].verdict]} ({_path(found[1])})")
    return "; ".join(told)


def _each(file: DialsFile, measure: str, reading: str | None, dial: str) -> str:
    trends = [trend(file, player, measure, reading, dial) for player in file.players]
    return "; ".join(f"`{each.player}` {_VERBS[each.verdict]} ({_path(each)})" for each in trends)


def _path(each: Trend) -> str:
    places = 1 if each.measure in ("search", "decisions") else 2
    values = ", ".join("–" if value is None else f"{value:.{places}f}" for value in each.values)
    if each.difference is None or each.interval is None:
        return f"{values}; of {', '.join(map(str, each.episodes))} episodes"
    low, high = each.interval
    return f"{values}; difference {each.difference:+.{places}f} [{low:+.{places}f}, {high:+.{places}f}]"


def _seen(file: DialsFile, player: str) -> str:
    told = []
    for level in LEVELS:
        found = cell(file.rows(player, "exploration", level))
        middle = "never in half of them" if found.first_seen is None else f"half of them by decision {found.first_seen}"
        told.append(f"{found.seen.numerator} of {found.seen.denominator} episodes, {middle}")
    return f"`{player}`: {'; '.join(told)}."


def _demand(file: DialsFile, dial: str) -> str:
    rows = [
        (f"`{player}`", level, *_cells(cell(file.rows(player, dial, level))))
        for player in file.players
        for level in LEVELS
    ]
    heading = (
        "agent, memory",
        "demand",
        "exploration error, lenient",
        "strict",
        "exploitation error, lenient",
        "strict",
        "success",
        "budget used",
    )
    picture = "errors" if dial == DIALS[0] else "success"
    caption = "Both errors against both demands" if dial == DIALS[0] else "Success and budget used against both demands"
    return f"""## By {dial} demand

{_table(heading, rows)}

![{caption}](figures/dials-{picture}.svg)"""


def _cells(found: Cell) -> tuple[str, ...]:
    return (
        *(_error(found.errors[kind, reading]) for kind in KINDS for reading in READINGS),
        _error(found.success),
        f"{found.budget_used:.0%}",
    )


def _settings(file: DialsFile) -> str:
    parts = ["## Every setting", "Lenient reading; exploration and exploitation error / successes."]
    for player in file.players:
        rows = []
        for exploration in LEVELS:
            line = [exploration]
            for exploitation in LEVELS:
                here = [
                    row for row in file.rows(player, "exploration", exploration) if row.exploitation == exploitation
                ]
                found = cell(here)
                errors = (_number(found.errors[kind, "lenient"].value) for kind in KINDS)
                line.append(f"{' and '.join(errors)} / {found.success.numerator} of {found.success.denominator}")
            rows.append(line)
        heading = ("exploration demand", *(f"exploitation {level}" for level in LEVELS))
        parts.append(f"`{player}`:\n\n{_table(heading, rows)}")
    return "\n\n".join(parts)


def _error(figure: Figure) -> str:
    if figure.value is None:
        return f"{figure.numerator}/{figure.denominator} = –"
    words = f"{figure.numerator}/{figure.denominator} = {figure.value:.3f}"
    return words if figure.interval is None else f"{words} [{figure.interval[0]:.3f}, {figure.interval[1]:.3f}]"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _range(ends: tuple[float, float] | int, form: str) -> str:
    if isinstance(ends, int):
        return form.format(ends)
    low, high = (form.format(end) for end in ends)
    return low if low == high else f"{low} to {high}"


def _ends(lengths: Sequence[int]) -> tuple[float, float]:
    return min(lengths), max(lengths)


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
