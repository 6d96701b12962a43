"""The scores of a published encoder's heads: are they likeness, and does a token attend to itself?

The matrix M = W_q W_k^T of a head is what Elhage et al. (2021), "A mathematical framework for
transformer circuits", call its QK circuit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...published.minilm import D_MODEL, HEADS, LAYERS, MiniLM
from ...transformer_block import EncoderBlock, split_heads
from ...variants.looking_up import head_asymmetry

D_HEAD = D_MODEL // HEADS


@dataclass(frozen=True)
class Heads:
    """Measurements of all heads, each of shape (LAYERS, HEADS), and what to compare them with.

    asymmetry: the share of the antisymmetric part in the squared norm of M. scores_asymmetry: the
    same of the scores of a sentence's words. random_scores_asymmetry: of random heads' scores on
    the same words. own_weight: the mean weight of a word on itself. own_first: the share of words
    that give themselves the largest weight. likeness_own_weight, likeness_own_first: (LAYERS,), the
    same for chapter 4's layer on the same vectors, its scores divided by the root of their width.
    equal: the mean of 1 / (n - 2). on_marks: the mean weight of a word on the two marks.
    """

    asymmetry: Tensor
    scores_asymmetry: Tensor
    random_scores_asymmetry: Tensor
    own_weight: Tensor
    own_first: Tensor
    likeness_own_weight: Tensor
    likeness_own_first: Tensor
    equal: float
    on_marks: float


def asymmetry(A: Tensor, B: Tensor) -> Tensor:
    """Return the share of the antisymmetric part in the squared norm of A B^T: (...).

    A and B: (..., n, d_k). It is 0 for a symmetric product and 1 for an antisymmetric one. For
    random A and B, which are independent, it is about 1/2.
    """
    return torch.from_numpy(head_asymmetry(A.detach().numpy(), B.detach().numpy()))


def random_heads(seed: int) -> tuple[Tensor, Tensor]:
    """Return W_q and W_k of random heads, (LAYERS, HEADS, D_MODEL, D_HEAD) each."""
    draw = torch.Generator().manual_seed(seed)
    W_q, W_k = torch.randn(2, LAYERS, HEADS, D_MODEL, D_HEAD, generator=draw)
    return W_q, W_k


def scores_asymmetry(Q: Tensor, K: Tensor) -> Tensor:
    """Return the asymmetry of the scores of a sentence's words, less the mean query and key.

    Q, K: (..., n, d_k), of a sentence from [CLS] to [SEP]; these two marks are left out. Without
    the means, the sum of each row and of each column of scores is 0: a weight does not depend on
    what is added to a row.
    """
    Q, K = (
        words - words.mean(dim=-2, keepdim=True) for words in (Q[..., 1:-1, :], K[..., 1:-1, :])
    )
    return asymmetry(Q, K)


def on_itself(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean weight of a word on itself, and the share that prefer themselves.

    scores: (..., n, n), of a sentence from [CLS] to [SEP]. These two marks are left out: about half
    of all weight goes to them, so with them hardly any word could prefer itself.
    """
    weights = scores[..., 1:-1, 1:-1].softmax(dim=-1)  # (..., n - 2, n - 2)
    own = weights.diagonal(dim1=-2, dim2=-1).mean(dim=-1)
    first = weights.argmax(dim=-1) == torch.arange(weights.shape[-1])
    return own, first.float().mean(dim=-1)


def measure(minilm: MiniLM, sentences: Sequence[str], random: tuple[Tensor, Tensor]) -> Heads:
    """Measure every head on every sentence; the values are means over the sentences.

    random: W_q and W_k of `random_heads`.
    """
    mask = minilm.batch(sentences).mask
    states = minilm.layers(sentences)
    lengths = mask.sum(dim=1).tolist()
    matrices, heads, likeness, marks = [], [], [], []
    for layer, block in enumerate(minilm.encoder.blocks):
        assert isinstance(block, EncoderBlock)
        attention = block.attention
        W_q, W_k = (W.weight.view(HEADS, D_HEAD, D_MODEL) for W in (attention.W_q, attention.W_k))
        matrices.append(asymmetry(W_q.mT, W_k.mT))  # (HEADS,)
        for X, n in zip(states[layer], lengths, strict=True):
            Q, K = (split_heads(W(X[:n]), HEADS) for W in (attention.W_q, attention.W_k))
            scores = Q @ K.mT / D_HEAD**0.5  # (HEADS, n, n)
            by_chance = scores_asymmetry(*(X[:n] @ W[layer] for W in random))
            heads.append(torch.stack((*on_itself(scores), scores_asymmetry(Q, K), by_chance)))
            marks.append(scores.softmax(dim=-1)[:, 1:-1, [0, -1]].sum(dim=-1).mean())
            likeness.append(torch.stack(on_itself(X[:n] @ X[:n].T / D_MODEL**0.5)))  # (2,)
    own, first, of_scores, of_random = (
        torch.stack(heads).view(LAYERS, -1, 4, HEADS).mean(dim=1).unbind(dim=1)
    )
    like_own, like_first = torch.stack(likeness).view(LAYERS, -1, 2).mean(dim=1).unbind(dim=1)
    return Heads(
        asymmetry=torch.stack(matrices),
        scores_asymmetry=of_scores,
        random_scores_asymmetry=of_random,
        own_weight=own,
        own_first=first,
        likeness_own_weight=like_own,
        likeness_own_first=like_first,
        equal=sum(1 / (n - 2) for n in lengths) / len(lengths),
        on_marks=float(torch.stack(marks).mean()),
    )
