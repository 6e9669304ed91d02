"""The frontier explorer, and the family that two dials make of it: a short memory and a share of random moves.

It goes for what it knows can be activated, the goal before all, else to the nearest cell where it has not been. How it
reads the text is `gridenv.frontier`, which also proves the maps; here are the dials.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from oresight.gridenv.frontier import Knowledge
from oresight.harness.agents.baselines import NOTHING
from oresight.harness.agents.grid.messages import choose, draws, no_way, told_texts
from oresight.harness.agents.setup import AgentSetup, Factory
from oresight.harness.errors import UsageError
from oresight.harness.protocols import ActionSpace, Decision, Message

WINDOW_MAX = 10_000
_WINDOW = re.compile(r"\d{1,5}")
_NOISE = re.compile(r"[01]|[01]?\.\d{1,6}")


@dataclass(frozen=True)
class Dials:
    """What makes a member of the family.

    Attributes:
        window: How many past turns it remembers besides the current one; None for all that it is shown.
        noise: Share of its moves that are random ones.
    """

    window: int | None = None
    noise: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Dials":
        """Parse the text in a name's brackets, such as `window=8,noise=0.1`.

        Raises:
            UsageError: The text is not such a list.
        """
        found: dict[str, str] = {}
        for part in filter(None, text.split(",")):
            name, equals, value = (word.strip() for word in part.partition("="))
            form = {"window": _WINDOW, "noise": _NOISE}.get(name)
            if form is None or not equals or not form.fullmatch(value) or name in found:
                raise _wrong(text)
            found[name] = value
        window = int(found["window"]) if "window" in found else None
        noise = float(found.get("noise", "0"))
        if (window or 0) > WINDOW_MAX or noise > 1:
            raise _wrong(text)
        return cls(window, noise)

    @property
    def spelling(self) -> str:
        """The one spelling of them, with brackets: `(window=8,noise=0.1)`, or nothing for the usual ones."""
        parts = [] if self.window is None else [f"window={self.window}"]
        if self.noise or parts:
            parts.append(f"noise={self.noise:g}")
        return f"({','.join(parts)})" if parts else ""


USUAL = Dials()


class Frontier:
    """The frontier explorer with its dials.

    As it is, it takes the first of equally good directions, as in the proof of the maps. With a dial turned it draws
    one: with a short memory, a fixed order would have it pace between two cells for ever.
    """

    def __init__(self, setup: AgentSetup, dials: Dials = USUAL) -> None:
        self._seed = setup.seed
        self._dials = dials
        # A store of what was worked out already; what is decided does not depend on it.
        self._heard: list[str] = []
        self._knowledge = Knowledge()

    @classmethod
    def with_dials(cls, text: str) -> tuple[str, Factory]:
        """Return the one spelling of some dials, and the factory of agents that have them.

        Raises:
            UsageError: They are wrong.
        """
        dials = Dials.parse(text)
        return dials.spelling, lambda setup: cls(setup, dials)

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace = NOTHING) -> Decision:
        """Go for what it knows, or make one of its mistakes."""
        dials = self._dials
        knowledge = self._recall(told_texts(messages, dials.window))
        if not knowledge.ways:
            raise no_way()
        if dials == USUAL:
            return Decision(knowledge.choices()[0])
        generator = draws("frontier", self._seed, step)
        noisy, draw = generator.random() < dials.noise, generator.random()
        return Decision(choose(knowledge.ways if noisy else knowledge.choices(), draw))

    def _recall(self, texts: list[str]) -> Knowledge:
        known = len(self._heard)
        if self._heard != texts[:known]:
            known = 0
            self._knowledge = Knowledge()
        for text in texts[known:]:
            self._knowledge.hear(text)
        self._heard = texts
        return self._knowledge


def _wrong(text: str) -> UsageError:
    return UsageError(
        f"agent 'frontier({text})': expected frontier(window=N,noise=P) with whole N of 0 to {WINDOW_MAX} and P from 0"
        " to 1, either of them left out at will"
    )
