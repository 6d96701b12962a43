"""The exercise `project_qkv`: three roles of one vector."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import queries_keys_values as solutions

from ...judging.exercise import Case, Exercise, Misconception, Promise


def projection_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two tokens, everything square", _inputs(rng, (2,), 2, 2, 2))
    yield Case("values of another width", _inputs(rng, (3,), 4, 2, 5))
    yield Case("a batch", _inputs(rng, (2, 3), 3, 3, 3))
    inputs = _inputs(rng, (2, 1, 2, 3), 4, 5, 2, np.float32)
    yield Case("float32, three leading batch axes, one of length 1", inputs)
    yield Case("a batch of one token, all widths 1", _inputs(rng, (1, 1), 1, 1, 1))
    X, *matrices = _inputs(rng, (2,), 2, 2, 2)
    yield Case("two tiny tokens, everything square", (X * 1e-9, *matrices))


def projection_hidden(rng: np.random.Generator) -> Iterator[Case]:
    n, d, d_k, d_v = rng.permutation([2, 3, 4, 5])
    yield Case("as many tokens as features", _inputs(rng, (d,), d, d, d))
    yield Case("all widths differ", _inputs(rng, (n,), d, d_k, d_v))
    yield Case("a batch, float32", _inputs(rng, (3, n), d, d_k, d_v, np.float32))
    inputs = _inputs(rng, (2, 3, 1, n), d, d_k, d_v)
    yield Case("three leading batch axes, one of length 1", inputs)
    yield Case("a batch of one token", _inputs(rng, (1, 1), d, 1, d_v))


def _inputs(
    rng: np.random.Generator,
    tokens: tuple[int, ...],
    d: int,
    d_k: int,
    d_v: int,
    dtype: type = np.float64,
) -> tuple[np.ndarray, ...]:
    """Random X of shape (*tokens, d), and the three matrices."""
    shapes = ((*tokens, d), (d, d_k), (d, d_k), (d, d_v))
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def project_qkv__weights_on_the_left(X, W_q, W_k, W_v):
    return W_q @ X, W_k @ X, W_v @ X


def project_qkv__transposed(X, W_q, W_k, W_v):
    return X @ W_q.T, X @ W_k.T, X @ W_v.T


def project_qkv__tokens_in_columns(X, W_q, W_k, W_v):
    tokens = np.swapaxes(X, -1, -2)
    return W_q.T @ tokens, W_k.T @ tokens, W_v.T @ tokens


def project_qkv__one_projection(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_q, X @ W_q


def project_qkv__keys_first(X, W_q, W_k, W_v):
    return X @ W_k, X @ W_q, X @ W_v


def project_qkv__values_not_projected(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X


def project_qkv__values_from_keys(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X @ W_k @ W_v


def project_qkv__chained(X, W_q, W_k, W_v):
    Q = X @ W_q
    K = Q @ W_k
    return Q, K, K @ W_v


def project_qkv__einsum(X, W_q, W_k, W_v):
    return tuple(np.einsum("...nd,de->...ne", X, W) for W in (W_q, W_k, W_v))


def project_qkv__one_wide_product(X, W_q, W_k, W_v):
    wide = X @ np.concatenate([W_q, W_k, W_v], axis=-1)
    d_k = W_q.shape[-1]
    return wide[..., :d_k], wide[..., d_k : 2 * d_k], wide[..., 2 * d_k :]


def project_qkv__columns(X, W_q, W_k, W_v):
    columns = np.swapaxes(X, -1, -2)
    Q, K, V = (np.swapaxes(W.T @ columns, -1, -2) for W in (W_q, W_k, W_v))
    return Q, K, V


PROJECT_QKV = Exercise(
    name="project_qkv",
    points=1,
    difficulty=1,
    minutes=8,
    reference=solutions.project_qkv,
    cases=projection_cases,
    hidden=projection_hidden,
    misconceptions=(
        Misconception(
            "weights on the left",
            project_qkv__weights_on_the_left,
            "Here a token is a row of X. On which side of X must a matrix stand to act on every "
            "row?",
        ),
        Misconception(
            "weights transposed",
            project_qkv__transposed,
            "W_q has shape (d, d_k). Which of its axes must meet the features of a token? (Some "
            "libraries store weights the other way round.)",
        ),
        Misconception(
            "tokens in columns",
            project_qkv__tokens_in_columns,
            "Which axis of your result counts the tokens? Which one did the input use?",
        ),
        Misconception(
            "one projection for all",
            project_qkv__one_projection,
            "Which of your results changes when W_k or W_v changes?",
        ),
        Misconception(
            "keys returned first",
            project_qkv__keys_first,
            "In which order does the docstring return the three?",
        ),
        Misconception(
            "values not projected",
            project_qkv__values_not_projected,
            "Where in your answer is W_v used?",
        ),
        Misconception(
            "values made from keys",
            project_qkv__values_from_keys,
            "What do the values read: the token, or what the token is found by?",
        ),
        Misconception(
            "projections chained",
            project_qkv__chained,
            "Are the three roles made from the same vector, or each from the one before?",
        ),
    ),
    alternatives=(
        project_qkv__einsum,
        project_qkv__one_wide_product,
        project_qkv__columns,
    ),
    help=(
        "Three matrix products, returned as a tuple.",
        "Write the shapes side by side: (n, d) and (d, d_k). The axes that touch must be equal, "
        "and `@` lets leading axes through.",
        "Section “Three roles of one vector”.",
    ),
    promises=(
        Promise(
            "tokens, one a row, (..., n, d)",
            (
                "as many tokens as features",
                "a batch",
                "three leading batch axes, one of length 1",
            ),
        ),
        Promise("n at least 1", ("a batch of one token, all widths 1", "a batch of one token")),
        Promise("W_q and W_k: (d, d_k). W_v: (d, d_v)", ("all widths differ",)),
        Promise(
            "Returns the tuple (Q, K, V), of shapes (..., n, d_k), (..., n, d_k) and (..., n, d_v)",
            ("two tokens, everything square", "values of another width", "all widths differ"),
        ),
    ),
)
