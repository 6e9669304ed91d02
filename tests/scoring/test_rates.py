import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oresight.scoring.decisions import EpisodeSummary, Tally
from oresight.scoring.pooling import pool
from oresight.scoring.records import Outcome
from oresight.scoring.statistics import EpisodeCounts, bootstrap, bootstrap_difference, figure_of, rate, wilson


def summary(outcome=Outcome.BUDGET_SPENT, explore=(0, 0), exploit=(0, 0), steps=100, budget=100):
    tally = Tally(explore[0], explore[1], exploit[0], exploit[1])
    return EpisodeSummary(
        outcome=outcome,
        reason=None,
        readings={"lenient": tally, "strict": tally},
        decisions=steps,
        scored_decisions=steps,
        steps_taken=steps,
        budget=budget,
        score=float(outcome is Outcome.SUCCESS),
    )


def test_a_rate_without_an_eligible_decision_is_undefined():
    assert rate(0, 0) is None
    assert rate(0, 5) == 0.0


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.2775328),
        (10, 10, 0.7224672, 1.0),
        (5, 10, 0.2365931, 0.7634069),
        (81, 263, 0.2552726, 0.3662172),
        (1, 1, 0.2065493, 1.0),
    ],
)
def test_wilson_gives_the_published_intervals(successes, n, low, high):
    found = wilson(successes, n)
    assert found == pytest.approx((low, high), abs=5e-5)


def test_wilson_of_nothing_is_undefined_and_of_nonsense_refused():
    assert wilson(0, 0) is None
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(3, 2)


@settings(deadline=None)
@given(n=st.integers(1, 500), data=st.data())
def test_wilson_holds_the_share_and_stays_within_0_and_1(n, data):
    successes = data.draw(st.integers(0, n))
    low, high = wilson(successes, n)
    assert 0.0 <= low <= successes / n <= high <= 1.0
    mirrored = wilson(n - successes, n)
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_the_bootstrap_of_equal_episodes_is_a_point():
    assert bootstrap([(3, 10)] * 5) == (0.3, 0.3)


def test_the_bootstrap_is_the_same_every_time():
    counts = [(1, 10), (5, 10), (9, 10), (2, 8)]
    assert bootstrap(counts) == bootstrap(counts)
    assert bootstrap(counts, seed=1) is not None


def test_the_bootstrap_of_two_episodes_has_the_known_quarter_quarter_half():
    # Resamples: both the first (1/4), both the second (1/4), one each (1/2): the ends of 95 % are the extremes.
    assert bootstrap([(0, 10), (10, 10)]) == (0.0, 1.0)


def test_the_bootstrap_agrees_with_the_normal_interval_of_many_episodes():
    counts = [(1, 1)] * 120 + [(0, 1)] * 280
    low, high = bootstrap(counts)
    half = 1.96 * (0.3 * 0.7 / 400) ** 0.5
    assert (low, high) == pytest.approx((0.3 - half, 0.3 + half), abs=0.006)


def test_the_bootstrap_weighs_episodes_by_their_eligible_decisions():
    figure = figure_of([(1, 2), (0, 98)])
    assert figure.value == 0.01
    assert figure.interval == (0.0, 0.5)


def test_one_episode_has_no_interval_and_no_eligible_decision_no_rate():
    assert figure_of([(1, 2)]).interval is None
    nothing = figure_of([(0, 0), (0, 0)])
    assert (nothing.value, nothing.interval, nothing.denominator, nothing.n) == (None, None, 0, 2)


def test_resamples_without_an_eligible_decision_are_left_out():
    assert bootstrap([(0, 0), (1, 2)]) == (0.5, 0.5)


def test_memory_stays_flat_with_many_episodes():
    assert bootstrap([(1, 4)] * 5000, resamples=600) == (0.25, 0.25)


def test_paired_differences_cancel_what_the_episodes_share():
    hard_and_easy = [(9, 10), (1, 10), (5, 10), (7, 10)]
    worse = [(errors + 1, eligible) for errors, eligible in hard_and_easy]
    assert bootstrap_difference(worse, hard_and_easy) == pytest.approx((0.1, 0.1))
    assert bootstrap_difference([(1, 2)], [(1, 2)]) is None
    with pytest.raises(ValueError, match="no pairs"):
        bootstrap_difference(worse, hard_and_easy[:2])


def test_pooling_sums_errors_and_eligible_decisions():
    pooled = pool([summary(explore=(1, 10), exploit=(0, 0)), summary(explore=(9, 90), exploit=(3, 4))])
    exploration, exploitation = pooled.error("exploration"), pooled.error("exploitation")
    assert (exploration.value, exploration.numerator, exploration.denominator) == (0.1, 10, 100)
    assert (exploitation.value, exploitation.numerator, exploitation.denominator) == (0.75, 3, 4)


def test_infrastructure_errors_and_incomplete_episodes_count_in_no_figure():
    lost = [summary(outcome, explore=(50, 50)) for outcome in (Outcome.INFRASTRUCTURE, Outcome.INCOMPLETE)]
    pooled = pool([summary(Outcome.SUCCESS, explore=(0, 10)), *lost])
    assert (pooled.success.value, pooled.success.numerator, pooled.success.denominator) == (1.0, 1, 1)
    assert pooled.error("exploration").value == 0.0


def test_budget_used_counts_the_full_budget_and_is_undefined_without_a_success():
    ended = summary(Outcome.AGENT_ENDED, steps=10)
    assert pool([ended])["budget_used"].value == 0.1
    assert pool([ended])["budget_used_success"].value is None
    both = pool([ended, summary(Outcome.SUCCESS, steps=50)])
    assert (both["budget_used"].value, both["budget_used_success"].value) == (0.3, 0.5)


def test_nothing_at_all_is_undefined_throughout():
    pooled = pool([]).to_json()
    assert pooled["success"]["value"] is None
    assert pooled["exploration_error"]["value"] is None
    assert (pooled["budget_used"], pooled["budget_used_success"]) == (None, None)


def test_counts_say_planned_scored_failed_and_missing():
    outcomes = [Outcome.SUCCESS, Outcome.AGENT_ENDED, Outcome.INFRASTRUCTURE, Outcome.INCOMPLETE]
    counts = EpisodeCounts.of(outcomes, unreadable=1, missing=3)
    assert (counts.planned, counts.found, counts.scored, counts.succeeded, counts.failed) == (8, 5, 2, 1, 1)
    assert (counts.infrastructure, counts.incomplete, counts.unreadable, counts.missing) == (1, 1, 1, 3)
    assert counts.complete is False
    assert EpisodeCounts.of([Outcome.SUCCESS]).complete is True


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 20).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=6))
def test_an_interval_lies_within_0_and_1(counts):
    figure = figure_of(counts)
    assert (figure.value is None) == (figure.denominator == 0)
    if figure.interval is not None:
        low, high = figure.interval
        assert 0.0 <= low <= high <= 1.0
