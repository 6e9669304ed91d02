"""A language or vision model as an agent: a model client, and the rule for replies that are none.

What the model is shown is the context strategy's business, how it is reached the client's. A reply that names no
admissible action is never executed: the model is asked again, up to three times, and told briefly what was wrong;
nothing of that stays in later context. Then it has ended the episode.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

from oresight.harness.errors import AgentEndedError, InfrastructureError, RequestTooLargeError
from oresight.harness.models.base import FinishReason, ModelClient, ModelRequest, Reply, Usage
from oresight.harness.models.parsing import Answer, Fault, parse_answer
from oresight.harness.models.prices import Price
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.protocols import ActionSpace, AnswerForm, Decision, Json, Message, TextPart

REASKS = 3
_QUOTED_CHARACTERS = 2000


@dataclass
class _Sum:
    """What the replies of one decision cost together."""

    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    requests: int = 0
    retries: int = 0
    replies: int = 0

    def add(self, reply: Reply) -> None:
        self.usage += reply.usage
        self.latency_s += reply.latency_s
        self.requests += reply.requests
        self.retries += reply.retries
        self.replies += 1

    def to_json(self, price: Price | None) -> Json:
        told: Json = {
            **asdict(self.usage),
            "latency_s": round(self.latency_s, 3),
            "requests": self.requests,
            "retries": self.retries,
            "reasks": self.replies - 1,
        }
        if price is not None:
            told["cost"] = price.cost(self.usage)
        return told


class LLMAgent:
    """Asks a model for each decision."""

    def __init__(
        self,
        client: ModelClient,
        form: AnswerForm | None = None,
        memory: str = "",
        price: Price | None = None,
        on_reply: Callable[[ReplyRecord], None] = lambda record: None,
        recorded: Sequence[ReplyRecord] = (),
        reasks: int = REASKS,
    ) -> None:
        """Make the agent of one episode.

        Args:
            client: The model; it may be shared by episodes.
            form: What an answer holds, from the context strategy.
            memory: The strategy's name, for messages.
            price: Of the model, if it has one; then usage has a cost.
            on_reply: Called with every reply before it is acted on. What it raises ends the episode or the run.
            recorded: Replies of this episode that are on disk already; they are used and not asked for again.
            reasks: How often a decision is asked for again.
        """
        self._client = client
        self._form = form or AnswerForm()
        self._memory = memory
        self._price = price
        self._on_reply = on_reply
        self._recorded = {record.number: record for record in recorded}
        self._reasks = reasks
        self._number = 0

    async def act(self, messages: Sequence[Message], step: int, actions: ActionSpace) -> Decision:
        """Ask the model, and ask again where a reply decides nothing.

        Raises:
            AgentEndedError: No reply named an admissible action.
            ContextTooLongError: The model takes less than `messages`.
            InfrastructureError: The provider failed.
            RunStoppedError: The provider will not serve this run.
        """
        # Decisions that were recorded are not asked for again, but their replies count.
        earlier = [record.number + 1 for record in self._recorded.values() if record.step < step]
        self._number = max([self._number, *earlier])
        total = _Sum()
        request = ModelRequest(messages, self._form.schema(actions))
        fault = Fault("no answer", "")
        for attempt in range(self._reasks + 1):
            reply, judged = await self._reply(replace(request, number=self._number), step, attempt, actions)
            total.add(reply)
            if isinstance(judged, Answer):
                return Decision(judged.action, judged.said, total.to_json(self._price))
            fault = judged
            request = replace(request, messages=[*messages, *_again(reply, fault, actions)])
        # A provider's words are reported, a model's are not: they are in the records.
        raise AgentEndedError(f"{fault.kind}; {total.replies} replies in a row without an admissible action")

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.aclose()

    async def _reply(
        self, request: ModelRequest, step: int, attempt: int, actions: ActionSpace
    ) -> tuple[Reply, Answer | Fault]:
        known = self._recorded.get(self._number)
        if known is not None and known.step != step:
            known = None
        reply = known.reply if known is not None else await self._ask(request)
        judged = judge(reply, actions)
        if known is None:
            fault = judged.kind if isinstance(judged, Fault) else None
            self._on_reply(ReplyRecord(step, attempt, self._number, reply, fault))
        self._number += 1
        return reply, judged

    async def _ask(self, request: ModelRequest) -> Reply:
        try:
            reply = await self._client.complete(request)
            # Half of a surrogate pair can be spelled in JSON and be written nowhere.
            return replace(reply, text=reply.text.encode("utf-8", "replace").decode("utf-8"))
        except RequestTooLargeError as error:
            pictures = sum(len(message.images) for message in request.messages)
            memory = f"memory {self._memory!r}" if self._memory else "the context"
            raise InfrastructureError(
                f"{error}; {memory} sent {pictures} pictures, choose one that sends fewer or smaller ones"
            ) from None


def judge(reply: Reply, actions: ActionSpace) -> Answer | Fault:
    """Return what a reply decides, or why it decides nothing.

    A reply that was cut off decides nothing, even with a complete object in it: what would have followed is unknown.
    """
    if reply.finish in (FinishReason.REFUSED, FinishReason.BLOCKED):
        word = "refused" if reply.finish is FinishReason.REFUSED else "refused (blocked by the provider)"
        return Fault(f"{word}: {reply.note}" if reply.note else word, "your reply was a refusal or was blocked")
    if reply.finish is FinishReason.LENGTH:
        return Fault("allowance exhausted", "your reply used up its allowance before it was complete; answer at once")
    if not reply.text.strip():
        if reply.reasoned:
            return Fault("reasoning alone", "your reply held no answer beside reasoning")
        return Fault(f"empty reply ({reply.note})" if reply.note else "empty reply", "your reply was empty")
    return parse_answer(reply.text, actions)


def _again(reply: Reply, fault: Fault, actions: ActionSpace) -> list[Message]:
    """Return the messages with the reply, cut short, and what was wrong with it; only the last of several is shown."""
    wanted = f'one JSON object whose "action" is {actions.words()}'
    asked = f"No action was taken: {fault.reason}. Answer with {wanted}."
    said = reply.text.strip()[:_QUOTED_CHARACTERS]
    told = Message("user", (TextPart(asked),))
    return [Message("assistant", (TextPart(said),)), told] if said else [told]
