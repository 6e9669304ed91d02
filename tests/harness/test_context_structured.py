"""The summary of either world: exactly what it says, and that it knows no more than the agent was told."""

import re

import pytest

from oresight.gridenv.env import GridEnv
from oresight.gridenv.suites import scenario_of_map
from oresight.gridenv.text import briefing
from oresight.harness.context.structured import Structured
from oresight.harness.protocols import ContextBudget, Decision, Turn
from oresight.harness.worlds import find_worlds
from oresight.harness.worlds.craft.digest import MOST_REPORTS, CraftDigest, travel
from oresight.harness.worlds.grid.digest import GridDigest
from support.context_stage import craft_turns, grid_walk, said, strategies
from support.grid_stage import stage


def grid_summary(environment: GridEnv, moves: str, instructions: str = "Rules.", budget: int = 10_000) -> list[str]:
    """What is shown above the current text after some moves, by their first letters."""
    observation = environment.reset()
    turns = []
    names = {"u": "up", "d": "down", "l": "left", "r": "right"}
    for number, letter in enumerate(moves, 1):
        transition = environment.step(names[letter])
        turns.append(Turn(number, observation, Decision(names[letter]), transition.outcome))
        observation = transition.observation
    messages = Structured(instructions, GridDigest()).messages(turns, observation, ContextBudget(budget))
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].text.endswith(observation.text)
    return messages[1].text.removesuffix(observation.text).splitlines()


def corridor(full: bool = False) -> GridEnv:
    map_ = stage("S.AG\n.#BC", {"G": [["A", "B"], ["C"]], "B": [["A"]]})
    return GridEnv(scenario_of_map(map_, "corridor", "full" if full else "partial"), brief=False)


def test_the_grid_at_the_start() -> None:
    assert grid_summary(corridor(), "") == [
        "Cells where you have been: [0, 1]",
        "Known cells where you have not been: [0, 0], [1, 1]",
        "Obstacles: [-1, 1], [0, 2]",
        "Tasks activated: none",
        "Tasks found but not activated: none",
        "",
    ]


def test_the_grid_after_some_moves() -> None:
    assert grid_summary(corridor(), "rrrl") == [
        "Cells where you have been: [0, 1], [1, 1], [2, 1], [3, 1]",
        "Known cells where you have not been: [0, 0], [2, 0], [3, 0]",
        "Obstacles: [-1, 1], [0, 2], [1, 0], [1, 2], [2, 2], [3, 2], [4, 1]",
        "Tasks activated:",
        '- "A" at [2, 1]; prerequisites: none; depending on it: "B", "G"',
        "Tasks found but not activated:",
        '- "G" at [3, 1], the goal; prerequisites: ("A" AND "B") OR ("C")',
        "",
    ]


def test_a_grid_that_is_known_from_the_start_has_nothing_to_discover() -> None:
    environment = corridor(full=True)
    environment.reset()
    instructions = f"Rules.\n{briefing(environment.walk.map)}"
    assert grid_summary(environment, "rr", instructions) == [
        "Cells where you have been: [0, 1], [1, 1], [2, 1]",
        "Tasks activated:",
        '- "A" at [2, 1]; prerequisites: none; depending on it: "B", "G"',
        "Tasks found but not activated:",
        '- "B" at [2, 0]; prerequisites: ("A"); depending on it: "G"',
        '- "C" at [3, 0]; prerequisites: none; depending on it: "G"',
        '- "G" at [3, 1], the goal; prerequisites: ("A" AND "B") OR ("C")',
        "",
    ]


def test_a_summary_that_is_too_long_loses_what_was_told_first() -> None:
    turns, current, _ = grid_walk("low-large-0", 150)
    shown = Structured("R.", GridDigest()).messages(turns, current, ContextBudget(420))[1].text
    been = re.search(r"^Cells where you have been \((\d+), the latest\): (.*)$", shown, re.MULTILINE)
    assert been is not None
    cells = [turn.observation.text.split(".")[0].removeprefix("You are at ") for turn in turns]
    cells.append(current.text.split(".")[0].removeprefix("You are at "))
    first_visits = list(dict.fromkeys(cells))
    told = re.findall(r"\[-?\d+, -?\d+\]", been[2])
    assert int(been[1]) == len(first_visits) > len(told) > 0
    assert set(told) == set(first_visits[-len(told) :])


