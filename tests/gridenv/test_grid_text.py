"""What the agent is told: enough, unambiguous, and nothing that it could not know."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oresight.gridenv.env import GridEnv
from oresight.gridenv.frontier import Knowledge
from oresight.gridenv.generate import generate
from oresight.gridenv.model import Exploration, GridMap, Node
from oresight.gridenv.suites import GridScenario, get_scenario
from oresight.gridenv.text import HeardNode, HeardTurn, briefing, outcome_text, read_briefing, read_turn, turn_text
from oresight.scoring.grid.adapter import GridScenario as ScoredScenario
from oresight.scoring.grid.adapter import GridScorer
from oresight.scoring.parameters import Parameters
from support.grid_stage import maps, stage

COOKING = GridMap(
    frozenset({(0, 0), (1, 0), (2, 0), (0, 1)}),
    (0, 0),
    (
        Node("Milk", (1, 0)),
        Node('Nana\'s "best", (batter) AND more', (2, 0), (("Milk", "Eggs"), ("Oat Milk",), ("Eggs", "Milk"))),
        Node("Eggs", (0, 1)),
        Node("Oat Milk", (0, 0)),
    ),
    'Nana\'s "best", (batter) AND more',
)


def test_an_empty_cell() -> None:
    map_ = stage("S.G")
    assert turn_text(map_, (1, 0), activated=False, just_now=False) == (
        "You are at [1, 0]. Nothing is here. You can move: left, right."
    )


def test_a_found_node_with_prerequisites_and_dependents() -> None:
    map_ = stage("SABCG", {"C": [["B", "A"], ["B"]], "G": [["C", "A"]]})
    assert turn_text(map_, (3, 0), activated=False, just_now=False) == (
        'You are at [3, 0]. Here is "C". Its prerequisites: ("A" AND "B") OR ("B"). Depending on it: "G". '
        "It is not activated because its prerequisites are not met. You can move: left, right."
    )
    assert turn_text(map_, (1, 0), activated=True, just_now=True) == (
        'You are at [1, 0]. Here is "A". It has no prerequisites. Depending on it: "C", "G". '
        "It has just been activated. You can move: left, right."
    )


def test_the_goal_is_told_when_it_is_found_and_steps_where_asked_for() -> None:
    map_ = stage("SG")
    assert turn_text(map_, (1, 0), activated=True, just_now=False, steps=4) == (
        'You are at [1, 0]. Here is "G", the goal. It has no prerequisites. Nothing depends on it. '
        "It was activated earlier. You can move: left. Steps used so far: 4."
    )


def test_a_cell_without_a_way_out() -> None:
    map_ = GridMap(frozenset({(3, -2)}), (3, -2), (Node("G", (3, -2)),), "G")
    text = turn_text(map_, (3, -2), activated=True, just_now=True)
    assert text.startswith("You are at [3, -2].") and text.endswith("You cannot move.")
    heard = read_turn(text)
    assert heard is not None and (heard.cell, heard.ways) == ((3, -2), ())


def test_names_with_quotes_brackets_and_words_stay_unambiguous() -> None:
    name = COOKING.goal
    text = turn_text(COOKING, (2, 0), activated=False, just_now=False)
    assert '("Eggs" AND "Milk") OR ("Oat Milk")' in text
    node = HeardNode(name, (2, 0), (("Eggs", "Milk"), ("Oat Milk",)), (), True, False)
    assert read_turn(text) == HeardTurn((2, 0), ("left",), node)
    listed = read_briefing(briefing(COOKING))
    assert listed is not None
    assert listed.cells == COOKING.cells
    assert {heard.name: heard.cell for heard in listed.nodes} == {node.id: node.cell for node in COOKING.nodes}
    assert next(heard for heard in listed.nodes if heard.goal).options == node.options


names = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), min_size=1, max_size=12)


@given(st.lists(names, min_size=4, max_size=4, unique=True), st.booleans(), st.booleans())
def test_whatever_the_names_are_the_texts_can_be_read(called: list[str], activated: bool, just_now: bool) -> None:
    goal, first, second, child = called
    map_ = GridMap(
        frozenset({(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)}),
        (4, 0),
        (
            Node(goal, (0, 0), ((first, second), (second,))),
            Node(first, (1, 0)),
            Node(second, (2, 0), ((),)),
            Node(child, (3, 0), ((goal,),)),
        ),
        goal,
    )
    options = tuple(sorted([tuple(sorted([first, second])), (second,)]))
    heard = read_turn(turn_text(map_, (0, 0), activated=activated, just_now=just_now, steps=2))
    expected = HeardNode(goal, (0, 0), options, (child,), True, activated or just_now)
    assert heard == HeardTurn((0, 0), ("right",), expected)
    listed = read_briefing(briefing(map_))
    assert listed is not None
    assert {node.name: node.cell for node in listed.nodes} == {node.id: node.cell for node in map_.nodes}
    assert next(node.options for node in listed.nodes if node.name == second) == ((),)


def test_the_listing_of_the_exploit_only_setting() -> None:
    assert briefing(stage("SAG", {"G": [["A"]]})) == (
        "You know the whole map from the start. Only these cells can be entered.\n"
        "Cells: [0, 0], [1, 0], [2, 0].\n"
        'At [1, 0]: "A". It has no prerequisites. Depending on it: "G".\n'
        'At [2, 0]: "G", the goal. Its prerequisites: ("A"). Nothing depends on it.'
    )


def test_outcomes() -> None:
    assert outcome_text("up", (1, 2), moved=True, achieved=None) == "You moved up to [1, 2]."
    assert outcome_text("up", (1, 2), moved=True, achieved="A") == 'You moved up to [1, 2] and activated "A".'
    assert outcome_text("up", (1, 1), moved=False, achieved=None) == "There is no way up; you are still at [1, 1]."


def test_words_that_are_no_turn_tell_nothing() -> None:
    assert read_turn("Hello.") is None
    assert read_briefing("Hello.") is None
    assert Knowledge(["Hello."]).choices() == ()


def test_the_last_turn_in_a_text_counts_and_other_lines_do_not_disturb() -> None:
    text = "You moved left.\nYou are at [0, 0]. Nothing is here. You can move: up.\nGo on.\n" + (
        "You are at [5, 5]. Nothing is here. You can move: down. Steps used so far: 3.\nAnswer now."
    )
    heard = read_turn(text)
    assert heard is not None and heard.cell == (5, 5)


def visible_names(map_: GridMap, walk: Exploration) -> set[str]:
    """The nodes that may be named: those seen, and their neighbours in the DAG."""
    found = set(walk.seen)
    for name in walk.seen:
        found |= map_.node(name).parents | set(map_.dependents[name])
    return found


@settings(max_examples=150)
@given(st.sampled_from(["low", "medium", "high"]), st.integers(0, 40), st.lists(st.integers(0, 3), max_size=60))
def test_nothing_leaks(demand: str, seed: int, choices: list[int]) -> None:
    map_ = generate(demand, "large", seed)
    env = GridEnv(GridScenario("leaks", map_))
    observation = env.reset()
    texts = [observation.text]
    for choice in choices:
        done = env.step(("up", "down", "left", "right")[choice])
        texts = [done.observation.text, done.outcome]
        for text in texts:
            named = {node.id for node in map_.nodes if node.id in text}
            assert named <= visible_names(map_, env.walk)
            places = {(int(x), int(y)) for x, y in re.findall(r"\[(-?\d+), (-?\d+)\]", text)}
            assert places <= env.walk.observed
            # Beyond its own place, no number is told.
            assert not re.search(r"\d", re.sub(r'\[-?\d+, -?\d+\]|"[^"]*"', "", text))


def test_a_turn_tells_of_no_node_but_the_one_here_and_its_neighbours_in_the_dag() -> None:
    map_ = stage("SABCG", {"B": [["A"]], "C": [["B"]], "G": [["C"]]})
    assert '"C"' not in turn_text(map_, (1, 0), activated=True, just_now=True)
    assert '"G"' not in turn_text(map_, (2, 0), activated=True, just_now=True)


def play_frontier(env: GridEnv, pick: int = 0) -> list[str]:
    """Play the frontier explorer from the texts alone; `pick` chooses among equally good directions."""
    observation = env.reset()
    knowledge, moves = Knowledge(), []
    while not env.walk.success and len(moves) < env.spec.budget:
        knowledge.hear(observation.text)
        choices = knowledge.choices()
        moves.append(choices[pick % len(choices)])
        observation = env.step(moves[-1]).observation
    return moves


def errors(map_: GridMap, visibility: str, moves: list[str]) -> int:
    scorer = GridScorer(Parameters(), ScoredScenario(map_, visibility))  # type: ignore[arg-type]
    return sum(scorer.score(move).error is not None for move in moves)


@pytest.mark.parametrize("demand", ["low", "medium", "high"])
@pytest.mark.parametrize("size", ["small", "medium", "large"])
def test_the_frontier_explorer_always_succeeds_without_an_error(demand: str, size: str) -> None:
    for seed in range(4):
        for pick in (0, 1):
            env = GridEnv(get_scenario(f"{demand}-{size}-{seed}"))
            moves = play_frontier(env, pick)
            # The proof is for the first of equally good directions; others may take longer, but never err.
            assert env.walk.success or pick
            assert errors(env.scenario.map, "partial", moves) == 0


@settings(max_examples=150, deadline=None)
@given(maps(), st.sampled_from(["partial", "full"]), st.integers(0, 2))
def test_the_frontier_explorer_has_no_error_on_any_map(map_: GridMap, visibility: str, pick: int) -> None:
    # It may run out of budget where a map is not proved, but it never errs.
    env = GridEnv(GridScenario("any", map_, visibility))  # type: ignore[arg-type]
    assert errors(map_, visibility, play_frontier(env, pick)) == 0


def test_the_frontier_explorer_plays_the_exploit_only_setting() -> None:
    env = GridEnv(get_scenario("full-medium-large-0"))
    moves = play_frontier(env)
    assert env.walk.success
    assert errors(env.scenario.map, "full", moves) == 0


def test_knowledge_is_what_the_texts_say() -> None:
    map_ = generate("medium", "large", 3)
    env = GridEnv(GridScenario("known", map_))
    texts = [env.reset().text]
    for direction in play_frontier(GridEnv(env.scenario))[:25]:
        texts.append(env.step(direction).observation.text)
        knowledge = Knowledge(texts)
        walk = env.walk
        assert knowledge.position == walk.position
        assert knowledge.observed == walk.observed
        assert knowledge.unobserved == walk.unobserved
        assert set(knowledge.nodes) == walk.seen
        assert knowledge.activated == walk.achieved
        assert {node.name for node in knowledge.pending} == {node.id for node in walk.pending}


def test_who_has_forgotten_the_way_to_a_task_explores() -> None:
    map_ = stage("A.S..G", {"G": [["A"]]})
    seen = turn_text(map_, (0, 0), activated=False, just_now=False)
    here = turn_text(map_, (3, 0), activated=False, just_now=False)
    assert [node.name for node in Knowledge([seen, here]).pending] == ["A"]
    assert Knowledge([seen, here]).choices() == ("left", "right")


def test_with_the_current_text_alone_every_way_is_as_good_as_another() -> None:
    map_ = stage(
        """
        ...
        .SG
        ...
        """
    )
    text = turn_text(map_, (1, 1), activated=False, just_now=False)
    assert Knowledge([text]).choices() == ("up", "down", "left", "right")
