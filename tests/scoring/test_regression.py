import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oresight.scoring.decisions import EpisodeSummary, Tally
from oresight.scoring.records import Outcome
from oresight.scoring.regression import Point, regress


def point(name, success, errors, eligible=1000, episodes=100):
    return Point(name, success, episodes, errors, eligible)


def test_points_on_a_line_are_fitted_by_it():
    fit = regress([point("a", 90, 1), point("b", 60, 10), point("c", 30, 100)]).with_errors
    assert (fit.slope, fit.intercept, fit.r2, fit.n) == (pytest.approx(-0.3), pytest.approx(0.0), pytest.approx(1.0), 3)


def test_the_fit_is_ordinary_least_squares():
    points = [point("a", 80, 3), point("b", 75, 40), point("c", 20, 120), point("d", 35, 700)]
    fit = regress(points).with_errors
    x, y = [math.log10(p.errors / 1000) for p in points], [p.successes / 100 for p in points]
    slope, intercept = np.polyfit(x, y, 1)
    assert (fit.slope, fit.intercept) == (pytest.approx(slope), pytest.approx(intercept))
    assert fit.r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)


def test_a_rate_of_zero_stands_at_half_an_error_in_the_most_eligible_decisions():
    points = [
        point("a", 100, 0, 50),
        point("b", 60, 10),
        point("c", 30, 100),
        point("d", 90, 0, 2000),
        point("e", 9, 999),
    ]
    found = regress(points)
    assert (found.with_errors.n, found.with_errors.floored, found.with_errors.floor) == (3, 0, None)
    assert (found.all.n, found.all.floored, found.all.floor) == (5, 2, 0.5 / 2000)
    assert [p.floored for p in found.all.points] == [True, False, False, True, False]
    assert {p.log10_error for p in found.all.points if p.floored} == {math.log10(0.5 / 2000)}


def test_without_a_zero_both_fits_are_one():
    found = regress([point("a", 90, 1), point("b", 60, 10), point("c", 30, 100)])
    assert found.all == found.with_errors


def test_fewer_than_three_different_rates_are_undefined():
    # 1/10 and 10/100 are one rate.
    points = [point("a", 90, 1, 10), point("b", 60, 10, 100), point("c", 30, 7), point("d", 20, 0)]
    found = regress(points)
    fit = found.with_errors
    assert (fit.slope, fit.intercept, fit.r2, fit.n) == (None, None, None, 3)
    assert found.all.slope is not None
    assert regress([point("a", 5, 0), point("b", 9, 0)]).all.slope is None


def test_nothing_is_undefined():
    found = regress([])
    assert (found.all.n, found.all.slope, found.with_errors.n) == (0, None, 0)


def test_a_point_without_an_eligible_decision_or_an_episode_is_named_and_left_out():
    found = regress([point("a", 0, 0, 0), Point("b", 0, 0, 1, 5), point("c", 5, 1)])
    assert (found.undefined, found.all.n) == (("a", "b"), 1)


def test_equal_successes_leave_nothing_to_explain():
    fit = regress([point("a", 50, 1), point("b", 50, 10), point("c", 50, 100)]).all
    assert (fit.slope, fit.intercept, fit.r2) == (0.0, 0.5, None)


@pytest.mark.parametrize("wrong", [point("a", 5, 6, 5), point("a", 101, 0), point("a", -1, 0), point("a", 5, -1)])
def test_what_is_no_share_is_refused(wrong):
    with pytest.raises(ValueError, match="both must be shares"):
        regress([wrong])


def test_json_says_all_and_is_finite():
    found = regress([point("a", 100, 0), point("b", 60, 10), point("c", 30, 100), point("d", 0, 0, 0)]).to_json()
    assert json.loads(json.dumps(found, allow_nan=False))["all"]["floored"] == 1
    assert found["undefined"] == ["d"]
    assert set(found["all"]) == {"slope", "intercept", "r2", "n", "floored", "floor", "points"}


POINTS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 500)), min_size=1, max_size=8)


@settings(deadline=None)
@given(drawn=POINTS)
def test_any_points_give_a_finite_fit_in_any_order(drawn):
    points = [Point(str(index), success, 40, errors, 500) for index, (success, errors) in enumerate(drawn)]
    found, backwards = regress(points), regress(points[::-1])
    for one, other in ((found.all, backwards.all), (found.with_errors, backwards.with_errors)):
        assert (one.slope is None) == (other.slope is None)
        if one.slope is not None:
            assert math.isfinite(one.slope) and one.slope == pytest.approx(other.slope, abs=1e-9)
            assert one.r2 is None or 0 <= one.r2 <= 1


# --- tables ----------------------------------------------------------------------------------------------------------


def summary(explore, exploit, outcome=Outcome.SUCCESS):
    tally = Tally(*explore, *exploit)
    return EpisodeSummary(outcome, None, {"lenient": tally, "strict": tally}, 10, 10, 10, 20, 1.0)
