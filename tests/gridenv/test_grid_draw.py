"""Drawings for people, and the prompts."""

import subprocess
import sys
from itertools import product

import pytest

from oresight.gridenv.draw import DrawingError, bounds, draw_text
from oresight.gridenv.generate import generate
from oresight.gridenv.model import Exploration, GridMap, Node
from oresight.gridenv.picture import draw_picture
from oresight.gridenv.prompts import STRATEGIES, system_prompt
from oresight.gridenv.suites import get_scenario
from support.grid_stage import stage

STAGE = stage(
    """
    A#G
    S..
    """,
    {"G": [["A"], ["A"]]},
)


def test_a_map_as_text() -> None:
    assert draw_text(STAGE) == (
        "A#*\nS..\n\nA A at [0, 1]: no prerequisites\n* G at [2, 1]: A OR A\nstart [0, 0], 5 cells, budget 15\n"
    )


def test_a_map_as_an_agent_knows_it() -> None:
    walk = Exploration(STAGE)
    assert draw_text(STAGE, walk.state()).startswith("?\n@?\n\nA A at [0, 1] [undiscovered]")
    walk.move("right")
    assert draw_text(STAGE, walk.state()).startswith("?#\nS@?\n")
    walk.move("right")
    walk.move("up")
    drawn = draw_text(STAGE, walk.state())
    assert drawn.startswith("?#@\nS..\n")
    assert "* G at [2, 1] [discovered]" in drawn


def test_every_cell_of_a_picture_has_the_colour_of_its_state() -> None:
    walk = Exploration(STAGE)
    picture = draw_picture(STAGE, walk.state())
    assert picture.mode == "RGB"
    colours = {colour for _, colour in picture.getcolors(1 << 24) or []}
    observed, unobserved, obstacle, hidden = (255, 255, 255), (0xBC, 0xD7, 0xF0), (0x39, 0x41, 0x4E), (0x6B, 0x75, 0x84)
    assert {observed, unobserved, obstacle, hidden} <= colours
    everything = {colour for _, colour in draw_picture(STAGE).getcolors(1 << 24) or []}
    assert {observed, obstacle} <= everything
    assert not {hidden} & everything


@pytest.mark.parametrize("name", ["low-large-0", "high-small-0", "custom-204-semantic-0"])
def test_suite_maps_can_be_drawn(name: str) -> None:
    map_ = get_scenario(name).map
    walk = Exploration(map_)
    for direction in ("up", "right", "down", "left"):
        walk.move(direction)
    picture = draw_picture(map_, walk.state(), path=(map_.start, walk.position))
    assert picture.width < 2000 and picture.height < 1000
    assert picture.tobytes() == draw_picture(map_, walk.state(), path=(map_.start, walk.position)).tobytes()


def test_a_generated_map_is_drawn_with_its_whole_grid() -> None:
    map_ = generate("high", "large", 0)
    assert map_.drawn is not None
    assert [bounds(map_).width, bounds(map_).height] == map_.drawn["grid"]


def test_a_map_that_spans_too_much_is_refused() -> None:
    far = GridMap(frozenset({(0, 0), (10**9, 10**9)}), (0, 0), (Node("G", (0, 0)),), "G")
    for draw in (draw_text, draw_picture):
        with pytest.raises(DrawingError, match="1,000,000,001 x 1,000,000,001 cells"):
            draw(far)


def test_a_task_dag_too_large_for_a_picture_is_left_out() -> None:
    cells = [(x, y) for x in range(20) for y in range(20)]
    nodes = [Node(f"{'long' * 40} {number}", cell) for number, cell in enumerate(cells)]
    picture = draw_picture(GridMap(frozenset(cells), (0, 0), tuple(nodes), nodes[0].id))
    assert picture.width < 1000


def test_nothing_but_a_picture_loads_pillow() -> None:
    code = "from oresight.gridenv import draw, env, suites; import sys; assert 'PIL' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_strategies_differ_in_one_sentence_alone() -> None:
    base = system_prompt()
    environment, answer = base.rsplit("\n\n", 1)
    for strategy in STRATEGIES[1:]:
        prompt = system_prompt(strategy)
        assert prompt.startswith(environment) and prompt.endswith(answer)
        sentence = prompt.removeprefix(environment).removesuffix(answer).strip()
        assert sentence.endswith(".") and sentence.count(". ") == 0 and "\n" not in sentence
    assert len({system_prompt(strategy) for strategy in STRATEGIES}) == 4


def test_reasoning_is_asked_for_before_the_answer() -> None:
    for strategy in STRATEGIES:
        plain, reasoning = system_prompt(strategy), system_prompt(strategy, reasoning=True)
        environment, answer = plain.rsplit("\n\n", 1)
        assert reasoning.startswith(environment) and reasoning.endswith(answer)
        assert len(reasoning) > len(plain)


def test_prompts_tell_nothing_of_a_single_map() -> None:
    for strategy, reasoning, visibility in product(STRATEGIES, (False, True), ("partial", "full")):
        prompt = system_prompt(strategy, reasoning, visibility)  # type: ignore[arg-type]
        assert not any(character.isdigit() for character in prompt)
        assert '{"action": "up"}' in prompt


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown strategy 'greedy'; expected one of base, exploration"):
        system_prompt("greedy")  # type: ignore[arg-type]
