"""The calibration table: what the metric says of behaviours that everybody can judge, of bundled agents and of people.

Behaviours are scripts in the 3D world, played here without pictures; agents play the standard suite as in any run;
people have played before. The one place beside `worlds` that names an environment package, because a script needs the
game itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from experiments.behaviours import BEHAVIOURS, Behaviour
from experiments.calibration.order import order_faults
from experiments.calibration.people import HOW_TO, Person
from experiments.calibration.sensitivity import SETTINGS, Moves, Play, Sensitivity, moves_of, score_run
from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.blocks import Block
from oresight.craftenv.scenarios.maker import SUITE_SEEDS
from oresight.craftenv.scenarios.suites import scenario_names
from oresight.craftenv.sim.facts import Referee
from oresight.harness.analysis.summary import summary_of
from oresight.harness.protocols import Json
from oresight.harness.records import folder as run_folder
from oresight.harness.running.runner import Progress, RunPlan, run
from oresight.harness.worlds import World, find_worlds
from oresight.scoring.decisions import ERROR_KINDS, EpisodeSummary
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import CraftFacts, CraftScenario, StartFacts
from oresight.scoring.statistics import Figure, figure_of

WORLD_SEEDS = (0, 1, 2, 3, 4)
SUITE = "craft-mine"
# Agent and the memory it plays with, from the one that does nothing to the one that knows everything.
AGENTS = (
    ("stuck", "raw"),
    ("spinner", "raw"),
    ("random", "raw"),
    ("scout", "raw"),
    ("scout", "screenshots(8)"),
    ("oracle", "raw"),
)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: Behaviour, agent or person.
        case: 1 or 2 for a behaviour; None for an agent or a person, whose cases come as they come.
        kind: Which error the rates are of, "exploration" or "exploitation".
        expected: Lowest and highest lenient rate expected, None for an agent or a person.
        episodes: Worlds or scenarios played.
        successes: Of these, in how many the target was acquired.
        decisions: All decisions played that count.
        scored: Scored ones among them.
        lenient: The rate, lenient reading.
        strict: The rate, strict reading.
    """

    name: str
    case: int | None
    kind: str
    expected: tuple[float, float] | None
    episodes: int
    successes: int
    decisions: int
    scored: int
    lenient: Figure
    strict: Figure

    @property
    def as_expected(self) -> bool | None:
        """Whether the lenient rate lies where it is expected, or None where nothing is."""
        if self.expected is None or self.lenient.value is None:
            return None
        return self.expected[0] <= self.lenient.value <= self.expected[1]

    def to_json(self) -> Json:
        """Return the row as plain JSON."""
        return {
            "name": self.name,
            "case": self.case,
            "kind": self.kind,
            "expected": None if self.expected is None else list(self.expected),
            "as_expected": self.as_expected,
            "episodes": self.episodes,
            "successes": self.successes,
            "decisions": self.decisions,
            "scored_decisions": self.scored,
            "lenient": self.lenient.to_json(),
            "strict": self.strict.to_json(),
        }


@dataclass(frozen=True)
class Calibration:
    """The whole table, what it was made with, and how far it depends on that."""

    rows: tuple[Row, ...]
    parameters: Parameters
    sensitivity: Sensitivity

    def to_json(self) -> Json:
        """Return the table as plain JSON."""
        return {
            "format": "oresight.calibration",
            "version": 1,
            "world_seeds": list(WORLD_SEEDS),
            "parameters": self.parameters.model_dump(mode="json"),
            "rows": [row.to_json() for row in self.rows],
            "order_faults": self.order_faults(),
            "sensitivity": self.sensitivity.to_json(),
        }

    def order_faults(self) -> list[str]:
        """Return a sentence for each place where idle >= spinning > each random agent > scout does not hold."""
        faults = []
        for reading in ("lenient", "strict"):
            rates = {
                row.name: figure.value
                for row in self.rows
                if row.kind == "exploration" and row.case != 2 and (figure := getattr(row, reading)).value is not None
            }
            faults += [f"{reading}: {fault}" for fault in order_faults(rates)]
        return faults


