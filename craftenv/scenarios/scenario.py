"""What a scenario is: a world, a place to start, a task and a budget, with the proof that it can be solved."""

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from oresight.craftenv.actions import BY_NAME
from oresight.craftenv.blocks import ORES, Block

BUDGET = 100
# Far more than anybody plays or walks, and what the world can still be worked out with.
BUDGET_MAX = 10**9
COORDINATE_MAX = 1e9
_Coordinate = Annotated[float, Field(ge=-COORDINATE_MAX, le=COORDINATE_MAX)]
_ITEMS = {block.label: block for block in Block if block not in (Block.AIR, Block.WATER, Block.BEDROCK)}
_ORE_NAMES = tuple(block.label for block in ORES)


class UnknownScenarioError(ValueError):
    """No scenario has that name, or no solvable world exists for its seed."""


class Scenario(BaseModel):
    """What an episode is played on.

    Attributes:
        name: ``kind-seed``, for example ``outcrop-0`` or ``dials-low-high-0``.
        kind: What kind of place it is.
        seed: Which of its kind.
        world_seed: The terrain seed.
        spawn: Where the feet start, [x, y, z] in blocks.
        yaw_deg: Where the player looks at first; a whole number of mouse counts of 0.15 degrees.
        inventory: Start items by name.
        target: The ore to acquire.
        target_count: How many of it.
        budget: Decisions allowed.
        proof: Actions by which full knowledge acquires the target; empty where nothing was proved.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,80}$")]
    kind: str
    seed: int
    world_seed: Annotated[int, Field(ge=-(2**63), lt=2**63)]
    spawn: tuple[_Coordinate, _Coordinate, _Coordinate]
    yaw_deg: Annotated[float, Field(ge=0, lt=360)] = 0.0
    inventory: dict[str, Annotated[int, Field(ge=1, le=576)]] = {}
    target: str = "iron_ore"
    target_count: Annotated[int, Field(ge=1)] = 1
    budget: Annotated[int, Field(ge=1, le=BUDGET_MAX)] = BUDGET
    proof: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _names_exist(self) -> "Scenario":
        if self.target not in _ORE_NAMES:
            raise ValueError(f"target is {self.target!r}; expected one of {', '.join(_ORE_NAMES)}")
        for item in self.inventory:
            if item not in _ITEMS:
                raise ValueError(f"inventory names {item!r}; expected one of {', '.join(sorted(_ITEMS))}")
        for action in self.proof:
            if action not in BY_NAME:
                raise ValueError(f"proof has {action!r}, which is not one of the 21 actions")
        return self

    @property
    def target_item(self) -> int:
        """The target's block id."""
        return int(_ITEMS[self.target])

    @property
    def inventory_items(self) -> dict[int, int]:
        """The start items by block id."""
        return {int(_ITEMS[item]): count for item, count in self.inventory.items()}


def load_scenario(text: str, where: str) -> Scenario:
    """Read a scenario from JSON text.

    Raises:
        UnknownScenarioError: The text is not a scenario; the message names the field.
    """
    try:
        return Scenario.model_validate(json.loads(text))
    except ValidationError as fault:
        first = fault.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "scenario"
        raise UnknownScenarioError(f"{where}: {field}: {first['msg']}") from fault
    # Whole numbers of thousands of digits are a ValueError too, and so is a validation's.
    except (ValueError, RecursionError) as fault:
        raise UnknownScenarioError(f"{where} is not JSON: {fault}") from fault
