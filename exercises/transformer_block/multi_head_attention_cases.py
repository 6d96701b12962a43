"""The cases of the exercise `MultiHeadAttention`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Raises, Setup, Tensor, draw_setup
from solutions import transformer_block as solutions


def public(rng):
    yield _case(rng, "three tokens, two heads", (3, 4), 2).holds(
        "with a bias in each of the four projections",
        "d_model: the features of a token, in and out. n_heads: at least 1.",
        "X: (..., n_q, d_model), the tokens that ask. Returns the same shape.",
        "None lets every token attend to every token",
        "The first d_model / n_heads features of a query, a key and a value belong to the first "
        "head, and so on.",
        "Scores are scaled dot products, and may be large.",
    )
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    yield _case(rng, "a mask", (3, 4), 2, mask=mask).holds(
        "mask: boolean, broadcastable to (..., n_q, n_k), such as (n_k,), True where a token may "
        "attend",
        "the same for all heads",
    )
    yield _case(rng, "keys and values from another sequence", (2, 4), 2, n_k=3).holds(
        "context: (..., n_k, d_model), the tokens that answer; None for `X` itself"
    )
    mask = np.array([[True, True, False], [False, False, False], [False, True, True]])
    yield _case(rng, "a token that may attend to nothing", (3, 6), 2, mask=mask).holds(
        "The first…",
        "A token that may attend to nothing gets 0 from every head, so that its output is the "
        "bias of `W_o`.",
    )
    yield _case(rng, "large scores", (2, 3, 6), 3, size=40.0).holds("Scores are…")
    mask = np.array([[[True, True, False, False]], [[True, True, True, True]]])
    yield _case(
        rng, "float32, a batch, padding hidden", (2, 3, 6), 3, n_k=4, mask=mask, dtype=np.float32
    ).holds("X: (...…", "mask: boolean…")
    row = np.array([True, False, True])
    yield from _edges(rng, 4, 2, _mask(rng, 3, 3), row)
    yield _case(rng, "one token, one feature, a batch of one", (1, 1, 1), 1).holds("X: (...…")
    yield _case(rng, "one key", (2, 3, 4), 2, n_k=1, mask=row[:, None]).holds("context: (...…")
    mask = rng.permuted(np.tile([True, True, False], (2, 3, 1)), axis=-1)
    yield _case(rng, "as many sequences as heads, each with a mask", (2, 3, 4), 2, mask=mask).holds(
        "the same…"
    )
    yield _not_made("5 features, 3 heads", 5, 3).holds(
        "Raises ValueError, with both numbers in its message, if d_model is not divisible by "
        "n_heads."
    )
    mask = np.ones((3, 4), dtype=bool)
    yield _mask_refused(rng, "a mask with a column too many", (3, 4), mask).holds(
        "ValueError if it is for another number of tokens"
    )
    yield _mask_refused(rng, "a mask with a row too many", (3, 4), mask.T).holds("ValueError if…")
    yield _not_made("1 feature, 2 heads", 1, 2)
    yield _mask_refused(rng, "a mask for three tokens, one token", (1, 4), np.ones(3, dtype=bool))
    note = "as many sequences as tokens, one mask for all"
    yield _case(rng, note, (3, 3, 4), 2, mask=_mask(rng, 3, 3))
    case = _case(
        rng, "a context token of zeros, a mask", (2, 3, 4), 2, n_k=4, mask=_mask(rng, 3, 4)
    )
    case.keywords["context"].array[:, :2] = 0
    yield case
    yield _lowest(_case(rng, "scores below any stand-in for infinity", (3, 4), 2, mask=row))


def hidden(rng):
    n_heads, d_head, n, n_k = (int(one) for one in rng.permutation([2, 3, 4, 5]))
    d_model = n_heads * d_head
    yield _case(rng, "tokens", (n, d_model), n_heads).holds("context: (...…")
    yield _case(rng, "a mask", (n, d_model), n_heads, mask=_mask(rng, n, n))
    yield _case(rng, "keys and values from another sequence", (n, d_model), n_heads, n_k=n_k)
    mask = _mask(rng, n, n)
    mask[rng.integers(n)] = False
    yield _case(rng, "a token that may attend to nothing", (n, d_model), n_heads, mask=mask)
    yield _case(rng, "large scores", (2, n, d_model), n_heads, size=40.0)
    lengths = rng.permutation(np.arange(1, n_k + 1))[:2]  # a mask of its own for each sequence
    mask = np.arange(n_k) < lengths[:, None, None, None]
    yield _case(
        rng,
        "float32, two leading batch axes, padding hidden",
        (2, 3, n, d_model),
        n_heads,
        n_k=n_k,
        mask=mask,
        dtype=np.float32,
    ).holds("X: (...…")
    yield from _edges(rng, d_model, n_heads, _mask(rng, n, n), rng.permutation(n) < n - 1)
    yield _case(
        rng, "three leading axes", (2, 1, 3, n, d_model), n_heads, mask=_mask(rng, n, n)
    ).holds("X: (...…")
    mask = np.stack([_mask(rng, n, n) for _ in range(n_heads)])
    note = "as many sequences as heads, each with a mask"
    yield _case(rng, note, (n_heads, n, d_model), n_heads, mask=mask)
    yield _not_made("features that cannot be shared out", d_model + 1, n_heads).holds(
        "Raises ValueError…"
    )
    mask = np.ones((n, n + 1), dtype=bool)
    yield _mask_refused(rng, "a mask with a column too many", (n, d_model), mask, n_heads)
    yield _mask_refused(rng, "a mask with a row too many", (n, d_model), mask.T, n_heads)


def _edges(
    rng: np.random.Generator, d_model: int, n_heads: int, mask: np.ndarray, row: np.ndarray
) -> Iterator[Case]:
    """Yield the edge cases, which are both public and hidden: n is the length of `row`."""
    n = len(row)
    yield _case(rng, "large scores, a mask", (n, d_model), n_heads, mask=mask, size=100.0).holds(
        "Scores are…"
    )
    yield _case(rng, "a mask of one axis", (2, n, d_model), n_heads, mask=row).holds(
        "mask: boolean…"
    )
    yield _case(rng, "a mask of one column", (n, d_model), n_heads, mask=row[:, None]).holds(
        "mask: boolean…"
    )
    yield _case(rng, "one head", (n, d_model), 1, mask=row[None]).holds(
        "with a bias…", "d_model: the…"
    )
    yield _case(rng, "a head for each feature", (n, d_model), d_model).holds(
        "with a bias…", "d_model: the…"
    )
    yield _case(rng, "no queries", (2, 0, d_model), n_heads, n_k=n).holds("n_q and n_k may be 0")
    yield _case(rng, "no keys", (2, n, d_model), n_heads, n_k=0).holds(
        "n_q and n_k…", "A token that…"
    )
    yield _case(
        rng, "no keys, and a mask", (2, n, d_model), n_heads, n_k=0, mask=mask[:, :0]
    ).holds("n_q and n_k…")
    yield _case(rng, "no tokens, and a mask", (2, 0, d_model), n_heads, mask=mask[:0, :0]).holds(
        "n_q and n_k…"
    )


def _not_made(note: str, d_model: int, n_heads: int) -> Case:
    """A module that must not be made."""
    refused = Raises("ValueError", (str(d_model), str(n_heads)))
    setup = Setup((d_model, n_heads), {}, {})
    return Case(note, (Tensor(np.zeros((2, d_model))),), {}, setup, refused)


def _mask_refused(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    mask: np.ndarray,
    n_heads: int = 2,
) -> Case:
    """A mask that does not broadcast."""
    case = _case(rng, note, shape, n_heads, mask=mask)
    return replace(case, raises=Raises("ValueError"))


def _lowest(case: Case) -> Case:
    """The case with all scores far below 0, and far from one another."""
    setup = case.setup
    assert setup is not None
    weights = dict(setup.weights)
    for name, sign in (("W_q", 1e6), ("W_k", -1e6)):
        weights[f"{name}.weight"] = Tensor(sign * np.abs(setup.weights[f"{name}.weight"].array))
        weights[f"{name}.bias"] = Tensor(0 * setup.weights[f"{name}.bias"].array)
    tokens = Tensor(np.abs(case.arguments[0].array) + 0.1)
    return replace(case, arguments=(tokens,), setup=replace(setup, weights=weights))


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    n_heads: int,
    n_k: int | None = None,
    mask: np.ndarray | None = None,
    size: float = 1.0,
    dtype: type = np.float64,
) -> Case:
    """A case with tokens of `shape`; a context of `n_k` tokens answers, where that is given."""
    setup = draw_setup(rng, solutions.MultiHeadAttention, shape[-1], n_heads, dtype=dtype)
    keywords: dict[str, Any] = {}
    if n_k is not None:
        context = rng.normal(size=(*shape[:-2], n_k, shape[-1])) * size
        keywords["context"] = Tensor(context.astype(dtype))
    if mask is not None:
        keywords["mask"] = Tensor(mask)
    return Case(note, (Tensor((rng.normal(size=shape) * size).astype(dtype)),), keywords, setup)


def _mask(rng: np.random.Generator, n_q: int, n_k: int) -> np.ndarray:
    """A random mask with at least one key to attend to, and one hidden, in every row."""
    order = rng.permuted(np.tile(np.arange(n_k), (n_q, 1)), axis=1)
    return order < rng.integers(1, n_k, size=(n_q, 1))
