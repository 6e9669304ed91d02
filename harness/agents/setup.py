"""What an agent is made from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oresight.harness.protocols import Agent


@dataclass(frozen=True)
class AgentSetup:
    """What an agent may be made from.

    Attributes:
        seed: For its random choices.
        actions: Names of every action of the world, in table order; empty where actions are texts.
        proof: Gives the full-knowledge solution of the scenario; for the oracle and the solver alone.
    """

    seed: int
    actions: tuple[str, ...]
    proof: Callable[[], Sequence[str]]


Factory = Callable[[AgentSetup], Agent]
