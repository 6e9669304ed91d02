"""A world without the error metric: success, score and budget, in memory and through a result file."""

import pytest

from oresight.scoring.decisions import EpisodeSummary, Tally
from oresight.scoring.plain import PlainScorer
from oresight.scoring.records import Outcome, ScoreRecord


def played(*facts, budget=5):
    scorer = PlainScorer(budget)
    for each in facts:
        assert not scorer.score("go", each).scored
    return scorer


def test_the_facts_tell_score_and_success():
    told = played({"score": 0.25}, {"score": 1.0, "success": True}).summary()
    assert (told.outcome, told.score, told.steps_taken, told.readings) == (Outcome.SUCCESS, 1.0, 2, {})
    assert told.tally == Tally()


def test_what_the_facts_leave_out_the_recorded_outcome_tells():
    assert played({}, {}).summary(Outcome.SUCCESS).score == 1.0
    assert played({}, None).summary(Outcome.AGENT_ENDED).score == 0.0
    assert played({"score": 0.5}).summary(Outcome.AGENT_ENDED).score == 0.5


def test_decisions_after_the_budget_count_no_more():
    scorer = played({}, {}, {"success": True, "score": 1.0}, budget=2)
    told = scorer.summary()
    assert (told.outcome, told.decisions, told.steps_taken) == (Outcome.BUDGET_SPENT, 3, 2)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"score": 1.5}, "facts.score is 1.5; expected a number from 0 to 1"),
        ({"score": True}, "facts.score is True; expected a number from 0 to 1"),
        ({"success": 1}, "facts.success is 1; expected true or false"),
    ],
)
def test_facts_that_are_no_score_are_refused(facts, words):
    with pytest.raises(ValueError, match=words):
        played(facts)


def test_a_summary_comes_back_from_its_json():
    told = played({"score": 0.25}).summary(Outcome.AGENT_ENDED)
    assert EpisodeSummary.from_json(told.to_json(), told.outcome, None) == told


def test_a_record_from_before_scores_were_told_has_the_share_that_was_acquired():
    tally = Tally(1, 4, 0, 2, 1).to_json()
    old = {
        **dict.fromkeys(("decisions", "scored_decisions", "steps_taken", "budget"), 6),
        "acquired": 1,
        "target_count": 4,
        "discoveries": [],
        "lenient": tally,
        "strict": tally,
    }
    told = EpisodeSummary.from_json(old, Outcome.BUDGET_SPENT, None, readings=("lenient", "strict"))
    assert (told.score, list(told.readings)) == (0.25, ["lenient", "strict"])
    assert told.details == {"acquired": 1, "target_count": 4, "discoveries": []}
    assert list(EpisodeSummary.from_json(old, Outcome.BUDGET_SPENT, None, readings=("lenient",)).readings) == [
        "lenient"
    ]


def test_a_record_whose_named_reading_is_missing_is_refused():
    told = played({}).summary().to_json()
    with pytest.raises(ValueError, match="TallyRecord"):
        ScoreRecord.model_validate(told | {"readings": ["lenient"]})
