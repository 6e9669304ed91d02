"""Random draws from an integer hash: the same on every machine, in every process, with every Python.

Nothing here uses floating point beyond reading a weight exactly, so a seed means the same map everywhere.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def mix(value: int) -> int:
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    value &= _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


class Draws:
    """One stream of draws, distinguished from others by its key. One per purpose: none disturbs another."""

    def __init__(self, *key: int) -> None:
        """Begin the stream of a key: integers of any size and sign."""
        state = 0
        for part in key:
            # The sign and then 64 bits at a time, with the length, so that different keys stay different.
            size = (abs(part).bit_length() + 63) // 64
            state = mix(state + _STEP * (2 * size + (part < 0) + 1))
            for word in range(size):
                state = mix(state + _STEP + ((abs(part) >> (64 * word)) & _MASK))
        self._state = state

    def bits(self) -> int:
        """Draw an integer of 64 bits."""
        self._state = (self._state + _STEP) & _MASK
        return mix(self._state)

    def below(self, limit: int) -> int:
        """Draw an integer from 0 to limit - 1, each equally likely; 1 <= limit <= 2**64."""
        spare = (1 << 64) % limit
        while True:
            drawn = self.bits()
            if drawn >= spare:
                return drawn % limit

    def between(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included."""
        return low + self.below(high - low + 1)

    def choice(self, items: Sequence[T]) -> T:
        """Draw one of some items, each equally likely."""
        return items[self.below(len(items))]

    def weighted(self, weights: Sequence[int]) -> int:
        """Draw an index with a chance in proportion to its weight; weights are integers that sum to 2**64 at most."""
        left = self.below(sum(weights))
        for index, weight in enumerate(weights):
            if left < weight:
                return index
            left -= weight
        raise AssertionError("a draw below the sum lies in one of the weights")

    def count(self, probabilities: Mapping[int, float]) -> int:
        """Draw a key of a table of probabilities."""
        values = sorted(value for value, probability in probabilities.items() if probability > 0)
        # Read to 50 binary places: the same integers everywhere.
        return values[self.weighted([int(probabilities[value] * (1 << 50)) for value in values])]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Draw some different items, in a drawn order."""
        left = list(items)
        for place in range(count):
            other = self.between(place, len(left) - 1)
            left[place], left[other] = left[other], left[place]
        return left[:count]
