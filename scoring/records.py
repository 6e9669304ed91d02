"""The file formats of runs and episodes: versioned models, nothing of the harness.

A trajectory is JSON Lines: a `Header`, then a `DecisionLine` for each decision. What the metric needs are the facts;
their models are strict: every field is required, nothing is converted, NaN and Infinity are refused. Fields that a
model does not know are left alone, so that records with additions still load; a misspelt field is a missing one, and
so is still an error. A version above the ones known here is refused.

Angles are in degrees, lengths in blocks, positions [x, y, z] with y up; null stands for infinite (no way) or for not
there. Times, pictures and prices are the harness's business and stand in fields of its own.
"""

import json
import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    field_validator,
    model_validator,
)

TRAJECTORY_FORMAT = "oresight.trajectory"
RESULT_FORMAT = "oresight.result"
RUN_FORMAT = "oresight.run"
STUDY_FORMAT = "oresight.study-run"
SESSION_FORMAT = "oresight.session"
VERSION = 1

# Limits on files from outside.
LINE_BYTES_MAX = 16 * 1024 * 1024
NESTING_MAX = 64

# Wide enough for any world and far inside what float64 holds exactly.
COORDINATE_MAX = 1e9
_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")


def _readable(value: object) -> object:
    """Replace halves of surrogate pairs, which JSON can spell but no text can hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _in_world(value: float) -> float:
    if abs(value) > COORDINATE_MAX:
        raise ValueError(f"must lie within {COORDINATE_MAX:.0f} blocks of the origin")
    return value


def is_plain_id(name: str) -> bool:
    """Whether a name may be that of a folder in a run: 1 to 80 letters, digits, dots, underscores and dashes."""
    return _ID.fullmatch(name) is not None and name not in (".", "..")


def _plain_id(name: str) -> str:
    if not is_plain_id(name):
        raise ValueError("a name of 1 to 80 letters, digits, '.', '_' or '-'")
    return name


Text = Annotated[str, BeforeValidator(_readable), Field(strict=True)]
EpisodeId = Annotated[Text, AfterValidator(_plain_id)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Coordinate = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(_in_world)]
Distance = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0)]
Angle = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=180)]
Count = Annotated[int, Field(strict=True, ge=0)]
# No reader of JSON rounds a whole number up to here, and no episode counts so far.
COUNT_MAX = 2**53
Total = Annotated[int, Field(strict=True, ge=0, le=COUNT_MAX)]
Cell = Annotated[int, Field(strict=True, ge=-int(COORDINATE_MAX), le=int(COORDINATE_MAX))]
Point = tuple[Coordinate, Coordinate, Coordinate]
BlockPos = tuple[Cell, Cell, Cell]
Json = dict[str, Any]


class Record(BaseModel):
    """Base of all records: frozen; fields it does not know are kept out of the way."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Outcome(StrEnum):
    """How an episode ended; the words stand in result files."""

    SUCCESS = "success"
    BUDGET_SPENT = "failure: budget spent"
    AGENT_ENDED = "failure: agent ended the episode"
    # The world ended by its own rules, and the task was not done.
    WORLD_ENDED = "failure: the world ended the episode"
    INFRASTRUCTURE = "infrastructure error"
    INCOMPLETE = "incomplete"
    # Play without a task that could have been met or missed.
    RECORDED = "recorded"

    @property
    def has_task(self) -> bool:
        """Whether it says that a task was met or missed."""
        return self in (Outcome.SUCCESS, Outcome.BUDGET_SPENT, Outcome.AGENT_ENDED, Outcome.WORLD_ENDED)

    @property
    def counts(self) -> bool:
        """Whether it is a result that rates may be made of."""
        return self not in (Outcome.INFRASTRUCTURE, Outcome.INCOMPLETE)


# --- the facts of the 3D world ---------------------------------------------------------------------------------------


class Pose(Record):
    """Where the player is and looks: feet, yaw (0 to 360, or -180 to 180), pitch (positive looks down)."""

    feet: Point
    yaw_deg: Number
    pitch_deg: Number
    on_ground: StrictBool


