"""Test the exchange of one word in a sentence, and how far known vectors move."""

import numpy as np
import torch

from solutions.data.translation.nouns import NOUN
from solutions.experiments.context_bottleneck import one_word


def test_sentences_of_a_pair_differ_in_one_noun_of_a_kind():
    for length in one_word.LENGTHS:
        pairs = one_word.sentences(length)
        assert len(pairs) == one_word.SENTENCES
        for first, second in pairs:
            assert abs(len(first) - length) <= 0.1 * length
            ((old, new),) = [two for two in zip(first, second, strict=True) if len(set(two)) == 2]
            assert NOUN[old].kind == NOUN[new].kind
            assert new not in first


def test_a_vector_that_counts_words_moves_less_the_longer_the_sentence():
    words = sorted({w for n in (5, 40) for pair in one_word.sentences(n) for s in pair for w in s})

    def counts(texts):
        return torch.tensor([[text.count(word) for word in words] for text in texts]).float()

    assert one_word.moves(counts, 5) > 1.5 * one_word.moves(counts, 40)


def test_a_vector_of_the_length_alone_does_not_move():
    result = one_word.moves(lambda texts: torch.tensor([[float(len(t))] for t in texts]), 20)
    assert np.isclose(result, 0)
