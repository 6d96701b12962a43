"""The exercise `layer_norm_backward`: a gradient through a mean and a standard deviation."""

import numpy as np

from autograder.exercise.declaring import Case, Declaration, Kind
from solutions.variants import blocks as solutions

from .. import forbidden

layer_norm_backward = Declaration(
    solutions.layer_norm_backward,
    points=5,
    difficulty=5,
    minutes=35,
    kind=Kind.DERIVE,
    forbidden=forbidden.AUTOMATIC_DIFFERENTIATION,
    help=(
        "One token is enough. Write its normalised features as (x - mean) / spread, and take three "
        "derivatives: by x itself, through the mean, and through the spread.",
        "Let g be `d_output * weight` and y the normalised token. The result is (g - mean(g) - y * "
        "mean(g * y)) / spread, with means over the features.",
        "Section “Layer normalisation”.",
    ),
)


@layer_norm_backward.right
def with_the_jacobian(X, weight, d_output):
    d = X.shape[-1]
    gradient = np.zeros(X.shape)
    for place in np.ndindex(X.shape[:-1]):
        centred = X[place] - X[place].mean()
        spread = np.sqrt((centred**2).mean() + 1e-5)
        y = centred / spread
        # row i: how output i changes with each feature
        J = (np.eye(d) - np.ones((d, d)) / d - np.outer(y, y) / d) / spread
        gradient[place] = (d_output[place] * weight) @ J
    return gradient


@layer_norm_backward.right
def three_ways(X, weight, d_output):
    d = X.shape[-1]
    centred = X - X.mean(-1, keepdims=True)
    variance = np.square(centred).sum(-1, keepdims=True) / d + 1e-5
    d_normed = d_output * weight
    d_centred = d_normed / np.sqrt(variance)
    d_variance = (d_normed * centred).sum(-1, keepdims=True) * -0.5 * variance**-1.5
    d_centred = d_centred + d_variance * 2 * centred / d
    return d_centred - d_centred.mean(-1, keepdims=True)


@layer_norm_backward.right
def einsum(X, weight, d_output):
    d = X.shape[-1]
    centre = np.eye(d) - 1 / d
    centred = np.einsum("...i,ij->...j", X, centre)
    size = np.sqrt(np.einsum("...i,...i->...", centred, centred) / d + 1e-5)[..., None]
    scaled = np.einsum("...i,i->...i", d_output, weight)
    y = centred / size
    share = np.einsum("...i,...i->...", scaled, y)[..., None] / d
    return (np.einsum("...i,ij->...j", scaled, centre) - y * share) / size


@layer_norm_backward.right
def plain(X, weight, d_output):
    centred = X - X.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    y, g = centred / spread, d_output * weight
    along = (g * y).mean(axis=-1, keepdims=True)
    return (g - g.mean(axis=-1, keepdims=True) - y * along) / spread


layer_norm_backward.wrong(
    "the mean taken for a constant",
    "Add the same number to all features of a token: the output does not change. So what must the "
    "gradient's features sum to?",
    plain.edit("g - g.mean(axis=-1, keepdims=True) - y * along", "g - y * along"),
)
layer_norm_backward.wrong(
    "the spread taken for a constant",
    "Multiply a token by 1.001: the output hardly changes. What must the dot product of the "
    "gradient and the centred token be?",
    plain.edit(" - y * along", ""),
)
layer_norm_backward.wrong(
    "mean and spread taken for constants",
    "Does the mean of a token depend on its features? Does its standard deviation?",
    plain.edit("g - g.mean(axis=-1, keepdims=True) - y * along", "g"),
)
layer_norm_backward.wrong(
    "the scale forgotten",
    "Double `weight`. Does your result double?",
    plain.edit("d_output * weight", "d_output"),
)
layer_norm_backward.wrong(
    "not divided by the spread",
    "Make the token ten times as large. Does a small change of a feature then count as much as "
    "before?",
    plain.edit(
        "(g - g.mean(axis=-1, keepdims=True) - y * along) / spread",
        "g - g.mean(axis=-1, keepdims=True) - y * along",
    ),
)
layer_norm_backward.wrong(
    "sums in place of means",
    "By how much does the mean of d features change, if one of them grows by 1?",
    plain.edit("(g * y).mean", "(g * y).sum").edit("g.mean(", "g.sum("),
)
layer_norm_backward.wrong(
    "means over the tokens",
    "A token is a row. Over which axis does its own mean go?",
    plain.edit("axis=-1", "axis=-2", times=4),
)
layer_norm_backward.wrong(
    "the gradient passed on as it is",
    "What does a gradient meet on its way back through the norm?",
    plain.edit("(g - g.mean(axis=-1, keepdims=True) - y * along) / spread", "d_output * 1.0"),
)
layer_norm_backward.wrong(
    "no eps",
    "Features that are all nearly equal: what keeps the norm from dividing by next to nothing, and "
    "does your gradient know of it?",
    plain.edit("+ 1e-5", "+ 1e-30"),
)


@layer_norm_backward.public
def _(rng):
    yield _case(rng, "two tokens, three features", (2, 3)).holds(
        "X: (..., n, d), its input.",
        "weight: (d,), the scale.",
        "d_output: the gradient of a loss with respect to the output, of the shape of `X`.",
        "Returns the gradient with respect to `X`, of the same shape.",
        "The mean and the variance of a token depend on all of its features.",
    )
    yield _case(rng, "a batch of two", (2, 3, 4)).holds("X: (...…")
    yield _case(rng, "a mean far from 0", (3, 4), mean=1e6).holds(
        "A mean far from 0 changes nothing, and no token depends on another."
    )
    yield _case(rng, "small features", (2, 4), size=0.002).holds(
        "The norm adds 1e-5 to the variance."
    )
    yield _case(rng, "tiny gradients", (2, 4), gradient=1e-14).holds("d_output: the…")
    yield _case(rng, "float32, four axes", (2, 2, 3, 4), dtype=np.float32).holds("X: (...…")
    yield _case(rng, "one token, a batch of one", (1, 1, 3)).holds("Returns the…")
    yield _case(rng, "one feature, one token, a batch of one", (1, 1, 1)).holds("Returns the…")


@layer_norm_backward.hidden
def _(rng):
    batch, n, d = (int(size) for size in rng.permutation([3, 4, 5]))
    yield _case(rng, "tokens", (n, d))
    yield _case(rng, "a batch", (batch, n, d))
    yield _case(rng, "another batch of this size", (batch, n, d))
    yield _case(rng, "three leading axes", (2, 1, batch, n, d))
    yield _case(rng, "a mean far from 0", (n, d), mean=-1e6)
    yield _case(rng, "small features", (batch, n, d), size=0.002)
    yield _case(rng, "smaller features", (n, d), size=0.0005)
    yield _case(rng, "float32, four axes", (2, batch, n, d), dtype=np.float32)
    yield _case(rng, "one token, a batch of one", (1, 1, d))


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    size: float = 1.0,
    mean: float = 0.0,
    gradient: float = 1.0,
    dtype: type = np.float64,
) -> Case:
    X = (mean + size * rng.normal(size=shape)).astype(dtype)
    weight = rng.uniform(0.5, 2.0, size=shape[-1]).astype(dtype)
    d_output = (gradient * rng.normal(size=shape)).astype(dtype)
    return Case(note, (X, weight, d_output))