class BlockChange(Record):
    """A block that a decision changed; `natural` if the world generated it, rather than the agent placed it."""

    pos: BlockPos
    before: Text
    after: Text
    natural: StrictBool


class FirstSeen(Record):
    """How many block faces came into view that never had been before, and of which kinds."""

    count: Count
    kinds: dict[str, Count]


class OreInView(Record):
    """A natural ore in clear sight and the size of its largest visible face in square pixels of 640 x 480."""

    pos: BlockPos
    kind: Text
    face_px: Distance


class Target(Record):
    """The block under the crosshair within reach."""

    pos: BlockPos
    face: Annotated[int, Field(strict=True, ge=0, le=5)]
    block: Text
    natural: StrictBool


class KnownAtStart(Record):
    """An ore of the target kind in view at the start."""

    pos: BlockPos
    standing: StrictBool
    eye_distance_after: Distance | None
    walk_after: Distance | None
    angle_after: Angle | None


class KnownOre(KnownAtStart):
    """An ore of the target kind that was ever in view, and how it lies to the player before and after the decision.

    Walking distances are steps, null where there is no way; waypoint angles are to the next waypoint of the walking
    path that was known before the decision. All "before" values are null for an ore first seen in this decision.
    """

    eye_distance_before: Distance | None
    walk_before: Distance | None
    angle_before: Angle | None
    waypoint_angle_before: Angle | None
    waypoint_angle_after: Angle | None


class StartFacts(Record):
    """What holds before decision 1; it counts as seen and entered."""

    pose: Pose
    standing: StrictBool
    first_seen: FirstSeen
    ores_in_view: list[OreInView]
    known: list[KnownAtStart]
    target: Target | None


class CraftFacts(Record):
    """The facts of one decision; per-tick lists have an entry for each tick of it."""

    pose_before: Pose
    pose_after: Pose
    feet_ticks: list[Point]
    standing_ticks: list[StrictBool]
    blocks_changed: list[BlockChange]
    items: dict[str, StrictInt]
    acquired: list[BlockPos]
    slot_before: StrictInt
    slot_after: StrictInt
    jumped: StrictBool
    first_seen: FirstSeen
    ores_in_view: list[OreInView]
    known: list[KnownOre]
    target: Target | None

    @model_validator(mode="after")
    def _one_entry_a_tick(self) -> Self:
        if len(self.feet_ticks) != len(self.standing_ticks):
            raise ValueError(
                f"feet_ticks has {len(self.feet_ticks)} entries and standing_ticks {len(self.standing_ticks)};"
                " both have one a tick"
            )
        return self


# --- lines and files -------------------------------------------------------------------------------------------------


class CraftScenario(Record):
    """What the scorer needs of a scenario; the rest of it stays in the header."""

    name: Text
    target: Text
    target_count: Annotated[int, Field(strict=True, ge=1)]
    budget: Annotated[int, Field(strict=True, ge=1)]


class Start(Record):
    """The state before decision 1."""

    state_hash: Text
    facts: Json


class ActionRow(Record):
    """A row of the action table that the episode was played with."""

    name: Text
    # The 3D world's alone.
    ticks: Count | None = None


class TextBound(Record):
    """What a text may be."""

    max_chars: Annotated[int, Field(strict=True, ge=1)]
    hint: Text = ""


class TextActions(Record):
    """Stands in place of a table where an action is any text."""

    text: TextBound


class Branch(Record):
    """Where an episode plays on from: its first decisions are those of a recorded one.

    Attributes:
        at: How many decisions were recorded before.
        rollout: Counted from 0; rollouts differ in what is left to chance.
        of: The recording, by its run's and its episode's name.
        agent: Who played there.
        memory: With which context strategy.
        digest: Of the scenario and the recorded decisions with their state hashes.
    """

    at: Count
    rollout: Count
    of: Text
    agent: Text
    memory: Text
    digest: Text


