"""Test the accuracy by edits: by hand, and the laws of a distance."""

from hypothesis import given
from hypothesis import strategies as st

from solutions.edit_distance import edit_accuracy

TOKENS = st.lists(st.integers(0, 3), max_size=8)


def test_one_missing_token_is_one_edit():
    assert edit_accuracy([1, 3, 4, 5], [1, 2, 3, 4, 5]) == 0.8
    assert edit_accuracy([], []) == 1
    assert edit_accuracy([1, 2], [3]) == 0


def edits(one, other):
    longer = max(len(one), len(other))
    return round((1 - edit_accuracy(one, other)) * longer)


@given(TOKENS, TOKENS, TOKENS)
def test_the_number_of_edits_is_a_distance(one, other, third):
    assert (edits(one, other) == 0) == (one == other)
    assert edits(one, other) == edits(other, one) <= edits(one, third) + edits(third, other)
