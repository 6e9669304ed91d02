"""Text from models and files as data: what a terminal or a picture may show without being led astray."""

import unicodedata

# Control, format (the bidirectional overrides are among them), surrogate, private use, line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str, limit: int = 2000) -> str:
    """Return the text with control characters written as escapes, cut to `limit`."""
    shown = "".join(
        repr(character)[1:-1] if unicodedata.category(character) in _HIDDEN else character for character in text[:limit]
    )
    return shown if len(text) <= limit else shown + "…"
