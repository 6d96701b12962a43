"""Measurements of self-attention without parameters: what its averages do to tokens.

They are the references of exercises of chapter 4.
"""

import numpy as np

from ..alignment import softmax


def layers_until_merged(X: np.ndarray, distance: float) -> int:
    """Count how often self-attention must be applied until all tokens are close together.

    X: (n, d), the tokens, n at least 1; their scores may be large. The layer is softmax(X X^T) X,
    and each layer reads the outputs of the one before. distance: above 0. Returns the smallest
    number of layers after which no two tokens are farther apart than `distance` (the length of
    their difference): 0 if they are that close already, and -1 if 100 layers are not enough.
    """
    for layers in range(101):
        apart = np.linalg.norm(X[:, None] - X, axis=-1)  # (n, n)
        if apart.max() <= distance:
            return layers
        X = softmax(X @ X.T) @ X
    return -1


def cosines_with_null(X: np.ndarray, i: int, target: np.ndarray) -> np.ndarray:
    """Measure how near a token is to another word: alone, in its sentence, and by the null.

    X: (n, d), the tokens of a sentence. i: the position of a token, from 0 to n - 1. target: (d,),
    the vector of a word that need not be in the sentence. Scores may be large. Returns three
    cosines with `target`, of shape (3,): of token i as it is; of its output, softmax(X X^T) X; and
    of the output with equal weights, 1 / n for each of the n tokens. None of the vectors is 0.
    """
    output = softmax(X @ X.T)[i] @ X  # (d,)
    vectors = np.stack([X[i], output, X.mean(axis=0)])  # (3, d)
    lengths = np.linalg.norm(vectors, axis=-1) * np.linalg.norm(target)
    cosines: np.ndarray = vectors @ target / lengths
    return cosines
