"""Test properties of attention with queries, keys and values, and of the experiments."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from solutions.alignment import softmax
from solutions.experiments.queries_keys_values.associative_recall import (
    LAYERS,
    NUMBERS,
    SMALL,
    USUAL,
    Recall,
    Run,
    best_of,
    partner,
    sample,
)
from solutions.experiments.queries_keys_values.scaling import (
    SCALES,
    WIDTHS,
    entropy,
    measure,
    measure_all,
    softmax_jacobian,
)
from solutions.queries_keys_values import (
    attention_with_bias,
    causal_mask,
    cross_attention,
    divisor_for_entropy,
    left_padded_attention,
    padding_mask,
    project_qkv,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    soft_lookup,
)

SIZES = st.integers(1, 7)
NONE_OR_SOME = st.integers(0, 7)
SEEDS = st.integers(0, 2**32 - 1)
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3)])
TOLERANCE = {np.float64: 1e-6, np.float32: 1e-5}


def qkv(rng, batch, n_q, n_k, d_k, d_v, dtype=np.float64):
    shapes = (*batch, n_q, d_k), (*batch, n_k, d_k), (*batch, n_k, d_v)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


@given(
    *(SEEDS, BATCHES, NONE_OR_SOME, NONE_OR_SOME, SIZES, SIZES),
    st.sampled_from([np.float64, np.float32]),
)
def test_equals_torch_over_shapes_and_masks(seed, batch, n_q, n_k, d_k, d_v, dtype):
    rng = np.random.default_rng(seed)
    Q, K, V = qkv(rng, batch, n_q, n_k, d_k, d_v, dtype)
    masks = (None, rng.random((n_q, n_k)) < 0.5, rng.random((*batch, 1, n_k)) < 0.5)
    for mask in masks:  # some rows of the masks hide every key
        output, weights = scaled_dot_product_attention(Q, K, V, mask)
        expected = torch.nn.functional.scaled_dot_product_attention(
            *(torch.from_numpy(array) for array in (Q, K, V)),
            attn_mask=None if mask is None else torch.from_numpy(mask),
        )
        assert output.dtype == weights.dtype == dtype
        np.testing.assert_allclose(output, expected.numpy(), rtol=0, atol=TOLERANCE[dtype])


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES)
def test_rows_sum_to_one_or_to_zero(seed, batch, n_q, n_k, d_k, d_v):
    rng = np.random.default_rng(seed)
    Q, K, V = qkv(rng, batch, n_q, n_k, d_k, d_v)
    mask = rng.random((n_q, n_k)) < 0.4
    output, weights = scaled_dot_product_attention(Q * 1000, K, V, mask)
    open_rows = np.broadcast_to(mask.any(axis=-1), weights.shape[:-1])
    np.testing.assert_allclose(weights.sum(axis=-1), open_rows, atol=1e-12)
    assert (weights[np.broadcast_to(~mask, weights.shape)] == 0).all()
    assert (output[~open_rows] == 0).all()
    assert np.isfinite(output).all()


@given(SEEDS, SIZES, SIZES)
def test_a_causal_output_does_not_depend_on_the_future(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    changed = X.copy()
    changed[-1] = rng.normal(size=d) * 100
    before, after = (scaled_dot_product_attention(Z, Z, Z, causal_mask(n))[0] for Z in (X, changed))
    np.testing.assert_array_equal(before[:-1], after[:-1])


@given(SEEDS, st.integers(1, 5), SIZES)
def test_padding_changes_nothing(seed, length, extra):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1, length, 3))
    padded = np.concatenate([X, rng.normal(size=(1, extra, 3))], axis=1)
    mask = padding_mask(np.array([length]), length + extra)
    alone, _ = scaled_dot_product_attention(X, X, X)
    beside_padding, _ = scaled_dot_product_attention(padded, padded, padded, mask)
    np.testing.assert_allclose(beside_padding[:, :length], alone, atol=1e-12)


@given(SEEDS, SIZES, SIZES, SIZES)
def test_order_of_keys_does_not_matter_and_order_of_queries_carries_over(seed, n_q, n_k, d):
    rng = np.random.default_rng(seed)
    Q, K, V = qkv(rng, (), n_q, n_k, d, 2)
    rows, columns = rng.permutation(n_q), rng.permutation(n_k)
    output, weights = scaled_dot_product_attention(Q, K, V)
    output_2, weights_2 = scaled_dot_product_attention(Q[rows], K[columns], V[columns])
    np.testing.assert_allclose(output_2, output[rows], atol=1e-12)
    np.testing.assert_allclose(weights_2, weights[rows][:, columns], atol=1e-12)


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES)
def test_a_bias_is_added_as_torch_adds_it_and_minus_infinity_is_a_mask(
    seed, batch, n_q, n_k, d_k, d_v
):
    rng = np.random.default_rng(seed)
    Q, K, V = qkv(rng, batch, n_q, n_k, d_k, d_v)
    mask = rng.random((n_q, n_k)) < 0.6
    bias = np.where(mask, rng.normal(size=(n_q, n_k)) * 3, -np.inf)
    expected = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(array) for array in (Q, K, V)), attn_mask=torch.from_numpy(bias)
    )
    actual = attention_with_bias(Q, K, V, bias)
    np.testing.assert_allclose(actual[0], expected.nan_to_num().numpy(), rtol=0, atol=1e-6)
    yes_or_no = attention_with_bias(Q, K, V, np.where(mask, 0, -np.inf))
    for output, other in zip(yes_or_no, scaled_dot_product_attention(Q, K, V, mask), strict=True):
        np.testing.assert_array_equal(output, other)


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES)
def test_cross_attention_is_projection_then_attention(seed, batch, n_q, n_k, d, d_k):
    rng = np.random.default_rng(seed)
    X, context = rng.normal(size=(*batch, n_q, d)), rng.normal(size=(*batch, n_k, d + 1))
    W_q, W_k, W_v = (rng.normal(size=shape) for shape in ((d, d_k), (d + 1, d_k), (d + 1, 3)))
    output, weights = cross_attention(X, context, W_q, W_k, W_v)
    assert output.shape == (*batch, n_q, 3)
    expected = softmax(np.einsum("...ia,...ja->...ij", X @ W_q, context @ W_k) / d_k**0.5)
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    np.testing.assert_allclose(output, expected @ (context @ W_v), atol=1e-9)
    W_k, W_v = rng.normal(size=(d, d_k)), rng.normal(size=(d, 3))
    among_themselves = scaled_dot_product_attention(*project_qkv(X, W_q, W_k, W_v))[0]
    np.testing.assert_array_equal(cross_attention(X, X, W_q, W_k, W_v)[0], among_themselves)


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES)
def test_a_soft_lookup_is_unscaled_attention_with_one_query(seed, batch, n, d, d_v):
    rng = np.random.default_rng(seed)
    Q, K, V = qkv(rng, batch, 1, n, d, d_v)
    expected, _ = scaled_dot_product_attention(Q, K, V)
    result = soft_lookup(Q[..., 0, :], K, V, temperature=d**0.5)
    np.testing.assert_allclose(result, expected[..., 0, :], atol=1e-12)


def test_soft_lookup_lies_between_the_hard_lookup_and_the_average():
    keys, values = np.eye(3), np.array([[1.0], [2.0], [6.0]])
    query = np.array([0.0, 3.0, 1.0])
    assert soft_lookup(query, keys, values, temperature=0.01) == pytest.approx(2.0, abs=1e-9)
    assert soft_lookup(query, keys, values, temperature=1e6) == pytest.approx(3.0, abs=1e-4)


def test_one_token_attends_to_itself():
    Q, K, V = qkv(np.random.default_rng(0), (), 1, 1, 4, 3)
    output, weights = scaled_dot_product_attention(Q, K, V, causal_mask(1))
    assert weights.tolist() == [[1.0]]
    np.testing.assert_array_equal(output, V)


def test_no_queries_give_an_empty_result():
    Q, K, V = qkv(np.random.default_rng(0), (2,), 0, 3, 4, 5)
    output, weights = scaled_dot_product_attention(Q, K, V)
    assert output.shape == (2, 0, 5)
    assert weights.shape == (2, 0, 3)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("n_q", "n_k"), [(0, 0), (0, 3), (3, 0), (1, 1), (1, 0)])
def test_cross_attention_of_zero_and_one_tokens(masked, n_q, n_k):
    """Without queries, without keys or with all keys hidden, the result is zeros of the shape."""
    rng = np.random.default_rng(0)
    X, context = rng.normal(size=(2, n_q, 4)), rng.normal(size=(2, n_k, 5))
    W_q, W_k, W_v = (rng.normal(size=shape) for shape in ((4, 3), (5, 3), (5, 6)))
    mask = np.zeros((n_q, n_k), dtype=bool) if masked else None
    output, weights = cross_attention(X, context, W_q, W_k, W_v, mask)
    assert output.shape == (2, n_q, 6)
    assert weights.shape == (2, n_q, n_k)
    if masked or n_k == 0:
        assert not output.any()
        assert not weights.any()
    else:
        np.testing.assert_allclose(output, context @ W_v if n_q else output)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3), (3,), (2, 4, 4), (5, 1, 4), (2, 2, 2, 4)])
def test_a_mask_that_does_not_broadcast_is_an_error(shape):
    """Scores are (2, 2, 4). NumPy's own message names both shapes, or the number of axes."""
    X, context = np.ones((2, 2, 3)), np.ones((2, 4, 3))
    mask = np.ones(shape, dtype=bool)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        scaled_dot_product_attention(X, context, context, mask)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        cross_attention(X, context, np.eye(3), np.eye(3), np.eye(3), mask)


