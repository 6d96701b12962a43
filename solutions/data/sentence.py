"""The sentence of every chapter, with embeddings small enough for mental arithmetic."""

import numpy as np

TOKENS = ("the", "cat", "sat", "on", "the", "mat")
"""The six tokens of the running sentence. "the" occurs twice, with the same embedding."""

FEATURES = ("grammar", "thing", "cat-like", "place")
"""The meanings of the four numbers of an embedding. They are chosen by hand, not learned."""

_EMBEDDINGS = {
    "the": (1.0, 0.0, 0.0, 0.0),
    "cat": (0.0, 1.0, 1.0, 0.0),
    "sat": (0.0, 0.0, 1.0, 1.0),
    "on": (1.0, 0.0, 0.0, 1.0),
    "mat": (0.0, 1.0, 0.0, 1.0),
}


def embed(tokens: tuple[str, ...] = TOKENS) -> np.ndarray:
    """Return the hand-made embeddings of `tokens`, one in each row: (len(tokens), 4).

    Raises KeyError, with the token in its message, if a token is not in the running sentence.
    """
    for token in tokens:
        if token not in _EMBEDDINGS:
            raise KeyError(f"{token!r} has no embedding; known words: {', '.join(_EMBEDDINGS)}")
    return np.array([_EMBEDDINGS[token] for token in tokens])
