"""Self-attention without parameters on the static vectors of a published sentence encoder.

The table is that of all-MiniLM-L6-v2: one row for each token, without position and context. The
sentences are ours; they were written before the first run, and they contain neither of the two
words in whose direction "date" is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...published.minilm import MiniLM
from ...self_attention import self_attention

FRUIT = (
    "she ate a sweet date",
    "the date was dried in the sun",
    "he cut the date and took out the stone",
    "she baked a cake with nuts and a date",
    "the palm bears a brown date",
    "a fig and a date lay on the plate",
)
CALENDAR = (
    "write the date at the top of the letter",
    "what is the date of the meeting",
    "the date of the election is in may",
    "they chose a date for the exam next week",
    "the date on the ticket was wrong",
    "her birth date is in march",
)
"""Sentences about the fruit, and about the day."""


def static_vectors(minilm: MiniLM, text: str) -> np.ndarray:
    """Return the rows of the encoder's embedding table for `text`, (tokens, 384)."""
    ids = minilm.tokenizer.encode(text, add_special_tokens=False).ids
    return minilm.encoder.embedding.weight[ids].double().numpy()


Rule = Callable[[np.ndarray, int], np.ndarray]
"""A function from the tokens (n, d) and a position to the weights (n,) that are given there."""


def attention(X: np.ndarray, at: int) -> np.ndarray:
    """Return the weights of self-attention."""
    return self_attention(X)[1][at]


def equal_weights(X: np.ndarray, at: int) -> np.ndarray:
    """Return the same weight for every token."""
    return np.full(len(X), 1 / len(X))


def own_weight_only(X: np.ndarray, at: int) -> np.ndarray:
    """Return the token's own weight as in self-attention, and equal weights for all others."""
    own = attention(X, at)[at]
    weights = np.full(len(X), (1 - own) / (len(X) - 1))
    weights[at] = own
    return weights


def attention_of_doubled(X: np.ndarray, at: int) -> np.ndarray:
    """Return the weights of self-attention on vectors twice as long."""
    return attention(2 * X, at)


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    """Return the cosine of the angle between two vectors."""
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


@dataclass(frozen=True)
class Moved:
    """The vector of "date" after one layer in one sentence, and its own weight there."""

    to_date: float
    """The cosine with the static vector of "date"; then those with two other words."""
    to_fruit: float
    to_calendar: float
    own_weight: float
    """What "date" gives to itself."""


def move_date(minilm: MiniLM, sentence: str, rule: Rule = attention) -> Moved:
    """Blend the tokens of `sentence` by the weights of `rule`, and measure "date"."""
    date, fruit, calendar = (static_vectors(minilm, w)[0] for w in ("date", "fruit", "calendar"))
    X = static_vectors(minilm, sentence)  # (n, 384)
    at = int(np.flatnonzero((date == X).all(axis=1))[0])
    weights = rule(X, at)
    y = weights @ X
    return Moved(
        to_date=cosine(y, date),
        to_fruit=cosine(y, fruit),
        to_calendar=cosine(y, calendar),
        own_weight=float(weights[at]),
    )