@given(st.integers(0, 20))
def test_causal_mask(n):
    mask = causal_mask(n)
    assert mask.dtype == bool
    assert mask.tolist() == [[j <= i for j in range(n)] for i in range(n)]


@given(st.integers(0, 9).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n)))))
def test_padding_mask(case):
    n, lengths = case
    mask = padding_mask(np.array(lengths, dtype=int), n)
    assert mask.dtype == bool
    assert mask.shape == (len(lengths), 1, n)
    assert mask.sum(axis=-1).ravel().tolist() == lengths
    assert all(mask[row, 0, :length].all() for row, length in enumerate(lengths))


@given(SEEDS, st.integers(2, 6))
def test_softmax_jacobian_is_the_slope(seed, n):
    scores = np.random.default_rng(seed).normal(size=n)
    nudges = np.eye(n) * 1e-6
    slope = (softmax(scores + nudges) - softmax(scores - nudges)).T / 2e-6
    np.testing.assert_allclose(softmax_jacobian(softmax(scores)), slope, atol=1e-8)


def test_entropy_ranges_from_zero_to_the_logarithm_of_the_length():
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0]])
    np.testing.assert_allclose(entropy(rows), [np.log(4), 0.0])


def test_measurements_have_a_row_per_seed_and_a_column_per_width():
    measured = measure_all([3, 1])
    assert {scale for scale, _ in measured} == set(SCALES)
    assert {table.shape for table in measured.values()} == {(2, len(WIDTHS))}
    assert measured["1 / d", "entropy"][1, 2] == measure(WIDTHS[2], SCALES["1 / d"], 1)["entropy"]


