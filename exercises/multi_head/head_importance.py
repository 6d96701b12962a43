"""The exercise `head_importance`: what is missing when a head is removed."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Raises
from solutions import multi_head as solutions

head_importance = Declaration(
    solutions.head_importance,
    points=3,
    difficulty=3,
    minutes=20,
    help=(
        "Build the output with all heads, and the output without one of them. What do the two "
        "differ by, and which rows of W_o does that depend on?",
        "With zeros for head h, the product with W_o loses `weights[h] @ values[h]` times the rows "
        "of W_o that head h meets, and nothing else. Compare the norm of that with the norm of the "
        "whole. Mind an output that is all zeros.",
        "Section “Removing heads”.",
    ),
)


@head_importance.right
def remove_and_compare(weights, values, W_o):
    def mixed(heads):
        return np.concatenate(np.moveaxis(heads, -3, 0), axis=-1) @ W_o

    heads = weights @ values
    output = mixed(heads)
    size = np.sqrt((output**2).sum(axis=(-2, -1)))
    importances = np.zeros(heads.shape[:-2])
    for h in range(heads.shape[-3]):
        rest = heads.copy()
        rest[..., h, :, :] = 0
        change = np.sqrt(((output - mixed(rest)) ** 2).sum(axis=(-2, -1)))
        importances[..., h] = np.where(size > 0, change / np.where(size > 0, size, 1), 0)
    return importances


@head_importance.right
def einsum(weights, values, W_o):
    if weights.shape[-1] != values.shape[-2]:  # einsum would repeat a single key
        raise ValueError
    rows = W_o.reshape(values.shape[-3], values.shape[-1], W_o.shape[-1])
    parts = np.einsum("...hij,...hjv,hvo->...hio", weights, values, rows)
    squares = np.einsum("...hio,...hio->...h", parts, parts)
    output = np.einsum("...hio->...io", parts)
    total = np.einsum("...io,...io->...", output, output)[..., None]
    return np.sqrt(squares / np.where(total > 0, total, np.inf))


@head_importance.right
def slices(weights, values, W_o):
    d_v = values.shape[-1]
    if len(W_o) != values.shape[-3] * d_v:
        raise ValueError
    parts = [
        weights[..., h, :, :] @ values[..., h, :, :] @ W_o[h * d_v : (h + 1) * d_v]
        for h in range(values.shape[-3])
    ]
    flat = np.stack([part.reshape(*part.shape[:-2], -1) for part in parts], axis=-2)
    size = np.linalg.norm(flat.sum(axis=-2), axis=-1)[..., None]
    return np.linalg.norm(flat, axis=-1) / np.where(size == 0, np.inf, size)


@head_importance.right
def plain(weights, values, W_o):
    n_heads, d_v = values.shape[-3], values.shape[-1]
    rows = W_o.reshape(n_heads, d_v, W_o.shape[-1])
    parts = weights @ values @ rows
    output = parts.sum(axis=-3, keepdims=True)
    size = np.linalg.norm(output, axis=(-2, -1))
    change = np.linalg.norm(parts, axis=(-2, -1))
    return np.where(size > 0, change / np.where(size > 0, size, 1), 0)


head_importance.wrong(
    "not relative",
    "Multiply W_o by 10. Has any head become more important? Do your numbers change?",
    plain.edit("np.where(size > 0, change / np.where(size > 0, size, 1), 0)", "change"),
)


@head_importance.wrong(
    "one number for the whole batch",
    "Which shape does the docstring ask for? Should one sentence's importances change when "
    "another joins the batch?",
)
def _(weights, values, W_o):
    rows = W_o.reshape(values.shape[-3], values.shape[-1], W_o.shape[-1])
    parts = np.moveaxis(weights @ values @ rows, -3, 0)
    change = np.array([np.sqrt((part**2).sum()) for part in parts])
    size = np.sqrt((parts.sum(axis=0) ** 2).sum())
    return change / size if size > 0 else np.zeros(len(parts))


head_importance.wrong(
    "rows of W_o dealt out in turn",
    "After the merge, which of a token's features belong to the first head? Which rows of W_o "
    "meet them?",
    plain.edit(
        "W_o.reshape(n_heads, d_v, W_o.shape[-1])",
        "np.stack([W_o[h::n_heads] for h in range(n_heads)])",
    ),
)
head_importance.wrong(
    "columns of W_o instead of rows",
    "In `merged @ W_o`, which axis of W_o meets the features of the heads?",
    plain.edit("W_o.reshape", "W_o.T.reshape"),
)
before_the_mixing = head_importance.wrong(
    "measured before the mixing",
    "What if the rows of W_o that read a head are all zero? How important is that head?",
    plain.edit(
        "rows = W_o.reshape(n_heads, d_v, W_o.shape[-1])\nparts = weights @ values @ rows",
        "parts = weights @ values",
    ).edit(
        "np.linalg.norm(output, axis=(-2, -1))",
        "np.sqrt((parts**2).sum(axis=(-3, -2, -1)))[..., None]",
    ),
)
head_importance.wrong(
    "measured on the weights",
    "A head may look sharply at a token whose value is zero. What does the output lose without it?",
    before_the_mixing.edit("parts = weights @ values", "parts = weights"),
)
head_importance.wrong(
    "shares that sum to 1",
    "By what do you divide: by the size of the output, or by the sum of the heads' sizes? When do "
    "these differ?",
    plain.edit(
        "np.linalg.norm(output, axis=(-2, -1))",
        "np.linalg.norm(parts, axis=(-2, -1)).sum(axis=-1, keepdims=True)",
    ),
)
head_importance.wrong(
    "squares without the root",
    "If all values double, should a norm double, or grow fourfold? Where is your root?",
    plain.edit(
        "size = np.linalg.norm(output, axis=(-2, -1))\n"
        "change = np.linalg.norm(parts, axis=(-2, -1))",
        "size = (output**2).sum(axis=(-2, -1))\nchange = (parts**2).sum(axis=(-2, -1))",
    ),
)
head_importance.wrong(
    "what remains instead of what is missing",
    "Suppose that a head contributes nothing. Should its importance be 0 or 1?",
    plain.edit(
        "np.linalg.norm(parts, axis=(-2, -1))", "np.linalg.norm(output - parts, axis=(-2, -1))"
    ),
)
head_importance.wrong(
    "difference of norms",
    "Two outputs may have the same norm and yet differ. Which should you compute first, the norm "
    "or the difference?",
    plain.edit(
        "np.linalg.norm(parts, axis=(-2, -1))",
        "size - np.linalg.norm(output - parts, axis=(-2, -1))",
    ),
)
head_importance.wrong(
    "averaged over the tokens",
    "Over which axes does the docstring take the norm? How many norms do you take for one head?",
    plain.edit("axis=(-2, -1)", "axis=-1", times=2).edit(
        "np.where(size > 0, change / np.where(size > 0, size, 1), 0)",
        "np.where(size > 0, change / np.where(size > 0, size, 1), 0).mean(axis=-1)",
    ),
)
head_importance.wrong(
    "divided by an output of zero",
    "What is your answer for a sentence in which every token is masked?",
    plain.edit("np.where(size > 0, change / np.where(size > 0, size, 1), 0)", "change / size"),
)
head_importance.wrong(
    "a small number added to the size",
    "Divide W_o by a billion. Has any head become less important? And what do you return where "
    "two heads cancel each other, so that the output is 0 although their terms are not?",
    plain.edit(
        "np.where(size > 0, change / np.where(size > 0, size, 1), 0)", "change / (size + 1e-8)"
    ),
)
head_importance.wrong(
    "rows of W_o left over",
    "Two heads of three features, and nine rows of W_o: which rows does none of your heads meet, "
    "and how does the caller learn of it?",
    plain.edit(
        "W_o.reshape(n_heads, d_v, W_o.shape[-1])",
        "np.stack([W_o[h * d_v : (h + 1) * d_v] for h in range(n_heads)])",
    ),
)


@head_importance.public
def _(rng):
    weights = np.array([[[1.0]], [[1.0]]])
    values = np.array([[[3.0]], [[4.0]]])
    yield Case("one token, two heads at right angles", (weights, values, np.eye(2))).holds(
        "To remove a head is to replace what it found, weights @ values, by zeros",
        "for each sequence and head the norm of (output - output without the head) divided by "
        "the norm of the output, where the norm of an (n_q, d_out) matrix is the root of the sum "
        "of its squares",
    )
    yield Case("two heads, all widths 4", _inputs(rng, (), 2, 3, 5, 2, 4)).holds(
        "(n_heads * d_v, d_out); the first d_v rows belong to the first head",
        "To remove…",
        "for each…",
    )
    weights_3, values_3, W_o = _inputs(rng, (), 3, 2, 4, 2, 5)
    yield Case("three heads, a tiny output", (weights_3, values_3, W_o * 1e-11)).holds(
        "one that is merely tiny counts like any other"
    )
    opposed = np.array([[1.0, 0.0], [-0.5, 0.5]])
    yield Case("heads that partly cancel", (weights, values, opposed)).holds(
        "An importance may exceed 1"
    )
    opposed = np.array([[4.0, 8.0], [-3.0, -6.0]])
    yield Case("heads that cancel each other", (weights, values, opposed)).holds(
        "Where the output is all 0, so are the importances"
    )
    inputs = _inputs(rng, (1,), 1, 1, 1, 1, 1)
    yield Case("one head, one token, all widths 1, a batch of one", inputs).holds(
        "an array of shape (..., n_heads)"
    )
    weights, values, W_o = _inputs(rng, (2,), 2, 4, 3, 3, 5)
    weights[1] = 0
    yield Case("a sentence of a batch whose tokens see nothing", (weights, values, W_o)).holds(
        "Where the…"
    )
    inputs = _inputs(rng, (2, 1, 3), 3, 2, 4, 2, 6, np.float32)
    yield Case("float32, three leading batch axes, one of length 1", inputs).holds(
        "weights: (..., n_heads, n_q, n_k). values: (..., n_heads, n_k, d_v), as split among the "
        "heads"
    )
    weights, values, W_o = _inputs(rng, (), 2, 3, 4, 3, 4)
    unfit = (weights, values, rng.normal(size=(9, 4)))
    yield Case(
        "two heads of three features, nine rows of W_o", unfit, raises=Raises("ValueError")
    ).holds(
        "Raises ValueError if the shapes do not fit, such as a W_o with rows for more features "
        "than the heads have"
    )
    unfit = (weights, rng.normal(size=(2, 5, 3)), W_o)
    yield Case("weights for four keys, values of five", unfit, raises=Raises("ValueError")).holds(
        "Raises ValueError…"
    )
    unfit = (weights[..., :1], values, W_o)
    yield Case("weights for one key, values of four", unfit, raises=Raises("ValueError"))


@head_importance.hidden
def _(rng):
    n_heads, n_q, n_k, d_v = (int(size) for size in rng.permutation([2, 3, 4, 5]))
    d_model = n_heads * d_v
    yield Case("one sequence", _inputs(rng, (), n_heads, n_q, n_k, d_v, d_model)).holds(
        "weights: (...…", "an array…", "for each…"
    )
    weights, values, W_o = _inputs(rng, (), n_heads, n_q, n_k, d_v, d_model + 1)
    yield Case("a tiny output of another width", (weights, values, W_o * 1e-11)).holds(
        "(n_heads *…", "one that…"
    )
    weights, values, W_o = _inputs(rng, (3,), n_heads, n_q, n_k, d_v, d_model)
    weights[0] = 0
    yield Case("a sentence of a batch whose tokens see nothing", (weights, values, W_o))
    inputs = _inputs(rng, (2, 3, 1), n_heads, n_q, n_k, d_v, d_model, np.float32)
    yield Case("float32, three leading batch axes, one of length 1", inputs)
    yield Case("one head, one token, a batch of one", _inputs(rng, (1,), 1, 1, n_k, d_v, 1))
    a, b = (float(size) for size in rng.choice(np.arange(2, 9), size=2, replace=False))
    values = np.array([[[a]], [[b]]])
    opposed = np.array([[b, 2 * b, 3 * b], [-a, -2 * a, -3 * a]])
    yield Case("heads that cancel each other", (np.ones((2, 1, 1)), values, opposed))
    weights, values, W_o = _inputs(rng, (), n_heads, n_q, n_k, d_v, d_model)
    unfit = (weights, values, np.concatenate([W_o, W_o[:n_heads]]))
    yield Case("rows of W_o left over", unfit, raises=Raises("ValueError")).holds(
        "Raises ValueError…"
    )


def _inputs(
    rng: np.random.Generator,
    batch: tuple[int, ...],
    n_heads: int,
    n_q: int,
    n_k: int,
    d_v: int,
    d_out: int,
    dtype: type = np.float64,
) -> tuple[np.ndarray, ...]:
    """Random weights whose rows sum to 1, values, and W_o; later heads have larger values."""
    shares = rng.random((*batch, n_heads, n_q, n_k)) ** 3
    weights = shares / shares.sum(axis=-1, keepdims=True)
    values = rng.normal(size=(*batch, n_heads, n_k, d_v)) * np.arange(1, n_heads + 1)[:, None, None]
    W_o = rng.normal(size=(n_heads * d_v, d_out))
    return weights.astype(dtype), values.astype(dtype), W_o.astype(dtype)


head_importance.mutant("outputs below 1e-8 taken for 0", "size > 0", "size > 1e-8")
head_importance.mutant("outputs of 0 not handled", "where=size > 0", "where=size > -1")
