"""Makes the report of a study: reads every recording once, writes a page for each, and the study's page over them.

    index.html             the study: conditions, figures, episodes
    report.json            what was made, for a machine
    tables/                every table as CSV, and as Parquet where pyarrow is installed
    figures/               every panel as SVG for light and dark pages, and as PNG
    episodes/<condition>/<episode>.html     the replay of an episode
    pictures/<condition>/<episode>/         pictures that were copied or drawn again

All addresses are relative. Recordings are worked through by several processes; the result is the same for any number.
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from oresight.harness import files
from oresight.harness.analysis.conditions import ConditionRun
from oresight.harness.errors import OresightError, UsageError, WorkersDiedError
from oresight.harness.protocols import Json
from oresight.harness.records import folder as run_folder
from oresight.harness.records.reader import frames_in
from oresight.harness.report.conditions import Condition, Episode, conditions_of, without_place
from oresight.harness.report.episodes import EpisodeDone, EpisodeTask, do_episode
from oresight.harness.report.figures import draw_panel
from oresight.harness.report.folder import INDEX_NAME, REPORT_FORMAT, REPORT_NAME, check_out, report_folder
from oresight.harness.report.index_episodes import anchor_of
from oresight.harness.report.index_figures import Files
from oresight.harness.report.index_page import write_index
from oresight.harness.report.panels import Exhibit, Panel
from oresight.harness.report.pictures import USUAL_SIZE, PicturePlan
from oresight.harness.report.sources import find_sides
from oresight.harness.report.study import WorldStudy, parameters, study_world
from oresight.harness.report.tables import condition_rows, difference_rows, episode_rows, sensitivity_rows, write_table
from oresight.harness.running.executors.map import work_through
from oresight.harness.text import visible
from oresight.harness.worlds import about
from oresight.scoring.sessions.reader import SESSION_NAME

DRAWN_MOST = 100
# One more process pays from so many episodes or panels on.
EPISODES_PER_WORKER = 12
PANELS_PER_WORKER = 6
Drawing = Literal["auto", "missing", "none"]


@dataclass(frozen=True)
class ReportOptions:
    """How a report is made.

    Attributes:
        copied: Whether pictures are copied into it, so that the folder can be taken elsewhere.
        drawing: Whether missing pictures are drawn again: `auto` if at most 100 episodes want them, `missing`, `none`.
        workers: How many processes.
    """

    copied: bool = False
    drawing: Drawing = "auto"
    workers: int = 1


@dataclass(frozen=True)
class Report:
    """What was made.

    Attributes:
        told: Content of report.json.
        complete: Whether every condition has a result of every episode that it planned.
    """

    told: Json
    complete: bool


class ReportProgress:
    """Follows the making of a report; does nothing unless overridden."""

    def episode(self, done: int, planned: int) -> None:
        """So many recordings are read and their pages written."""

    def stage(self, words: str) -> None:
        """Something else is begun."""


def make_report(
    paths: Sequence[Path], out: Path, options: ReportOptions, progress: ReportProgress | None = None
) -> Report:
    """Makes a report.

    Args:
        paths: Folders of runs, studies and people's sessions.
        out: Folder of the report: new, empty, or an earlier report, which is replaced.
        options: How.
        progress: Follows along.

    Raises:
        OresightError: A folder holds nothing to report, `out` holds other things, or the disk refuses.
    """
    follower = progress or ReportProgress()
    check_out(out)
    follower.stage("reading results")
    found, problems = find_sides(paths)
    conditions = conditions_of(found)
    _check_apart(paths, found, out)
    with report_folder(out) as aside:
        making = _Making(aside, out.resolve(), options, follower)
        conditions, done = making.episodes(conditions)
        problems += [f"{each.key} {words}" for each in conditions for words in each.side.unreadable]
        problems += [_relative(problem, each) for each, told in done for problem in told.problems]
        follower.stage("working out the figures")
        studies = [
            study_world(kind, [each for each in conditions if each.kind == kind])
            for kind in dict.fromkeys(each.kind for each in conditions)
        ]
        panels = making.figures(studies)
        follower.stage("writing tables")
        tables = making.tables(conditions, studies)
        remarks = making.remarks([told for _, told in done])
        title = _title(paths)
        write_index(aside / INDEX_NAME, title, studies, Files(tables, panels), problems, remarks)
        told = _told(title, conditions, studies, tables, panels, problems, remarks, [each for _, each in done])
        files.write_atomically(aside / REPORT_NAME, files.to_pretty_json(told), durable=False)
        follower.stage("putting it in its place")
    return Report(told, bool(told["complete"]))


class _Making:
    """A report that is being made in a folder aside."""

    def __init__(self, aside: Path, out: Path, options: ReportOptions, progress: ReportProgress) -> None:
        self._aside = aside
        self._out = out
        self._options = options
        self._progress = progress
        self._undrawn = 0

    def episodes(self, conditions: Sequence[Condition]) -> tuple[list[Condition], list[tuple[Condition, EpisodeDone]]]:
        """Writes the page of every episode that has a recording, and adds what was told to the conditions."""
        drawn = self._is_drawn(conditions)
        planned = [
            (condition, episode, task) for condition in conditions for episode, task in self._tasks(condition, drawn)
        ]
        workers = min(self._options.workers, max(1, len(planned) // EPISODES_PER_WORKER))
        told: dict[tuple[str, str], EpisodeDone] = {}
        done: list[tuple[Condition, EpisodeDone]] = []
        self._progress.episode(0, len(planned))
        results = work_through(do_episode, [task for _, _, task in planned], workers)
        with _living_workers():
            for (condition, episode, _), each in zip(planned, results, strict=True):
                told[condition.key, episode.name] = each
                done.append((condition, each))
                self._progress.episode(len(done), len(planned))
        return [_with_told(condition, told) for condition in conditions], done

    def figures(self, studies: Sequence[WorldStudy]) -> dict[tuple[str, str], str]:
        """Draws every panel; returns the stem of its files by world and name."""
        files.make_folder(self._aside / "figures")
        panels = [
            (study.kind, panel)
            for study in studies
            for exhibit in study.exhibits
            if isinstance(exhibit, Exhibit)
            for panel in exhibit.panels
        ]
        stems: dict[tuple[str, str], str] = {}
        workers = min(self._options.workers, max(1, len(panels) // PANELS_PER_WORKER))
        pictures = work_through(draw_panel, [panel for _, panel in panels], workers)
        for number, ((kind, panel), picture) in enumerate(zip(panels, pictures, strict=True), 1):
            self._progress.stage(f"drawing figures: {number} of {len(panels)}")
            stem = stems[kind, panel.name] = _stem(kind, panel)
            for name, content in (
                (f"{stem}.svg", picture.light),
                (f"{stem}-dark.svg", picture.dark),
                (f"{stem}.png", picture.png),
            ):
                files.write_atomically(self._aside / "figures" / name, content, durable=False)
        return stems

    def tables(self, conditions: Sequence[Condition], studies: Sequence[WorldStudy]) -> dict[str, list[str]]:
        """Writes every table; returns the files of each."""
        folder = self._aside / "tables"
        files.make_folder(folder)
        tables: dict[str, list[Json]] = {
            "conditions": condition_rows(studies),
            "episodes": episode_rows(conditions),
            "differences": difference_rows(studies),
            "sensitivity": sensitivity_rows(studies),
        }
        for study in studies:
            for exhibit in study.exhibits:
                if isinstance(exhibit, Exhibit):
                    tables[f"figure-{study.kind}-{exhibit.name}"] = exhibit.rows()
        return {name: write_table(folder, name, rows) for name, rows in tables.items() if rows}

    def remarks(self, done: Sequence[EpisodeDone]) -> list[str]:
        """What a reader has to know of the pictures."""
        remarks = []
        if self._undrawn:
            remarks.append(
                f"{self._undrawn} episodes of the 3D world are without some or all of their pictures, which are not"
                " drawn here; --pictures missing draws them again from the recordings."
            )
        if drawn := sum(each.drawn for each in done):
            remarks.append(
                f"{drawn} pictures that the runs did not keep are drawn again from the recordings; lossy compression"
                " aside, they are what was in view."
            )
        if self._options.copied and (copied := sum(each.copied for each in done)):
            remarks.append(f"{copied} pictures of the runs are copied into this folder, which can be taken elsewhere.")
        return remarks

    def _is_drawn(self, conditions: Sequence[Condition]) -> bool:
        """Whether missing pictures are drawn; counts the episodes that stay without."""
        wanting = sum(_wants_pictures(condition, episode) for condition in conditions for episode in condition.episodes)
        drawn = self._options.drawing == "missing" or (self._options.drawing == "auto" and wanting <= DRAWN_MOST)
        self._undrawn = 0 if drawn else wanting
        return drawn

    def _tasks(self, condition: Condition, drawn: bool) -> list[tuple[Episode, EpisodeTask]]:
        there = [episode for episode in condition.episodes if _record(condition, episode) is not None]
        tasks = []
        for place, episode in enumerate(there):
            before = there[place - 1] if place else None
            after = there[place + 1] if place + 1 < len(there) else None
            tasks.append((episode, self._task(condition, episode, before, after, drawn)))
        return tasks

    def _task(
        self, condition: Condition, episode: Episode, before: Episode | None, after: Episode | None, drawn: bool
    ) -> EpisodeTask:
        record = _record(condition, episode)
        assert record is not None
        recording = record if condition.side.is_person else record.parent
        page = Path(page_of(condition, episode))
        page_folder = (self._out / page).parent
        made = Path("pictures", condition.id, episode.name)
        size = condition.side.summary.run.config.size or USUAL_SIZE
        return EpisodeTask(
            recording=recording,
            name=episode.name,
            label=condition.label,
            result=episode.result,
            target=self._aside / page,
            index=f"../../{INDEX_NAME}#{anchor_of(condition, episode.name)}",
            previous=None if before is None else quote(f"{before.name}.html"),
            next=None if after is None else quote(f"{after.name}.html"),
            # A folder that is taken elsewhere leaves the run behind.
            folder=None if self._options.copied else quote(os.path.relpath(recording.resolve(), page_folder)),
            pictures=None
            if not about(condition.kind).pictures or _is_session(condition, record)
            else PicturePlan(
                recording.resolve() / run_folder.FRAMES_NAME,
                self._aside / made,
                self._out / made,
                page_folder,
                self._options.copied,
                drawn,
                size,
            ),
            parameters=parameters(),
        )


def page_of(condition: Condition, episode: Episode) -> str:
    """Where an episode's page stands in the report."""
    return f"episodes/{condition.id}/{files.checked_id(episode.name)}.html"


