"""The interfaces of the harness, and the values they exchange.

Environment, Agent and ContextStrategy are structural: a world or an agent needs no import from here to fit.
What is written to disk is decided in `records.folder` and in `scoring.records`; how an episode runs, in `episode`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from oresight.scoring.records import ActionRow, TextActions

Pixels = npt.NDArray[np.uint8]
Json = dict[str, Any]


class ActionSpace(Protocol):
    """What may be chosen at a decision: one of some names (`Choice`), or a text (`FreeText`)."""

    def schema(self) -> Json:
        """Return the JSON schema of an action, in the strict form that providers enforce."""

    def admits(self, action: str) -> bool:
        """Return whether an action is admissible."""

    def words(self) -> str:
        """Return what an action may be, as the words after "an action is"."""

    def to_json(self) -> Any:
        """Return it as it stands in a trajectory's header."""


class Choice(tuple[str, ...]):
    """One of some names; a tuple of them, in the order of the world's table."""

    __slots__ = ()

    def schema(self) -> Json:
        """Return the JSON schema of an action: one of the names."""
        return {"type": "string", "enum": list(self)}

    def admits(self, action: str) -> bool:
        """Return whether it is one of the names."""
        return action in self

    def words(self) -> str:
        """Return the names."""
        return f"one of: {', '.join(self)}"

    def to_json(self) -> list[Json]:
        """Return a row for each name."""
        return [{"name": name} for name in self]


@dataclass(frozen=True)
class FreeText:
    """A text of the agent's own, such as a command of a text world or a query.

    Attributes:
        max_chars: The longest that is admitted.
        hint: What the text should be, in a few words, for the schema and for a re-ask.
    """

    max_chars: int = 2000
    hint: str = "a text"

    def schema(self) -> Json:
        """Return the JSON schema of an action: any text.

        Length is checked by `admits`, since not all providers support a bound.
        """
        return {"type": "string", "description": f"{self.hint}, at most {self.max_chars} characters"}

    def admits(self, action: str) -> bool:
        """Return whether it holds something and is short enough."""
        return bool(action.strip()) and len(action) <= self.max_chars

    def words(self) -> str:
        """Return what it should be, and how long it may be."""
        return f"{self.hint}, of 1 to {self.max_chars} characters"

    def to_json(self) -> Json:
        """Return its bound and its hint."""
        return {"text": asdict(self)}


def space_of(recorded: Sequence[ActionRow] | TextActions) -> ActionSpace:
    """Return the action space in a trajectory's header."""
    if isinstance(recorded, TextActions):
        return FreeText(recorded.text.max_chars, recorded.text.hint)
    return Choice(row.name for row in recorded)


def action_space(actions: "ActionSpace | Sequence[str]") -> ActionSpace:
    """Return an action space; a plain sequence of names becomes a `Choice`, so that a world need not import it."""
    return Choice(actions) if isinstance(actions, Sequence) else actions


# A token of ordinary text is about four bytes. A picture has one price for any size: the dearest that a provider
# asks for one of 640 x 480, rounded up. Both are estimates, made to stay within a bound and not to write a bill.
BYTES_PER_TOKEN = 4
PICTURE_TOKENS = 800
# What a message costs besides its text.
MESSAGE_TOKENS = 4