def measure_behaviour(behaviour: Behaviour) -> tuple[Row, Moves]:
    """Play a behaviour in every calibration world and pool what the scorer says of it, under every setting."""
    kind = "exploration" if behaviour.case == 1 else "exploitation"
    plays = [_play(behaviour, seed) for seed in WORLD_SEEDS]
    scored = [[play.score(setting.parameters) for setting in SETTINGS] for play in plays]
    # The first of the settings is the defaults.
    lenient = [tallies[0].lenient.counts(kind) for tallies in scored]
    row = Row(
        behaviour.name,
        behaviour.case,
        kind,
        behaviour.expected,
        len(plays),
        sum(play.success for play in plays),
        sum(play.counted for play in plays),
        sum(eligible for _, eligible in lenient),
        figure_of(lenient),
        figure_of([tallies[0].strict.counts(kind) for tallies in scored]),
    )
    return row, moves_of(behaviour.name, behaviour.case, kind, scored)


def _play(behaviour: Behaviour, seed: int) -> Play:
    """Play one world and keep its facts."""
    stage = behaviour.stage(seed)
    engine = stage.engine
    referee = Referee(engine)
    scenario = CraftScenario(
        name="calibration",
        target=Block(engine.target_item).label,
        target_count=1,
        # One more than is played: the decision that lets the referee see the veil fall.
        budget=behaviour.decisions + 1,
    )
    start = StartFacts.model_validate(referee.start())
    decisions: list[tuple[str, CraftFacts]] = []

    def do(action: str) -> CraftFacts:
        facts = CraftFacts.model_validate(referee.observe(engine.run(BY_NAME[action])))
        decisions.append((action, facts))
        return facts

    if stage.veil:
        stage.cover()
        do("wait")
    counted_from = len(decisions) + behaviour.warm_up
    for action in islice(behaviour.script(engine, seed), behaviour.decisions):
        if do(action).acquired:
            break
    return Play(scenario, start, tuple(decisions), counted_from)


def agent_name(agent: str, memory: str) -> str:
    """Return how a bundled agent is called in the table."""
    return f"agent {agent}, memory {memory}"


def player_rows(name: str, summaries: Sequence[EpisodeSummary]) -> list[Row]:
    """Return the exploration and exploitation rows of an agent or a person."""
    rows = []
    for kind in ERROR_KINDS:
        lenient = [summary.tally.counts(kind) for summary in summaries]
        rows.append(
            Row(
                name,
                None,
                kind,
                None,
                len(summaries),
                sum(summary.success for summary in summaries),
                sum(summary.decisions for summary in summaries),
                sum(eligible for _, eligible in lenient),
                figure_of(lenient),
                figure_of([summary.readings["strict"].counts(kind) for summary in summaries]),
            )
        )
    return rows


def suite_worlds() -> tuple[World, ...]:
    """Return what the agents play."""
    return find_worlds("craft", scenario_names(SUITE, SUITE_SEEDS))


def calibrate(work: Path, note: Callable[[str], None], people: Sequence[Person] = ()) -> Calibration:
    """Measure the whole table.

    Args:
        work: An empty folder for the agents' runs.
        note: Told what is being measured.
        people: Who stands beside the agents.

    Raises:
        OresightError: A run cannot be made, for example for want of OpenGL.
    """
    rows: list[Row] = []
    moves: list[Moves] = []
    for behaviour in BEHAVIOURS:
        note(f"case {behaviour.case}: {behaviour.name}")
        row, moved = measure_behaviour(behaviour)
        rows.append(row)
        moves.append(moved)
    worlds = suite_worlds()
    for agent, memory in AGENTS:
        note(agent_name(agent, memory))
        # Only the scout looks at pictures.
        plan = RunPlan(agent, memory, worlds, frames="none", size=(640, 480) if agent == "scout" else None)
        folder = work / f"{agent}-{memory.replace('(', '-').replace(')', '')}"
        summary = run(plan, folder, Progress())
        rows += player_rows(agent_name(agent, memory), [summary_of(result) for result in _counting(summary.results)])
        scored = score_run(folder)
        moves += [moves_of(agent_name(agent, memory), None, kind, scored) for kind in ("exploration", "exploitation")]
    for person in people:
        rows += player_rows(person.name, person.summaries)
    return Calibration(tuple(rows), SETTINGS[0].parameters, Sensitivity(tuple(moves)))