@contextmanager
def _living_workers() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkersDiedError(
            "a worker process died, perhaps for want of memory; report with --workers 1, or fewer runs at once"
        ) from error


def _check_apart(paths: Sequence[Path], sides: Sequence[ConditionRun], out: Path) -> None:
    """Looks that the report and what it is of do not get into each other.

    Raises:
        UsageError: The report would lie over a run, or among the episodes of one.
    """
    place = out.resolve()
    over = next((path for path in paths if place in (path.resolve(), *path.resolve().parents)), None)
    if over is not None:
        raise UsageError(f"{out}: holds {over}, which is to be reported; choose another --out folder")
    among = next(
        (side for side in sides if side.folder.resolve() / run_folder.EPISODES_NAME in (place, *place.parents)), None
    )
    if among is not None:
        raise UsageError(f"{out}: lies among the episodes of {among.folder}; choose another --out folder")


def _relative(words: str, condition: Condition) -> str:
    return f"{condition.key} {without_place(words, condition.side.folder)}"


def _record(condition: Condition, episode: Episode) -> Path | None:
    """The file with an episode's decisions, or where it should be; None if the episode was never begun."""
    try:
        path = condition.side.record(episode.name)
    except (KeyError, OresightError):
        return None
    # Figures under other parameters are without a result that has no recording, so that it is named like a broken one.
    is_due = episode.summary is not None
    return path if is_due or path.exists() or path.is_symlink() else None


