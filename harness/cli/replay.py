"""`oresight replay`: plays a recorded episode again, checks it, and films it or draws its pictures if asked."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from oresight.harness.cli.display import make_console
from oresight.harness.errors import UsageError
from oresight.harness.film.film import film
from oresight.harness.film.frames import export_episode, export_session
from oresight.harness.running.replay import Replayed
from oresight.harness.running.replay import replay as replay_episode
from oresight.harness.running.selection import parse_size
from oresight.harness.text import visible
from oresight.harness.worlds import Size
from oresight.harness.worlds.craft.session_replay import SessionReplayed, film_session, replay_session, session_path

DIFFERENT = 1


def replay(
    episode: Annotated[
        Path, typer.Argument(metavar="EPISODE_DIR", help="An episode's or a session's folder, or its file.")
    ],
    mp4: Annotated[Path | None, typer.Option(help="Film it too, with the referee's view, into this file.")] = None,
    frames: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the picture before each decision into this folder, new or empty."),
    ] = None,
    size: Annotated[
        str | None, typer.Option(help="Width x height of these pictures; as in the run, or 640x480, if left out.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page to step through it, with the referee's reasoning, as this file.")
    ] = None,
) -> None:
    """Play a recorded episode or session again and name the first decision or tick that differs.

    State hashes, facts and outcomes are recomputed and compared at every decision; of a person's session, the pose at
    every tick and the state hash at every twentieth.

    Example: oresight replay runs/demo/episodes/outcrop-0 --mp4 episode.mp4

    Example: oresight replay recordings/me --frames pictures --size 320x240

    Example: oresight replay runs/demo/episodes/outcrop-0 --html replay.html
    """
    if size is not None and frames is None:
        raise UsageError("--size is of the pictures that --frames DIR writes; give both or neither")
    pixels = None if size is None else parse_size(size)
    console = make_console()
    replay_one = _replay_episode if (session := session_path(episode)) is None else _replay_session
    if html is None:
        replay_one(session or episode, mp4, frames, pixels, console)
        return
    # Imported here, since templates and terrain are slow to load and nothing else needs them.
    from oresight.harness.report.single import check_target, write_page

    check_target(html)
    try:
        replay_one(session or episode, mp4, frames, pixels, console)
    finally:
        # The page needs no world, so that it is made even where the replay differs or is refused.
        write_page(episode, html, frames if frames is not None and frames.is_dir() else None)
        console.print(f"Replay page in {visible(str(html))}")


def _replay_episode(episode: Path, mp4: Path | None, frames: Path | None, size: Size | None, console: Console) -> None:
    replayed, made = None, _Made(console)
    if frames is not None:
        with console.status("drawing") as status:
            replayed, count = export_episode(
                episode, frames, size, lambda step: status.update(f"drawing decision {step}")
            )
        made.pictures(count, frames)
    if mp4 is not None:
        with console.status("filming") as status:
            replayed = film(episode, mp4, lambda step: status.update(f"filming decision {step}"))
        if replayed.difference is None:
            made.film(mp4)
    replayed = replayed or replay_episode(episode)
    made.report(replayed, f"{replayed.decisions} decisions replayed; every state hash and every fact is the same.")


def _replay_session(path: Path, mp4: Path | None, frames: Path | None, size: Size | None, console: Console) -> None:
    replayed, made = None, _Made(console)
    if frames is not None:
        with console.status("drawing") as status:
            replayed, count = export_session(path, frames, size, lambda tick: status.update(f"drawing tick {tick}"))
        made.pictures(count, frames)
    if mp4 is not None:
        with console.status("filming") as status:
            replayed = film_session(path, mp4, lambda tick: status.update(f"filming tick {tick}"))
        if replayed.difference is None:
            made.film(mp4)
    replayed = replayed or replay_session(path)
    cut = "" if replayed.ended else "; the session was cut off"
    compared = f"every pose and all {replayed.hashes} state hashes are the same"
    made.report(replayed, f"{replayed.ticks} ticks replayed; {compared}{cut}.")


class _Made:
    """What was made of a record, to be said after what its replay found."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._words: list[str] = []

    def pictures(self, count: int, folder: Path) -> None:
        """Pictures were written, or none because the replay differs."""
        self._words.append(f"{count} pictures in {visible(str(folder))}" if count else "No pictures are written.")

    def film(self, mp4: Path) -> None:
        """A film was made."""
        self._words.append(f"Filmed to {visible(str(mp4))}")

    def report(self, replayed: Replayed | SessionReplayed, same: str) -> None:
        """Say what a replay found: the first difference, or in what record and replay are the same."""
        name = visible(replayed.scenario)
        if replayed.torn:
            self._console.print("The last line was cut short and is left out.")
        differs = replayed.difference is not None
        if replayed.difference is not None:
            same = f"the replay differs: {replayed.difference.sentence()}"
        self._console.print(f"{name}: {same}")
        for words in self._words:
            self._console.print(words)
        if differs:
            raise typer.Exit(DIFFERENT)
