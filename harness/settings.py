"""What is read from the environment; no other file reads it.

Keys are only looked for here: names leave this file, values never do.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

PROVIDER_KEYS: dict[str, tuple[str, ...]] = {
    "OpenAI": ("OPENAI_API_KEY",),
    "Gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "Anthropic": ("ANTHROPIC_API_KEY",),
}


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
