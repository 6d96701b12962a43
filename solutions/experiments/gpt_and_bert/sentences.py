"""A language of eight-word sentences in which all is known: what decides a pronoun, and how far.

In one half the pronoun stands before its noun, in the other half behind it:

    when she left , the queen smiled .
    the queen left , and she smiled .

All 4,608 sentences are equally likely, so that every probability can be counted.
"""

from __future__ import annotations

import numpy as np

NOUNS = {
    "he": ("king", "uncle", "boy", "monk"),
    "she": ("queen", "aunt", "girl", "nun"),
    "it": ("train", "storm", "moon", "song"),
    "they": ("twins", "guests", "birds", "drums"),
}
"""The nouns that each pronoun can stand for."""

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
"""Where the pronoun stands: before its noun in the one half, and behind it in the other."""


def sentences() -> np.ndarray:
    """All sentences as ids, (4608, 8): first those whose pronoun stands before its noun."""
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
    """The words of some ids, (n,)."""
    return " ".join(WORDS[one] for one in ids)


def pronoun_first(ids: np.ndarray) -> np.ndarray:
    """Which of the sentences, (n, 8), have their pronoun before its noun: booleans (n,)."""
    return ids[:, 0] == WORDS.index("when")


def known(ids: np.ndarray, place: int, seen: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """What can be known of one place when some others are seen, if all of ids, (n, 8), are likely.

    Returns the probability of the token that stands there, and that of the likeliest, (n,) each.
    """
    groups = np.unique(ids[:, seen], axis=0, return_inverse=True)[1].reshape(-1)
    counts = np.zeros((groups.max() + 1, len(WORDS)))
    np.add.at(counts, (groups, ids[:, place]), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return shares[groups, ids[:, place]], shares[groups].max(axis=1)


def product_of_known(ids: np.ndarray) -> np.ndarray:
    """For each sentence the product of its tokens' probabilities, each given all others: (n,)."""
    places = list(range(LENGTH))
    return np.prod(
        [known(ids, place, [one for one in places if one != place])[0] for place in places], axis=0
    )
