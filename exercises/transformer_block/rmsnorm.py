"""The exercise `RMSNorm`: the size of a token, and nothing of its mean."""

import numpy as np
import torch
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Tensor, draw_setup
from solutions import transformer_block as solutions

from .. import forbidden

rmsnorm = Declaration(
    solutions.RMSNorm,
    points=2,
    difficulty=1,
    minutes=10,
    forbidden=forbidden.RMS_NORM,
    help=(
        "For each token: square its features, take their mean, add `eps`, take the root. Divide by "
        "it, and multiply by `weight`, feature by feature.",
        "`keepdim=True` leaves an axis of length 1, so that the shapes fit. No mean is "
        "subtracted and no shift is added.",
        "Section “What later models changed”.",
    ),
)


@rmsnorm.right
class ByRsqrt(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_model))
        nn.init.ones_(self.weight)
        self.register_buffer("eps", torch.tensor(eps))

    def forward(self, X):
        square = X.pow(2).sum(-1, keepdim=True) / X.shape[-1]
        return self.weight * (X * torch.rsqrt(square + self.eps))


@rmsnorm.right
class ByLength(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.added = d_model * eps
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))

    def forward(self, X):
        squares = torch.einsum("...d,...d->...", X, X)
        lengths = torch.sqrt(squares + self.added)
        return X * (X.shape[-1] ** 0.5 / lengths).unsqueeze(-1) * self.weight


@rmsnorm.right
class TokenByToken(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        result = torch.empty_like(X)
        for place in map(tuple, torch.ones(X.shape[:-1]).nonzero().tolist()):
            result[place] = X[place] / ((X[place] ** 2).mean() + self.eps) ** 0.5
        return result * self.weight


class Plain(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        square = (X * X).mean(dim=-1, keepdim=True)
        return X / (square + self.eps).sqrt() * self.weight


plain = rmsnorm.right(Plain)
rmsnorm.wrong(
    "the mean subtracted",
    "Add 5 to every feature of a token. Does the result of a layer normalisation change? Does "
    "the result of this one?",
    plain.edit("square =", "X = X - X.mean(dim=-1, keepdim=True)\nsquare ="),
)
rmsnorm.wrong(
    "the sum of the squares in place of their mean",
    "A token of four ones: what is the mean of its squares, and what should come out?",
    plain.edit(".mean(", ".sum("),
)
rmsnorm.wrong(
    "divided by the mean square",
    "Multiply the input by 10. Should the result change?",
    plain.edit(".sqrt()", ""),
)
rmsnorm.wrong(
    "eps after the root",
    "What is `eps` added to: the mean square, or its root? Try a token whose features are all "
    "tiny.",
    plain.edit("(square + self.eps).sqrt()", "(square.sqrt() + self.eps)"),
)
rmsnorm.wrong(
    "normalised over time",
    "A token is a row. Whose squares do you average: the row's, or those of one feature over all "
    "tokens?",
    plain.edit("dim=-1", "dim=-2"),
)
rmsnorm.wrong(
    "one size for the whole sequence",
    "A sequence has `n` tokens. How many root mean squares does it have?",
    plain.edit("dim=-1", "dim=(-2, -1)"),
)
rmsnorm.wrong(
    "eps not used",
    "What happens to the argument `eps` between `__init__` and `forward`?",
    plain.edit("square + self.eps", "square + 1e-6"),
)
rmsnorm.wrong(
    "the size cut off from the gradient",
    "The output is right. But the size of a token depends on the token: does your gradient take "
    "that into account?",
    plain.edit("square + self.eps", "square.detach() + self.eps"),
)
rmsnorm.wrong(
    "one added to the scale",
    "With a `weight` of 0, what should be left of a token? Some models store the scale minus "
    "one. Which value does this docstring give `weight` at the start?",
    plain.edit("* self.weight", "* (1 + self.weight)"),
)
rmsnorm.wrong(
    "a scale of 0 at the start",
    "Before anything is learned, what comes out of your module? And what gradient reaches the "
    "layers before it?",
    plain.edit("torch.ones", "torch.zeros"),
)


@rmsnorm.public
def _(rng):
    yield _case(rng, "two tokens, three features", (2, 3)).holds(
        "d_model: the features of a token.",
        "X: (..., n, d_model), n may be 0. Returns the same shape; no token sees another.",
    )
    yield _case(rng, "a batch of two", (2, 3, 4))
    yield _case(rng, "small features", (2, 4), size=0.002).holds("eps: added under the root.")
    yield _case(rng, "a large eps", (3, 4), eps=0.5).holds("eps: added…")
    yield _case(rng, "a mean far from 0", (2, 4), mean=1000.0).holds("X: (...…")
    yield _case(rng, "float32, four axes", (2, 2, 3, 4), dtype=np.float32).holds("X: (...…")
    yield _case(rng, "features that are all 0", (2, 4), size=0.0).holds("eps: added…")
    yield _case(rng, "tiny features, a tinier eps", (2, 4), size=1e-9, eps=1e-30).holds(
        "eps: added…"
    )
    yield _case(rng, "large features", (2, 4), size=1e6)
    yield _case(rng, "no token", (2, 0, 4)).holds("X: (...…")
    yield _case(rng, "one token, a batch of one", (1, 1, 3)).holds("X: (...…")
    yield _case(rng, "one feature", (2, 1)).holds("d_model: the…")
    yield _case(rng, "the scale as it is at the start", (2, 3), load=False).holds(
        "`weight` starts at 1."
    )


@rmsnorm.hidden
def _(rng):
    batch, n, d = (int(one) for one in rng.permutation([3, 4, 5]))
    yield _case(rng, "tokens", (n, d))
    yield _case(rng, "a batch", (batch, n, d)).holds("X: (...…")
    yield _case(rng, "small features", (batch, n, d), size=0.002)
    yield _case(rng, "a large eps", (batch, n, d), eps=rng.uniform(0.1, 1.0))
    yield _case(rng, "a mean far from 0", (batch, n, d), mean=-1000.0)
    yield _case(rng, "float32, four axes", (2, batch, n, d), dtype=np.float32)
    yield _case(rng, "three leading axes", (2, 1, batch, n, d)).holds("X: (...…")
    yield _case(rng, "features that are all 0", (batch, n, d), size=0.0)
    yield _case(rng, "no token", (0, d))
    yield _case(rng, "one token, a batch of one", (1, 1, d))
    yield _case(rng, "the scale as it is at the start", (n, d), load=False)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    size: float = 2.0,
    mean: float = 0.0,
    dtype: type = np.float64,
    load: bool = True,
    **keywords: float,
) -> Case:
    """A case with tokens of that mean; `size` is how far their features spread."""
    X: np.ndarray = (mean + size * (0.5 + rng.normal(size=shape))).astype(dtype)
    d_model = shape[-1]
    setup = draw_setup(rng, solutions.RMSNorm, d_model, dtype=dtype, load=load, **keywords)
    return Case(note, (Tensor(X),), setup=setup)
