"""Test the decoder with attention against torch, and its scores and measures by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.alignment import (
    additive_scores,
    alignment_error_rate,
    attention_decoder_step,
    context_vector,
    local_weights,
    multiplicative_scores,
    softmax,
    words_lost,
)

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3)])


def test_scores_by_hand():
    s, H = np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 1.0]])
    W_s, W_h = np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([[-1.0, 1.0], [0.0, 1.0]])
    hidden = np.tanh([[1.0, 1.0], [0.0, 2.0]])
    expected = 2 * hidden[:, 0] - hidden[:, 1]
    np.testing.assert_allclose(additive_scores(s, H, W_s, W_h, np.array([2.0, -1.0])), expected)


def test_context_by_hand():
    H = np.array([[4.0, 0.0], [0.0, 8.0], [2.0, 2.0]])
    np.testing.assert_array_equal(context_vector(np.array([0.25, 0.5, 0.25]), H), [1.5, 4.5])
    np.testing.assert_array_equal(context_vector(np.zeros(3), H), [0, 0])
    np.testing.assert_array_equal(context_vector(np.zeros(0), H[:0]), [0, 0])


@given(SEEDS)
def test_the_step_is_differentiable_end_to_end(seed):
    """PyTorch gives the same numbers from the same formulas, and a gradient for every parameter."""
    rng = np.random.default_rng(seed)
    y, s, H = (rng.normal(size=shape) for shape in ((2,), (3,), (4, 4)))
    params = tuple(rng.normal(size=n) for n in ((3, 5), (4, 5), (5,), (6, 3), (3, 3), (3,)))
    W_s, W_h, v, W_xh, W_hh, b = tensors = [torch.tensor(p, requires_grad=True) for p in params]
    y_t, s_t, H_t = map(torch.from_numpy, (y, s, H))
    weights = torch.softmax(torch.tanh(s_t @ W_s + H_t @ W_h) @ v, dim=-1)
    s_next = torch.tanh(torch.cat((y_t, weights @ H_t)) @ W_xh + s_t @ W_hh + b)
    actual = attention_decoder_step(y, s, H, np.ones(4, bool), params)
    np.testing.assert_allclose(actual[0], s_next.detach().numpy(), atol=1e-12)
    single = (array.astype(np.float32) for array in (y, s, H))
    step = attention_decoder_step(*single, np.ones(4, bool), tuple(map(np.float32, params)))
    assert {part.dtype for part in step} == {np.dtype(np.float32)}
    s_next.sum().backward()
    assert all(tensor.grad.abs().sum() > 0 for tensor in tensors)


def test_error_rate_by_hand():
    weights = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3]])
    sure = np.eye(3, dtype=bool)
    possible = np.arange(9).reshape(3, 3) == 7  # row 2, column 1
    assert alignment_error_rate(weights, sure, possible) == pytest.approx(1 - 5 / 6)
    assert alignment_error_rate(weights, sure, sure | possible) == pytest.approx(1 - 5 / 6)
    assert alignment_error_rate(weights, sure, sure) == pytest.approx(1 - 4 / 6)
    assert type(alignment_error_rate(weights, sure, sure)) is float


def test_a_dot_product_of_two_widths_is_refused():
    with pytest.raises(ValueError, match="2 and 3"):
        multiplicative_scores(np.ones(2), np.ones((4, 3)))


@given(SEEDS, BATCHES, SIZES, st.integers(1, 4))
def test_a_window_is_a_part_of_the_source(seed, batch, n, reach):
    rng = np.random.default_rng(seed)
    s, scores = rng.normal(size=(*batch, 3)), rng.normal(size=(*batch, n))
    mask = np.arange(n) < rng.integers(0, n + 1, size=(*batch, 1))
    W_p, v_p = rng.normal(size=(3, 2)), rng.normal(size=2)
    weights = local_weights(s, scores, mask, W_p, v_p, reach)
    assert weights.shape == scores.shape
    assert ((weights >= 0) & (weights.sum(axis=-1, keepdims=True) <= 1 + 1e-12)).all()
    assert (weights[~mask] == 0).all()
    assert (np.count_nonzero(weights, axis=-1) <= 2 * reach + 1).all()
    assert ((weights > 0).any(axis=-1) == mask.any(axis=-1)).all()  # every window has a token


def test_a_wide_window_is_hardly_a_window():
    rng = np.random.default_rng(0)
    s, scores, mask = rng.normal(size=3), rng.normal(size=7), np.ones(7, dtype=bool)
    wide = local_weights(s, scores, mask, rng.normal(size=(3, 2)), rng.normal(size=2), 10**6)
    np.testing.assert_allclose(wide, softmax(scores), atol=1e-9)


def test_a_word_is_lost_with_the_state_that_it_is_made_of():
    states, scores = np.eye(3), 4 * np.eye(3)
    ids = np.arange(3)
    assert words_lost(scores, states, np.eye(3), ids, ids) == 1
    scores[:, 2] -= 1  # so that no two logits are equal
    assert words_lost(scores, states, np.eye(3), ids, np.array([1, 2, 0])) == 0
    wrong = np.array([1, 1, 2])  # word 0 is wrong before, and cannot be lost
    assert words_lost(scores, states, np.eye(3), wrong, np.array([2, 1, 0])) == 0.5
