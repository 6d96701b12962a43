"""What attention costs, and ways to pay less: blocks, caches, shared keys, windows, states.

The running softmax comes from Milakov and Gimelshein (2018), "Online normalizer calculation for
softmax"; Rabe and Staats (2021), "Self-attention does not need O(n^2) memory", and Dao et al.
(2022), "FlashAttention", use it for exact attention. Fewer heads for keys and values come from
Shazeer (2019), "Fast Transformer decoding: one write-head is all you need", and Ainslie et al.
(2023), "GQA: training generalized multi-query Transformer models from multi-head checkpoints";
windows from Beltagy et al. (2020), "Longformer"; linear attention from Katharopoulos et al. (2020),
"Transformers are RNNs".
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

Cache = tuple[torch.Tensor, torch.Tensor]
"""Keys and values of the tokens so far: (..., c, d_k) and (..., c, d_v)."""


def attention_flops(n: int, d_model: int, n_heads: int) -> int:
    """Count the floating-point operations of a multi-head self-attention layer, forwards.

    n: the number of tokens. d_model: the features of a token. Only matrix products count: (a, b) @
    (b, c) takes 2abc. Raises ValueError if d_model is not divisible by n_heads.
    """
    if d_model % n_heads:
        raise ValueError(f"{d_model} features cannot be shared out equally to {n_heads} heads")
    d_head = d_model // n_heads
    projections = 4 * 2 * n * d_model * d_model  # W_q, W_k, W_v and W_o
    scores = n_heads * 2 * n * d_head * n  # Q @ K.T of each head
    blends = n_heads * 2 * n * n * d_head  # weights @ V of each head
    return projections + scores + blends


def online_softmax_attention(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, block: int
) -> torch.Tensor:
    """Attend exactly, a block of keys at a time (Dao et al. 2022, section 3.1).

    Q: (..., n_q, d_k). K: (..., n_k, d_k). V: (..., n_k, d_v). There is at least one query and one
    key, and all three have the same leading axes. block: how many keys are scored at once, at least
    1; the last block may be shorter, and `block` may be more than n_k. Scores are dot products
    divided by the square root of d_k, and may be large, above 0 or below. Returns (..., n_q, d_v):
    what attention to all keys at once would return.
    """
    largest = torch.full_like(Q[..., :1], -math.inf)  # (..., n_q, 1), of the scores so far
    total = torch.zeros_like(largest)  # sum of exp(score - largest)
    blend = torch.zeros_like(largest)  # sum of exp(score - largest) * value
    for start in range(0, K.shape[-2], block):
        keys, values = (one[..., start : start + block, :] for one in (K, V))
        scores = Q @ keys.mT / math.sqrt(Q.shape[-1])  # (..., n_q, block)
        larger = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        shares = torch.exp(scores - larger)
        shrink = torch.exp(largest - larger)  # rescales the old sums to the new maximum
        total = shrink * total + shares.sum(dim=-1, keepdim=True)
        blend = shrink * blend + shares @ values
        largest = larger
    return blend / total


def cached_attention_step(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cache: Cache
) -> tuple[torch.Tensor, Cache]:
    """Let the newest token attend to all tokens so far, itself among them, and remember it.

    q and k: (..., d_k). v: (..., d_v). cache: keys and values of the c tokens before it. Returns
    (output, cache): what the token found, (..., d_v), and a new cache of c + 1 tokens.
    """
    K = torch.cat([cache[0], k[..., None, :]], dim=-2)  # (..., c + 1, d_k)
    V = torch.cat([cache[1], v[..., None, :]], dim=-2)
    output = F.scaled_dot_product_attention(q[..., None, :], K, V)  # (..., 1, d_v)
    return output[..., 0, :], (K, V)


def cached_attention_chunk(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, cache: Cache
) -> tuple[torch.Tensor, Cache]:
    """Let several new tokens attend at once to the tokens so far, each as if it came alone.

    Q and K: (..., m, d_k), V: (..., m, d_v): the m newest tokens, m at least 1. cache: the tuple of
    the keys and values of the c tokens before them, (..., c, d_k) and (..., c, d_v), oldest first;
    c may be 0. All have the same leading axes. A new token attends to all cached tokens, to itself,
    and to the new tokens before it. Scores are divided by the square root of d_k, and may be large.
    Returns (output, cache): what the tokens found, (..., m, d_v), and a new tuple of all keys and
    all values, (..., c + m, d_k) and (..., c + m, d_v).
    """
    m, c = Q.shape[-2], cache[0].shape[-2]
    keys = torch.cat([cache[0], K], dim=-2)  # (..., c + m, d_k)
    values = torch.cat([cache[1], V], dim=-2)
    mask = torch.ones(m, c + m, dtype=torch.bool).tril(diagonal=c)
    return F.scaled_dot_product_attention(Q, keys, values, mask), (keys, values)


def merge_attention(
    output_1: torch.Tensor,
    log_sum_1: torch.Tensor,
    output_2: torch.Tensor,
    log_sum_2: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Make one answer of what the same queries found among two sets of keys.

    output_1 and output_2: (..., n_q, d_v), what attention to the keys of one set alone returned.
    log_sum_1 and log_sum_2: (..., n_q), the logarithm of the sum of the exponentials of a query's
    scores there; they may be large, above 0 or below. A query that had no key in a set has there
    the output 0 and the logarithm minus infinity. n_q may be 0. All have the same leading axes.
    Returns (output, log_sum) of the same shapes: what attention to all keys at once would have
    returned, and its own logarithm of a sum, so that a third set can be merged.
    """
    log_sum = torch.logaddexp(log_sum_1, log_sum_2)
    finite = torch.where(log_sum.isneginf(), 0, log_sum)  # -inf - (-inf) would be NaN
    share_1 = torch.exp(log_sum_1 - finite)[..., None]  # (..., n_q, 1)
    share_2 = torch.exp(log_sum_2 - finite)[..., None]
    return share_1 * output_1 + share_2 * output_2, log_sum


