"""The exercise `jacobian_norms`: how much the last state depends on each one before it. To debug.

The given function multiplies the steps in the wrong order. With a single step, or with numbers in
place of matrices, the order makes no difference.
"""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions import context_bottleneck as solutions

jacobian_norms = Declaration(
    solutions.jacobian_norms,
    points=3,
    difficulty=4,
    minutes=20,
    kind=Kind.DEBUG,
    help=(
        "The smallest network that shows the mistake has two hidden units and three states. Work "
        "out by hand what the function multiplies there.",
        "A nudge is a row, and is multiplied from the right. Which matrix does a nudge to the "
        "first of three states meet first?",
        "Section “How far back does the last state reach?”.",
    ),
)


@jacobian_norms.right
def by_singular_values(H, W_hh):
    T, d_h = H.shape[-2:]
    norms = []
    for t in range(T):
        product = np.broadcast_to(np.eye(d_h), (*H.shape[:-2], d_h, d_h))
        for later in range(t + 1, T):
            product = product @ np.einsum("ij,...j->...ij", W_hh, 1 - H[..., later, :] ** 2)
        norms.append(np.linalg.svd(product, compute_uv=False)[..., 0])
    return np.stack(norms, axis=-1)


@jacobian_norms.right
def columns(H, W_hh):
    norms = np.ones_like(H[..., 0])
    product = np.eye(H.shape[-1])
    for t in range(H.shape[-2] - 1, 0, -1):
        slope = (1 - H[..., t, :]) * (1 + H[..., t, :])
        product = product @ (slope[..., :, None] * W_hh.T)
        norms[..., t - 1] = np.linalg.norm(product, ord=2, axis=(-2, -1))
    return norms


@jacobian_norms.right
def sentence_by_sentence(H, W_hh):
    norms = np.empty(H.shape[:-1])
    for index in np.ndindex(H.shape[:-2]):
        states = H[index].astype(float)
        product = np.eye(len(W_hh))
        for t in range(len(states))[::-1]:
            gram = product @ product.T
            norms[(*index, t)] = np.sqrt(np.linalg.eigvalsh(gram)[-1])
            product = W_hh.astype(float) @ np.diag(1 - states[t] ** 2) @ product
    return norms


@jacobian_norms.right
def plain(H, W_hh):
    norms = np.ones(H.shape[:-1])
    product = np.eye(H.shape[-1])
    for t in reversed(range(H.shape[-2] - 1)):
        h = H[..., t + 1, None, :]
        step = W_hh * (1 - h**2)
        product = step @ product
        norms[..., t] = np.linalg.norm(product, 2, axis=(-2, -1))
    return norms


jacobian_norms.wrong(
    "Frobenius norm",
    "What does your norm give for the identity of size 3? By how much can the identity stretch a "
    "vector?",
    plain.edit("(product, 2, axis=(-2, -1))", "(product, axis=(-2, -1))"),
)
jacobian_norms.wrong(
    "1 - h for 1 - h²",
    "What is the derivative of tanh, written in terms of tanh itself? Can it be larger than 1?",
    plain.edit("1 - h**2", "1 - h"),
)
jacobian_norms.wrong(
    "slope of the sigmoid",
    "At 0, tanh rises as steeply as the straight line y = x. What does your formula say for h = 0?",
    plain.edit("(1 - h**2)", "(h * (1 - h))"),
)
jacobian_norms.wrong(
    "tanh applied once more",
    "H holds states, and a state is already the tanh of something. In 1 - h², what is h?",
    plain.edit("1 - h**2", "1 - np.tanh(h) ** 2"),
)
jacobian_norms.wrong(
    "slope of tanh forgotten",
    "Does your answer change when H does? What happens to the gradient where a unit is nearly 1?",
    plain.edit("W_hh * (1 - h**2)", "W_hh"),
)
jacobian_norms.wrong(
    "slope at the old state",
    "In the step from state t to state t + 1, which of the two states is the result of the tanh?",
    plain.edit("H[..., t + 1, None, :]", "H[..., t, None, :]"),
)
jacobian_norms.wrong(
    "rows scaled for columns",
    "Entry [i, j] of W_hh leads from the old unit i to the new unit j. By the slope of which of "
    "the two must it be multiplied?",
    plain.edit("H[..., t + 1, None, :]", "H[..., t + 1, :, None]"),
)
jacobian_norms.wrong(
    "factors in the wrong order",
    "Write out three steps by the chain rule. When vectors are rows, on which side of the product "
    "does the earlier step belong?",
    plain.edit("step @ product", "product @ step"),
    released=True,
)
jacobian_norms.wrong(
    "product of the norms",
    "Is the norm of a product equal to the product of the norms? If they differ, which of the two "
    "is larger?",
    plain.edit(
        "np.linalg.norm(product, 2, axis=(-2, -1))",
        "np.linalg.norm(step, 2, axis=(-2, -1)) * norms[..., t + 1]",
    ),
)
jacobian_norms.wrong(
    "one step only",
    "How many steps lie between state t and the last state? How many of them does your norm cover?",
    plain.edit("(product, 2, axis=(-2, -1))", "(step, 2, axis=(-2, -1))"),
)
jacobian_norms.wrong(
    "largest eigenvalue",
    "The matrix [[0, 5], [0, 0]] has 0 as its only eigenvalue. By how much can it stretch a "
    "vector?",
    plain.edit(
        "np.linalg.norm(product, 2, axis=(-2, -1))",
        "np.abs(np.linalg.eigvals(product)).max(axis=-1)",
    ),
)
jacobian_norms.wrong(
    "sorted by distance",
    "Which entry of your answer is 1? Which one should it be?",
    plain.edit("return norms", "return norms[..., ::-1].copy()"),
)
jacobian_norms.wrong(
    "from the first state on",
    "Should entry t say how the last state depends on state t, or how state t depends on the "
    "first?",
    plain.edit("reversed(range(H.shape[-2] - 1))", "range(1, H.shape[-2])")
    .edit("H[..., t + 1, None, :]", "H[..., t, None, :]")
    .edit("step @ product", "product @ step"),
)


