"""Scenarios of the grid world, and the three suites made of them: main, semantic and exploit-only.

Names: ``low-small-0`` (demand, DAG size, seed); ``full-low-small-0``, the same with everything known from the start;
``custom-201-semantic-0`` and ``custom-201-symbolic-0``, the hand-made maps.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from oresight import assets
from oresight.gridenv.dag import draw_names
from oresight.gridenv.draws import Draws
from oresight.gridenv.generate import DEMANDS, SIZES, generate
from oresight.gridenv.mapfile import MapError, load_map, map_to_json, parse_map
from oresight.gridenv.model import VISIBILITIES, GridMap, Node, Visibility

SUITES = ("main", "semantic", "exploit-only")
MAIN_SEEDS = (0, 1, 2)
SEMANTIC_SEEDS = (0, 1, 2, 3, 4)
CUSTOM_MAPS = (201, 202, 203, 204)
VARIANTS = ("semantic", "symbolic")
# The stream of draws for the names on hand-made maps.
_NAMES = 3
_MAIN_NAME = re.compile(r"(full-)?([a-z]+)-([a-z]+)-(0|[1-9]\d{0,17})")
_LABELS = re.compile(r"(?:^|-)(low|medium|high)-(small|medium|large)-\d+$")
_CUSTOM_NAME = re.compile(r"custom-(\d{3})-([a-z]+)-(0|[1-9]\d{0,17})")


class UnknownScenarioError(ValueError):
    """No scenario has that name."""


def labels_of(scenario: str) -> tuple[str, str] | None:
    """Return the demand on exploitation and the size of the DAG that a scenario's name states; None if it states none.

    Anything may stand before them: "full-low-small-0".
    """
    found = _LABELS.search(scenario)
    return None if found is None else (found[1], found[2])


@dataclass(frozen=True)
class GridScenario:
    """What an episode is played on.

    Attributes:
        name: Its name.
        map: The map.
        visibility: "partial", or "full" for the exploit-only setting.
        count_steps: Whether each turn states how many steps were used.
        seed: Which of its kind.
        family: The name without the seed; empty for a map from a file, which no seed changes.
    """

    name: str
    map: GridMap
    visibility: Visibility = "partial"
    count_steps: bool = False
    seed: int = 0
    family: str = ""

    @property
    def budget(self) -> int:
        """Moves allowed."""
        return self.map.budget()

    def reseeded(self, seed: int) -> "GridScenario":
        """Return the scenario of the same family for another seed; a map from a file stays as it is."""
        if not self.family or seed == self.seed:
            return self
        return get_scenario(f"{self.family}-{seed}")

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data, as a trajectory's header holds it; `scenario_from_json` gives it back."""
        return {
            "name": self.name,
            "visibility": self.visibility,
            "map": map_to_json(self.map),
            "budget": self.budget,
            "count_steps": self.count_steps,
            "seed": self.seed,
        }


def scenario_from_json(data: Mapping[str, Any], where: str = "scenario") -> GridScenario:
    """Make a scenario of a trajectory's header; the map is the recorded one, so a seed does not change it.

    Raises:
        MapError: A field is malformed; "count_steps" and "seed" may be missing.
    """
    name, visibility = data.get("name"), data.get("visibility")
    if not isinstance(name, str):
        raise MapError(f"{where}.name", repr(name), "a string")
    if visibility not in VISIBILITIES:
        raise MapError(f"{where}.visibility", repr(visibility), f"one of {', '.join(VISIBILITIES)}")
    count_steps, seed = data.get("count_steps", False), data.get("seed", 0)
    if type(count_steps) is not bool:
        raise MapError(f"{where}.count_steps", repr(count_steps), "true or false")
    if type(seed) is not int:
        raise MapError(f"{where}.seed", repr(seed), "a whole number")
    return GridScenario(name, parse_map(data.get("map"), f"{where}.map"), visibility, count_steps, seed)


def scenario_names(suite: str, seeds: tuple[int, ...] | None = None) -> list[str]:
    """Return the names of a suite's scenarios.

    Args:
        suite: "main", "semantic" or "exploit-only".
        seeds: Other seeds than the suite's own.

    Raises:
        UnknownScenarioError: There is no such suite.
    """
    if suite == "semantic":
        chosen = SEMANTIC_SEEDS if seeds is None else seeds
        return [f"custom-{number}-{kind}-{seed}" for number in CUSTOM_MAPS for kind in VARIANTS for seed in chosen]
    if suite not in SUITES:
        raise UnknownScenarioError(f"unknown suite {suite!r}; there is {', '.join(SUITES)}")
    prefix = "full-" if suite == "exploit-only" else ""
    chosen = MAIN_SEEDS if seeds is None else seeds
    return [f"{prefix}{demand}-{size}-{seed}" for demand in DEMANDS for size in SIZES for seed in chosen]


def get_scenario(name: str) -> GridScenario:
    """Return a scenario by name; its map is generated and proved now.

    Raises:
        UnknownScenarioError: No scenario has that name.
    """
    main = _MAIN_NAME.fullmatch(name)
    if main is not None and main[2] in DEMANDS and main[3] in SIZES:
        return GridScenario(
            name,
            _generated(main[2], main[3], int(main[4])),
            visibility="full" if main[1] else "partial",
            seed=int(main[4]),
            family=name.rpartition("-")[0],
        )
    custom = _CUSTOM_NAME.fullmatch(name)
    if custom is not None and int(custom[1]) in CUSTOM_MAPS and custom[2] in VARIANTS:
        made = load_map(assets.path("maps", f"custom-{custom[1]}.json"))
        if custom[2] == "symbolic":
            made = renamed(made, Draws(_NAMES, int(custom[1]), int(custom[3])))
        return GridScenario(name, made, count_steps=True, seed=int(custom[3]), family=name.rpartition("-")[0])
    raise UnknownScenarioError(
        f"unknown scenario {name!r}; expected DEMAND-SIZE-SEED such as low-small-0 (demands: {', '.join(DEMANDS)}; "
        f"sizes: {', '.join(SIZES)}), full-DEMAND-SIZE-SEED, or "
        f"custom-NUMBER-VARIANT-SEED such as custom-201-semantic-0 "
        f"(numbers: {', '.join(map(str, CUSTOM_MAPS))}; variants: {', '.join(VARIANTS)})"
    )


def scenario_of_map(map_: GridMap, name: str, visibility: Visibility = "partial") -> GridScenario:
    """Return a scenario for a map from elsewhere."""
    return GridScenario(name, map_, visibility)


def renamed(map_: GridMap, draws: Draws) -> GridMap:
    """Return a map with drawn names instead of its own."""
    names = dict(zip((node.id for node in map_.nodes), draw_names(draws, len(map_.nodes)), strict=True))
    nodes = [
        Node(
            names[node.id],
            node.cell,
            tuple(tuple(sorted(names[parent] for parent in option)) for option in node.options),
        )
        for node in map_.nodes
    ]
    ordered = tuple(sorted(nodes, key=lambda node: node.id))
    return GridMap(map_.cells, map_.start, ordered, names[map_.goal], map_.name, map_.drawn)


@lru_cache(maxsize=64)
def _generated(demand: str, size: str, seed: int) -> GridMap:
    return generate(demand, size, seed)
