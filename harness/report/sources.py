"""What a report is made of: the conditions at the paths that are given, each once, and what is wrong with them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from oresight.harness.analysis.conditions import ConditionRun, load_conditions
from oresight.harness.errors import UsageError
from oresight.harness.records.reader import labelled_folders
from oresight.harness.report.conditions import without_place
from oresight.scoring.readers.run_folder import RUN_NAME, STUDY_NAME


def find_sides(paths: Sequence[Path]) -> tuple[list[ConditionRun], list[str]]:
    """The conditions at the paths, world by world, and which ones of a study were never begun, in sentences.

    Raises:
        OresightError: There is nothing to report at a path, or it is of a world that is not known here.
    """
    folders: list[Path] = []
    problems: list[str] = []
    for path in paths:
        if not (path / STUDY_NAME).is_file():
            folders.append(path)
            continue
        for folder in labelled_folders(path):
            if (folder / RUN_NAME).exists():
                folders.append(folder)
            else:
                problems.append(f"{path.name}: the condition {folder.name} was never begun; run the study again")
    once = list({folder.resolve(): folder for folder in folders}.values())
    if not once:
        raise UsageError(f"{', '.join(map(str, paths))}: no condition of it was begun; run the study, then report it")
    sides = [_told_relatively(side) for side in load_conditions(once)]
    # World by world, so that letters run on within one.
    sides.sort(key=lambda side: side.summary.run.config.world)
    return sides, problems


def _told_relatively(side: ConditionRun) -> ConditionRun:
    """What is wrong with a condition, told without the place where its folder lies on this machine."""
    return replace(
        side,
        unreadable=tuple(without_place(words, side.folder) for words in side.unreadable),
        notes=tuple(without_place(words, side.folder) for words in side.notes),
    )
