"""What the drawings of a replay page are made of, whatever the world: a world's own script draws them.

Everything that changes is told with the number of the decision after which it holds, so that a step costs the page next
to nothing.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from oresight.harness.protocols import Json
from oresight.harness.records.scored import Story

NEVER = -1


@dataclass(frozen=True)
class Line:
    """A value over the decisions, drawn below the timeline.

    Attributes:
        label: What it is: "height of the feet".
        values: One for the start, and one for each decision.
    """

    label: str
    values: list[float]


@dataclass(frozen=True)
class View:
    """What a world's drawing is made of.

    Attributes:
        nodes: The nodes on which decisions ended, each once; the first is the start.
        ends: Per decision the number of its node; -1 for one that is not scored.
        events: Per decision 2 if something was achieved or acquired, 1 if something was discovered, else 0.
        drawing: For the world's own script.
        script: That script, a file of assets/report; it defines `makeView`, which returns a function of a step.
        event_names: What the events are called, by number.
        map_title: Heading of the map; None for a world that draws none.
        zoom: Whether the map has a button that shows what is near.
        dag: Whether there is a task DAG.
        line: A value over the decisions, or None.
        leaves_out_staying: Whether a decision that ends on the node where it began adds nothing to the segment.
        figures: What is said besides the outcome: name, value, and a remark that may be empty.
    """

    nodes: list[Any]
    ends: list[int]
    events: list[int]
    drawing: Json = field(default_factory=dict)
    script: str = "replay_plain.js"
    event_names: tuple[str, str, str] = ("", "discovered", "achieved")
    map_title: str | None = None
    zoom: bool = False
    dag: bool = False
    line: Line | None = None
    leaves_out_staying: bool = False
    figures: tuple[tuple[str, str, str], ...] = ()


class Numbers:
    """Gives every node a number."""

    def __init__(self, start: Hashable) -> None:
        self.nodes: list[Any] = [_listed(start)]
        self._numbers: dict[Hashable, int] = {start: 0}

    def of(self, node: Hashable | None) -> int:
        """Return the number of a node; -1 for none."""
        if node is None:
            return NEVER
        number = self._numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(_listed(node))
        return number


def _listed(node: Hashable) -> Any:
    return list(node) if isinstance(node, tuple) else node


def plain_view(story: Story) -> View:
    """Nothing is drawn; nodes and their visits are counted all the same."""
    numbers = Numbers(None)
    return View(numbers.nodes, [numbers.of(step.judged.node) for step in story.steps], [0] * len(story.steps))
