"""Test that a measured number passes only within the tolerance of its exercise."""

import numpy as np
import pytest
import toy

from autograder.exercise.declaring import Declaration
from autograder.exercise.model import Case, Kind
from autograder.judging.judge import judge
from autograder.judging.keys import build_key, observe_quietly
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


def judgement_of(function):
    return judge(KEY, observe_quietly(function, KEY.cases))


@pytest.mark.parametrize("factor", [1, 1.04, 0.96])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.asarray])
def test_number_within_the_tolerance_passes(factor, kind):
    assert judgement_of(lambda X: kind(np.std(X) * factor)).passed


@pytest.mark.parametrize("factor", [1.06, 0.94, -1])
def test_number_beyond_the_tolerance_fails_and_the_message_states_it(factor):
    judgement = judgement_of(lambda X: float(np.std(X) * factor))
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
def test_result_that_is_not_a_finite_number_is_reported(answer, verdict):
    assert judgement_of(answer).verdict is verdict


@pytest.mark.parametrize("factor", [1, 1.01])
def test_mistake_is_named_within_the_tolerance(factor):
    assert judgement_of(lambda X: float(np.var(X) * factor)).misconception == "variance"
