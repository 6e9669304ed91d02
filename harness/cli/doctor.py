"""`oresight doctor`: what is there, what is missing, and what to do about it."""

import importlib
import json
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

import typer
from rich.text import Text

from oresight.harness.cli.display import make_console
from oresight.harness.errors import MissingPartError
from oresight.harness.film.video import video_encoder
from oresight.harness.settings import PROVIDER_KEYS, Settings, read_settings
from oresight.harness.text import visible
from oresight.harness.worlds import own_version
from oresight.harness.worlds.craft.display import find_display, opengl

BROKEN = 1


@dataclass(frozen=True)
class Part:
    """One thing that was looked for.

    Attributes:
        name: What it is.
        state: `ok`; `missing`, which is no failure; `broken`, which keeps the demo from running.
        found: What was found.
        advice: What to do; empty if nothing is to be done.
    """

    name: str
    state: Literal["ok", "missing", "broken"]
    found: str
    advice: str = ""


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """Say what is there and what is missing: OpenGL, display, injected keys, video, OpenCV, provider keys.

    A missing display or key is no failure: only a window needs the one, and only a model the other.

    Example: oresight doctor
    """
    parts = examine(read_settings())
    if as_json:
        json.dump({"parts": [asdict(part) for part in parts]}, sys.stdout, indent=1)
        sys.stdout.write("\n")
    else:
        console = make_console()
        for part in parts:
            style = {"ok": "green", "missing": "yellow", "broken": "red"}[part.state]
            line = Text(f"{part.name:<14}")
            line.append(f"{part.state:<9}", style=style)
            line.append(visible(part.found))
            console.print(line)
            if part.advice:
                console.print(f"{'':<23}{visible(part.advice)}")
    if any(part.state == "broken" for part in parts):
        raise typer.Exit(BROKEN)


def examine(settings: Settings) -> list[Part]:
    """Looks at everything; each part on its own, so that one that is missing hides no other."""
    return [
        Part("oresight", "ok", f"{own_version()} on Python {platform.python_version()}, {platform.platform()}"),
        _needed("OpenGL", lambda: ", version ".join(opengl())),
        _needed("video encoder", video_encoder),
        _needed("OpenCV", _opencv),
        _display(settings),
        _optional("desktop", _desktop, "only `--desktop` needs it"),
        *_keys(settings),
    ]


def _needed(name: str, look: Callable[[], str]) -> Part:
    try:
        return Part(name, "ok", look())
    except MissingPartError as error:
        found, _, advice = str(error).partition("; ")
        return Part(name, "broken", found, advice)


def _opencv() -> str:
    try:
        module = importlib.import_module("cv2")
    except ImportError as error:
        raise MissingPartError(
            f"cannot be loaded ({error}); on Debian or Ubuntu install the packages libgl1 and libglib2.0-0"
        ) from error
    return str(module.__version__)


def _desktop() -> str:
    from oresight.harness.worlds.craft.desktop import describe

    return describe()


def _display(settings: Settings) -> Part:
    return _optional("display", lambda: find_display(settings), "only `oresight play` and other windows need one")


def _optional(name: str, look: Callable[[], str], needed_by: str) -> Part:
    try:
        return Part(name, "ok", look())
    except MissingPartError as error:
        found, _, advice = str(error).partition("; ")
        return Part(name, "missing", found, f"{needed_by}: {advice}")


def _keys(settings: Settings) -> list[Part]:
    parts = []
    for provider, names in PROVIDER_KEYS.items():
        present = [name for name in names if name in settings.key_names]
        if present:
            parts.append(Part(f"{provider} key", "ok", f"{' and '.join(present)} is set"))
        else:
            advice = f"only runs with this provider's models need it: export {names[0]}=..."
            parts.append(Part(f"{provider} key", "missing", f"{' or '.join(names)} is not set", advice))
    return parts
