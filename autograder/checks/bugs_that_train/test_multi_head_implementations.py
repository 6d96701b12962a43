"""What `test_multi_head` tells apart: several heads of attention, right ones and mutants.

Each is written out, because only its own lines reach the process in which it runs.
"""

from __future__ import annotations

import torch

from ...judging.written_tests import mutant, right

TORCH = "import torch"


def split_by_unflatten(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def head_by_head(X, W_q, W_k, W_v, W_o, n_heads):
    d_head = W_q.shape[1] // n_heads
    output = torch.zeros_like(X)
    for first in range(0, W_q.shape[1], d_head):
        own = slice(first, first + d_head)
        scores = (X @ W_q[:, own]) @ (X @ W_k[:, own]).transpose(-2, -1) / d_head**0.5
        output = output + torch.softmax(scores, dim=-1) @ X @ W_v[:, own] @ W_o[own]
    return output


def with_einsum(X, W_q, W_k, W_v, W_o, n_heads):
    d, wide = W_q.shape
    Q, K, V = (
        torch.einsum("bnd,dhc->bhnc", X, W.reshape(d, n_heads, wide // n_heads))
        for W in (W_q, W_k, W_v)
    )
    weights = torch.einsum("bhqc,bhkc->bhqk", Q, K).div((wide // n_heads) ** 0.5).softmax(-1)
    heads = torch.einsum("bhqk,bhkc->bqhc", weights, V)
    return torch.einsum("bqhc,hcd->bqd", heads, W_o.reshape(n_heads, wide // n_heads, -1))


def folded_into_the_batch(X, W_q, W_k, W_v, W_o, n_heads):
    batch, n, _ = X.shape
    d_head = W_q.shape[1] // n_heads
    folded = []
    for W in (W_q, W_k, W_v):
        heads = (X @ W).reshape(batch, n, n_heads, d_head).permute(0, 2, 1, 3)
        folded.append(heads.reshape(batch * n_heads, n, d_head))
    Q, K, V = folded
    weights = torch.softmax(torch.bmm(Q, K.mT) * d_head**-0.5, dim=2)
    heads = torch.bmm(weights, V).reshape(batch, n_heads, n, d_head).permute(0, 2, 1, 3)
    return heads.reshape(batch, n, n_heads * d_head) @ W_o


def merged_without_transpose(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).reshape(len(X), X.shape[1], -1) @ W_o


def split_without_transpose(X, W_q, W_k, W_v, W_o, n_heads):
    batch, n, _ = X.shape
    Q, K, V = ((X @ W).reshape(batch, n_heads, n, -1) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def one_projection_for_all(X, W_q, W_k, W_v, W_o, n_heads):
    d_head = W_q.shape[1] // n_heads
    W_q, W_k, W_v = (W[:, :d_head].repeat(1, n_heads) for W in (W_q, W_k, W_v))
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def softmax_over_queries(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-2)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def softmax_over_heads(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def values_from_keys(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_k))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def keys_ask(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_k, W_q, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def scaled_by_all_heads(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / W_q.shape[1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def never_scaled(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1)).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def never_mixed(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2)


def heads_side_by_side_the_other_way(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (-1, n_heads)).movedim(-1, 1) for W in (W_q, W_k, W_v))
    weights = (Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


def one_head(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    weights = (Q @ K.transpose(-2, -1) / (Q.shape[-1] / n_heads) ** 0.5).softmax(dim=-1)
    return weights @ V @ W_o


def first_sequence_attends_for_all(X, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v))
    weights = (Q[:1] @ K[:1].transpose(-2, -1) / Q.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights @ V).transpose(1, 2).flatten(-2) @ W_o


STYLES = (
    right("heads as an axis", split_by_unflatten, TORCH),
    right("head by head, and added", head_by_head, TORCH),
    right("with einsum", with_einsum, TORCH),
    right("heads folded into the batch", folded_into_the_batch, TORCH),
)
PUBLIC = (
    mutant("merged without the transpose", merged_without_transpose, TORCH),
    mutant("one projection for all heads", one_projection_for_all, TORCH),
    mutant("a softmax over the queries", softmax_over_queries, TORCH),
    mutant("values made with the keys' projection", values_from_keys, TORCH),
    mutant("scores divided by the root of the whole width", scaled_by_all_heads, TORCH),
    mutant("the output projection left out", never_mixed, TORCH),
    mutant("the first sequence attends for all", first_sequence_attends_for_all, TORCH),
)
UNSEEN = (
    mutant("split without the transpose", split_without_transpose, TORCH),
    mutant("a softmax over the heads", softmax_over_heads, TORCH),
    mutant("queries and keys exchanged", keys_ask, TORCH),
    mutant("scores never divided", never_scaled, TORCH),
    mutant("features dealt to the heads in turn", heads_side_by_side_the_other_way, TORCH),
    mutant("one wide head", one_head, TORCH),
)
