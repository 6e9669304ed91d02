"""The replay page of one episode by itself: beside no study, with links to the pictures that its run kept."""

import os
import re
from pathlib import Path
from urllib.parse import quote

from oresight.harness.errors import RecordError, UsageError
from oresight.harness.records.folder import FRAMES_NAME
from oresight.harness.records.scored import Story, read_story
from oresight.harness.report.episode_page import Links, write_replay
from oresight.harness.running.replay import trajectory_path
from oresight.harness.worlds.craft.session_replay import session_path
from oresight.scoring.parameters import Parameters
from oresight.scoring.readers.faults import BadInput

_PICTURE = re.compile(r"([0-9]{6,9})\.(?:png|webp|jpg)")


def check_target(target: Path) -> None:
    """Says early that a page cannot be written.

    Raises:
        UsageError: It is no name of a page, or its folder does not exist.
    """
    if target.suffix != ".html" or target.is_dir() or not target.parent.is_dir():
        raise UsageError(f"{target}: no page can be written here; name a file.html in a folder that exists")


def write_page(episode: Path, target: Path, pictures: Path | None = None) -> Story:
    """Writes the replay page of an episode or of a person's session.

    Args:
        episode: Its folder, or its file.
        target: The page; one that is there is replaced.
        pictures: A folder with its pictures; the run's own if left out.

    Raises:
        OresightError: The record is broken, or the page cannot be written.
    """
    check_target(target)
    session = session_path(episode)
    record = session or trajectory_path(episode)
    try:
        # A folder says more than the trajectory in it: without a result the episode is incomplete.
        story = read_story(episode if session is None else session, [Parameters()])
    except BadInput as fault:
        raise RecordError(str(fault)) from fault
    shown = record.parent / FRAMES_NAME if pictures is None else pictures
    write_replay(story, target, Links(pictures=_pictures(shown, target), folder=_address(record.parent, target)))
    return story


def _pictures(folder: Path, target: Path) -> dict[int, str]:
    """The pictures in a folder by their numbers; links are not followed."""
    if folder.is_symlink() or not folder.is_dir():
        return {}
    names = ((path.name, _PICTURE.fullmatch(path.name)) for path in folder.iterdir() if not path.is_symlink())
    address = _address(folder, target)
    return {int(match[1]): f"{address}/{name}" for name, match in names if match is not None}


def _address(path: Path, target: Path) -> str:
    """Where a path lies, seen from a page, as an address."""
    return quote(Path(os.path.relpath(path.resolve(), target.parent.resolve())).as_posix())
