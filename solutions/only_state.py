"""What a decoder can still write from one state of the encoder alone: is a state sufficient?"""

from __future__ import annotations

import numpy as np

from .alignment import masked_softmax


def words_kept(
    scores: np.ndarray,
    H: np.ndarray,
    W_out: np.ndarray,
    targets: np.ndarray,
    only: np.ndarray,
) -> tuple[float, float]:
    """Return the share of right words that a decoder keeps with one state alone, and its null.

    scores: (m, T), one row a target word, of any size. H: (T, d_h), the encoder's states. W_out:
    (d_h, V). A word's logits are its context times W_out, and nothing else. targets: (m,), the ids
    of the words that should be written. A word is right if its target has the largest logit; at
    least one is with all states visible, and no two logits are equal. only: (m,), the position of
    the state that stays visible for each word; all the others get no weight.

    Returns two shares of the words that are right with all states visible, as floats from 0 to 1:
    those that are right with their state of `only` alone, and those that would be right on average
    if the state that stays were drawn from all T of them, each as likely.
    """
    before = np.argmax(masked_softmax(scores) @ H @ W_out, axis=-1) == targets  # (m,)
    alone = np.argmax(H @ W_out, axis=-1) == targets[:, None]  # (m, T)
    kept = alone[np.arange(len(targets)), only]
    return float(np.mean(kept[before])), float(np.mean(alone[before]))
