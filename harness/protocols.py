"""The interfaces of the harness, and the values they exchange.

Environment, Agent, ContextStrategy and Scorer are structural: a world or an agent needs no import from here to fit.
What is written to disk is decided in `store` and in `scoring.records`; how an episode runs, in `episode`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from oresight.harness.asking import DEFAULT_BUDGET, AnswerForm, ContextBudget
from oresight.scoring.decisions import EpisodeSummary, ScoredDecision
from oresight.scoring.records import Outcome

Pixels = npt.NDArray[np.uint8]
Json = dict[str, Any]


@dataclass(frozen=True)
class TextPart:
    """A piece of text in a message."""

    text: str


@dataclass(frozen=True, eq=False)
class ImagePart:
    """A picture in a message.

    Attributes:
        pixels: uint8[height, width, 3], RGB.
        step: The step number of the observation that it belongs to; the saved frame has the same.
        action: The action whose result the picture shows; None for the start's picture.
        outcome: That action's outcome in words; None for the start's picture.
    """

    pixels: Pixels
    step: int
    action: str | None = None
    outcome: str | None = None


@dataclass(frozen=True)
class Message:
    """One message of a conversation; its parts are in reading order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[TextPart | ImagePart, ...]

    @property
    def text(self) -> str:
        """All text of the message, a line a part."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The pictures of the message, in order."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


class Observation(Protocol):
    """What an agent may know before its next decision."""

    @property
    def text(self) -> str:
        """The public words."""

    @property
    def image(self) -> Pixels | None:
        """uint8[height, width, 3], or None where the world makes no pictures."""

    @property
    def actions(self) -> Sequence[str]:
        """Names of the admissible actions."""

    @property
    def step(self) -> int:
        """The step number that its text tells; it grows by one with every decision."""


class Transition(Protocol):
    """What one decision led to; all of it public. The private facts are asked for apart, see `Environment.facts`."""

    @property
    def observation(self) -> Observation:
        """What the agent sees next."""

    @property
    def outcome(self) -> str:
        """What happened, as a person would notice it."""

    @property
    def reward(self) -> float:
        """Target items newly acquired."""

    @property
    def terminated(self) -> bool:
        """True when the task is done; this alone decides success."""

    @property
    def truncated(self) -> bool:
        """True when the budget is spent."""


class EnvironmentSpec(Protocol):
    """What is fixed about an environment before it is reset."""

    @property
    def name(self) -> str:
        """Name of the scenario."""

    @property
    def actions(self) -> Sequence[str]:
        """Names of every action, in table order."""

    @property
    def budget(self) -> int:
        """Decisions allowed."""


class Environment(Protocol):
    """A world that stands still between decisions; plain and synchronous."""

    @property
    def spec(self) -> EnvironmentSpec:
        """What is fixed about it."""

    def reset(self, seed: int | None = None) -> Observation:
        """Goes back to the start. With no seed, the scenario's own."""

    def step(self, action: str) -> Transition:
        """Runs one action for its whole duration."""

    def facts(self) -> Json:
        """Private, JSON-ready facts of the last decision (after `reset`: of the start), for scorers alone."""

    def state_hash(self) -> str:
        """A hash of everything that decides what happens next."""

    def close(self) -> None:
        """Frees what it holds; may be called twice."""


class FilmEnvironment(Environment, Protocol):
    """An environment that can be drawn while an action runs; drawing changes nothing."""

    def step(self, action: str, on_tick: Callable[[], None] | None = None) -> Transition:
        """Runs one action, calling `on_tick` after every tick of the simulation."""

    def render(self) -> Pixels:
        """What is seen now, uint8[height, width, 3]; the caller owns it."""


@dataclass(frozen=True)
class Decision:
    """An agent's choice.

    Attributes:
        action: Name of an admissible action.
        said: What the agent said with it, a model's reasoning left out; may be empty.
        usage: What the decision cost (tokens and the like), or None for an agent that costs nothing.
    """

    action: str
    said: str = ""
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Turn:
    """One past decision: what was observed, what was decided, what came of it."""

    step: int
    observation: Observation
    decision: Decision
    outcome: str


class Agent(Protocol):
    """Chooses one action at a time from the messages that a context strategy yields."""

    async def act(self, messages: Sequence[Message], step: int, actions: Sequence[str]) -> Decision:
        """Decides.

        Args:
            messages: What the agent is shown, oldest first.
            step: Number of this decision, from 1.
            actions: Names of the admissible actions.

        Raises:
            AgentEndedError: It does not decide; the episode is a failure.
            ContextTooLongError: It takes less than it was shown.
            InfrastructureError: Something that it needs fails; the episode has no result.
        """


class ContextStrategy(Protocol):
    """Turns what happened so far into the messages of the next request."""

    @property
    def past_pictures(self) -> int:
        """How many pictures before the current one it may use; older ones are dropped from the history."""

    @property
    def answer(self) -> AnswerForm:
        """What a reply may hold beside its action."""

    def messages(
        self, history: Sequence[Turn], current: Observation, budget: ContextBudget = DEFAULT_BUDGET
    ) -> list[Message]:
        """Returns messages, the instructions first and the current observation last.

        A function of its arguments alone; what the agent wrote earlier stands in the history.

        Args:
            history: All turns of the episode, oldest first.
            current: What is observed now.
            budget: The bound. The oldest is dropped first, the instructions and the current observation never.
        """


class Scorer(Protocol):
    """Facts in, one classified decision out each, a summary at the end; live and from a file the same result."""

    def score(self, action: str, facts: Json) -> ScoredDecision:
        """Classifies the next decision."""

    def summary(self, outcome: Outcome | None = None, reason: str | None = None) -> EpisodeSummary:
        """Sums up the decisions so far; `outcome` and `reason` are those of whoever played them."""


@dataclass(frozen=True, eq=False)
class Step:
    """One decision as it happened, for recorders, scorers and live displays.

    Attributes:
        step: Number of the decision, from 1.
        observed: What the agent saw before it.
        decision: What it chose.
        outcome: What came of it, in words.
        state_hash: Of the state after it.
        facts: Private facts of it.
        after: What is observed after it.
        terminated: The task is done.
        truncated: The budget is spent.
    """

    step: int
    observed: Observation
    decision: Decision
    outcome: str
    state_hash: str
    facts: Json
    after: Observation
    terminated: bool
    truncated: bool
