"""What the tests of replay pages share: episodes that were really played, their pages, and what a page's data says."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.models.base import FinishReason, ModelRequest, Reply, Usage
from oresight.harness.records.scored import Story, read_story
from oresight.harness.report.episode_page import Links, page_data, write_replay
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds import find_worlds
from oresight.scoring.parameters import Parameters
from support.run_stage import MODEL, FakeModel

# Tags, scripts, entities, templates, addresses, control and bidi characters, half a surrogate pair, stacked accents.
HOSTILE = (
    "</script><script>window.hacked = 1</script><img src='http://evil.example/x.png' onerror='window.hacked = 2'>"
    " &lt;b&gt; {{ 7 * 7 }} {% raw %} <!-- --> ]]> <style>* { display: none }</style> \u202edetrevni\u202c"
    " \u2066\x00\x01\x1b[31m\x07 \u2028\u2029\ufeff a" + "\u0301" * 40 + " \U0001f600"
)


def played(out: Path, kind: str, agent: str, scenario: str, memory: str = "raw") -> Path:
    """Plays an episode without pictures; returns its folder."""
    run(RunPlan(agent, memory, find_worlds(kind, [scenario]), size=None), out)
    return out / "episodes" / scenario


def asked(
    out: Path,
    kind: str,
    scenario: str,
    memory: str,
    answer: Callable[[ModelRequest], str | Reply],
    size: tuple[int, int] | None = None,
) -> tuple[Path, FakeModel]:
    """Plays an episode with a model that answers like this; returns its folder and the model."""
    model = FakeModel(answer)
    with pytest.MonkeyPatch.context() as patch:
        for place in ("oresight.harness.running.attempt.make_client", "oresight.harness.running.runner.make_client"):
            patch.setattr(place, lambda *_: model)
        run(RunPlan("scripted:test", memory, find_worlds(kind, [scenario]), size=size, model=MODEL), out)
    return out / "episodes" / scenario, model


def in_turn(*answers: str | Reply) -> Callable[[ModelRequest], str | Reply]:
    """Gives one answer after the other, over and over."""
    return lambda request: answers[request.number % len(answers)]


def taking(action: str, words: str = "") -> str:
    return json.dumps({"reason": words, "action": action}, ensure_ascii=False)


def hostile(action: str) -> Callable[[ModelRequest], str | Reply]:
    """A model that says the worst: as its words, as a refusal, and once a megabyte of it."""
    worst: tuple[str | Reply, ...] = (
        f"{HOSTILE}\n{taking(action, HOSTILE)}",
        Reply(HOSTILE, FinishReason.REFUSED, Usage(10, 1), HOSTILE),
        HOSTILE,
        f"{HOSTILE}\n{taking(action)}",
    )
    megabyte = f"{HOSTILE * 4000}\n{taking(action)}"
    return lambda request: megabyte if request.number == 3 else worst[request.number % len(worst)]


def story_of(folder: Path, *parameters: Parameters) -> Story:
    return read_story(folder, parameters or [Parameters()])


def data_of(folder: Path, links: Links | None = None) -> Any:
    """What the scripts of an episode's page read, as they read it."""
    return json.loads(json.dumps(page_data(story_of(folder), links or Links())))


def page_of(folder: Path, target: Path, links: Links | None = None) -> str:
    """Writes an episode's page and returns its text."""
    write_replay(story_of(folder), target, links or Links())
    return target.read_text(encoding="utf-8")


def block_of(page: str) -> str:
    """The data block of a page, as it stands."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return found[1]


def words_of(data: Any, step: int) -> dict[str, str]:
    """What the referee says of a decision, by heading."""
    flat = data["steps"][step - 1]["w"]
    return {data["headings"][flat[i]]: data["texts"][flat[i + 1]] for i in range(0, len(flat), 2)}


def requests_of(data: Any) -> list[list[Any]]:
    """Every request on a page, put together: role, then lines of text and numbers of pictures."""
    roles = {-1: "system", -2: "user", -3: "assistant"}
    entries: list[int] = []
    requests = []
    for head, tail, middle in data["sent"]["requests"]:
        entries = [*entries[:head], *middle, *(entries[len(entries) - tail :] if tail else [])]
        request: list[Any] = []
        rest = iter(entries)
        for entry in rest:
            if entry in roles:
                request.append([roles[entry]])
            else:
                request[-1].append(next(rest) if entry == -4 else data["texts"][entry])
        requests.append(request)
    return requests


def request_told(request: ModelRequest) -> list[Any]:
    """A request as `requests_of` gives it."""
    told = []
    for message in request.messages:
        parts: list[Any] = [message.role]
        for part in message.parts:
            step = getattr(part, "step", None)
            parts += [step] if step is not None else part.text.split("\n")  # type: ignore[union-attr]
        told.append(parts)
    return told


def first_of_each(requests: Sequence[ModelRequest]) -> list[ModelRequest]:
    """The requests that are no re-asks: those ask with what was wrong at their end."""
    return [each for each in requests if "No action was taken" not in each.messages[-1].text]
