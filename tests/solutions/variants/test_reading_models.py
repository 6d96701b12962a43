"""Test chapter 12's functions on language models against other chapters, and by hand."""

import math

import numpy as np

from solutions.variants.reading_models import (
    cross_entropy_to_bits_per_byte,
    loss_without_token,
    ngram_interpolation,
)


def test_counts_by_hand():
    result = ngram_interpolation(np.array([0, 1, 0, 1, 0]), np.array([0, 1]), 2, 3)
    p_1 = (2 + 2 / 3) / 7
    assert np.allclose(np.exp(result), [(3 + 2 / 3) / 7, (2 + p_1) / 3])


def test_bits_a_byte_by_hand():
    assert math.isclose(cross_entropy_to_bits_per_byte(math.log(4), 5, 10), 1)


def test_a_hidden_token_is_seen_by_itself_alone_and_the_rows_behind_it_count():
    masks = []

    def model(tokens, mask):
        masks.append(mask)
        logits = np.zeros((4, 2))
        logits[:, 1] = mask[:, 0] * np.array([9, 1, 2, 9])
        return logits

    result = loss_without_token(model, np.array([0, 1, 1, 1]), 0)
    expected = (math.log(1 + math.exp(-1)) + math.log(1 + math.exp(-2))) / 2
    assert math.isclose(result, math.log(2) - expected)
    hidden = min(masks, key=np.sum)
    assert hidden.astype(int).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1]]
