"""An episode as a strip: where its errors are, as paths of a small drawing and in words."""

from itertools import groupby

from oresight.harness.report.conditions import BOTH_ERROR, EXPLOIT_ERROR, EXPLORE_ERROR, PROGRESS

# Classes of the marks in an episode's strip, and what they are called.
_STRIP = {
    EXPLORE_ERROR: ("explore", "exploration"),
    EXPLOIT_ERROR: ("exploit", "exploitation"),
    BOTH_ERROR: ("both", "both"),
    PROGRESS: ("progress", "progress"),
}
# From top to bottom: exploration errors above, exploitation errors below, both over the whole height.
_HEIGHTS = {EXPLORE_ERROR: (0, 5), EXPLOIT_ERROR: (5, 5), BOTH_ERROR: (0, 10), PROGRESS: (10, 2)}


def strip(marks: str) -> list[tuple[str, str]]:
    """An episode as paths, a kind of mark each: its class and its path over one unit a decision."""
    paths: dict[str, list[str]] = {letter: [] for letter in _STRIP}
    at = 0
    for letter, group in groupby(marks):
        length = sum(1 for _ in group)
        if letter in paths:
            top, height = _HEIGHTS[letter]
            paths[letter].append(f"M{at} {top}h{length}v{height}h-{length}z")
        at += length
    return [(_STRIP[letter][0], "".join(parts)) for letter, parts in paths.items() if parts]


def strip_words(marks: str) -> str:
    """What a strip shows, in words."""
    told = [
        f"{marks.count(letter)} {words}"
        for letter, (_, words) in _STRIP.items()
        if letter != PROGRESS and letter in marks
    ]
    return f"{len(marks)} decisions; errors: {', '.join(told) or 'none'}"
