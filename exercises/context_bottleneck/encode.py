"""The exercise `encode`: a sentence read into its last state."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import context_bottleneck as solutions

from .. import forbidden

encode = Declaration(
    solutions.encode,
    points=3,
    difficulty=2,
    minutes=15,
    forbidden=forbidden.RECURRENT_NETWORK,
    help=(
        "Keep the state in one variable. For each token, replace it by the next state, and keep a "
        "record of that state.",
        "`X[..., t, :]` is token t of every sentence. `np.stack(list, axis=-2)` makes the rows of "
        "H. The last state is what the variable holds after the loop.",
        "Section “A sequence in, a symbol out”.",
    ),
)


@encode.right
def filled(X, h_0, W_xh, W_hh, b):
    if not X.shape[-2]:
        raise ValueError("a sentence needs tokens")
    inputs = X @ W_xh + b
    H = np.empty_like(inputs)
    h = h_0
    for t in range(H.shape[-2]):
        h = np.tanh(inputs[..., t, :] + h @ W_hh)
        H[..., t, :] = h
    return H, H[..., -1, :]


@encode.right
def recursive(X, h_0, W_xh, W_hh, b):
    if X.shape[-2] == 0:
        raise ValueError
    if X.shape[-2] == 1:
        h = np.tanh(X[..., 0, :] @ W_xh + h_0 @ W_hh + b)
        return h[..., None, :], h
    before, h = recursive(X[..., :-1, :], h_0, W_xh, W_hh, b)
    h = np.tanh(X[..., -1, :] @ W_xh + h @ W_hh + b)
    return np.concatenate([before, h[..., None, :]], axis=-2), h


@encode.right
def sentence_by_sentence(X, h_0, W_xh, W_hh, b):
    if X.shape[-2] < 1:
        raise ValueError(f"{X.shape[-2]} tokens")
    H = np.zeros((*X.shape[:-1], len(b)))
    for index in np.ndindex(X.shape[:-2]):
        h = h_0[index]
        for t, x in enumerate(X[index]):
            h = np.tanh(np.einsum("i,ij->j", x, W_xh) + np.einsum("i,ij->j", h, W_hh) + b)
            H[(*index, t)] = h
    return H, H[..., -1, :].copy()


@encode.right
def stacked(X, h_0, W_xh, W_hh, b):
    states = []
    for x in np.moveaxis(X, -2, 0):
        states.append(np.tanh(x @ W_xh + (states or [h_0])[-1] @ W_hh + b))
    return np.stack(states, axis=X.ndim - 2), states[-1]  # np.stack raises where there is none


@encode.right
def plain(X, h_0, W_xh, W_hh, b):
    h, states = h_0, []
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    return np.stack(states, axis=-2), h


@encode.wrong(
    "state not carried on",
    "With which state does your loop read the second token? Does your last state change when the "
    "first token does?",
)
def _(X, h_0, W_xh, W_hh, b):
    if X.shape[-2] == 0:
        raise ValueError("no token")
    H = np.tanh(X @ W_xh + (h_0 @ W_hh)[..., None, :] + b)
    return H, H[..., -1, :]


encode.wrong(
    "h_0 ignored",
    "Does your answer change when h_0 does?",
    plain.edit("h_0, []", "np.zeros_like(h_0), []"),
)
encode.wrong(
    "first state for the last",
    "Which of your states has read the whole sentence?",
    plain.edit("np.stack(states, axis=-2), h", "np.stack(states, axis=-2), states[0]"),
)
encode.wrong(
    "all states for the last",
    "The second value is the single vector that represents the sentence. What shape does a single "
    "vector have?",
    plain.edit("return np.stack(states, axis=-2), h", "H = np.stack(states, axis=-2)\nreturn H, H"),
)
encode.wrong(
    "state before the token",
    "Is row 0 of your H the state before the first token, or after it?",
    plain.edit(
        "h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)\nstates.append(h)",
        "states.append(h)\nh = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)",
    ),
)
encode.wrong(
    "h_0 among the states",
    "How many tokens are there, and how many rows does your H have?",
    plain.edit("h_0, []", "h_0, [h_0]"),
)
encode.wrong(
    "values in the wrong order",
    "Which of the two values does the docstring ask for first?",
    plain.edit("np.stack(states, axis=-2), h", "h, np.stack(states, axis=-2)"),
)
encode.wrong(
    "read from the end",
    "Which token does your loop read first?",
    plain.edit("range(X.shape[-2])", "reversed(range(X.shape[-2]))"),
)


encode.wrong(
    "loop over the first axis",
    "Your answer is right for one sentence. When X has shape (2, 4, 3), what is each x in `for x "
    "in X`?",
    stacked.edit("np.moveaxis(X, -2, 0)", "X").edit("axis=X.ndim - 2", "axis=0"),
)
encode.wrong(
    "time put first",
    "In a batch of 2 sentences with 4 tokens, H should be (2, 4, d_h). Along which axis do you "
    "put the states together?",
    plain.edit("np.stack(states, axis=-2)", "np.array(states)"),
)
encode.wrong(
    "one array for all states",
    "Are all rows of your H the same? If a loop writes into one array, and keeps that same array "
    "each time, how many different arrays does it keep?",
    plain.edit("h_0, []", "h_0.copy(), []").edit("h = np.tanh", "h[...] = np.tanh"),
)


@encode.wrong(
    "a sentence of no token accepted",
    "What does the docstring say about a sentence of no token? What would its last state be?",
)
def nothing_read(X, h_0, W_xh, W_hh, b):
    H, h = np.zeros((*X.shape[:-1], h_0.shape[-1])), h_0
    for t in range(X.shape[-2]):
        h = np.tanh(X[..., t, :] @ W_xh + h @ W_hh + b)
        H[..., t, :] = h
    return H, h


encode.wrong(
    "another exception for a sentence of no token",
    "Which exception does the docstring promise for a sentence of no token, and which one comes "
    "from `H[..., -1, :]`?",
    nothing_read.edit("return H, h", "return H, H[..., -1, :]"),
)


@encode.public
def _(rng):
    yield Case("two tokens", _inputs(rng, (), 2, 3, 2)).holds(
        "W_xh: (d, d_h). W_hh: (d_h, d_h). b: (d_h,). The next state is tanh(x @ W_xh + h @ W_hh "
        "+ b), and tokens may be large."
    )
    yield Case("one token", _inputs(rng, (), 1, 3, 2)).holds(
        "X: tokens, one a row, (..., T, d), T at least 1.",
        "h_0: the state before the first token, (..., d_h).",
    )
    yield Case("five tokens", _inputs(rng, (), 5, 2, 3)).holds(
        "W_xh: (d…",
        "Returns the tuple (H, h_T): all states, (..., T, d_h), where H[..., t, :] is the state "
        "after token t, and the last of them, (..., d_h).",
    )
    yield Case("two sentences at once, float32", _inputs(rng, (2,), 4, 3, 5, np.float32)).holds(
        "X: tokens…"
    )
    yield Case("as many sentences as tokens", _inputs(rng, (3,), 3, 2, 4)).holds("h_0: the…")
    yield Case("one sentence in the batch, one hidden unit", _inputs(rng, (1,), 3, 2, 1)).holds(
        "Returns the…"
    )
    yield Case("no token", _inputs(rng, (), 0, 3, 2), raises=Raises("ValueError")).holds(
        "Raises ValueError for a sentence of no token, T = 0."
    )
    yield Case("five other tokens", _inputs(rng, (), 5, 2, 3)).holds("W_xh: (d…")
    yield Case("large tokens", _inputs(rng, (), 3, 2, 4, size=1e5)).holds("W_xh: (d…")
    X, h_0, W_xh, W_hh, b = _inputs(rng, (2, 1, 3), 2, 3, 2)
    tiny = 1e-6 * X, 1e-6 * h_0, W_xh, W_hh, 1e-6 * b
    yield Case("three leading batch axes, tiny numbers", tiny).holds("X: tokens…")
    yield Case(
        "a batch of no tokens", _inputs(rng, (2,), 0, 3, 2), raises=Raises("ValueError")
    ).holds("Raises ValueError…")
    yield Case("no token, of one feature", _inputs(rng, (), 0, 1, 1), raises=Raises("ValueError"))


@encode.hidden
def _(rng):
    T, d, d_h = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("one sentence", _inputs(rng, (), T, d, d_h))
    yield Case("one token", _inputs(rng, (), 1, d, d_h))
    yield Case("a batch", _inputs(rng, (2,), T, d, d_h))
    yield Case("as many sentences as tokens, float32", _inputs(rng, (T,), T, d, d_h, np.float32))
    yield Case("two leading batch axes", _inputs(rng, (2, 3), T, d, d_h)).holds("X: tokens…")
    yield Case("one sentence of one token in the batch", _inputs(rng, (1,), 1, d, d_h)).holds(
        "X: tokens…"
    )
    yield Case("one hidden unit", _inputs(rng, (), T, d, 1)).holds("Returns the…")
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