class Header(Record):
    """First line of a trajectory; `kind` names the world, `scenario` and `start.facts` are that world's own.

    Attributes:
        session: Of a person's play: the name of the file beside it that it was cut out of and is played again from.
    """

    format: Literal["oresight.trajectory"]
    version: Annotated[int, Field(strict=True, ge=1, le=VERSION)]
    kind: Text
    scenario: Json
    agent: Text
    memory: Text
    prompts: Text | None = None
    branch: Branch | None = None
    session: Text | None = None
    actions: list[ActionRow] | TextActions
    score_inputs: Json
    versions: Json
    start: Start

    def admits(self, action: str) -> bool:
        """Whether an action is one of the table, or a text that is short enough."""
        if isinstance(self.actions, TextActions):
            return bool(action.strip()) and len(action) <= self.actions.text.max_chars
        return any(row.name == action for row in self.actions)


class DecisionLine(Record):
    """One decision: what the agent was told and said, what came of it, and the private facts.

    Attributes:
        ticks: Where it was cut out of a person's play in real time: the first and the last tick of its control.
    """

    step: Annotated[int, Field(strict=True, ge=1)]
    action: Text
    state_hash: Text
    observation: Text = ""
    outcome: Text = ""
    said: Text = ""
    usage: Json | None = None
    ticks: tuple[Count, Count] | None = None
    facts: Json


class TotalUsage(Record):
    """What is added up over episodes of what a model's replies cost."""

    input_tokens: Total = 0
    output_tokens: Total = 0
    reasoning_tokens: Total = 0
    cached_tokens: Total = 0
    replies: Total = 0
    reasks: Total = 0
    cost: Annotated[float, Field(strict=True, ge=0, le=COUNT_MAX)] | None = None


class BranchResult(Record):
    """What tells a branch from others of its scenario.

    Attributes:
        at: How many decisions were recorded before.
        rollout: Counted from 0.
        digest: Of the recorded decisions.
        decided: A hash of the actions taken after them, so that rollouts that are alike are seen to be.
    """

    at: Count
    rollout: Count
    digest: Text
    decided: Text


class TallyRecord(Record):
    """The counts of one reading of the error metric."""

    explore_errors: Total
    explore_eligible: Total
    exploit_errors: Total
    exploit_eligible: Total
    error_decisions: Total


class ScoreRecord(BaseModel):
    """The field `score` of result.json: what every world has by name, and in `details` what one has of its own.

    Attributes:
        score: How much of the task was done; left out by versions that had acquired and target_count alone.
        readings: Names of the readings of the error metric, the default one first, whose counts stand under these
            names; empty where it is not defined. Records from before they were named have "lenient" and "strict".
        measures: Numerator and denominator of the measures that followed the episode.
        tallies: The counts of each.
        details: All other fields.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    decisions: Total
    scored_decisions: Total
    steps_taken: Total
    budget: Total | None
    score: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None
    readings: list[Text] | None = None
    measures: dict[str, tuple[Number, Number]] = {}

    @model_validator(mode="after")
    def _readings_are_told(self) -> Self:
        _ = self.tallies, self.share
        return self

    @property
    def names(self) -> list[str]:
        """Names of the readings."""
        return ["lenient", "strict"] if self.readings is None else self.readings

    @property
    def tallies(self) -> dict[str, TallyRecord]:
        """The counts of each reading.

        Raises:
            ValueError: They are missing or no counts.
        """
        return {name: TallyRecord.model_validate((self.__pydantic_extra__ or {}).get(name)) for name in self.names}

    @property
    def share(self) -> float | None:
        """The score, worked out for records from before it was told.

        Raises:
            ValueError: Such a record lacks what it is made of.
        """
        if self.readings is not None:
            return self.score
        done = _Acquired.model_validate(self.__pydantic_extra__ or {})
        return None if done.target_count is None else min(1.0, done.acquired / max(1, done.target_count))

    @property
    def details(self) -> Json:
        """What is the world's own."""
        common = {"outcome", "reason", "success", *TallyRecord.model_fields, "lenient", "strict", *self.names}
        return {name: value for name, value in (self.__pydantic_extra__ or {}).items() if name not in common}


class _Acquired(Record):
    """What told how far an episode came before it had a score."""

    acquired: Total
    target_count: Total | None


