"""A published encoder as an aligner: which words of two English sentences correspond?

The idea is that of Jalili Sabet, Dufter, Yvon and Schütze (2020), "SimAlign": take cosines between
contextual vectors, and the largest of each row. Sentences and links are ours; they were written
before the first run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...alignment import alignment_error_rate
from ...published.minilm import LAYERS, MiniLM
from .maps import diagonal_of, stacked

TEXTS = (
    (
        "The old man bought a car yesterday .",
        "Yesterday a vehicle was purchased by the elderly gentleman .",
        "0-6 1-7 2-8 3-4 3?3 4-1 5-2 6-0 7-9",
    ),
    (
        "The dog chased the cat through the garden .",
        "Through the garden , the cat was pursued by the dog .",
        "0-9 1-10 2-7 2?6 3-4 4-5 5-0 6-1 7-2 8-11",
    ),
    (
        "The doctor gave the child a small present .",
        "A little gift was handed to the kid by the physician .",
        "0-9 1-10 2-4 2?3 3-6 4-7 5-0 6-1 7-2 8-11",
    ),
    (
        "She quickly closed the window because it was cold .",
        "As it was freezing , she shut the window rapidly .",
        "0-5 1-9 2-6 3-7 4-8 5-0 6-1 7-2 8-3 9-10",
    ),
    (
        "The film that we watched last night was boring .",
        "Yesterday evening we saw a dull movie .",
        "0?4 1-6 3-2 4-3 5-0 6-1 5?1 6?0 8-5 9-7",
    ),
    (
        "My sister teaches mathematics at a large school in the city .",
        "In the city , at a big school , maths is taught by my sister .",
        "0-13 1-14 2-11 2?10 3-9 4-4 5-5 6-6 7-7 8-0 9-1 10-2 11-15",
    ),
    (
        "If it rains tomorrow , the match will be cancelled .",
        "They will call off the game if tomorrow is wet .",
        "0-6 2-9 2?8 3-7 5-4 6-5 7-1 9-2 9-3 10-10",
    ),
    (
        "The company sold its oldest factory to a foreign investor .",
        "An overseas investor bought the oldest plant of the firm .",
        "0-8 1-9 2-3 3?4 3?7 3?8 4-5 5-6 7-0 8-1 9-2 10-10",
    ),
    (
        "The boy with the red hat ate all the apples .",
        "All the apples were eaten by the boy in the red cap .",
        "0-6 1-7 2-8 3-9 4-10 5-11 6-4 6?3 7-0 8-1 9-2 10-12",
    ),
    (
        "After the storm , nobody could find the key of the boat .",
        "The boat 's key could not be found by anyone after the storm .",
        "0-10 1-11 2-12 4-9 4?5 5-4 6-7 6?6 8-3 9-2 10-0 11-1 12-13",
    ),
)
"""Two sentences, and links between their words by number: i-j is sure, i?j possible. A word that
nothing answers has no link. In the last pair, the "the" before "key" is one of these."""


@dataclass(frozen=True)
class Paraphrase:
    """The words of two sentences, and their gold links, sure and possible: boolean (m, n)."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    sure: np.ndarray
    possible: np.ndarray


def paraphrases() -> list[Paraphrase]:
    """Return TEXTS as words and tables."""
    found = []
    for one, other, links in TEXTS:
        first, second = tuple(one.split()), tuple(other.split())
        sure, possible = np.zeros((2, len(first), len(second)), dtype=bool)
        for link in links.split():
            i, j = (int(number) for number in link.replace("?", "-").split("-"))
            possible[i, j] = True
            sure[i, j] = "?" not in link
        found.append(Paraphrase(first, second, sure, possible))
    return found


def diagonal_map(one: Paraphrase) -> np.ndarray:
    """Return the map (m, n) that looks at the same relative position."""
    return diagonal_of(len(one.first), len(one.second))


def word_vectors(minilm: MiniLM, words: Sequence[str]) -> list[Tensor]:
    """Return the vectors of `words` in one sentence: 2 + LAYERS tensors (len(words), 384).

    The first tensor has the vectors of the embedding table, without position and context; the next
    has the inputs of the first block; then come the outputs of each block. The vector of a word in
    several pieces is their mean.
    """
    ids = [minilm.tokenizer.encode(word, add_special_tokens=False).ids for word in words]
    cls, sep = (minilm.tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
    row = torch.tensor([[cls, *(one for piece in ids for one in piece), sep]])
    read = minilm.encoder.layers(row, torch.ones_like(row, dtype=torch.bool))
    word = torch.repeat_interleave(torch.arange(len(ids)), torch.tensor([len(one) for one in ids]))
    share = (torch.arange(len(ids))[:, None] == word).double()
    share /= share.sum(dim=1, keepdim=True)  # (words, pieces)
    layers = [minilm.encoder.embedding(row), *read]
    return [share @ one[0, 1:-1].double() for one in layers]


def similarities(minilm: MiniLM, one: Paraphrase) -> np.ndarray:
    """Return cosines (2 + LAYERS, m, n) between the words of the two sentences, at each layer."""
    sides = (word_vectors(minilm, words) for words in (one.first, one.second))
    tables = [
        torch.nn.functional.normalize(a, dim=-1) @ torch.nn.functional.normalize(b, dim=-1).T
        for a, b in zip(*sides, strict=True)
    ]
    assert len(tables) == 2 + LAYERS
    return torch.stack(tables).numpy()


def error_rate(tables: Sequence[np.ndarray], pairs: Sequence[Paraphrase]) -> float:
    """Return the alignment error rate of all tables (m, n) together.

    Each row claims its largest number, which may be a cosine below 0.
    """
    claims = [np.eye(table.shape[1])[table.argmax(axis=1)] for table in tables]
    gold = [(pair.sure, pair.possible) for pair in pairs]
    return alignment_error_rate(*stacked(claims, *zip(*gold, strict=True)))
