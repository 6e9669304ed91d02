"""The study in words: Markdown made of what was measured, its verdicts included. Nothing here is written beforehand."""

import textwrap
from collections.abc import Iterable, Sequence

from experiments.study.family import NOISES, WINDOWS
from experiments.study.measure import Sample, Study
from experiments.study.pairs import COMPARABLE, ELIGIBLE_LEAST, EQUAL_SUCCESS, Difference, Pair
from experiments.study.rows import KINDS, AgentRow
from experiments.study.trends import Trend
from oresight.harness.agents.grid.frontier import Dials
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.regression import Fit
from oresight.scoring.statistics import Figure, rate

# What "Exploration and Exploitation Errors Are Measurable for Language Model Agents" reports over its budgets.
_PAPER_R2 = {"exploration": (0.616, 0.907), "exploitation": (0.501, 0.875)}


def to_markdown(study: Study) -> str:
    """The whole of docs/study.md."""
    parts = [
        _opening(study),
        _success(study),
        _dials(study),
        _trend(study.demand, study),
        _trend(study.size, study),
        _pair(study),
        _example(study),
        _sensitivity(study),
        _departures(study),
        _all_agents(study),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(study: Study) -> str:
    members = len(WINDOWS) * len(NOISES)
    windows, noises = ", ".join(map(str, WINDOWS)), ", ".join(f"{noise:g}" for noise in NOISES)
    made = _paragraph(
        f"Made by `python -m experiments.study --seeds {study.seeds}`; the numbers are in"
        " [study.json](study.json), and the same command makes the same numbers."
        " No language model is involved. Everything below is as it came out; the agents"
        " were not tuned."
    )
    who = _paragraph(
        "The agents read the text that a language model would read. The **family** is the frontier explorer (what can"
        " be activated first, the goal before all, else the nearest cell where it has not been) with two dials: a"
        f" window of the last n turns ({windows}) and a share of random moves ({noises}), {members} members. Beside it"
        " stand the frontier explorer with its whole memory, the depth-first explorer, random moves, and, outside all"
        " fits, the solver, which knows the map. Without memory every direction is as good as another, so that noise"
        " changes nothing there."
    )
    samples = _paragraph(
        f"Two samples: the **main suite** ({study.main.scenarios} maps) and **{study.many.name}** of the same demands"
        f" and sizes ({study.many.scenarios} maps, the main suite among them). Rates are pooled, sum of errors over sum"
        " of eligible decisions; success has a Wilson interval, error rates have a bootstrap over episodes of 10,000"
        " resamples, 95 % both."
    )
    return f"# What the metric says of agents whose weaknesses are known\n\n{made}\n\n{who}\n\n{samples}"


def _success(study: Study) -> str:
    rows = []
    for sample in (study.main, study.many):
        for kind in KINDS:
            fits = sample.fits[kind]
            for name, fit in (("with an error", fits.with_errors), ("all, floored", fits.all)):
                rows.append((sample.name, kind, name, *_fit_cells(fit)))
    heading = ("sample", "error", "over", "R²", "slope", "n", "floored at", "points floored")
    how = _paragraph(
        "Success rate against log10 of the error rate, ordinary least squares over the"
        f" {study.many.fits['exploration'].all.n} agents that read the text. A rate of 0 has no logarithm: the second"
        " fit puts it at half an error in the largest number of eligible decisions; such points are hollow in the"
        " figures."
    )
    return f"""## Success against each error

{how}

{_table(heading, rows)}

![Success against each error, main suite](figures/success-main.svg)

![Success against each error, all seeds](figures/success-seeds.svg)"""


def _dials(study: Study) -> str:
    rows = []
    for window in WINDOWS:
        for noise in NOISES:
            row = study.many.row(_member(window, noise))
            rows.append((str(window), f"{noise:g}", *_cells(row)))
    falls = {kind: _dial_words(study.many, kind) for kind in KINDS}
    return f"""## Errors against memory and noise

{_paragraph(f"{falls['exploration']} {falls['exploitation']}")}

![Success and errors by window and noise](figures/dials.svg)

Over {study.many.name}:

{_table(("window", "noise", "success", "exploration error", "exploitation error", "budget used"), rows)}"""


def _dial_words(sample: Sample, kind: str) -> str:
    def values(members: Iterable[tuple[int, float]]) -> list[float]:
        found = [sample.row(_member(window, noise)).error(kind).value for window, noise in members]
        return [value for value in found if value is not None]

    longer = [values((window, noise) for window in WINDOWS) for noise in NOISES]
    noisier = [values((window, noise) for noise in NOISES) for window in WINDOWS]
    falling = sum(line == sorted(line, reverse=True) for line in longer)
    rising = sum(line == sorted(line) for line in noisier)
    return (
        f"The {kind} error never grows with a longer window at {falling} of {len(NOISES)} noises, and never falls with"
        f" more noise at {rising} of {len(WINDOWS)} windows."
    )


def _trend(trend: Trend, study: Study) -> str:
    by_demand = trend.dimension == "demand"
    what = "demand" if by_demand else "size of the task DAG"
    rows = []
    for agent in (None, *trend.agents):
        for kind in KINDS:
            levels = trend.levels(kind, agent)
            cells = [_rate_words(level.errors[kind]) for level in levels]
            rows.append((agent or "**the whole family**", kind, *cells))
    heading = ("agent", "error", *(("low", "medium", "high") if by_demand else ("small", "medium", "large")))
    verdicts = " ".join(
        f"The family's {kind} error {'grows' if trend.rises(kind) else 'does **not** grow'} with"
        f" {f'the demand on {kind}' if by_demand else 'the size'} ({_path_words(trend, kind)});"
        f" it does in {_rising_words(trend, kind)}."
        for kind in KINDS
    )
    note = (
        " The columns are the demand on that kind of error; the demand on exploration is the opposite of that on"
        " exploitation."
        if by_demand
        else ""
    )
    picture = "\n\n![Errors against demand and size](figures/demands.svg)" if by_demand else ""
    return f"""## Errors against {what}

{_paragraph(f"{verdicts}{note} Intervals are a bootstrap over maps.")}

{_table(heading, rows)}{picture}"""


def _rising_words(trend: Trend, kind: str) -> str:
    """In how many members of short and of long memory an error grows."""
    halves = []
    for windows in (WINDOWS[:4], WINDOWS[4:]):
        members = [_member(window, noise) for window in windows for noise in NOISES]
        rising = sum(member in trend.rising[kind] for member in members)
        halves.append(f"{rising} of the {len(members)} members with a window of {windows[0]} to {windows[-1]}")
    return " and in ".join(halves)


def _path_words(trend: Trend, kind: str) -> str:
    return ", ".join(_number(level.errors[kind].value, 3) for level in trend.levels(kind))


def _pair(study: Study) -> str:
    pair = study.pair
    heading = "## Two agents of equal success"
    how = (
        "Over all maps. Of the agents that read the text, the two were taken whose success differs by"
        f" {EQUAL_SUCCESS:g} at most (and lies between {COMPARABLE[0]:g} and {COMPARABLE[1]:g}) and of which one errs"
        " less in exploration and more in exploitation, the lesser of the two differences being as large as possible."
        " They were chosen on the even seeds; what follows was measured on the odd ones."
    )
    if pair is None:
        return f"{heading}\n\n{_paragraph(f'{how} There is no such pair.')}"
    rows: list[tuple[str, ...]] = [(f"`{row.agent}`", *_cells(row)) for row in pair.rows]
    rows.append(
        (
            "difference",
            *(_difference_words(pair.differences[name]) for name in ("success", "exploration", "exploitation")),
            "",
        )
    )
    verdict = (
        "The odd seeds confirm it: equal success, opposite errors."
        if pair.confirmed
        else f"The odd seeds do **not** confirm all of it: {_unconfirmed(pair)}."
    )
    return f"""{heading}

{_paragraph(f"{how} {verdict}")}

{_table(("agent", "success", "exploration error", "exploitation error", "budget used"), rows)}

![Two agents of equal success](figures/pair.svg)"""


def _unconfirmed(pair: Pair) -> str:
    holds = pair.holds()
    claims = {
        "success": "equal success",
        "exploration": "fewer exploration errors",
        "exploitation": "more exploitation errors",
    }
    return "; ".join(f"{claim}, {'yes' if holds[name] else '**no**'}" for name, claim in claims.items())


def _example(study: Study) -> str:
    example = study.example
    heading = "## Two agents that both solve a map, with opposite errors"
    if example is None:
        return f"{heading}\n\nThere is no map in the main suite where that happens."
    one, other = example.summaries
    told = _paragraph(
        f"On one map, as the paper shows it for two models. On {example.cases} of the {example.maps} maps of the main"
        " suite there are two agents that read the text and solve it, one with the lower exploration error and the"
        f" higher exploitation error (each with {ELIGIBLE_LEAST} eligible decisions or more of either kind); this is"
        f" the clearest of them, `{example.scenario}`. `{example.explorer}` made {_counts(one, 'explore')} exploration"
        f" errors and {_counts(one, 'exploit')} exploitation errors in {one.steps_taken} moves, `{example.exploiter}`"
        f" {_counts(other, 'explore')} and {_counts(other, 'exploit')} in {other.steps_taken}. It was picked because it"
        " is so clear: it shows what the metric can tell apart, not how often that happens."
    )
    return f"{heading}\n\n{told}\n\n![Both agents' ways over the map](figures/example.png)"


def _counts(summary: EpisodeSummary, kind: str) -> str:
    errors, eligible = getattr(summary.tally, kind)
    return f"{errors}/{eligible}"


def _sensitivity(study: Study) -> str:
    rows = [
        (
            f"{alpha:g}",
            str(k),
            *(_number(fit.r2, 2) for kind in KINDS for fit in (fits[kind].with_errors, fits[kind].all)),
        )
        for (alpha, k), fits in study.sensitivity.items()
    ]
    heading = (
        "alpha",
        "k",
        "exploration R², with an error",
        "exploration R², all",
        "exploitation R², with an error",
        "exploitation R², all",
    )
    return f"""## Other budgets and revisit allowances

The same trajectories of {study.many.name}, rescored.

{_table(heading, rows)}"""


def _departures(study: Study) -> str:
    found = []
    for sample in (study.main, study.many):
        for kind in KINDS:
            fits = sample.fits[kind]
            low, high = (_number(limit, 2) for limit in _PAPER_R2[kind])
            for name, fit in (("with an error", fits.with_errors), ("all", fits.all)):
                holds = fit.r2 is not None and fit.slope is not None and fit.slope < 0 and fit.r2 >= _PAPER_R2[kind][0]
                verdict = "as in the paper" if holds else "**not as in the paper**"
                found.append(
                    f"- Success falls with log {kind} error ({sample.name}, {name}): R² {_number(fit.r2, 2)}, slope"
                    f" {_number(fit.slope, 2)}; the paper has R² {low} to {high} over its budgets: {verdict}."
                )
    for trend in (study.demand, study.size):
        for kind in KINDS:
            verdict = "as in the paper" if trend.rises(kind) else "**not as in the paper**"
            what = f"the demand on {kind}" if trend.dimension == "demand" else "the size of the DAG"
            found.append(f"- The {kind} error grows with {what}: {_path_words(trend, kind)}: {verdict}.")
    confirmed = study.pair is not None and study.pair.confirmed
    found.append(
        "- Two agents of equal success with opposite errors: over all maps"
        f" {'found and confirmed, as in the paper' if confirmed else '**not found**'}; on single maps"
        f" {'found, as in the paper' if study.example is not None else '**not found**'}."
    )
    meant = _paragraph(
        "The paper measures 35 language models, this page a family of scripts, and only what both can show is compared."
        ' "As in the paper" means for a fit: a falling line with an R² no lower than the lowest that the paper reports'
        " for any budget; for a trend: growth from each level to the next one."
    )
    thoughts = _paragraph(
        "What may lie behind it, though nothing here proves it: one agent without an error stands far to the left of"
        " all others, and where exactly the floor is put bends the second fit; the more episodes, the further left it"
        " is. Maps of high demand on exploitation are small, a dozen cells or so, of which a window of 16 turns holds"
        " most: less is forgotten there, and forgetting is, beside noise, what this family's exploitation errors come"
        " from. Members of long memory follow the demand on exploration and the size more often than those of short"
        " memory, whose walk hardly depends on what there is to find; the whole family is a mixture of both."
    )
    lines = "\n".join(found)
    return f"## What comes out as in the paper, and what does not\n\n{meant}\n\n{lines}\n\n{thoughts}"


def _all_agents(study: Study) -> str:
    parts = ["## All agents"]
    for sample in (study.main, study.many):
        rows = [(f"`{row.agent}`", *_cells(row)) for row in sample.rows]
        heading = ("agent", "success", "exploration error", "exploitation error", "budget used")
        parts.append(f"{sample.name[0].upper()}{sample.name[1:]}:\n\n{_table(heading, rows)}")
    return "\n\n".join(parts)


def _cells(row: AgentRow) -> tuple[str, str, str, str]:
    success = row.pooled.success
    used = row.pooled["budget_used"].value
    return (
        f"{success.numerator}/{success.denominator} = {_rate_words(success)}",
        _error_words(row.error("exploration")),
        _error_words(row.error("exploitation")),
        "–" if used is None else f"{used:.0%}",
    )


def _error_words(figure: Figure) -> str:
    return f"{figure.numerator}/{figure.denominator} = {_rate_words(figure)}"


def _rate_words(figure: Figure) -> str:
    words = _number(rate(figure.numerator, figure.denominator), 3)
    if figure.interval is None:
        return words
    return f"{words} [{figure.interval[0]:.3f}, {figure.interval[1]:.3f}]"


def _difference_words(difference: Difference) -> str:
    words = f"{difference.value:+.3f}"
    if difference.interval is None:
        return words
    return f"{words} [{difference.interval[0]:+.3f}, {difference.interval[1]:+.3f}]"


def _fit_cells(fit: Fit) -> tuple[str, str, str, str, str]:
    floor = "–" if fit.floor is None else f"{fit.floor:.2g}"
    return _number(fit.r2, 3), _number(fit.slope, 3), str(fit.n), floor, str(fit.floored)


def _member(window: int, noise: float) -> str:
    return f"frontier{Dials(window, noise).spelling}"


def _number(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:.{places}f}"


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
