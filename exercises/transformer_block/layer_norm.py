"""The exercise `LayerNorm`: each token on its own."""

import numpy as np
import torch
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Tensor, draw_setup
from solutions import transformer_block as solutions

from .. import forbidden

layer_norm = Declaration(
    solutions.LayerNorm,
    points=3,
    difficulty=2,
    minutes=15,
    forbidden=forbidden.LAYER_NORM,
    help=(
        "For each token: subtract the mean of its features, divide by their spread, then multiply "
        "by `weight` and add `bias`, feature by feature.",
        "`keepdim=True` leaves an axis of length 1, so that the shapes fit. Look up what "
        "`torch.var` divides by, and where the docstring adds `eps`.",
        "Section “Layer normalisation”.",
    ),
)


@layer_norm.right
class VarMean(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.bias = nn.Parameter(torch.empty(d_model))
        self.weight = nn.Parameter(torch.empty(d_model))
        nn.init.zeros_(self.bias)
        nn.init.ones_(self.weight)

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=-1, correction=0, keepdim=True)
        return self.bias + (X - mean) * self.weight / torch.sqrt(variance + self.eps)


@layer_norm.right
class BySquares(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))
        self.bias = nn.Parameter(self.weight.detach() * 0)
        self.register_buffer("eps", torch.tensor(eps))

    def forward(self, X):
        centred = X - X.sum(-1, keepdim=True) / X.shape[-1]
        length = torch.einsum("...d,...d->...", centred, centred)[..., None]
        return torch.addcmul(
            self.bias, self.weight * centred, torch.rsqrt(length / X.shape[-1] + self.eps)
        )


