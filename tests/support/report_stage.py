"""What the tests of reports share: conditions with known figures, and small studies that were really played."""

import html.parser
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from oresight.harness.analysis.conditions import ConditionRun
from oresight.harness.analysis.summary import summarise, summary_of
from oresight.harness.errors import Outcome
from oresight.harness.records import folder as run_folder
from oresight.harness.records.reader import State
from oresight.harness.report.conditions import Condition, Told, conditions_of
from oresight.harness.report.study import PAIRS
from oresight.harness.running.plan import Condition as Asked
from oresight.harness.running.plan import PlayOptions, condition_plan
from oresight.harness.running.runner import run_all
from oresight.harness.running.selection import Selection
from oresight.harness.running.study_file import study_folder

# Success, errors and eligible decisions of exploration, and of exploitation.
Played = tuple[bool, tuple[int, int], tuple[int, int]]


def side(
    agent: str,
    episodes: Mapping[str, Played | None],
    *,
    memory: str = "raw",
    prompts: str = "base",
    model: bool = False,
    world: str = "grid",
    unreadable: tuple[str, ...] = (),
) -> ConditionRun:
    """A condition whose episodes came out as told; None for one that is missing."""
    config = run_folder.RunConfig(
        world=world,
        agent=agent,
        memory=memory,
        episodes=tuple(episodes),
        frames="none",
        size=None,
        prompts=prompts,
        model={"temperature": 0} if model else None,
    )
    run = run_folder.RunFile(config=config, versions={"oresight": "1"})
    results = [result(agent, name, played) for name, played in episodes.items() if played is not None]
    label = f"{agent}, {memory}" + (f", {prompts}" if model else "")
    standing = {name: State.UNREADABLE for name in episodes if any(words.startswith(name) for words in unreadable)}
    return ConditionRun(
        label, summarise(run, results, standing), Path("runs", f"{agent}-{memory}-{prompts}"), unreadable
    )


def result(agent: str, name: str, played: Played) -> run_folder.EpisodeResult:
    success, (explore, explore_of), (exploit, exploit_of) = played
    tally = {
        "explore_errors": explore,
        "explore_eligible": explore_of,
        "exploit_errors": exploit,
        "exploit_eligible": exploit_of,
        "error_decisions": explore + exploit,
    }
    steps = explore_of + exploit_of
    score = {
        "decisions": steps,
        "scored_decisions": steps,
        "steps_taken": steps,
        "budget": 2 * steps,
        "acquired": int(success),
        "target_count": 1,
        "lenient": tally,
        "strict": tally,
    }
    outcome = Outcome.SUCCESS if success else Outcome.BUDGET_SPENT
    return run_folder.EpisodeResult(
        id=name, scenario=name, agent=agent, memory="raw", outcome=outcome, steps=steps, budget=2 * steps, score=score
    )


def conditions(*sides: ConditionRun, marks: str = "") -> list[Condition]:
    """The conditions of a report; with `marks` every episode has a recording that told these."""
    found = conditions_of(sides)
    if not marks:
        return found
    import dataclasses

    def told(each: Any) -> Any:
        if each.result is None:
            return each
        summaries = (summary_of(each.result, each.kind),) * len(PAIRS)
        return dataclasses.replace(each, told=Told(marks, (0,) * len(marks), summaries))

    return [dataclasses.replace(condition, episodes=tuple(map(told, condition.episodes))) for condition in found]


def play_study(folder: Path, kind: str, agents: Sequence[str], scenarios: Sequence[str]) -> Path:
    """Plays every agent on every scenario, without pictures."""
    selections = [Selection(kind, scenario=name) for name in scenarios]
    arms = [condition_plan(Asked(agent, None), selections, PlayOptions(size=None)) for agent in agents]
    with study_folder(folder, arms) as folders:
        run_all([(arm.plan, place) for arm, place in zip(arms, folders, strict=True)])
    return folder


def play_model(folder: Path, said: Sequence[str], scenario: str = "low-small-0", prompts: str | None = None) -> Path:
    """Plays a model that replies from a script."""
    script = folder.parent / f"{folder.name}.jsonl"
    script.write_text("".join(json.dumps({"text": text}) + "\n" for text in said))
    arm = condition_plan(
        Asked(None, f"scripted:{script}", prompts=prompts), [Selection("grid", scenario=scenario)], PlayOptions()
    )
    run_all([(arm.plan, folder)])
    return folder


class _Links(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attributes if name in ("href", "src", "srcset") and value]


def dead_links(page: Path) -> list[str]:
    """Addresses on a page that lead to no file beside it."""
    links = _Links()
    links.feed(page.read_text(encoding="utf-8"))
    dead = []
    for link in links.found:
        path = unquote(link.partition("#")[0])
        if path.startswith("data:") or not path:
            continue
        if ":" in path.partition("/")[0] or path.startswith("/") or not (page.parent / path).exists():
            dead.append(link)
    return dead