@dataclass(frozen=True)
class ContextBudget:
    """The bound on one request. Instructions, goal and current observation are sent even where they exceed it.

    Attributes:
        max_tokens: Of text and pictures together, as `text_tokens` and `PICTURE_TOKENS` estimate them.
        max_pictures: The current one included.
    """

    max_tokens: int = 100_000
    max_pictures: int = 100

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.max_pictures < 1:
            raise ValueError(
                f"a context budget of {self.max_tokens} tokens and {self.max_pictures} pictures; expected 1 or more"
            )

    def shrunk(self, sent_tokens: int | None = None, sent_pictures: int | None = None) -> "ContextBudget":
        """Return half of this bound, or half of what was sent where that is less.

        Args:
            sent_tokens: Estimate of the request that was too long.
            sent_pictures: How many pictures it had.
        """
        tokens = self.max_tokens if sent_tokens is None else min(self.max_tokens, sent_tokens)
        pictures = self.max_pictures if sent_pictures is None else min(self.max_pictures, sent_pictures)
        return ContextBudget(max(tokens // 2, 1), max(pictures // 2, 1))


DEFAULT_BUDGET = ContextBudget()


def text_tokens(text: str) -> int:
    """Return the estimated tokens of a text."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


@dataclass(frozen=True)
class AnswerForm:
    """What a reply may hold besides its action.

    Attributes:
        properties: JSON schemas of the further fields by name. All may be left out by a model whose answers no schema
            enforces; where one does, null or an empty list says "nothing".
        sentence: What the prompt says about them; may be empty.
    """

    properties: Mapping[str, Any] = field(default_factory=dict)
    sentence: str = ""

    def schema(self, actions: ActionSpace) -> Json:
        """Return the JSON schema of the whole answer, in the strict form that providers enforce."""
        properties = {"action": actions.schema(), **self.properties}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }


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
    def actions(self) -> "ActionSpace | Sequence[str]":
        """What is admissible now: names, or an action space."""

    @property
    def step(self) -> int:
        """The step number that its text states; it grows by one with every decision."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A past observation as the history keeps it: without its picture once no strategy can ask for it."""

    text: str
    image: Pixels | None
    actions: ActionSpace
    step: int


class Transition(Protocol):
    """What one decision led to; all of it public. The private facts are asked for apart, see `Environment.facts`."""

    @property
    def observation(self) -> Observation:
        """What the agent sees next."""

    @property
    def outcome(self) -> str:
        """What happened, as a person would notice it."""

    @property
    def score(self) -> float:
        """How much of the task is done by now, from 0 to 1."""

    @property
    def success(self) -> bool:
        """Whether the task is done; this alone decides success."""

    @property
    def terminated(self) -> bool:
        """True when the world is over by its own rules: with success, or because the task cannot be done any more."""

    @property
    def truncated(self) -> bool:
        """True when the budget is spent."""


class EnvironmentSpec(Protocol):
    """What is fixed about an environment before it is reset."""

    @property
    def name(self) -> str:
        """Name of the scenario."""

    @property
    def actions(self) -> "ActionSpace | Sequence[str]":
        """Everything that is ever admissible: names in table order, or an action space."""

    @property
    def budget(self) -> int:
        """Decisions allowed."""


class Environment(Protocol):
    """A world that stands still between decisions; plain and synchronous."""

    @property
    def spec(self) -> EnvironmentSpec:
        """What is fixed about it."""

    def reset(self, seed: int | None = None) -> Observation:
        """Go back to the start; without a seed, the scenario's own is used."""

    def step(self, action: str) -> Transition:
        """Run one action for its whole duration."""

    def facts(self) -> Json:
        """Return private, JSON-ready facts of the last decision (after `reset`: of the start), for scorers only."""

    def state_hash(self) -> str:
        """Return a hash of everything that decides what happens next."""

    def close(self) -> None:
        """Free all resources; may be called twice."""


class FilmEnvironment(Environment, Protocol):
    """An environment that can be drawn while an action runs; drawing changes nothing."""

    def step(self, action: str, on_tick: Callable[[], None] | None = None) -> Transition:
        """Run one action, calling `on_tick` after every tick of the simulation."""

    def render(self) -> Pixels:
        """Return what is seen now, uint8[height, width, 3]; the caller owns it."""


@dataclass(frozen=True)
class Decision:
    """An agent's choice.

    Attributes:
        action: An admissible action: its name, or a text.
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

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace) -> Decision:
        """Choose an action.

        Args:
            messages: What the agent is shown, oldest first.
            step: Number of this decision, from 1.
            actions: What is admissible now; a `Choice` is a tuple of names.

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
        """What a reply may hold besides its action."""

    def messages(
        self, history: Sequence[Turn], current: Observation, budget: ContextBudget = DEFAULT_BUDGET
    ) -> list[Message]:
        """Return messages, the instructions first and the current observation last.

        A function of its arguments alone; what the agent wrote earlier stands in the history.

        Args:
            history: All turns of the episode, oldest first.
            current: What is observed now.
            budget: The bound. The oldest is dropped first, the instructions and the current observation never.
        """


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
        score: How much of the task is done, from 0 to 1.
        success: The task is done.
        terminated: The world is over by its own rules.
        truncated: The budget is spent.
    """

    step: int
    observed: Observation
    decision: Decision
    outcome: str
    state_hash: str
    facts: Json
    after: Observation
    score: float
    success: bool
    terminated: bool
    truncated: bool
