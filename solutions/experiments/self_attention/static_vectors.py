"""Self-attention without parameters on the static vectors of a published sentence encoder.

The table is that of all-MiniLM-L6-v2: one row for each token, without position and context. The
sentences are ours; they were written before the first run, and they contain neither of the two
words in whose direction "date" is measured.
"""

from __future__ import annotations

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


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    """Return the cosine of the angle between two vectors."""
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


@dataclass(frozen=True)
class Moved:
    """The vector of "date" after one layer in one sentence, and the weights that made it."""

    to_date: float
    """The cosine with the static vector of "date"; then those with two other words."""
    to_fruit: float
    to_calendar: float
    own_weight: float
    """What "date" gives to itself; then the smallest and largest weight of the other tokens."""
    least_other: float
    most_other: float


def move_date(minilm: MiniLM, sentence: str, equal: bool = False) -> Moved:
    """Send `sentence` through self-attention, or through equal weights, and measure "date"."""
    date, fruit, calendar = (static_vectors(minilm, w)[0] for w in ("date", "fruit", "calendar"))
    X = static_vectors(minilm, sentence)  # (n, 384)
    weights = np.full((len(X), len(X)), 1 / len(X)) if equal else self_attention(X)[1]
    at = int(np.flatnonzero((date == X).all(axis=1))[0])
    y, others = weights[at] @ X, np.delete(weights[at], at)
    return Moved(
        to_date=cosine(y, date),
        to_fruit=cosine(y, fruit),
        to_calendar=cosine(y, calendar),
        own_weight=float(weights[at, at]),
        least_other=float(others.min()),
        most_other=float(others.max()),
    )
