"""A condition: who plays, with which memory and which prompts. A run has one, a study or a comparison several."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from oresight.harness.agents import find_agent
from oresight.harness.context import canonical_name, needs_pictures
from oresight.harness.errors import UsageError
from oresight.harness.models.base import ModelSettings
from oresight.harness.models.prices import PriceTable, read_prices
from oresight.harness.models.registry import read_name
from oresight.harness.protocols import Json
from oresight.harness.records.folder import Frames
from oresight.harness.running.attempt import ModelChoice
from oresight.harness.running.budget import Limits
from oresight.harness.running.runner import RunPlan
from oresight.harness.running.selection import Episodes
from oresight.harness.worlds import find_world
from oresight.harness.worlds.prompts import REASONING_SUFFIX

_NO_ID = re.compile(r"[^A-Za-z0-9._-]+")
_ID_CHARACTERS = 60


@dataclass(frozen=True)
class Condition:
    """Who plays, with which memory and which prompts.

    Attributes:
        agent: Name of an agent, or None.
        model: `provider:model`, or None; it may hold a password and is not to be shown.
        memory: Name of the context strategy.
        prompts: Name of a prompt set, a user's own file, or None for the plain set.
    """

    agent: str | None
    model: str | None
    memory: str = "raw"
    prompts: str | None = None


@dataclass(frozen=True)
class PlayOptions:
    """How the episodes of a command are played, in every condition.

    Attributes:
        frames: Which pictures to keep; None for the usual.
        size: Of the pictures; None for none.
        settings: What is asked of models.
        prices: What their tokens cost.
        desktop: Whether the 3D world is played through a real window.
    """

    frames: Frames | None = None
    size: tuple[int, int] | None = (640, 480)
    settings: ModelSettings = field(default_factory=ModelSettings)
    prices: PriceTable = field(default_factory=read_prices)
    desktop: bool = False


@dataclass(frozen=True)
class ConditionPlan:
    """A condition ready to be played.

    Attributes:
        label: In words, fit to be stored and shown.
        plan: Its run.
    """

    label: str
    plan: RunPlan

    @property
    def id(self) -> str:
        """A folder's name; arms with different labels have different ones."""
        mark = hashlib.sha256(self.label.encode()).hexdigest()[:6]
        return f"{_NO_ID.sub('-', self.label)[:_ID_CHARACTERS].strip('-.')}-{mark}"


def condition_plan(condition: Condition, selections: Sequence[Episodes], manner: PlayOptions) -> ConditionPlan:
    """Return the run of a condition over one or more selections of the same kind of world.

    Raises:
        UsageError: It cannot be played.
    """
    plans = [plan_of(condition, selection, manner) for selection in selections]
    worlds = tuple(world for plan in plans for world in plan.worlds)
    names = Counter(world.name for world in worlds)
    twice = next((name for name, times in names.items() if times > 1), None)
    if twice is not None:
        raise UsageError(f"scenario {twice!r} is asked for twice; give each once")
    plan = replace(plans[0], worlds=worlds)
    parts = [plan.agent, plan.memory]
    if condition.prompts is not None:
        parts.append(str(worlds[0].prompts))
    return ConditionPlan(", ".join(parts), plan)


def plan_of(condition: Condition, selection: Episodes, manner: PlayOptions) -> RunPlan:
    """Return the run of one condition.

    Raises:
        UsageError: The condition cannot be played.
    """
    world = find_world(selection.kind)
    if (condition.agent is None) == (condition.model is None):
        raise UsageError("give either --agent, for example scout, or --model, for example openai:gpt-4.1-mini")
    memory = canonical_name(condition.memory)
    pictures = manner.size if world.pictures else None
    if needs_pictures(memory) and pictures is None:
        why = "without --no-pictures there are some" if world.pictures else f"{world.title or world.kind} has none"
        raise UsageError(f"memory {memory!r} is a memory of pictures, and {why}; choose another memory")
    model = None
    if condition.model is not None:
        name = read_name(condition.model)
        # A schema leaves no room to reason before the object, so a set that asks for that goes without.
        reasoning = (condition.prompts or "").endswith(REASONING_SUFFIX)
        settings = replace(manner.settings, structured=False) if reasoning else manner.settings
        model = ModelChoice(name, settings, manner.prices.price(name.public))
        player = name.public
    else:
        assert condition.agent is not None
        # What is quick to check comes first: a scenario that was never used is made now, which takes a while.
        player = find_agent(condition.agent, world).name
    frames: Frames | None = manner.frames if world.pictures else "none"
    worlds = selection.worlds(condition.prompts)
    if manner.desktop:
        worlds = tuple(each.on_desktop() for each in worlds)
    return RunPlan(player, memory, worlds, frames, pictures, model=model)


def check_caps(caps: Limits, plans: Sequence[RunPlan]) -> None:
    """Check that the caps can be enforced.

    Raises:
        UsageError: One cannot, for want of a price or of a model.
    """
    models = [plan.model for plan in plans if plan.model is not None]
    if caps != Limits() and not models:
        raise UsageError("--max-cost and --max-tokens are for models, and none plays; leave them out")
    for model in models:
        if caps.cost is not None and model.price is None:
            raise UsageError(
                f"{model.name.public} has no price, so that --max-cost cannot be kept; give one with --prices FILE, or"
                " cap with --max-tokens"
            )


@dataclass(frozen=True)
class Forecast:
    """How much a run is at most, if every episode lasts as long as its budget and no reply is asked for again.

    Attributes:
        episodes: Planned.
        decisions: Their budgets together.
        requests: To models.
        pictures: In those requests.
    """

    episodes: int
    decisions: int
    requests: int
    pictures: int

    def to_json(self) -> Json:
        """Return it as a JSON object."""
        return {
            "episodes": self.episodes,
            "decisions_at_most": self.decisions,
            "requests_at_most": self.requests,
            "pictures_at_most": self.pictures,
        }


def forecast(plan: RunPlan) -> Forecast:
    """Count episodes and decisions without playing."""
    decisions = sum(world.decisions_left for world in plan.worlds)
    if plan.model is None:
        return Forecast(len(plan.worlds), decisions, 0, 0)
    pictures = 0
    if plan.size is not None:
        past = plan.worlds[0].strategy(plan.memory).past_pictures
        pictures = sum(
            min(step, past + 1)
            for world in plan.worlds
            for step in range(1 + world.budget - world.decisions_left, world.budget + 1)
        )
    return Forecast(len(plan.worlds), decisions, decisions, pictures)
