"""The exercise `encode_bidirectional`: a sentence read from both ends."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import context_bottleneck as solutions

from .. import forbidden

encode_bidirectional = Declaration(
    solutions.encode_bidirectional,
    points=3,
    difficulty=3,
    minutes=20,
    forbidden=forbidden.RECURRENT_NETWORK,
    help=(
        "Two readers, each with parameters and a state of its own. One goes from the first token "
        "to the last, the other from the last to the first.",
        "`X[..., ::-1, :]` is the sentence from its end, and the same slice puts states back into "
        "the order of the tokens. `np.concatenate(..., axis=-1)` puts two halves side by side.",
        "Section “A sequence in, a sequence out”.",
    ),
)


@encode_bidirectional.right
def filled(X, h_0, forward, backward):
    T, d_h = X.shape[-2], h_0.shape[-1]
    H = np.zeros((*X.shape[:-1], 2 * d_h), dtype=X.dtype)
    left, right = h_0, h_0
    for t in range(T):
        left = np.tanh(X[..., t, :] @ forward[0] + left @ forward[1] + forward[2])
        H[..., t, :d_h] = left
        right = np.tanh(X[..., T - 1 - t, :] @ backward[0] + right @ backward[1] + backward[2])
        H[..., T - 1 - t, d_h:] = right
    return H


@encode_bidirectional.right
def one_wide_cell(X, h_0, forward, backward):
    d, d_h = forward[0].shape
    W_xh, W_hh = np.zeros((2 * d, 2 * d_h)), np.zeros((2 * d_h, 2 * d_h))
    W_xh[:d, :d_h], W_xh[d:, d_h:] = forward[0], backward[0]
    W_hh[:d_h, :d_h], W_hh[d_h:, d_h:] = forward[1], backward[1]
    b = np.concatenate([forward[2], backward[2]])
    both = np.concatenate([X, np.flip(X, axis=-2)], axis=-1)
    h, states = np.concatenate([h_0, h_0], axis=-1), []
    for t in range(X.shape[-2]):
        h = np.tanh(both[..., t, :] @ W_xh + h @ W_hh + b)
        states.append(h)
    left = np.stack([state[..., :d_h] for state in states], axis=-2)
    right = np.stack([state[..., d_h:] for state in states[::-1]], axis=-2)
    return np.concatenate([left, right], axis=-1)


@encode_bidirectional.right
def loops(X, h_0, forward, backward):
    T, d_h = X.shape[-2], h_0.shape[-1]
    H = np.empty((*X.shape[:-1], 2 * d_h))
    for index in np.ndindex(X.shape[:-2]):
        h = h_0[index]
        for t in range(T):
            h = np.tanh(np.einsum("i,ij", X[(*index, t)], forward[0]) + h @ forward[1] + forward[2])
            H[(*index, t)][:d_h] = h
        h = h_0[index]
        for t in range(T - 1, -1, -1):
            a = np.einsum("i,ij", X[(*index, t)], backward[0]) + h @ backward[1]
            h = np.tanh(a + backward[2])
            H[(*index, t)][d_h:] = h
    return H


@encode_bidirectional.right
def plain(X, h_0, forward, backward):
    def read(tokens, W_xh, W_hh, b):
        h, states = h_0, []
        for t in range(tokens.shape[-2]):
            h = np.tanh(tokens[..., t, :] @ W_xh + h @ W_hh + b)
            states.append(h)
        return np.stack(states, axis=-2)

    left = read(X, *forward)
    right = read(X[..., ::-1, :], *backward)[..., ::-1, :]
    return np.concatenate([left, right], axis=-1)


encode_bidirectional.wrong(
    "backward states not turned back",
    "The reader from the right reads the last token first. To which token does its first state "
    "belong, and in which row do you put it?",
    plain.edit(
        "read(X[..., ::-1, :], *backward)[..., ::-1, :]", "read(X[..., ::-1, :], *backward)"
    ),
)
encode_bidirectional.wrong(
    "both read from the left",
    "Change the last token of a sentence. Does any number in your row 0 change?",
    plain.edit("read(X[..., ::-1, :], *backward)[..., ::-1, :]", "read(X, *backward)"),
)
encode_bidirectional.wrong(
    "turned round only after reading",
    "In which order does your second reader meet the tokens? Turning its states round afterwards: "
    "does that change what it has read?",
    plain.edit("read(X[..., ::-1, :], *backward)", "read(X, *backward)"),
)
encode_bidirectional.wrong(
    "one set of parameters for both",
    "Does your answer change when the parameters of the second reader do?",
    plain.edit("*backward", "*forward"),
)
encode_bidirectional.wrong(
    "backward half first",
    "Which half of row 0 may depend on the last token, the first or the second?",
    plain.edit("[left, right]", "[right, left]"),
)
encode_bidirectional.wrong(
    "added, not put side by side",
    "How wide is a row of your H? Can you still tell from it what each reader said?",
    plain.edit("np.concatenate([left, right], axis=-1)", "left + right"),
)
encode_bidirectional.wrong(
    "one below the other",
    "How many rows has your H, and how many tokens are there?",
    plain.edit("axis=-1", "axis=-2"),
)
encode_bidirectional.wrong(
    "state handed to the second reader",
    "With which state does each reader begin? Should the second one know what the first one has "
    "read?",
    plain.edit("right =", "h_0 = left[..., -1, :]\nright ="),
)
encode_bidirectional.wrong(
    "features turned round, not tokens",
    "`X[..., ::-1]` turns the last axis round. What stands along the last axis of X?",
    plain.edit("[..., ::-1, :]", "[..., ::-1]", times=2),
)
encode_bidirectional.wrong(
    "first axis turned round",
    "Right for one sentence. In a batch, what stands along the first axis?",
    plain.edit("[..., ::-1, :]", "[::-1]", times=2),
)
encode_bidirectional.wrong(
    "last states only",
    "How many vectors do you return for a sentence of four tokens?",
    plain.edit("[left, right]", "[left[..., -1, :], right[..., 0, :]]"),
)


@encode_bidirectional.public
def _(rng):
    yield Case("two tokens", _inputs(rng, (), 2, 3, 3)).holds(
        "h_0: (..., d_h), the state with which each of the two readers begins.",
        "forward, backward: the parameters (W_xh, W_hh, b) of the reader from the left and of "
        "the reader from the right, of shapes (d, d_h), (d_h, d_h) and (d_h,). The next state "
        "is tanh(x @ W_xh + h @ W_hh + b), and tokens may be large.",
    )
    yield Case("four tokens", _inputs(rng, (), 4, 3, 2)).holds(
        "Returns H, (..., T, 2 d_h). Row t belongs to token t: its first d_h numbers have read "
        "the tokens 0 to t, its last d_h numbers the tokens T - 1 down to t."
    )
    yield Case("two sentences at once, float32", _inputs(rng, (2,), 4, 2, 3, np.float32)).holds(
        "X: tokens, one a row, (..., T, d), T at least 1."
    )
    yield Case("one sentence of one token in the batch", _inputs(rng, (1,), 1, 3, 2)).holds(
        "X: tokens…"
    )
    yield Case("one number a token, one hidden unit", _inputs(rng, (), 4, 1, 1)).holds("Returns H…")
    yield Case("four other tokens", _inputs(rng, (), 4, 3, 2)).holds("forward, backward…")
    X, h_0, *readers = _inputs(rng, (), 4, 2, 3)
    yield Case("large tokens", (1e5 * X, h_0, *readers)).holds("forward, backward…")
    X, h_0, *readers = _inputs(rng, (2, 1, 3), 2, 3, 2)
    readers = [(W_xh, W_hh, 1e-6 * b) for W_xh, W_hh, b in readers]
    yield Case("three leading batch axes, tiny numbers", (1e-6 * X, 1e-6 * h_0, *readers)).holds(
        "X: tokens…"
    )


@encode_bidirectional.hidden
def _(rng):
    T, d, d_h = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("one sentence", _inputs(rng, (), T, d, d_h)).holds("forward, backward…")
    yield Case("one token", _inputs(rng, (), 1, d, d_h)).holds("X: tokens…", "h_0: (...…")
    yield Case("a batch, float32", _inputs(rng, (2,), T, d, d_h, np.float32))
    yield Case("two leading batch axes", _inputs(rng, (2, 3), T, d, d_h)).holds("X: tokens…")
    yield Case("one sentence in the batch, one hidden unit", _inputs(rng, (1,), T, d, 1)).holds(
        "Returns H…"
    )
    X, h_0, *readers = _inputs(rng, (2,), T, d, d_h)
    yield Case("large tokens", (1e5 * X, h_0, *readers))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    T: int,
    d: int,
    d_h: int,
    dtype: type = np.float64,
) -> tuple:
    """Random X, h_0, and the parameters (W_xh, W_hh, b) of the two readers."""

    def parameters() -> tuple[np.ndarray, ...]:
        shapes = (d, d_h), (d_h, d_h), (d_h,)
        return tuple((0.7 * rng.normal(size=shape)).astype(dtype) for shape in shapes)

    X, h_0 = rng.normal(size=(*batch, T, d)), rng.uniform(0.2, 0.9, size=(*batch, d_h))
    return X.astype(dtype), h_0.astype(dtype), parameters(), parameters()


encode_bidirectional.lets_through(
    "a last axis of length 1 squeezed", "the last axis has an even length"
)
