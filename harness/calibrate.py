"""The calibration table: what the metric says of behaviours that everybody can judge, and of the bundled agents.

Behaviours are scripts in the 3D world, played here without pictures; agents play the standard suite as in any run. The
one place beside `worlds` that names an environment package, because a script needs the game itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from craftenv.actions import BY_NAME
from craftenv.behaviours import BEHAVIOURS, Behaviour
from craftenv.blocks import Block
from craftenv.sim.facts import Referee
from harness import store
from harness.protocols import Json
from harness.runner import Progress, RunPlan, run
from harness.summary import summary_of
from harness.worlds import find_worlds, suite_names
from scoring.craft import CraftScorer
from scoring.parameters import Parameters
from scoring.rates import Counts, Figure, error_figure
from scoring.summary import EpisodeSummary, Tally

WORLD_SEEDS = (0, 1, 2, 3, 4)
# Agent and the memory it plays with, from the one that does nothing to the one that knows everything.
AGENTS = (
    ("stuck", "raw"),
    ("spinner", "raw"),
    ("random", "raw"),
    ("scout", "raw"),
    ("scout", "screenshots(8)"),
    ("oracle", "raw"),
)
# The order that both readings must keep: each entry's exploration error is at least the next one's, and above it where
# the sign says so.
_IDLE, _SPINNING = ("idle",), ("spinning",)
_RANDOM = ("one of the 21 at random", "random moves and looks", "agent random, memory raw")
_SCOUT = ("agent scout, memory screenshots(8)",)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: Behaviour or agent.
        case: 1 or 2 for a behaviour; None for an agent, whose cases come as they come.
        kind: Which error the rates are of, "exploration" or "exploitation".
        expected: Lowest and highest lenient rate expected, None for an agent.
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
    """The whole table, and what it was made with."""

    rows: tuple[Row, ...]
    parameters: Parameters

    def to_json(self) -> Json:
        """Return the table as plain JSON."""
        return {
            "format": "oresight.calibration",
            "version": 1,
            "world_seeds": list(WORLD_SEEDS),
            "parameters": self.parameters.model_dump(mode="json"),
            "rows": [row.to_json() for row in self.rows],
            "order_faults": self.order_faults(),
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
            for high, low, strictly in [
                *((high, low, False) for high in _IDLE for low in _SPINNING),
                *((high, low, True) for high in _SPINNING for low in _RANDOM),
                *((high, low, True) for high in _RANDOM for low in _SCOUT),
            ]:
                if high not in rates or low not in rates:
                    faults.append(f"{reading}: {high} or {low} was not measured")
                elif rates[high] < rates[low] or (strictly and rates[high] == rates[low]):
                    faults.append(f"{reading}: {high} has {rates[high]:.3f}, not above {low} with {rates[low]:.3f}")
        return faults


def measure_behaviour(behaviour: Behaviour, parameters: Parameters) -> Row:
    """Play a behaviour in every calibration world and pool what the scorer says of it."""
    kind = "exploration" if behaviour.case == 1 else "exploitation"
    lenient: list[Counts] = []
    strict: list[Counts] = []
    successes = decisions = scored = 0
    for seed in WORLD_SEEDS:
        tallies = Tally(), Tally()
        scorer, played = _play(behaviour, seed, parameters, tallies)
        successes += scorer.success
        decisions += played
        lenient.append(getattr(tallies[0], "explore" if behaviour.case == 1 else "exploit"))
        strict.append(getattr(tallies[1], "explore" if behaviour.case == 1 else "exploit"))
        scored += lenient[-1][1]
    return Row(
        behaviour.name,
        behaviour.case,
        kind,
        behaviour.expected,
        len(WORLD_SEEDS),
        successes,
        decisions,
        scored,
        error_figure(lenient),
        error_figure(strict),
    )


def _play(
    behaviour: Behaviour, seed: int, parameters: Parameters, tallies: tuple[Tally, Tally]
) -> tuple[CraftScorer, int]:
    """Play one world; add its scored decisions after the warm-up to the tallies; return how many decisions count."""
    stage = behaviour.stage(seed)
    engine = stage.engine
    referee = Referee(engine)
    scenario = {
        "name": "calibration",
        "target": Block(engine.target_item).label,
        "target_count": 1,
        # One more than is played: the decision that lets the referee see the veil fall.
        "budget": behaviour.decisions + 1,
    }
    scorer = CraftScorer(parameters, scenario, referee.start())
    if stage.veil:
        stage.cover()
        scorer.score("wait", referee.observe(engine.run(BY_NAME["wait"])))
    played = 0
    for number, action in enumerate(behaviour.script(engine, seed)):
        if number >= behaviour.decisions or scorer.success:
            break
        decision = scorer.score(action, referee.observe(engine.run(BY_NAME[action])))
        if number < behaviour.warm_up:
            continue
        played += 1
        if decision.case is not None and decision.strict is not None:
            tallies[0].add(decision.case, decision.error)
            tallies[1].add(decision.case, decision.strict.error)
    return scorer, played


def agent_name(agent: str, memory: str) -> str:
    """Return how a bundled agent is called in the table."""
    return f"agent {agent}, memory {memory}"


def agent_rows(agent: str, memory: str, summaries: Sequence[EpisodeSummary]) -> list[Row]:
    """Return an agent's exploration and exploitation rows."""
    rows = []
    for kind, part in (("exploration", "explore"), ("exploitation", "exploit")):
        lenient: list[Counts] = [getattr(summary.lenient, part) for summary in summaries]
        rows.append(
            Row(
                agent_name(agent, memory),
                None,
                kind,
                None,
                len(summaries),
                sum(summary.success for summary in summaries),
                sum(summary.decisions for summary in summaries),
                sum(eligible for _, eligible in lenient),
                error_figure(lenient),
                error_figure([getattr(summary.strict, part) for summary in summaries]),
            )
        )
    return rows


