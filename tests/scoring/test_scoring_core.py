import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oresight.scoring.core import Answers, Case, ErrorKind, Judge, NothingLeftError, StaleSegment, case_of
from support.places import DATA

VECTORS = json.loads((DATA / "stale.json").read_text())
NODES = st.integers(0, 4)


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["name"])
def test_the_edge_cases_have_exactly_these_stale_scores_and_errors(vector):
    path = [tuple(cell) for cell in vector["path"]]
    judge = Judge(VECTORS["k"], path[0])
    stale, errors = [judge.stale], []
    for index, cell in enumerate(path[1:], 1):
        verdict = judge.judge(Answers(Case.EXPLORE, gain=True, progress=False, node=cell))
        stale.append(verdict.stale)
        if verdict.error:
            errors.append(index)
    assert stale == vector["stale"]
    assert errors == vector["error_at"]


def naive_stale(path: list[int], k: int) -> int:
    """The definition as it stands, counted anew."""
    visits = Counter(path)
    edges = Counter(frozenset(pair) for pair in pairwise(path))
    cyclomatic = len(edges) - len(visits) + 1
    return cyclomatic + sum(max(m - k, 0) for m in edges.values()) + sum(max(m - k, 0) for m in visits.values())


@settings(deadline=None)
@given(path=st.lists(NODES, min_size=1, max_size=40), k=st.integers(1, 4))
def test_the_incremental_score_equals_the_definition_at_every_step(path, k):
    segment = StaleSegment(k, path[0])
    assert segment.score == naive_stale(path[:1], k) == 0
    for length in range(2, len(path) + 1):
        assert segment.visit(path[length - 1]) == naive_stale(path[:length], k)


ANSWERS = st.builds(
    lambda case, gain, progress, node, inside: Answers(case, gain or progress, progress, node, inside),
    st.sampled_from(Case),
    st.booleans(),
    st.integers(0, 5).map(lambda draw: draw == 0),
    NODES,
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(answers=st.lists(ANSWERS, max_size=40), cut=st.integers(0, 40), patience=st.none() | st.integers(0, 8))
def test_a_longer_trajectory_never_changes_earlier_verdicts(answers, cut, patience):
    def verdicts(part):
        judge = Judge(2, 0, patience)
        return [judge.judge(answer) for answer in part]

    assert verdicts(answers)[:cut] == verdicts(answers[:cut])


@settings(max_examples=60, deadline=None)
@given(answers=st.lists(ANSWERS, max_size=40))
def test_an_error_is_no_gain_or_a_risen_score_and_progress_is_never_one(answers):
    judge = Judge(2, 0)
    before = 0
    for answer in answers:
        verdict = judge.judge(answer)
        wrong = not answer.progress and (not answer.gain or verdict.stale > before)
        assert (verdict.error is not None) == wrong
        assert verdict.error_if(verdict.gain) is verdict.error
        before = verdict.stale


@pytest.mark.parametrize(
    ("frontier_left", "pending", "goal_pending", "case"),
    [
        (True, False, False, Case.EXPLORE),
        (True, True, True, Case.GOAL),
        (False, True, True, Case.GOAL),
        (False, True, False, Case.EXPLOIT),
        (True, True, False, Case.EITHER),
    ],
)
def test_the_case_follows_from_frontier_and_pending(frontier_left, pending, goal_pending, case):
    assert case_of(frontier_left=frontier_left, pending=pending, goal_pending=goal_pending) is case


def test_nothing_pending_and_nothing_left_to_explore_is_an_invalid_state():
    with pytest.raises(NothingLeftError):
        case_of(frontier_left=False, pending=False, goal_pending=False)


@pytest.mark.parametrize(
    ("case", "kind", "explore", "exploit"),
    [
        (Case.EXPLORE, ErrorKind.EXPLORATION, True, False),
        (Case.GOAL, ErrorKind.EXPLOITATION, False, True),
        (Case.EXPLOIT, ErrorKind.EXPLOITATION, False, True),
        (Case.EITHER, ErrorKind.BOTH, True, True),
    ],
)
def test_an_error_is_attributed_by_the_case(case, kind, explore, exploit):
    verdict = Judge(2, 0).judge(Answers(case, gain=False, progress=False, node=1))
    assert verdict.error is kind
    assert (case.explore_eligible, case.exploit_eligible) == (explore, exploit)


def test_staying_is_a_self_loop_and_raises_the_score():
    assert [StaleSegment(2, "a").visit("a"), StaleSegment(3, "a").visit("a")] == [1, 1]


def test_progress_restarts_the_segment_at_the_new_node():
    judge = Judge(2, "a")
    for _ in range(4):
        judge.judge(Answers(Case.EXPLORE, True, False, "a"))
    assert judge.stale == 1 + 3 + 2  # a loop, five visits, four traversals
    assert judge.judge(Answers(Case.EXPLORE, True, True, "b")).stale == 0
    assert judge.judge(Answers(Case.EXPLORE, True, False, "a")).stale == 0


def test_a_decision_outside_the_segment_changes_nothing_in_it():
    judge = Judge(2, "a")
    assert [judge.judge(Answers(Case.EXPLORE, True, False, "a", in_segment=False)).stale for _ in range(9)] == [0] * 9


def test_patience_makes_errors_from_the_decision_after_it_until_progress():
    judge = Judge(2, 0, patience=3)
    errors = [judge.judge(Answers(Case.EXPLORE, True, False, node)).error is not None for node in range(1, 6)]
    assert errors == [False, False, False, True, True]
    judge.judge(Answers(Case.EXPLORE, True, True, 6))
    assert judge.judge(Answers(Case.EXPLORE, True, False, 7)).error is None


def test_a_smaller_k_never_lowers_the_score():
    path = [0, 1, 0, 1, 2, 0, 1]
    scores = []
    for k in (1, 2, 3):
        segment = StaleSegment(k, path[0])
        scores.append([segment.visit(node) for node in path[1:]][-1])
    assert scores == sorted(scores, reverse=True)


def test_progress_without_gain_and_a_k_of_zero_are_refused():
    with pytest.raises(ValueError, match="progress is always a gain"):
        Judge(2, 0).judge(Answers(Case.EXPLORE, gain=False, progress=True, node=1))
    with pytest.raises(ValueError, match="k is 0"):
        StaleSegment(0, "a")


def test_importing_scoring_loads_no_display_no_sdk_and_no_world():
    code = (
        "import sys, scoring, oresight.scoring.score, oresight.scoring.craft.adapter; "
        "bad = {'pyglet', 'numba', 'craftenv', 'oresight.gridenv.env', 'gymnasium', 'harness'}; "
        "bad |= {'openai', 'google.genai', 'anthropic', 'cv2'}; "
        "print(sorted(bad & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
