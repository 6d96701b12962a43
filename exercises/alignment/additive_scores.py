"""The exercise `additive_scores`: a small network compares two states."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration
from solutions import alignment as solutions

additive_scores = Declaration(
    solutions.additive_scores,
    points=2,
    difficulty=2,
    minutes=15,
    help=(
        "Project both states to d_a, add them, apply tanh, and weight the hidden units by v.",
        "`s @ W_s` has shape (..., d_a) and `H @ W_h` has (..., T, d_a). Give the first an axis "
        "for the T positions before you add.",
        "Section “A score from a small network”.",
    ),
)


@additive_scores.right
def loop(s, H, W_s, W_h, v):
    if H.ndim > 2:
        pairs = zip(s, H, strict=True)
        return np.stack([loop(*pair, W_s, W_h, v) for pair in pairs])
    scores = np.zeros(len(H))
    for j in range(len(H)):
        for unit in range(len(v)):
            scores[j] += v[unit] * np.tanh(s @ W_s[:, unit] + H[j] @ W_h[:, unit])
    return scores


@additive_scores.right
def concatenated(s, H, W_s, W_h, v):
    repeated = np.broadcast_to(s[..., None, :], (*H.shape[:-1], s.shape[-1]))
    both = np.concatenate((repeated, H), axis=-1)
    return np.tanh(both @ np.concatenate((W_s, W_h), axis=0)) @ v


@additive_scores.right
def einsum(s, H, W_s, W_h, v):
    from_encoder = np.einsum("...th,ha->a...t", H, W_h)
    from_decoder = np.expand_dims(np.einsum("...s,sa->a...", s, W_s), -1)
    return np.einsum("a,a...t->...t", v, np.tanh(from_decoder + from_encoder))


@additive_scores.right
def plain(s, H, W_s, W_h, v):
    both = (s @ W_s)[..., None, :] + H @ W_h
    return np.tanh(both) @ v


no_tanh = additive_scores.wrong(
    "tanh forgotten",
    "Without the tanh, how does the difference of two scores change when the decoder's state "
    "changes?",
    plain.edit("np.tanh(both)", "both"),
)
additive_scores.wrong(
    "v forgotten",
    "Each hidden unit casts a vote. What decides how much its vote counts, and with which sign?",
    plain.edit("np.tanh(both) @ v", "np.tanh(both).sum(axis=-1)"),
)
additive_scores.wrong(
    "tanh after v",
    "How large can your scores become? Which layer of the network has the tanh, the hidden one or "
    "the output?",
    plain.edit("np.tanh(both) @ v", "np.tanh(both @ v)"),
)
additive_scores.wrong(
    "a tanh for each state",
    "One hidden unit reads both states. Is its tanh taken before or after they meet?",
    no_tanh.edit(
        "(s @ W_s)[..., None, :] + H @ W_h", "np.tanh(s @ W_s)[..., None, :] + np.tanh(H @ W_h)"
    ),
)
additive_scores.wrong(
    "W_s and W_h swapped",
    "Which matrix belongs to the decoder's state? Try states of different widths.",
    plain.edit("(s @ W_s)[..., None, :] + H @ W_h", "(s @ W_h)[..., None, :] + H @ W_s"),
)
additive_scores.wrong(
    "concatenated in the other order",
    "You put two states side by side, and two matrices on top of each other. Does the first "
    "matrix meet the first state?",
    concatenated.edit("(repeated, H)", "(H, repeated)"),
)
multiplied = plain.edit("(s @ W_s)[..., None, :] + H @ W_h", "(s @ W_s)[..., None, :] * (H @ W_h)")
additive_scores.wrong(
    "multiplicative scores",
    "This is the other kind of score, a product of the two states. Where does your function use "
    "tanh and v?",
    multiplied.edit("np.tanh(both) @ v", "both.sum(axis=-1)"),
)
additive_scores.wrong(
    "hidden units multiply",
    "A hidden unit adds up what it reads. What does your unit read when the decoder's state is 0?",
    multiplied,
)
additive_scores.wrong(
    "softmax applied",
    "Does the docstring ask for scores or for weights? Do your scores sum to 1?",
    plain.edit(
        "return np.tanh(both) @ v",
        "scores = np.tanh(both) @ v\n"
        "exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))\n"
        "return exponentials / exponentials.sum(axis=-1, keepdims=True)",
    ),
)
additive_scores.wrong(
    "no axis for the positions",
    "`s @ W_s` of a batch has shape (batch, d_a), `H @ W_h` has (batch, T, d_a). Which axes does "
    "NumPy line up when you add them?",
    plain.edit("(s @ W_s)[..., None, :]", "s @ W_s"),
)
additive_scores.wrong(
    "decoder's state ignored",
    "Change s. Do your scores change?",
    plain.edit("(s @ W_s)[..., None, :] + H @ W_h", "H @ W_h"),
)


@additive_scores.public
def _(rng):
    s, H = np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    W_s, W_h = np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([[-1.0, 1.0], [0.0, 1.0]])
    yield Case("three positions, everything small", (s, H, W_s, W_h, np.array([2.0, -1.0]))).holds(
        "The network has one hidden layer of d_a tanh units, which reads both states, and one "
        "linear output; neither has a bias.",
        "Returns the scores (..., T), before any softmax",
    )
    yield Case("states of one width", _inputs(rng, (), 4, 3, 3, 3)).holds(
        "W_s: (d_s, d_a). W_h: (d_h, d_a). v: (d_a,)."
    )
    yield Case("all sizes differ", _inputs(rng, (), 5, 2, 4, 3)).holds(
        "s: (..., d_s), the state of the decoder. H: (..., T, d_h), the states of the encoder, "
        "one a row, with the same leading axes.",
        "W_s: (d_s…",
    )
    yield Case("a batch, as many positions as sentences", _inputs(rng, (3,), 3, 2, 4, 5)).holds(
        "s: (...…"
    )
    yield Case(
        "float32, two leading batch axes", _inputs(rng, (2, 3), 4, 3, 2, 5, np.float32)
    ).holds("s: (...…")
    yield Case("large states", _inputs(rng, (), 3, 2, 3, 4, size=2000.0)).holds(
        "States may be large."
    )
    yield Case(
        "a batch of one, one position, one hidden unit", _inputs(rng, (1,), 1, 2, 3, 1)
    ).holds("s: (...…")
    yield Case(
        "three leading batch axes, tiny states", _inputs(rng, (2, 1, 3), 2, 3, 2, 4, size=1e-6)
    ).holds("s: (...…", "The network…")


@additive_scores.hidden
def _(rng):
    n, d_s, d_h, d_a = rng.permutation([2, 3, 4, 5])
    yield Case("states of one width", _inputs(rng, (), n, d_s, d_s, d_s))
    yield Case("all sizes differ", _inputs(rng, (), n, d_s, d_h, d_a))
    yield Case("large states", _inputs(rng, (), n, d_s, d_h, d_a, size=2000.0))
    yield Case("a batch, as many positions as sentences", _inputs(rng, (n,), n, d_s, d_h, d_a))
    yield Case("float32, a batch", _inputs(rng, (3,), n, d_s, d_h, d_a, np.float32))
    yield Case("one position, one hidden unit", _inputs(rng, (), 1, d_s, d_h, 1)).holds(
        "The network…", "Returns the…"
    )
    yield Case("a batch of one, tiny states", _inputs(rng, (1,), n, d_s, d_h, d_a, size=1e-6))


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n: int,
    d_s: int,
    d_h: int,
    d_a: int,
    dtype: type = np.float64,
    size: float = 1.0,
) -> tuple[np.ndarray, ...]:
    """Random s, H, W_s, W_h and v; `size` multiplies the states."""
    states = rng.normal(size=(*batch, d_s)) * size, rng.normal(size=(*batch, n, d_h)) * size
    parts = (rng.normal(size=shape) for shape in ((d_s, d_a), (d_h, d_a), (d_a,)))
    return tuple(array.astype(dtype) for array in (*states, *parts))
