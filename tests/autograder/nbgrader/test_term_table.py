"""Test the table of a whole term: one row per student, with weighted assignments."""

import csv
import io

import pytest

from autograder.nbgrader.database import GradebookError
from autograder.nbgrader.scores import Score
from autograder.nbgrader.term import term_table


def _score(student, assignment, raw, most, penalty=0.0, handed_in=True, waiting=0):
    return Score(
        student=student,
        last_name="=1+1",
        first_name=None,
        email=None,
        platform_id=None,
        assignment=assignment,
        timestamp=None,
        late_seconds=0.0,
        raw_score=raw,
        late_penalty=penalty,
        max_score=most,
        waiting=waiting,
        outdated=(),
        handed_in=handed_in,
    )


SCORES = [
    _score("ann", "one", 6.0, 10.0, penalty=1.0),
    _score("bob", "one", 0.0, 10.0, handed_in=False),
    _score("ann", "two", 30.0, 30.0, waiting=2),
    _score("bob", "two", 15.0, 30.0),
]


def _rows(weights):
    return list(csv.DictReader(io.StringIO(term_table(SCORES, weights))))


def test_each_student_has_one_row_with_all_assignments_and_the_total():
    ann, bob = _rows({})
    assert (ann["one"], ann["two"], ann["total"], ann["max_total"]) == (
        "5.0",
        "30.0",
        "35.0",
        "40.0",
    )
    assert (ann["percent"], ann["waiting"], ann["last_name"]) == ("87.5", "2", "'=1+1")
    assert (bob["one"], bob["two"], bob["total"], bob["percent"]) == ("", "15.0", "15.0", "37.5")


def test_weights_determine_the_percentage():
    assert [row["percent"] for row in _rows({"one": 3, "two": 1})] == ["62.5", "12.5"]
    assert [row["percent"] for row in _rows({"two": 7})] == ["100.0", "50.0"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"three": 1}, "no assignment three. It has: one, two"),
        ({"one": -1}, "the weight of one is -1"),
        ({"one": float("nan")}, "the weight of one is nan"),
        ({"one": float("inf")}, "the weight of one is inf"),
        ({"one": "much"}, "the weight of one is 'much'"),
    ],
)
def test_invalid_weight_is_reported(weights, message):
    with pytest.raises(GradebookError, match=message):
        term_table(SCORES, weights)
