"""Compiles the hot loops with numba and keeps the results on disk.

A compiled kernel contains the constants and the other kernels that it used, but numba's own cache looks at the kernel's
file alone: after an edit elsewhere it would go on with old code. So the results lie in a folder named after the sources
of the whole package, in the user's cache; where that cannot be written, they lie beside the sources.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import platformdirs
from numba import config, njit

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def _cache_folder() -> str:
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    root = Path(config.CACHE_DIR) if config.CACHE_DIR else platformdirs.user_cache_path("oresight")
    return str(root / f"kernels-{digest.hexdigest()}")


def _compile(function: Function, **options: object) -> Function:
    # numba reads the folder from its global configuration when a function is decorated; others' functions keep theirs.
    before = config.CACHE_DIR
    folder = _cache_folder()
    config.CACHE_DIR = folder
    try:
        return cast(Function, njit(cache=True, nogil=True, **options)(function))
    finally:
        config.CACHE_DIR = before


def kernel(function: Function) -> Function:
    """Compile a function on its first call, or take it from disk."""
    return _compile(function)


def inline_kernel(function: Function) -> Function:
    """The same for a function so small that it is copied into the kernels that call it."""
    return _compile(function, inline="always")
