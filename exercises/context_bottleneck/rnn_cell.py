"""The exercise `rnn_cell`: one step of a recurrent network."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import context_bottleneck as solutions

from .. import forbidden

rnn_cell = Declaration(
    solutions.rnn_cell,
    points=2,
    difficulty=1,
    minutes=10,
    forbidden=forbidden.RECURRENT_NETWORK,
    help=(
        "Three terms are added up: what the token says, what the old state says, and the bias. "
        "Then they go through one function.",
        "Both vectors are rows, so each stands to the left of its matrix. `@` multiplies the last "
        "axis of the left side, so leading axes need no care.",
        "Section “One step at a time”.",
    ),
)


@rnn_cell.right
def concatenated(x, h, W_xh, W_hh, b):
    both = np.concatenate([x, h], axis=-1)
    return np.tanh(both @ np.concatenate([W_xh, W_hh], axis=0) + b)


@rnn_cell.right
def einsum(x, h, W_xh, W_hh, b):
    from_token = np.einsum("...i,ij->...j", x, W_xh)
    return np.tanh(from_token + np.einsum("...i,ij->...j", h, W_hh) + b)


@rnn_cell.right
def loops(x, h, W_xh, W_hh, b):
    h_next = np.zeros(h.shape)
    for index in np.ndindex(h.shape[:-1]):
        for j in range(len(b)):
            a = float(b[j])
            a += sum(float(x[(*index, i)]) * float(W_xh[i, j]) for i in range(len(W_xh)))
            a += sum(float(h[(*index, i)]) * float(W_hh[i, j]) for i in range(len(W_hh)))
            h_next[(*index, j)] = np.tanh(a)
    return h_next


@rnn_cell.right
def columns(x, h, W_xh, W_hh, b):
    a = W_xh.T @ x[..., None] + W_hh.T @ h[..., None] + b[:, None]
    return 1 - 2 / (np.exp(np.minimum(2 * a[..., 0], 80)) + 1)


@rnn_cell.right
def plain(x, h, W_xh, W_hh, b):
    a = x @ W_xh + h @ W_hh + b
    return np.tanh(a)


rnn_cell.wrong(
    "W_hh on the left",
    "A state is a row here. Which side of a row can a (d_h, d_h) matrix stand on when the state "
    "has shape (3, d_h)?",
    plain.edit("h @ W_hh", "W_hh @ h"),
)
rnn_cell.wrong(
    "W_hh transposed",
    "Entry [i, j] of W_hh says how much the old unit i tells the new unit j. Does your product "
    "sum over i or over j? (Torch stores its matrices the other way round.)",
    plain.edit("h @ W_hh", "h @ W_hh.T"),
)
no_tanh = rnn_cell.wrong(
    "tanh forgotten",
    "Can an entry of your next state be larger than 1? What happens to such a state after fifty "
    "steps?",
    plain.edit("np.tanh(a)", "a"),
)
rnn_cell.wrong(
    "bias added twice",
    "What is the next state when x and h are zero? How many biases does this cell have?",
    plain.edit("x @ W_xh + h @ W_hh + b", "(x @ W_xh + b) + (h @ W_hh + b)"),
)
no_bias = rnn_cell.wrong(
    "bias forgotten",
    "What is the next state when x and h are zero, and what should it be?",
    plain.edit("h @ W_hh + b", "h @ W_hh"),
)
rnn_cell.wrong(
    "bias outside the tanh",
    "Can an entry of your next state be larger than 1? Which terms does the tanh see?",
    no_bias.edit("np.tanh(a)", "np.tanh(a) + b"),
)
rnn_cell.wrong(
    "sigmoid in place of tanh",
    "Can an entry of your next state be below 0? Should it be able to?",
    plain.edit("np.tanh(a)", "0.5 * (1 + np.tanh(a / 2))"),
)
rnn_cell.wrong(
    "the old state ignored",
    "Does your answer change when h does?",
    plain.edit("x @ W_xh + h @ W_hh + b", "x @ W_xh + b"),
)
rnn_cell.wrong(
    "added to the old state",
    "Does this cell change the old state a little, or put a new one in its place?",
    plain.edit("np.tanh(a)", "h + np.tanh(a)"),
)
rnn_cell.wrong(
    "tanh of each part",
    "How many times does the cell bend its sum? Can an entry of yours exceed 1?",
    no_tanh.edit("x @ W_xh + h @ W_hh", "np.tanh(x @ W_xh) + np.tanh(h @ W_hh)"),
)
rnn_cell.wrong(
    "exponential overflows",
    "What is np.exp(1000), and infinity over infinity? Which NumPy function knows better?",
    plain.edit("np.tanh(a)", "(np.exp(a) - np.exp(-a)) / (np.exp(a) + np.exp(-a))"),
)


@rnn_cell.public
def _(rng):
    x, h = np.array([1.0, 0.0, 2.0]), np.array([0.5, -0.5])
    W_xh = np.array([[0.5, 0.0], [1.0, 1.0], [0.0, -0.5]])
    W_hh = np.array([[0.0, 1.0], [-1.0, 1.0]])
    yield Case("one token", (x, h, W_xh, W_hh, np.array([0.5, 0.0]))).holds(
        "x: the token, a row, (..., d). h: the state so far, a row, (..., d_h).",
        "W_xh: (d, d_h). W_hh: (d_h, d_h). b: (d_h,). Rows are multiplied from the right: x @ "
        "W_xh.",
        "The nonlinearity is tanh; what goes into it may be large.",
    )
    yield Case("three sentences at once", _inputs(rng, (3,), 4, 2)).holds("x: the token…")
    yield Case("as many sentences as hidden units, float32", _inputs(rng, (3,), 2, 3, np.float32))
    yield Case("large numbers", _inputs(rng, (), 3, 4, size=1e5)).holds("The nonlinearity…")
    yield Case("a batch of one, with one hidden unit", _inputs(rng, (1,), 3, 1)).holds(
        "x: the token…", "Returns the next state, (..., d_h)."
    )
    yield Case("three leading batch axes", _inputs(rng, (2, 1, 3), 2, 4)).holds(
        "x: the token…", "Returns the…"
    )
    x, h, W_xh, W_hh, b = _inputs(rng, (), 3, 2)
    yield Case("tiny numbers", (1e-6 * x, 1e-6 * h, W_xh, W_hh, 1e-6 * b)).holds(
        "The nonlinearity…"
    )


@rnn_cell.hidden
def _(rng):
    d, d_h, batch = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one token", _inputs(rng, (), d, d_h))
    yield Case("a batch", _inputs(rng, (batch,), d, d_h))
    yield Case(
        "two leading batch axes, float32", _inputs(rng, (2, batch), d, d_h, np.float32)
    ).holds("x: the token…")
    yield Case("as many sentences as hidden units", _inputs(rng, (d_h,), d, d_h)).holds("W_xh: (d…")
    yield Case("large numbers", _inputs(rng, (), d, d_h, size=1e5))
    yield Case("a batch of one, with one hidden unit", _inputs(rng, (1,), d, 1))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    d: int,
    d_h: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[np.ndarray, ...]:
    """Random x, h, W_xh, W_hh and b; `size` multiplies the token."""
    x, h = size * rng.normal(size=(*batch, d)), rng.uniform(-0.9, 0.9, size=(*batch, d_h))
    W_xh, W_hh = 0.7 * rng.normal(size=(d, d_h)), rng.normal(size=(d_h, d_h))
    b = rng.uniform(0.3, 0.9, size=d_h)
    return tuple(array.astype(dtype) for array in (x, h, W_xh, W_hh, b))
