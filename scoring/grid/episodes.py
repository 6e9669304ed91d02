"""Episodes of the grid world as they are recorded: the map stands in the header, and the moves say the rest."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import override

from oresight.gridenv.mapfile import MapError
from oresight.gridenv.model import DIRECTIONS
from oresight.scoring.adapters import Adapter, Recorded
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.grid.adapter import GridScenario, GridScorer
from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.faults import BadInput, shown, shown_path
from oresight.scoring.records import DecisionLine, Header
from oresight.scoring.rescoring import Scorer


class GridAdapter(Adapter):
    """Walks the map again; a decision has no facts of its own, and what comes after the end is no step of it."""

    readings: ClassVar[tuple[str, ...]] = ("lenient",)
    scores_rest: ClassVar[bool] = False

    @override
    def scorer(self, parameters: Parameters, scenario: Any, start: Any) -> Scorer:
        return GridScorer(parameters, scenario)

    @override
    def read(self, header: Header, path: Path, parameters: Sequence[Parameters]) -> Recorded:
        try:
            scenario = GridScenario.from_json(header.scenario)
        except MapError as fault:
            raise BadInput(path, shown_path(fault.found), fault.expected, 1, shown_path(fault.field)) from None
        except ValueError as error:
            raise BadInput(path, shown_path(str(error)), "a scenario of the grid", 1, "scenario") from None
        return Recorded(scenario.name, scenario)

    @override
    def facts(self, line: DecisionLine, path: Path, number: int) -> None:
        if line.action not in DIRECTIONS:
            raise BadInput(path, shown(line.action), " or ".join(DIRECTIONS), number, "action")

    @override
    def reached(self, summary: EpisodeSummary) -> str:
        return "the goal achieved" if summary.success else "the goal not achieved"
