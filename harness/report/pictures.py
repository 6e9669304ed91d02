"""Where a replay page's pictures come from: the run's own files, copies of them, or drawn again from the recording.

Picture n shows what the agent saw before decision n; the one after the last decision has the next number.
"""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from oresight.harness import files
from oresight.harness.errors import OresightError
from oresight.harness.protocols import Environment, FilmEnvironment
from oresight.harness.records.folder import frame_name
from oresight.harness.records.reader import frames_in
from oresight.harness.running.replay import Listener, replay
from oresight.harness.worlds import World
from oresight.scoring.records import DecisionLine, Header

USUAL_SIZE = (640, 480)
# Drawn pictures are for looking at; the run's own stay what they are.
_WEBP_QUALITY = 85


@dataclass(frozen=True)
class PicturePlan:
    """What is to be done about the pictures of an episode.

    Attributes:
        recorded: The folder of the run's own pictures.
        made: Where copies and drawings go, in the report as it is being made.
        made_at_last: Where `made` will be once the report has its place.
        page_folder: The folder where the page will be once the report has its place.
        copied: Whether the run's own pictures are copied instead of being linked to.
        drawn: Whether missing ones are drawn again.
        size: Of those that are drawn.
    """

    recorded: Path
    made: Path
    made_at_last: Path
    page_folder: Path
    copied: bool
    drawn: bool
    size: tuple[int, int] = USUAL_SIZE


@dataclass
class Pictures:
    """The pictures of an episode, found or made.

    Attributes:
        links: From the number of a picture to a relative address, fit for HTML.
        copied: How many were copied.
        drawn: How many were drawn again.
        problem: Why some could not be drawn, in a sentence; None if nothing went wrong.
    """

    links: dict[int, str] = field(default_factory=dict)
    copied: int = 0
    drawn: int = 0
    problem: str | None = None


def find_pictures(recording: Path, decisions: int, plan: PicturePlan) -> Pictures:
    """Finds, copies or draws the pictures of an episode.

    Args:
        recording: Its trajectory.
        decisions: How many it has.
        plan: What is to be done.

    Raises:
        OresightError: The disk refuses.
    """
    found = Pictures()
    wanted = set(range(1, decisions + 2))
    there = frames_in(plan.recorded).keys() & wanted
    for number in sorted(there):
        name = frame_name(number)
        if plan.copied:
            files.make_folder(plan.made)
            with files.disk_errors(plan.made / name):
                shutil.copyfile(plan.recorded / name, plan.made / name, follow_symlinks=False)
            found.copied += 1
        found.links[number] = _href((plan.made_at_last if plan.copied else plan.recorded) / name, plan.page_folder)
    if plan.drawn and there != wanted:
        _draw(recording, wanted - there, plan, found)
    return found


def _href(file: Path, folder: Path) -> str:
    return quote(os.path.relpath(file, folder).replace(os.sep, "/"))


class _Painter(Listener):
    """Draws the world before each decision of a replay, and after the last one."""

    def __init__(self, wanted: set[int], folder: Path) -> None:
        self.drawn: list[int] = []
        self._wanted = wanted
        self._folder = folder
        self._environment: FilmEnvironment | None = None

    def started(self, header: Header, world: World, environment: Environment) -> None:
        self._environment = environment  # type: ignore[assignment]  # a replay opens worlds to be filmed
        self._paint(1)

    def decided(self, line: DecisionLine) -> None:
        self._paint(line.step + 1)

    def _paint(self, number: int) -> None:
        if number not in self._wanted:
            return
        from PIL import Image

        assert self._environment is not None
        picture = Image.fromarray(self._environment.render())
        with files.disk_errors(self._folder):
            picture.save(self._folder / f"{number:06d}.webp", quality=_WEBP_QUALITY, method=2)
        self.drawn.append(number)


def _draw(recording: Path, wanted: set[int], plan: PicturePlan, found: Pictures) -> None:
    files.make_folder(plan.made)
    painter = _Painter(wanted, plan.made)
    try:
        replayed = replay(recording, painter, size=plan.size)
    except OresightError as error:
        found.problem = f"pictures cannot be drawn again: {error}"
    else:
        if replayed.difference is not None:
            found.problem = (
                f"pictures are drawn up to where replay and recording differ: {replayed.difference.sentence()}"
            )
    for number in painter.drawn:
        found.links[number] = _href(plan.made_at_last / f"{number:06d}.webp", plan.page_folder)
    found.drawn = len(painter.drawn)
    if not painter.drawn:
        with files.disk_errors(plan.made):
            plan.made.rmdir() if not any(plan.made.iterdir()) else None
