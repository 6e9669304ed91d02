"""The prompts: what they hold, what they must not, and one's own from a file."""

import json
import re
from pathlib import Path

import pytest

from oresight import assets
from oresight.craftenv.actions import ACTIONS
from oresight.craftenv.prompts import PARTS, STRATEGIES, system_prompt
from oresight.gridenv import prompts as grid
from oresight.harness.errors import StoreError, UsageError
from oresight.harness.worlds.prompts import load_prompts


def bundled(world: str, name: str) -> str:
    return assets.path("prompts", world, f"{name}.txt").read_text("utf-8").strip()


def test_the_3d_worlds_prompt_lists_every_declared_action() -> None:
    prompt = system_prompt()
    for action in ACTIONS:
        assert f"\n- {action.name}: {action.description}\n" in prompt
    assert "{actions}" not in prompt
    assert prompt.startswith(bundled("craft", "environment")) and prompt.endswith(bundled("craft", "answer"))


def test_the_strategy_sentence_is_the_only_difference_between_the_four() -> None:
    base = system_prompt()
    for strategy in STRATEGIES[1:]:
        sentence = bundled("craft", strategy)
        assert system_prompt(strategy).replace(f"{sentence}\n\n", "") == base
    assert len({system_prompt(strategy) for strategy in STRATEGIES}) == 4


def test_reasoning_is_asked_for_before_the_form_of_the_answer() -> None:
    for strategy in STRATEGIES:
        prompt = system_prompt(strategy, reasoning=True)
        assert prompt.replace(f"{bundled('craft', 'reasoning')}\n\n", "") == system_prompt(strategy)
        assert prompt.index(bundled("craft", "reasoning")) < prompt.index(bundled("craft", "answer"))


def test_no_prompt_names_an_ore_as_the_task_does() -> None:
    # The task is what the observation says; the scout takes the first ore that is named for it.
    ore = re.compile(r"\b(coal|iron|gold|diamond)[ _]ore\b|^\W*(step|last action)\W", re.IGNORECASE | re.MULTILINE)
    files = [*assets.path("prompts", "craft").glob("*.txt"), *assets.path("prompts", "memory").glob("*.txt")]
    assert len(files) == 13
    for file in files:
        assert not ore.search(file.read_text("utf-8")), file


def test_no_prompt_tells_a_number_that_the_agent_must_not_know() -> None:
    for prompt in (system_prompt("balance", True), grid.system_prompt("balance", True)):
        assert "budget" not in prompt.lower() and "seed" not in prompt.lower()


def test_unknown_strategies_and_parts_are_refused() -> None:
    with pytest.raises(ValueError, match="greedy"):
        system_prompt("greedy")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="goal"):
        system_prompt(own={"goal": "x"})
    with pytest.raises(ValueError, match="actions"):
        grid.system_prompt(own={"actions": "x"})


def test_own_parts_stand_in_place_of_the_bundled_ones() -> None:
    own = {"environment": "Blocks. {actions}", "actions": "", "strategy": "Hurry.", "answer": "JSON, please."}
    prompt = system_prompt(own=own)
    assert prompt.startswith("Blocks. - move_forward: ") and prompt.endswith("\n\nHurry.\n\nJSON, please.")
    assert prompt.count("- move_forward: ") == 1
    assert grid.system_prompt(own={"environment": "A grid.", "reasoning": "Think."}) == (
        f"A grid.\n\nThink.\n\n{bundled('grid', 'answer')}"
    )
    assert grid.system_prompt("balance", own={"environment": "A grid.", "answer": "JSON."}) == (
        f"A grid.\n\n{bundled('grid', 'balance')}\n\nJSON."
    )


def test_a_file_of_prompts_is_toml_or_json(tmp_path: Path) -> None:
    toml, js = tmp_path / "own.toml", tmp_path / "own.json"
    toml.write_text('strategy = "Hurry."\nanswer = """\nJSON.\n"""\n')
    js.write_text(json.dumps({"answer": "JSON.\n", "strategy": "Hurry."}))
    first, second = load_prompts(toml, PARTS), load_prompts(js, PARTS)
    assert dict(first.parts) == {"strategy": "Hurry.", "answer": "JSON.\n"}
    assert first == second and re.fullmatch("[0-9a-f]{16}", first.fingerprint)
    js.write_text(json.dumps({"answer": "JSON!\n", "strategy": "Hurry."}))
    assert load_prompts(js, PARTS).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("own.toml", 'goal = "x"', "unknown part 'goal'; the parts of a prompt are environment, actions,"),
        ("own.json", '{"Answer": "x"}', "unknown part 'Answer'"),
        ("own.toml", "answer = 5", "answer is '5'; expected a text"),
        ("own.json", '{"answer": ["x"]}', "answer is "),
        ("own.json", '{"answer": "\\ud800"}', "answer holds half of a surrogate pair"),
        ("own.toml", "", "holds no part"),
        ("own.json", "[]", "expected a JSON object"),
        ("own.json", '{"answer": NaN}', "not valid JSON"),
        ("own.json", "{", "not valid JSON"),
        ("own.toml", "answer = ", "not valid TOML"),
        ("own.toml", "answer = " + "[" * 5000, "not valid TOML"),
        ("own.toml", "a = 1\n" * 200_000, "longer than"),
        ("own.yaml", "answer: x", "ends in .toml or .json"),
        ("own", "answer: x", "ends in .toml or .json"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, name: str, content: str, says: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=re.escape(says)) as caught:
        load_prompts(tmp_path / name, PARTS)
    assert "\n" not in str(caught.value) and name in str(caught.value)


def test_a_file_that_is_not_there_or_no_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none\.toml"):
        load_prompts(tmp_path / "none.toml", PARTS)
    (tmp_path / "link.toml").symlink_to(tmp_path / "own.toml")
    with pytest.raises(UsageError, match="link"):
        load_prompts(tmp_path / "link.toml", PARTS)
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(StoreError, match="folder"):
        load_prompts(tmp_path / "folder.json", PARTS)
