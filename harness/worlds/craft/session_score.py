"""Scores a person's session: plays it again in its world, because facts need one, and judges the decisions in it.

The file is read twice at once: ahead to find where the decisions end, and behind that to play them. So memory does not
grow with its length.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oresight.harness.errors import ReplayRefusedError
from oresight.harness.protocols import Json
from oresight.harness.running.replay import first_difference
from oresight.scoring.craft.adapter import CraftScorer
from oresight.scoring.episodes import EpisodeReport, Follower
from oresight.scoring.measures import Following
from oresight.scoring.parameters import Parameters, RecordedInputs
from oresight.scoring.readers.faults import BadInput, shown, shown_path, validated
from oresight.scoring.records import (
    TRAJECTORY_FORMAT,
    CraftFacts,
    CraftScenario,
    DecisionLine,
    Header,
    Outcome,
    SessionHeader,
    SessionTick,
    StartFacts,
    parse_json,
    to_line,
)
from oresight.scoring.rescoring import Rescoring, Scorer
from oresight.scoring.sessions.reader import SESSION_NAME, SessionReader
from oresight.scoring.sessions.sharing import Sharing, session_cuts, together

if TYPE_CHECKING:
    from oresight.harness.worlds.craft.refereed import Refereed

_PLAYED_AGAIN = (
    "what the world gives when the session is played again; the file was changed, or another oresight made it"
)


def score_session(
    path: Path, parameters: Sequence[Parameters], keep_steps: bool = True, follower: Follower | None = None
) -> EpisodeReport:
    """Score one session.

    Args:
        path: Its file.
        parameters: One or more.
        keep_steps: Keep every classified decision.
        follower: Told of header and decisions as if they stood in a trajectory.

    Raises:
        BadInput: The session is at fault, or its world cannot be had here.
    """
    # Imported here, so that scoring anything else loads no world.
    from oresight.harness.worlds.craft.refereed import Refereed

    with SessionReader(path) as ahead, SessionReader(path) as behind:
        header = ahead.header
        scenario = validated(CraftScenario, header.scenario, path, 1, "scenario")
        start = validated(StartFacts, header.start.facts, path, 1, "start.facts")
        recorded = validated(RecordedInputs, header.score_inputs, path, 1, "score_inputs")

        def scorer(each: Parameters) -> Scorer:
            try:
                return CraftScorer(each, scenario, start)
            except ValueError as error:
                raise BadInput(path, "an episode of the 3D world", f"another alpha: {error}", 1, "kind") from None

        rescoring = Rescoring(
            parameters,
            scorer,
            keep_steps=keep_steps,
            follow=lambda: Following("craft", header.start.state_hash, 0),
        )
        try:
            world = Refereed(header)
        except ReplayRefusedError as error:
            raise BadInput(path, shown(str(error).partition("; ")[0]), "a world that can be played here", 1) from None
        _compare(path, 1, "start", header.start.model_dump(mode="json"), world.start())
        if follower is not None:
            follower.header(_as_trajectory(header))
        behind_ticks = iter(behind)
        sharing = Sharing(start.pose, parameters[0])
        cuts = session_cuts(header, start.pose, (tick for _, tick in ahead))
        number = 0
        for group in together(cuts):
            _play(path, behind_ticks, world, group[-1].until)
            facts, state_hash = world.observe(), world.state_hash
            shares = sharing.share(facts, group) if header.mode == "real-time" else [(group[0], facts)]
            for cut, own in shares:
                number += 1
                told, ticks = _as_json(own), (cut.first, cut.last)
                shared = CraftFacts.model_validate(told)
                rescoring.score(cut.action, shared, ticks, state_hash)
                if follower is not None:
                    line = DecisionLine(step=number, action=cut.action, state_hash=state_hash, ticks=ticks, facts=told)
                    follower.decision(line, shared)
        _play(path, behind_ticks, world, None)
        notes: list[str] = []
        if ahead.torn is not None:
            notes.append(f"line {ahead.torn.line} was cut short and is left out")
        if ahead.end is None:
            notes.append("the session was cut off before its end and counts as incomplete where it had not succeeded")
    results = rescoring.results(None if ahead.end is None else Outcome.AGENT_ENDED, None)
    return EpisodeReport(
        file=shown_path(path),
        name=path.resolve().parent.name if path.name == "session.jsonl" else path.stem,
        kind="craft",
        scenario=scenario.name,
        agent=header.agent,
        memory="",
        results=results,
        recorded=recorded,
        notes=tuple(notes),
    )


def _as_trajectory(header: SessionHeader) -> Header:
    told = header.model_dump(exclude={"mode", "ticks_per_second"})
    return Header.model_validate(
        {**told, "format": TRAJECTORY_FORMAT, "kind": "craft", "memory": "", "session": SESSION_NAME}
    )


def _play(path: Path, ticks: Iterator[tuple[int, SessionTick]], world: "Refereed", until: int | None) -> None:
    for line, tick in ticks:
        _compare(path, line, "", _recorded(tick), world.tick(tick))
        if tick.tick == until:
            return


def _recorded(tick: SessionTick) -> Json:
    line = tick.model_dump(mode="json", include={"pose", "changes", "state_hash"})
    return {name: value for name, value in line.items() if value or name == "pose"}


def _compare(path: Path, line: int, place: str, recorded: Json, played: Json) -> None:
    found = first_difference(recorded, _as_json(played), place)
    if found is not None:
        field, here, there = found
        raise BadInput(path, shown(here), f"{shown(there)}: {_PLAYED_AGAIN}", line, shown_path(field))


def _as_json(value: Json) -> Any:
    # Through JSON and back, as the recorded side has been.
    return parse_json(to_line(value).decode())
