"""Scores what paths stand for, episode by episode, and pools it: what the `score` command prints and writes.

A fault in one file spoils no other; every fault is kept in words, and the counts say how many episodes stand behind the
figures. `score_stream` with `Totals` holds a few numbers an episode; `score_paths` keeps every report.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from oresight.scoring.episodes import (
    EpisodeReport,
    score_entry,
    score_episode,
    score_recording,
)
from oresight.scoring.parameters import Parameters
from oresight.scoring.pooling import Pool, PooledRates
from oresight.scoring.readers.discover import (
    EpisodeFile,
    EpisodeSource,
    Recording,
    SessionFile,
    find_episodes,
)
from oresight.scoring.readers.episode_file import read_episodes
from oresight.scoring.readers.faults import BadInput, shown_path, unreadable
from oresight.scoring.readers.run_folder import EpisodeRecord, State
from oresight.scoring.records import Json, Outcome
from oresight.scoring.rescoring import Settings
from oresight.scoring.statistics import EpisodeCounts
from oresight.scoring.vpt.ores import Target

Scored = EpisodeReport | EpisodeRecord | BadInput
Pair = tuple[float, int]
# Plays a session again in its world and scores it: file, parameters, whether to keep the steps. Raises BadInput.
SessionScorer = Callable[[Path, Sequence[Parameters], bool], EpisodeReport]


@dataclass(frozen=True)
class PairFigures:
    """The figures under one alpha and one k.

    Attributes:
        alpha: Budget multiplier.
        k: Forgiven traversals and visits.
        pooled: The figures over the episodes with a result.
        counts: How many episodes stand behind them, and how many do not.
    """

    alpha: float
    k: int
    pooled: PooledRates
    counts: EpisodeCounts


class Totals:
    """Adds up what was scored, a few numbers an episode.

    Args:
        parameters: All but alpha and k, and the defaults of these two.

    Attributes:
        problems: Every fault and every missing episode, a sentence each.
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.problems: list[str] = []
        self._pools: dict[Pair, Pool] = {}
        self._outcomes: dict[Pair, list[Outcome]] = {}
        # Of what has nothing to score.
        self._states: Counter[State] = Counter()

    def add(self, found: Scored) -> None:
        """Take in the next episode, or what stands in its place."""
        if isinstance(found, EpisodeReport):
            for result in found.results:
                pair = (result.alpha, result.k)
                self._pools.setdefault(pair, Pool()).add(result.summary)
                self._outcomes.setdefault(pair, []).append(result.summary.outcome)
            self.problems.extend(f"{found.file}: {note}" for note in found.notes)
        elif isinstance(found, EpisodeRecord):
            self._states[found.state] += 1
            self.problems.append(found.problem or f"{shown_path(found.folder)}: holds no decisions")
        else:
            self._states[State.UNREADABLE] += 1
            self.problems.append(str(found))

    def figures(self) -> tuple[PairFigures, ...]:
        """Return the figures of each pair of alpha and k, in the order in which they were met; at least one."""
        pairs = list(self._pools) or [(self.parameters.alpha, self.parameters.k)]
        return tuple(
            PairFigures(alpha, k, self._pools.get((alpha, k), Pool()).rates(), self._counts((alpha, k)))
            for alpha, k in pairs
        )

    def _counts(self, pair: Pair) -> EpisodeCounts:
        states = self._states
        outcomes = self._outcomes.get(pair, []) + [Outcome.INFRASTRUCTURE] * states[State.BROKEN]
        outcomes += [Outcome.INCOMPLETE] * states[State.INCOMPLETE]
        unreadable = states[State.UNREADABLE] + states[State.CONTRADICTORY]
        return EpisodeCounts.of(outcomes, unreadable, states[State.MISSING])


