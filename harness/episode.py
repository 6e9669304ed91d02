"""The loop: one agent, one world, one episode. Who records and who scores is handed in as one callback."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from harness.errors import AgentEndedError, Outcome
from harness.protocols import (
    Agent,
    ContextStrategy,
    Decision,
    Environment,
    Json,
    Observation,
    Pixels,
    Step,
    Turn,
)


@dataclass(frozen=True, eq=False)
class Seen:
    """A past observation as the history keeps it: without its picture once no strategy can ask for it."""

    text: str
    image: Pixels | None
    actions: tuple[str, ...]
    step: int


@dataclass(frozen=True)
class Ending:
    """How the loop ended."""

    outcome: Outcome
    steps: int
    reason: str | None = None


async def play(
    environment: Environment,
    agent: Agent,
    strategy: ContextStrategy,
    on_start: Callable[[Observation, str, Json], None],
    on_step: Callable[[Step], None],
) -> Ending:
    """Plays one episode from its start.

    Args:
        environment: Already open; it is reset here and stays open.
        agent: Decides.
        strategy: Chooses what the agent is shown.
        on_start: Called once with the first observation, the state hash and the start's facts.
        on_step: Called after each decision, before the next is asked for.

    Returns:
        Success exactly when the environment says that the task is done.
    """
    observation = environment.reset()
    on_start(observation, environment.state_hash(), environment.facts())
    history: list[Turn] = []
    with_picture: deque[int] = deque()
    for number in range(1, environment.spec.budget + 1):
        messages = strategy.messages(history, observation)
        try:
            decision = await agent.act(messages, number)
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
                terminated=transition.terminated,
                truncated=transition.truncated,
            )
        )
        if transition.terminated:
            return Ending(Outcome.SUCCESS, number)
        if transition.truncated:
            return Ending(Outcome.BUDGET_SPENT, number)
        history.append(Turn(number, observation, decision, transition.outcome))
        with_picture.append(len(history) - 1)
        while len(with_picture) > strategy.past_pictures:
            index = with_picture.popleft()
            history[index] = _without_picture(history[index])
        observation = transition.observation
    return Ending(Outcome.BUDGET_SPENT, environment.spec.budget)


def _check(decision: Decision, observation: Observation) -> None:
    if decision.action not in observation.actions:
        raise AgentEndedError(f"the agent chose {decision.action!r}, which is no admissible action")


def _without_picture(turn: Turn) -> Turn:
    seen = turn.observation
    return Turn(turn.step, Seen(seen.text, None, tuple(seen.actions), seen.step), turn.decision, turn.outcome)
