"""A study as a file: conditions x scenarios x seeds in one folder that can be resumed.

    world = "grid"
    suite = "main"
    seeds = [0, 1]
    agents = ["frontier"]
    models = ["openai:gpt-4.1-mini"]
    memories = ["raw", "tree+notes"]
    prompts = ["base", "balance"]

    [model]
    temperature = 0.0

    [limits]
    max_cost = 5.0

Every agent is played with every memory, every model with every memory and every set of prompts (agents read none); a
`[[conditions]]` table adds a single one. On disk each condition is a run of its own:

    study.json           what was asked; written first
    <condition>/         a run folder
    summary.json         and summary.csv: the conditions side by side, and a row an episode
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from oresight.harness import files
from oresight.harness.errors import ForeignFolderError, UnknownNameError, UsageError
from oresight.harness.models.base import ModelSettings
from oresight.harness.models.prices import read_prices
from oresight.harness.running.budget import Limits
from oresight.harness.running.plan import Condition, ConditionPlan, PlayOptions, condition_plan
from oresight.harness.running.selection import Selection, parse_size
from oresight.harness.worlds import find_world
from oresight.scoring.readers.faults import BadInput
from oresight.scoring.readers.run_folder import STUDY_NAME, read_study
from oresight.scoring.records import StudyCondition, StudyFolder

LIMIT_BYTES = 1_000_000


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ConditionTable(_Table):
    """A condition by itself."""

    agent: str | None = None
    model: str | None = None
    memory: str = "raw"
    prompts: str | None = None


class ModelTable(_Table):
    """What is asked of models; see `ModelSettings`."""

    temperature: float | None = 0.0
    max_output_tokens: int = 4096
    timeout_s: float = 120.0
    reasoning_effort: str | None = None
    picture_detail: str | None = None
    seed: int | None = None
    structured: bool = True


class LimitsTable(_Table):
    """What the study may cost."""

    max_cost: float | None = None
    max_tokens: int | None = None


class StudyFile(_Table):
    """The whole file."""

    world: str
    suite: str | None = None
    scenarios: list[str] = Field(default=[], max_length=10_000)
    maps: list[str] = Field(default=[], max_length=10_000)
    options: dict[str, str] = Field(default={}, max_length=100)
    seeds: list[int] | None = None
    agents: list[str] = Field(default=[], max_length=1000)
    models: list[str] = Field(default=[], max_length=1000)
    memories: list[str] = Field(default=["raw"], min_length=1, max_length=100)
    prompts: list[str] = Field(default=[], max_length=100)
    conditions: list[ConditionTable] = Field(default=[], max_length=1000)
    frames: Literal["all", "last", "none"] | None = None
    size: str = "640x480"
    pictures: bool = True
    desktop: bool = False
    prices: str | None = None
    model: ModelTable = ModelTable()
    limits: LimitsTable = LimitsTable()

    def all_conditions(self) -> list[Condition]:
        """Return every condition, each once, in the file's order."""
        sets: list[str | None] = [*self.prompts] if self.prompts else [None]
        asked = [Condition(agent, None, memory) for agent in self.agents for memory in self.memories]
        asked += [
            Condition(None, model, memory, prompts)
            for model in self.models
            for memory in self.memories
            for prompts in sets
        ]
        asked += [Condition(each.agent, each.model, each.memory, each.prompts) for each in self.conditions]
        return list(dict.fromkeys(asked))

    def selections(self) -> list[Selection]:
        """Return the selections of episodes; several, where scenarios or maps are listed.

        Raises:
            UsageError: None or too much is said.
        """
        given = [name for name in ("suite", "scenarios", "maps") if getattr(self, name)]
        if len(given) != 1:
            raise UsageError(f"a study has one of suite, scenarios and maps; found {' and '.join(given) or 'none'}")
        seeds = None if self.seeds is None else tuple(self.seeds)
        if self.suite is not None:
            return [Selection(self.world, suite=self.suite, seeds=seeds, options=self.options)]
        if self.maps:
            return [Selection(self.world, seeds=seeds, options={**self.options, "map": path}) for path in self.maps]
        return [Selection(self.world, scenario=name, seeds=seeds, options=self.options) for name in self.scenarios]

    def caps(self) -> Limits:
        """Return what the study may cost."""
        return Limits(self.limits.max_cost, self.limits.max_tokens)

    def arms(self) -> list[ConditionPlan]:
        """Return the run of each condition.

        Raises:
            UsageError: One cannot be played.
        """
        selections = self.selections()
        found = self.all_conditions()
        if not found:
            raise UsageError("a study has at least one of agents, models and conditions; found none")
        size = parse_size(self.size) if self.pictures else None
        settings = ModelSettings(**self.model.model_dump())
        prices = read_prices(None if self.prices is None else Path(self.prices))
        manner = PlayOptions(self.frames, size, settings, prices, self.desktop)
        return [condition_plan(condition, selections, manner) for condition in found]


def load_study(path: Path) -> StudyFile:
    """Read a study.

    Raises:
        UsageError: It is no TOML or no study; the message names the field.
        OresightError: The file cannot be read.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file; expected a study in TOML")
    return parse_study(files.read_toml(path, LIMIT_BYTES, "a study in TOML"), str(path))


def parse_study(data: dict[str, Any], where: str) -> StudyFile:
    """Make a study from its fields.

    Raises:
        UsageError: It is not a valid study; the message names the field.
    """
    try:
        study = StudyFile.model_validate(data)
        find_world(study.world)
        return study
    except UnknownNameError as error:
        raise UsageError(f"{where}: field 'world': {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the whole"
        if first["type"] == "extra_forbidden":
            raise UsageError(f"{where}: unknown field {field!r}; known: {', '.join(StudyFile.model_fields)}") from error
        raise UsageError(f"{where}: field {field!r}: {first['msg']}; correct the file") from error


@contextmanager
def study_folder(path: Path, arms: Sequence[ConditionPlan]) -> Iterator[list[Path]]:
    """Open the folder of a study and return the run folder of each condition.

    Raises:
        ForeignFolderError: It holds another study, or anything else.
        RunLockedError: Another process plays it.
        StoreError: It cannot be written.
    """
    file = path / STUDY_NAME
    asked = StudyFolder(conditions=tuple(StudyCondition(id=arm.id, label=arm.label) for arm in arms))
    _check_foreign(path, file, asked)
    with files.disk_errors(path):
        path.mkdir(parents=True, exist_ok=True)
    lock = files.FolderLock(path)
    try:
        if not file.exists():
            files.write_atomically(file, files.to_pretty_json(asked.model_dump(mode="json")))
        yield [path / arm.id for arm in arms]
    finally:
        lock.close()


def _check_foreign(path: Path, file: Path, asked: StudyFolder) -> None:
    advice = "choose another --out folder"
    if not path.exists():
        return
    if not path.is_dir():
        raise ForeignFolderError(f"{path}: is a file; {advice}")
    if file.exists() or file.is_symlink():
        try:
            found = read_study(path)
        except BadInput as error:
            raise ForeignFolderError(f"{file}: is not the study.json of an oresight study; {advice}") from error
        if found != asked:
            raise ForeignFolderError(f"{path}: holds another study (its conditions differ); {advice}")
        return
    with files.disk_errors(path):
        others = [item.name for item in path.iterdir() if item.name not in (files.LOCK_NAME, f".{STUDY_NAME}.tmp")]
    if others:
        raise ForeignFolderError(f"{path}: holds other things ({sorted(others)[0]!r}) and no study; {advice}")