class EpisodeResult(Record):
    """result.json: written last, so that an episode with one is finished.

    Attributes:
        reason: Why it ended, in words, where the outcome does not say it all.
        score: The scorer's summary, as `ScoreRecord`; empty if the world never opened.
        parameters: What it was scored with.
        steps: Decisions taken; of a branch, those after the branch point.
        budget: Decisions allowed; of a branch, what was left at the branch point.
        branch: Of a branch.
        usage: What the model's replies cost, where a model played; requests that were lost in a crash are not in it.
        timing: Seconds, requests and retries; they alone may differ between two runs of the same command.
    """

    format: Literal["oresight.result"] = "oresight.result"
    version: Annotated[int, Field(strict=True, ge=1, le=VERSION)] = VERSION
    id: Text
    scenario: Text
    agent: Text
    memory: Text
    outcome: Outcome
    reason: Text | None = None
    steps: Total
    budget: Annotated[int, Field(strict=True, ge=1, le=COUNT_MAX)]
    branch: BranchResult | None = None
    score: Json
    parameters: Json = {}
    usage: Json | None = None
    timing: dict[str, float] = {}
    traceback: Text | None = None

    @model_validator(mode="after")
    def _a_result_is_scored(self) -> Self:
        if self.outcome.counts:
            ScoreRecord.model_validate(self.score)
        return self

    @field_validator("usage")
    @classmethod
    def _usage_can_be_added_up(cls, usage: Json | None) -> Json | None:
        if usage is not None:
            TotalUsage.model_validate(usage)
        return usage


Frames = Literal["all", "last", "none"]


class RunConfig(Record):
    """What a run command asks for; the same config goes on in the same folder, so that no setting may be unknown.

    Attributes:
        prompts: Name of the prompt set, where the world has several.
        map: Fingerprint of the map, where it came from a file.
        model: What is asked of the model, where a model plays.
        branch: Fingerprint of the recorded decisions that the episodes begin with, where they are branches.
        desktop: Whether it is played through a real window.
    """

    model_config = ConfigDict(extra="forbid")

    world: Text
    agent: Text
    memory: Text
    episodes: tuple[EpisodeId, ...]
    frames: Frames
    size: tuple[int, int] | None
    prompts: Text | None = None
    map: Text | None = None
    model: Json | None = None
    branch: Text | None = None
    desktop: bool = False


class RunFile(Record):
    """run.json: what was asked; written first."""

    format: Literal["oresight.run"] = "oresight.run"
    version: Annotated[int, Field(strict=True, ge=1, le=VERSION)] = VERSION
    config: RunConfig
    versions: dict[str, str | int]


class StudyCondition(Record):
    """A condition of a study: its folder beside study.json, and what it is in words."""

    id: EpisodeId
    label: Text


class StudyFolder(Record):
    """study.json: the conditions that were asked for; written first."""

    format: Literal["oresight.study-run"] = "oresight.study-run"
    version: Annotated[int, Field(strict=True, ge=1, le=VERSION)] = VERSION
    conditions: tuple[StudyCondition, ...]


class EpisodesTop(Record):
    """What may stand at the top of an episode file beside its episodes."""

    alpha: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None
    k: Annotated[int, Field(strict=True, ge=1)] | None = None


class GridEpisode(EpisodesTop):
    """An episode of an episode file; `gridenv.mapfile` checks the map, the reader each move."""

    kind: Literal["grid"]
    visibility: Literal["partial", "full"]
    map: Json
    moves: list[Any]
    name: Text | None = None


# --- sessions: what a person played, tick by tick --------------------------------------------------------------------

Sign = Annotated[int, Field(strict=True, ge=-1, le=1)]
# A mouse that turns round this often within one tick is none.
TURN_COUNTS_MAX = 1_000_000
Turn = Annotated[int, Field(strict=True, ge=-TURN_COUNTS_MAX, le=TURN_COUNTS_MAX)]


