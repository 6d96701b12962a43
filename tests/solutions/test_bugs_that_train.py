"""Test chapter 13's models: the right one equals torch, and each bug is what its name says."""

import inspect

import pytest
import torch
from torch import nn

from solutions import bugs_that_train as bugs

LAYERS = {
    name: parts.attention
    for name, parts in bugs.BUGS.items()
    if parts.attention is not bugs.Attention
}


def layer(kind, seed=0):
    torch.manual_seed(seed)
    return kind(8, 2)


def everything(X):
    return torch.ones(len(X), X.shape[1], X.shape[1], dtype=torch.bool)


def test_the_right_attention_equals_torch():
    layer_of_course = layer(bugs.Attention)
    layer_of_torch = nn.MultiheadAttention(8, 2, batch_first=True)
    maps = (layer_of_course.W_q, layer_of_course.W_k, layer_of_course.W_v)
    with torch.no_grad():
        layer_of_torch.in_proj_weight.copy_(torch.cat([linear.weight for linear in maps]))
        layer_of_torch.in_proj_bias.copy_(torch.cat([linear.bias for linear in maps]))
    layer_of_torch.out_proj.load_state_dict(layer_of_course.W_o.state_dict())
    X = torch.randn(3, 5, 8)
    tokens = torch.tensor([[0, 0, 3, 4, 5], [3, 4, 5, 3, 4], [0, 4, 4, 3, 3]])
    mask = bugs.causal_and_real(tokens)
    hidden = ~mask.repeat_interleave(2, dim=0)
    right, _ = layer_of_torch(X, X, X, attn_mask=hidden.float() * bugs.HIDDEN)
    torch.testing.assert_close(layer_of_course(X, mask), right, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_a_wrong_attention_returns_the_right_shape_and_other_numbers(name):
    right, wrong = layer(bugs.Attention), layer(LAYERS[name])
    if name != "shared_projection":  # which has other parameters
        wrong.load_state_dict(right.state_dict())
    X = torch.randn(3, 5, 8)
    mask = bugs.causal_and_real(torch.tensor([[0, 3, 4, 5, 3], [3] * 5, [0, 0, 0, 3, 3]]))
    assert wrong(X, mask).shape == right(X, mask).shape
    assert not torch.allclose(wrong(X, mask), right(X, mask), atol=1e-3)


def test_one_head_has_nothing_to_merge_and_one_sequence_no_order_of_masks():
    X = torch.randn(1, 5, 8)
    for kind, n_heads in ((bugs.MergedWithoutTranspose, 1), (bugs.PaddingAgainstHeads, 2)):
        right, wrong = bugs.Attention(8, n_heads), kind(8, n_heads)
        wrong.load_state_dict(right.state_dict())
        mask = bugs.causal_and_real(torch.tensor([[0, 3, 4, 5, 3]]))
        torch.testing.assert_close(wrong(X, mask), right(X, mask))


def test_heads_that_share_have_fewer_parameters():
    counts = [
        sum(parameter.numel() for parameter in layer(kind).parameters())
        for kind in (bugs.Attention, bugs.SharedProjection)
    ]
    assert counts == [4 * (64 + 8), 3 * (16 + 4) + 64 + 8]


def test_the_softmax_over_queries_sums_to_one_for_each_key():
    scores = torch.randn(1, 2, 4, 4)
    weights = layer(bugs.SoftmaxOverQueries).normalise(scores)
    torch.testing.assert_close(weights.sum(dim=-2), torch.ones(1, 2, 4))


def test_values_from_keys_never_read_their_own_matrix():
    wrong = layer(bugs.ValuesFromKeys)
    X = torch.randn(2, 3, 8)
    wrong(X, everything(X)).sum().backward()
    assert wrong.W_v.weight.grad is None
    assert wrong.W_k.weight.grad.abs().sum() > 0


def test_a_norm_over_time_makes_each_feature_normal_over_the_tokens():
    X = 3 + 2 * torch.randn(2, 6, 4)
    normed = bugs.NormOverTime(4)(X)
    torch.testing.assert_close(normed.mean(dim=1), torch.zeros(2, 4), rtol=0, atol=1e-5)
    torch.testing.assert_close(normed.var(dim=1, correction=0), torch.ones(2, 4), rtol=0, atol=1e-4)


def test_the_masks():
    tokens = torch.tensor([[0, 3, 4]])
    assert bugs.causal_and_real(tokens).tolist() == [
        [[False, False, False], [False, True, False], [False, True, True]]
    ]
    assert bugs.flipped(tokens).tolist() == [
        [[False, True, True], [False, True, True], [False, False, True]]
    ]
    assert bugs.causal_alone(tokens).tolist() == [
        [[True, False, False], [True, True, False], [True, True, True]]
    ]


def test_each_bug_changes_one_part():
    parts = [name for name in inspect.get_annotations(bugs.Parts)]
    for name, wrong in bugs.BUGS.items():
        changed = [part for part in parts if getattr(wrong, part) != getattr(bugs.RIGHT, part)]
        assert len(changed) == 1, name
