"""Test one label per source token: labels from the gold alignment, and from one direction."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.data.translation import Pair, sample_pairs
from solutions.experiments.context_bottleneck.word_by_word import D_HIDDEN, Labeller, gloss, written

WEATHER = Pair(
    source=("how", "do", "you", "like", "the", "weather", "today", "?"),
    target=("wie", "finden", "Sie", "das", "Wetter", "heute", "?"),
    sure=frozenset({(0, 0), (1, 3), (2, 2), (3, 4), (4, 5), (5, 6), (6, 7)}),
    possible=frozenset({(0, 0), (1, 1), (1, 3), (2, 2), (3, 4), (4, 5), (5, 6), (6, 7)}),
    unaligned=frozenset(),
)


def test_gloss_of_the_question_about_the_weather():
    labels = gloss(WEATHER).target
    assert labels == ("wie", "-", "Sie", "finden", "das", "Wetter", "heute", "?")
    assert written(labels) == "wie Sie finden das Wetter heute ?"


@given(st.integers(0, 2**32 - 1), st.sampled_from(["german", "french"]))
def test_a_gloss_holds_each_surely_aligned_word_once(seed, language):
    for pair in sample_pairs(language, 3, np.random.default_rng(seed)):
        labels = gloss(pair).target
        assert len(labels) == len(pair.source)
        aligned = {target for target, _ in pair.sure}
        words = Counter(written(labels).split())
        assert words == Counter(pair.target[target] for target in aligned)
        for target, source in pair.sure:
            if [t for t, _ in pair.sure].count(target) == 1:
                assert pair.target[target] in labels[source].split()


@pytest.mark.parametrize("both", [False, True])
def test_one_direction_does_not_depend_on_later_tokens(both):
    torch.manual_seed(0)
    model = Labeller(20, 11, both)
    sources = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, 0, 0]])
    lengths = torch.tensor([5, 3])
    logits = model(sources, lengths)
    assert logits.shape == (2, 5, 11)
    assert model.read_out.in_features == D_HIDDEN  # as wide in both cases
    changed = sources.clone()
    changed[0, 4], changed[1, 2] = 12, 13
    after = model(changed, lengths)
    same = torch.isclose(after, logits, rtol=0, atol=1e-6).all(dim=-1)
    assert same[0, :4].all().item() is not both
    assert same[1, :2].all().item() is not both
    alone = model(sources[1:, :3], lengths[1:])
    torch.testing.assert_close(alone[0], logits[1, :3])  # padding changes nothing
