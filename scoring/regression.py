"""Success against the logarithm of an error rate, over agents or models: ordinary least squares.

Printed twice, because a rate of 0 has no logarithm: over those with at least one error, and over all, where such a rate
stands at one floor common to all, half an error in the largest number of eligible decisions among them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

from oresight.scoring.records import Json

RATES_MIN = 3


@dataclass(frozen=True)
class Point:
    """An agent or model.

    Attributes:
        name: What it is called.
        successes: Episodes that it solved.
        episodes: Episodes with a result.
        errors: Its errors of one kind, over all of them.
        eligible: The decisions eligible for that kind.
    """

    name: str
    successes: int
    episodes: int
    errors: int
    eligible: int

    @property
    def defined(self) -> bool:
        """Whether it has a success rate and an error rate at all."""
        return self.episodes > 0 and self.eligible > 0


@dataclass(frozen=True)
class FitPoint:
    """A point as it was fitted and is drawn; floored ones are drawn hollow."""

    name: str
    log10_error: float
    success: float
    floored: bool


@dataclass(frozen=True)
class Fit:
    """A line through points: success = intercept + slope x log10(error rate).

    Attributes:
        slope: None where the fit is undefined: fewer than three different error rates.
        intercept: None likewise.
        r2: None likewise, and where all successes are equal, so that there is nothing to explain.
        points: What was fitted.
        floor: The rate at which those without an error stand; None if there are none, or if they are left out.
    """

    slope: float | None
    intercept: float | None
    r2: float | None
    points: tuple[FitPoint, ...]
    floor: float | None

    @property
    def n(self) -> int:
        """How many points it is made of."""
        return len(self.points)

    @property
    def floored(self) -> int:
        """How many of them stand at the floor."""
        return sum(point.floored for point in self.points)

    def to_json(self) -> Json:
        """Return the fit as plain JSON."""
        return {
            "slope": self.slope,
            "intercept": self.intercept,
            "r2": self.r2,
            "n": self.n,
            "floored": self.floored,
            "floor": self.floor,
            "points": [
                {
                    "name": point.name,
                    "log10_error": point.log10_error,
                    "success": point.success,
                    "floored": point.floored,
                }
                for point in self.points
            ],
        }


@dataclass(frozen=True)
class Regression:
    """Both fits over the same agents or models.

    Attributes:
        with_errors: Over those with at least one error.
        all: Over all of them.
        undefined: Names of those without a rate, which are in neither.
    """

    with_errors: Fit
    all: Fit
    undefined: tuple[str, ...]

    def to_json(self) -> Json:
        """Return both fits as plain JSON."""
        return {
            "with_errors": self.with_errors.to_json(),
            "all": self.all.to_json(),
            "undefined": list(self.undefined),
        }


def regress(points: Sequence[Point]) -> Regression:
    """Fit success against log10 of the error rate, with and without those that made no error.

    Raises:
        ValueError: A point has more errors than eligible decisions, more successes than episodes, or fewer than none.
    """
    for point in points:
        if not (0 <= point.errors <= point.eligible and 0 <= point.successes <= point.episodes):
            raise ValueError(
                f"{point.name} has {point.errors} errors in {point.eligible} decisions and {point.successes} successes"
                f" in {point.episodes} episodes; both must be shares"
            )
    defined = [point for point in points if point.defined]
    floor = Fraction(1, 2 * max((point.eligible for point in defined), default=1))
    return Regression(
        with_errors=_fit([point for point in defined if point.errors], floor),
        all=_fit(defined, floor),
        undefined=tuple(point.name for point in points if not point.defined),
    )


def _fit(points: Sequence[Point], floor: Fraction) -> Fit:
    # Fractions tell equal rates from nearly equal ones.
    rates = [Fraction(point.errors, point.eligible) or floor for point in points]
    placed = tuple(
        FitPoint(point.name, math.log10(rate), point.successes / point.episodes, not point.errors)
        for point, rate in zip(points, rates, strict=True)
    )
    used_floor = float(floor) if any(point.floored for point in placed) else None
    if len(set(rates)) < RATES_MIN:
        return Fit(None, None, None, placed, used_floor)
    x, y = [point.log10_error for point in placed], [point.success for point in placed]
    mean_x, mean_y = fmean(x), fmean(y)
    xx = math.fsum((value - mean_x) ** 2 for value in x)
    yy = math.fsum((value - mean_y) ** 2 for value in y)
    xy = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope = xy / xx
    flat = len(set(y)) == 1
    r2 = None if flat else min(1.0, xy * xy / (xx * yy))
    return Fit(0.0 if flat else slope, mean_y if flat else mean_y - slope * mean_x, r2, placed, used_floor)
