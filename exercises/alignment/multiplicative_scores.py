"""The exercise `multiplicative_scores`: a product compares two states. To debug.

The given function uses the transpose of the matrix. Where both states have the same width it runs,
and a model that is trained with it learns the transposed matrix.
"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind, Raises
from solutions import alignment as solutions

multiplicative_scores = Declaration(
    solutions.multiplicative_scores,
    points=2,
    difficulty=2,
    minutes=10,
    kind=Kind.DEBUG,
    help=(
        "The colleague's states all had the same width. What does the function do with states of "
        "different widths?",
        "According to the docstring, which axis of W belongs to the decoder's state? Which axis "
        "does the function multiply with that state?",
        "Section “Other scores”.",
    ),
)


@multiplicative_scores.right
def loop(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"widths {s.shape[-1]} and {H.shape[-1]}, and no matrix")
    scores = np.zeros_like(H[..., 0])
    for place in np.ndindex(scores.shape):
        between = np.eye(H.shape[-1], dtype=H.dtype) if W is None else W
        scores[place] = s[place[:-1]] @ between @ H[place]
    return scores


@multiplicative_scores.right
def sum_of_products(s, H, W=None):
    if W is None:
        if s.shape[-1] != H.shape[-1]:
            raise ValueError(f"widths {s.shape[-1]} and {H.shape[-1]}, and no matrix")
        return np.sum(s[..., None, :] * H, axis=-1)
    return np.sum(s[..., None, :] * (H @ W.T), axis=-1)


@multiplicative_scores.right
def einsum(s, H, W=None):
    if W is not None:
        return np.einsum("...i,ij,...tj->...t", s, W, H)
    if s.shape[-1] != H.shape[-1]:
        raise ValueError(f"widths {s.shape[-1]} and {H.shape[-1]}, and no matrix")
    return np.einsum("...i,...ti->...t", s, H)


@multiplicative_scores.right
def plain(s, H, W=None):
    asks = s if W is None else s @ W
    if asks.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    scores = H @ asks[..., None]
    return scores[..., 0]


@multiplicative_scores.wrong(
    "matrix transposed",
    "Which rows does W have, as many as the decoder's state or as the encoder's? Try states of "
    "different widths.",
    released=True,
)
def _(s, H, W=None):
    if W is None and s.shape[-1] != H.shape[-1]:
        raise ValueError(f"states of {s.shape[-1]} and {H.shape[-1]}")
    projected = H if W is None else H @ W
    scores = projected @ s[..., None]
    return scores[..., 0]


multiplicative_scores.wrong(
    "matrix ignored",
    "Change W. Do your scores change?",
    plain.edit("s if W is None else s @ W", "s"),
)
multiplicative_scores.wrong(
    "divided by the root of the width",
    "That is the score of chapter 5. By what does the docstring divide?",
    plain.edit("scores[..., 0]", "scores[..., 0] / np.sqrt(H.shape[-1]).astype(H.dtype)"),
)
multiplicative_scores.wrong(
    "softmax applied",
    "Does the docstring ask for scores or for weights? Do your scores sum to 1?",
    plain.edit(
        "return scores[..., 0]",
        "scores = scores[..., 0]\n"
        "shares = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
        "return shares / shares.sum(axis=-1, keepdims=True)",
    ),
)
multiplicative_scores.wrong(
    "one axis too many",
    "How many axes should the result for one sentence have, and how many does yours have?",
    plain.edit("scores[..., 0]", "scores"),
)
multiplicative_scores.wrong(
    "no axis for the positions",
    "The state of a batch has shape (batch, d), the encoder's states (batch, T, d). Which axes "
    "does NumPy line up when you multiply them?",
    plain.edit("scores[..., 0]", "(asks * H).sum(axis=-1)"),
)
multiplicative_scores.wrong(
    "a tanh as in the additive score",
    "How large can your scores become? Does this kind of score need a tanh?",
    plain.edit("scores[..., 0]", "np.tanh(scores[..., 0])"),
)
multiplicative_scores.wrong(
    "cosines in place of products",
    "Make a state twice as long. What should happen to its score?",
    plain.edit(
        "return scores[..., 0]",
        "lengths = np.linalg.norm(H, axis=-1) * np.linalg.norm(asks, axis=-1)[..., None]\n"
        "return scores[..., 0] / lengths",
    ),
)


@multiplicative_scores.public
def _(rng):
    s, H = np.array([1.0, 2.0]), np.array([[3.0, 0.0], [0.0, 3.0], [1.0, -1.0]])
    yield Case("dot products with three states", (s, H)).holds(
        "with None the score is the dot product, which needs states of one width",
        "Returns the scores (..., T), before any softmax",
    )
    yield Case(
        "a matrix between states of one width", (s, H, np.array([[0.0, 1.0], [2.0, 0.0]]))
    ).holds("W: (d_s, d_h), the matrix between them")
    yield Case("a matrix, all sizes differ", _inputs(rng, (), 5, 2, 4)).holds(
        "s: (..., d_s), the state of the decoder. H: (..., T, d_h), the states of the encoder, "
        "one a row, with the same leading axes."
    )
    yield Case(
        "a batch, as many positions as sentences, a matrix", _inputs(rng, (3,), 3, 2, 4)
    ).holds("s: (...…")
    yield Case("a batch, as many positions as sentences, dot products", _dot(rng, (3,), 3, 2))
    yield Case("all sizes equal, a matrix", _inputs(rng, (3,), 3, 3, 3))
    yield Case(
        "float32, two leading axes, dot products", _dot(rng, (2, 3), 4, 5, np.float32)
    ).holds("with None…")
    yield Case(
        "float32, two leading axes, a matrix", _inputs(rng, (2, 3), 4, 3, 5, np.float32)
    ).holds("s: (...…")
    yield Case("a batch of one, one position, one feature", _inputs(rng, (1,), 1, 1, 1)).holds(
        "s: (...…"
    )
    yield Case(
        "tiny states, three leading axes", _inputs(rng, (2, 1, 3), 2, 3, 2, size=1e-6)
    ).holds("s: (...…")
    yield Case("large states, dot products", _dot(rng, (), 3, 4, size=2000.0)).holds("s: (...…")
    s, H = rng.normal(size=3), rng.normal(size=(4, 5))
    yield Case("two widths, no matrix", (s, H), raises=Raises("ValueError", ("3", "5"))).holds(
        "Raises ValueError, with both widths in its message, for states of different widths "
        "without a matrix"
    )
    s, H = rng.normal(size=1), rng.normal(size=(4, 3))
    yield Case(
        "a width of 1 and one of 3, no matrix", (s, H), raises=Raises("ValueError", ("1", "3"))
    )
    s, H = rng.normal(size=(2, 3)), rng.normal(size=(2, 4, 1))
    yield Case(
        "a width of 3 and one of 1, no matrix", (s, H), raises=Raises("ValueError", ("3", "1"))
    )


@multiplicative_scores.hidden
def _(rng):
    n, d_s, d_h = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("dot products", _dot(rng, (), n, d_s))
    yield Case("a matrix, all sizes differ", _inputs(rng, (), n, d_s, d_h))
    yield Case("a square matrix", _inputs(rng, (), n, d_s, d_s)).holds("W: (d_s…")
    yield Case("a batch, as many positions as sentences, a matrix", _inputs(rng, (n,), n, d_s, d_h))
    yield Case("a batch, as many positions as sentences, dot products", _dot(rng, (n,), n, d_s))
    yield Case("float32, a batch, a matrix", _inputs(rng, (3,), n, d_s, d_h, np.float32))
    yield Case("one position, a batch of one", _dot(rng, (1,), 1, d_s)).holds("Returns the…")
    yield Case("tiny states", _inputs(rng, (2,), n, d_s, d_h, size=1e-6))
    s, H = rng.normal(size=(2, d_s + 3)), rng.normal(size=(2, n, d_h))
    widths = (str(d_s + 3), str(d_h))
    yield Case("two widths, no matrix, a batch", (s, H), raises=Raises("ValueError", widths)).holds(
        "Raises ValueError…"
    )


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