def grouped_query_attention(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Let groups of query heads share a head of keys and values (Ainslie et al. 2023).

    Q: (..., n_heads, n_q, d_k). K: (..., n_kv_heads, n_k, d_k). V: (..., n_kv_heads, n_k, d_v). The
    first n_heads / n_kv_heads query heads share the first head of keys and values, and so on.
    Returns (..., n_heads, n_q, d_v). Raises ValueError if n_heads is not divisible by n_kv_heads.
    """
    n_heads, n_kv_heads = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv_heads:
        raise ValueError(f"{n_heads} query heads cannot share {n_kv_heads} heads of keys equally")
    groups = Q.unflatten(-3, (n_kv_heads, -1))  # (..., n_kv_heads, n_heads / n_kv_heads, n_q, d_k)
    scores = groups @ K.unsqueeze(-3).mT / math.sqrt(Q.shape[-1])
    output = scores.softmax(dim=-1) @ V.unsqueeze(-3)
    return output.flatten(-4, -3)


def sliding_window_mask(n: int, radius: int) -> np.ndarray:
    """Return the mask of a causal window (Beltagy et al. 2020): (n, n), True where i may see j.

    Every token sees itself and up to `radius` tokens before it.
    """
    positions = np.arange(n)
    back: np.ndarray = positions[:, None] - positions  # (n, n): i - j
    return (back >= 0) & (back <= radius)


def linear_attention(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool
) -> torch.Tensor:
    """Attend by sums of features in place of a softmax (Katharopoulos et al. 2020, section 3).

    Q and K: (..., n, d_k), with numbers of moderate size. V: (..., n, d_v), n at least 1. All have
    the same leading axes. The weight of a key for a query is the dot product of their features,
    divided by the sum of these products over all keys that the query sees. The features of x are
    elu(x) + 1, number by number: x + 1 above 0, and exp(x) below. Nothing is divided by the root of
    d_k. causal: with True, a token sees itself and the tokens before it; with False, every token
    sees all. Returns (..., n, d_v).
    """
    Q, K = F.elu(Q) + 1, F.elu(K) + 1
    if not causal:
        return Q @ (K.mT @ V) / (Q @ K.sum(dim=-2)[..., None])
    state = (K[..., :, None] * V[..., None, :]).cumsum(dim=-3)  # (..., n, d_k, d_v)
    total = (Q * K.cumsum(dim=-2)).sum(dim=-1, keepdim=True)  # (..., n, 1)
    return (Q[..., None, :] @ state)[..., 0, :] / total


def crossover_length(lengths: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Find the length from which on the first of two measured costs is the larger one.

    lengths: (m,), above 0, increasing, m at least 2. first and second: (m,), the costs at these
    lengths, above 0, in any unit. At the first length the first cost is the smaller one, at the
    last length the larger one, and they cross once. Between two measured lengths that follow each
    other, both costs are powers of the length: straight lines, where both axes are logarithmic.
    Returns the length at which they are equal, a float.
    """
    ahead = np.log(first / second)  # negative, then positive
    after = np.flatnonzero(ahead >= 0)[0]
    sides = [after - 1, after]
    return float(np.exp(np.interp(0.0, ahead[sides], np.log(lengths[sides]))))
