"""The ways in which the encoders of chapter 10 have words hidden from them in training.

Each takes texts, (batch, n), and returns the inputs and the targets: the hidden token at a hidden
position, and IGNORED everywhere else.
"""

from __future__ import annotations

import numpy as np

from ...gpt_and_bert import IGNORED, mask_tokens
from .sentences import MASK_ID, WORDS

PROBABILITY = 0.15
"""The share of tokens that BERT chooses."""


def as_bert(batch: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Hide 15 % of the tokens as BERT does: not every one of them becomes a mask."""
    return mask_tokens(batch, len(WORDS), MASK_ID, PROBABILITY, generator)


def half_cut_off(
    batch: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Cut half of the batches off at a mask, and treat the others as BERT does."""
    return (cut_off if generator.random() < 0.5 else as_bert)(batch, generator)


def cut_off(batch: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return texts up to a random position, which is hidden: inputs and targets, (batch, m)."""
    length = int(generator.integers(1, batch.shape[1] + 1))
    inputs, targets = batch[:, :length].copy(), np.full((len(batch), length), IGNORED)
    inputs[:, -1], targets[:, -1] = MASK_ID, batch[:, length - 1]
    return inputs, targets


def any_share(batch: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Hide a share of each text that is drawn between 0 and 1: inputs and targets, (batch, n)."""
    share = generator.random((len(batch), 1))
    hidden = generator.random(batch.shape) < share
    return np.where(hidden, MASK_ID, batch), np.where(hidden, batch, IGNORED)


def masks_alone(batch: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Hide 15 % of the tokens, and put a mask in the place of each."""
    return _masked(batch, PROBABILITY, generator)


def half(batch: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Hide half of the tokens, and put a mask in the place of each."""
    return _masked(batch, 0.5, generator)


def _masked(
    batch: np.ndarray, share: float | np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    hidden = generator.random(batch.shape) < share
    return np.where(hidden, MASK_ID, batch), np.where(hidden, batch, IGNORED)
