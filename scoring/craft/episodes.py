"""Episodes of the 3D world as they are recorded: header and facts checked, and the scorer that they are for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import override

from oresight.scoring.adapters import Adapter, Recorded
from oresight.scoring.craft.adapter import CraftScorer
from oresight.scoring.decisions import EpisodeSummary
from oresight.scoring.parameters import Parameters, RecordedInputs
from oresight.scoring.readers.faults import BadInput, validated
from oresight.scoring.records import CraftFacts, CraftScenario, DecisionLine, Header, StartFacts
from oresight.scoring.rescoring import Scorer


class CraftAdapter(Adapter):
    """Reads poses, blocks, ores and what was seen."""

    readings: ClassVar[tuple[str, ...]] = ("lenient", "strict")

    @override
    def scorer(self, parameters: Parameters, scenario: Any, start: Any) -> Scorer:
        return CraftScorer(parameters, scenario, start)

    @override
    def read(self, header: Header, path: Path, parameters: Sequence[Parameters]) -> Recorded:
        inputs = validated(RecordedInputs, header.score_inputs, path, 1, "score_inputs")
        if inputs.face_px_min > (smallest := min(each.discovery_px for each in parameters)):
            expected = f"at most discovery_px, {smallest}"
            raise BadInput(path, f"{inputs.face_px_min}", expected, 1, "score_inputs.face_px_min")
        scenario = validated(CraftScenario, header.scenario, path, 1, "scenario")
        start = validated(StartFacts, header.start.facts, path, 1, "start.facts")
        for each in parameters:
            try:
                CraftScorer(each, scenario, start)
            except ValueError as error:
                raise BadInput(path, "an episode of the 3D world", f"another alpha: {error}", 1, "kind") from None
        return Recorded(scenario.name, scenario, start, inputs)

    @override
    def facts(self, line: DecisionLine, path: Path, number: int) -> CraftFacts:
        return validated(CraftFacts, line.facts, path, number, "facts")

    @override
    def reached(self, summary: EpisodeSummary) -> str:
        return f"{summary.details['acquired']} of {summary.details['target_count']} ores"
