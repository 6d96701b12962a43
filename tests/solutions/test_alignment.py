"""Test properties of the decoder with attention, and of the alignment error rate."""

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
    looks_with_coverage,
    masked_softmax,
    multiplicative_scores,
    scores_backward,
    softmax,
    words_lost,
)
from solutions.context_bottleneck import rnn_cell

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3)])


def step_inputs(rng, batch, n, d_y, d_s, d_h, d_a, dtype=np.float64):
    y, s, H = (rng.normal(size=(*batch, *shape)) for shape in ((d_y,), (d_s,), (n, d_h)))
    shapes = (d_s, d_a), (d_h, d_a), (d_a,), (d_y + d_h, d_s), (d_s, d_s), (d_s,)
    params = tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)
    mask = rng.random((*batch, n)) < 0.6
    return y.astype(dtype), s.astype(dtype), H.astype(dtype), mask, params


def test_scores_by_hand():
    s, H = np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 1.0]])
    W_s, W_h = np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([[-1.0, 1.0], [0.0, 1.0]])
    hidden = np.tanh([[1.0, 1.0], [0.0, 2.0]])
    expected = 2 * hidden[:, 0] - hidden[:, 1]
    np.testing.assert_allclose(additive_scores(s, H, W_s, W_h, np.array([2.0, -1.0])), expected)


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES)
def test_scores_are_one_network_on_both_states_side_by_side(seed, batch, n, d_s, d_h, d_a):
    rng = np.random.default_rng(seed)
    _, s, H, _, (W_s, W_h, v, *_) = step_inputs(rng, batch, n, 1, d_s, d_h, d_a)
    scores = additive_scores(s, H, W_s, W_h, v)
    assert scores.shape == (*batch, n)
    assert (np.abs(scores) <= np.abs(v).sum() + 1e-12).all()  # a tanh is at most 1
    for index in np.ndindex(scores.shape):
        both = np.concatenate((s[index[:-1]], H[index]))
        hidden = np.tanh(both @ np.concatenate((W_s, W_h)))
        np.testing.assert_allclose(scores[index], hidden @ v, atol=1e-12)


@given(SEEDS, SIZES, SIZES)
def test_a_place_scores_as_if_it_were_alone(seed, n, d):
    rng = np.random.default_rng(seed)
    _, s, H, _, (W_s, W_h, v, *_) = step_inputs(rng, (), n, 1, d, d, d)
    alone = [additive_scores(s, H[j : j + 1], W_s, W_h, v)[0] for j in range(n)]
    np.testing.assert_allclose(additive_scores(s, H, W_s, W_h, v), alone, atol=1e-12)


def test_context_by_hand():
    H = np.array([[4.0, 0.0], [0.0, 8.0], [2.0, 2.0]])
    np.testing.assert_array_equal(context_vector(np.array([0.25, 0.5, 0.25]), H), [1.5, 4.5])
    np.testing.assert_array_equal(context_vector(np.zeros(3), H), [0, 0])
    np.testing.assert_array_equal(context_vector(np.zeros(0), H[:0]), [0, 0])


@given(SEEDS, BATCHES, SIZES, SIZES)
def test_a_context_lies_between_the_states(seed, batch, n, d):
    rng = np.random.default_rng(seed)
    weights, H = rng.dirichlet(np.ones(n), size=batch), rng.normal(size=(*batch, n, d))
    context = context_vector(weights, H)
    assert context.shape == (*batch, d)
    assert (context <= H.max(axis=-2) + 1e-12).all()
    assert (context >= H.min(axis=-2) - 1e-12).all()
    one_place = np.broadcast_to(np.eye(n)[n - 1], (*batch, n))
    np.testing.assert_array_equal(context_vector(one_place, H), H[..., -1, :])


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES, SIZES)
def test_a_step_is_scores_weights_context_and_chapter_1s_cell(seed, batch, n, d_y, d_s, d_h, d_a):
    rng = np.random.default_rng(seed)
    y, s, H, mask, params = step_inputs(rng, batch, n, d_y, d_s, d_h, d_a)
    s_next, context, weights = attention_decoder_step(y, s, H, mask, params)
    expected = masked_softmax(additive_scores(s, H, *params[:3]), mask)
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=-1), mask.any(axis=-1), atol=1e-12)
    np.testing.assert_allclose(context, np.einsum("...t,...td->...d", weights, H), atol=1e-12)
    x = np.concatenate((y, context), axis=-1)
    np.testing.assert_allclose(s_next, rnn_cell(x, s, *params[3:]), atol=1e-12)


