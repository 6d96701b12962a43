"""The exercise `LayerNorm`: each token on its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from solutions import transformer_block as solutions

from ...judging import forbidden
from ...judging.exercise import Case, Exercise, Misconception, Promise, Tensor, draw_setup


def layer_norm_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield _case(rng, "two tokens, three features", (2, 3))
    yield _case(rng, "a batch of two", (2, 3, 4))
    yield _case(rng, "features that hardly differ", (2, 4), size=0.003)
    yield _case(rng, "a large eps", (3, 4), eps=0.5)
    yield _case(rng, "float32, four axes", (2, 2, 3, 4), dtype=np.float32)
    yield _case(rng, "features that are all equal", (2, 4), size=0.0)
    yield _case(rng, "a mean far from 0", (2, 4), mean=1e6)
    yield _case(rng, "tiny numbers, a tinier eps", (2, 4), size=1e-9, mean=0.0, eps=1e-30)
    yield _case(rng, "no token", (2, 0, 4))
    yield _case(rng, "one token, a batch of one", (1, 1, 3))
    yield _case(rng, "one feature", (2, 1))
    yield _case(rng, "scale and shift as they are at the start", (2, 3), load=False)


def layer_norm_hidden(rng: np.random.Generator) -> Iterator[Case]:
    batch, n, d = rng.permutation([3, 4, 5])
    yield _case(rng, "tokens", (n, d))
    yield _case(rng, "a batch", (batch, n, d))
    yield _case(rng, "features that hardly differ", (batch, n, d), size=0.003)
    yield _case(rng, "a large eps", (batch, n, d), eps=rng.uniform(0.1, 1.0))
    yield _case(rng, "float32, four axes", (2, batch, n, d), dtype=np.float32)
    yield _case(rng, "three leading axes", (2, 1, batch, n, d))
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


class LayerNorm__over_time(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=-2, keepdim=True, unbiased=False)
        return (X - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


class LayerNorm__over_the_sequence(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=(-2, -1), keepdim=True, unbiased=False)
        return (X - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


class LayerNorm__unbiased(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=-1, keepdim=True)
        return (X - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


class LayerNorm__eps_after_the_root(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        mean, spread = X.mean(dim=-1, keepdim=True), X.std(dim=-1, keepdim=True, unbiased=False)
        return (X - mean) / (spread + self.eps) * self.weight + self.bias


class LayerNorm__default_std(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        mean, spread = X.mean(dim=-1, keepdim=True), X.std(dim=-1, keepdim=True)
        return (X - mean) / (spread + self.eps) * self.weight + self.bias


class LayerNorm__eps_fixed(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)
        return (X - mean) / (variance + 1e-5).sqrt() * self.weight + self.bias


class LayerNorm__no_root(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)
        return (X - mean) / (variance + self.eps) * self.weight + self.bias


class LayerNorm__mean_kept(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        square = (X * X).mean(dim=-1, keepdim=True)
        return X / (square + self.eps).sqrt() * self.weight + self.bias


class LayerNorm__shifted_then_scaled(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)
        return ((X - mean) / (variance + self.eps).sqrt() + self.bias) * self.weight


class LayerNorm__statistics_detached(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X.detach(), dim=-1, keepdim=True, unbiased=False)
        return (X - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


class LayerNorm__starts_at_zero(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.zeros(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        variance, mean = torch.var_mean(X, dim=-1, keepdim=True, unbiased=False)
        return (X - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


class LayerNorm__mean_of_squares_less_square_of_mean(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, X):
        mean = X.mean(dim=-1, keepdim=True)
        variance = (X * X).mean(dim=-1, keepdim=True) - mean * mean
        return (X - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


class LayerNorm__var_mean(nn.Module):
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


class LayerNorm__by_squares(nn.Module):
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


class LayerNorm__token_by_token(nn.Module):
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


LAYER_NORM = Exercise(
    name="LayerNorm",
    points=3,
    difficulty=2,
    minutes=15,
    reference=solutions.LayerNorm,
    cases=layer_norm_cases,
    hidden=layer_norm_hidden,
    misconceptions=(
        Misconception(
            "normalised over time",
            LayerNorm__over_time,
            "A token is a row. Whose mean do you subtract: the row's, or that of one feature over "
            "all tokens? What would padding do to it?",
        ),
        Misconception(
            "one mean for the whole sequence",
            LayerNorm__over_the_sequence,
            "How many means does a sequence of `n` tokens have?",
        ),
        Misconception(
            "the variance divided by one less",
            LayerNorm__unbiased,
            "By which number is the sum of squared deviations divided here: by the number of "
            "features, or by one less? What is the default of `var`?",
        ),
        Misconception(
            "eps after the root",
            LayerNorm__eps_after_the_root,
            "To what is `eps` added: to the variance, or to its root? Try features that are all "
            "nearly equal.",
        ),
        Misconception(
            "`std` as it is by default, and eps after the root",
            LayerNorm__default_std,
            "By which number does `std` divide the sum of squared deviations, if nothing else is "
            "said? And is `eps` added to the variance or to its root?",
        ),
        Misconception(
            "eps not used",
            LayerNorm__eps_fixed,
            "What happens to the argument `eps` between `__init__` and `forward`?",
        ),
        Misconception(
            "divided by the variance",
            LayerNorm__no_root,
            "Multiply the input by 10. Should the result change?",
        ),
        Misconception(
            "the mean left in",
            LayerNorm__mean_kept,
            "Add 5 to every feature of a token. Should the result change?",
        ),
        Misconception(
            "shifted before it is scaled",
            LayerNorm__shifted_then_scaled,
            "With the scale 0, what should be left?",
        ),
        Misconception(
            "mean and variance cut off from the gradient",
            LayerNorm__statistics_detached,
            "The output is right. But mean and variance depend on the input too: does your "
            "gradient know it?",
        ),
        Misconception(
            "a scale of 0 at the start",
            LayerNorm__starts_at_zero,
            "Before anything is learned, what comes out of your module? And which gradient reaches "
            "what lies before it?",
        ),
        Misconception(
            "mean of the squares less square of the mean",
            LayerNorm__mean_of_squares_less_square_of_mean,
            "Two numbers near 10^12 differ by 1. How many of their digits are left in the "
            "difference? What if you subtract the mean before you square?",
        ),
    ),
    alternatives=(LayerNorm__var_mean, LayerNorm__by_squares, LayerNorm__token_by_token),
    help=(
        "For each token: subtract the mean of its features, divide by their spread, then multiply "
        "by `weight` and add `bias`, feature by feature.",
        "`keepdim=True` leaves an axis of length 1, so that the shapes meet. Look up how "
        "`torch.var` divides, and under which root `eps` stands.",
        "Chapter 8, the section on layer normalisation.",
    ),
    promises=(
        Promise("d_model: the features of a token.", ("two tokens, three features", "one feature")),
        Promise(
            "eps: added to the variance, so that no root is 0.",
            (
                "features that hardly differ",
                "a large eps",
                "features that are all equal",
                "tiny numbers, a tinier eps",
            ),
        ),
        Promise(
            "At the start the scale `weight` is 1 and the shift `bias` is 0.",
            ("scale and shift as they are at the start",),
        ),
        Promise("n may be 0", ("no token",)),
        Promise(
            "X: (..., n, d_model), n may be 0. Returns the same shape.",
            (
                "two tokens, three features",
                "a batch of two",
                "float32, four axes",
                "three leading axes",
                "one token, a batch of one",
            ),
        ),
        Promise(
            "Before scale and shift, the features of every token have mean 0 and, but for `eps`, "
            "variance 1: the mean of the squared deviations.",
            ("two tokens, three features", "tokens"),
        ),
        Promise("A mean far from 0 changes nothing", ("a mean far from 0",)),
        Promise("features that are all equal become 0", ("features that are all equal",)),
        Promise("No token depends on another.", ("two tokens, three features", "a batch of two")),
    ),
    forbidden=forbidden.LAYER_NORM,
)
