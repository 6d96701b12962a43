"""Names are earned: of answers that make no known mistake alone, hardly any gets a wrong name."""

from collections import Counter

import numpy as np
import pytest
from keys import grading_key
from naming import HEADING, KINDS, line, tally
from semantic import wrong_answers

from autograder.exercise.answers import Answer
from autograder.exercise.model import Kind
from autograder.judging.judge import judge, observe_quietly
from autograder.judging.verdict import Judgement
from exercises import COURSE

MOST_WRONG = 0.02
MOST_PAIRS, MOST_EDITS = 6, 3
"""So many of each exercise, about in the proportion of all: a share, in under a minute."""
SLOW = {"transformer.Transformer"}
"""The full measure, `python -m tests.support.naming`, has them too."""


def test_at_most_two_per_cent_of_the_answers_get_a_wrong_name():
    total = Counter[str](), Counter[str]()
    print(HEADING)
    for assignment in COURSE.values():
        for exercise in assignment.exercises:
            name = f"{assignment.name}.{exercise.name}"
            if name in SLOW or exercise.kind is Kind.TEST:
                continue
            with np.errstate(all="ignore"):
                found = tally(exercise, MOST_PAIRS, MOST_EDITS)
            print(line(name, found))
            for sums, counts in zip(total, found, strict=True):
                sums.update(counts)
    print(line("all", total))
    answers = total[0] + total[1]
    assert answers.total() > 500
    assert all(answers[kind] for kind in KINDS if kind != "wrongly")
    assert answers["wrongly"] <= MOST_WRONG * answers.total()


def judged(place, answer) -> Judgement:
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
        ("queries_keys_values.soft_lookup", "a softmax shifted by no less than 0"),
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
def test_what_looks_like_a_known_mistake_on_some_cases_only_is_not_named(place, answer):
    judgement = judged(place, answer)
    assert not judgement.passed
    assert judgement.misconception is None


def test_an_answer_that_is_always_true_is_called_that_and_nothing_more():
    judgement = judged("self_attention.permute_equivariantly", ("return bool(", "return True or ("))
    assert judgement.misconception == "always True"
