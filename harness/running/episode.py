"""The loop: one agent, one world, one episode. Who records and who scores is handed in as one callback."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from oresight.harness.context.assembly import message_tokens, picture_count
from oresight.harness.errors import AgentEndedError, ContextTooLongError, Outcome
from oresight.harness.protocols import (
    DEFAULT_BUDGET,
    Agent,
    ContextBudget,
    ContextStrategy,
    Decision,
    Environment,
    Json,
    Observation,
    Seen,
    Step,
    Turn,
    action_space,
)


@dataclass(frozen=True)
class Ending:
    """How the loop ended."""

    outcome: Outcome
    steps: int
    reason: str | None = None


@dataclass(frozen=True)
class Past:
    """What an earlier attempt at the same episode decided.

    Attributes:
        decisions: From the first one on.
        shrunk: The bound on what the agent is shown, where it shrank then.
    """

    decisions: Sequence[Decision] = ()
    shrunk: ContextBudget | None = None


async def play(
    environment: Environment,
    agent: Agent,
    strategy: ContextStrategy,
    on_start: Callable[[Observation, str, Json], None],
    on_step: Callable[[Step], None],
    budget: ContextBudget = DEFAULT_BUDGET,
    past: Past | None = None,
    on_shrunk: Callable[[int, ContextBudget], None] = lambda step, budget: None,
) -> Ending:
    """Play one episode from its start.

    Args:
        environment: Already open; it is reset here and stays open.
        agent: Decides.
        strategy: Chooses what the agent is shown.
        on_start: Called once with the first observation, the state hash and the start's facts.
        on_step: Called after each decision, before the next is asked for.
        budget: The bound on what the agent is shown; it shrinks once, if the agent cannot take that much.
        past: What an earlier attempt decided; it is done again without asking, and reported like everything else.
        on_shrunk: Called with the number of the decision and the new bound when that shrinks, before the agent is
            asked with it.

    Returns:
        Success exactly when the environment says that the task is done.
    """
    observation = environment.reset()
    on_start(observation, environment.state_hash(), environment.facts())
    history: list[Turn] = []
    with_picture: deque[int] = deque()
    done = past or Past()
    bound = _Bound(budget if done.shrunk is None else done.shrunk, done.shrunk is not None, on_shrunk)
    for number in range(1, environment.spec.budget + 1):
        try:
            if number <= len(done.decisions):
                decision = done.decisions[number - 1]
            else:
                decision = await _decide(agent, strategy, history, observation, number, bound)
            _check(decision, observation)
        except AgentEndedError as error:
            return Ending(Outcome.AGENT_ENDED, number - 1, str(error))
        transition = environment.step(decision.action)
        on_step(
            Step(
                step=number,
                observed=observation,
                decision=decision,
                outcome=transition.outcome,
                state_hash=environment.state_hash(),
                facts=environment.facts(),
                after=transition.observation,
                score=transition.score,
                success=transition.success,
                terminated=transition.terminated,
                truncated=transition.truncated,
            )
        )
        if transition.success:
            return Ending(Outcome.SUCCESS, number)
        if transition.terminated:
            return Ending(Outcome.WORLD_ENDED, number)
        if transition.truncated:
            return Ending(Outcome.BUDGET_SPENT, number)
        history.append(Turn(number, observation, decision, transition.outcome))
        with_picture.append(len(history) - 1)
        while len(with_picture) > strategy.past_pictures:
            index = with_picture.popleft()
            history[index] = _without_picture(history[index])
        observation = transition.observation
    return Ending(Outcome.BUDGET_SPENT, environment.spec.budget)


@dataclass
class _Bound:
    """How much an agent is shown; it shrinks once in an episode."""

    budget: ContextBudget
    shrunk: bool
    on_shrunk: Callable[[int, ContextBudget], None]


async def _decide(
    agent: Agent,
    strategy: ContextStrategy,
    history: Sequence[Turn],
    observation: Observation,
    number: int,
    bound: _Bound,
) -> Decision:
    """Ask the agent; ask once more with fewer messages where the context is too long for it."""
    messages = strategy.messages(history, observation, bound.budget)
    try:
        return _readable(await agent.act(messages, number, action_space(observation.actions)))
    except ContextTooLongError:
        if bound.shrunk:
            raise
    bound.budget, bound.shrunk = bound.budget.shrunk(message_tokens(messages), picture_count(messages)), True
    bound.on_shrunk(number, bound.budget)
    messages = strategy.messages(history, observation, bound.budget)
    return _readable(await agent.act(messages, number, action_space(observation.actions)))


def _readable(decision: Decision) -> Decision:
    """Return the decision as it is recorded: half of a surrogate pair in a text becomes a question mark."""
    said = decision.said
    return decision if said.isascii() else replace(decision, said=said.encode("utf-8", "replace").decode("utf-8"))


def _check(decision: Decision, observation: Observation) -> None:
    if not action_space(observation.actions).admits(decision.action):
        raise AgentEndedError(f"the agent chose {decision.action!r}, which is not an admissible action")


def _without_picture(turn: Turn) -> Turn:
    seen = turn.observation
    return Turn(turn.step, Seen(seen.text, None, action_space(seen.actions), seen.step), turn.decision, turn.outcome)
