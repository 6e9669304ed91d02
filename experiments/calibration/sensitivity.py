"""How the 3D world's rates move as one parameter of the metric is changed and all others stay as they are.

What was played is scored under every setting from its recorded facts; nothing is played again. Who plays, and the
table that this stands in, is the business of `calibrate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.calibration.order import order_faults
from oresight.harness.protocols import Json
from oresight.scoring.craft.adapter import CraftScorer
from oresight.scoring.decisions import Tally
from oresight.scoring.episodes import score_episode
from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.discover import EpisodeSource, find_episodes
from oresight.scoring.records import CraftFacts, CraftScenario, StartFacts
from oresight.scoring.statistics import Counts, rate

# Below and above each default.
VALUES: dict[str, tuple[float, float]] = {
    "position_cell_blocks": (1, 4),
    "new_faces_min": (4, 16),
    "k": (1, 3),
    "patience": (16, 40),
    "discovery_px": (16.0, 256.0),
}
_WORDS = {
    "position_cell_blocks": "position cell",
    "new_faces_min": "new faces",
    "k": "k",
    "patience": "patience",
    "discovery_px": "discovery px",
}
READINGS = ("lenient", "strict")


@dataclass(frozen=True)
class Setting:
    """The defaults, or the defaults with one parameter changed.

    Attributes:
        parameter: The one that is changed, or None.
        value: What it is changed to, or None.
        parameters: All of them.
    """

    parameter: str | None
    value: float | None
    parameters: Parameters

    @property
    def name(self) -> str:
        """Return the setting in a few words."""
        if self.parameter is None or self.value is None:
            return "defaults"
        return f"{_WORDS[self.parameter]} {self.value:g}"


SETTINGS = (
    Setting(None, None, Parameters()),
    *(
        Setting(parameter, value, Parameters.model_validate({parameter: value}))
        for parameter, values in VALUES.items()
        for value in values
    ),
)


@dataclass(frozen=True)
class Tallies:
    """Both readings of what counts of a play."""

    lenient: Tally
    strict: Tally


@dataclass(frozen=True)
class Play:
    """What was played once, as far as scoring needs it.

    Attributes:
        scenario: Target, count and budget.
        start: Facts of the start.
        decisions: Actions and facts.
        counted_from: So many decisions come before the first one that counts.
    """

    scenario: CraftScenario
    start: StartFacts
    decisions: tuple[tuple[str, CraftFacts], ...]
    counted_from: int

    @property
    def counted(self) -> int:
        """How many decisions count."""
        return max(0, len(self.decisions) - self.counted_from)

    @property
    def success(self) -> bool:
        """Whether the target was acquired."""
        return any(facts.acquired for _, facts in self.decisions)

    def score(self, parameters: Parameters) -> Tallies:
        """Count errors and eligible decisions."""
        scorer = CraftScorer(parameters, self.scenario, self.start)
        found = Tallies(Tally(), Tally())
        for number, (action, facts) in enumerate(self.decisions):
            decision = scorer.score(action, facts)
            if number >= self.counted_from and decision.case is not None and decision.strict is not None:
                found.lenient.add(decision.case, decision.error)
                found.strict.add(decision.case, decision.strict.error)
        return found


@dataclass(frozen=True)
class Moves:
    """One rate under every setting.

    Attributes:
        name: Behaviour or agent.
        case: 1 or 2 for a behaviour, None for an agent.
        kind: "exploration" or "exploitation".
        lenient: Errors and eligible decisions for each of `SETTINGS`, lenient reading.
        strict: The same, strict reading.
    """

    name: str
    case: int | None
    kind: str
    lenient: tuple[Counts, ...]
    strict: tuple[Counts, ...]

    def of(self, reading: str) -> tuple[Counts, ...]:
        """Return one reading."""
        return self.lenient if reading == "lenient" else self.strict

    def to_json(self) -> Json:
        """Return the row as plain JSON."""
        told: Json = {"name": self.name, "case": self.case, "kind": self.kind}
        return told | {reading: [list(counts) for counts in self.of(reading)] for reading in READINGS}


def moves_of(name: str, case: int | None, kind: str, episodes: Sequence[Sequence[Tallies]]) -> Moves:
    """Pool episodes, each of them scored under every setting."""
    pooled: dict[str, tuple[Counts, ...]] = {}
    for reading in READINGS:
        cells: list[Counts] = []
        for place in range(len(SETTINGS)):
            counts = [getattr(episode[place], reading).counts(kind) for episode in episodes]
            cells.append((sum(errors for errors, _ in counts), sum(eligible for _, eligible in counts)))
        pooled[reading] = tuple(cells)
    return Moves(name, case, kind, pooled["lenient"], pooled["strict"])


def score_run(folder: Path) -> list[list[Tallies]]:
    """Score the episodes of a run folder that are a result, each under every setting."""
    scored: list[list[Tallies]] = []
    for found in find_episodes(folder):
        if isinstance(found, EpisodeSource):
            report = score_episode(found, [setting.parameters for setting in SETTINGS], keep_steps=False)
            if report.summary.outcome.counts:
                scored.append([Tallies(**result.summary.readings) for result in report.results])
    return scored


@dataclass(frozen=True)
class Sensitivity:
    """The whole table."""

    rows: tuple[Moves, ...]

    def to_json(self) -> Json:
        """Return the table as plain JSON; the counts of a row stand in the order of the settings."""
        return {
            "settings": [{"parameter": setting.parameter, "value": setting.value} for setting in SETTINGS],
            "rows": [row.to_json() for row in self.rows],
            "order_faults": self.order_faults(),
        }

    def order_faults(self) -> list[str]:
        """Return a sentence for each setting and place where the order that must hold does not."""
        return [
            f"{setting.name}, {reading}: {fault}"
            for place, setting in enumerate(SETTINGS)
            for reading in READINGS
            for fault in order_faults(self._exploration(place, reading))
        ]

    def _exploration(self, place: int, reading: str) -> dict[str, float]:
        rates = {
            row.name: rate(*row.of(reading)[place]) for row in self.rows if row.kind == "exploration" and row.case != 2
        }
        return {name: value for name, value in rates.items() if value is not None}

    def to_markdown(self) -> list[str]:
        """Return the lines of a section of documentation."""
        faults = self.order_faults()
        lines = [
            "## Sensitivity",
            "",
            "What each rate would be with one parameter changed and all others at their defaults, from the same"
            " recorded facts. `=`: the counts are the same. Else the rate and by how much it moves, and where other"
            " decisions are eligible, how many. All counts are in calibration.json.",
            "",
            "How far each change reaches:",
            "",
            "| changed | lenient: rates that move | largest move | strict: rates that move | largest move |",
            "| --- | --- | --- | --- | --- |",
            *(self._reach(place) for place in range(1, len(SETTINGS))),
            "",
            "In each of these settings and both readings, exploration error: idle >= spinning > each random agent >"
            " scout. " + ("It holds." if not faults else "It does not hold:"),
            *([""] if faults else []),
            *(f"- {fault}" for fault in faults),
            "",
        ]
        for reading in READINGS:
            lines += self._table(reading)
        return lines

    def _reach(self, place: int) -> str:
        cells = [SETTINGS[place].name]
        for reading in READINGS:
            moved = [row for row in self.rows if row.of(reading)[place] != row.of(reading)[0]]
            shifts = [(abs(shift), row, shift) for row in moved if (shift := _shift(row.of(reading), place))]
            cells.append(f"{len(moved)} of {len(self.rows)}")
            if shifts:
                _, row, shift = max(shifts, key=lambda each: each[0])
                cells.append(f"{_shift_words(shift)}, {_row_name(row)}, {row.kind}")
            else:
                cells.append("–")
        return f"| {' | '.join(cells)} |"

    def _table(self, reading: str) -> list[str]:
        moving = [row for row in self.rows if len(set(row.of(reading))) > 1]
        still = [row for row in self.rows if row not in moving]
        lines = [
            f"### {reading.capitalize()} reading",
            "",
            f"| rate | error | {' | '.join(setting.name for setting in SETTINGS)} |",
            "| --- " * (len(SETTINGS) + 2) + "|",
            *(self._line(row, row.of(reading)) for row in moving),
            "",
        ]
        if still:
            lines += [f"Nothing moves these: {'; '.join(f'{_row_name(row)}, {row.kind}' for row in still)}.", ""]
        return lines

    def _line(self, row: Moves, cells: Sequence[Counts]) -> str:
        told = [_default(cells[0]), *(_moved(cells, place) for place in range(1, len(cells)))]
        return f"| {_row_name(row)} | {row.kind} | {' | '.join(told)} |"


def _row_name(row: Moves) -> str:
    return row.name if row.case is None else f"case {row.case}, {row.name}"


def _shift(cells: Sequence[Counts], place: int) -> float | None:
    before, after = rate(*cells[0]), rate(*cells[place])
    return None if before is None or after is None else after - before


def _default(counts: Counts) -> str:
    value = rate(*counts)
    return "–" if value is None else f"{counts[0]}/{counts[1]} = {value:.2f}"


def _moved(cells: Sequence[Counts], place: int) -> str:
    counts = cells[place]
    if counts == cells[0]:
        return "="
    value, shift = rate(*counts), _shift(cells, place)
    words = "–" if value is None else f"{value:.2f}"
    if shift:
        words += f" ({_shift_words(shift)})"
    return words if counts[1] == cells[0][1] else f"{words} of {counts[1]}"


def _shift_words(shift: float) -> str:
    """Return a move with its sign, also where two digits do not show it."""
    words = f"{shift:+.2f}"
    return words if float(words) else f"{words[0]}<0.01"
