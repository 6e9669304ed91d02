"""The documentation is true: what it says to type works, in its order and from an empty folder; what it links is there.

How a page is read, and what is left out, stands in `page_stage`.
"""

import importlib.util
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel

from oresight.harness.cli.main import app
from oresight.harness.models.base import FinishReason, ModelSettings, Usage
from oresight.harness.models.secrets import read_address
from oresight.harness.records.folder import BranchResult, EpisodeResult, RunConfig, RunFile
from oresight.harness.running.study_file import ConditionTable, LimitsTable, ModelTable, StudyFile
from oresight.scoring.records import DecisionLine, GridEpisode, Header, SessionEnd, SessionHeader, SessionTick
from support.cli_stage import Ran
from support.model_stage import SCHEMA, a_picture, a_request, closing
from support.page_stage import NO_DISPLAY, NOT_RUN, NOT_RUN_WITH, Command, File, Reader, blocks, deeds
from support.places import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLLOWED = [page for page in PAGES if deeds(page.read_text(encoding="utf-8"))]
# Written by commands that measure; what they name is checked, and typed where a reader is led to it.
MEASURED = ("calibration.md", "study.md", "dials.md", "benchmarks.md")
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`(oresight [a-z][^`\n]*)`")
_INDENTED = re.compile(r"^ {4}(oresight .*)$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def reader(tmp_path: Path, oresight: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    yield Reader(tmp_path, oresight, monkeypatch)
    # A reader's own modules are of this page alone.
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.gl
@pytest.mark.slow
@pytest.mark.parametrize("page", FOLLOWED, ids=named)
def test_a_page_can_be_followed_to_the_letter(page: Path, reader: Reader) -> None:
    for deed in deeds(page.read_text(encoding="utf-8")):
        reader.follow(deed)
    if reader.without_window:
        pytest.skip(NO_DISPLAY)


def test_what_is_not_run_is_in_the_documentation_and_is_little() -> None:
    commands = [deed for page in PAGES for deed in deeds(page.read_text(encoding="utf-8")) if isinstance(deed, Command)]
    left_out = [command for command in commands if command.not_run]
    assert len(left_out) < len(commands) / 3
    unused = [start for start in NOT_RUN if not any(command.line.startswith(start) for command in left_out)]
    unused += [part for part in NOT_RUN_WITH if not any(part in command.line for command in left_out)]
    assert not unused


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in _LINK.findall(text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists() and place.is_relative_to(ROOT), target
        if anchor:
            assert anchor in anchors(place), target


def anchors(page: Path) -> set[str]:
    """Addresses of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_listed_in_the_index_and_linked_from_the_readme() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert {target for target in _LINK.findall(index) if "/" not in target} == pages
    assert pages | {"index.md"} <= {target.removeprefix("docs/") for target in _LINK.findall(readme)}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in MEASURED], ids=named)
def test_commands_stand_in_console_blocks(page: Path) -> None:
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    assert not re.findall(r"^(?: {4}|\t)(?:\$ )?(?:oresight|make|python|pip) .*$", text, re.MULTILINE)
    others = [body for _, language, body in blocks(page.read_text(encoding="utf-8")) if language != "console"]
    assert not [body for body in others if re.search(r"^(?:\$ )?oresight ", body, re.MULTILINE)]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_named_in_passing_exist_with_their_options(page: Path) -> None:
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    for line in (*_INLINE.findall(text), *_INDENTED.findall(text)):
        unknown = [word for word in options_of(line.split()[1:]) if word is not None]
        assert not unknown, f"`{line}`: {unknown}"


def options_of(words: list[str]) -> list[str | None]:
    """Of each option in a command its name if the command has no such option; the same for the command itself."""
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        if words[0] not in command.commands:
            return [words[0]]
        command, words = command.commands[words[0]], words[1:]
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    asked = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [word if word not in {*known, "--help"} else None for word in asked]


def test_an_option_that_does_not_exist_is_found() -> None:
    assert options_of(["run", "grid", "--agent", "x", "--polish"]) == [None, "--polish"]
    assert options_of(["paint"]) == ["paint"]


def test_every_command_is_in_the_documentation() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    group: Any = typer.main.get_command(app)
    missing = [name for name in group.commands if not re.search(rf"oresight {name}\b", text)]
    assert not missing


def module_at(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_schemas_are_those_of_the_models() -> None:
    made: dict[str, str] = module_at(ROOT / "docs" / "make_schemas.py").schemas()
    there = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "schemas").iterdir()}
    assert there == made, "run: python docs/make_schemas.py"
    formats = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    assert {f"schemas/{name}" for name in made} <= set(_LINK.findall(formats))


@pytest.mark.parametrize(
    ("model", "page"),
    [
        *(
            (model, "formats.md")
            for model in (
                RunFile,
                RunConfig,
                EpisodeResult,
                BranchResult,
                Header,
                DecisionLine,
                GridEpisode,
                StudyFile,
                ConditionTable,
                ModelTable,
                LimitsTable,
            )
        ),
        *((model, "recordings.md") for model in (SessionHeader, SessionTick, SessionEnd)),
    ],
)
def test_every_field_of_a_format_is_in_the_documentation(model: type[BaseModel], page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert not [name for name in model.model_fields if f"`{name}`" not in text and f"[{name}](" not in text]


class Ollama(BaseHTTPRequestHandler):
    """Answers every request in Ollama's protocol, and keeps what it was asked."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        self.asked.append({"path": self.path, **json.loads(self.rfile.read(int(self.headers["Content-Length"])))})
        answer = {
            "message": {"role": "assistant", "content": '{"action": "mine"}'},
            "done_reason": "stop",
            "prompt_eval_count": 11,
            "eval_count": 5,
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


def test_the_provider_of_the_documentation_speaks_its_protocol(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    (content,) = (deed.content for deed in deeds(page) if isinstance(deed, File) and deed.name == "ollama_chat.py")
    (tmp_path / "ollama_chat.py").write_text(content, encoding="utf-8")
    client_class = module_at(tmp_path / "ollama_chat.py").OllamaChat
    handler = type("Asked", (Ollama,), {"asked": []})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        address = read_address(f"http://127.0.0.1:{server.server_address[1]}")
        client = client_class("ollama:m", "m", None, address, ModelSettings(timeout_s=10.0, seed=3))
        reply = closing(client, lambda: client.complete(a_request(a_picture(1))))
        server.shutdown()
        thread.join()
    assert (reply.text, reply.finish) == ('{"action": "mine"}', FinishReason.STOP)
    assert reply.usage == Usage(input_tokens=11, output_tokens=5)
    (asked,) = handler.asked
    assert (asked["path"], asked["model"], asked["stream"], asked["format"]) == ("/api/chat", "m", False, SCHEMA)
    assert asked["options"] == {"num_predict": 4096, "temperature": 0.0, "seed": 3}
    assert [message["role"] for message in asked["messages"]] == ["system", "user", "assistant", "user"]
    assert len(asked["messages"][-1]["images"]) == 1
