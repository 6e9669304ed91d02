"""What the names of scenarios tell."""

import pytest

from oresight.gridenv.suites import labels_of


@pytest.mark.parametrize(
    ("name", "demand", "size"),
    [
        ("low-small-0", "low", "small"),
        ("main-high-large-12", "high", "large"),
        ("full-medium-medium-2", "medium", "medium"),
        ("custom-201-semantic-0", None, None),
        ("slow-small-0", None, None),
    ],
)
def test_names_tell_demand_and_size(name: str, demand: str | None, size: str | None) -> None:
    assert labels_of(name) == (None if demand is None else (demand, size))
