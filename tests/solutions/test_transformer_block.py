"""Test the block and its parts against torch and by hand."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch_modules import TOLERANCE, matched, scrambled

from exercises.transformer_block.given_attention import GivenAttention
from solutions import multi_head
from solutions.experiments.transformer_block.weights import attention_weights
from solutions.transformer_block import (
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    RMSNorm,
    SwiGLU,
)
from solutions.variants.blocks import ParallelBlock, centre_writers

SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**32 - 1)
BATCHES = st.sampled_from([(), (1,), (3,), (2, 3)])
WIDTHS = st.integers(4, 8)  # with fewer features a norm magnifies rounding up to 300 times
DTYPES = st.sampled_from([torch.float64, torch.float32])
NORMS = st.sampled_from(["post", "pre"])
KINDS = st.sampled_from(["no mask", "any", "padding"])


def tokens(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


def masks(kind, batch, n_q, n_k, n_heads):
    """Return the course's mask, and torch's equivalent attn_mask and key_padding_mask."""
    if kind == "any":
        mask = random_mask(batch, n_q, n_k)
        return mask, (~mask.repeat_interleave(n_heads, dim=0), None)
    if kind == "padding":
        mask = torch.arange(n_k) < torch.randint(1, n_k + 1, (batch, 1, 1))
        return mask, (None, ~mask[:, 0])
    return None, (None, None)


def random_mask(*shape):
    """Return masks in which each row has a key, since torch's own module needs one here."""
    mask = torch.rand(*shape) < 0.5
    mask[..., 0] |= ~mask.any(dim=-1)
    return mask


@torch.no_grad()
def copy_weights(course_module, torch_module):
    pairs = list(matched(course_module, torch_module))
    for part, full in pairs:
        full.copy_(torch.cat(part))
    assert len({id(full) for _, full in pairs}) == len(list(torch_module.parameters()))
    assert sum(len(part) for part, _ in pairs) == len(list(course_module.parameters()))


def assert_same(actual, torch_layer, inputs, dtype, modules=None):
    """Compare outputs and gradients, each relative to the largest number of its kind.

    The gradients are those of the inputs and, for two `modules` (course, torch), of the weights.
    """
    cotangent = torch.randn_like(actual)
    weights = list(matched(*modules)) if modules else []
    flat = [parameter for actual_part, _ in weights for parameter in actual_part]
    actual_part = iter(torch.autograd.grad(actual, (*inputs, *flat), cotangent))
    wholes = [full for _, full in weights]
    right = iter(torch.autograd.grad(torch_layer, (*inputs, *wholes), cotangent))
    pairs = [(actual, torch_layer), *((next(actual_part), next(right)) for _ in inputs)]
    pairs += [(torch.cat([next(actual_part) for _ in part]), next(right)) for part, _ in weights]
    for result, torch_output in pairs:
        assert result.dtype == dtype
        scale = max(1.0, torch_output.abs().max().item()) if torch_output.numel() else 1.0
        torch.testing.assert_close(result, torch_output, rtol=0, atol=TOLERANCE[dtype] * scale)


@given(SEEDS, BATCHES, st.integers(0, 5), SIZES, DTYPES)
def test_layer_norm_equals_torch(seed, batch, n, d_model, dtype):
    torch.manual_seed(seed)
    course_model, torch_model = (
        scrambled(LayerNorm(d_model, eps=0.1), dtype),
        nn.LayerNorm(d_model, eps=0.1),
    )
    torch_model.to(dtype).load_state_dict(course_model.state_dict())
    X = tokens(*batch, n, d_model, dtype=dtype)
    assert_same(course_model(X), torch_model(X), [X], dtype, (course_model, torch_model))


def test_layer_norm_by_hand():
    norm = LayerNorm(2, eps=0.0)
    assert norm(torch.tensor([[1.0, 3.0]])).tolist() == [[-1.0, 1.0]]
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([2.0, 1.0]))
        norm.bias.copy_(torch.tensor([0.0, 5.0]))
    assert norm(torch.tensor([[1.0, 3.0]])).tolist() == [[-2.0, 6.0]]


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@given(seed=SEEDS, batch=BATCHES, n=st.integers(0, 5), d_model=SIZES, d_ff=SIZES, dtype=DTYPES)
def test_feed_forward_equals_torch(activation, seed, batch, n, d_model, d_ff, dtype):
    torch.manual_seed(seed)
    course_model = scrambled(FeedForward(d_model, d_ff, activation), dtype)
    bend = {"relu": nn.ReLU(), "gelu": nn.GELU()}[activation]
    X = tokens(*batch, n, d_model, dtype=dtype)
    assert_same(
        course_model(X), nn.Sequential(course_model.W_1, bend, course_model.W_2)(X), [X], dtype
    )


