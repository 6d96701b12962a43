"""Test chapter 12's functions on language models against other chapters, and by hand."""

import math

import numpy as np
import pytest

from solutions.positions import BASE, rotary, rotary_by_halves, weights_for_halves
from solutions.variants.reading_models import (
    copying_score,
    cross_entropy_to_bits_per_byte,
    decode_tokens_per_second,
    head_ablation,
    loss_without_token,
    ngram_interpolation,
    rope_layouts,
)


@pytest.mark.parametrize("turn", [rotary, rotary_by_halves])
def test_the_layout_of_a_head_is_found_and_its_weights_fit_the_other(turn):
    rng = np.random.default_rng(0)
    W_q, W_k, X = rng.normal(size=(6, 5)), rng.normal(size=(6, 5)), rng.normal(size=(7, 5))

    def scores(W_q, W_k, turn):
        places = np.arange(7)
        return turn(X @ W_q.T, places) @ turn(X @ W_k.T, places).T / math.sqrt(6)

    given_scores = scores(W_q, W_k, turn)
    layout, *others = rope_layouts(W_q, W_k, X, given_scores, BASE)
    assert layout == {rotary: "neighbours", rotary_by_halves: "halves"}[turn]
    opposite = {rotary: rotary_by_halves, rotary_by_halves: rotary}[turn]
    assert np.allclose(scores(*others, opposite), given_scores)
    if turn is rotary:  # chapter 7's function takes transposed weights
        assert np.array_equal(others[0], weights_for_halves(W_q.T, 1).T)


def test_counts_by_hand():
    result = ngram_interpolation(np.array([0, 1, 0, 1, 0]), np.array([0, 1]), 2, 3)
    p_1 = (2 + 2 / 3) / 7
    assert np.allclose(np.exp(result), [(3 + 2 / 3) / 7, (2 + p_1) / 3])


def test_bits_a_byte_by_hand():
    assert math.isclose(cross_entropy_to_bits_per_byte(math.log(4), 5, 10), 1)


def test_a_perfect_copier_is_found_and_uniform_attention_scores_0():
    length, n = 4, 9
    weights = np.tile(np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None], (2, 3, 1, 1))
    weights[1, 2, 5:] = 0
    weights[1, 2, np.arange(5, 9), np.arange(2, 6)] = 1
    scores, layer, head = copying_score(weights, length)
    assert (layer, head) == (1, 2)
    assert math.isclose(scores[1, 2], 1 - np.mean([1 / 6, 1 / 7, 1 / 8, 1 / 9]))
    assert np.allclose(np.delete(scores.ravel(), 5), 0)


def reads_out(tokens, W_o):
    """Return as logits what one block wrote, where a feature is the token's number."""
    H = np.tile(tokens[:, None] + 1.0, (1, 2))
    return H @ W_o[0].T


def test_a_silenced_head_writes_nothing():
    tokens = np.array([0, 1, 0])
    W_o = np.array([[[1.0, 2.0], [3.0, 4.0]]])
    full = [(1 + 2, 3 + 4), (2 + 4, 6 + 8)]
    without = [(1, 3), (2, 6)]

    def loss(logits):
        shares = [
            math.exp(row[t]) / sum(map(math.exp, row))
            for row, t in zip(logits, (1, 0), strict=False)
        ]
        return -sum(map(math.log, shares)) / 2

    result = head_ablation(reads_out, W_o, tokens, 2, 0, 1)
    assert math.isclose(result, loss(without) - loss(full))


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


def test_the_bound_reads_weights_once_and_every_cache():
    assert math.isclose(decode_tokens_per_second(100, 5, 10, 1000.0), 1000 / 150)
    assert math.isclose(decode_tokens_per_second(100, 5, 10, 1000.0, 4), 4000 / 300)
