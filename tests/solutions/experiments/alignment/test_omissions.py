"""Test that a missing passage is seen in the words."""

from solutions.experiments.alignment.omissions import omits

REFERENCE = list("abcdefghij")


def test_six_missing_tokens_in_one_place_are_an_omission():
    assert omits(list("abij"), REFERENCE)
    assert omits(list("abxij"), list("abcdefghkij"))
    assert not omits(list("abhij"), REFERENCE)
    assert not omits(list("adgj"), REFERENCE)  # six are missing, but not in one place
