"""See how agents fail: exploration and exploitation errors from actions alone.

    for episode in oresight.open_run("runs/scout").episodes:
        print(episode.name, episode.state, episode.result)

In a checkout this folder holds links to the folders beside it; in a wheel, the folders themselves.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oresight.harness import Episode, Run, open_run

__all__ = ["Episode", "Run", "open_run"]


def __getattr__(name: str) -> object:
    # Loaded when it is asked for, so that `import oresight` costs nothing.
    if name in __all__:
        return getattr(import_module("oresight.harness"), name)
    raise AttributeError(f"module 'oresight' has no attribute {name!r}")