def _counting(results: Sequence[run_folder.EpisodeResult]) -> list[run_folder.EpisodeResult]:
    return [result for result in results if result.outcome.counts]


def to_markdown(calibration: Calibration) -> str:
    """Return the table as a page of documentation."""
    parameters = calibration.parameters
    faults = calibration.order_faults()
    lines = [
        "# Calibration of the 3D world's error metric",
        "",
        "What the metric says of behaviours that everybody can judge, of the bundled agents and of people. Made by"
        " `python -m experiments.calibration --out docs`; every number below is measured by that command, none is"
        " written by hand.",
        "",
        f"Behaviours are scripts played in {len(WORLD_SEEDS)} worlds each; agents play the suite `{SUITE}`. A cell"
        " is errors / eligible decisions = rate. Scored decisions stand beside all decisions: a first preparation"
        " (slot, jump, placing) is not scored by itself. Expected rates are for the lenient reading. Parameters:"
        f" k = {parameters.k}, patience {parameters.patience}, discovery {parameters.discovery_px:g} px, position cell"
        f" {parameters.position_cell_blocks}, new faces {parameters.new_faces_min}.",
        "",
    ]
    for case, title in (
        (1, "Nothing is known (case 1): exploration error"),
        (2, "An ore is known (case 2): exploitation error"),
        (None, f"Bundled agents and people on `{SUITE}`"),
    ):
        lines += [f"## {title}", "", _heading(case), "| --- | --- | --- | --- | --- | --- |"]
        lines += [_markdown_row(row) for row in calibration.rows if row.case == case]
        lines.append("")
    lines += [
        HOW_TO,
        "## The order that must hold",
        "",
        "In both readings, exploration error: idle >= spinning > each random agent > scout. "
        + ("It holds." if not faults else "It does not hold:"),
        *([""] if faults else []),
        *(f"- {fault}" for fault in faults),
        "",
        *calibration.sensitivity.to_markdown(),
        _LIMITS,
    ]
    return "\n".join(lines)


_LIMITS = """## Known limits

- Strip mining cannot be told from a search for hidden ore: tunnelling always shows faces never seen before, so the
  lenient reading finds no error in it.
- A player who keeps seeking the least novelty that suffices gets by for about a hundred decisions; only patience and
  the stale score bound it.
- Spinning is forgiven a second lap (k = 2): two thirds over a hundred decisions, and more the longer it goes on.
- A pillar built without a pause is a chain of preparations. The first jump and the first placing are free, every
  further one is scored as no gain, although the player rises; a pause after each block lets the rise be seen. The row
  without pauses shows what this costs.
- Progress towards an ore is a fall of a whole block in one decision. Who tunnels straight ahead a block at a time falls
  a little less each time: every decision is a gain, none is progress, and patience ends after 24 of them.
- Full knowledge is not free of error. The oracle goes for the ore of its proof, also where another one came into view
  before, and it walks sideways without looking; from the actions alone that is going away from what is known.
"""


def _heading(case: int | None) -> str:
    first = "agent | error" if case is None else "behaviour | expected"
    return f"| {first} | lenient | strict | scored / all decisions | successes |"


def _markdown_row(row: Row) -> str:
    if row.expected is None:
        second = row.kind
    else:
        low, high = row.expected
        second = f"{low:g} to {high:g}" + ("" if row.as_expected else " (missed)")
    return (
        f"| {row.name} | {second} | {_cell(row.lenient)} | {_cell(row.strict)}"
        f" | {row.scored} / {row.decisions} | {row.successes} of {row.episodes} |"
    )


def _cell(figure: Figure) -> str:
    if figure.value is None:
        return "–"
    return f"{figure.numerator}/{figure.denominator} = {figure.value:.2f}"
