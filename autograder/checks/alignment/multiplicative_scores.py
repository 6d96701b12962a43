"""The exercise `multiplicative_scores`: a product compares two states, with a matrix or without."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import alignment as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise, Raises


def scores_cases(rng: np.random.Generator) -> Iterator[Case]:
    s, H = np.array([1.0, 2.0]), np.array([[3.0, 0.0], [0.0, 3.0], [1.0, -1.0]])
    yield Case("dot products with three states", (s, H))
    yield Case("a matrix between states of one width", (s, H, np.array([[0.0, 1.0], [2.0, 0.0]])))
    yield Case("a matrix, all sizes differ", _inputs(rng, (), 5, 2, 4))
    yield Case("a batch, as many positions as sentences, a matrix", _inputs(rng, (3,), 3, 2, 4))
    yield Case("a batch, as many positions as sentences, dot products", _dot(rng, (3,), 3, 2))
    yield Case("all sizes equal, a matrix", _inputs(rng, (3,), 3, 3, 3))
    yield Case("float32, two leading axes, dot products", _dot(rng, (2, 3), 4, 5, np.float32))
    yield Case("float32, two leading axes, a matrix", _inputs(rng, (2, 3), 4, 3, 5, np.float32))
    yield Case("a batch of one, one position, one feature", _inputs(rng, (1,), 1, 1, 1))
    yield Case("tiny states, three leading axes", _inputs(rng, (2, 1, 3), 2, 3, 2, size=1e-6))
    yield Case("large states, dot products", _dot(rng, (), 3, 4, size=2000.0))
    s, H = rng.normal(size=3), rng.normal(size=(4, 5))
    yield Case("two widths, no matrix", (s, H), raises=Raises("ValueError", ("3", "5")))
    s, H = rng.normal(size=1), rng.normal(size=(4, 3))
    yield Case(
        "a width of 1 and one of 3, no matrix", (s, H), raises=Raises("ValueError", ("1", "3"))
    )
    s, H = rng.normal(size=(2, 3)), rng.normal(size=(2, 4, 1))
    yield Case(
        "a width of 3 and one of 1, no matrix", (s, H), raises=Raises("ValueError", ("3", "1"))
    )


def scores_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d_s, d_h = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("dot products", _dot(rng, (), n, d_s))
    yield Case("a matrix, all sizes differ", _inputs(rng, (), n, d_s, d_h))
    yield Case("a square matrix", _inputs(rng, (), n, d_s, d_s))
    yield Case("a batch, as many positions as sentences, a matrix", _inputs(rng, (n,), n, d_s, d_h))
    yield Case("a batch, as many positions as sentences, dot products", _dot(rng, (n,), n, d_s))
    yield Case("float32, a batch, a matrix", _inputs(rng, (3,), n, d_s, d_h, np.float32))
    yield Case("one position, a batch of one", _dot(rng, (1,), 1, d_s))
    yield Case("tiny states", _inputs(rng, (2,), n, d_s, d_h, size=1e-6))
    s, H = rng.normal(size=(2, d_s + 3)), rng.normal(size=(2, n, d_h))
    widths = (str(d_s + 3), str(d_h))
    yield Case("two widths, no matrix, a batch", (s, H), raises=Raises("ValueError", widths))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n: int,
    d_s: int,
    d_h: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[np.ndarray, ...]:
    """Random s, H and W; `size` multiplies the states."""
    s, H = rng.normal(size=(*batch, d_s)) * size, rng.normal(size=(*batch, n, d_h)) * size
    return s.astype(dtype), H.astype(dtype), rng.normal(size=(d_s, d_h)).astype(dtype)


def _dot(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n: int,
    d: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[np.ndarray, ...]:
    """Random s and H of one width, and no matrix."""
    return _inputs(rng, batch, n, d, d, dtype, size)[:2]


def multiplicative__transposed(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    asks = s if W is None else s @ W.T
    return (H @ asks[..., None])[..., 0]


def multiplicative__matrix_ignored(s, H, W=None):
    if s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    return (H @ s[..., None])[..., 0]


def multiplicative__scaled(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    asks = s if W is None else s @ W
    return (H @ asks[..., None])[..., 0] / np.sqrt(H.shape[-1]).astype(H.dtype)


def multiplicative__softmax(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    asks = s if W is None else s @ W
    scores = (H @ asks[..., None])[..., 0]
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def multiplicative__axis_kept(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    asks = s if W is None else s @ W
    return H @ asks[..., None]


def multiplicative__no_axis_for_the_positions(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    asks = s if W is None else s @ W
    return (asks * H).sum(axis=-1)


def multiplicative__tanh(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    asks = s if W is None else s @ W
    return np.tanh((H @ asks[..., None])[..., 0])


def multiplicative__cosine(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    asks = s if W is None else s @ W
    lengths = np.linalg.norm(H, axis=-1) * np.linalg.norm(asks, axis=-1)[..., None]
    return (H @ asks[..., None])[..., 0] / lengths


def multiplicative__loop(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"widths {s.shape[-1]} and {H.shape[-1]}, and no matrix")
    scores = np.zeros_like(H[..., 0])
    for place in np.ndindex(scores.shape):
        between = np.eye(H.shape[-1], dtype=H.dtype) if W is None else W
        scores[place] = s[place[:-1]] @ between @ H[place]
    return scores


def multiplicative__sum_of_products(s, H, W=None):
    if W is None:
        if s.shape[-1] != H.shape[-1]:
            raise ValueError(f"widths {s.shape[-1]} and {H.shape[-1]}, and no matrix")
        return np.sum(s[..., None, :] * H, axis=-1)
    return np.sum(s[..., None, :] * (H @ W.T), axis=-1)


def multiplicative__einsum(s, H, W=None):
    if W is not None:
        return np.einsum("...i,ij,...tj->...t", s, W, H)
    if s.shape[-1] != H.shape[-1]:
        raise ValueError(f"widths {s.shape[-1]} and {H.shape[-1]}, and no matrix")
    return np.einsum("...i,...ti->...t", s, H)


MULTIPLICATIVE_SCORES = Exercise(
    name="multiplicative_scores",
    points=2,
    difficulty=2,
    minutes=10,
    reference=solutions.multiplicative_scores,
    cases=scores_cases,
    hidden=scores_hidden,
    misconceptions=(
        Misconception(
            "matrix transposed",
            multiplicative__transposed,
            "Which rows does W have, as many as the decoder's state or as the encoder's? Try "
            "states of different widths.",
        ),
        Misconception(
            "matrix ignored",
            multiplicative__matrix_ignored,
            "Change W. Do your scores change?",
        ),
        Misconception(
            "divided by the root of the width",
            multiplicative__scaled,
            "That is the score of chapter 5. By what does the docstring divide?",
        ),
        Misconception(
            "softmax applied",
            multiplicative__softmax,
            "Are scores or weights asked for? Do your scores sum to 1?",
        ),
        Misconception(
            "one axis too many",
            multiplicative__axis_kept,
            "How many axes has the result for one sentence, and how many has yours?",
        ),
        Misconception(
            "no axis for the positions",
            multiplicative__no_axis_for_the_positions,
            "The state of a batch has shape (batch, d), the encoder's states (batch, T, d). Which "
            "axes does NumPy line up when you multiply them?",
        ),
        Misconception(
            "a tanh as in the additive score",
            multiplicative__tanh,
            "How large can your scores become? Does this kind of score need a tanh?",
        ),
        Misconception(
            "cosines in place of products",
            multiplicative__cosine,
            "Make a state twice as long. What should happen to its score?",
        ),
    ),
    alternatives=(
        multiplicative__loop,
        multiplicative__sum_of_products,
        multiplicative__einsum,
    ),
    help=(
        "Bring the decoder's state to the width of the encoder's, by W or as it is; then one dot "
        "product a position.",
        "`s @ W` has shape (..., d_h). Give it an axis of length 1 where it meets the T positions, "
        "and take away the one that is left over.",
        "Section “Other scores”.",
    ),
    promises=(
        Promise(
            "s: (..., d_s), the state of the decoder. H: (..., T, d_h), the states of the encoder, "
            "one a row, with the same leading axes.",
            (
                "a matrix, all sizes differ",
                "a batch, as many positions as sentences, a matrix",
                "a batch of one, one position, one feature",
                "float32, two leading axes, a matrix",
                "tiny states, three leading axes",
                "large states, dot products",
            ),
        ),
        Promise(
            "W: (d_s, d_h), the matrix between them",
            ("a matrix between states of one width", "a square matrix"),
        ),
        Promise(
            "with None the score is the dot product, which needs states of one width",
            ("dot products with three states", "float32, two leading axes, dot products"),
        ),
        Promise(
            "Returns the scores (..., T), before any softmax",
            ("dot products with three states", "one position, a batch of one"),
        ),
        Promise(
            "Raises ValueError, with both widths in its message, for states of different widths "
            "without a matrix",
            ("two widths, no matrix", "two widths, no matrix, a batch"),
        ),
    ),
)
