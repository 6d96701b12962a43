"""The exercise `FeedForward`: widen, bend, narrow."""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Raises, Setup, Tensor, draw_setup
from solutions import transformer_block as solutions

feed_forward = Declaration(
    solutions.FeedForward,
    points=2,
    difficulty=1,
    minutes=10,
    help=(
        "Map each token with `W_1` to `d_ff` numbers, apply the activation to each number, and map "
        "back with `W_2`.",
        "`nn.Linear` works on the last axis, whatever axes come before it. `F.relu` and `F.gelu` "
        "are the activations.",
        "Section “The feed-forward network”.",
    ),
)


@feed_forward.right
class Sequential(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu"):
        super().__init__()
        self.W_2 = nn.Linear(d_ff, d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        known = {"relu": nn.ReLU(), "gelu": nn.GELU()}
        if activation not in known:
            raise ValueError(f"unknown activation {activation}")
        self.bend = known[activation]

    def forward(self, X):
        return nn.Sequential(self.W_1, self.bend, self.W_2)(X)


@feed_forward.right
class Einsum(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu"):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        if activation != "relu" and activation != "gelu":
            raise ValueError(activation)
        self.activation = activation

    def forward(self, X):
        hidden = torch.einsum("...d,fd->...f", X, self.W_1.weight) + self.W_1.bias
        if self.activation == "relu":
            hidden = hidden.clamp(min=0)
        else:
            hidden = hidden * 0.5 * (1 + torch.erf(hidden / math.sqrt(2)))
        return torch.einsum("...f,df->...d", hidden, self.W_2.weight) + self.W_2.bias


@feed_forward.right
class NeuronByNeuron(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu"):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        match activation:
            case "relu":
                self.bend = F.relu
            case "gelu":
                self.bend = F.gelu
            case _:
                raise ValueError("relu or gelu")

    def forward(self, X):
        result = self.W_2.bias.expand(X.shape)
        for reads, shift, writes in zip(
            self.W_1.weight, self.W_1.bias, self.W_2.weight.T, strict=True
        ):
            result = result + self.bend(X @ reads + shift)[..., None] * writes
        return result


class Plain(nn.Module):
    def __init__(self, d_model, d_ff, activation="relu"):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.bend = F.gelu if activation == "gelu" else F.relu

    def forward(self, X):
        return self.W_2(self.bend(self.W_1(X)))


plain = feed_forward.base(("another activation",), Plain)
feed_forward.wrong(
    "no activation",
    "Two linear maps in a row: could one matrix do the same?",
    plain.edit("self.bend(self.W_1(X))", "self.W_1(X)"),
)
feed_forward.wrong(
    "activation at the end",
    "Can your output be negative? Where is the activation applied?",
    plain.edit("self.W_2(self.bend(self.W_1(X)))", "self.bend(self.W_2(self.W_1(X)))"),
)
feed_forward.wrong(
    "activation applied twice",
    "How often does equation 2 apply the activation? Can your output be negative?",
    plain.edit("self.W_2(self.bend(self.W_1(X)))", "self.bend(self.W_2(self.bend(self.W_1(X))))"),
)
feed_forward.wrong(
    "always ReLU",
    "What does your module do with the argument `activation`?",
    plain.edit('F.gelu if activation == "gelu" else F.relu', "F.relu"),
)
feed_forward.wrong(
    "GELU by its approximation",
    "GELU comes in two forms, with erf and with tanh. Which one is exact?",
    plain.edit("F.gelu", 'nn.GELU("tanh")'),
)
feed_forward.wrong(
    "the residual inside",
    "Set all weights and biases to 0. What should come out of this module? Which code adds `X`?",
    plain.edit("return self.W_2", "return X + self.W_2"),
)


@feed_forward.public
def _(rng):
    yield _case(rng, "two tokens", (2, 3), 5).holds(
        "d_model: the features of a token. d_ff: the width between `W_1` and `W_2`.",
        'activation: "relu", or "gelu" (the exact one)',
        "X: (..., n, d_model), n may be 0. Returns the same shape; no token sees another.",
    )
    yield _case(rng, "GELU", (2, 3), 4, activation="gelu").holds('activation: "relu"…')
    yield _case(rng, "narrower in between", (2, 3, 4), 2).holds("d_model: the…")
    yield _case(rng, "float32, four axes", (2, 2, 3, 4), 6, dtype=np.float32).holds("X: (...…")
    yield _case(rng, "two other tokens", (2, 3), 5).holds("X: (...…")
    yield _case(rng, "no token", (2, 0, 3), 4).holds("n may be 0")
    yield _case(
        rng, "one token, one feature, a batch of one", (1, 1, 1), 1, activation="gelu"
    ).holds("X: (...…")
    yield _refused("another activation", 3, 4, "tanh").holds("ValueError for any other")


@feed_forward.hidden
def _(rng):
    batch, n, d_model, d_ff = (int(one) for one in rng.permutation([3, 4, 5, 6]))
    yield _case(rng, "tokens", (n, d_model), d_ff)
    yield _case(rng, "GELU", (batch, n, d_model), d_ff, activation="gelu")
    yield _case(rng, "a batch", (batch, n, d_model), d_ff, activation="relu").holds("X: (...…")
    yield _case(rng, "float32, four axes", (2, batch, n, d_model), d_ff, dtype=np.float32)
    yield _case(rng, "three leading axes", (2, 1, batch, n, d_model), d_ff).holds("X: (...…")
    yield _case(rng, "no token", (0, d_model), d_ff, activation="gelu")
    yield _refused("another activation", d_model, d_ff, str(rng.choice(["sigmoid", "silu", "elu"])))


def _refused(note: str, d_model: int, d_ff: int, activation: str) -> Case:
    """A module that must not be made."""
    setup = Setup((d_model, d_ff), {"activation": activation}, {})
    return Case(note, (Tensor(np.zeros((2, d_model))),), {}, setup, Raises("ValueError"))


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    d_ff: int,
    dtype: type = np.float64,
    **keywords: Any,
) -> Case:
    X: np.ndarray = (2 * rng.normal(size=shape)).astype(dtype)
    setup = draw_setup(rng, solutions.FeedForward, shape[-1], d_ff, dtype=dtype, **keywords)
    return Case(note, (Tensor(X),), setup=setup)
