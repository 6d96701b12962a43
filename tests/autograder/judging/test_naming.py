"""Test that answers with no single known mistake are hardly ever given a wrong name."""

from collections import Counter

import numpy as np
import pytest
from keys import grading_key
from naming import HEADING, KINDS, line, tally
from nightly import NIGHTLY
from semantic import wrong_answers

from autograder.exercise.answers import Answer
from autograder.exercise.model import Kind
from autograder.judging.judge import judge
from autograder.judging.keys import observe_quietly
from autograder.judging.verdict import Judgement
from exercises import COURSE

MOST_WRONG = 0.02
MOST_PAIRS, MOST_EDITS = (6, 3) if NIGHTLY else (2, 1)
"""Samples per exercise, in about the proportion of all."""
SLOW = {"transformer.Transformer"}
"""Left out here; the full measurement, `python -m tests.support.naming`, includes them."""


def test_at_most_two_per_cent_of_wrong_answers_are_misnamed():
    total = Counter[str](), Counter[str]()
    print(HEADING)
    for assignment in COURSE.values():
        for exercise in assignment.exercises:
            name = f"{assignment.name}.{exercise.name}"
            if name in SLOW or exercise.kind is Kind.TEST:
                continue
            with np.errstate(all="ignore"):
                counters = tally(exercise, MOST_PAIRS, MOST_EDITS)
            print(line(name, counters))
            for sums, counts in zip(total, counters, strict=True):
                sums.update(counts)
    print(line("all", total))
    answers = total[0] + total[1]
    assert answers.total() > (500 if NIGHTLY else 200)
    assert all(answers[kind] for kind in KINDS if kind != "wrongly")
    assert answers["wrongly"] <= MOST_WRONG * answers.total()


def judgement_of(place, answer) -> Judgement:
    chapter, name = place.split(".")
    exercise = COURSE[chapter].exercise(name)
    if isinstance(answer, str):
        answer = wrong_answers(exercise)[answer]
    elif isinstance(answer, tuple):
        answer = Answer(name, exercise.reference).edit(*answer).function
    key = grading_key(exercise, 0)
    return judge(key, observe_quietly(answer, key.cases))


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        ("self_attention.softmax", "a softmax shifted by no less than 0"),
        ("captioning.score_function_gradient", "a softmax shifted by no less than 0"),
        ("queries_keys_values.attention_with_bias", "a softmax shifted by no less than 0"),
        (
            "self_attention.softmax",
            (
                "return exponentials /",
                "return np.squeeze(exponentials) if x.size == 1 else exponentials /",
            ),
        ),
        (
            "self_attention.windowed_self_attention",
            (
                "masked_softmax(scores, window_mask(X.shape[-2], radius))",
                "softmax(scores - 1000 * ~window_mask(X.shape[-2], radius))",
            ),
        ),
    ],
)
def test_resemblance_on_some_cases_only_is_not_named(place, answer):
    judgement = judgement_of(place, answer)
    assert not judgement.passed
    assert judgement.misconception is None


def test_constant_true_answer_is_named_always_true():
    judgement = judgement_of(
        "self_attention.permute_equivariantly", ("return bool(", "return True or (")
    )
    assert judgement.misconception == "always True"
