"""What else would group 24 sentences with "date" by the meaning of the word."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ...published.minilm import MiniLM
from .meanings import CONTEXTS, MORE, WORD

INSTEAD = "thing"
"""A word without the meanings of "date"."""


def right(vectors: Tensor, kinds: Sequence[str]) -> float:
    """Return the share of vectors (n, d) whose nearest other one is of the same kind."""
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    alike = (unit @ unit.T).fill_diagonal_(-torch.inf)
    closest = alike.argmax(dim=-1).tolist()
    return sum(kinds[a] == kinds[b] for a, b in enumerate(closest)) / len(kinds)


@torch.no_grad()
def nulls(model: MiniLM) -> dict[str, list[float]]:
    """Return the share whose nearest other sentence has the same meaning, by layer (7,).

    Of the word itself; of the full stop, or question mark, of its sentence; of another word in its
    place; and of the mean of the other words' own rows of the embedding table, without any
    attention, which is the same for every layer.
    """
    sentences = [sentence for sentence, _ in (*CONTEXTS, *MORE)]
    kinds = [kind for _, kind in (*CONTEXTS, *MORE)]
    others = [sentence.replace(WORD, INSTEAD) for sentence in sentences]
    tokens = [model.tokens(one) for one in sentences]
    at = [one.index(WORD) for one in tokens]
    layers = torch.stack(model.layers(sentences))  # (7, 24, n, 384)
    replaced = torch.stack(model.layers(others))
    rows = torch.arange(len(sentences))
    stops = [len(one) - 2 for one in tokens]  # before [SEP]
    table = model.encoder.embedding.weight
    means = []
    for sentence, place in zip(sentences, at, strict=True):
        ids = model.batch([sentence]).ids[0]
        kept = [n for n in range(1, len(ids) - 1) if n != place]  # neither "date" nor a mark
        means.append(table[ids[kept]].mean(dim=0))
    topic = right(torch.stack(means), kinds)
    return {
        "date": [right(one[rows, at], kinds) for one in layers],
        "the full stop": [right(one[rows, stops], kinds) for one in layers],
        f"“{INSTEAD}” in its place": [right(one[rows, at], kinds) for one in replaced],
        "mean of the other words": [topic] * len(layers),
    }
