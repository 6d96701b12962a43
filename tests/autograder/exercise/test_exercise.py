"""An exercise has the parts that its kind needs, and no others."""

import dataclasses

import pytest
import toy

from autograder.exercise.model import Kind


def test_every_kind_says_what_it_asks_in_sentences_of_its_own():
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
def test_parts_that_do_not_fit_the_kind_are_refused(exercise, changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(exercise, **changes)
