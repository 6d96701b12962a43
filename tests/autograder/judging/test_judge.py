"""Naming the mistake: exact matches, answers with two faults, and answers that fit no name."""

import numpy as np
import toy

from autograder.judging.exercise import Case, SeededGenerator
from autograder.judging.judge import AnswerKey, build_key, judge, observe_quietly, public_cases
from autograder.judging.verdict import Verdict


def judged(function, hidden=()):
    key = build_key(toy.MEAN, public_cases(toy.MEAN), hidden)
    return judge(key, observe_quietly(function, key.cases))


def test_an_answer_with_a_second_fault_is_named_by_the_first_case_that_it_fails():
    def sums_and_raises_on_four_rows(X):
        if len(X) == 4:
            raise ValueError
        return X.sum(axis=-1)

    assert judged(sums_and_raises_on_four_rows).misconception == "sum for mean"


def test_self_check_and_grader_give_one_name_to_an_answer_with_a_second_fault_that_is_hidden():
    def sums_and_raises_on_nine_rows(X):
        if len(X) == 9:
            raise ValueError
        return X.sum(axis=-1)

    hidden = [Case("nine rows", (np.ones((9, 3)),))]
    assert judged(sums_and_raises_on_nine_rows).misconception == "sum for mean"
    assert judged(sums_and_raises_on_nine_rows, hidden).misconception == "sum for mean"


def test_another_mistake_gets_no_name():
    for other in (lambda X: X.mean(axis=-1) + 1, lambda X: 1 / 0, lambda X: None):
        judgement = judged(other)
        assert not judgement.passed
        assert judgement.misconception is None
        assert judgement.hint is None


def test_an_exception_in_common_is_no_resemblance():
    def raises_on_two_rows(X):
        if len(X) == 2:
            raise ValueError
        return X.sum(axis=-1)

    judgement = judged(raises_on_two_rows)
    assert judgement.verdict is Verdict.EXCEPTION
    assert judgement.misconception is None


def test_too_few_results_are_malformed():
    key = build_key(toy.MEAN, public_cases(toy.MEAN), ())
    assert judge(key, []).verdict is Verdict.MALFORMED


def test_a_generator_is_fresh_at_each_call():
    case = Case("a draw", (SeededGenerator(5),))
    key = AnswerKey("draw", (case,), 1, (np.random.default_rng(5).normal(size=3),), ())
    assert judge(key, observe_quietly(lambda rng: rng.normal(size=3), key.cases)).passed
    twice = judge(
        key, observe_quietly(lambda rng: (rng.normal(), rng.normal(size=3))[1], key.cases)
    )
    assert twice.verdict is Verdict.WRONG_VALUE
