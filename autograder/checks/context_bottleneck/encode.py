"""The exercise `encode`: a sentence read into its last state."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions import context_bottleneck as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Misconception, Promise, Raises


def encode_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("two tokens", _inputs(rng, (), 2, 3, 2))
    yield Case("one token", _inputs(rng, (), 1, 3, 2))
    yield Case("five tokens", _inputs(rng, (), 5, 2, 3))
    yield Case("two sentences at once, float32", _inputs(rng, (2,), 4, 3, 5, np.float32))
    yield Case("as many sentences as tokens", _inputs(rng, (3,), 3, 2, 4))
    yield Case("one sentence in the batch, one hidden unit", _inputs(rng, (1,), 3, 2, 1))
    yield Case("no token", _inputs(rng, (), 0, 3, 2), raises=Raises("ValueError"))
    yield Case("five other tokens", _inputs(rng, (), 5, 2, 3))
    yield Case("large tokens", _inputs(rng, (), 3, 2, 4, size=1e5))
    X, h_0, W_xh, W_hh, b = _inputs(rng, (2, 1, 3), 2, 3, 2)
    tiny = 1e-6 * X, 1e-6 * h_0, W_xh, W_hh, 1e-6 * b
    yield Case("three leading batch axes, tiny numbers", tiny)
    yield Case("a batch of no tokens", _inputs(rng, (2,), 0, 3, 2), raises=Raises("ValueError"))
    yield Case("no token, of one feature", _inputs(rng, (), 0, 1, 1), raises=Raises("ValueError"))


def encode_hidden(rng: np.random.Generator) -> Iterator[Case]:
    T, d, d_h = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("one sentence", _inputs(rng, (), T, d, d_h))
    yield Case("one token", _inputs(rng, (), 1, d, d_h))
    yield Case("a batch", _inputs(rng, (2,), T, d, d_h))
    yield Case("as many sentences as tokens, float32", _inputs(rng, (T,), T, d, d_h, np.float32))
    yield Case("two leading batch axes", _inputs(rng, (2, 3), T, d, d_h))
    yield Case("one sentence of one token in the batch", _inputs(rng, (1,), 1, d, d_h))
    yield Case("one hidden unit", _inputs(rng, (), T, d, 1))
    yield Case("large tokens", _inputs(rng, (2,), T, d, d_h, size=1e5))
    yield Case("no token", _inputs(rng, (), 0, d, d_h), raises=Raises("ValueError"))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    T: int,
    d: int,
    d_h: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[np.ndarray, ...]:
    """Random X, h_0, W_xh, W_hh and b; `size` multiplies the tokens."""
    X, h_0 = size * rng.normal(size=(*batch, T, d)), rng.uniform(0.2, 0.9, size=(*batch, d_h))
    W_xh, W_hh = 0.7 * rng.normal(size=(d, d_h)), 0.7 * rng.normal(size=(d_h, d_h))
    b = rng.uniform(0.2, 0.6, size=d_h)
    return tuple(array.astype(dtype) for array in (X, h_0, W_xh, W_hh, b))


def encode__not_carried(X, h_0, W_xh, W_hh, b):
    if X.shape[-2] == 0:
        raise ValueError("no token")
    H = np.tanh(X @ W_xh + (h_0 @ W_hh)[..., None, :] + b)
    return H, H[..., -1, :]


def encode__from_zero(X, h_0, W_xh, W_hh, b):
    h, states = np.zeros_like(h_0), []
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    return np.stack(states, axis=-2), h


def encode__first_for_last(X, h_0, W_xh, W_hh, b):
    h, states = h_0, []
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    return np.stack(states, axis=-2), states[0]


def encode__all_for_last(X, h_0, W_xh, W_hh, b):
    h, states = h_0, []
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    H = np.stack(states, axis=-2)
    return H, H


def encode__before_the_token(X, h_0, W_xh, W_hh, b):
    h, states = h_0, []
    for t in range(X.shape[-2]):
        states.append(h)
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
    return np.stack(states, axis=-2), h


def encode__first_state_kept(X, h_0, W_xh, W_hh, b):
    h, states = h_0, [h_0]
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    return np.stack(states, axis=-2), h


def encode__swapped(X, h_0, W_xh, W_hh, b):
    h, states = h_0, []
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    return h, np.stack(states, axis=-2)


def encode__from_the_end(X, h_0, W_xh, W_hh, b):
    h, states = h_0, []
    for t in reversed(range(X.shape[-2])):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    return np.stack(states, axis=-2), h


def encode__first_axis(X, h_0, W_xh, W_hh, b):
    h, states = h_0, []
    for x in X:
        h = np.tanh(x @ W_xh + h @ W_hh + b)
        states.append(h)
    return np.stack(states), h


def encode__time_first(X, h_0, W_xh, W_hh, b):
    h, states = h_0, []
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    return np.array(states), h


def encode__one_memory_for_all(X, h_0, W_xh, W_hh, b):
    h, states = h_0.copy(), []
    for t in range(X.shape[-2]):
        h[...] = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    return np.stack(states, axis=-2), h


def encode__nothing_read(X, h_0, W_xh, W_hh, b):
    H, h = np.zeros((*X.shape[:-1], h_0.shape[-1])), h_0
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        H[..., t, :] = h
    return H, h


def encode__another_exception(X, h_0, W_xh, W_hh, b):
    H, h = np.zeros((*X.shape[:-1], h_0.shape[-1])), h_0
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        H[..., t, :] = h
    return H, H[..., -1, :]


def encode__filled(X, h_0, W_xh, W_hh, b):
    if not X.shape[-2]:
        raise ValueError("a sentence needs tokens")
    inputs = X @ W_xh + b
    H = np.empty_like(inputs)
    h = h_0
    for t in range(H.shape[-2]):
        h = np.tanh(inputs[..., t, :] + h @ W_hh)
        H[..., t, :] = h
    return H, H[..., -1, :]


def encode__recursive(X, h_0, W_xh, W_hh, b):
    if X.shape[-2] == 0:
        raise ValueError
    if X.shape[-2] == 1:
        h = np.tanh(X[..., 0, :] @ W_xh + h_0 @ W_hh + b)
        return h[..., None, :], h
    before, h = encode__recursive(X[..., :-1, :], h_0, W_xh, W_hh, b)
    h = np.tanh(X[..., -1, :] @ W_xh + h @ W_hh + b)
    return np.concatenate([before, h[..., None, :]], axis=-2), h


def encode__sentence_by_sentence(X, h_0, W_xh, W_hh, b):
    if X.shape[-2] < 1:
        raise ValueError(f"{X.shape[-2]} tokens")
    H = np.zeros((*X.shape[:-1], len(b)))
    for index in np.ndindex(X.shape[:-2]):
        h = h_0[index]
        for t, x in enumerate(X[index]):
            h = np.tanh(np.einsum("i,ij->j", x, W_xh) + np.einsum("i,ij->j", h, W_hh) + b)
            H[(*index, t)] = h
    return H, H[..., -1, :].copy()


def encode__stacked(X, h_0, W_xh, W_hh, b):
    states = []
    for x in np.moveaxis(X, -2, 0):
        states.append(np.tanh(x @ W_xh + (states or [h_0])[-1] @ W_hh + b))
    return np.stack(states, axis=X.ndim - 2), states[-1]  # np.stack raises where there is none


ENCODE = Exercise(
    name="encode",
    points=3,
    difficulty=2,
    minutes=15,
    reference=solutions.encode,
    cases=encode_cases,
    hidden=encode_hidden,
    misconceptions=(
        Misconception(
            "state not carried on",
            encode__not_carried,
            "With which state does your loop read the second token? Does your last state change "
            "when the first token does?",
        ),
        Misconception(
            "h_0 ignored",
            encode__from_zero,
            "Does your answer change when h_0 does?",
        ),
        Misconception(
            "first state for the last",
            encode__first_for_last,
            "Which of your states has read the whole sentence?",
        ),
        Misconception(
            "all states for the last",
            encode__all_for_last,
            "The second value is the one vector that stands for the sentence. What shape has one "
            "vector?",
        ),
        Misconception(
            "state before the token",
            encode__before_the_token,
            "Is row 0 of your H the state before the first token, or after it?",
        ),
        Misconception(
            "h_0 among the states",
            encode__first_state_kept,
            "How many tokens are there, and how many rows has your H?",
        ),
        Misconception(
            "values in the wrong order",
            encode__swapped,
            "Which of the two does the exercise ask for first?",
        ),
        Misconception(
            "read from the end",
            encode__from_the_end,
            "Which token does your loop read first?",
        ),
        Misconception(
            "loop over the first axis",
            encode__first_axis,
            "Right for one sentence. When X has shape (2, 4, 3), what does `for x in X` hand you?",
        ),
        Misconception(
            "time put first",
            encode__time_first,
            "In a batch of 2 sentences with 4 tokens, H should be (2, 4, d_h). Along which axis do "
            "you put the states together?",
        ),
        Misconception(
            "one array for all states",
            encode__one_memory_for_all,
            "Are all rows of your H the same? A loop that writes into one array, and keeps that "
            "array each time, keeps how many arrays?",
        ),
        Misconception(
            "a sentence of no token accepted",
            encode__nothing_read,
            "What does the docstring say of a sentence of no token? What would its last state be?",
        ),
        Misconception(
            "another exception for a sentence of no token",
            encode__another_exception,
            "Which exception does the docstring promise for a sentence of no token, and which one "
            "comes from `H[..., -1, :]`?",
        ),
    ),
    alternatives=(
        encode__filled,
        encode__recursive,
        encode__sentence_by_sentence,
        encode__stacked,
    ),
    help=(
        "Keep one variable for the state. For each token, put the next state in its place, and "
        "note it down.",
        "`X[..., t, :]` is token t of every sentence. `np.stack(list, axis=-2)` makes the rows of "
        "H. The last state is the variable as the loop leaves it.",
        "Section “One step at a time”.",
    ),
    promises=(
        Promise(
            "X: tokens, one a row, (..., T, d), T at least 1.",
            (
                "one token",
                "two sentences at once, float32",
                "two leading batch axes",
                "three leading batch axes, tiny numbers",
                "one sentence of one token in the batch",
            ),
        ),
        Promise(
            "h_0: the state before the first token, (..., d_h).",
            ("one token", "as many sentences as tokens"),
        ),
        Promise(
            "W_xh: (d, d_h). W_hh: (d_h, d_h). b: (d_h,). The cell is tanh, as in `rnn_cell`, "
            "and tokens may be large.",
            ("two tokens", "five tokens", "five other tokens", "large tokens"),
        ),
        Promise(
            "Returns the tuple (H, h_T): all states, (..., T, d_h), where H[..., t, :] is the "
            "state after token t, and the last of them, (..., d_h).",
            (
                "five tokens",
                "one sentence in the batch, one hidden unit",
                "one hidden unit",
            ),
        ),
        Promise(
            "Raises ValueError for a sentence of no token, T = 0.",
            ("no token", "a batch of no tokens"),
        ),
    ),
    forbidden=forbidden.RECURRENT_NETWORK,
)
