"""The cases of the exercise `multi_head_attention`."""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Raises


def public(rng):
    yield Case("two heads, three tokens, all widths 4", _inputs(rng, (3, 4), 2, 2, 2, 4)).holds(
        "X: (..., n, d), n at least 1",
        "Often all four are (d_model, d_model)",
        "Each head is scaled dot-product attention of its own",
    )
    yield Case("three heads, values of another width", _inputs(rng, (4, 5), 3, 2, 3, 5)).holds(
        "W_q and W_k: (d, n_heads * d_k). W_v: (d, n_heads * d_v). W_o: (n_heads * d_v, d_out)",
        "The first d_k columns of W_q and W_k, the first d_v columns of W_v and the first d_v "
        "rows of W_o belong to the first head, and so on",
    )
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    yield Case("a mask", _inputs(rng, (3, 4), 2, 2, 2, 4), {"mask": mask}).holds(
        "boolean, broadcastable to (..., n, n), and perhaps with fewer axes, True where a token "
        "may attend, the same for all heads"
    )
    mask = np.array([[False, False, False], [True, True, False], [False, True, True]])
    yield Case(
        "a token that may attend to nothing", _inputs(rng, (3, 4), 2, 2, 2, 4), {"mask": mask}
    ).holds("A token that may attend to nothing gets weights 0 and output 0")
    yield Case("large scores", _inputs(rng, (4, 5), 2, 3, 3, 5, size=25.0)).holds(
        "Scores may be large, above 0 or below"
    )
    mask = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    inputs = _inputs(rng, (2, 4, 6), 2, 3, 3, 6, np.float32)
    yield Case("float32, as many sentences as heads, padding hidden", inputs, {"mask": mask})
    mask = np.array([[[[True, False]]], [[[True, True]]]])
    inputs = _inputs(rng, (2, 2, 2, 4), 3, 1, 1, 4)
    yield Case("two leading batch axes, padding hidden", inputs, {"mask": mask})
    X, *rest = _inputs(rng, (1, 1, 1), 1, 1, 1, 1)
    yield Case("one tiny token, one head, all widths 1, a batch of one", (X * 1e-9, *rest)).holds(
        "X: (...…", "Returns (output, weights) of shapes (..., n, d_out) and (..., n_heads, n, n)"
    )
    mask = np.array([[True, False], [True, True]])
    inputs = _inputs(rng, (2, 1, 3, 2, 4), 2, 2, 2, 4)
    yield Case(
        "three leading batch axes, one of length 1, one mask for all", (*inputs, mask)
    ).holds("X: (...…", "boolean, broadcastable…")
    mask = np.array([[True], [False], [True]])
    yield Case("a mask with one column", _inputs(rng, (3, 4), 2, 2, 2, 4), {"mask": mask}).holds(
        "boolean, broadcastable…", "A token that…"
    )
    apart, mask = _far_apart(rng)
    yield Case("large scores, a mask of one axis hides the largest", apart, {"mask": mask}).holds(
        "Scores may…", "boolean, broadcastable…"
    )
    asked = Raises("ValueError")
    X, W_q, W_k, W_v, W_o, _ = _inputs(rng, (3, 4), 1, 5, 4, 4)
    yield Case("keys of width 5, two heads", (X, W_q, W_k, W_v, W_o, 2), raises=asked).holds(
        "Raises ValueError if the width of the queries and keys or that of the values is not "
        "divisible by n_heads"
    )
    X, W_q, W_k, W_v, W_o, _ = _inputs(rng, (3, 4), 1, 4, 5, 4)
    yield Case("values of width 5, two heads", (X, W_q, W_k, W_v, W_o, 2), raises=asked).holds(
        "Raises ValueError…"
    )
    inputs = _inputs(rng, (3, 4), 2, 2, 2, 4)
    mask = np.ones((4, 4), dtype=bool)
    yield Case("a mask for four tokens, three tokens", inputs, {"mask": mask}, raises=asked).holds(
        "if the mask is for another number of tokens, so that the two cannot be broadcast together"
    )
    X, W_q, W_k, W_v, W_o, _ = _inputs(rng, (3, 4), 1, 1, 4, 4)
    yield Case("keys of width 1, two heads", (X, W_q, W_k, W_v, W_o, 2), raises=asked)
    X, W_q, W_k, *rest = _inputs(rng, (4, 3), 2, 2, 2, 3)
    X[1] = 0
    mask = np.arange(4) < 3
    yield Case("a token of zeros, one mask for all queries", (X, W_q, W_k, *rest), {"mask": mask})
    low = (np.abs(X) + 0.1, 1e6 * np.abs(W_q), -1e6 * np.abs(W_k), *rest)
    hidden_one = ~np.eye(4, dtype=bool)  # the second token may not see its largest score
    yield Case("scores below any stand-in for infinity", low, {"mask": hidden_one})