def _wants_pictures(condition: Condition, episode: Episode) -> bool:
    record = _record(condition, episode)
    if record is None or episode.result is None:
        return False
    if not about(condition.kind).pictures or _is_session(condition, record):
        return False
    return len(frames_in(record.parent / run_folder.FRAMES_NAME)) < episode.result.steps + 1


def _is_session(condition: Condition, record: Path) -> bool:
    """Whether a person played, so that the pictures are those of the session and not of its decisions."""
    return condition.side.is_person or (record.parent / SESSION_NAME).is_file()


def _with_told(condition: Condition, done: dict[tuple[str, str], EpisodeDone]) -> Condition:
    episodes = tuple(
        replace(episode, told=told.told, page=page_of(condition, episode))
        if (told := done.get((condition.key, episode.name))) is not None
        else episode
        for episode in condition.episodes
    )
    return replace(condition, episodes=episodes)


def _stem(kind: str, panel: Panel) -> str:
    return f"{kind}-{panel.name}"


def _title(paths: Sequence[Path]) -> str:
    names = list(dict.fromkeys(path.resolve().name or "study" for path in paths))
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return visible(shown, 200)


def _told(
    title: str,
    conditions: Sequence[Condition],
    studies: Sequence[WorldStudy],
    tables: dict[str, list[str]],
    panels: dict[tuple[str, str], str],
    problems: Sequence[str],
    remarks: Sequence[str],
    done: Sequence[EpisodeDone],
) -> Json:
    return {
        "format": REPORT_FORMAT,
        "version": 1,
        "title": title,
        "page": INDEX_NAME,
        "complete": all(condition.counts.complete for condition in conditions),
        "conditions": [
            {
                "key": condition.key,
                "label": condition.label,
                "world": condition.kind,
                "counts": condition.counts.to_json(),
                "pages": f"episodes/{condition.id}",
            }
            for condition in conditions
        ],
        "pages": len(done),
        "pictures": {
            "shown": sum(each.linked for each in done),
            "copied": sum(each.copied for each in done),
            "drawn": sum(each.drawn for each in done),
        },
        "tables": [f"tables/{file}" for files in tables.values() for file in files],
        "figures": [f"figures/{stem}.{ending}" for stem in panels.values() for ending in ("svg", "png")],
        "not_drawn": [
            {"world": study.kind, "title": each.title, "needs": each.needs}
            for study in studies
            for each in study.exhibits
            if not isinstance(each, Exhibit)
        ],
        "problems": list(problems),
        "remarks": list(remarks),
    }
