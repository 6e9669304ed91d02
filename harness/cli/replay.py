"""`oresight replay`: plays a recorded episode again, checks it, and films it if asked."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.cli.display import make_console
from harness.film import film
from harness.replay import Replayed
from harness.replay import replay as replay_episode
from harness.sessions import SessionReplayed, film_session, replay_session, session_path
from harness.words import visible

DIFFERENT = 1


def replay(
    episode: Annotated[
        Path, typer.Argument(metavar="EPISODE_DIR", help="An episode's or a session's folder, or its file.")
    ],
    mp4: Annotated[Path | None, typer.Option(help="Film it too, with the referee's view, into this file.")] = None,
) -> None:
    """Play a recorded episode or session again and name the first decision or tick that differs.

    State hashes, facts and outcomes are recomputed and compared at every decision; of a person's session, the pose at
    every tick and the state hash at every twentieth.

    Example: oresight replay runs/demo/episodes/outcrop-0 --mp4 episode.mp4
    """
    console = make_console()
    if (session := session_path(episode)) is not None:
        _replay_session(session, mp4, console)
        return
    if mp4 is None:
        replayed = replay_episode(episode)
    else:
        with console.status("filming") as status:
            replayed = film(episode, mp4, lambda step: status.update(f"filming decision {step}"))
    same = f"{replayed.decisions} decisions replayed; every state hash and every fact is the same."
    _report(console, replayed, same, mp4)


def _replay_session(path: Path, mp4: Path | None, console: Console) -> None:
    if mp4 is None:
        replayed = replay_session(path)
    else:
        with console.status("filming") as status:
            replayed = film_session(path, mp4, lambda tick: status.update(f"filming tick {tick}"))
    cut = "" if replayed.ended else "; the session was cut off"
    same = f"{replayed.ticks} ticks replayed; every pose and all {replayed.hashes} state hashes are the same{cut}."
    _report(console, replayed, same, mp4)


def _report(console: Console, replayed: Replayed | SessionReplayed, same: str, mp4: Path | None) -> None:
    """Say what a replay found: the first difference, or in what record and replay are the same."""
    name = visible(replayed.scenario)
    if replayed.torn:
        console.print("The last line was cut short and is left out.")
    if replayed.difference is not None:
        console.print(f"{name}: the replay differs: {replayed.difference.sentence()}")
        raise typer.Exit(DIFFERENT)
    console.print(f"{name}: {same}")
    if mp4 is not None:
        console.print(f"Filmed to {visible(str(mp4))}")
