"""What a person has played, as a run of an agent would be: an episode for each scenario, read from recorded sessions.

`session_score` plays a session again and scores it; here is chosen which session of a scenario counts, and said what
a reader of the figures has to know.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from oresight.harness import files
from oresight.harness.errors import RecordError, UsageError
from oresight.harness.protocols import Json
from oresight.harness.records import folder as run_folder
from oresight.harness.text import visible
from oresight.harness.worlds.craft import NAME
from oresight.harness.worlds.craft.session_score import score_session
from oresight.scoring.episodes import EpisodeReport
from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.discover import EpisodeSource, Recording, SessionFile, find_episodes
from oresight.scoring.readers.faults import BadInput, shown_path, unreadable
from oresight.scoring.records import Outcome, SessionHeader
from oresight.scoring.sessions.reader import SESSION_NAME, SessionReader

_NAME_LENGTH = 40


@dataclass(frozen=True)
class Played:
    """What one person has played.

    Attributes:
        name: Of the folder, or of the file.
        run: As if it had been asked for: the scenarios of which there are sessions.
        results: Of the session that counts for each of them, those without an end among them.
        files: The session that counts, by scenario.
        scenarios: What it was recorded in, by name.
        notes: What a reader has to know, in sentences.
        faults: What is wrong with sessions, in sentences.
    """

    name: str
    run: run_folder.RunFile
    results: tuple[run_folder.EpisodeResult, ...]
    files: dict[str, Path]
    scenarios: dict[str, Json]
    notes: tuple[str, ...]
    faults: tuple[str, ...]


def read_sessions(place: Path) -> Played | None:
    """Plays the sessions of one person again and scores them; None where there are none.

    The first session of a scenario, in the order of the names, is the one that counts: whoever plays it again knows the
    world, and no agent does. Only where it has no result does the next one.

    Args:
        place: A session's file or folder, or a folder that holds several, however deep.

    Raises:
        UsageError: There are recordings of the real game alone.
    """
    shelf = _Shelf(place)
    for found in find_episodes(place):
        if isinstance(found, SessionFile):
            shelf.take(found.path)
        elif isinstance(found, EpisodeSource) and found.trajectory.name == SESSION_NAME:
            # A session by its name whose beginning does not say so: its reader tells what is wrong with it.
            shelf.take(found.trajectory)
        elif isinstance(found, BadInput):
            shelf.faults.append(str(found))
        else:
            shelf.others.append(type(found))
    if shelf.found:
        return shelf.played()
    if Recording in shelf.others:
        raise UsageError(
            f"{shown_path(place)}: holds recordings of the real game, which have no scenario and so cannot be paired"
            " with episodes; `oresight score` gives their figures"
        )
    return None


@dataclass
class _Shelf:
    """Sessions as they are found, sorted by scenario."""

    place: Path
    found: int = 0
    others: list[type] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    headers: list[SessionHeader] = field(default_factory=list)
    chosen: dict[str, tuple[Path, EpisodeReport]] = field(default_factory=dict)
    scenarios: dict[str, Json] = field(default_factory=dict)
    broken_off: dict[str, list[Path]] = field(default_factory=dict)
    repeated: dict[str, list[Path]] = field(default_factory=dict)

    def take(self, path: Path) -> None:
        """Scores a session, unless another one of its scenario counts already."""
        self.found += 1
        try:
            with SessionReader(path) as session:
                header = session.header
            name = files.checked_id(str(header.scenario.get("name")))
            if name in self.chosen and self.chosen[name][1].summary.outcome.counts:
                self.repeated.setdefault(name, []).append(path)
                return
            report = score_session(path, [Parameters()], keep_steps=False)
        except BadInput as fault:
            self.faults.append(str(fault))
            return
        except RecordError as error:
            self.faults.append(f"{shown_path(path)}: its scenario's name {error}")
            return
        except OSError as error:
            self.faults.append(str(unreadable(path, error)))
            return
        self.headers.append(header)
        if name in self.chosen:
            self.broken_off.setdefault(name, []).append(self.chosen[name][0])
        self.chosen[name], self.scenarios[name] = (path, report), header.scenario

    def played(self) -> Played:
        """What was found, as a run."""
        agents = list(dict.fromkeys(header.agent for header in self.headers)) or ["human"]
        agent = visible(" and ".join(agents), _NAME_LENGTH)
        names = tuple(sorted(self.chosen))
        versions = (
            {} if not self.headers else {name: _version(self.headers[0], name) for name in ("oresight", "terrain")}
        )
        config = run_folder.RunConfig(world=NAME, agent=agent, memory="", episodes=names, frames="none", size=None)
        return Played(
            _name(self.place),
            run_folder.RunFile(config=config, versions=versions),
            tuple(_result(name, agent, self.chosen[name][1]) for name in names),
            {name: self.chosen[name][0] for name in names},
            {name: self.scenarios[name] for name in names},
            tuple(self._notes()),
            tuple(self.faults),
        )

    def _notes(self) -> Iterator[str]:
        outcomes = {name: report.summary.outcome for name, (_, report) in sorted(self.chosen.items())}
        if left := [name for name, outcome in outcomes.items() if outcome is Outcome.AGENT_ENDED]:
            yield (
                "left before the budget was spent and without success, which counts as a failure like that of an agent"
                f" that ends its episode: {', '.join(left)}"
            )
        if broken := [name for name, outcome in outcomes.items() if outcome is Outcome.INCOMPLETE]:
            yield (
                f"broken off without an end, which is no result: {', '.join(broken)}; play the scenario again and"
                " record it beside"
            )
        for name, paths in sorted(self.repeated.items()):
            yield (
                f"{name} was played more than once: {self._shown(self.chosen[name][0])} counts, the first by name with"
                f" a result; left out: {', '.join(map(self._shown, paths))}"
            )
        for name, paths in sorted(self.broken_off.items()):
            if not outcomes[name].counts:
                continue
            yield (
                f"{name} was begun before, in {', '.join(map(self._shown, paths))}, which broke off: the player knew"
                f" its world when playing {self._shown(self.chosen[name][0])}, which counts"
            )
        modes = {header.mode for header in self.headers}
        if len(modes) > 1:
            yield "some sessions were played in real time and some turn-based; their figures are taken together"
        if self.others:
            yield f"left out beside the sessions, since they are none: {len(self.others)} other recordings or episodes"

    def _shown(self, path: Path) -> str:
        inside = path.relative_to(self.place) if self.place.is_dir() else Path(path.name)
        folder = inside.parent if inside.name == SESSION_NAME and inside.parent != Path() else inside
        return shown_path(folder)


def _version(header: SessionHeader, name: str) -> str | int:
    found = header.versions.get(name)
    return found if isinstance(found, str | int) else str(found)


def _result(name: str, agent: str, report: EpisodeReport) -> run_folder.EpisodeResult:
    summary = report.summary
    parameters = Parameters() if report.recorded is None else Parameters(recorded=report.recorded)
    return run_folder.EpisodeResult(
        id=name,
        scenario=name,
        agent=agent,
        memory="",
        outcome=summary.outcome,
        reason=summary.reason,
        steps=summary.steps_taken,
        # A session has a task, and so a budget.
        budget=cast(int, summary.budget),
        score=summary.to_json(),
        parameters=parameters.model_dump(mode="json"),
    )


def _name(place: Path) -> str:
    whole = place.resolve()
    if place.is_dir():
        return visible(whole.name, _NAME_LENGTH)
    return visible(whole.parent.name if whole.name == SESSION_NAME else whole.stem, _NAME_LENGTH)
