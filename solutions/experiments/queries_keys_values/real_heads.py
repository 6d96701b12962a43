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

D_HEAD = D_MODEL // HEADS


@dataclass(frozen=True)
class Heads:
    """Measurements of all heads, each of shape (LAYERS, HEADS), and two comparisons.

    asymmetry: the share of the antisymmetric part in the squared norm of M. own_weight: the mean
    weight of a word on itself. own_first: the share of words that give themselves the largest
    weight. likeness_own_weight, likeness_own_first: (LAYERS,), the same for chapter 4's layer on
    the same vectors, its scores divided by the root of their width. equal: the mean
    of 1 / (n - 2). on_marks: the mean weight of a word on the two marks.
    """

    asymmetry: Tensor
    own_weight: Tensor
    own_first: Tensor
    likeness_own_weight: Tensor
    likeness_own_first: Tensor
    equal: float
    on_marks: float


def asymmetry(M: Tensor) -> Tensor:
    """Return the share of (M - M^T) / 2 in the squared norm of M: (..., d, d) -> (...).

    It is 0 for a symmetric M and 1 for an antisymmetric one. For random W_q and W_k, which are
    independent, it is about 1/2.
    """
    part = (M - M.mT) / 2
    return part.square().sum(dim=(-2, -1)) / M.square().sum(dim=(-2, -1))


def random_asymmetry(seed: int) -> Tensor:
    """Return the asymmetry of LAYERS * HEADS random heads of the encoder's shape."""
    draw = torch.Generator().manual_seed(seed)
    W_q, W_k = torch.randn(2, LAYERS * HEADS, D_MODEL, D_HEAD, generator=draw)
    return asymmetry(W_q @ W_k.mT)


def on_itself(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean weight of a word on itself, and the share that prefer themselves.

    scores: (..., n, n), of a sentence from [CLS] to [SEP]. These two marks are left out: about half
    of all weight goes to them, so with them hardly any word could prefer itself.
    """
    weights = scores[..., 1:-1, 1:-1].softmax(dim=-1)  # (..., n - 2, n - 2)
    own = weights.diagonal(dim1=-2, dim2=-1).mean(dim=-1)
    first = weights.argmax(dim=-1) == torch.arange(weights.shape[-1])
    return own, first.float().mean(dim=-1)


def measure(minilm: MiniLM, sentences: Sequence[str]) -> Heads:
    """Measure every head on every sentence; the values are means over the sentences."""
    mask = minilm.batch(sentences).mask
    states = minilm.layers(sentences)
    lengths = mask.sum(dim=1).tolist()
    M, heads, likeness, marks = [], [], [], []
    for layer, block in enumerate(minilm.encoder.blocks):
        assert isinstance(block, EncoderBlock)
        attention = block.attention
        W_q, W_k = (W.weight.view(HEADS, D_HEAD, D_MODEL) for W in (attention.W_q, attention.W_k))
        M.append(W_q.mT @ W_k)  # (HEADS, d_model, d_model)
        for X, n in zip(states[layer], lengths, strict=True):
            Q, K = (split_heads(W(X[:n]), HEADS) for W in (attention.W_q, attention.W_k))
            scores = Q @ K.mT / D_HEAD**0.5  # (HEADS, n, n)
            heads.append(torch.stack(on_itself(scores)))  # (2, HEADS)
            marks.append(scores.softmax(dim=-1)[:, 1:-1, [0, -1]].sum(dim=-1).mean())
            likeness.append(torch.stack(on_itself(X[:n] @ X[:n].T / D_MODEL**0.5)))  # (2,)
    own, first = torch.stack(heads).view(LAYERS, -1, 2, HEADS).mean(dim=1).unbind(dim=1)
    like_own, like_first = torch.stack(likeness).view(LAYERS, -1, 2).mean(dim=1).unbind(dim=1)
    equal = sum(1 / (n - 2) for n in lengths) / len(lengths)
    return Heads(
        asymmetry(torch.stack(M)),
        own,
        first,
        like_own,
        like_first,
        equal,
        float(torch.stack(marks).mean()),
    )