@jacobian_norms.public
def _(rng):
    H = np.array([[0.5, 0.0], [0.0, 0.5], [0.5, -0.5]])
    W_hh = np.array([[0.0, 2.0], [-1.0, 1.0]])
    yield Case("three states", (H, W_hh)).holds(
        "H: the states h_1 ... h_T that the network went through, one a row, (..., T, d_h), T at "
        "least 1; each is tanh(x @ W_xh + h @ W_hh + b) of the one before.",
        "W_hh: (d_h, d_h).",
    )
    yield Case("one state", _inputs(rng, (), 1, 3)).holds("H: the states…", "The last one is 1.")
    yield Case("six states", _inputs(rng, (), 6, 4)).holds(
        "W_hh: (d_h…",
        "Returns norms of shape (..., T): the spectral norm (largest singular value) of the "
        "Jacobian of the last state with respect to the state in the same row of H.",
    )
    yield Case("two sentences at once, float32", _inputs(rng, (2,), 5, 3, np.float32)).holds(
        "H: the states…"
    )
    yield Case("one sentence in the batch, one hidden unit", _inputs(rng, (1,), 4, 1)).holds(
        "Returns norms…"
    )
    yield Case("one state in a batch of one", _inputs(rng, (1,), 1, 2)).holds("The last…")
    yield Case("three leading batch axes", _inputs(rng, (2, 1, 3), 3, 2)).holds("H: the states…")
    yield Case("units at exactly 1 and -1, where tanh is flat", _saturated(rng, 5, 3)).holds(
        "H: the states…"
    )


@jacobian_norms.hidden
def _(rng):
    T, d_h, batch = (int(size) for size in rng.permutation([3, 4, 5]))
    yield Case("one sentence", _inputs(rng, (), T, d_h))
    yield Case("one state", _inputs(rng, (), 1, d_h))
    yield Case("a batch, float32", _inputs(rng, (batch,), T, d_h, np.float32))
    yield Case("many states", _inputs(rng, (), 12, d_h)).holds("Returns norms…")
    yield Case("one sentence in the batch, one hidden unit", _inputs(rng, (1,), T, 1))
    yield Case("two leading batch axes", _inputs(rng, (2, batch), T, d_h)).holds("H: the states…")
    yield Case("units at exactly 1 and -1, where tanh is flat", _saturated(rng, T + 1, d_h))


def _inputs(
    rng: np.random.Generator, batch: tuple[int, ...], T: int, d_h: int, dtype: type = np.float64
) -> tuple[np.ndarray, ...]:
    """The states of a random network that has read T random tokens, and its W_hh."""
    W_hh = rng.normal(size=(d_h, d_h)) / d_h**0.5
    h, states = np.tanh(rng.normal(size=(*batch, d_h))), []
    for _ in range(T):
        states.append(h)
        h = np.tanh(rng.normal(size=(*batch, d_h)) + h @ W_hh)
    return np.stack(states, axis=-2).astype(dtype), W_hh.astype(dtype)


def _saturated(rng: np.random.Generator, T: int, d_h: int) -> tuple[np.ndarray, ...]:
    """The same, with two units of the third state so far out that their tanh is 1 and -1."""
    H, W_hh = _inputs(rng, (), T, d_h)
    H[2, :2] = 1, -1
    return H, W_hh


jacobian_norms.mutant(
    "derivatives below 1e-8 taken for 0",
    "(1 - H[..., t + 1, None, :] ** 2)",
    "np.where(1 - H[..., t + 1, None, :] ** 2 < 1e-8, 0, 1 - H[..., t + 1, None, :] ** 2)",
)
jacobian_norms.lets_through(
    "derivatives below 1e-8 taken for 0", "the tolerance is relative to the last norm: 1"
)
