"""Test where a translation breaks, and how frequent a length is."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from solutions.experiments.context_bottleneck.by_length import (
    Example,
    shares,
)

WORDS = st.lists(st.sampled_from("abc"), max_size=5).map(tuple)


@given(WORDS, WORDS)
def test_a_translation_breaks_at_its_first_fault(translation, reference):
    position = Example(("x",), reference, translation).breaks_at
    if position is None:
        assert translation == reference
    else:
        assert translation[:position] == reference[:position]
        assert translation[position : position + 1] != reference[position : position + 1]


def test_shares_are_those_of_the_lengths():
    pairs = [SimpleNamespace(source=["w"] * n) for n in (3, 9, 10, 45)]
    assert shares(pairs) == [0.5, 0.25, 0, 0, 0.25]
