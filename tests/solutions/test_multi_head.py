"""Test multi-head attention against torch and by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from solutions.multi_head import (
    head_importance,
    merge_heads,
    multi_head_attention,
    multi_head_cross_attention,
    split_heads,
)
from solutions.queries_keys_values import padding_mask

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)
DTYPES = st.sampled_from([np.float64, np.float32])
TOLERANCE = {np.float64: 1e-6, np.float32: 1e-5}


def torch_layer(rng, d_model, n_heads, dtype):
    """Return torch's module with random weights, and the weights in the course's order."""
    torch_model = torch.nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True)
    torch_model = torch_model.to(torch.from_numpy(np.zeros(0, dtype)).dtype)
    W_q, W_k, W_v, W_o = (rng.normal(size=(d_model, d_model)).astype(dtype) for _ in range(4))
    W_q, W_k, W_v, W_o = (W / d_model**0.5 for W in (W_q, W_k, W_v, W_o))
    with torch.no_grad():
        torch_model.in_proj_weight.copy_(torch.from_numpy(np.concatenate([W_q.T, W_k.T, W_v.T])))
        torch_model.out_proj.weight.copy_(torch.from_numpy(W_o.T))
    return torch_model, (W_q, W_k, W_v, W_o)


@settings(deadline=None)  # the first call of PyTorch takes long
@given(SEEDS, st.integers(1, 3), SIZES, SIZES, SIZES, DTYPES, st.sampled_from(["", "any", "pad"]))
def test_equals_torch_over_shapes_masks_and_dtypes(seed, batch, n, n_heads, d_head, dtype, kind):
    rng = np.random.default_rng(seed)
    reference, actual = torch_layer(rng, n_heads * d_head, n_heads, dtype)
    X = rng.normal(size=(batch, n, n_heads * d_head)).astype(dtype)
    lengths = rng.integers(1, n + 1, size=batch)
    mask, masks = None, {}
    if kind == "any":  # PyTorch's True means "may not attend"
        mask = (rng.random((n, n)) < 0.5) | np.eye(n, dtype=bool)
        masks = {"attn_mask": torch.from_numpy(~mask)}
    if kind == "pad":
        mask = padding_mask(lengths, n)
        masks = {"key_padding_mask": torch.from_numpy(~mask[:, 0])}
    tokens = torch.from_numpy(X)
    expected = reference(tokens, tokens, tokens, average_attn_weights=False, **masks)
    result = multi_head_attention(X, *actual, n_heads, mask)
    for part, expected_part in zip(result, expected, strict=True):
        assert part.dtype == dtype
        np.testing.assert_allclose(
            part, expected_part.detach().numpy(), rtol=0, atol=TOLERANCE[dtype]
        )


def test_heads_by_hand():
    X = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    heads = [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert split_heads(X, 2).tolist() == heads
    assert merge_heads(np.array(heads)).tolist() == X.tolist()


@pytest.mark.parametrize(("d_model", "n_heads"), [(6, 4), (4, 8), (4, 0), (4, -2)])
def test_heads_that_do_not_divide_the_width_are_an_error(d_model, n_heads):
    with pytest.raises(ValueError, match=f"{d_model} features .* {n_heads} heads"):
        split_heads(np.zeros((3, d_model)), n_heads)


@pytest.mark.parametrize("shape", [(4, 4), (3, 4), (2,), (5, 1, 3), (2, 2, 3, 3)])
def test_a_mask_that_does_not_broadcast_is_an_error(shape):
    X, square, mask = np.ones((2, 3, 4)), np.ones((4, 4)), np.ones(shape, dtype=bool)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        multi_head_attention(X, *[square] * 4, 2, mask)
    with pytest.raises(ValueError, match=r"broadcast|dimensions"):
        multi_head_cross_attention(X, X, *[square] * 4, 2, mask)


def test_cross_attention_equals_torch_with_a_context_of_another_width():
    rng = np.random.default_rng(0)
    reference = torch.nn.MultiheadAttention(
        6, 2, bias=False, kdim=5, vdim=5, batch_first=True, dtype=torch.float64
    )
    X, context = rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 4, 5))
    mask = padding_mask(np.array([4, 2]), 4)
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    W = [getattr(reference, name).detach().numpy().T for name in names]
    W_o = reference.out_proj.weight.detach().numpy().T
    expected = reference(
        *(torch.from_numpy(array) for array in (X, context, context)),
        key_padding_mask=torch.from_numpy(~mask[:, 0]),
        average_attn_weights=False,
    )
    result = multi_head_cross_attention(X, context, *W, W_o, 2, mask)
    for part, expected_part in zip(result, expected, strict=True):
        np.testing.assert_allclose(part, expected_part.detach().numpy(), rtol=0, atol=1e-12)


def test_importance_by_hand():
    weights = np.ones((2, 1, 1))
    values = np.array([[[3.0]], [[4.0]]])
    np.testing.assert_allclose(head_importance(weights, values, np.eye(2)), [0.6, 0.8])
    opposed = np.array([[1.0], [-0.5]])  # 3 - 2 = 1: each head is larger than the whole
    np.testing.assert_allclose(head_importance(weights, values, opposed), [3.0, 2.0])
    cancelling = np.array([[4.0], [-3.0]])  # 12 - 12 = 0: no norm to divide by
    assert head_importance(weights, values, cancelling).tolist() == [0, 0]
