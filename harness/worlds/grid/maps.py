"""Maps of the grid for people: made, shown, checked, and written as files. The work behind `oresight maps`."""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from oresight.gridenv.draw import DrawingError, draw_text
from oresight.gridenv.generate import GenerationError, generate_from, preset
from oresight.gridenv.mapfile import episode_to_json
from oresight.gridenv.model import ALPHA, GridMap, Visibility
from oresight.gridenv.proof import explore
from oresight.gridenv.solver import UnsolvableError, solve, verify
from oresight.gridenv.suites import GridScenario, UnknownScenarioError, get_scenario, scenario_names, scenario_of_map
from oresight.harness import files
from oresight.harness.errors import OresightError, UsageError
from oresight.harness.worlds.grid.world import OVER_AT_START, load_scenario, over_at_start

_T = TypeVar("_T")


@dataclass(frozen=True)
class Custom:
    """What differs from the preset of a demand and a size; None leaves it.

    Attributes:
        nodes: How many nodes the task DAG has.
        density: Nodes per grid cell.
        corridors: The least and the greatest width of a corridor.
    """

    nodes: int | None = None
    density: float | None = None
    corridors: tuple[int, int] | None = None


@dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes:
        sound: Whether the map can be played and solved.
        sentence: What it is, or what is wrong with it.
    """

    sound: bool
    sentence: str


def make(demand: str, size: str, seed: int, custom: Custom, visibility: Visibility) -> GridScenario:
    """Generate a map, proved solvable.

    Raises:
        UsageError: It cannot be made; the message says what to change.
    """
    name = f"{demand}-{size}-{seed}"
    try:
        parameters = preset(demand, size)
        if custom == Custom():
            return scenario_of_map(generate_from(parameters, seed, name), name, visibility)
        narrowest, widest = custom.corridors or (parameters.narrowest, parameters.widest)
        changed = replace(
            parameters,
            nodes=custom.nodes or parameters.nodes,
            density=custom.density or parameters.density,
            narrowest=narrowest,
            widest=widest,
        )
        return scenario_of_map(generate_from(changed, seed, f"{name}-custom"), f"{name}-custom", visibility)
    except GenerationError as error:
        raise UsageError(str(error)) from error


def find(place: str) -> GridScenario:
    """Return the scenario that an argument names: a map file, or one by its name.

    Raises:
        UsageError: There is neither, or the file's map is malformed.
        OresightError: The file cannot be read.
    """
    path = Path(place)
    if path.exists() or path.is_symlink():
        return load_scenario(path)
    try:
        return get_scenario(place)
    except UnknownScenarioError as error:
        raise UsageError(f"{place!r} is not a file, and as a name: {error}") from error


def text(scenario: GridScenario) -> str:
    """Draw a map as lines of characters with its legend.

    Raises:
        UsageError: It is too large to draw.
    """
    return _drawn(lambda: draw_text(scenario.map))


def picture(scenario: GridScenario) -> bytes:
    """Draw a map with its task DAG as a PNG.

    Raises:
        UsageError: It is too large to draw.
    """
    from oresight.gridenv.picture import draw_picture

    buffer = io.BytesIO()
    _drawn(lambda: draw_picture(scenario.map)).save(buffer, format="PNG")
    return buffer.getvalue()


def write(scenario: GridScenario, file: Path) -> None:
    """Write a map file in the form of an episode file, one line long.

    Raises:
        StoreError: It cannot be written.
    """
    told = episode_to_json(scenario.map, scenario.visibility)
    line = json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n"
    files.make_folder(file.parent)
    files.write_atomically(file, line.encode())


def export(name: str, seeds: Sequence[int] | None, folder: Path) -> list[Path]:
    """Write a suite as files, one a scenario.

    Raises:
        UsageError: There is no such suite.
        StoreError: They cannot be written.
    """
    try:
        names = scenario_names(name, None if seeds is None else tuple(seeds))
    except UnknownScenarioError as error:
        raise UsageError(str(error)) from error
    files = [folder / f"{each}.json" for each in names]
    for each, file in zip(names, files, strict=True):
        write(get_scenario(each), file)
    return files


def check(file: Path) -> Checked:
    """Check that a map file is sound and solvable within its budget, with full knowledge and from the text alone."""
    try:
        scenario = load_scenario(file)
    except OresightError as error:
        return Checked(False, str(error))
    map_ = scenario.map
    if over_at_start(scenario):
        return Checked(False, f"{file}: {OVER_AT_START}")
    try:
        solution = solve(map_)
    except UnsolvableError as error:
        return Checked(False, f"{file}: {error}; change the prerequisites or the cells")
    moves, budget = len(solution.moves), scenario.budget
    short = "the shortest solution" if solution.shortest else "the shortest solution known"
    if moves > budget or not verify(map_, solution.moves):
        return Checked(False, f"{file}: {short} takes {moves} moves, more than the budget {budget}; move nodes nearer")
    return Checked(
        True,
        f"{file}: sound; {len(map_.cells)} cells, {len(map_.nodes)} nodes, budget {budget} ({ALPHA} a cell); {short}"
        f" takes {moves} moves; the frontier explorer {_explorer_words(map_, budget)}",
    )


def _explorer_words(map_: GridMap, budget: int) -> str:
    moves = explore(map_, budget)
    return "does not find it within the budget" if moves is None else f"finds it in {moves}"


def _drawn(draw: Callable[[], _T]) -> _T:
    try:
        return draw()
    except DrawingError as error:
        raise UsageError(str(error)) from error