@given(SEEDS, BATCHES, SIZES)
def test_padding_changes_nothing(seed, batch, extra):
    rng = np.random.default_rng(seed)
    y, s, H, _, params = step_inputs(rng, batch, 3, 2, 3, 4, 5)
    padded = np.concatenate((H, 100 * rng.normal(size=(*batch, extra, 4))), axis=-2)
    mask = np.broadcast_to(np.arange(3 + extra) < 3, (*batch, 3 + extra))
    alone = attention_decoder_step(y, s, H, np.ones((*batch, 3), bool), params)
    beside = attention_decoder_step(y, s, padded, mask, params)
    np.testing.assert_allclose(beside[0], alone[0], atol=1e-12)
    np.testing.assert_allclose(beside[1], alone[1], atol=1e-12)
    np.testing.assert_allclose(beside[2][..., :3], alone[2], atol=1e-12)
    assert (beside[2][..., 3:] == 0).all()


@given(SEEDS, SIZES)
def test_the_source_is_a_set(seed, n):
    rng = np.random.default_rng(seed)
    y, s, H, mask, params = step_inputs(rng, (), n, 2, 3, 4, 5)
    order = rng.permutation(n)
    s_next, context, weights = attention_decoder_step(y, s, H, mask, params)
    again = attention_decoder_step(y, s, H[order], mask[order], params)
    np.testing.assert_allclose(again[0], s_next, atol=1e-12)
    np.testing.assert_allclose(again[1], context, atol=1e-12)
    np.testing.assert_allclose(again[2], weights[order], atol=1e-12)


def test_a_source_that_is_all_padding_gives_no_context_and_a_new_state():
    rng = np.random.default_rng(0)
    y, s, H, _, params = step_inputs(rng, (2,), 3, 2, 3, 4, 5, np.float32)
    mask = np.array([[False] * 3, [True] * 3])
    s_next, context, weights = attention_decoder_step(y, s, H, mask, params)
    assert s_next.dtype == context.dtype == weights.dtype == np.float32
    assert (weights[0] == 0).all()
    assert (context[0] == 0).all()
    assert np.isfinite(s_next).all()
    assert not np.allclose(s_next[0], s[0])


@given(SEEDS)
def test_the_step_is_differentiable_end_to_end(seed):
    """PyTorch gives the same numbers from the same formulas, and a gradient for every parameter."""
    rng = np.random.default_rng(seed)
    y, s, H, _, params = step_inputs(rng, (), 4, 2, 3, 4, 5)
    W_s, W_h, v, W_xh, W_hh, b = tensors = [torch.tensor(p, requires_grad=True) for p in params]
    y_t, s_t, H_t = map(torch.from_numpy, (y, s, H))
    weights = torch.softmax(torch.tanh(s_t @ W_s + H_t @ W_h) @ v, dim=-1)
    s_next = torch.tanh(torch.cat((y_t, weights @ H_t)) @ W_xh + s_t @ W_hh + b)
    actual = attention_decoder_step(y, s, H, np.ones(4, bool), params)
    np.testing.assert_allclose(actual[0], s_next.detach().numpy(), atol=1e-12)
    s_next.sum().backward()
    assert all(tensor.grad.abs().sum() > 0 for tensor in tensors)


def links(shape, *places):
    table = np.zeros(shape, dtype=bool)
    for place in places:
        table[place] = True
    return table


def test_error_rate_by_hand():
    weights = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.3, 0.4, 0.3]])
    sure = links((3, 3), (0, 0), (1, 1), (2, 2))
    possible = links((3, 3), (2, 1))
    assert alignment_error_rate(weights, sure, possible) == pytest.approx(1 - 5 / 6)
    assert alignment_error_rate(weights, sure, sure | possible) == pytest.approx(1 - 5 / 6)
    assert alignment_error_rate(weights, sure, sure) == pytest.approx(1 - 4 / 6)


