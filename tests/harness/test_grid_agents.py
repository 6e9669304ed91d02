"""The text agents of the grid: what they do, and that they know nothing but the words."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.study.family import FAMILY, SOLVER, TEXT_AGENTS, Task, play_one, play_scenario
from oresight.gridenv.mapfile import episode_to_json
from oresight.harness.agents import AgentSetup, find_agent
from oresight.harness.agents.grid.frontier import Dials
from oresight.harness.context import make_strategy
from oresight.harness.errors import AgentEndedError, UsageError
from oresight.harness.protocols import Agent, Decision, Message, TextPart, Turn
from oresight.harness.running.runner import RunPlan, run
from oresight.harness.worlds import World, find_worlds, suite_names
from oresight.harness.worlds.craft.world import CraftWorld
from oresight.harness.worlds.grid.world import GridWorld
from support.fake_world import Seen
from support.grid_stage import stage

SETUP = AgentSetup(0, ("up", "down", "left", "right"), lambda: ())
NAMES = suite_names("grid", "main", range(12))
NO_ERROR = (0, 0)


def errors(world: World, agent: str) -> tuple[int, int]:
    summary = play_one(world, agent)[0]
    assert summary.success
    return summary.tally.explore_errors, summary.tally.exploit_errors


def made(agent: str, seed: int = 0) -> Agent:
    return find_agent(agent, GridWorld).make(replace(SETUP, seed=seed))


def decide(agent: Agent, messages: Sequence[Message], step: int = 1) -> str:
    return asyncio.run(agent.act(messages, step)).action


def said(*texts: str) -> list[Message]:
    return [Message("user", (TextPart(text),)) for text in texts]


@pytest.mark.parametrize("suite", ["main", "exploit-only", "semantic"])
def test_the_frontier_explorer_always_succeeds_without_an_error(suite: str) -> None:
    for world in find_worlds("grid", suite_names("grid", suite, range(8))):
        assert errors(world, "frontier") == NO_ERROR, world.name


def test_the_solver_errs_nowhere_when_everything_is_known() -> None:
    for world in find_worlds("grid", suite_names("grid", "exploit-only", range(12))):
        assert errors(world, SOLVER) == NO_ERROR, world.name


def test_the_solver_makes_no_exploration_error_when_it_is_not() -> None:
    for world in find_worlds("grid", NAMES):
        assert errors(world, SOLVER)[0] == 0, world.name


@pytest.mark.parametrize("agent", ["random", "depth-first", "frontier", "frontier(window=4,noise=0.2)"])
@pytest.mark.parametrize("suite", ["main", "exploit-only"])
def test_recorded_words_alone_lead_to_the_same_decisions(tmp_path: Path, agent: str, suite: str) -> None:
    # The environment is replaced by what it said: a fresh agent for every decision, with nothing else to go by.
    (world,) = find_worlds("grid", [name for name in suite_names("grid", suite) if name.endswith("low-small-1")])
    run(RunPlan(agent, "raw", (world,), "none", None), tmp_path / "run")
    lines = (tmp_path / "run/episodes" / world.name / "trajectory.jsonl").read_text().split("\n")[1:-1]
    recorded = [json.loads(line) for line in lines]
    strategy = make_strategy("raw", world.instructions)
    history: list[Turn] = []
    for line in recorded:
        seen = Seen(line["observation"], None, (), line["step"])
        assert decide(made(agent, world.seed), strategy.messages(history, seen), line["step"]) == line["action"]
        history.append(Turn(line["step"], seen, Decision(line["action"]), line["outcome"]))


@pytest.mark.parametrize(
    "agent", ["frontier(window=0)", "frontier(window=2,noise=0.1)", "frontier(window=16)", "random"]
)
def test_an_agent_with_a_window_looks_at_no_more_of_the_chat_than_that(agent: str) -> None:
    for world in find_worlds("grid", NAMES[:9]):
        assert play_one(world, agent, memory="raw") == play_one(world, agent)


def test_a_window_of_the_context_does_the_same_as_a_window_of_the_agent() -> None:
    for world in find_worlds("grid", NAMES[:9]):
        dialled = play_one(world, "frontier(window=4,noise=0.1)", memory="raw")
        assert play_one(world, "frontier(noise=0.1)", memory="window(4)") == dialled


def test_no_text_tells_what_an_agent_could_not_know() -> None:
    (world,) = find_worlds("grid", ["low-large-0"])
    nodes = {node["id"]: node for node in world.scenario["map"]["nodes"]}
    assert not [name for name in nodes if name in world.instructions]
    environment = world.open(None)
    told = environment.reset().text
    assert str(world.budget) not in world.instructions + told
    here = {name for name, node in nodes.items() if node["cell"] == environment.facts()["cell"]}
    assert not [name for name in nodes if name in told and name not in here]


def test_with_everything_known_the_listing_stands_in_the_instructions_where_no_strategy_drops_it() -> None:
    (world,) = find_worlds("grid", ["full-low-small-0"])
    listing = "\nCells: [0, 0]"
    assert "\nCells: [" in world.instructions, listing
    assert "Cells: [" not in world.open(None).reset().text
    assert "Cells: [" in make_strategy("window(0)", world.instructions).messages([], Seen("x", None, (), 1))[0].text


def test_the_depth_first_explorer_goes_back_its_own_way(tmp_path: Path) -> None:
    map_ = stage(
        """
        ..#.G
        #...#
        .S#.A
        """,
        {"G": [["A"]]},
    )
    file = tmp_path / "tree.json"
    file.write_text(json.dumps(episode_to_json(map_)))
    world = GridWorld.of_map(file)
    run(RunPlan("depth-first", "raw", (world,), "none", None), tmp_path / "run")
    lines = (tmp_path / "run/episodes/tree/trajectory.jsonl").read_text().split("\n")[1:-1]
    # Up to down to left to right: a dead end at the upper left, then on to the right; the goal before its prerequisite.
    assert [json.loads(line)["action"] for line in lines] == [
        *("up", "up", "left", "right", "down", "right", "right", "up", "right"),
        *("left", "down", "down", "right", "left", "up", "left", "left", "down", "left", "right"),
        # It has been everywhere and begins anew; the goal is achieved when it passes it again.
        *("up", "up", "left", "right", "down", "right", "right", "up", "right"),
    ]


def test_the_depth_first_explorer_has_no_exploration_error_on_a_map_without_cycles(tmp_path: Path) -> None:
    map_ = stage("G.#.A\n#...#\n.S#.B", {"G": [["A", "B"]]})
    file = tmp_path / "tree.json"
    file.write_text(json.dumps(episode_to_json(map_)))
    summary = play_one(GridWorld.of_map(file), "depth-first")[0]
    assert (summary.success, summary.tally.explore_errors) == (True, 0)


def test_random_draws_each_way_as_often_as_the_others_and_no_wall() -> None:
    text = said("You are at [0, 0]. Nothing is here. You can move: up, left, right.")
    found = [decide(made("random", 3), text, step) for step in range(3000)]
    assert {way: round(found.count(way) / 3000, 1) for way in sorted(set(found))} == {
        "left": 0.3,
        "right": 0.3,
        "up": 0.3,
    }


def test_noise_is_the_share_of_moves_that_are_drawn_at_random() -> None:
    # The way back leads nowhere new: without noise it is never taken.
    texts = said(
        "You are at [0, 0]. Nothing is here. You can move: right.",
        "You are at [1, 0]. Nothing is here. You can move: left, right.",
    )
    for noise in (0.0, 0.4, 1.0):
        agent = made(f"frontier(noise={noise:g})") if noise else made("frontier(window=5)")
        back = sum(decide(agent, texts, step) == "left" for step in range(4000)) / 4000
        assert back == pytest.approx(noise / 2, abs=0.02)


def test_a_decision_depends_on_messages_seed_and_step_alone() -> None:
    texts = said("You are at [0, 0]. Nothing is here. You can move: up, down, left, right.")
    used = made("frontier(window=0)")
    for step in range(1, 30):
        assert decide(used, texts, step) == decide(made("frontier(window=0)"), texts, step)
    assert len({decide(used, texts, step) for step in range(30)}) == 4
    assert [decide(made("frontier(window=0)", 1), texts, step) for step in range(9)] != [
        decide(used, texts, step) for step in range(9)
    ]


def test_who_is_told_of_no_direction_ends_the_episode() -> None:
    for agent in TEXT_AGENTS[-3:]:
        with pytest.raises(AgentEndedError, match="no direction"):
            decide(made(agent), said("Hello."))


@pytest.mark.parametrize(
    "given, name",
    [
        ("frontier", "frontier"),
        ("frontier()", "frontier"),
        ("frontier(noise=0)", "frontier"),
        ("frontier(noise=.10, window=08)", "frontier(window=8,noise=0.1)"),
        ("frontier(window=0)", "frontier(window=0,noise=0)"),
        ("frontier(noise=1)", "frontier(noise=1)"),
        ("depth-first", "depth-first"),
        ("oresight.harness.agents.baselines:Stuck", "oresight.harness.agents.baselines:Stuck"),
    ],
)
def test_dials_have_one_spelling(given: str, name: str) -> None:
    assert find_agent(given, GridWorld).name == name


@pytest.mark.parametrize("dials", ["window", "window=", "window=-1", "window=20000", "noise=1.1", "noise=x", "a=1"])
def test_wrong_dials_are_one_sentence(dials: str) -> None:
    with pytest.raises(UsageError, match=r"expected frontier\(window=N,noise=P\)"):
        find_agent(f"frontier({dials})", GridWorld)
    with pytest.raises(UsageError, match="expected frontier"):
        Dials.parse("window=1,window=2")


def test_an_agent_of_the_other_world_is_named_as_such() -> None:
    with pytest.raises(UsageError, match="agent 'scout' plays craft and not grid; there are random"):
        find_agent("scout", GridWorld)
    with pytest.raises(UsageError, match="agent 'frontier\\(window=1\\)' plays grid and not craft"):
        find_agent("frontier(window=1)", CraftWorld)


def test_the_family_is_what_the_dials_make() -> None:
    assert len(FAMILY) == len(set(FAMILY)) == 28
    assert all(find_agent(name, GridWorld).name == name for name in TEXT_AGENTS)


def test_an_episode_comes_out_the_same_played_again() -> None:
    task = Task("medium-medium-4", ("frontier(window=4,noise=0.2)", "random"))
    assert play_scenario(task) == play_scenario(task)
