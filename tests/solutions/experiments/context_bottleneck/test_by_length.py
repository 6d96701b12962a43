"""Test where a translation breaks, how frequent a length is, and the results of a run."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solutions.data.translation import sample_pairs
from solutions.experiments.context_bottleneck import by_length, inside, testing
from solutions.experiments.context_bottleneck.by_length import (
    EXAMPLE_LENGTHS,
    FIFTHS,
    Example,
    measure,
    shares,
)
from solutions.translators.machines import CLAUSES, LENGTHS

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


def test_every_range_has_about_a_fifth_of_the_pairs():
    pairs = sample_pairs("french", 4000, np.random.default_rng(1), CLAUSES)
    assert shares(pairs) == pytest.approx([0.2] * len(FIFTHS), abs=0.05)


def test_a_short_run_fills_every_field(monkeypatch):
    """Return two steps of the real machine on the real pairs."""
    monkeypatch.setattr(by_length, "BOTTLENECK_STEPS", 2)
    monkeypatch.setattr(by_length, "SENTENCES", 4)
    monkeypatch.setattr(testing, "SENTENCES", 4)
    monkeypatch.setattr(inside, "READ_SENTENCES", 4)
    monkeypatch.setattr(inside, "SENTENCES", 1)
    monkeypatch.setattr(inside, "LENGTH", 6)
    run = measure(0)
    assert len(run.by_length) == len(LENGTHS)
    assert len(run.by_fifth) == len(run.shares) == len(FIFTHS)
    assert all(
        0 <= result.token_accuracy <= 1
        for result in (*run.by_length, *run.by_fifth, run.short, run.long, run.beyond)
    )
    assert len(run.examples) == len(EXAMPLE_LENGTHS)
    for example, (low, high) in zip(run.examples, EXAMPLE_LENGTHS, strict=True):
        assert low <= len(example.source) <= high
    assert run.parameters == sum(
        weights.size for name, weights in run.state.items() if "to_logits.weight" not in name
    )
    assert run.seconds > 0
    assert run.task.pairs == ()
    assert all(
        example.breaks_at is not None for example in run.examples
    )  # the machine is untrained
    assert len(run.forced) == len(run.blind) == len(LENGTHS)
    assert all(0 <= share <= 1 for share in (*run.forced, *run.blind))
