"""What is read from the environment; no other file reads it.

A key goes from here to the client of its provider and nowhere else; everybody else is told names alone.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

PROVIDER_KEYS: dict[str, tuple[str, ...]] = {
    "OpenAI": ("OPENAI_API_KEY",),
    "Gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "Anthropic": ("ANTHROPIC_API_KEY",),
}
# A server of one's own may do without a key, and never gets that of another provider.
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
    """Reads the process environment, or a mapping that a test hands in."""
    found = os.environ if environment is None else environment
    return Settings(
        x_display=found.get("DISPLAY") or None,
        wayland_display=found.get("WAYLAND_DISPLAY") or None,
        key_names=frozenset(name for names in PROVIDER_KEYS.values() for name in names if found.get(name)),
    )


def provider_key(provider: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The key of a provider, or None where there is none.

    Args:
        provider: A name of `PROVIDER_KEYS`, or `compatible`.
        environment: A mapping in place of the process environment.
    """
    found = os.environ if environment is None else environment
    names = (COMPATIBLE_KEY,) if provider == "compatible" else PROVIDER_KEYS[provider]
    return next((key for name in names if (key := found.get(name, "").strip())), None)


def all_keys(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Every key that is set, so that none of them gets into a text."""
    names = [*(name for names in PROVIDER_KEYS.values() for name in names), COMPATIBLE_KEY]
    found = os.environ if environment is None else environment
    return tuple(key for name in names if (key := found.get(name, "").strip()))


def provider_address(provider: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The base URL that the environment gives for a provider, or None for the provider's own."""
    found = os.environ if environment is None else environment
    return found.get(PROVIDER_ADDRESSES.get(provider, ""), "").strip() or None


@contextmanager
def shared_cores(processes: int) -> Iterator[None]:
    """What is started meanwhile keeps to its share of the machine; what somebody has set already stays as it is.

    Args:
        processes: How many share the machine.
    """
    share = str(max(1, (os.cpu_count() or 1) // processes))
    added = [name for name in THREAD_COUNTS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, share))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
