"""Name to thing, by one rule for worlds, agents, memories, providers and measures.

A name is that of something bundled, of something that an installed package offers by an entry point, or
`package.module:Name` for what is in no table; that is looked for in the current folder as well.
"""

import importlib
import importlib.metadata
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oresight.harness.errors import UnknownNameError, UsageError


@dataclass(frozen=True)
class Registry:
    """A table of bundled names, and the entry points besides it.

    Attributes:
        what: What is looked for, in messages: "world".
        group: Of the entry points: "oresight.worlds".
        bundled: `module:Name` by name; each module is imported when its name is asked for.
    """

    what: str
    group: str
    bundled: Mapping[str, str]

    def names(self) -> list[str]:
        """Return every name that is known without importing anything, the bundled ones first."""
        return [*self.bundled, *(name for name in self._entries() if name not in self.bundled)]

    def find(self, name: str) -> Any:
        """Return what a name refers to.

        Raises:
            UsageError: There is no such name, or it cannot be imported.
        """
        if name in self.bundled:
            return load(self.what, self.bundled[name])
        if ":" in name:
            return load(self.what, name)
        entries = self._entries()
        if name not in entries:
            raise UnknownNameError(self.what, name, [*self.names(), "package.module:Name"])
        try:
            return entries[name].load()
        except (ImportError, AttributeError) as error:
            raise UsageError(
                f"{self.what} {name!r} is offered by an installed package as {entries[name].value}, which cannot be"
                f" imported ({error}); install what it needs, or remove it"
            ) from error

    def _entries(self) -> dict[str, importlib.metadata.EntryPoint]:
        return {entry.name: entry for entry in importlib.metadata.entry_points(group=self.group)}


def load(what: str, name: str) -> Any:
    """Import what `package.module:Name` refers to.

    Raises:
        UsageError: There is no such module, or nothing of that name in it.
    """
    module_name, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except (ImportError, ValueError, TypeError) as error:
        raise UsageError(f"{what} {name!r}: module {module_name!r} cannot be imported ({error})") from error
    found = getattr(module, attribute, None)
    if not callable(found):
        raise UsageError(f"{what} {name!r}: module {module_name!r} has no class {attribute!r}")
    return found