def test_feed_forward_by_hand():
    absolute = FeedForward(1, 2)
    with torch.no_grad():
        absolute.W_1.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        absolute.W_2.weight.fill_(1.0)
        absolute.W_1.bias.zero_()
        absolute.W_2.bias.zero_()
    assert absolute(torch.tensor([[3.0], [-2.0]])).tolist() == [[3.0], [2.0]]


@given(SEEDS, BATCHES, st.integers(0, 5), SIZES, DTYPES)
def test_rms_norm_equals_torch(seed, batch, n, d_model, dtype):
    torch.manual_seed(seed)
    course_model, torch_model = (
        scrambled(RMSNorm(d_model, eps=0.1), dtype),
        nn.RMSNorm(d_model, eps=0.1),
    )
    torch_model.to(dtype).load_state_dict(course_model.state_dict())
    X = tokens(*batch, n, d_model, dtype=dtype)
    assert_same(course_model(X), torch_model(X), [X], dtype)


def test_rms_norm_by_hand():
    norm = RMSNorm(2, eps=0.0)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([10.0, 5.0]))
    torch.testing.assert_close(norm(torch.tensor([[1.0, 7.0]])), torch.tensor([[2.0, 7.0]]))


def test_rms_norm_replaces_layer_norm_after_the_writers_are_centred():
    rng = np.random.default_rng(0)
    embedding, W, b, x = (rng.normal(size=shape) for shape in ((3, 4), (4, 5), 4, (3, 5)))
    token = torch.from_numpy(embedding + x @ W.T + b)
    embedding, W, b = centre_writers(embedding, W, b)
    centred = torch.from_numpy(embedding + x @ W.T + b)
    eps = 1e-5
    torch.testing.assert_close(RMSNorm(4, eps).double()(centred), LayerNorm(4, eps).double()(token))


def test_swiglu_by_hand():
    gated = SwiGLU(1, 1)
    with torch.no_grad():
        for linear, weight in ((gated.W_gate, 1.0), (gated.W_up, 3.0), (gated.W_down, 1.0)):
            linear.weight.fill_(weight)
    result = gated(torch.tensor([[2.0], [-2.0]]))
    torch.testing.assert_close(result, torch.tensor([[10.57], [1.43]]), rtol=0, atol=5e-3)


def test_the_parallel_block_by_hand():
    block = ParallelBlock(2, 1, 3)
    with torch.no_grad():
        for part in (block.attention, block.feed_forward):
            for parameter in part.parameters():
                parameter.zero_()
        block.attention.W_o.bias.copy_(torch.tensor([1.0, 1.0]))
        block.feed_forward.W_2.bias.copy_(torch.tensor([10.0, 20.0]))
    X = torch.tensor([[[1.0, 3.0], [0.0, 5.0]]])
    assert torch.equal(block(X), X + torch.tensor([11.0, 21.0]))


@given(SEEDS, SIZES, SIZES, SIZES, SIZES, SIZES, DTYPES, KINDS)
def test_attention_equals_torch(seed, batch, n_q, n_k, n_heads, d_head, dtype, kind):
    torch.manual_seed(seed)
    d_model = n_heads * d_head
    course_model = scrambled(MultiHeadAttention(d_model, n_heads), dtype)
    torch_model = nn.MultiheadAttention(d_model, n_heads, batch_first=True, dtype=dtype)
    copy_weights(course_model, torch_model)
    X = tokens(batch, n_q, d_model, dtype=dtype)
    context = tokens(batch, n_k, d_model, dtype=dtype)
    mask, (any_hidden, padding) = masks(kind, batch, n_q, n_k, n_heads)
    output, weights = torch_model(
        *(X, context, context),
        attn_mask=any_hidden,
        key_padding_mask=padding,
        average_attn_weights=False,
    )
    assert_same(
        course_model(X, context, mask), output, (X, context), dtype, (course_model, torch_model)
    )
    part = attention_weights(course_model, X, context, mask)
    torch.testing.assert_close(part, weights, rtol=0, atol=TOLERANCE[dtype])
    itself = torch_model(X, X, X, need_weights=False)[0]
    assert_same(course_model(X), itself, [X], dtype, (course_model, torch_model))


@given(SEEDS, BATCHES, st.integers(0, 6), SIZES, SIZES)
def test_attention_equals_chapter_six_over_any_mask(seed, batch, n, n_heads, d_head):
    """Without biases it equals the NumPy function; fully masked rows are 0 in both."""
    torch.manual_seed(seed)
    d_model = n_heads * d_head
    course_model = scrambled(MultiHeadAttention(d_model, n_heads), torch.float64)
    for linear in course_model.children():
        nn.init.zeros_(linear.bias)
    X = tokens(*batch, n, d_model)
    mask = torch.rand(*batch, n, n) < 0.4
    matrices = [
        linear.weight.detach().numpy().T
        for linear in (course_model.W_q, course_model.W_k, course_model.W_v, course_model.W_o)
    ]
    output, weights = multi_head.multi_head_attention(
        X.detach().numpy(), *matrices, n_heads, mask.numpy()
    )
    np.testing.assert_allclose(course_model(X, mask=mask).detach(), output, atol=1e-6)
    np.testing.assert_allclose(
        attention_weights(course_model, X, None, mask).detach(), weights, atol=1e-6
    )


