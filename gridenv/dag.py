"""Drawing the task DAG: layers, options, parents, the repair of the goal, and symbolic names.

Source: "Exploration and Exploitation Errors Are Measurable for Language Model Agents", appendix D.1. Where it leaves a
choice open, ours is this: the primitive layer is wide enough for every number of parents that can be drawn, so that the
counts keep their distribution; an option's first parent comes from the layer directly above, the others from all
shallower layers by weight, without repetition.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal

from oresight.gridenv.draws import Draws

Options = tuple[tuple[str, ...], ...]

_SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_LETTERS = 26
NAME_LENGTH = 4
_WEIGHT_ONE = 10**15


@dataclass(frozen=True)
class TaskDag:
    """A drawn task DAG.

    Attributes:
        layers: Names by depth, primitive nodes first; the goal is alone in the last one.
        drawn_options: Per name the options as they were drawn.
        options: The same after the repair of the goal.
        repaired: The nodes from which the goal could not be reached as drawn; now each option of the goal needs them.
    """

    layers: tuple[tuple[str, ...], ...]
    drawn_options: Mapping[str, Options]
    options: Mapping[str, Options]
    repaired: tuple[str, ...]

    @property
    def goal(self) -> str:
        """The goal's name."""
        return self.layers[-1][0]


def depth_weight(gap: int, beta: float) -> int:
    """Return exp(-beta gap) as an integer of 15 places: `decimal` rounds it correctly, the same on every machine."""
    power = Context(prec=40).multiply(Decimal(-gap), Decimal(beta))
    return max(1, int(power.exp(Context(prec=30)) * _WEIGHT_ONE))


def draw_dag(
    draws: Draws,
    *,
    nodes: int,
    max_layer: int,
    option_counts: Mapping[int, float],
    parent_counts: Mapping[int, float],
    goal_parent_counts: Mapping[int, float],
    beta: float,
) -> TaskDag:
    """Draw a task DAG. `GridParameters` describes the arguments and has checked that they can be satisfied."""
    widths = _draw_widths(
        draws, nodes - 1, max_layer, max(value for value, chance in parent_counts.items() if chance > 0)
    )
    names = iter(draw_names(draws, nodes))
    layers = tuple(tuple(next(names) for _ in range(width)) for width in (*widths, 1))
    goal = layers[-1][0]
    weights = [depth_weight(gap, beta) for gap in range(len(layers))]
    drawn: dict[str, Options] = dict.fromkeys(layers[0], ())
    for depth in range(1, len(layers)):
        for name in layers[depth]:
            counts = goal_parent_counts if name == goal else parent_counts
            drawn[name] = tuple(
                _draw_parents(draws, layers[:depth], draws.count(counts), weights)
                for _ in range(draws.count(option_counts))
            )
    lost = _lost(drawn, goal)
    options = dict(drawn)
    options[goal] = tuple(tuple(sorted({*option, *lost})) for option in drawn[goal])
    return TaskDag(layers, drawn, options, lost)


def draw_names(draws: Draws, count: int) -> list[str]:
    """Draw different names of four characters. Each has a letter and a digit: no words, no numbers, no order."""
    names: list[str] = []
    while len(names) < count:
        places = [draws.below(len(_SYMBOLS)) for _ in range(NAME_LENGTH)]
        name = "".join(_SYMBOLS[place] for place in places)
        if name not in names and 0 < sum(place < _LETTERS for place in places) < NAME_LENGTH:
            names.append(name)
    return names


def _draw_widths(draws: Draws, left: int, max_layer: int, most_parents: int) -> list[int]:
    widths: list[int] = []
    while left:
        low = 1 if widths else min(most_parents, left)
        widths.append(draws.between(low, min(max_layer, left)))
        left -= widths[-1]
    return widths


def _draw_parents(
    draws: Draws, shallower: tuple[tuple[str, ...], ...], count: int, weights: list[int]
) -> tuple[str, ...]:
    parents = [draws.choice(shallower[-1])]
    candidates = [
        (name, weights[len(shallower) - 1 - depth]) for depth, layer in enumerate(shallower) for name in layer
    ]
    while len(parents) < count:
        free = [candidate for candidate in candidates if candidate[0] not in parents]
        parents.append(free[draws.weighted([weight for _, weight in free])][0])
    return tuple(sorted(parents))


def _lost(options: Mapping[str, Options], goal: str) -> tuple[str, ...]:
    """Return the names from which the goal cannot be reached, in alphabetical order."""
    useful = {goal}
    front = [goal]
    while front:
        for option in options[front.pop()]:
            for parent in option:
                if parent not in useful:
                    useful.add(parent)
                    front.append(parent)
    return tuple(sorted(set(options) - useful))