@pytest.mark.parametrize("name", ["low-large-1", "high-medium-0"])
def test_a_grid_summary_names_only_what_was_told(name: str) -> None:
    turns, current, environment = grid_walk(name, 60)
    texts = [*(turn.observation.text for turn in turns), current.text]
    shown = strategies("grid")["structured"].messages(turns, current)[1].text
    assert set(re.findall(r'"(\w+)"', shown)) <= set(re.findall(r'"(\w+)"', "\n".join(texts)))
    unvisited = re.search(r"^Known cells where you have not been: (.*)$", shown, re.MULTILINE)
    visited = re.search(r"^Cells where you have been: (.*)$", shown, re.MULTILINE)
    assert unvisited is not None and visited is not None
    walk = environment.walk
    cells = {(int(x), int(y)) for x, y in re.findall(r"\[(-?\d+), (-?\d+)\]", visited[1])}
    beside = {(x + dx, y + dy) for x, y in cells for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    known = {(int(x), int(y)) for x, y in re.findall(r"\[(-?\d+), (-?\d+)\]", unvisited[1])}
    assert known == (beside & walk.map.cells) - cells


def craft_summary(*replies: tuple[str, str, str]) -> list[str]:
    turns, current = craft_turns(list(replies))
    messages = Structured("Rules.", CraftDigest()).messages(turns, current)
    assert [image.step for image in messages[1].images] == [current.step]
    assert messages[1].text.endswith(current.text)
    return messages[1].text.removesuffix(current.text).splitlines()


def test_the_3d_world_at_the_start() -> None:
    assert craft_summary() == [
        "You must be where you began, looking 0 degrees to the right of your first view, level.",
        "Directions in which you have looked, in degrees to the right of your first view:",
        "- from where you began: level: 0",
        "",
    ]


def test_the_3d_world_after_some_actions() -> None:
    ore = {"kind": "Iron ore", "right_deg": -90, "down_deg": 0, "blocks": 10}
    assert craft_summary(
        ("look_left", said("look_left"), "turned"),
        ("look_left", said("look_left"), "turned"),
        ("look_left", said("look_left"), "turned"),
        ("look_down", said("look_down", ores=[ore]), "turned"),
        ("move_forward", said("move_forward"), "moved"),
        ("mine", said("mine"), "broke 1 stone; picked up 1 cobblestone"),
    ) == [
        "You must be about 4 blocks to the left of where you began, looking 270 degrees to the right of your first"
        " view, 15 degrees down.",
        "Ores that you reported:",
        '- 1: "iron", reported at step 4: from where you are now 113 degrees to your left, 11 blocks away over the'
        " ground; it was at the height of your eyes",
        "Directions in which you have looked, in degrees to the right of your first view:",
        "- from where you began: level: 0, 270, 300, 330; 15 degrees down: 270",
        "- from about 4 blocks to the left of where you began: 15 degrees down: 270",
        "Your actions and their outcomes:",
        "- 1 to 3: look_left -> turned",
        "- 4: look_down -> turned",
        "- 5: move_forward -> moved",
        "- 6: mine -> broke 1 stone; picked up 1 cobblestone",
        "",
    ]


def test_an_ore_that_is_reported_again_is_placed_anew_and_one_that_is_gone_is_forgotten() -> None:
    near = {"kind": "iron_ore", "right_deg": 0, "down_deg": 0, "blocks": 6}
    better = {"kind": "Iron", "right_deg": 0, "down_deg": -30, "blocks": 8}
    other = {"kind": "coal_ore", "right_deg": 0, "blocks": 6}
    turns, _ = craft_turns(
        [("wait", said("wait", ores=[near, other]), "waited"), ("wait", said("wait", ores=[better]), "")]
    )
    reports = travel(turns).reports
    assert [(report.number, report.kind, report.step) for report in reports.values()] == [
        (2, "coal", 1),
        (1, "iron", 2),
    ]
    assert round(reports[1].ahead, 2) == 6.93 and round(reports[1].below, 2) == -4.0
    gone, _ = craft_turns([("wait", said("wait", ores=[near, other]), ""), ("wait", said("wait", gone=[1, "2"]), "")])
    assert not travel(gone).reports


@pytest.mark.parametrize(
    "fields, remark",
    [
        ({"gone": [4]}, '"gone" names 4, but no reported ore has this number.'),
        ({"gone": "all"}, '"gone" names "all", but no reported ore has this number.'),
        ({"ores": "iron"}, 'an ore was ignored: "iron" is no object with "kind", "right_deg" and "blocks".'),
        ({"ores": [{"kind": "iron_ore", "right_deg": 3}]}, "an ore was ignored: "),
        ({"ores": [{"kind": "_", "right_deg": 3, "blocks": 3}]}, "an ore was ignored: "),
        ({"ores": [{"kind": "iron", "right_deg": 181, "blocks": 3}]}, "an ore was ignored: "),
        ({"ores": [{"kind": "iron", "right_deg": "left", "blocks": 3}]}, "an ore was ignored: "),
        ({"ores": [{"kind": "iron", "right_deg": 0, "blocks": -3}]}, "an ore was ignored: "),
        ({"ores": [{"kind": "iron", "right_deg": 0, "blocks": 10**400}]}, "an ore was ignored: "),
        ({"ores": [{"kind": "iron", "right_deg": True, "blocks": 3}]}, "an ore was ignored: "),
        (
            {"ores": [{"kind": f"o{n}", "right_deg": n, "blocks": 9} for n in range(13)]},
            "of the ores only the first 12",
        ),
    ],
)
def test_a_report_that_makes_no_sense_is_ignored_with_a_remark(fields: dict[str, object], remark: str) -> None:
    lines = craft_summary(("wait", said("wait", **fields), "waited"))
    assert lines[-2].startswith(f"About your last answer: {remark}")


def test_old_reports_are_forgotten_first() -> None:
    replies = [("wait", said("wait", ores=[{"kind": f"o{n}", "right_deg": 0, "blocks": 5}]), "") for n in range(80)]
    turns, _ = craft_turns(replies)
    assert [report.kind for report in travel(turns).reports.values()] == [f"o{n}" for n in range(80 - MOST_REPORTS, 80)]


def test_each_world_has_a_digest_of_its_own() -> None:
    assert isinstance(find_worlds("craft", ["outcrop-0"])[0].digest(), CraftDigest)
    assert isinstance(find_worlds("grid", ["low-small-0"])[0].digest(), GridDigest)
