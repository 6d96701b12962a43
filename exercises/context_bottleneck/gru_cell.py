"""The exercise `gru_cell`: one step of a gated recurrent unit, by its formulas. To debug.

The given cell applies tanh to the blend, not to the candidate. Its shapes are right, and a network
of such cells trains, but it cannot keep a state, however far its update gate is open.
"""

from typing import Any

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import context_bottleneck as solutions

from .. import forbidden

gru_cell = Declaration(
    solutions.gru_cell,
    points=3,
    difficulty=2,
    minutes=12,
    kind=Kind.DEBUG,
    forbidden=forbidden.GATED_NETWORK,
    help=(
        "Set the update gate to z = 1 by hand, and write down what each line does to the old "
        "state.",
        "With z = 1 the last line should return h, digit for digit. What does it return for h = "
        "0.8, and in which line of the formulas does the tanh belong?",
        "Section “How far back does the last state reach?”.",
    ),
)


@gru_cell.right
def one_matrix(x, h, reset, update, candidate):
    W_x = np.concatenate([reset[0], update[0], candidate[0]], axis=1)
    W_h = np.concatenate([reset[1], update[1], candidate[1]], axis=1)
    b = np.concatenate([reset[2], update[2], candidate[2]])
    from_x = np.split(x @ W_x + b, 3, axis=-1)
    from_h = np.split(h @ W_h, 3, axis=-1)
    r = (np.tanh((from_x[0] + from_h[0]) / 2) + 1) / 2
    keep = (np.tanh((from_x[1] + from_h[1]) / 2) + 1) / 2
    new = np.tanh(from_x[2] + r * from_h[2])
    return new + keep * (h - new)


@gru_cell.right
def stable_exponential(x, h, reset, update, candidate):
    def gate(parameters):
        W, U, b = parameters
        a = np.einsum("...i,ij->...j", x, W) + np.einsum("...i,ij->...j", h, U) + b
        small = np.exp(-np.abs(a))
        return np.where(a >= 0, 1, small) / (1 + small)

    W, U, b = candidate
    new = np.tanh(np.einsum("...i,ij->...j", x, W) + gate(reset) * (h @ U) + b)
    z = gate(update)
    return h * z + new - z * new


@gru_cell.right
def row_by_row(x, h, reset, update, candidate):
    h_next = np.zeros(h.shape)
    for index in np.ndindex(h.shape[:-1]):
        token, state = x[index].astype(float), h[index].astype(float)
        sums = [token @ W + state @ U + b for W, U, b in (reset, update)]
        r, z = (1 / (1 + np.exp(-np.clip(one, -200, 200))) for one in sums)
        new = np.tanh(token @ candidate[0] + candidate[2] + r * (state @ candidate[1]))
        h_next[index] = np.where(z > 0.5, state + (1 - z) * (new - state), new + z * (state - new))
    return h_next


@gru_cell.right
def plain(x, h, reset, update, candidate):
    r, z = (0.5 + 0.5 * np.tanh((x @ W + h @ U + b) / 2) for W, U, b in (reset, update))
    W, U, b = candidate
    new = np.tanh(x @ W + r * (h @ U) + b)
    return z * h + (1 - z) * new


gru_cell.wrong(
    "old and new exchanged",
    "Open the update gate fully, z = 1. What should the next state be, and what is yours? (Some "
    "texts define z the other way round. How does this docstring define it?)",
    plain.edit("z * h + (1 - z) * new", "(1 - z) * h + z * new"),
)
gru_cell.wrong(
    "the two gates exchanged",
    "Which of the two gates is inside the tanh, and which is outside?",
    plain.edit("r, z =", "z, r ="),
)
gru_cell.wrong(
    "reset before the matrix",
    "Does the reset gate multiply the old state before the matrix does, or after it? Both "
    "versions are called a GRU; which one does the docstring ask for?",
    plain.edit("r * (h @ U)", "(r * h) @ U"),
)
gru_cell.wrong(
    "reset of the whole sum",
    "With r = 0, which inputs should still reach the candidate?",
    plain.edit("x @ W + r * (h @ U) + b", "r * (x @ W + h @ U + b)"),
)


