"""Compiles the hot loops with numba and keeps the results on disk.

A compiled kernel contains the constants and the other kernels that it used, but numba's own cache looks at the kernel's
file alone: after an edit elsewhere it would run old code. So the results lie in a folder named after the sources of the
whole package, in the user's cache; where that cannot be written, they lie beside the sources.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import platformdirs
from numba import config, njit
from numba.core.cpu import CPUTargetOptions

Function = TypeVar("Function", bound=Callable[..., Any])

# Whether references are counted. numba builds functions of its own without, but does not promise the option to others;
# where it is not said, a function does as its caller.
_SAYS_COUNTING = hasattr(CPUTargetOptions, "_nrt")
_COUNTED: dict[str, bool] = {"_nrt": True} if _SAYS_COUNTING else {}
_UNCOUNTED: dict[str, bool] = {"_nrt": False} if _SAYS_COUNTING else {}


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
        # The error model of numpy: no kernel divides by zero, and asking at each division costs as much as dividing.
        return cast(Function, njit(cache=True, nogil=True, error_model="numpy", **options)(function))
    finally:
        config.CACHE_DIR = before


def kernel(function: Function) -> Function:
    """Compile a function on its first call, or take it from disk; it makes no arrays, nor returns any.

    So it need not count references, which at each call of a small function would cost more than all that this does.
    """
    return _compile(function, **_UNCOUNTED)


def allocating_kernel(function: Function) -> Function:
    """Compile a function that makes arrays."""
    return _compile(function, **_COUNTED)


def inline_kernel(function: Function) -> Function:
    """Compile a function that is inlined into the kernels that call it, being small or called once; no arrays."""
    return _compile(function, inline="always", **_UNCOUNTED)
