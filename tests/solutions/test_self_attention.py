"""Test the properties of self-attention and its softmax, and the experiment."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from solutions.alignment import softmax
from solutions.data.sentence import embed
from solutions.experiments.self_attention import far_token, models, sequences
from solutions.self_attention import (
    dot_product_scores,
    permute_equivariantly,
    self_attention,
    window_mask,
    windowed_self_attention,
)

SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 5))
TOKENS = SHAPES.flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-40, 40, width=32))
)
RADII = st.integers(0, 8)


@given(arrays(np.float64, (3, 4), elements=st.floats(-1e5, 1e5)), st.sampled_from([0, 1, -1, -2]))
def test_softmax_sums_to_one_along_its_axis(x, axis):
    weights = softmax(x, axis=axis)
    assert np.allclose(weights.sum(axis=axis), 1)
    assert (weights >= 0).all()


@given(arrays(np.float64, 5, elements=st.floats(-50, 50)), st.floats(-1000, 1000))
def test_softmax_depends_only_on_differences(x, shift):
    assert np.allclose(softmax(x + shift), softmax(x))


@given(TOKENS)
def test_scores_are_symmetric_with_squared_lengths_on_the_diagonal(X):
    scores = dot_product_scores(X)
    assert np.allclose(scores, np.swapaxes(scores, -1, -2))
    assert np.allclose(np.diagonal(scores, axis1=-2, axis2=-1), np.sum(X**2, axis=-1))


@given(TOKENS)
def test_outputs_lie_between_the_smallest_and_the_largest_input(X):
    Y, weights = self_attention(X)
    slack = 1e-9 * (1 + np.abs(X).max())
    assert np.allclose(weights.sum(axis=-1), 1)
    assert (X.min(axis=-2, keepdims=True) - slack <= Y).all()
    assert (X.max(axis=-2, keepdims=True) + slack >= Y).all()


@given(TOKENS)
def test_a_batch_is_its_sequences_one_by_one(X):
    for full, *parts in zip(self_attention(X), *map(self_attention, X), strict=True):
        assert np.allclose(full, np.stack(parts))


@given(TOKENS, RADII)
def test_a_window_is_attention_over_the_slice_that_it_shows(X, radius):
    Y, weights = windowed_self_attention(X, radius)
    n = X.shape[-2]
    for i in range(n):
        first, end = max(0, i - radius), min(n, i + radius + 1)
        slice_Y, slice_weights = self_attention(X[:, first:end])
        assert np.allclose(Y[:, i], slice_Y[:, i - first])
        assert np.allclose(weights[:, i, first:end], slice_weights[:, i - first])
        assert (np.delete(weights[:, i], np.s_[first:end], axis=-1) == 0).all()


def test_a_window_of_radius_0_changes_nothing():
    X = embed()
    Y, weights = windowed_self_attention(X, 0)
    assert np.array_equal(Y, X)
    assert np.array_equal(weights, np.eye(6))


@given(arrays(np.float64, (2, 5, 3), elements=st.floats(-3, 3)), st.permutations(range(5)))
def test_self_attention_commutes_with_every_permutation(X, permutation):
    assert permute_equivariantly(lambda X: self_attention(X)[0], X, np.array(permutation))


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_permutation_test_finds_position_at_any_size(size, dtype):
    X = (np.random.default_rng(0).normal(size=(30, 4)) * size).astype(dtype)
    turn = np.roll(np.arange(30), 1)

    def positions_added(X):
        return X + np.arange(30, dtype=X.dtype)[:, None] * dtype(0.1 * size)

    def mean_added(X):
        return X + np.cumsum(X, axis=-2)[-1:] / dtype(30)

    assert not permute_equivariantly(positions_added, X, turn)
    assert permute_equivariantly(mean_added, X, turn)
    assert not np.array_equal(mean_added(X[turn]), mean_added(X)[turn])  # rounding does differ


def test_the_answer_of_the_permutation_test_is_a_plain_bool():
    answer = permute_equivariantly(lambda X: X, embed(), np.arange(6))
    assert answer is True


def test_path_lengths_follow_the_formulas():
    lengths = far_token.path_lengths(window_mask(10, 3))
    apart = np.abs(np.subtract.outer(np.arange(10), np.arange(10)))
    assert np.array_equal(lengths, np.ceil(apart / 3))
    assert (far_token.path_lengths(np.tri(4, dtype=bool))[0, 1:] == -1).all()


def test_the_payload_is_only_at_the_requested_position():
    distance = torch.tensor(sequences.DISTANCES)
    tokens, answer = sequences.one_payload(distance, torch.Generator().manual_seed(0))
    rows = torch.arange(len(distance))
    assert torch.equal(tokens[rows, sequences.N_TOKENS - 1 - distance], answer)
    assert ((tokens < sequences.N_PAYLOADS).sum(dim=1) == 1).all()
    assert (tokens[:, -1] == sequences.PROBE).all()


def test_the_second_task_answers_the_later_payload_also_for_twins():
    generator = torch.Generator().manual_seed(0)
    tokens, later = sequences.with_twins(*sequences.two_payloads(200, generator))
    for row, answer in zip(tokens.tolist(), later.tolist(), strict=True):
        first, second = (token for token in row if token < sequences.N_PAYLOADS)
        assert second == answer != first
        places = [place for place, token in enumerate(row) if token < sequences.N_PAYLOADS]
        assert min(places) >= sequences.N_TOKENS - 1 - sequences.NEAR
    assert torch.equal(tokens[:200].sort(dim=1).values, tokens[200:].sort(dim=1).values)


def test_no_attention_body_can_tell_twins_apart():
    torch.manual_seed(0)
    model = models.Reader("self-attention")
    tokens, _ = sequences.with_twins(*sequences.two_payloads(50, torch.Generator().manual_seed(0)))
    logits = model(tokens)
    assert torch.allclose(logits[:50], logits[50:], atol=1e-6)


def test_the_attention_body_is_the_last_row_of_the_reference():
    X = torch.randn(2, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected, _ = self_attention(X.numpy())
    assert np.allclose(models.AttentionBody()(X).numpy(), expected[:, -1])


def test_the_gradient_is_zero_exactly_outside_the_receptive_field():
    torch.manual_seed(0)
    model = models.Reader("convolution")
    generator = torch.Generator().manual_seed(0)
    assert far_token.gradient_norm(model, models.REACH, generator) > 0
    assert far_token.gradient_norm(model, models.REACH + 1, generator) == 0


def test_the_last_position_does_not_depend_on_truncated_tokens():
    torch.manual_seed(0)
    body = models.ConvolutionalBody()
    X = torch.randn(3, sequences.N_TOKENS, models.D_MODEL)
    everything = body.layers(X.transpose(1, 2))[..., -1]
    torch.testing.assert_close(body(X), everything)


def test_the_rate_that_is_chosen_has_the_highest_mean_over_the_checkpoints():
    accuracies = {1e-3: [0.1, 0.9], 3e-3: [0.6, 0.8], 1e-2: [0.2, 1.0]}
    validated = [accuracies[rate] for _, rate in far_token.TRIALS]
    assert set(far_token.best_rates(validated).values()) == {3e-3}


def test_no_reported_seed_chooses_a_rate():
    assert far_token.VALIDATION_SEED not in {seed for _, seed in far_token.RUNS}


def test_long_vectors_leave_the_payload_hardly_a_weight():
    for seed in range(3):
        assert far_token.payload_weight(models.LONG_VECTORS, seed) < 1e-9
        assert 0.02 < far_token.payload_weight("self-attention", seed) < 0.05


def test_the_two_readers_with_self_attention_differ_only_in_the_embedding():
    lengths = {}
    for body in ("self-attention", models.LONG_VECTORS):
        torch.manual_seed(0)
        model = models.Reader(body)
        lengths[body] = model.embedding.weight.norm(dim=-1).mean().item()
        assert isinstance(model.body, models.AttentionBody)
    assert 0.9 < lengths["self-attention"] < 1.1
    assert 5.2 < lengths[models.LONG_VECTORS] < 6
