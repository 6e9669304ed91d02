"""What a run has cost so far and what it may cost: one account for all its episodes, in all processes."""

from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass

from typing_extensions import override

from oresight.harness.errors import CapReachedError, UsageError
from oresight.harness.models.base import ModelClient, ModelRequest, Reply, Usage
from oresight.harness.models.prices import Price
from oresight.harness.models.replies import ReplyRecord
from oresight.harness.protocols import Json


@dataclass(frozen=True)
class Limits:
    """What a run may cost in all, earlier attempts included; None for no bound.

    Attributes:
        cost: US dollars.
        tokens: Input and output together.
    """

    cost: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.cost is not None and not 0 < self.cost < float("inf"):
            raise UsageError(f"the cap on cost is {self.cost}; expected US dollars above 0")
        if self.tokens is not None and self.tokens < 1:
            raise UsageError(f"the cap on tokens is {self.tokens}; expected 1 or more")


class Budget:
    """Adds up what replies cost and says when it is enough.

    The sums may lie in memory that several processes share: each writes in a place of its own and reads all.
    """

    def __init__(self, caps: Limits | None = None, sums: MutableSequence[float] | None = None, place: int = 0) -> None:
        """Open an account.

        Args:
            caps: What may be spent.
            sums: For each place the cost and the tokens, one after the other.
            place: That of this process.
        """
        self.caps = caps or Limits()
        self._sums: MutableSequence[float] = [0.0, 0.0] if sums is None else sums
        self._place = place

    @property
    def cost(self) -> float:
        """US dollars so far, of models with a price."""
        return sum(self._sums[0::2])

    @property
    def tokens(self) -> int:
        """Input and output tokens so far."""
        return int(sum(self._sums[1::2]))

    def add(self, cost: float | None, tokens: int) -> None:
        """Add what a reply cost."""
        self._sums[2 * self._place] += cost or 0.0
        self._sums[2 * self._place + 1] += tokens

    def check(self) -> None:
        """Check that a request may be made.

        Raises:
            CapReachedError: A cap is reached.
        """
        caps = self.caps
        # Sums of small amounts fall short by a little, which is not to buy another request.
        if caps.cost is not None and self.cost >= caps.cost * (1 - 1e-9):
            raise CapReachedError(
                f"stopped at the cap on cost: ${self.cost:.4f} of ${caps.cost:g} spent; rerun the same command with a"
                " higher --max-cost to resume"
            )
        if caps.tokens is not None and self.tokens >= caps.tokens:
            raise CapReachedError(
                f"stopped at the cap on tokens: {self.tokens} of {caps.tokens} used; rerun the same command with a"
                " higher --max-tokens to resume"
            )


class MeteredClient(ModelClient):
    """A model client that asks nothing once a cap is reached."""

    def __init__(self, client: ModelClient, account: Budget) -> None:
        self._client = client
        self._account = account

    @property
    @override
    def name(self) -> str:
        return self._client.name

    @override
    async def complete(self, request: ModelRequest) -> Reply:
        """Send the request, unless a cap is reached.

        Raises:
            CapReachedError: Nothing more may be spent.
        """
        self._account.check()
        return await self._client.complete(request)

    @override
    async def aclose(self) -> None:
        await self._client.aclose()


def usage_of(replies: Sequence[ReplyRecord], price: Price | None) -> Json:
    """Return what the replies of an episode cost together; cost is None without a price."""
    usage = sum((record.reply.usage for record in replies), Usage())
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_tokens": usage.cached_tokens,
        "replies": len(replies),
        "reasks": sum(record.attempt > 0 for record in replies),
        "estimated": usage.estimated,
        "cost": None if price is None else price.cost(usage),
    }


def tokens_of(usage: Usage) -> int:
    """Return all tokens of a reply."""
    return usage.input_tokens + usage.output_tokens
