"""What is read from the environment; no other file reads it.

A key goes from here to the client of its provider and nowhere else; everybody else is told names alone.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

PROVIDER_KEYS: dict[str, tuple[str, ...]] = {
    "OpenAI": ("OPENAI_API_KEY",),
    "Gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "Anthropic": ("ANTHROPIC_API_KEY",),
}
# A user's own server may work without a key, and never gets that of another provider.
COMPATIBLE_KEY = "COMPATIBLE_API_KEY"
PROVIDER_ADDRESSES: dict[str, str] = {
    "OpenAI": "OPENAI_BASE_URL",
    "Gemini": "GOOGLE_GEMINI_BASE_URL",
    "Anthropic": "ANTHROPIC_BASE_URL",
}
# How many threads numpy, OpenCV, compiled loops and the software renderer take.
THREAD_COUNTS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
    "NUMBA_NUM_THREADS",
    "LP_NUM_THREADS",
)


@dataclass(frozen=True)
class Settings:
    """What the environment says.

    Attributes:
        x_display: What DISPLAY says, or None.
        wayland_display: What WAYLAND_DISPLAY says, or None.
        key_names: Names of the provider keys that are set.
    """

    x_display: str | None
    wayland_display: str | None
    key_names: frozenset[str]


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the process environment, or a mapping that a test passes."""
    found = os.environ if environment is None else environment
    return Settings(
        x_display=found.get("DISPLAY") or None,
        wayland_display=found.get("WAYLAND_DISPLAY") or None,
        key_names=frozenset(name for names in PROVIDER_KEYS.values() for name in names if found.get(name)),
    )


def provider_key(names: Sequence[str], environment: Mapping[str, str] | None = None) -> str | None:
    """Return the key of a provider, or None if it is not set.

    Args:
        names: Of the variables that may hold it, the first that does counts.
        environment: A mapping in place of the process environment.
    """
    found = os.environ if environment is None else environment
    return next((key for name in names if (key := found.get(name, "").strip())), None)


def all_keys(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return every key that is set, so that none of them gets into a text."""
    names = [*(name for names in PROVIDER_KEYS.values() for name in names), COMPATIBLE_KEY]
    found = os.environ if environment is None else environment
    return tuple(key for name in names if (key := found.get(name, "").strip()))


def provider_address(provider: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Return the base URL that the environment gives for a provider, or None for the provider's own."""
    found = os.environ if environment is None else environment
    return found.get(PROVIDER_ADDRESSES.get(provider, ""), "").strip() or None


def provider_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return all keys and addresses that are set, by variable name, for a process on another machine.

    It is sent there in memory and never written to disk.
    """
    found = os.environ if environment is None else environment
    keys = (*(name for names in PROVIDER_KEYS.values() for name in names), COMPATIBLE_KEY)
    return {name: found[name] for name in (*keys, *PROVIDER_ADDRESSES.values()) if name in found}


def ray_address(environment: Mapping[str, str] | None = None) -> str | None:
    """Return where the environment says that a Ray cluster is, or None."""
    found = os.environ if environment is None else environment
    return found.get("RAY_ADDRESS", "").strip() or None


@contextmanager
def ray_settings(token: str | None = None) -> Iterator[None]:
    """Disable Ray's usage reports and all of its core's logging but errors, for the duration of a block.

    Args:
        token: For a cluster that is started, and known to what takes part in it alone: without, Ray would write one
            into the home folder. None for a cluster that exists: how it is entered is for the environment to say.
    """
    values = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "error"}
    if token is not None and "RAY_AUTH_MODE" not in os.environ:
        values |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    with _added(values):
        yield


@contextmanager
def shared_cores(processes: int) -> Iterator[None]:
    """Limit what is started in a block to its share of the machine; values that are already set are kept.

    Args:
        processes: How many share the machine.
    """
    with _added(dict.fromkeys(THREAD_COUNTS, str(max(1, (os.cpu_count() or 1) // processes)))):
        yield


@contextmanager
def _added(values: Mapping[str, str]) -> Iterator[None]:
    """Set the variables that are not set already, for the duration of a block."""
    added = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
