"""What chapter 11 adds to its costs: training, a latent vector a token, a state that is corrected.

The delta rule as a layer comes from Schlag et al. (2021), "Linear Transformers are secretly fast
weight programmers"; latent attention from DeepSeek-AI (2024), "DeepSeek-V2"; the count of training
from Kaplan et al. (2020), "Scaling laws for neural language models"; the roofline, of which
`ridge_batch` finds the ridge, from Williams et al. (2009).
"""

import math

import numpy as np
import torch
import torch.nn.functional as F


def delta_rule_step(
    state: torch.Tensor, k: torch.Tensor, v: torch.Tensor, share: torch.Tensor
) -> torch.Tensor:
    """Write a value under a key, in place of what the state would have answered to the key.

    state: (..., d_k, d_v), read as q @ state; it is not changed. k: (..., d_k), not 0; its length
    does not matter, since the key is divided by it. v: (..., d_v). share: (..., 1), from 0 to 1:
    which share of the difference between v and the answer is written; with 1 the state then answers
    v, with 0 it stays as it is. All have the same leading axes. Returns the new state.
    Source: Schlag et al. (2021), section 4.2.
    """
    k = F.normalize(k, dim=-1)
    answer = (k[..., None, :] @ state)[..., 0, :]  # (..., d_v)
    change = share * (v - answer)
    return state + k[..., :, None] * change[..., None, :]


def mla_absorb(
    Q: torch.Tensor, C: torch.Tensor, W_uk: torch.Tensor, W_uv: torch.Tensor
) -> torch.Tensor:
    """Let heads attend to tokens of which only one small vector each is kept.

    Q: (..., n_heads, n_q, d_k). C: (..., n_k, r), the vectors, the same for all heads. W_uk:
    (n_heads, r, d_k) and W_uv: (n_heads, r, d_v): head h would have the keys C @ W_uk[h] and the
    values C @ W_uv[h]; neither is ever made. Scores are divided by the square root of d_k, and may
    be large. Returns (..., n_heads, n_q, d_v): what attention to these keys and values returns.
    Source: DeepSeek (2024), section 2.1.2.
    """
    asked = Q @ W_uk.mT  # (..., n_heads, n_q, r)
    shared = C.unsqueeze(-3)  # (..., 1, n_k, r)
    weights = (asked @ shared.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    return weights @ shared @ W_uv


def expected_compute(
    vocab_size: int, d_model: int, n_heads: int, n_layers: int, n: int, batch: int, again: bool
) -> tuple[int, int]:
    """Count a training step of a GPT: its operations, and the bytes that wait for the way back.

    The GPT has n_layers blocks, at least 1, with a feed-forward network four times as wide as
    d_model, and writes by its embedding, (vocab_size, d_model). It reads `batch` texts of n tokens
    each; both may be 0. Only matrix products count, 2abc each, with none of them skipped; on the
    way back each takes twice as many as forwards. What waits are the tables of weights of all heads
    of all blocks, 4 bytes a number, and nothing else. With `again`, the input of each block waits
    in their place, and the products of all blocks are computed forwards once more, those of the
    logits are not. Returns (operations, stored), two ints.
    Sources: Kaplan et al. (2020), section 2.1; Chen et al. (2016).
    """
    tokens = batch * n
    blocks = n_layers * tokens * (24 * d_model**2 + 4 * n * d_model)
    logits = 2 * tokens * d_model * vocab_size
    if again:
        return 4 * blocks + 3 * logits, 4 * n_layers * tokens * d_model
    return 3 * (blocks + logits), 4 * n_layers * n_heads * tokens * n


def ridge_batch(batches: np.ndarray, seconds: np.ndarray) -> float:
    """Find the batch at which a machine stops waiting for memory.

    batches: (m,), increasing, m at least 6. seconds: (m,), above 0, in any unit, of a product of a
    matrix with that many vectors. For the three smallest batches, memory alone decides: the seconds
    are the same for all of them. For the three largest, arithmetic alone decides: they grow in
    proportion to the batch. In between the machine may be slower than either. Every measurement
    may be off by two percent. Returns the batch at which the two bounds are equal, a float.
    """
    waiting, each = seconds[:3].mean(), (seconds[-3:] / batches[-3:]).mean()
    return float(waiting / each)
