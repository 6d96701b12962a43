"""The exercise `SwiGLU`: a feed-forward network with a gate."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercise.declaring import Case, Declaration, Tensor, draw_setup
from solutions import transformer_block as solutions

swi_glu = Declaration(
    solutions.SwiGLU,
    points=2,
    difficulty=2,
    minutes=10,
    help=(
        "Two maps from the token to `d_ff` numbers. One of them goes through an activation and "
        "becomes the gate; multiply the two, number by number, and map back.",
        "`F.silu` is the activation. `nn.Linear` takes `bias=False`.",
        "Section “What later models changed”.",
    ),
)


@swi_glu.right
class BySigmoid(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_down = nn.Linear(d_ff, d_model, bias=False)
        self.W_gate, self.W_up = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))

    def forward(self, X):
        gate = self.W_gate(X)
        return self.W_down(gate * torch.sigmoid(gate) * self.W_up(X))


@swi_glu.right
class Einsum(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.bend = nn.SiLU()
        self.W_up, self.W_gate, self.W_down = (
            nn.Linear(*sizes, bias=False)
            for sizes in ((d_model, d_ff), (d_model, d_ff), (d_ff, d_model))
        )

    def forward(self, X):
        gate = torch.einsum("...d,fd->...f", X, self.W_gate.weight)
        up = torch.einsum("...d,fd->...f", X, self.W_up.weight)
        return torch.einsum("...f,df->...d", self.bend(gate) * up, self.W_down.weight)


@swi_glu.right
class NeuronByNeuron(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, X):
        result = torch.zeros_like(X)
        for gate, up, writes in zip(
            self.W_gate.weight, self.W_up.weight, self.W_down.weight.T, strict=True
        ):
            passes = (X @ gate) * torch.sigmoid(X @ gate) * (X @ up)
            result = result + passes.unsqueeze(-1) * writes
        return result


class Plain(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, X):
        return self.W_down(F.silu(self.W_gate(X)) * self.W_up(X))


plain = swi_glu.right(Plain)
swi_glu.wrong(
    "no activation",
    "What does your module return for 2X? A product of two linear maps grows by a factor of "
    "four. Should this one? What prevents it?",
    plain.edit("F.silu", ""),
)
swi_glu.wrong(
    "the gate a sigmoid",
    "SiLU of a number is the number times its sigmoid. What is the SiLU of 3, and what is your "
    "gate for 3?",
    plain.edit("F.silu", "torch.sigmoid"),
)
swi_glu.wrong(
    "the gate a GELU",
    "Two activations look much alike. Which of them is z times the sigmoid of z?",
    plain.edit("F.silu", "F.gelu"),
)
swi_glu.wrong(
    "the gate a ReLU",
    "Can the gate change the sign of a number? What is the SiLU of -1?",
    plain.edit("F.silu", "F.relu"),
)
swi_glu.wrong(
    "gate and value exchanged",
    "Which of the two maps goes through the activation: `W_gate` or `W_up`?",
    plain.edit("F.silu(self.W_gate(X)) * self.W_up(X)", "self.W_gate(X) * F.silu(self.W_up(X))"),
)
swi_glu.wrong(
    "activation on both maps",
    "How often does the equation apply the activation?",
    plain.edit("self.W_up(X)", "F.silu(self.W_up(X))"),
)
swi_glu.wrong(
    "activation on the product",
    "Is the activation applied before the product or after it?",
    plain.edit("F.silu(self.W_gate(X)) * self.W_up(X)", "F.silu(self.W_gate(X) * self.W_up(X))"),
)
swi_glu.wrong(
    "gate and value added",
    "Set all weights of `W_gate` to 0: the gate is shut. What should come out?",
    plain.edit("F.silu(self.W_gate(X)) * self.W_up(X)", "F.silu(self.W_gate(X)) + self.W_up(X)"),
)
swi_glu.wrong(
    "the residual inside",
    "Set all weights to 0. What should come out of this module? Which code adds `X`?",
    plain.edit("return self.W_down", "return X + self.W_down"),
)


@swi_glu.public
def _(rng):
    yield _case(rng, "two tokens", (2, 3), 5).holds(
        "The gate is the SiLU of `W_gate` times the token.",
        "d_model: the features of a token. d_ff: the width in between. No bias anywhere.",
        "X: (..., n, d_model), n may be 0. Returns the same shape; no token sees another.",
    )
    yield _case(rng, "narrower in between", (2, 3, 4), 2).holds("d_model: the…")
    yield _case(rng, "as wide in between", (2, 3), 3).holds("The gate…")
    yield _case(rng, "float32, four axes", (2, 2, 3, 4), 6, dtype=np.float32).holds("X: (...…")
    yield _case(rng, "large tokens", (2, 3), 4, size=1000.0).holds("The gate…")
    yield _case(rng, "tiny tokens", (2, 3), 4, size=1e-6).holds("The gate…")
    yield _case(rng, "no token", (2, 0, 3), 4).holds("X: (...…")
    yield _case(rng, "one token, one feature, a batch of one", (1, 1, 1), 1).holds("X: (...…")


@swi_glu.hidden
def _(rng):
    batch, n, d_model, d_ff = (int(one) for one in rng.permutation([3, 4, 5, 6]))
    yield _case(rng, "tokens", (n, d_model), d_ff)
    yield _case(rng, "a batch", (batch, n, d_model), d_ff).holds("X: (...…")
    yield _case(rng, "as wide in between", (n, d_model), d_model)
    yield _case(rng, "float32, four axes", (2, batch, n, d_model), d_ff, dtype=np.float32)
    yield _case(rng, "three leading axes", (2, 1, batch, n, d_model), d_ff).holds("X: (...…")
    yield _case(rng, "large tokens", (n, d_model), d_ff, size=1000.0)
    yield _case(rng, "tiny tokens", (n, d_model), d_ff, size=1e-6)
    yield _case(rng, "no token", (0, d_model), d_ff)


def _case(
    rng: np.random.Generator,
    note: str,
    shape: tuple[int, ...],
    d_ff: int,
    dtype: type = np.float64,
    size: float = 2.0,
) -> Case:
    X: np.ndarray = (size * rng.normal(size=shape)).astype(dtype)
    setup = draw_setup(rng, solutions.SwiGLU, shape[-1], d_ff, dtype=dtype)
    return Case(note, (Tensor(X),), setup=setup)