def test_attention_by_hand():
    course_model = MultiHeadAttention(2, 2)
    with torch.no_grad():
        for child in course_model.children():
            child.bias.zero_()
        course_model.W_v.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 3.0]]))
        course_model.W_o.weight.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    assert course_model(torch.tensor([[1.0, 2.0]])).tolist() == [[6.0, 1.0]]


@given(SEEDS, SIZES, SIZES, SIZES, WIDTHS, SIZES, NORMS, DTYPES, KINDS)
def test_encoder_block_equals_torch(seed, batch, n, n_heads, d_head, d_ff, norm, dtype, kind):
    torch.manual_seed(seed)
    d_model = n_heads * d_head
    course_model = scrambled(EncoderBlock(d_model, n_heads, d_ff, norm), dtype)
    torch_model = nn.TransformerEncoderLayer(
        *(d_model, n_heads, d_ff, 0.0), batch_first=True, norm_first=norm == "pre", dtype=dtype
    )
    copy_weights(course_model, torch_model)
    X = tokens(batch, n, d_model, dtype=dtype)
    mask, (any_hidden, padding) = masks(kind, batch, n, n, n_heads)
    right = torch_model(X, src_mask=any_hidden, src_key_padding_mask=padding)
    assert_same(course_model(X, mask), right, [X], dtype, (course_model, torch_model))


@given(SEEDS, SIZES, SIZES, SIZES, WIDTHS, SIZES, NORMS, DTYPES, KINDS, KINDS)
def test_decoder_block_equals_torch(
    seed, n, n_k, n_heads, d_head, d_ff, norm, dtype, kind, context_kind
):
    torch.manual_seed(seed)
    d_model, batch = n_heads * d_head, 2
    course_model = scrambled(DecoderBlock(d_model, n_heads, d_ff, norm), dtype)
    torch_model = nn.TransformerDecoderLayer(
        *(d_model, n_heads, d_ff, 0.0), batch_first=True, norm_first=norm == "pre", dtype=dtype
    )
    copy_weights(course_model, torch_model)
    X, context = tokens(batch, n, d_model, dtype=dtype), tokens(batch, n_k, d_model, dtype=dtype)
    mask, (any_hidden, padding) = masks(kind, batch, n, n, n_heads)
    context_mask, (context_any, context_padding) = masks(context_kind, batch, n, n_k, n_heads)
    right = torch_model(
        *(X, context),
        tgt_mask=any_hidden,
        tgt_key_padding_mask=padding,
        memory_mask=context_any,
        memory_key_padding_mask=context_padding,
    )
    result = course_model(X, context, mask, context_mask)
    assert_same(result, right, (X, context), dtype, (course_model, torch_model))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"6 features .* 0 heads"):
        MultiHeadAttention(6, 0)
    with pytest.raises(ValueError, match="'tanh'"):
        FeedForward(2, 2, "tanh")
    for block in (EncoderBlock, DecoderBlock):
        with pytest.raises(ValueError, match="'before'"):
            block(4, 2, 3, norm="before")


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 3, 3), (3, 3, 3)])
def test_a_mask_that_does_not_broadcast_is_refused(shape):
    X, mask, attention = torch.ones(2, 3, 6), torch.ones(shape).bool(), MultiHeadAttention(6, 2)
    for call in (attention, partial(attention_weights, attention)):
        with pytest.raises(ValueError, match="does not broadcast"):
            call(X, mask=mask)


def test_the_attention_given_in_the_assignment_is_right():
    torch.manual_seed(0)
    course_model, torch_model = MultiHeadAttention(6, 2), GivenAttention(6, 2)
    torch_model.load_state_dict(course_model.state_dict())
    X, context = tokens(2, 3, 6, dtype=torch.float32), tokens(2, 4, 6, dtype=torch.float32)
    mask = random_mask(2, 1, 4)
    assert_same(torch_model(X), course_model(X), [X], torch.float32)
    assert_same(
        torch_model(X, context, mask), course_model(X, context, mask), (X, context), torch.float32
    )
    mask = torch.zeros(3, 3, dtype=torch.bool)
    assert_same(torch_model(X, mask=mask), course_model(X, mask=mask), [X], torch.float32)
    for n, n_k in ((0, 0), (0, 4), (3, 0)):
        X, context = tokens(2, n, 6, dtype=torch.float32), tokens(2, n_k, 6, dtype=torch.float32)
        for mask in (None, torch.ones(n, n_k, dtype=torch.bool)):
            assert_same(
                torch_model(X, context, mask), course_model(X, context, mask), [X], torch.float32
            )