@pytest.mark.parametrize("task", ["own", "partner"])
def test_recall_sequences_hold_the_answer_and_the_distractor(task):
    letters, numbers, asked, answer = sample(200, task, torch.Generator().manual_seed(7))
    target = asked if task == "own" else partner(asked)
    for row in range(200):
        stored = dict(zip(letters[row].tolist(), numbers[row].tolist(), strict=True))
        assert len(stored) == letters.shape[1]
        assert len(set(stored.values())) == letters.shape[1]
        assert {int(asked[row]), int(partner(asked[row]))} <= stored.keys()
        assert stored[int(target[row])] == answer[row]
    places = (letters == target[:, None]).int().argmax(dim=1)
    assert torch.bincount(places, minlength=letters.shape[1]).min() > 0  # no place is special


@pytest.mark.parametrize("layer", LAYERS)
def test_recall_models_differ_only_in_their_projections(layer):
    torch.manual_seed(0)
    model = Recall(layer)
    letters, numbers, asked, _ = sample(4, "own", torch.Generator().manual_seed(1))
    logits, weights = model(letters, numbers, asked)
    assert logits.shape == (4, NUMBERS)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(4))
    other = model(letters, numbers.flip(1), asked)[1]
    assert torch.equal(weights, other), "the weights depend on the numbers"
    sizes = {name: sum(p.numel() for p in Recall(name).parameters()) for name in LAYERS}
    assert sizes["one projection for Q and K"] == sizes["Q, K, V"]


