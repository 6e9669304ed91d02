"""People's sessions as an ordinary run: each is cut into decisions, played once more for its facts, and written down.

What comes of it is read like the run of any agent. The session lies beside its decisions, for films and for importing
anew: a decision in real time cannot be done again by its action's name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oresight.harness import files
from oresight.harness.analysis.summary import RunSummary, summarise
from oresight.harness.errors import StoreError, UsageError
from oresight.harness.records.folder import EpisodeFolder, EpisodeResult, RunFolder
from oresight.harness.records.people import Played, read_sessions
from oresight.harness.worlds.craft.session_score import score_session
from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.records import CraftFacts, DecisionLine, Header
from oresight.scoring.sessions.reader import SESSION_NAME


@dataclass(frozen=True)
class Imported:
    """What was imported.

    Attributes:
        summary: Of the run that was written.
        notes: What a reader has to know, in sentences: sessions that do not count, and why.
        faults: What is wrong with sessions, in sentences.
    """

    summary: RunSummary
    notes: tuple[str, ...]
    faults: tuple[str, ...]


def import_sessions(place: Path, out: Path) -> Imported:
    """Write the sessions of one person as a run.

    The first session of a scenario counts; of one that broke off the decisions are written, and no result.

    Args:
        place: A session's file or folder, or a folder that holds several, however deep.
        out: Folder of the run: new, empty, or that of an earlier import of the same sessions, which is completed.

    Raises:
        UsageError: There is no session.
        OresightError: The folder holds something else, or the disk refuses.
    """
    played = read_sessions(place)
    if played is None or not played.files:
        faults = "" if played is None else f" ({'; '.join(played.faults)})"
        raise UsageError(
            f"{place}: holds no session that can be read{faults}; name a folder that `oresight play --record` wrote"
        )
    with RunFolder(out, played.run) as folder:
        ended = [_written(folder, played, result) for result in played.results]
        results = [result for result in ended if result is not None]
        summary = summarise(played.run, results, folder.standing(results))
        folder.write_summary(summary.as_json(), summary.rows())
    return Imported(summary, played.notes, played.faults)


def _written(folder: RunFolder, played: Played, result: EpisodeResult) -> EpisodeResult | None:
    """Write an episode; None if it broke off, so that it has no result."""
    if (kept := folder.finished(result.id)) is not None:
        return kept
    session = played.files[result.id]
    writer = _Writer(EpisodeFolder(folder.episode_path(result.id), "none"), result)
    try:
        score_session(session, [Parameters()], keep_steps=False, follower=writer)
        files.write_atomically(folder.episode_path(result.id) / SESSION_NAME, _content(session))
        if not result.outcome.counts:
            return None
        return writer.finish()
    except BadInput as fault:
        raise StoreError(f"{fault}; it was changed while it was imported, import it again") from fault
    finally:
        writer.episode.close()


class _Writer:
    """Writes down what is read of a session while it is scored."""

    def __init__(self, episode: EpisodeFolder, result: EpisodeResult) -> None:
        self.episode = episode
        self._result = result
        self._steps = 0
        self.episode.cut()

    def header(self, header: Header) -> None:
        told = header.model_dump(mode="json", exclude_none=True)
        self.episode.header({**told, "agent": self._result.agent, "memory": self._result.memory})

    def decision(self, line: DecisionLine, facts: CraftFacts | None) -> None:
        self._steps += 1
        self.episode.line(line.model_dump(mode="json", exclude_none=True, exclude={"facts"}) | {"facts": line.facts})

    def finish(self) -> EpisodeResult:
        # Decisions after the success, or after the budget was spent, are recorded too.
        result = self._result.model_copy(update={"steps": self._steps})
        self.episode.finish(result)
        return result


def _content(session: Path) -> bytes:
    with files.disk_errors(session):
        return session.read_bytes()


def words_of(imported: Imported) -> Sequence[str]:
    """Return what is to be said of an import, a line each."""
    return [imported.summary.counts_sentence(), *imported.notes, *imported.faults]
