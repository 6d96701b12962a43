"""Test that the comparison of exercises with an earlier commit detects each kind of change."""

import json
from dataclasses import replace

import numpy as np
import pytest
from identity import differences, facts
from smallest import SMALLEST

from autograder.exercise.answers import Answer
from autograder.exercise.model import Case, Exercise


def recorded_facts(exercise: Exercise) -> dict:
    return json.loads(json.dumps({"chapter.row_mean": facts(exercise)}))


BEFORE = recorded_facts(SMALLEST)


def wrong(**changes) -> Exercise:
    first, *others = SMALLEST.misconceptions
    return replace(SMALLEST, misconceptions=(replace(first, **changes), *others))


def cases(*changed: Case) -> Exercise:
    return replace(SMALLEST, cases=lambda rng: changed)


def by_rows(x):
    return np.array([row.sum() / len(row) for row in x])


def rounded(x):
    return x.mean(axis=0) + 1e-15


def right(x):
    return x.mean(axis=1)


(CASE,) = SMALLEST.cases(np.random.default_rng(0))

CHANGES = {
    "points": (replace(SMALLEST, points=3), "points"),
    "help": (replace(SMALLEST, help=("", *SMALLEST.help[1:])), "help 1"),
    "a name": (wrong(name="another"), "wrong another"),
    "a question": (wrong(hint="Why?"), "wrong columns for rows 0"),
    "the order": (
        replace(SMALLEST, misconceptions=SMALLEST.misconceptions[::-1]),
        "wrong: another order",
    ),
    "a note": (cases(replace(CASE, note="two")), "cases 0 0 0"),
    "an argument": (cases(replace(CASE, arguments=(np.ones((2, 3)),))), "cases 0 0 1"),
    "a promise": (cases(replace(CASE, promises=("of each row",))), "promises of each row"),
    "a number": (
        wrong(answer=Answer("row_mean", rounded)),
        "wrong columns for rows 2 returned",
    ),
    "a verdict": (
        wrong(answer=Answer("row_mean", right)),
        "wrong columns for rows 2 verdicts 0 0",
    ),
    "a right answer": (
        replace(SMALLEST, alternatives=(by_rows, *SMALLEST.alternatives[1:])),
        "right 1 source",
    ),
    "one right answer less": (
        replace(SMALLEST, alternatives=SMALLEST.alternatives[1:]),
        "right:",
    ),
    "a new one that does not pass": (
        replace(SMALLEST, alternatives=(*SMALLEST.alternatives, rounded)),
        "right answer 4 is new, and does not pass",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_detected_and_reported(name):
    changed, report = CHANGES[name]
    lines = list(differences(BEFORE, recorded_facts(changed)))
    assert any(line.startswith(f"chapter.row_mean: {report}") for line in lines), lines


def test_equal_facts_and_added_right_answers_are_not_reported():
    assert list(differences(BEFORE, recorded_facts(SMALLEST))) == []
    more = replace(SMALLEST, alternatives=(*SMALLEST.alternatives, by_rows))
    assert list(differences(BEFORE, recorded_facts(more))) == []


def test_removed_and_new_exercises_are_named():
    assert list(differences(BEFORE, {})) == ["chapter.row_mean: only in the commit"]
    assert list(differences({}, BEFORE)) == ["chapter.row_mean: only here"]
