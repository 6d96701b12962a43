"""The exercise `rnn_cell_backward`: a gradient sent back through one recurrent step. To derive."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import context_bottleneck as solutions

from .. import forbidden

rnn_cell_backward = Declaration(
    solutions.rnn_cell_backward,
    points=4,
    difficulty=4,
    minutes=30,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "Go backwards: first through the tanh, entry by entry. What you then have is the gradient "
        "of the sum, and each of the three terms of the sum gets all of it.",
        "For a row y = x W the gradients are d_x = d_y Wᵀ and d_W = xᵀ d_y, a column times a row. "
        "With many rows, add these up: lay all rows of the batch under each other first.",
        "Section “How far back does the last state reach?”; “What you need”, the chain rule.",
    ),
)


@rnn_cell_backward.right
def einsum(x, h, W_xh, W_hh, b, d_next):
    new = np.tanh(np.einsum("...i,ij->...j", x, W_xh) + np.einsum("...i,ij->...j", h, W_hh) + b)
    d_sum = d_next * (1 - new) * (1 + new)
    rows = d_sum.reshape(-1, len(b))
    return (
        np.einsum("...j,ij->...i", d_sum, W_xh),
        np.einsum("...j,ij->...i", d_sum, W_hh),
        np.einsum("ni,nj->ij", x.reshape(-1, len(W_xh)), rows),
        np.einsum("ni,nj->ij", h.reshape(-1, len(b)), rows),
        np.einsum("nj->j", rows),
    )


@rnn_cell_backward.right
def row_by_row(x, h, W_xh, W_hh, b, d_next):
    found = [np.zeros(one.shape) for one in (x, h, W_xh, W_hh, b)]
    for index in np.ndindex(x.shape[:-1]):
        new = np.tanh(x[index] @ W_xh + h[index] @ W_hh + b)
        d_sum = np.diag(1 - new**2) @ d_next[index]
        found[0][index] = W_xh @ d_sum
        found[1][index] = W_hh @ d_sum
        found[2] += np.outer(x[index], d_sum)
        found[3] += np.outer(h[index], d_sum)
        found[4] += d_sum
    return tuple(found)


@rnn_cell_backward.right
def as_one_matrix(x, h, W_xh, W_hh, b, d_next):
    one = np.ones((*x.shape[:-1], 1), dtype=x.dtype)
    inputs = np.concatenate([x, h, one], axis=-1)
    stacked = np.concatenate([W_xh, W_hh, b[None]])
    d_sum = d_next - d_next * np.tanh(inputs @ stacked) ** 2
    d_inputs = d_sum @ stacked.T
    flat = inputs.reshape(-1, len(stacked)).T @ d_sum.reshape(-1, len(b))
    d, d_h = x.shape[-1], h.shape[-1]
    d_x, d_h_in = d_inputs[..., :d].copy(), d_inputs[..., d : d + d_h].copy()
    return d_x, d_h_in, flat[:d].copy(), flat[d : d + d_h].copy(), flat[-1].copy()


@rnn_cell_backward.right
def plain(x, h, W_xh, W_hh, b, d_next):
    h_next = np.tanh(x @ W_xh + h @ W_hh + b)
    d_sum = (1 - h_next**2) * d_next
    rows, tokens, states = (one.reshape(-1, one.shape[-1]) for one in (d_sum, x, h))
    d_W_xh, d_W_hh, d_b = tokens.T @ rows, states.T @ rows, rows.sum(axis=0)
    return d_sum @ W_xh.T, d_sum @ W_hh.T, d_W_xh, d_W_hh, d_b


rnn_cell_backward.wrong(
    "derivative of tanh forgotten",
    "Suppose that a unit is nearly 1, and its sum rises a little. How much does the unit move? "
    "How much gradient should come back through it?",
    plain.edit("(1 - h_next**2) * d_next", "d_next"),
)
rnn_cell_backward.wrong(
    "derivative at the old state",
    "Which sum goes into the tanh of this step: the one that made h, or the one that makes the "
    "next state?",
    plain.edit("1 - h_next**2", "1 - h**2"),
)
rnn_cell_backward.wrong(
    "the sum in place of its tanh",
    "The derivative of tanh at a is 1 - tanh²(a). Can yours be below 0?",
    plain.edit("np.tanh(x @ W_xh + h @ W_hh + b)", "x @ W_xh + h @ W_hh + b"),
)
rnn_cell_backward.wrong(
    "1 - h for 1 - h²",
    "What is the derivative of tanh, written in terms of tanh itself? Can it be larger than 1?",
    plain.edit("1 - h_next**2", "1 - h_next"),
)
rnn_cell_backward.wrong(
    "W_hh not transposed on the way back",
    "Forward, entry [i, j] leads from unit i of the old state to unit j of the new one. From "
    "which unit to which unit does the gradient pass through the same entry?",
    plain.edit("d_sum @ W_hh.T", "d_sum @ W_hh"),
)
rnn_cell_backward.wrong(
    "the mean over the batch",
    "Nudge one entry of W_hh. Every sentence uses that entry, so each of them changes the loss. "
    "Do these changes add up, or are they averaged?",
    plain.edit(
        "tokens.T @ rows, states.T @ rows, rows.sum(axis=0)",
        "tokens.T @ rows / len(rows), states.T @ rows / len(rows), rows.mean(axis=0)",
    ),
)
rnn_cell_backward.wrong(
    "the parameters of one sentence only",
    "How many sentences use one entry of W_hh? How many of them contribute to your gradient?",
    plain.edit(
        "tokens.T @ rows, states.T @ rows, rows.sum(axis=0)",
        "np.outer(tokens[-1], rows[-1]), np.outer(states[-1], rows[-1]), rows[-1].copy()",
    ),
)
rnn_cell_backward.wrong(
    "the next state in place of the old one",
    "Which state does W_hh multiply on the way forward?",
    plain.edit("(d_sum, x, h)", "(d_sum, x, h_next)"),
)
rnn_cell_backward.wrong(
    "the bias outside the tanh",
    "The bias is inside the tanh. Which factor do the gradients of everything inside share?",
    plain.edit("rows.sum(axis=0)", "d_next.reshape(rows.shape).sum(axis=0)"),
)
rnn_cell_backward.wrong(
    "the outer product the wrong way round",
    "Entry [i, j] of W_hh leads from unit i of the old state to unit j of the sum. What are the "
    "two factors of its gradient, and which axis of your result is i?",
    plain.edit("tokens.T @ rows, states.T @ rows", "rows.T @ tokens, rows.T @ states"),
)
rnn_cell_backward.wrong(
    "written for one sentence",
    "With three sentences at once, which shapes do `np.outer(x, d_sum)` and your gradient of b "
    "have? Which axes do the parameters not have?",
    plain.edit(
        "tokens.T @ rows, states.T @ rows, rows.sum(axis=0)",
        "np.outer(x, d_sum), np.outer(h, d_sum), d_sum",
    ),
)
rnn_cell_backward.wrong(
    "columns for rows",
    "With one token, `W_hh @ d` and `d @ W_hh.T` are the same numbers. With a row for each "
    "sentence, which axis of d does the first one sum over?",
    plain.edit("d_sum @ W_xh.T, d_sum @ W_hh.T", "W_xh @ d_sum, W_hh @ d_sum"),
)


@rnn_cell_backward.public
def _(rng):
    yield Case("one token", _inputs(rng, (), 3, 2)).holds(
        "x: the token, a row, (..., d). h: the state so far, a row, (..., d_h). W_xh: (d, d_h). "
        "W_hh: (d_h, d_h). b: (d_h,)",
        "Returns the tuple (d_x, d_h, d_W_xh, d_W_hh, d_b): the gradients with respect to the "
        "five inputs, each in the shape of its input",
    )
    yield Case("a state as wide as the token", _inputs(rng, (), 3, 3)).holds("x: the token…")
    yield Case("three sentences at once", _inputs(rng, (3,), 4, 2)).holds(
        "The parameters are the same for all leading axes, so theirs are sums over them"
    )
    yield Case(
        "as many sentences as hidden units, float32", _inputs(rng, (3,), 2, 3, np.float32)
    ).holds("x: the token…")
    yield Case("a batch of one, with one hidden unit", _inputs(rng, (1,), 3, 1)).holds(
        "The step is next = tanh(x @ W_xh + h @ W_hh + b); x and h have the same leading axes, "
        "perhaps none, and what goes into the tanh may be large"
    )
    yield Case("three leading batch axes, one of length 1", _inputs(rng, (2, 1, 3), 2, 4)).holds(
        "The step…"
    )
    yield Case("large numbers, where tanh is flat", _inputs(rng, (2,), 3, 4, size=1e5)).holds(
        "The step…"
    )
    yield Case("tokens near a million that cancel", _near_a_million(rng, 3)).holds("Returns the…")
    x, h, W_xh, W_hh, b, d_next = _inputs(rng, (2,), 3, 2)
    yield Case("a tiny gradient arrives", (x, h, W_xh, W_hh, b, 1e-9 * d_next)).holds(
        "d_next: (..., d_h), the gradient of the loss with respect to `next`"
    )
    yield Case("no gradient arrives", (x, h, W_xh, W_hh, b, 0 * d_next)).holds("d_next: (...…")


@rnn_cell_backward.hidden
def _(rng):
    d, d_h, batch = (int(size) for size in rng.permutation([2, 3, 4]))
    yield Case("one token", _inputs(rng, (), d, d_h))
    yield Case("a batch", _inputs(rng, (batch,), d, d_h))
    yield Case("a state as wide as the token", _inputs(rng, (batch,), d, d))
    yield Case(
        "two leading batch axes, float32", _inputs(rng, (2, batch), d, d_h, np.float32)
    ).holds("The parameters…")
    yield Case("as many sentences as hidden units", _inputs(rng, (d_h,), d, d_h))
    yield Case("a batch of one, with one hidden unit", _inputs(rng, (1,), d, 1))
    yield Case("tokens near a million that cancel", _near_a_million(rng, d_h))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    d: int,
    d_h: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[np.ndarray, ...]:
    """Random x, h, W_xh, W_hh, b and d_next; `size` multiplies the token."""
    x, h = size * rng.normal(size=(*batch, d)), rng.uniform(-0.9, 0.9, size=(*batch, d_h))
    W_xh, W_hh = 0.7 * rng.normal(size=(d, d_h)), rng.normal(size=(d_h, d_h))
    b, d_next = rng.uniform(0.3, 0.9, size=d_h), rng.normal(size=(*batch, d_h))
    return tuple(array.astype(dtype) for array in (x, h, W_xh, W_hh, b, d_next))


def _near_a_million(rng: np.random.Generator, d_h: int) -> tuple[np.ndarray, ...]:
    """Two entries of the token are near a million and cancel: no step is then small enough to
    differentiate by differences."""
    x, h, W_xh, W_hh, b, d_next = _inputs(rng, (2,), 2, d_h)
    W_xh[1] = -W_xh[0]
    return x + 1e6, h, W_xh, W_hh, b, d_next
