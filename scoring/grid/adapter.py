"""The grid's adapter: a map and moves in, one classified decision out.

What a move reveals and achieves is the map's business (`gridenv.model.Exploration`), which way is nearer that of
`scoring.grid.ways`; here the five questions of the core are answered. A decision costs the same however long the
episode is. How the definitions are read where they leave a choice:

- **Entered a target** is asked of the state before the move: in case 1 and 4 an unobserved cell, in case 2 the goal's
  cell alone, in case 3 and 4 a pending node's. It needs a move: staying on a cell enters nothing.
- **Before the move** holds for both graphs: what the move itself reveals is judged with the next one.
- The start is an arrival: an episode whose goal is achieved there is a success without a decision.
- There is one reading: the strict counts are the lenient ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oresight.gridenv.mapfile import parse_map
from oresight.gridenv.model import DIRECTIONS, VISIBILITIES, Cell, Exploration, GridMap, Visibility
from oresight.scoring.core import Answers, Case, Judge, case_of
from oresight.scoring.decisions import LENIENT, EpisodeSummary, ScoredDecision, Tally, outcome_of
from oresight.scoring.grid.ways import NearerToAny, NearerToGoal
from oresight.scoring.parameters import Parameters
from oresight.scoring.records import Outcome

TARGET = ("target",)
NEARER = ("nearer",)
POSSIBLY_NEARER = ("possibly nearer",)


@dataclass(frozen=True)
class GridScenario:
    """What the scorer needs of a scenario.

    Attributes:
        map: The map.
        visibility: "partial", or "full" for the exploit-only setting.
        name: What it is called.
        budget: In moves, as it was played; None where nobody says. What is scored follows from the map and alpha.
    """

    map: GridMap
    visibility: Visibility
    name: str = ""
    budget: int | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str = "scenario") -> "GridScenario":
        """Make it of the scenario in a trajectory's header.

        Raises:
            gridenv.mapfile.MapError: The map is malformed.
            ValueError: Another field is.
        """
        visibility = data.get("visibility")
        if visibility not in VISIBILITIES:
            raise ValueError(f"{where}.visibility is {visibility!r}; expected one of {', '.join(VISIBILITIES)}")
        budget = data.get("budget")
        if budget is not None and type(budget) is not int:
            raise ValueError(f"{where}.budget is {budget!r}; expected a whole number of moves")
        map_ = parse_map(data.get("map"), f"{where}.map")
        return cls(map_, visibility, str(data.get("name", map_.name)), budget)


class GridScorer:
    """Scores the decisions of one episode in their order.

    Args:
        parameters: Of the metric; `k` and `alpha` are all that the grid uses.
        scenario: A `GridScenario`, or the JSON that one is made of.

    Raises:
        ValueError: The scenario is malformed (`gridenv.mapfile.MapError` is one).
    """

    def __init__(self, parameters: Parameters, scenario: GridScenario | Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.scenario = scenario if isinstance(scenario, GridScenario) else GridScenario.from_json(scenario)
        map_ = self.scenario.map
        self.budget = map_.budget(parameters.alpha)
        self.tally = Tally()
        self._decisions = 0
        self._steps_taken = 0
        self._walk = Exploration(map_, self.scenario.visibility)
        self._judge = Judge(parameters.k, map_.start)
        self._nearer_to_any = NearerToAny(self._walk)
        self._nearer_to_goal: NearerToGoal | None = None
        self._case: Case | None = None
        self._pending: frozenset[Cell] = frozenset()

    @property
    def success(self) -> bool:
        """Whether the goal has been achieved within the budget."""
        return self._walk.success

    @property
    def ended(self) -> bool:
        """Whether what follows is not scored any more."""
        return self._steps_taken >= self.budget or self._walk.success

    def score(self, action: str | None, facts: object = None) -> ScoredDecision:
        """Classify the next decision.

        Args:
            action: A direction, or None for no move.
            facts: Not used: map and moves say it all.

        Raises:
            ValueError: There is no such move.
            scoring.core.NothingLeftError: The map cannot be solved, which `gridenv.mapfile` would have told.
        """
        self._decisions += 1
        if self.ended:
            return ScoredDecision.unscored(self._decisions, action, self._judge.stale)
        walk = self._walk
        before = walk.position
        after = walk.map.ways[before].get(action)  # type: ignore[arg-type]  # None is just no direction
        if after is None and action is not None and action not in DIRECTIONS:
            raise ValueError(f"{action!r} is no move; expected {', '.join(DIRECTIONS)} or None")
        self._steps_taken += 1
        case = self._case or self._required()
        reasons = () if after is None else self._gains(case, before, after)
        arrival = walk.move(action)
        if arrival.fresh or arrival.achieved:
            self._take_in(arrival.cell, fresh=arrival.fresh)
        verdict = self._judge.judge(Answers(case, bool(reasons), reasons is TARGET, arrival.cell))
        self.tally.add(case, verdict.error)
        return ScoredDecision.of(self._decisions, action, verdict, reasons, arrival.cell)

    def summary(self, outcome: Outcome | None = None, reason: str | None = None) -> EpisodeSummary:
        """Sum up the decisions so far.

        Args:
            outcome: How the episode ended as recorded by whoever played it; None if nobody knows.
            reason: Why, in words.
        """
        return EpisodeSummary(
            outcome=self._outcome(outcome),
            reason=reason,
            readings={LENIENT: self.tally},
            decisions=self._decisions,
            scored_decisions=self._steps_taken,
            steps_taken=self._steps_taken,
            budget=self.budget,
            score=float(self.success),
            details={"acquired": int(self.success), "target_count": 1, "discoveries": []},
        )

    def _outcome(self, recorded: Outcome | None) -> Outcome:
        # Scored under a larger budget than it was played with, an episode that spent that one stays a failure.
        played = self.scenario.budget
        spent_then = recorded is Outcome.BUDGET_SPENT and played is not None and self._decisions >= played
        return outcome_of(recorded, success=self.success, budget_spent=spent_then or self._steps_taken >= self.budget)

    def _required(self) -> Case:
        """Work out the case and what is pending; both hold until something is observed or achieved."""
        pending, goal = self._walk.pending, self._walk.map.goal
        self._pending = frozenset(node.cell for node in pending)
        self._case = case_of(
            frontier_left=bool(self._walk.unobserved),
            pending=bool(pending),
            goal_pending=any(node.id == goal for node in pending),
        )
        return self._case

    def _gains(self, case: Case, before: Cell, after: Cell) -> tuple[str, ...]:
        """Return why a move, still to be made, is a gain; progress is `TARGET` and nothing else."""
        if case is Case.GOAL:
            return self._gains_on_goal(before, after)
        if after in self._pending or after not in self._walk.observed:
            return TARGET
        return NEARER if self._nearer_to_any.ask(before, after, self._pending) else ()

    def _gains_on_goal(self, before: Cell, after: Cell) -> tuple[str, ...]:
        goal = self._walk.map.goal_node.cell
        if after == goal:
            return TARGET
        ways = self._nearer_to_goal
        if ways is None:
            ways = self._nearer_to_goal = NearerToGoal(self._walk, goal)
        if ways.known(before, after):
            return NEARER
        return POSSIBLY_NEARER if ways.possible(before, after) else ()

    def _take_in(self, cell: Cell, *, fresh: bool) -> None:
        self._case = None
        self._nearer_to_any.forget()
        if fresh and self._nearer_to_goal is not None:
            self._nearer_to_goal.observe(cell)