@layer_norm.right
class TokenByToken(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        result = torch.empty_like(X)
        places = torch.ones(X.shape[:-1]).nonzero()
        for place in map(tuple, places.tolist()):
            centred = X[place] - X[place].mean()
            result[place] = centred / ((centred**2).mean() + self.eps) ** 0.5
        return result * self.weight + self.bias


class Plain(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)
        return (X - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


plain = layer_norm.right(Plain)
layer_norm.wrong(
    "normalised over time",
    "A token is a row. Whose mean do you subtract: the row's, or the mean of one feature over "
    "all tokens? What would padding do to it?",
    plain.edit("dim=-1", "dim=-2"),
)
layer_norm.wrong(
    "one mean for the whole sequence",
    "How many means does a sequence of `n` tokens have?",
    plain.edit("dim=-1", "dim=(-2, -1)"),
)
layer_norm.wrong(
    "one mean for everything but the batch",
    "Two sequences of `n` tokens: how many means do they have, 2 or 2n?",
    plain.edit("dim=-1", "dim=tuple(range(1, X.ndim))"),
)
layer_norm.wrong(
    "normalised along the second axis",
    "Axis 1 holds the features of a table. Which axis holds them if there is a batch?",
    plain.edit("dim=-1", "dim=1"),
)
layer_norm.wrong(
    "the variance divided by one less",
    "What is the sum of squared deviations divided by here: the number of features, or one less? "
    "What is the default of `var`?",
    plain.edit(", unbiased=False", ""),
)
eps_outside = layer_norm.wrong(
    "eps after the root",
    "What is `eps` added to: the variance, or its root? Try features that are all nearly equal.",
    plain.edit(
        "variance, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)",
        "mean, spread = X.mean(dim=-1, keepdim=True), X.std(dim=-1, keepdim=True, unbiased=False)",
    ).edit("(variance + self.eps).sqrt()", "(spread + self.eps)"),
)
layer_norm.wrong(
    "`std` as it is by default, and eps after the root",
    "By default, what does `std` divide the sum of squared deviations by? And is `eps` added to "
    "the variance or to its square root?",
    eps_outside.edit(", unbiased=False", ""),
)
layer_norm.wrong(
    "eps not used",
    "What happens to the argument `eps` between `__init__` and `forward`?",
    plain.edit("self.eps = eps", "self.eps = 1e-5"),
)
layer_norm.wrong(
    "divided by the variance",
    "Multiply the input by 10. Should the result change?",
    plain.edit(".sqrt()", ""),
)
layer_norm.wrong(
    "the mean left in",
    "Add 5 to every feature of a token. Should the result change?",
    plain.edit(
        "variance, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)",
        "variance, mean = (X * X).mean(dim=-1, keepdim=True), 0",
    ),
)
layer_norm.wrong(
    "shifted before it is scaled",
    "With a scale of 0, what should be left?",
    plain.edit(
        "(X - mean) / (variance + self.eps).sqrt() * self.weight + self.bias",
        "((X - mean) / (variance + self.eps).sqrt() + self.bias) * self.weight",
    ),
)
layer_norm.wrong(
    "mean and variance cut off from the gradient",
    "The output is right. But mean and variance depend on the input too: does your gradient take "
    "that into account?",
    plain.edit("torch.var_mean(X,", "torch.var_mean(X.detach(),"),
)
layer_norm.wrong(
    "a scale of 0 at the start",
    "Before anything is learned, what comes out of your module? And what gradient reaches the "
    "layers before it?",
    plain.edit("torch.ones", "torch.zeros"),
)
layer_norm.wrong(
    "mean of the squares less square of the mean",
    "Two numbers near 10^12 differ by 1. How many of their digits are left in the difference? "
    "What if you subtract the mean before you square?",
    plain.edit(
        "variance, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)",
        "mean = X.mean(dim=-1, keepdim=True)\n"
        "variance = (X * X).mean(dim=-1, keepdim=True) - mean * mean",
    ),
)


layer_norm.wrong(
    "nothing added to the variance",
    "What is the variance of a token whose features are all equal, and what do you divide by?",
    plain.edit("(variance + self.eps).sqrt()", "variance.sqrt()"),
)
layer_norm.wrong(
    "the shift forgotten",
    "What does your module do with its parameter `bias`?",
    plain.edit(" + self.bias", ""),
)
layer_norm.wrong(
    "neither scaled nor shifted",
    "What does your module do with its parameters?",
    plain.edit(" * self.weight + self.bias", ""),
)


@layer_norm.public
def _(rng):
    yield _case(rng, "two tokens, three features", (2, 3)).holds(
        "d_model: the features of a token.",
        "X: (..., n, d_model), n may be 0. Returns the same shape.",
        "Before scale and shift, the features of every token have mean 0 and, but for `eps`, "
        "variance 1: the mean of the squared deviations.",
        "No token depends on another.",
    )
    yield _case(rng, "a batch of two", (2, 3, 4)).holds("X: (...…", "No token…")
    yield _case(rng, "features that hardly differ", (2, 4), size=0.003).holds(
        "eps: added to the variance, so that no root is 0."
    )
    yield _case(rng, "a large eps", (3, 4), eps=0.5).holds("eps: added…")
    yield _case(rng, "float32, four axes", (2, 2, 3, 4), dtype=np.float32).holds("X: (...…")
    yield _case(rng, "features that are all equal", (2, 4), size=0.0).holds(
        "eps: added…", "features that are all equal become 0"
    )
    yield _case(rng, "a mean far from 0", (2, 4), mean=1e6).holds(
        "A mean far from 0 changes nothing"
    )
    yield _case(rng, "tiny numbers, a tinier eps", (2, 4), size=1e-9, mean=0.0, eps=1e-30).holds(
        "eps: added…"
    )
    yield _case(rng, "no token", (2, 0, 4)).holds("n may be 0")
    yield _case(rng, "one token, a batch of one", (1, 1, 3)).holds("X: (...…")
    yield _case(rng, "one feature", (2, 1)).holds("d_model: the…")
    yield _case(rng, "scale and shift as they are at the start", (2, 3), load=False).holds(
        "At the start the scale `weight` is 1 and the shift `bias` is 0."
    )


@layer_norm.hidden
def _(rng):
    batch, n, d = rng.permutation([3, 4, 5])
    yield _case(rng, "tokens", (n, d)).holds("Before scale…")
    yield _case(rng, "a batch", (batch, n, d))
    yield _case(rng, "features that hardly differ", (batch, n, d), size=0.003)
    yield _case(rng, "a large eps", (batch, n, d), eps=rng.uniform(0.1, 1.0))
    yield _case(rng, "float32, four axes", (2, batch, n, d), dtype=np.float32)
    yield _case(rng, "three leading axes", (2, 1, batch, n, d)).holds("X: (...…")
    yield _case(rng, "features that are all equal", (batch, n, d), size=0.0)
    yield _case(rng, "a mean far from 0", (batch, n, d), mean=-1e6)
    yield _case(rng, "no token", (0, d))
    yield _case(rng, "scale and shift as they are at the start", (n, d), load=False)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    size: float = 2.0,
    mean: float = 1.0,
    dtype: type = np.float64,
    load: bool = True,
    **keywords: float,
) -> Case:
    """A case with tokens of about that mean; `size` is how far their features spread."""
    X: np.ndarray = (mean + size * rng.normal(size=shape)).astype(dtype)
    d_model = int(shape[-1])
    setup = draw_setup(rng, solutions.LayerNorm, d_model, dtype=dtype, load=load, **keywords)
    return Case(note, (Tensor(X),), setup=setup)


layer_norm.mutant(
    "the variance as a difference of moments",
    "(centred * centred).mean(dim=-1, keepdim=True)",
    "(X * X).mean(dim=-1, keepdim=True) - X.mean(dim=-1, keepdim=True) ** 2",
)
