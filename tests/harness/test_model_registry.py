"""A model by its name, scripts in place of models, and what tokens cost."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.errors import MissingPartError, UsageError
from oresight.harness.models import registry
from oresight.harness.models.base import FinishReason, ModelSettings, Reply, Usage
from oresight.harness.models.prices import Price, PriceTable, read_prices
from oresight.harness.models.registry import make_client, read_name
from oresight.harness.models.scripted import ScriptedModel, read_script
from support.model_stage import KEYS, a_request


@pytest.mark.parametrize(
    ("text", "provider", "model", "public"),
    [
        ("openai:gpt-4.1", "openai", "gpt-4.1", "openai:gpt-4.1"),
        ("gemini:gemini-2.5-pro", "gemini", "gemini-2.5-pro", "gemini:gemini-2.5-pro"),
        ("anthropic:claude-x", "anthropic", "claude-x", "anthropic:claude-x"),
        ("compatible:a/b:7b@http://h:1/v1", "compatible", "a/b:7b", "compatible:a/b:7b@http://h:1/v1"),
        ("compatible:m@v2@https://h/v1", "compatible", "m@v2", "compatible:m@v2@https://h/v1"),
        ("openai:m@http://u:p@h", "openai", "m", "openai:m@http://h"),
        ("scripted:some/where/x.jsonl", "scripted", "some/where/x.jsonl", "scripted:x.jsonl"),
    ],
)
def test_a_name_is_taken_apart(text: str, provider: str, model: str, public: str) -> None:
    name = read_name(text)
    assert (name.provider, name.model, name.public) == (provider, model, public)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpt",
        "pilot:x",
        ":x",
        "openai:",
        "openai:a b",
        "compatible:m",
        "compatible:m@ftp://h",
        "scripted:",
        "openai:\n",
    ],
)
def test_what_is_no_name_is_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as error:
        read_name(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("provider", ["openai", "gemini", "anthropic"])
def test_a_missing_key_fails_before_anything_runs(provider: str) -> None:
    with pytest.raises(UsageError, match=f"{provider.upper()}_API_KEY"):
        make_client(f"{provider}:m", environment={"COMPATIBLE_API_KEY": "x" * 10})


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert make_client("compatible:m@http://h/v1", environment={}).name == "compatible:m@http://h/v1"


def test_the_environment_may_give_a_providers_address() -> None:
    client: Any = make_client("openai:m", environment=KEYS | {"OPENAI_BASE_URL": "http://u:pass-word@h:1/v1"})
    assert client._address.url == "http://h:1/v1" and client.name == "openai:m"


@pytest.mark.parametrize("provider", ["openai", "gemini", "anthropic"])
def test_a_missing_sdk_gives_the_command_that_installs_it(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, registry.PROVIDERS[provider].package, None)
    with pytest.raises(MissingPartError, match="pip install"):
        make_client(f"{provider}:m", environment=KEYS)


def test_naming_a_model_loads_no_sdk() -> None:
    statement = (
        "import sys, oresight.harness.models.registry, oresight.harness.agents.llm\n"
        "oresight.harness.models.registry.read_name('openai:x'); oresight.harness.models.prices.read_prices()\n"
        "loaded = {'openai', 'anthropic', 'google.genai', 'httpx', 'httpx2', 'PIL'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", statement], check=True)


@pytest.mark.parametrize(
    "wrong", [{"temperature": 3}, {"temperature": -0.1}, {"max_output_tokens": 0}, {"timeout_s": 0}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ModelSettings(**wrong)


# --- scripts ---


def told(model: ScriptedModel, number: int = 0) -> Reply:
    request = a_request()
    return asyncio.run(model.complete(type(request)(request.messages, None, number)))


def test_a_script_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    odd = "a\u2028b\u0085\u000b"
    lines = [
        json.dumps(odd, ensure_ascii=False),
        "",
        json.dumps({"text": "", "finish": "refused", "note": "no", "usage": {"input_tokens": 5}}),
    ]
    path.write_bytes("\r\n".join(lines).encode())
    model = ScriptedModel(read_script(path))
    assert told(model).text == odd
    assert told(model, 1) == Reply("", FinishReason.REFUSED, Usage(input_tokens=5), "no")
    assert told(model, 2).text == odd


def test_a_text_file_has_a_reply_a_line(tmp_path: Path) -> None:
    path = tmp_path / "s.txt"
    path.write_text('{"action": "mine"}\n\nnot json\n')
    assert read_script(path) == ['{"action": "mine"}', "not json"]


def test_a_script_may_be_a_function() -> None:
    assert told(ScriptedModel(lambda request: f"number {request.number}"), 4).text == "number 4"
    assert told(ScriptedModel(lambda request: Reply("x", FinishReason.LENGTH))).finish is FinishReason.LENGTH


@pytest.mark.parametrize(
    "line", ["nope", "3", "[]", '{"text": 3}', '{"finish": "never"}', '{"words": "x"}', '{"usage": {"x": 1}}', "NaN"]
)
def test_a_broken_script_names_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('"good"\n' + line)
    with pytest.raises(UsageError, match="line 2"):
        read_script(path)


def test_no_script_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        make_client(f"scripted:{tmp_path / 'none.jsonl'}")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(UsageError, match="no reply"):
        make_client(f"scripted:{tmp_path / 'empty.jsonl'}")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="UTF-8"):
        make_client(f"scripted:{tmp_path / 'bytes.jsonl'}")


# --- prices ---


def test_cost_is_the_sum_of_its_parts() -> None:
    price = Price(input=2, output=10, cached_input=0.5, cache_write=4)
    usage = Usage(input_tokens=1000, output_tokens=100, reasoning_tokens=90, cached_tokens=300, cache_write_tokens=200)
    assert price.cost(usage) == pytest.approx((500 * 2 + 300 * 0.5 + 200 * 4 + 100 * 10) / 1e6)
    assert Price(input=2, output=10).cost(usage) == pytest.approx((1000 * 2 + 100 * 10) / 1e6)


def test_a_model_without_a_price_has_no_cost() -> None:
    table = read_prices()
    for name in ("openai:no-such-model", "compatible:gpt-4o@http://h/v1", "scripted:x"):
        assert table.price(name) is None and table.cost(name, Usage(1, 1)) is None


def test_dated_versions_and_other_addresses_cost_the_same() -> None:
    table = PriceTable({"openai:m": Price(input=1, output=1), "openai:m-2025-01-01": Price(input=2, output=2)})
    assert table.cost("openai:m-20250102", Usage(1_000_000)) == 1
    assert table.cost("openai:m-2025-01-01", Usage(1_000_000)) == 2
    assert table.cost("openai:m@http://h", Usage(1_000_000)) == 1
    assert table.cost("openai:m-mini", Usage(1_000_000)) is None


def test_prices_of_ones_own_stand_above_those_that_come_along(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    prices = {"compatible:m@http://h/v1": {"input": 0, "output": 0}, "openai:gpt-4o": {"input": 7, "output": 1}}
    path.write_text(json.dumps({"models": prices}))
    table = read_prices(path)
    assert table.cost("compatible:m@http://h/v1", Usage(9)) == 0
    assert table.cost("openai:gpt-4o", Usage(1_000_000)) == 7
    assert table.price("openai:gpt-4.1") is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"models": {"m": {"input": -1, "output": 1}}}',
        '{"models": {"m": {"input": NaN, "output": 1}}}',
        '{"models": {"m": {"input": 1}}}',
        '{"models": {"m": {"input": 1, "output": 1, "inptu": 1}}}',
    ],
)
def test_a_broken_price_table_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"p\.json"):
        read_prices(path)