class SessionControls(Record):
    """What went into the simulation in one tick; a control that is left out is at rest.

    Turns are in mouse counts of 0.15 degrees, to the right and downwards. `place` is true in the tick in which a block
    was to be placed, not for as long as the button was down; `slot` names the slot selected in this tick, 1 to 9, or 0.
    """

    forward: Sign = 0
    right: Sign = 0
    yaw: Turn = 0
    pitch: Turn = 0
    jump: StrictBool = False
    mine: StrictBool = False
    place: StrictBool = False
    slot: Annotated[int, Field(strict=True, ge=0, le=9)] = 0


class SessionHeader(Record):
    """First line of a session: where it was played; the world follows from the scenario and the terrain version.

    The other lines are one `SessionTick` a tick, and at last a `SessionEnd` if the player left in good order.
    """

    format: Literal["oresight.session"]
    version: Annotated[int, Field(strict=True, ge=1, le=VERSION)]
    kind: Literal["craft-session"]
    mode: Literal["real-time", "turn-based"]
    agent: Text
    scenario: Json
    actions: list[ActionRow]
    ticks_per_second: Literal[20]
    score_inputs: Json
    versions: Json
    start: Start


class SessionTick(Record):
    """One tick: what was held down, and what the world was like after it.

    Attributes:
        tick: Counted from 1 without a gap; paused time has no ticks.
        action: In the turn-based mode the decision that began with this tick; nothing is held over from the one before.
        controls: What went into the simulation.
        pose: The pose after the tick.
        changes: Blocks that changed in it, in order.
        state_hash: The hash of the state after it, at every twentieth tick and at the end of a decision; else left out.
    """

    tick: Annotated[int, Field(strict=True, ge=1)]
    action: Text | None = None
    controls: SessionControls
    pose: Pose
    changes: list[BlockChange] = []
    state_hash: Text | None = None


class SessionEnd(Record):
    """Last line of a session that was not cut off: why it ended, after which tick, in which state."""

    end: Literal["reached", "budget", "left"]
    tick: Count
    state_hash: Text


# --- JSON as these files have it -------------------------------------------------------------------------------------


def to_line(record: Mapping[str, Any]) -> bytes:
    r"""Return a record as one line of JSON with its newline, in ASCII, so that no text inside can break a line.

    Raises:
        ValueError: It holds NaN or Infinity, which no file may.
    """
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"


def parse_json(text: str, *, unique_keys: bool = False) -> object:
    """Parse JSON from outside.

    Args:
        text: The JSON.
        unique_keys: Refuse an object in which a field stands twice; else the last one counts.

    Raises:
        ValueError: It is no JSON, holds NaN, Infinity or a number too large, or is nested deeper than 64.
    """
    hook = _unique if unique_keys else None
    try:
        value: object = json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=hook)
    except RecursionError:
        raise ValueError(f"nested deeper than {NESTING_MAX}") from None
    if not _nesting_within(value, NESTING_MAX):
        raise ValueError(f"nested deeper than {NESTING_MAX}")
    return value


def json_schemas() -> dict[str, Json]:
    """Return the JSON schema of every format, by name."""
    models: dict[str, type[BaseModel]] = {
        "trajectory-header": Header,
        "trajectory-decision": DecisionLine,
        "craft-start-facts": StartFacts,
        "craft-facts": CraftFacts,
        "grid-episode": GridEpisode,
        "result": EpisodeResult,
        "run": RunFile,
        "study": StudyFolder,
        "session-header": SessionHeader,
        "session-tick": SessionTick,
        "session-end": SessionEnd,
    }
    return {name: model.model_json_schema() for name, model in models.items()}


def _no_constant(name: str) -> object:
    raise ValueError(f"the number {name}, which no file may hold")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]}, which is too large")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object with the field {twice[:40]!r} more than once")
    return found


def _nesting_within(value: object, limit: int) -> bool:
    """Whether lists and objects are nested no deeper than `limit`; works level by level, without recursion."""
    level = [value]
    for _ in range(limit):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(child for child in item.values() if isinstance(child, dict | list))
            elif isinstance(item, list):
                below.extend(child for child in item if isinstance(child, dict | list))
        if not below:
            return True
        level = below
    return False
