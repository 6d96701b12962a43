"""A tiny assignment with torch: a function of tensors and two classes of modules."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
import toy
from torch import nn
from toy import Cell, imports

from autograder.exercise.declaring import Declaration
from autograder.exercise.model import Assignment, Case, Tensor, draw_setup


def log_mean(X: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the mean of the log-softmax of `X`, (n, d), at `targets`, (n,): a number."""
    return F.log_softmax(X, dim=-1)[torch.arange(len(X)), targets].mean()


class Affine(nn.Module):
    """Scale and shift each feature: (..., d) to (..., d)."""

    def __init__(self, d: int, negate: bool = False) -> None:
        """d: the number of features. negate: whether the result is negated."""
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))
        self.sign = -1 if negate else 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (..., d). Returns the same shape."""
        return self.sign * (x * self.weight + self.bias)


class Mixer(nn.Module):
    """Mix each token with those before it, then transform: (n, d) to (n, d_out)."""

    def __init__(self, d: int, d_out: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d, d_out)
        self.outer = nn.Linear(d_out, d_out, bias=False)

    def forward(
        self, x: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """x: (n, d). mask: (n,), True where a token counts, or None.

        Returns (output, weights), of shapes (n, d_out) and (n, n).
        """
        weights = torch.tril(torch.ones(len(x), len(x), dtype=x.dtype))
        if mask is not None:
            weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1)
        return self.outer(F.relu(self.inner(weights @ x))), weights


def log_cases(rng):
    yield Case("two rows", (Tensor(rng.normal(size=(2, 3))), Tensor(rng.integers(3, size=2))))
    yield Case("large", (Tensor(rng.normal(size=(4, 5)) * 99), Tensor(rng.integers(5, size=4))))


def log_mean__sum(X, targets):
    return F.log_softmax(X, dim=-1)[torch.arange(len(X)), targets].sum()


def log_mean__columns(X, targets):
    return F.log_softmax(X, dim=0)[torch.arange(len(X)), targets].mean()


def log_mean__detached(X, targets):
    return F.log_softmax(X.detach(), dim=-1)[torch.arange(len(X)), targets].mean()


def affine_cases(rng):
    x = rng.normal(size=(2, 3))
    yield Case("two tokens", (Tensor(x),), setup=draw_setup(rng, Affine, 3))
    x = rng.normal(size=(2, 4, 5)).astype("float32")
    setup = draw_setup(rng, Affine, 5, dtype="float32", negate=True)
    yield Case("float32, a batch, negated", (), {"x": Tensor(x)}, setup)


class Affine__bias_first(nn.Module):
    def __init__(self, d, negate=False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))
        self.sign = -1 if negate else 1

    def forward(self, x):
        return self.sign * (x + self.bias) * self.weight


class Affine__in_place(nn.Module):
    def __init__(self, d, negate=False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))
        self.sign = -1 if negate else 1

    def forward(self, x):
        x *= self.weight
        x += self.bias
        return self.sign * x


class Affine__detached(nn.Module):
    def __init__(self, d, negate=False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))
        self.sign = -1 if negate else 1

    def forward(self, x):
        return self.sign * (x * self.weight.detach() + self.bias)


class Affine__dropout(nn.Module):
    def __init__(self, d, negate=False):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))
        self.sign = -1 if negate else 1
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.sign * (x * self.weight + self.bias))


def mixer_cases(rng):
    setup = draw_setup(rng, Mixer, 3, 2)
    yield Case("four tokens", (Tensor(rng.normal(size=(4, 3))),), setup=setup)
    mask = Tensor(np.array([False, True, True, False, True]))
    setup = draw_setup(rng, Mixer, 2, 4)
    yield Case("a mask", (Tensor(rng.normal(size=(5, 2))), mask), setup=setup)


class Mixer__future(nn.Module):
    def __init__(self, d, d_out):
        super().__init__()
        self.inner = nn.Linear(d, d_out)
        self.outer = nn.Linear(d_out, d_out, bias=False)

    def forward(self, x, mask=None):
        weights = torch.triu(torch.ones(len(x), len(x), dtype=x.dtype))
        if mask is not None:
            weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1)
        return self.outer(F.relu(self.inner(weights @ x))), weights


class Mixer__causal_buffer(nn.Module):
    def __init__(self, d, d_out):
        super().__init__()
        self.outer = nn.Linear(d_out, d_out, bias=False)
        self.inner = nn.Linear(d, d_out)
        self.register_buffer("causal", torch.tril(torch.ones(64, 64)))
        self.register_buffer("other", torch.ones(3), persistent=False)

    def forward(self, x, mask=None):
        weights = self.causal[: x.shape[0], : x.shape[0]].clone()
        if mask is not None:
            weights[:, ~mask] = 0
        weights = weights / torch.maximum(weights.sum(-1, keepdim=True), torch.ones(1))
        return self.outer(self.inner(weights @ x).clamp(min=0)), weights


def declared(reference, cases, *wrong, alternatives=()):
    declaration = Declaration(reference, points=2, difficulty=1, minutes=5, help=toy.HELP)
    declaration.public(cases)
    declaration.hidden(cases)
    for function in wrong:
        declaration.wrong(function.__name__, "Is it so?", function)
    for function in alternatives:
        declaration.right(function)
    return declaration.exercise


LOG_MEAN = declared(log_mean, log_cases, log_mean__sum, log_mean__columns, log_mean__detached)
AFFINE = declared(
    Affine,
    affine_cases,
    Affine__bias_first,
    Affine__in_place,
    Affine__detached,
    Affine__dropout,
)
MIXER = declared(Mixer, mixer_cases, Mixer__future, alternatives=(Mixer__causal_buffer,))
TOY = Assignment("toy_torch", "A toy with torch", (LOG_MEAN, AFFINE, MIXER), (), torch=True)


def program(**answers: str) -> list[Cell]:
    """Return a student's program: the imports, and the answers by the names of their exercises."""
    return [imports(TOY), *(Cell(source, name) for name, source in answers.items())]
