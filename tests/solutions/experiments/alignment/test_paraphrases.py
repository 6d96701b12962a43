"""Test the pairs of paraphrases, their links, and their vectors from a published encoder."""

import torch

from solutions.experiments.alignment.paraphrases import (
    error_rate,
    paraphrases,
    word_vectors,
)
from solutions.published.minilm import MiniLM


def test_a_row_claims_its_largest_number_even_below_0():
    pairs = paraphrases()
    gold = [pair.sure - 2.0 for pair in pairs]
    assert error_rate(gold, pairs) == error_rate([pair.sure * 1.0 for pair in pairs], pairs) < 0.1


def test_words_have_the_vectors_of_their_sentence_and_first_those_of_the_table():
    minilm, words = MiniLM(), ["the", "dog", "chased", "the", "cat"]
    table, *layers = word_vectors(minilm, words)
    assert torch.equal(table[0], table[3])
    for result, expected in zip(layers, minilm.layers([" ".join(words)]), strict=True):
        torch.testing.assert_close(result, expected[0, 1:-1].double(), atol=1e-5, rtol=1e-5)
        assert not torch.allclose(result[0], result[3], atol=1e-2)


def test_a_word_in_pieces_is_their_mean():
    minilm = MiniLM()
    assert len(minilm.tokens("unladen")) > 3
    table, *_ = word_vectors(minilm, ["an", "unladen", "swallow"])
    pieces = minilm.batch(["unladen"]).ids[0, 1:-1]
    torch.testing.assert_close(table[1], minilm.encoder.embedding(pieces).double().mean(dim=0))