@dataclass(frozen=True)
class ScoreReport:
    """Everything that was asked to be scored.

    Attributes:
        episodes: In the order of the paths, and of names within a folder; empty where they were not kept.
        figures: For each pair of alpha and k.
        problems: Every fault and every missing episode, a sentence each.
        parameters: What it was scored under; alpha and k stand with the figures.
    """

    episodes: tuple[EpisodeReport, ...]
    figures: tuple[PairFigures, ...]
    problems: tuple[str, ...]
    parameters: Parameters

    @classmethod
    def of(cls, totals: Totals, episodes: Iterable[EpisodeReport] = ()) -> "ScoreReport":
        """Close the books."""
        return cls(tuple(episodes), totals.figures(), tuple(totals.problems), totals.parameters)

    @property
    def pooled(self) -> PooledRates:
        """The figures under the first alpha and k, which mostly are the only ones."""
        return self.figures[0].pooled

    @property
    def counts(self) -> EpisodeCounts:
        """How many episodes stand behind `pooled`, and how many do not."""
        return self.figures[0].counts

    @property
    def complete(self) -> bool:
        """Whether every episode has a result and nothing was at fault."""
        return not self.problems and all(figures.counts.complete for figures in self.figures)

    def to_json(self) -> Json:
        """Return the report as plain JSON."""
        return {"episodes": [episode.to_json() for episode in self.episodes], **self.totals_to_json()}

    def totals_to_json(self) -> Json:
        """Return all but the episodes as plain JSON: one alpha and k flat, of several a result each."""
        rest: Json = {"complete": self.complete, "problems": list(self.problems)}
        parameters = self.parameters.model_dump(mode="json")
        if len(self.figures) == 1:
            only = self.figures[0]
            pooled = {**only.pooled.to_json(), "counts": only.counts.to_json(), **rest}
            return {"pooled": pooled, "parameters": {**parameters, "alpha": only.alpha, "k": only.k}}
        results = [
            {"alpha": each.alpha, "k": each.k, **each.pooled.to_json(), "counts": each.counts.to_json()}
            for each in self.figures
        ]
        parameters["alpha"] = list(dict.fromkeys(each.alpha for each in self.figures))
        parameters["k"] = list(dict.fromkeys(each.k for each in self.figures))
        return {"pooled": {"results": results, **rest}, "parameters": parameters}


def score_paths(
    paths: Iterable[Path],
    parameters: Parameters | None = None,
    *,
    settings: Settings | None = None,
    keep_steps: bool = True,
    on_episode: Callable[[EpisodeReport], None] | None = None,
    target: Target | None = None,
    score_session: SessionScorer | None = None,
) -> ScoreReport:
    """Score every episode that the paths stand for.

    Args:
        paths: Files and folders.
        parameters: Of the metric; the defaults if None.
        settings: Values of alpha and k to score under; what the files say, or else `parameters`, if None.
        keep_steps: Keep every classified decision.
        on_episode: Called after each episode, for a progress display.
        target: As in `score_stream`.
        score_session: As in `score_stream`.
    """
    totals = Totals(parameters or Parameters())
    episodes: list[EpisodeReport] = []
    stream = score_stream(
        paths,
        totals.parameters,
        settings=settings,
        keep_steps=keep_steps,
        target=target,
        score_session=score_session,
    )
    for found in stream:
        totals.add(found)
        if isinstance(found, EpisodeReport):
            episodes.append(found)
            if on_episode is not None:
                on_episode(found)
    return ScoreReport.of(totals, episodes)


def score_stream(
    paths: Iterable[Path],
    parameters: Parameters,
    *,
    settings: Settings | None = None,
    keep_steps: bool = True,
    target: Target | None = None,
    score_session: SessionScorer | None = None,
) -> Iterator[Scored]:
    """Yield each episode that the paths stand for once it is scored, or what stands in its place.

    Args:
        paths: Files and folders.
        parameters: Of the metric.
        settings: As in `score_paths`.
        keep_steps: Give every classified decision; else memory does not grow with an episode's length.
        target: What counts as acquired in recordings of the real game; any ore if None.
        score_session: Scores sessions, which need their world; without it they are faults.
    """
    asked = settings or Settings()
    wanted = target or Target.parse(None)
    seen: set[Path] = set()
    for path in paths:
        for found in find_episodes(path):
            if isinstance(found, EpisodeRecord | BadInput):
                yield found
                continue
            # A file named twice, or a folder and a file in it, is one episode.
            file = found.trajectory if isinstance(found, EpisodeSource) else found.path
            place = file.resolve()
            if place in seen:
                continue
            seen.add(place)
            if isinstance(found, EpisodeFile):
                for entry in read_episodes(file):
                    if isinstance(entry, BadInput):
                        yield entry
                    else:
                        yield score_entry(entry, file, asked.parameters(parameters, entry.alpha, entry.k), keep_steps)
                continue
            yield _scored(found, asked.parameters(parameters), keep_steps, wanted, score_session)


def _scored(
    found: EpisodeSource | Recording | SessionFile,
    parameters: Sequence[Parameters],
    keep_steps: bool,
    target: Target,
    score_session: SessionScorer | None,
) -> Scored:
    file = found.trajectory if isinstance(found, EpisodeSource) else found.path
    try:
        if isinstance(found, Recording):
            return score_recording(file, target, parameters, keep_steps=keep_steps)
        if isinstance(found, SessionFile):
            if score_session is None:
                raise BadInput(file, "a session", "what can be scored without a world; `oresight score` has its world")
            return score_session(file, parameters, keep_steps)
        report = score_episode(found, parameters, keep_steps=keep_steps)
        # Reading all of it may have told more exactly what is wrong.
        return report if found.record is None or not found.record.is_faulty else found.record
    except BadInput as fault:
        return fault
    except OSError as error:
        return unreadable(file, error)
