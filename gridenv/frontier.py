"""The frontier explorer's reasoning, as a pure function of the texts that an agent is shown.

Whatever the texts say is known, and nothing else: the same words that a language model reads. What can be activated
comes first (the goal before all), else the nearest cell that was never entered.
"""

from collections.abc import Iterable

from oresight.gridenv.model import DIRECTION_NAMES, DIRECTIONS, Cell
from oresight.gridenv.text import HeardNode, read_briefing, read_turn


class Knowledge:
    """What can be known from some texts, in the order in which they were shown.

    Attributes:
        position: Where the agent is by the last turn; None before any.
        ways: The directions that it named.
        observed: The cells that were stood on.
        nodes: The nodes by name, as last heard of.
        activated: The names of those that are activated.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.position: Cell | None = None
        self.ways: tuple[str, ...] = ()
        self.observed: set[Cell] = set()
        self.nodes: dict[str, HeardNode] = {}
        self.activated: set[str] = set()
        self._links: dict[Cell, dict[Cell, None]] = {}
        for text in texts:
            self.hear(text)

    @property
    def unobserved(self) -> set[Cell]:
        """The cells that are known to exist but were not stood on."""
        return self._links.keys() - self.observed

    @property
    def pending(self) -> tuple[HeardNode, ...]:
        """The nodes that can be activated by going there."""
        return tuple(
            node
            for name, node in self.nodes.items()
            if name not in self.activated
            and (not node.options or any(self.activated.issuperset(option) for option in node.options))
        )

    @property
    def wishes(self) -> tuple[set[Cell], ...]:
        """Where to go, best first: the goal if it is pending, what else is pending, what is unobserved."""
        pending = self.pending
        goal = {node.cell for node in pending if node.goal}
        return goal, {node.cell for node in pending}, self.unobserved

    def hear(self, text: str) -> None:
        """Add a text; one that says nothing about the world changes nothing."""
        known = read_briefing(text) if "\nCells: " in text or text.startswith("Cells: ") else None
        if known is not None:
            for cell in known.cells:
                self.observed.add(cell)
                for dx, dy in DIRECTIONS.values():
                    if (other := (cell[0] + dx, cell[1] + dy)) in known.cells:
                        self._links.setdefault(cell, {})[other] = None
            self.nodes.update((node.name, node) for node in known.nodes)
        turn = read_turn(text)
        if turn is None:
            return
        self.position = turn.cell
        self.ways = turn.ways
        if turn.cell not in self.observed:
            self.observed.add(turn.cell)
            here = self._links.setdefault(turn.cell, {})
            for direction in turn.ways:
                dx, dy = DIRECTIONS[direction]
                other = (turn.cell[0] + dx, turn.cell[1] + dy)
                here[other] = None
                self._links.setdefault(other, {})[turn.cell] = None
        if turn.node is not None:
            self.nodes[turn.node.name] = turn.node
            if turn.node.activated:
                self.activated.add(turn.node.name)

    def choices(self) -> tuple[str, ...]:
        """Return every direction that begins a shortest known way to a nearest target, in the order up to right.

        The first of them is what a map's proof takes; another may take longer, but is not an error either. Where no
        target is known, all admissible directions are equal.
        """
        for targets in self.wishes:
            # Who has forgotten the way to a task looks for it as for anything else.
            steps = self._towards(targets) if targets else ()
            if steps:
                return steps
        return self.ways

    def _towards(self, targets: set[Cell]) -> tuple[str, ...]:
        """Search in layers from the position to the nearest targets."""
        if self.position is None:
            return ()
        distance = {self.position: 0}
        layer = [self.position]
        reached: list[Cell] = []
        while layer and not reached:
            further: list[Cell] = []
            for cell in layer:
                for other in self._links.get(cell, ()):
                    if other not in distance:
                        distance[other] = distance[cell] + 1
                        further.append(other)
            reached = [cell for cell in further if cell in targets]
            layer = further
        return self._first_steps(reached, distance)

    def _first_steps(self, reached: list[Cell], distance: dict[Cell, int]) -> tuple[str, ...]:
        """Go back from the targets, layer by layer, to the cells beside the position."""
        assert self.position is not None
        back = set(reached)
        steps_left = distance[reached[0]] if reached else 0
        while steps_left > 1:
            steps_left -= 1
            back = {other for cell in back for other in self._links[cell] if distance.get(other) == steps_left}
        x, y = self.position
        return tuple(
            direction
            for direction in DIRECTION_NAMES
            if (x + DIRECTIONS[direction][0], y + DIRECTIONS[direction][1]) in back
        )
