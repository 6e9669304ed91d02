"""One episode as it lies on disk while somebody plays it: how it ended, or how far it is and what was said last.

Which episodes there are is the business of `run`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oresight.harness import files
from oresight.harness.agents.llm import ReplyRecord
from oresight.harness.analysis.summary import summary_of
from oresight.harness.analysis.watching.tail import Tail
from oresight.harness.errors import Outcome
from oresight.harness.protocols import Json
from oresight.harness.records import folder as run_folder
from oresight.scoring.decisions import Tally
from oresight.scoring.records import COUNT_MAX, DecisionLine, Header, parse_json

_SAID_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Usage:
    """What replies cost.

    Attributes:
        replies: Whether a model played at all.
        input_tokens: Of all of them.
        output_tokens: Likewise.
        cost: US dollars; None without a price.
    """

    replies: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0

    @classmethod
    def of(cls, told: Json | None) -> "Usage":
        """What a record tells; what is no number counts as none."""
        if told is None:
            return cls()
        cost = told.get("cost")
        priced = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= COUNT_MAX
        return cls(
            True,
            _whole(told.get("input_tokens")),
            _whole(told.get("output_tokens")),
            float(cost) if priced and cost is not None else None,
        )

    def __add__(self, other: "Usage") -> "Usage":
        if not self.replies or not other.replies:
            return self if self.replies else other
        return Usage(
            True,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
        )

    def to_json(self) -> Json | None:
        """As a JSON object; None where no model played."""
        if not self.replies:
            return None
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "cost": self.cost}


@dataclass(frozen=True, slots=True)
class Ended:
    """An episode with a result file.

    Attributes:
        id: Of the episode.
        outcome: How it ended; an infrastructure error is no result.
        reason: Why, in words, where the outcome does not say it all.
        steps: Decisions taken.
        budget: Of decisions.
        readings: The counts of each reading; nothing if it is no result.
        usage: What the replies cost.
        seconds: How long the last attempt took; None if that is not told.
        written_s: When the result was written, in seconds since the epoch.
    """

    id: str
    outcome: Outcome
    reason: str | None
    steps: int
    budget: int
    readings: Mapping[str, Tally]
    usage: Usage
    seconds: float | None
    written_s: float

    @classmethod
    def read(cls, path: Path, written_s: float) -> "Ended":
        """Reads a result file.

        Raises:
            OresightError: It is broken.
        """
        result = run_folder.load_result(path)
        seconds = result.timing.get("seconds")
        summary = summary_of(result) if result.outcome.counts else None
        return cls(
            id=result.id,
            outcome=result.outcome,
            reason=result.reason,
            steps=result.steps,
            budget=result.budget,
            readings={} if summary is None else summary.readings,
            usage=Usage.of(result.usage),
            seconds=seconds if seconds and seconds > 0 else None,
            written_s=written_s,
        )

    def to_json(self) -> Json:
        """As a JSON object."""
        return {
            "episode": self.id,
            "outcome": str(self.outcome),
            "reason": self.reason,
            "steps": self.steps,
            "budget": self.budget,
        }


@dataclass(frozen=True)
class Begun:
    """An episode that is under way, or was left so.

    Attributes:
        id: Of the episode.
        steps: Decisions taken.
        budget: Of decisions; None before the record has begun.
        action: The last decision's; None before the first.
        outcome: What came of it, in the world's words.
        said: What the agent said last: with that decision, or in a reply that is not acted on yet.
        fault: Why that reply was no answer, so that the model is asked again; None if it was one.
        usage: What the replies to the decisions cost.
        written_s: When something was last written, in seconds since the epoch; None before anything was.
    """

    id: str
    steps: int
    budget: int | None
    action: str | None
    outcome: str
    said: str
    fault: str | None
    usage: Usage
    written_s: float | None

    def to_json(self, now_s: float) -> Json:
        """As a JSON object; `now_s` is the time of the look, in seconds since the epoch."""
        return {
            "episode": self.id,
            "steps": self.steps,
            "budget": self.budget,
            "action": self.action,
            "outcome": self.outcome,
            "said": self.said,
            "fault": self.fault,
            "seconds_since_written": None if self.written_s is None else round(max(0.0, now_s - self.written_s), 1),
        }


class EpisodeWatch:
    """Follows the records of an episode that has no result yet."""

    def __init__(self, episode_id: str, folder: Path) -> None:
        self._id = episode_id
        self._folder = folder
        self._trajectory = Tail(folder / run_folder.TRAJECTORY_NAME)
        self._replies = Tail(folder / run_folder.REPLIES_NAME)
        self._forget_decisions()
        self._forget_replies()

    def look(self) -> Begun:
        """How far it is.

        Raises:
            StoreError: The disk refuses.
        """
        with files.disk_errors(self._folder):
            for line in self._trajectory.lines(self._forget_decisions):
                self._take_decision(line)
            for line in self._replies.lines(self._forget_replies):
                self._take_reply(line)
        last, reply = self._last, self._reply
        steps = 0 if last is None else last.step
        waiting = reply is not None and reply.step > steps
        said = reply.reply.text if reply is not None and waiting else "" if last is None else last.said
        written = [time for time in (self._trajectory.written_s, self._replies.written_s) if time is not None]
        return Begun(
            id=self._id,
            steps=steps,
            budget=self._budget,
            action=None if last is None else last.action,
            outcome="" if last is None else last.outcome,
            said=said[:_SAID_CHARACTERS],
            fault=reply.fault if reply is not None and waiting else None,
            usage=self._usage,
            written_s=max(written, default=None),
        )

    def _forget_decisions(self) -> None:
        self._headed = False
        self._budget: int | None = None
        self._last: DecisionLine | None = None
        self._usage = Usage()

    def _forget_replies(self) -> None:
        self._reply: ReplyRecord | None = None

    def _take_decision(self, line: bytes) -> None:
        """Takes in a line; a bad one tells nothing, and whoever goes on with the episode cuts it or says so."""
        try:
            value = parse_json(line.decode())
            if not self._headed:
                self._headed = True
                self._budget = _whole(Header.model_validate(value).scenario.get("budget")) or None
                return
            decision = DecisionLine.model_validate(value)
        except ValueError:
            return
        # The facts are the heavy part, and nobody here asks for them.
        self._last = decision.model_copy(update={"facts": {}})
        self._usage += Usage.of(decision.usage)

    def _take_reply(self, line: bytes) -> None:
        try:
            value = parse_json(line.decode())
            if isinstance(value, dict) and "reply" in value:
                self._reply = ReplyRecord.from_json(value)
        except (ValueError, KeyError, TypeError):
            return


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= COUNT_MAX else 0
