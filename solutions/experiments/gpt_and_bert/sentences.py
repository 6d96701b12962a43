"""A language of eight-word sentences in which the probability of every pronoun is known.

In half of the sentences the pronoun precedes its noun, in the other half it follows:

when she left , the queen smiled .
    the queen left , and she smiled .

All 4,608 sentences are equally likely, so every probability can be computed by counting.
"""

from __future__ import annotations

import numpy as np

NOUNS = {
    "he": ("king", "uncle", "boy", "monk"),
    "she": ("queen", "aunt", "girl", "nun"),
    "it": ("train", "storm", "moon", "song"),
    "they": ("twins", "guests", "birds", "drums"),
}
"""Pronoun -> the nouns that it can refer to."""

VERBS = (
    *("arrived", "left", "stopped", "moved", "changed", "returned"),
    *("waited", "fell", "rose", "vanished", "appeared", "turned"),
)

WORDS = (
    *("when", "the", "and", ",", "."),
    *NOUNS,
    *(noun for group in NOUNS.values() for noun in group),
    *VERBS,
    "[MASK]",
)
MASK_ID = WORDS.index("[MASK]")
LENGTH = 8

BEFORE, BEHIND = 1, 5
"""The pronoun's position: before its noun in one half, and after it in the other."""


def sentences() -> np.ndarray:
    """Return all sentences as ids, (4608, 8); first those with the pronoun before its noun."""
    parts = [
        (pronoun, noun, first, second)
        for pronoun, nouns in NOUNS.items()
        for noun in nouns
        for first in VERBS
        for second in VERBS
    ]
    before = [f"when {p} {v} , the {n} {w} ." for p, n, v, w in parts]
    behind = [f"the {n} {v} , and {p} {w} ." for p, n, v, w in parts]
    return np.array([[WORDS.index(one) for one in text.split()] for text in before + behind])


def text_of(ids: np.ndarray) -> str:
    """Return the words of ids (n,)."""
    return " ".join(WORDS[one] for one in ids)


def pronoun_first(ids: np.ndarray) -> np.ndarray:
    """Return whether the pronoun of each sentence, (n, 8), precedes its noun: booleans (n,)."""
    return ids[:, 0] == WORDS.index("when")


def known(ids: np.ndarray, place: int, seen: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return what is known about a position given others, if all ids (n, 8) are equally likely.

    Returns the probability of the actual token and of the likeliest token, (n,) each.
    """
    groups = np.unique(ids[:, seen], axis=0, return_inverse=True)[1].reshape(-1)
    counts = np.zeros((groups.max() + 1, len(WORDS)))
    np.add.at(counts, (groups, ids[:, place]), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return shares[groups, ids[:, place]], shares[groups].max(axis=1)


def product_of_known(ids: np.ndarray) -> np.ndarray:
    """Return the product of each sentence's token probabilities, each given all others: (n,)."""
    places = list(range(LENGTH))
    return np.prod(
        [known(ids, place, [one for one in places if one != place])[0] for place in places], axis=0
    )
