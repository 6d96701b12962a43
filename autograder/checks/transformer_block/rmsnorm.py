"""The exercise `RMSNorm`: the size of a token, and nothing of its mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from solutions import transformer_block as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Misconception, Promise, Tensor, draw_setup


def rms_norm_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "two tokens, three features", (2, 3))
    yield _case(rng, "a batch of two", (2, 3, 4))
    yield _case(rng, "small features", (2, 4), size=0.002)
    yield _case(rng, "a large eps", (3, 4), eps=0.5)
    yield _case(rng, "a mean far from 0", (2, 4), mean=1000.0)
    yield _case(rng, "float32, four axes", (2, 2, 3, 4), dtype=np.float32)
    yield _case(rng, "features that are all 0", (2, 4), size=0.0)
    yield _case(rng, "tiny features, a tinier eps", (2, 4), size=1e-9, eps=1e-30)
    yield _case(rng, "large features", (2, 4), size=1e6)
    yield _case(rng, "no token", (2, 0, 4))
    yield _case(rng, "one token, a batch of one", (1, 1, 3))
    yield _case(rng, "one feature", (2, 1))
    yield _case(rng, "the scale as it is at the start", (2, 3), load=False)


def rms_norm_hidden(rng: np.random.Generator) -> Iterator[Case]:
    batch, n, d = (int(one) for one in rng.permutation([3, 4, 5]))
    yield _case(rng, "tokens", (n, d))
    yield _case(rng, "a batch", (batch, n, d))
    yield _case(rng, "small features", (batch, n, d), size=0.002)
    yield _case(rng, "a large eps", (batch, n, d), eps=rng.uniform(0.1, 1.0))
    yield _case(rng, "a mean far from 0", (batch, n, d), mean=-1000.0)
    yield _case(rng, "float32, four axes", (2, batch, n, d), dtype=np.float32)
    yield _case(rng, "three leading axes", (2, 1, batch, n, d))
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


class RMSNorm__mean_subtracted(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        X = X - X.mean(dim=-1, keepdim=True)
        return X / ((X * X).mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight


class RMSNorm__length_one(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        return X / ((X * X).sum(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight


class RMSNorm__no_root(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        return X / ((X * X).mean(dim=-1, keepdim=True) + self.eps) * self.weight


class RMSNorm__eps_after_the_root(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        return X / ((X * X).mean(dim=-1, keepdim=True).sqrt() + self.eps) * self.weight


class RMSNorm__over_time(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        return X / ((X * X).mean(dim=-2, keepdim=True) + self.eps).sqrt() * self.weight


class RMSNorm__over_the_sequence(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        return X / ((X * X).mean(dim=(-2, -1), keepdim=True) + self.eps).sqrt() * self.weight


class RMSNorm__eps_fixed(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        return X / ((X * X).mean(dim=-1, keepdim=True) + 1e-6).sqrt() * self.weight


class RMSNorm__size_detached(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        square = (X * X).mean(dim=-1, keepdim=True).detach()
        return X / (square + self.eps).sqrt() * self.weight


class RMSNorm__one_added(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        return X / ((X * X).mean(dim=-1, keepdim=True) + self.eps).sqrt() * (1 + self.weight)


class RMSNorm__starts_at_zero(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        return X / ((X * X).mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight


class RMSNorm__by_rsqrt(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_model))
        nn.init.ones_(self.weight)
        self.register_buffer("eps", torch.tensor(eps))

    def forward(self, X):
        square = X.pow(2).sum(-1, keepdim=True) / X.shape[-1]
        return self.weight * (X * torch.rsqrt(square + self.eps))


class RMSNorm__by_length(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.added = d_model * eps
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))

    def forward(self, X):
        squares = torch.einsum("...d,...d->...", X, X)
        lengths = torch.sqrt(squares + self.added)
        return X * (X.shape[-1] ** 0.5 / lengths).unsqueeze(-1) * self.weight


class RMSNorm__token_by_token(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X):
        result = torch.empty_like(X)
        for place in map(tuple, torch.ones(X.shape[:-1]).nonzero().tolist()):
            result[place] = X[place] / ((X[place] ** 2).mean() + self.eps) ** 0.5
        return result * self.weight


RMS_NORM = Exercise(
    name="RMSNorm",
    points=2,
    difficulty=1,
    minutes=10,
    reference=solutions.RMSNorm,
    cases=rms_norm_cases,
    hidden=rms_norm_hidden,
    misconceptions=(
        Misconception(
            "the mean subtracted",
            RMSNorm__mean_subtracted,
            "Add 5 to every feature of a token. Does the result of a layer normalisation change? "
            "And that of this one?",
        ),
        Misconception(
            "the sum of the squares for their mean",
            RMSNorm__length_one,
            "A token of four ones: what is the mean of its squares, and what should come out?",
        ),
        Misconception(
            "divided by the mean square",
            RMSNorm__no_root,
            "Multiply the input by 10. Should the result change?",
        ),
        Misconception(
            "eps after the root",
            RMSNorm__eps_after_the_root,
            "To what is `eps` added: to the mean square, or to its root? Try a token whose "
            "features are all tiny.",
        ),
        Misconception(
            "normalised over time",
            RMSNorm__over_time,
            "A token is a row. Whose squares do you average: the row's, or those of one feature "
            "over all tokens?",
        ),
        Misconception(
            "one size for the whole sequence",
            RMSNorm__over_the_sequence,
            "How many sizes does a sequence of `n` tokens have?",
        ),
        Misconception(
            "eps not used",
            RMSNorm__eps_fixed,
            "What happens to the argument `eps` between `__init__` and `forward`?",
        ),
        Misconception(
            "the size cut off from the gradient",
            RMSNorm__size_detached,
            "The output is right. But the size of a token depends on the token: does your "
            "gradient know it?",
        ),
        Misconception(
            "one added to the scale",
            RMSNorm__one_added,
            "With a `weight` of 0, what should be left of a token? Some models store the scale "
            "less one; what does this docstring say it is at the start?",
        ),
        Misconception(
            "a scale of 0 at the start",
            RMSNorm__starts_at_zero,
            "Before anything is learned, what comes out of your module? And which gradient "
            "reaches what lies before it?",
        ),
    ),
    alternatives=(RMSNorm__by_rsqrt, RMSNorm__by_length, RMSNorm__token_by_token),
    help=(
        "For each token: square its features, take their mean, add `eps`, take the root. Divide by "
        "it, and multiply by `weight`, feature by feature.",
        "`keepdim=True` leaves an axis of length 1, so that the shapes meet. No mean is subtracted "
        "and no shift is added.",
        "Chapter 8, the section on what later models changed.",
    ),
    promises=(
        Promise("d_model: the features of a token.", ("two tokens, three features", "one feature")),
        Promise(
            "eps: added under the root.",
            (
                "small features",
                "a large eps",
                "features that are all 0",
                "tiny features, a tinier eps",
            ),
        ),
        Promise("`weight` starts at 1.", ("the scale as it is at the start",)),
        Promise(
            "X: (..., n, d_model), n may be 0. Returns the same shape; no token sees another.",
            (
                "two tokens, three features",
                "a batch",
                "float32, four axes",
                "three leading axes",
                "a mean far from 0",
                "no token",
                "one token, a batch of one",
            ),
        ),
    ),
    forbidden=forbidden.RMS_NORM,
)
