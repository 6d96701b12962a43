"""Remove heads of the published sentence encoder, and see how far its sentence vectors turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from ...multi_head import head_importance
from ...published.minilm import HEADS, LAYERS, MiniLM
from ...transformer_block import EncoderBlock, MultiHeadAttention, split_heads
from ..alignment.paraphrases import TEXTS
from ..gpt_and_bert.heads import map_of
from ..gpt_and_bert.meanings import CONTEXTS, MORE
from ..gpt_and_bert.search import QUESTIONS

STATEMENTS = tuple(sentence for first, second, _ in TEXTS for sentence in (first, second))
ASKED = tuple(question for question, _ in QUESTIONS)
SENTENCES = (*STATEMENTS, *ASKED, *(sentence for sentence, _ in (*CONTEXTS, *MORE)))
"""The sentences of chapters 2 and 10: paraphrases, questions, and sentences with "date"."""

AT_ONCE, DRAWS = 16, 20
"""The sentences of a measurement, and the random choices of heads it is compared with."""


@dataclass(frozen=True)
class Half:
    """The mean cosine of the sentence vectors with half of the heads of every layer removed.

    random: (DRAWS,), for heads drawn at random in every layer.
    """

    least_first: float
    most_first: float
    random: np.ndarray


def sentences_of(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw AT_ONCE sentences to measure and AT_ONCE others to rank by, as indices."""
    drawn = np.random.default_rng(seed).permutation(len(SENTENCES))
    return drawn[:AT_ONCE], drawn[AT_ONCE : 2 * AT_ONCE]


def attentions(minilm: MiniLM) -> list[MultiHeadAttention]:
    """Return the attention layer of every block."""
    blocks = [block for block in minilm.encoder.blocks if isinstance(block, EncoderBlock)]
    return [block.attention for block in blocks]


@torch.no_grad()
def importances(minilm: MiniLM, sentences: Sequence[str]) -> np.ndarray:
    """Return the importance of every head for every sentence, (sentences, LAYERS, HEADS).

    The output to which a term is compared is that without the bias of W_o.
    """
    found = []
    for sentence in sentences:
        states = minilm.layers([sentence])[:-1]
        for attention, X in zip(attentions(minilm), states, strict=True):
            weights = map_of(attention, X)  # (1, HEADS, n, n)
            values = split_heads(attention.W_v(X), HEADS)  # (1, HEADS, n, d_head)
            W_o = attention.W_o.weight.T
            found.append(head_importance(weights.numpy(), values.numpy(), W_o.numpy()))
    return np.reshape(found, (len(sentences), LAYERS, HEADS))


@contextmanager
def without(minilm: MiniLM, removed: Iterable[tuple[int, int]]) -> Iterator[None]:
    """Leave out the terms of the heads `removed`, pairs of layer and head, within a `with`."""
    weights = [attention.W_o.weight for attention in attentions(minilm)]  # (d, HEADS * d_head)
    whole = [weight.clone() for weight in weights]
    for layer, head in removed:
        weights[layer].unflatten(-1, (HEADS, -1))[:, head] = 0
    try:
        yield
    finally:
        for weight, before in zip(weights, whole, strict=True):
            weight.copy_(before)


def cosines(
    minilm: MiniLM, sentences: Sequence[str], removed: Iterable[tuple[int, int]]
) -> np.ndarray:
    """Return, for each sentence, the cosine of its vectors with and without the heads `removed`."""
    whole = minilm.embed(sentences)
    with without(minilm, removed):
        return np.asarray((whole * minilm.embed(sentences)).sum(dim=-1))


def damages(minilm: MiniLM, sentences: Sequence[str]) -> np.ndarray:
    """Return 1 - cosine after the removal of each head alone, (sentences, LAYERS, HEADS)."""
    heads = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    found = [1 - cosines(minilm, sentences, [head]) for head in heads]
    return np.stack(found, axis=-1).reshape(len(sentences), LAYERS, HEADS)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of all values, in one row; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - (counts + 1) / 2)[which.ravel()])


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Return the correlation of the ranks of two arrays of one shape."""
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def halve(minilm: MiniLM, sentences: Sequence[str], importance: np.ndarray, seed: int) -> Half:
    """Remove half of the heads of every layer; importance: (LAYERS, HEADS)."""

    def kept(heads: np.ndarray) -> float:
        """Return the mean cosine without `heads`, (LAYERS, HEADS / 2)."""
        removed = [(layer, head) for layer in range(LAYERS) for head in heads[layer]]
        return float(cosines(minilm, sentences, removed).mean())

    half = HEADS // 2
    order = importance.argsort(axis=1)
    rng = np.random.default_rng(seed)
    shuffled = [np.array([rng.permutation(HEADS) for _ in range(LAYERS)]) for _ in range(DRAWS)]
    random = np.array([kept(heads[:, :half]) for heads in shuffled])
    return Half(kept(order[:, :half]), kept(order[:, half:]), random)
