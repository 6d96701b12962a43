"""The exercise `multi_head_attention`: the whole layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from solutions import multi_head as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Promise, Raises
from .multi_head_attention_wrong import MISCONCEPTIONS


def attention_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two heads, three tokens, all widths 4", _inputs(rng, (3, 4), 2, 2, 2, 4))
    yield Case("three heads, values of another width", _inputs(rng, (4, 5), 3, 2, 3, 5))
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    yield Case("a mask", _inputs(rng, (3, 4), 2, 2, 2, 4), {"mask": mask})
    mask = np.array([[False, False, False], [True, True, False], [False, True, True]])
    yield Case(
        "a token that may attend to nothing", _inputs(rng, (3, 4), 2, 2, 2, 4), {"mask": mask}
    )
    yield Case("large scores", _inputs(rng, (4, 5), 2, 3, 3, 5, size=25.0))
    mask = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    inputs = _inputs(rng, (2, 4, 6), 2, 3, 3, 6, np.float32)
    yield Case("float32, as many sentences as heads, padding hidden", inputs, {"mask": mask})
    mask = np.array([[[[True, False]]], [[[True, True]]]])
    inputs = _inputs(rng, (2, 2, 2, 4), 3, 1, 1, 4)
    yield Case("two leading batch axes, padding hidden", inputs, {"mask": mask})
    X, *rest = _inputs(rng, (1, 1, 1), 1, 1, 1, 1)
    yield Case("one tiny token, one head, all widths 1, a batch of one", (X * 1e-9, *rest))
    mask = np.array([[True, False], [True, True]])
    inputs = _inputs(rng, (2, 1, 3, 2, 4), 2, 2, 2, 4)
    yield Case("three leading batch axes, one of length 1, one mask for all", (*inputs, mask))
    mask = np.array([[True], [False], [True]])
    yield Case("a mask with one column", _inputs(rng, (3, 4), 2, 2, 2, 4), {"mask": mask})
    apart, mask = _far_apart(rng)
    yield Case("large scores, a mask of one axis hides the largest", apart, {"mask": mask})
    asked = Raises("ValueError")
    X, W_q, W_k, W_v, W_o, _ = _inputs(rng, (3, 4), 1, 5, 4, 4)
    yield Case("keys of width 5, two heads", (X, W_q, W_k, W_v, W_o, 2), raises=asked)
    X, W_q, W_k, W_v, W_o, _ = _inputs(rng, (3, 4), 1, 4, 5, 4)
    yield Case("values of width 5, two heads", (X, W_q, W_k, W_v, W_o, 2), raises=asked)
    inputs = _inputs(rng, (3, 4), 2, 2, 2, 4)
    mask = np.ones((4, 4), dtype=bool)
    yield Case("a mask for four tokens, three tokens", inputs, {"mask": mask}, raises=asked)
    X, W_q, W_k, W_v, W_o, _ = _inputs(rng, (3, 4), 1, 1, 4, 4)
    yield Case("keys of width 1, two heads", (X, W_q, W_k, W_v, W_o, 2), raises=asked)
    X, W_q, W_k, *rest = _inputs(rng, (4, 3), 2, 2, 2, 3)
    X[1] = 0
    mask = np.arange(4) < 3
    yield Case("a token of zeros, one mask for all queries", (X, W_q, W_k, *rest), {"mask": mask})
    low = (np.abs(X) + 0.1, 1e6 * np.abs(W_q), -1e6 * np.abs(W_k), *rest)
    yield Case("scores below any stand-in for infinity", low, {"mask": mask})


def attention_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n_heads, n, d_head = (int(size) for size in rng.permutation([2, 3, 4]))
    d_model = n_heads * d_head
    yield Case("all widths alike", _inputs(rng, (n, d_model), n_heads, d_head, d_head, d_model))
    yield Case("all widths differ", _inputs(rng, (n, 5), n_heads, d_head, d_head + 1, 7))
    mask = _mask(rng, n)
    mask[0] = False
    inputs = _inputs(rng, (n, 5), n_heads, d_head, d_head, 5)
    yield Case("a mask, and a token that may attend to nothing", inputs, {"mask": mask})
    yield Case("large scores", _inputs(rng, (n, 5), n_heads, d_head, d_head, 5, size=25.0))
    mask = np.arange(n) < np.arange(n_heads)[:, None, None] % n + 1
    inputs = _inputs(rng, (n_heads, n, 5), n_heads, d_head, d_head, 5)
    yield Case("as many sentences as heads, padding hidden", inputs, {"mask": mask})
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
    yield Case("one token, one head, a batch of one", inputs)
    mask = np.arange(n)[:, None] % 2 == 0
    inputs = _inputs(rng, (2, n, 5), n_heads, d_head, d_head, 6)
    yield Case("a mask with one column", inputs, {"mask": mask})
    apart, mask = _far_apart(rng)
    yield Case("large scores, a mask of one axis hides the largest", apart, {"mask": mask})
    X, W_q, W_k, W_v, W_o, _ = _inputs(rng, (n, 5), n_heads, d_head, d_head, 6)
    uneven = X, W_q, W_k, np.hstack([W_v, W_v[:, :1]]), np.vstack([W_o, W_o[:1]]), n_heads
    asked = Raises("ValueError")
    yield Case("a feature of the values too many to be shared out", uneven, raises=asked)
    mask = np.ones((n + 1, n + 1), dtype=bool)
    inputs = (X, W_q, W_k, W_v, W_o, n_heads)
    yield Case("a mask for a token more", inputs, {"mask": mask}, raises=asked)


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


def multi_head__head_by_head(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    if any(W.shape[1] % n_heads for W in (W_q, W_k, W_v)):
        raise ValueError("n_heads must divide every width")
    d_k, d_v = W_q.shape[1] // n_heads, W_v.shape[1] // n_heads
    seen = np.ones((*X.shape[:-1], X.shape[-2]), dtype=bool)
    seen = seen if mask is None else seen & mask
    output, tables = 0, []
    for h in range(n_heads):
        columns = slice(h * d_k, (h + 1) * d_k)
        scores = X @ W_q[:, columns] @ np.swapaxes(X @ W_k[:, columns], -1, -2) / d_k**0.5
        scores = np.where(seen, scores, -1e30)
        shares = np.where(seen, np.exp(scores - scores.max(axis=-1, keepdims=True)), 0)
        tables.append(shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30))
        rows = slice(h * d_v, (h + 1) * d_v)
        output = output + tables[-1] @ (X @ W_v[:, rows]) @ W_o[rows]
    return output, np.stack(tables, axis=-3)


def multi_head__einsum(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (
        np.einsum("...nd,dhk->...hnk", X, W.reshape(W.shape[0], n_heads, W.shape[1] // n_heads))
        for W in (W_q, W_k, W_v)
    )
    scores = np.einsum("...hik,...hjk->...hij", Q, K) / np.sqrt(Q.shape[-1])
    if mask is not None:
        while mask.ndim < X.ndim:
            mask = mask[None]
        scores = np.where(mask[..., None, :, :], scores, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = np.nan_to_num(weights / weights.sum(axis=-1, keepdims=True))
    rows = W_o.reshape(n_heads, W_o.shape[0] // n_heads, W_o.shape[1])
    return np.einsum("...hij,...hjv,hvo->...io", weights, V, rows), weights


def multi_head__heads_first(X, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (np.array(np.split(X @ W, n_heads, axis=-1)) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    mask = np.ones(1, dtype=bool) if mask is None else mask
    seen = np.broadcast_to(mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=seen, initial=-1e30)
    shares = np.exp(np.where(seen, scores - largest, -1e30))
    shares = np.where(seen, shares, 0)
    weights = shares / np.maximum(shares.sum(axis=-1, keepdims=True), 1e-30)
    merged = np.concatenate(list(weights @ V), axis=-1)
    return merged @ W_o, np.moveaxis(weights, 0, -3)


MULTI_HEAD_ATTENTION = Exercise(
    name="multi_head_attention",
    points=5,
    difficulty=4,
    minutes=35,
    reference=solutions.multi_head_attention,
    cases=attention_cases,
    hidden=attention_hidden,
    misconceptions=MISCONCEPTIONS,
    alternatives=(
        multi_head__head_by_head,
        multi_head__einsum,
        multi_head__heads_first,
    ),
    help=(
        "Project three times, split into heads, let each head attend with its own softmax, merge, "
        "and mix by W_o. Return both results.",
        "With the axes batch, head, token, feature, one matrix product over the last two axes "
        "serves all heads. A mask is the same for all heads: give it an axis of length 1 where "
        "the scores have their heads. Ask of each axis of each product: does it count tokens or "
        "features?",
        "Section “Split, attend, merge, mix”; for masks, chapter 5, section “Masks”.",
    ),
    promises=(
        Promise(
            "X: (..., n, d), n at least 1",
            (
                "two heads, three tokens, all widths 4",
                "one tiny token, one head, all widths 1, a batch of one",
                "three leading batch axes, one of length 1, one mask for all",
            ),
        ),
        Promise(
            "W_q and W_k: (d, n_heads * d_k). W_v: (d, n_heads * d_v). W_o: (n_heads * d_v, d_out)",
            ("three heads, values of another width", "all widths differ"),
        ),
        Promise(
            "Often all four are (d_model, d_model)",
            ("two heads, three tokens, all widths 4", "all widths alike"),
        ),
        Promise("n_heads: at least 1", ("one token, one head, a batch of one",)),
        Promise(
            "The first d_k columns of W_q and W_k, the first d_v columns of W_v and the first d_v "
            "rows of W_o belong to the first head, and so on",
            ("three heads, values of another width", "all widths differ"),
        ),
        Promise(
            "Each head is scaled dot-product attention of its own",
            ("two heads, three tokens, all widths 4", "all widths differ"),
        ),
        Promise(
            "Scores may be large, above 0 or below",
            ("large scores", "large scores, a mask of one axis hides the largest"),
        ),
        Promise(
            "boolean, broadcastable to (..., n, n), and perhaps with fewer axes, True where a "
            "token may attend, the same for all heads",
            (
                "a mask",
                "a mask with one column",
                "large scores, a mask of one axis hides the largest",
                "as many sentences as heads, padding hidden",
                "three leading batch axes, one of length 1, one mask for all",
            ),
        ),
        Promise("None lets every token attend to every token", ("all widths alike",)),
        Promise(
            "Returns (output, weights) of shapes (..., n, d_out) and (..., n_heads, n, n)",
            ("all widths differ", "one tiny token, one head, all widths 1, a batch of one"),
        ),
        Promise(
            "A token that may attend to nothing gets weights 0 and output 0",
            ("a token that may attend to nothing", "a mask with one column"),
        ),
        Promise(
            "Raises ValueError if the width of the queries and keys or that of the values is not "
            "divisible by n_heads",
            (
                "keys of width 5, two heads",
                "values of width 5, two heads",
                "a feature of the values too many to be shared out",
            ),
        ),
        Promise(
            "if the mask is for another number of tokens, so that the two cannot be broadcast "
            "together",
            ("a mask for four tokens, three tokens", "a mask for a token more"),
        ),
    ),
    forbidden=forbidden.ATTENTION,
)