@given(SEEDS, st.sampled_from(LAYERS[:2]))
def test_without_two_projections_one_of_each_pair_prefers_itself(seed, layer):
    """Check the chapter's two-line proof on random models: margins of a pair sum to <= 0."""
    torch.manual_seed(seed)
    assert (margins(Recall(layer)) <= 1e-5).all()


def test_with_two_projections_both_of_a_pair_may_prefer_the_other():
    torch.manual_seed(0)
    assert (margins(Recall("Q, K, V")) > 0).any()


@pytest.mark.parametrize("start", [SMALL, USUAL])
def test_the_initial_scale_affects_only_the_embeddings(start):
    torch.manual_seed(0)
    model = Recall("Q, K, V", start, d=512)
    for embedding in (model.letter, model.number):
        assert embedding.weight.std().item() == pytest.approx(start, rel=0.05)
    torch.manual_seed(0)
    assert torch.equal(model.W_q.weight, Recall("Q, K, V", 2 * start, d=512).W_q.weight)


def test_validation_chooses_the_rate_and_the_reported_accuracy_does_not():
    runs = [
        Run(rate, validation, {0: 0.0, 300: accuracy}, 0.0, {}, [], 0)
        for rate, validation, accuracy in ((0.003, 0.9, 0.2), (0.01, 0.5, 0.8), (0.03, 0.9, 0.7))
    ]
    assert best_of(runs).rate == 0.003


def margins(model):
    """Return each pair's summed margins of the partner's record over the letter's own."""
    table = model.letter_scores()
    letters = torch.arange(len(table))
    preference = table[letters, partner(letters)] - table.diagonal()
    return preference + preference[partner(letters)]


@given(SEEDS, st.lists(st.integers(0, 5), min_size=1, max_size=3))
def test_padding_at_the_front_changes_nothing(seed, lengths):
    Q, K, V = qkv(np.random.default_rng(seed), (len(lengths),), 5, 5, 3, 2)
    output, weights = left_padded_attention(Q, K, V, np.array(lengths))
    for row, length in enumerate(lengths):
        real = slice(5 - length, 5)
        alone, _ = scaled_dot_product_attention(
            Q[row, real], K[row, real], V[row, real], causal_mask(length)
        )
        assert np.allclose(output[row, real], alone)
        assert not output[row, : 5 - length].any()
        assert not weights[row, : 5 - length].any()


@given(SEEDS, st.floats(0.1, 0.9))
def test_the_divisor_gives_weights_with_the_requested_entropy(seed, share):
    scores = np.random.default_rng(seed).normal(size=(6, 9)) * 4
    bits = share * np.log2(9)
    weights = softmax(scores / divisor_for_entropy(scores, bits))
    assert entropy(weights).mean() / np.log(2) == pytest.approx(bits, rel=1e-6)


@given(SEEDS, BATCHES, SIZES, SIZES, SIZES, SIZES)
def test_the_gradients_of_a_row_of_scores_sum_to_zero(seed, batch, n_q, n_k, d_k, d_v):
    """A vector added to every key changes no gradient of the values or the keys."""
    rng = np.random.default_rng(seed)
    Q, K, V = qkv(rng, batch, n_q, n_k, d_k, d_v)
    d_output = rng.normal(size=(*batch, n_q, d_v))
    gradients = scaled_dot_product_attention_backward(Q, K, V, d_output)
    moved = scaled_dot_product_attention_backward(Q, K + rng.normal(size=d_k), V, d_output)
    for gradient, other in zip(gradients, moved, strict=True):
        assert np.allclose(gradient, other)