def test_corner_cases_of_the_error_rate():
    none, some = np.zeros((2, 3), bool), links((2, 3), (0, 1))
    zeros, right = np.zeros((2, 3)), np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert alignment_error_rate(zeros, none, none) == 0.0
    assert alignment_error_rate(zeros[:0], none[:0], none[:0]) == 0.0
    assert alignment_error_rate(zeros, some, some) == 1.0  # no link claimed, some links missed
    assert alignment_error_rate(right, none, none) == 1.0  # an unsupported claim
    assert alignment_error_rate(right, none, some) == 0.0  # possible, and no link to miss
    assert alignment_error_rate(right, some, none) == 0.0  # sure is possible too
    tied = np.array([[0.5, 0.5, 0.0]])
    assert alignment_error_rate(tied, links((1, 3), (0, 0)), none[:1]) == 0.0  # the first counts
    assert alignment_error_rate(tied, links((1, 3), (0, 1)), none[:1]) == 1.0


@given(SEEDS, SIZES, SIZES)
def test_error_rate_lies_between_0_and_1_and_falls_with_more_possible_links(seed, m, n):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n), size=m)
    sure, possible = rng.random((m, n)) < 0.2, rng.random((m, n)) < 0.3
    rate = alignment_error_rate(weights, sure, possible)
    assert type(rate) is float
    assert 0 <= rate <= 1
    assert alignment_error_rate(weights, sure, np.ones((m, n), bool)) <= rate
    assert alignment_error_rate(weights, sure, np.zeros((m, n), bool)) >= rate
    best = np.eye(n, dtype=bool)[weights.argmax(axis=-1)]
    assert alignment_error_rate(weights, best, possible) == 0


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES)
def test_a_product_is_linear_in_the_decoders_state(seed, batch, n, d_s, d_h):
    rng = np.random.default_rng(seed)
    s, H, W = (rng.normal(size=size) for size in ((*batch, d_s), (*batch, n, d_h), (d_s, d_h)))
    scores = multiplicative_scores(s, H, W)
    assert scores.shape == (*batch, n)
    np.testing.assert_allclose(multiplicative_scores(3 * s, H, W), 3 * scores, atol=1e-12)
    np.testing.assert_allclose(multiplicative_scores(s @ W, H), scores, atol=1e-12)


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


@given(SEEDS, BATCHES, SIZES, SIZES)
def test_the_gradients_of_the_scores_sum_to_zero(seed, batch, n, d_h):
    rng = np.random.default_rng(seed)
    scores, H = rng.normal(size=(*batch, n)), rng.normal(size=(*batch, n, d_h))
    mask, d_context = rng.random((*batch, n)) < 0.7, rng.normal(size=(*batch, d_h))
    result = scores_backward(scores, mask, H, d_context)
    assert (result[~mask] == 0).all()
    np.testing.assert_allclose(result.sum(axis=-1), 0, atol=1e-12)
    step = 1e-6  # uphill in the scores, the loss rises as the gradient says
    moved = context_vector(masked_softmax(scores + step * result, mask), H)
    rise = ((moved - context_vector(masked_softmax(scores, mask), H)) * d_context).sum(axis=-1)
    np.testing.assert_allclose(rise / step, (result**2).sum(axis=-1), atol=1e-4)


@given(SEEDS, BATCHES, SIZES, SIZES)
def test_coverage_sums_the_past_weights(seed, batch, m, n):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(*batch, m, n))
    weights, coverage = looks_with_coverage(scores, 1.5)
    np.testing.assert_allclose(weights.sum(axis=-1), 1)
    np.testing.assert_allclose(coverage.sum(axis=-1), np.broadcast_to(np.arange(m), (*batch, m)))
    np.testing.assert_array_equal(weights[..., 0, :], softmax(scores[..., 0, :]))


def test_a_penalty_shifts_weight_to_other_positions():
    weights, _ = looks_with_coverage(np.array([[3.0, 0.0], [3.0, 0.0]]), 5.0)
    assert weights.argmax(axis=1).tolist() == [0, 1]


def test_a_word_is_lost_with_the_state_that_it_is_made_of():
    states, scores = np.eye(3), 4 * np.eye(3)
    ids = np.arange(3)
    assert words_lost(scores, states, np.eye(3), ids, ids) == 1
    scores[:, 2] -= 1  # so that no two logits are equal
    assert words_lost(scores, states, np.eye(3), ids, np.array([1, 2, 0])) == 0
    wrong = np.array([1, 1, 2])  # word 0 is wrong before, and cannot be lost
    assert words_lost(scores, states, np.eye(3), wrong, np.array([2, 1, 0])) == 0.5