gru_cell.wrong(
    "reset forgotten",
    "Does your answer change when the parameters of the reset gate do?",
    plain.edit("r * (h @ U)", "h @ U"),
)
gru_cell.wrong(
    "the candidate added on top",
    "The shares of the old state and of the candidate add up to 1. With z = 1, how much of the "
    "candidate should be in the next state?",
    plain.edit("(1 - z) * new", "new"),
)
gru_cell.wrong(
    "tanh in place of the sigmoid",
    "Between which two numbers does a gate lie? Can yours be below 0?",
    plain.edit("0.5 + 0.5 * np.tanh((x @ W + h @ U + b) / 2)", "np.tanh(x @ W + h @ U + b)"),
)
gru_cell.wrong(
    "sigmoid in place of tanh",
    "Can an entry of your candidate be below 0? Should it be able to?",
    plain.edit(
        "np.tanh(x @ W + r * (h @ U) + b)", "0.5 + 0.5 * np.tanh((x @ W + r * (h @ U) + b) / 2)"
    ),
)
gru_cell.wrong(
    "tanh after the blend",
    "With z = 1 the old state should pass through unchanged. Does it, after your tanh?",
    plain.edit(
        "new = np.tanh(x @ W + r * (h @ U) + b)\nreturn z * h + (1 - z) * new",
        "new = x @ W + r * (h @ U) + b\nreturn np.tanh(z * h + (1 - z) * new)",
    ),
    released=True,
)
gru_cell.wrong(
    "W_h transposed",
    "Entry [i, j] of W_h says how strongly the old unit i acts on the new unit j. Does your "
    "product sum over i or over j?",
    plain.edit("h @ U", "h @ U.T", times=2),
)


gru_cell.wrong(
    "reset of the bias as well",
    "Libraries differ. In this docstring, what does the reset gate multiply: h W_h alone, or its "
    "sum with the bias?",
    plain.edit("r * (h @ U) + b)", "r * (h @ U + b))"),
)


@gru_cell.public
def _(rng):
    yield Case("one token", _inputs(rng, (), 3, 2)).holds(
        "x: the token, a row, (..., d). h: the state so far, a row, (..., d_h)",
        "reset, update, candidate: three times the parameters (W_x, W_h, b), of shapes (d, d_h), "
        "(d_h, d_h) and (d_h,)",
        "The gates are r = sigmoid(x W_x + h W_h + b) with those of `reset`, and z, the same "
        "with those of `update`",
        "The candidate is tanh(x W_x + r * (h W_h) + b) with its own",
    )
    yield Case("three sentences at once", _inputs(rng, (3,), 4, 2)).holds("x: the token…")
    yield Case("as many sentences as hidden units, float32", _inputs(rng, (3,), 2, 3, np.float32))
    yield Case("the update gate fully open: the old state stays", _gate(rng, 3, 2, 60.0)).holds(
        "Where z is 1 the old state stays, and where z is 0 the candidate takes its place"
    )
    yield Case("the update gate shut: the candidate replaces it", _gate(rng, 3, 2, -60.0)).holds(
        "The candidate…", "Where z is…"
    )
    yield Case("large numbers", _inputs(rng, (), 3, 4, size=1e5)).holds(
        "What goes into a sigmoid or a tanh may be large"
    )
    yield Case("a batch of one, with one hidden unit", _inputs(rng, (1,), 3, 1)).holds(
        "x: the token…"
    )
    yield Case("three leading batch axes", _inputs(rng, (2, 1, 3), 2, 4)).holds(
        "x: the token…", "Returns the next state, (..., d_h)"
    )
    yield Case("a tiny token and a tiny state", _tiny(rng)).holds("Returns the…")


@gru_cell.hidden
def _(rng):
    d, d_h, batch = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one token", _inputs(rng, (), d, d_h))
    yield Case("a batch", _inputs(rng, (batch,), d, d_h)).holds("The gates…")
    yield Case(
        "two leading batch axes, float32", _inputs(rng, (2, batch), d, d_h, np.float32)
    ).holds("x: the token…")
    yield Case("as many sentences as hidden units", _inputs(rng, (d_h,), d, d_h)).holds(
        "reset, update…"
    )
    yield Case("a state as wide as the token", _inputs(rng, (2,), d, d)).holds("reset, update…")
    yield Case("the update gate fully open: the old state stays", _gate(rng, d, d_h, 60.0))
    yield Case("large numbers", _inputs(rng, (), d, d_h, size=1e5))
    yield Case("a batch of one, with one hidden unit", _inputs(rng, (1,), d, 1))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    d: int,
    d_h: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[Any, ...]:
    """Random x, h and three triples of parameters; `size` multiplies the token."""
    x, h = size * rng.normal(size=(*batch, d)), rng.uniform(-0.9, 0.9, size=(*batch, d_h))
    triples = [
        (
            rng.normal(size=(d, d_h)).astype(dtype),
            rng.normal(size=(d_h, d_h)).astype(dtype),
            rng.uniform(0.3, 0.9, size=d_h).astype(dtype),
        )
        for _ in range(3)
    ]
    return (x.astype(dtype), h.astype(dtype), *triples)


def _gate(rng: np.random.Generator, d: int, d_h: int, bias: float) -> tuple[Any, ...]:
    """The same, with so large a bias that the update gate is 0 or 1, to the last digit."""
    x, h, reset, (W_x, W_h, _), candidate = _inputs(rng, (2,), d, d_h)
    return x, h, reset, (W_x, W_h, np.full(d_h, bias)), candidate


def _tiny(rng: np.random.Generator) -> tuple[Any, ...]:
    x, h, *triples = _inputs(rng, (), 3, 2)
    small = [(W_x, W_h, 1e-11 * b) for W_x, W_h, b in triples]
    return (1e-11 * x, 1e-11 * h, *small)
