"""Test that an exercise has exactly the parts that its kind requires."""

import dataclasses

import pytest
import toy

from autograder.exercise.model import Kind


def test_every_kind_has_a_distinct_instruction():
    sentences = {kind.instruction for kind in Kind}
    assert len(sentences) == len(Kind)
    assert all(sentence.endswith(".") for sentence in sentences)


@pytest.mark.parametrize(
    ("exercise", "changes", "message"),
    [
        (toy.CENTRED, {"misconceptions": ()}, "centred: a debug exercise.*debug.*releases 0"),
        (toy.CENTRED, {"kind": Kind.TRANSFER}, "centred: a debug exercise.*transfer.*releases 1"),
        (toy.MEAN, {"kind": Kind.MEASURE}, "row_mean: a measure exercise needs a `tolerance`"),
        (toy.MEAN, {"tolerance": 0.1}, "row_mean: a measure exercise needs a `tolerance`"),
        (toy.MEAN, {"kind": Kind.TEST}, "row_mean: the name of a test must begin with test_"),
    ],
)
def test_parts_must_match_the_kind(exercise, changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(exercise, **changes)
