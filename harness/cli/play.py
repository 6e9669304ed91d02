"""`oresight play`: a person plays a scenario in a window."""

from pathlib import Path
from typing import Annotated

import typer

from oresight.harness.cli.display import make_console
from oresight.harness.errors import MissingPartError, OresightError, UsageError
from oresight.harness.files import disk_errors, make_folder
from oresight.harness.protocols import Pixels
from oresight.harness.running.selection import parse_size
from oresight.harness.settings import read_settings
from oresight.harness.text import visible
from oresight.harness.worlds.base import Size
from oresight.harness.worlds.craft.display import find_display
from oresight.harness.worlds.craft.session_replay import SessionWriter

SCREENSHOTS = "screenshots"
_MOST_SCREENSHOTS = 10_000


def play(
    scenario: Annotated[str, typer.Option(help="What to play: outcrop-0, or a kind with --seed.")] = "outcrop-0",
    seed: Annotated[
        int | None, typer.Option(min=0, max=999_999_999, help="Another one of the scenario's kind.")
    ] = None,
    turn_based: Annotated[
        bool, typer.Option("--turn-based", help="A key is one decision; the world stands still between them.")
    ] = False,
    record: Annotated[Path | None, typer.Option(metavar="DIR", help="Record the session in this folder.")] = None,
    size: Annotated[str, typer.Option(help="Width x height of the window's inside.")] = "960x720",
) -> None:
    """Play a scenario yourself: look for the ore with keyboard and mouse.

    F1 shows the keys, F3 what the referee makes of it. A recorded session is scored by `oresight score DIR`, and played
    again or filmed by `oresight replay DIR`.

    Example: oresight play --scenario valley --seed 3 --record runs/me
    """
    name, inside = scenario_name(scenario, seed), parse_size(size)
    try:
        find_display(read_settings())
    except MissingPartError as error:
        raise MissingPartError(f"play opens a window, and there is no display for it: {error}") from error
    console = make_console()
    album = _Album((record or Path()) / SCREENSHOTS)
    if record is None:
        _play(name, inside, album, None, turn_based)
        return
    with SessionWriter(record) as writer:
        _play(name, inside, album, writer, turn_based)
    console.print(f"Recorded: {visible(str(writer.path))}")


def scenario_name(scenario: str, seed: int | None) -> str:
    """The scenario's full name; a seed takes the place of its number.

    Raises:
        UsageError: There is no number in either.
    """
    kind, dash, number = scenario.rpartition("-")
    if seed is not None:
        return f"{kind if dash and number.isdigit() else scenario}-{seed}"
    if not dash:
        raise UsageError(f"--scenario is {scenario!r}; expected a number with it, as in {scenario}-0, or --seed")
    return scenario


def _play(name: str, size: Size, album: "_Album", writer: SessionWriter | None, turn_based: bool) -> None:
    # Imported here, so that no other command loads the window.
    from oresight.harness.worlds.craft.session import play_in_window

    play_in_window(name, size, album.keep, None if writer is None else writer.append, turn_based=turn_based)


class _Album:
    """A folder of screenshots, made with the first one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, picture: Pixels) -> str:
        """Keeps a picture and says what became of it; a disk that refuses ends no game."""
        from PIL import Image

        try:
            make_folder(self._folder)
            names = (self._folder / f"{number:06}.png" for number in range(_MOST_SCREENSHOTS))
            path = next((name for name in names if not name.exists() and not name.is_symlink()), None)
            if path is None:
                return f"{self._folder} is full; move some screenshots away"
            with disk_errors(path):
                Image.fromarray(picture).save(path)
        except OresightError as error:
            return visible(str(error), 120)
        return f"saved {path}"
