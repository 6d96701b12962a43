"""A measured number is right within the tolerance of its exercise, and no further."""

import numpy as np
import pytest
import toy

from autograder.exercise.declaring import Declaration
from autograder.exercise.model import Case, Kind
from autograder.judging.judge import build_key, judge, observe_quietly
from autograder.judging.verdict import Verdict


def spread(X):
    """Measure the spread of X, an array, as a number."""
    return float(np.std(X))


def spread__variance(X):
    return float(np.var(X))


def cases(rng):
    yield Case("ten numbers", (rng.normal(size=10) * 3,))
    yield Case("a hundred numbers", (rng.normal(size=100) * 5,))


DECLARED = Declaration(
    spread, points=1, difficulty=1, minutes=5, help=toy.HELP, kind=Kind.MEASURE, tolerance=0.05
)
DECLARED.wrong("variance", "In which unit?", spread__variance)
DECLARED.public(cases)
DECLARED.hidden(cases)
SPREAD = DECLARED.exercise
KEY = build_key(SPREAD, cases(np.random.default_rng(0)), ())


def judged(function):
    return judge(KEY, observe_quietly(function, KEY.cases))


@pytest.mark.parametrize("factor", [1, 1.04, 0.96])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.asarray])
def test_a_number_within_the_tolerance_is_right(factor, kind):
    assert judged(lambda X: kind(np.std(X) * factor)).passed


@pytest.mark.parametrize("factor", [1.06, 0.94, -1])
def test_a_number_beyond_it_is_wrong_and_the_message_says_how_near_it_should_be(factor):
    judgement = judged(lambda X: float(np.std(X) * factor))
    assert judgement.verdict is Verdict.WRONG_VALUE
    assert "should be within 5 % of" in judgement.message


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (lambda X: np.nan, Verdict.NONFINITE),
        (lambda X: str(np.std(X)), Verdict.WRONG_TYPE),
        (lambda X: np.std(X)[None], Verdict.WRONG_SHAPE),
        (lambda X: None, Verdict.WRONG_TYPE),
        (lambda X: [[1.0], [2.0, "x"]], Verdict.WRONG_TYPE),
        (lambda X: (np.ones(2), np.ones(3), None), Verdict.WRONG_TYPE),
    ],
)
def test_what_is_no_number_is_told_so(answer, verdict):
    assert judged(answer).verdict is verdict


@pytest.mark.parametrize("factor", [1, 1.01])
def test_a_mistake_that_was_measured_in_another_way_is_named_too(factor):
    assert judged(lambda X: float(np.var(X) * factor)).misconception == "variance"
