"""The exercise `fold_norm`: a norm without parameters of its own."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import blocks as solutions

fold_norm = Declaration(
    solutions.fold_norm,
    points=3,
    difficulty=2,
    minutes=15,
    kind=Kind.TRANSFER,
    help=(
        "Put `scale * x + shift` into `W @ y + b` in place of y, and multiply out. Which part "
        "contains x, and which does not?",
        "Feature j of x meets column j of `W`, so that column is multiplied by `scale[j]`. The "
        "shift goes through `W` as any token does.",
        "Section “Layer normalisation”.",
    ),
)


@fold_norm.right
def by_columns(scale, shift, W, b):
    weight, bias = np.empty(W.shape), np.array(b, dtype=float)
    for j in range(W.shape[1]):
        weight[:, j] = W[:, j] * scale[j]
        bias = bias + W[:, j] * shift[j]
    return weight, bias


@fold_norm.right
def by_tokens(scale, shift, W, b):
    # what the old map makes of a token of zeros, and of each token with a single 1
    bias = W @ shift + b
    tokens = np.diag(scale)
    return (W @ tokens), bias


@fold_norm.right
def einsum(scale, shift, W, b):
    return np.einsum("oi,i->oi", W, scale), np.einsum("oi,i->o", W, shift) + b


@fold_norm.right
def plain(scale, shift, W, b):
    return W * scale, W @ shift + b


fold_norm.wrong(
    "rows scaled in place of columns",
    "Which axis of `W` meets the features of the token: the rows or the columns?",
    plain.edit("W * scale", "W * np.resize(scale, len(W))[:, None]"),
)
fold_norm.wrong(
    "the shift forgotten",
    "Let x be a token of zeros. What does the old map make of it, and what yours?",
    plain.edit("W @ shift + b", "0 * shift.sum() + b"),
)
fold_norm.wrong(
    "the old bias forgotten",
    "Let x and the shift be zeros. What does the old map make of it, and what yours?",
    plain.edit("W @ shift + b", "W @ shift"),
)
fold_norm.wrong(
    "the shift scaled too",
    "Is the shift added before the scale, or after it?",
    plain.edit("W @ shift", "W @ (scale * shift)"),
)
fold_norm.wrong(
    "divided by the scale",
    "Let the scale be 2. Is what the old map reads twice as large as x, or half as large?",
    plain.edit("W * scale", "W / np.where(scale == 0, 1, scale)"),
)
fold_norm.wrong(
    "the scale left in the norm",
    "Whose work does your map do, if the norm no longer scales?",
    plain.edit("W * scale", "W * 1.0"),
)
fold_norm.wrong(
    "the shift added to the bias as it is",
    "The shift belongs to the features that go into the map. Does your bias belong to those, or to "
    "what comes out?",
    plain.edit("W @ shift + b", "np.resize(shift, len(b)) + b"),
)


@fold_norm.public
def _(rng):
    yield Case(
        "two features in, one out",
        (np.array([2.0, 3.0]), np.array([10.0, 1.0]), np.array([[1.0, -1.0]]), np.array([5.0])),
    ).holds(
        "scale and shift: (d_in,), those of a layer normalisation, which makes `scale * x + shift` "
        "of a normalised token x.",
        "W: (d_out, d_in), as `nn.Linear` stores it, and b: (d_out,); the map makes W y + b of a "
        "token y.",
        "Returns (weight, bias), of the shapes of `W` and `b`: a map with them makes of x what the "
        "old map makes of the scaled and shifted token.",
    )
    yield _case(rng, "as many features out as in", 3, 3).holds("W: (d…")
    yield _case(rng, "more features out", 3, 5).holds("W: (d…")
    yield _case(rng, "one feature in", 1, 4).holds("scale and…")
    yield _case(rng, "one feature in, one out", 1, 1).holds("Returns (weight…")
    yield _case(rng, "a scale of 0", 4, 2, zero=True).holds("scale and…")
    yield _case(rng, "tiny numbers", 4, 3, size=1e-7).holds("Returns (weight…")
    yield _case(rng, "float32", 3, 2, dtype=np.float32).holds("W: (d…")


@fold_norm.hidden
def _(rng):
    d_in, d_out = (int(size) for size in rng.permutation([3, 5]))
    yield _case(rng, "a map", d_in, d_out)
    yield _case(rng, "another map of this size", d_in, d_out)
    yield _case(rng, "as many features out as in", 4, 4)
    yield _case(rng, "one feature in", 1, d_out)
    yield _case(rng, "one feature out", d_in, 1)
    yield _case(rng, "one feature in, one out", 1, 1)
    yield _case(rng, "a scale of 0", d_in, d_out, zero=True)
    yield _case(rng, "large numbers", d_in, d_out, size=1e4)
    yield _case(rng, "float32", d_in, d_out, dtype=np.float32)


def _case(
    rng: np.random.Generator,
    note: str,
    d_in: int,
    d_out: int,
    size: float = 1.0,
    zero: bool = False,
    dtype: type = np.float64,
) -> Case:
    shapes = ((d_in,), (d_in,), (d_out, d_in), (d_out,))
    scale, shift, W, b = ((size * rng.normal(size=shape)).astype(dtype) for shape in shapes)
    if zero:
        scale[0] = 0
    return Case(note, (scale, shift, W, b))