def calibrate(work: Path, note: Callable[[str], None]) -> Calibration:
    """Measure the whole table.

    Args:
        work: An empty folder for the agents' runs.
        note: Told what is being measured.

    Raises:
        OresightError: A run cannot be made, for example for want of OpenGL.
    """
    parameters = Parameters()
    rows = []
    for behaviour in BEHAVIOURS:
        note(f"case {behaviour.case}: {behaviour.name}")
        rows.append(measure_behaviour(behaviour, parameters))
    worlds = find_worlds("craft", suite_names("craft", "craft-mine"))
    for agent, memory in AGENTS:
        note(agent_name(agent, memory))
        # Only the scout looks at pictures.
        plan = RunPlan(agent, memory, worlds, frames="none", size=(640, 480) if agent == "scout" else None)
        summary = run(plan, work / f"{agent}-{memory.replace('(', '-').replace(')', '')}", Progress())
        rows += agent_rows(agent, memory, [summary_of(result) for result in _counting(summary.results)])
    return Calibration(tuple(rows), parameters)


def _counting(results: Sequence[store.EpisodeResult]) -> list[store.EpisodeResult]:
    return [result for result in results if result.outcome.counts]


def to_markdown(calibration: Calibration) -> str:
    """Return the table as a page of documentation."""
    parameters = calibration.parameters
    faults = calibration.order_faults()
    lines = [
        "# Calibration of the 3D world's error metric",
        "",
        "What the metric says of behaviours that everybody can judge, and of the bundled agents. Made by"
        " `oresight calibrate --out docs`; every number below is measured by that command, none is written by hand.",
        "",
        f"Behaviours are scripts played in {len(WORLD_SEEDS)} worlds each; agents play the suite `craft-mine`. A cell"
        " is errors / eligible decisions = rate. Scored decisions stand beside all decisions: a first preparation"
        " (slot, jump, placing) is not scored by itself. Expected rates are for the lenient reading. Parameters:"
        f" k = {parameters.k}, patience {parameters.patience}, discovery {parameters.discovery_px:g} px, position cell"
        f" {parameters.position_cell_blocks}, new faces {parameters.new_faces_min}.",
        "",
    ]
    for case, title in (
        (1, "Nothing is known (case 1): exploration error"),
        (2, "An ore is known (case 2): exploitation error"),
        (None, "Bundled agents on `craft-mine`"),
    ):
        lines += [f"## {title}", "", _heading(case), "| --- | --- | --- | --- | --- | --- |"]
        lines += [_markdown_row(row) for row in calibration.rows if row.case == case]
        lines.append("")
    lines += [
        "## The order that must hold",
        "",
        "In both readings, exploration error: idle >= spinning > each random agent > scout. "
        + ("It holds." if not faults else "It does not hold:"),
        *([""] if faults else []),
        *(f"- {fault}" for fault in faults),
        "",
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
