"""The correct versions of the functions that chapter 13 gives out with a bug."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F


def continue_attention(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Let the newest tokens of a sequence attend to themselves and to all that came before.

    K: (..., n, d_k). V: (..., n, d_v): the keys and values of the whole sequence. Q: (..., m, d_k):
    the queries of its last m tokens, m from 1 to n. Scores are dot products divided by the root of
    d_k, and may be large. Returns (..., m, d_v). With m equal to n, as in training, it is causal
    self-attention.
    """
    m, n = Q.shape[-2], K.shape[-2]
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])  # (..., m, n)
    seen = torch.ones(m, n, dtype=torch.bool).tril(diagonal=n - m)
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1) @ V


def attention_pool(H: torch.Tensor, w: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Make one vector of each sequence: a blend of its tokens, by how well they match w.

    H: (batch, n, d), n at least 1. w: (d,). mask: boolean, (batch, n), True at real tokens. The
    score of a token is its dot product with w, and may be large; the weights of a sequence are the
    softmax of the scores of its real tokens. Returns (batch, d); 0 for a sequence that has no real
    token. What stands in the padding changes nothing.
    """
    H = H.masked_fill(~mask[..., None], 0)
    lowest = torch.finfo(H.dtype).min  # finite, for the softmax of a sequence without real tokens
    weights = (H @ w).masked_fill(~mask, lowest).softmax(dim=1)  # (batch, n)
    return torch.einsum("bn,bnd->bd", weights, H)


def attend_then_transform(
    X: torch.Tensor,
    W_q: torch.Tensor,
    W_k: torch.Tensor,
    W_v: torch.Tensor,
    W_1: torch.Tensor,
    W_2: torch.Tensor,
) -> torch.Tensor:
    """One block with a single head, and the norm before each of its two sublayers.

    X: (batch, n, d). W_q and W_k: (d, d_k). W_v: (d, d). W_1: (d, d_ff). W_2: (d_ff, d). Every
    token attends to every token; scores are divided by the root of d_k. Then each token goes
    through W_1, a ReLU and W_2. Before either, the tokens are normalised by `F.layer_norm`, without
    scale and shift; the residual path is not. Returns the shape of X.
    """
    normed = F.layer_norm(X, X.shape[-1:])
    scores = (normed @ W_q) @ (normed @ W_k).mT / math.sqrt(W_q.shape[1])
    X = X + scores.softmax(dim=-1) @ (normed @ W_v)
    return X + F.relu(F.layer_norm(X, X.shape[-1:]) @ W_1) @ W_2


def fused_attention(X: torch.Tensor, W_qkv: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Attend with queries, keys and values that were made by one matrix, stored head by head.

    X: (batch, n, d), n at least 1. n_heads divides d. W_qkv: (d, 3 d), multiplied from the right.
    Its columns are those of the first head, then those of the second, and so on; and of each head
    first the d / n_heads columns of its queries, then of its keys, then of its values. Every token
    attends to every token of its sequence. Scores are divided by the root of d / n_heads. Returns
    (batch, n, d): what the heads found, side by side in their order.
    """
    fused = (X @ W_qkv).unflatten(-1, (n_heads, 3, -1))  # (batch, n, n_heads, 3, d_head)
    Q, K, V = fused.permute(3, 0, 2, 1, 4)  # each (batch, n_heads, n, d_head)
    weights = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return (weights @ V).permute(0, 2, 1, 3).reshape(X.shape)


def accumulated_loss(
    logits: list[torch.Tensor], targets: list[torch.Tensor], ignored: int
) -> torch.Tensor:
    """Return the loss of a batch that is too large for the memory, and comes in parts.

    logits: of each part, (m, vocabulary). targets: of each part, (m,), whole numbers; m may differ.
    A target that is `ignored` does not count; some other one is there, though not in every part.
    Returns a tensor without axes: the mean cross-entropy of all targets that count, as if they had
    come in one part.
    """
    losses = [
        F.cross_entropy(logits[part], own, ignore_index=ignored, reduction="sum")
        for part, own in enumerate(targets)
    ]
    counted = sum(int((own != ignored).sum()) for own in targets)
    return torch.stack(losses).sum() / counted
