"""The walks with which the metric's reference implementation checks itself: the stale score at their ends."""

import json
from typing import Any

import pytest

from oresight.scoring.core import Answers, Case, Judge
from support.places import DATA

WALKS = json.loads((DATA / "reference-walks.json").read_text(encoding="utf-8"))["walks"]


@pytest.mark.parametrize("walk", WALKS, ids=[walk["name"] for walk in WALKS])
def test_the_stale_score_at_the_end_of_a_walk_is_the_published_one(walk: dict[str, Any]) -> None:
    judge = Judge(2, tuple(walk["start"]))
    stale = 0
    for cell in walk["moves"]:
        stale = judge.judge(Answers(Case.EXPLORE, gain=True, progress=False, node=tuple(cell))).stale
    assert stale == walk["stale"]