def hidden(rng):
    n_heads, n, d_head = (int(size) for size in rng.permutation([2, 3, 4]))
    d_model = n_heads * d_head
    yield Case(
        "all widths equal", _inputs(rng, (n, d_model), n_heads, d_head, d_head, d_model)
    ).holds("Often all…", "None lets every token attend to every token")
    yield Case("all widths differ", _inputs(rng, (n, 5), n_heads, d_head, d_head + 1, 7)).holds(
        "W_q and W_k…", "The first…", "Each head…", "Returns (output…"
    )
    mask = _mask(rng, n)
    mask[0] = False
    inputs = _inputs(rng, (n, 5), n_heads, d_head, d_head, 5)
    yield Case("a mask, and a token that may attend to nothing", inputs, {"mask": mask})
    yield Case("large scores", _inputs(rng, (n, 5), n_heads, d_head, d_head, 5, size=25.0))
    mask = np.arange(n) < np.arange(n_heads)[:, None, None] % n + 1
    inputs = _inputs(rng, (n_heads, n, 5), n_heads, d_head, d_head, 5)
    yield Case("as many sentences as heads, padding hidden", inputs, {"mask": mask}).holds(
        "boolean, broadcastable…"
    )
    side = 3 if n_heads == 2 else 2  # not n_heads, or two ways to misplace a mask look the same
    mask = np.arange(n) < np.arange(side)[:, None, None, None] % n + 1
    inputs = _inputs(rng, (side, side, n, 5), n_heads, d_head, d_head, 5)
    yield Case("two leading batch axes, padding hidden", inputs, {"mask": mask})
    inputs = _inputs(rng, (2, 3, 1, n, 5), n_heads, d_head, d_head, 6, np.float32)
    yield Case(
        "float32, three leading batch axes, one of length 1, one mask for all",
        (*inputs, _mask(rng, n)),
    )
    inputs = _inputs(rng, (1, 1, 5), 1, d_head, 1, 1)
    yield Case("one token, one head, a batch of one", inputs).holds("n_heads: at least 1")
    mask = np.arange(n)[:, None] % 2 == 0
    inputs = _inputs(rng, (2, n, 5), n_heads, d_head, d_head, 6)
    yield Case("a mask with one column", inputs, {"mask": mask})
    apart, mask = _far_apart(rng)
    yield Case("large scores, a mask of one axis hides the largest", apart, {"mask": mask})
    X, W_q, W_k, W_v, W_o, _ = _inputs(rng, (n, 5), n_heads, d_head, d_head, 6)
    uneven = X, W_q, W_k, np.hstack([W_v, W_v[:, :1]]), np.vstack([W_o, W_o[:1]]), n_heads
    asked = Raises("ValueError")
    yield Case("one feature of the values too many to be shared out", uneven, raises=asked).holds(
        "Raises ValueError…"
    )
    mask = np.ones((n + 1, n + 1), dtype=bool)
    inputs = (X, W_q, W_k, W_v, W_o, n_heads)
    yield Case("a mask for one token more", inputs, {"mask": mask}, raises=asked).holds(
        "if the mask…"
    )
    X, W_q, W_k, *rest = _inputs(rng, (n, 5), n_heads, d_head, d_head, 6)
    low = (np.abs(X) + 0.1, 1e6 * np.abs(W_q), -1e6 * np.abs(W_k), *rest)
    yield Case("scores below any stand-in for infinity", low, {"mask": _mask(rng, n)})


def _far_apart(rng: np.random.Generator) -> tuple[tuple[Any, ...], np.ndarray]:
    """Inputs of two heads of one feature, and a mask: scores from -50 000 to 250 000."""
    order = rng.permutation(4)
    X = np.array([[3.0, -2], [3, -5], [5, 1], [1, -2]])[order]
    mask = np.array([True, True, False, True])[order]
    W = np.array([[100.0, 0], [0, 100]])
    return (X, W, W, rng.normal(size=(2, 4)), rng.normal(size=(4, 3)), 2), mask


def _inputs(
    rng: np.random.Generator,
    tokens: tuple[int, ...],
    n_heads: int,
    d_k: int,
    d_v: int,
    d_out: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[Any, ...]:
    """Random X of shape `tokens`, the four matrices, n_heads; `size` multiplies W_q and W_k."""
    d = tokens[-1]
    shapes = ((d, n_heads * d_k), (d, n_heads * d_k), (d, n_heads * d_v), (n_heads * d_v, d_out))
    W_q, W_k, W_v, W_o = (rng.normal(size=shape) for shape in shapes)
    arrays = (rng.normal(size=tokens), W_q * size / 2, W_k * size / 2, W_v, W_o)
    return (*(array.astype(dtype) for array in arrays), n_heads)


def _mask(rng: np.random.Generator, n: int) -> np.ndarray:
    """A random mask with at least one key to attend to, and one hidden, in every row."""
    order = rng.permuted(np.tile(np.arange(n), (n, 1)), axis=1)
    return order < rng.integers(1, n, size=(n, 1))
