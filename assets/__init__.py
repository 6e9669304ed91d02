"""Data files that travel with the code: textures, scenarios and their proofs.

Read them through `path`; nothing else in the project knows where they lie.
"""

from pathlib import Path

_ROOT = Path(__file__).resolve().parent


def path(*parts: str) -> Path:
    """Return the absolute path of a bundled file, for example ``path("textures", "stone.png")``."""
    return _ROOT.joinpath(*parts)
