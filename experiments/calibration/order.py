"""The order that the metric must keep, whatever the reading: idle >= spinning > each random agent > scout."""

from collections.abc import Mapping

IDLE, SPINNING = ("idle",), ("spinning",)
RANDOM = ("one of the 21 at random", "random moves and looks", "agent random, memory raw")
SCOUT = ("agent scout, memory screenshots(8)",)


def order_faults(rates: Mapping[str, float]) -> list[str]:
    """Return a sentence for each place where the order does not hold.

    Args:
        rates: Exploration error by the name of a behaviour or agent; undefined ones are left out.
    """
    faults = []
    for high, low, strictly in [
        *((high, low, False) for high in IDLE for low in SPINNING),
        *((high, low, True) for high in SPINNING for low in RANDOM),
        *((high, low, True) for high in RANDOM for low in SCOUT),
    ]:
        if high not in rates or low not in rates:
            faults.append(f"{high} or {low} was not measured")
        elif rates[high] < rates[low] or (strictly and rates[high] == rates[low]):
            faults.append(f"{high} has {rates[high]:.3f}, not above {low} with {rates[low]:.3f}")
    return faults
