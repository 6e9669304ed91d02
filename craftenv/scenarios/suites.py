"""Scenarios by name, and the suites made of them.

A scenario of a suite lies under assets/ together with its proof: a list of the 21 actions with which full knowledge
reaches the target within half the budget. One for another seed is made and proved on first use. ``outcrop-0`` is of the
suite `craft-mine`; ``dials-low-high-0`` of `craft-dials`, low in exploration demand and high in exploitation demand.
"""

import re

from oresight import assets
from oresight.craftenv.scenarios.dials import LEVELS
from oresight.craftenv.scenarios.maker import SUITE_SEEDS, SUITES, make_or_load_cached
from oresight.craftenv.scenarios.scenario import Scenario, UnknownScenarioError, load_scenario

_NAME = re.compile(r"([a-z]+(?:-[a-z]+)*)-(\d{1,9})")


def scenario_names(suite: str, seeds: tuple[int, ...] = SUITE_SEEDS) -> list[str]:
    """Return the names of a suite's scenarios for some seeds.

    Raises:
        UnknownScenarioError: There is no such suite.
    """
    if suite not in SUITES:
        raise UnknownScenarioError(f"unknown suite {suite!r}; there is {', '.join(SUITES)}")
    return [f"{kind}-{seed}" for kind in SUITES[suite] for seed in seeds]


def get_scenario(name: str) -> Scenario:
    """Return a scenario by name; one whose seed has not been used before is made and proved now.

    Args:
        name: ``kind-seed``, for example ``outcrop-0`` or ``dials-low-high-0``.

    Raises:
        UnknownScenarioError: No such kind, or no solvable world for the seed.
    """
    kinds = [kind for kinds in SUITES.values() for kind in kinds]
    match = _NAME.fullmatch(name)
    if match is None or match[1] not in kinds:
        known = ", ".join(f"{kind}-SEED" for kind in SUITES["craft-mine"])
        levels = "|".join(LEVELS)
        raise UnknownScenarioError(
            f"unknown scenario {name!r}; expected {known} or dials-EXPLORATION-EXPLOITATION-SEED with the demands"
            f" {levels}, for example outcrop-0 or dials-low-high-0"
        )
    committed = assets.path("scenarios", f"{name}.json")
    if committed.is_file():
        return load_scenario(committed.read_text(encoding="utf-8"), str(committed.name))
    return make_or_load_cached(match[1], int(match[2]))
