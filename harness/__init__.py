"""One loop runs any agent in any world; one recorder writes it down, one reader reads it again."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oresight.harness.records.reader import Episode, Run, open_run

__all__ = ["Episode", "Run", "open_run"]

_PLACES = dict.fromkeys(__all__, "oresight.harness.records.reader")


def __getattr__(name: str) -> object:
    # Loaded when it is asked for, so that whoever needs one module need not load all.
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'oresight.harness' has no attribute {name!r}")
