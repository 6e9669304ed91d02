"""Angles in whole mouse counts and the sine table over them.

Every angle in use is a whole number of 0.15 degree counts, so sines come from a table of 2400 values, worked out once
in decimal arithmetic. No machine's maths library takes part, which keeps directions equal to the last bit everywhere.
"""

from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import numpy.typing as npt

from oresight.craftenv.config import COUNT_DEG, YAW_COUNTS

_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def _sine_of_first_quarter(count: int) -> float:
    angle = 2 * _PI * count / YAW_COUNTS
    term = total = angle
    for n in range(3, 45, 2):
        term = -term * angle * angle / (n * (n - 1))
        total += term
    return float(total)


@cache
def sine_table() -> npt.NDArray[np.float64]:
    """Return the sines of 0..2399 counts, float64[2400], correctly rounded and exactly symmetric."""
    quarter = YAW_COUNTS // 4
    with localcontext() as context:
        context.prec = 50
        first = [_sine_of_first_quarter(count) for count in range(quarter + 1)]
    half = first[:-1] + first[:0:-1]
    table = np.array(half + [-value for value in half], dtype=np.float64)
    table.setflags(write=False)
    return table


@cache
def _sines() -> list[float]:
    # A list gives a float faster than an array does.
    return [float(value) for value in sine_table()]


def sine(counts: int) -> float:
    """Return the sine of an angle in counts."""
    return _sines()[counts % YAW_COUNTS]


def cosine(counts: int) -> float:
    """Return the cosine of an angle in counts."""
    return _sines()[(counts + YAW_COUNTS // 4) % YAW_COUNTS]


def direction(yaw_counts: int, pitch_counts: int) -> tuple[float, float, float]:
    """Return the unit vector (x, y, z) of a view; yaw 0 looks to +z and grows to the right, pitch grows downwards."""
    level = cosine(pitch_counts)
    return -sine(yaw_counts) * level, -sine(pitch_counts), cosine(yaw_counts) * level


def yaw_degrees(yaw_counts: int) -> float:
    """Return a yaw in degrees, 0 up to but not including 360."""
    return round((yaw_counts % YAW_COUNTS) * COUNT_DEG, 2)


def pitch_degrees(pitch_counts: int) -> float:
    """Return a pitch in degrees, positive downwards."""
    return round(pitch_counts * COUNT_DEG, 2)


def counts(degrees: float) -> int:
    """Return the nearest whole number of counts to an angle in degrees."""
    return round(degrees / COUNT_DEG)
