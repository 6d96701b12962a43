"""The possible depth of a stack of blocks: gradients before training, and training itself.

There are six designs: with or without the residual, and with no norm, the norm after each sublayer
("post") or the norm before it ("pre"). The task is to reverse a sequence: position i of the answer
is position n - 1 - i of the question. Two blocks can learn it. The question is whether many blocks
can.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from ...transformer_block import FeedForward, MultiHeadAttention

DESIGNS = {  # name -> (residual, norm)
    "neither": (False, "none"),
    "norm after, no residual": (False, "post"),
    "norm before, no residual": (False, "pre"),
    "residual alone": (True, "none"),
    "norm after": (True, "post"),
    "norm before": (True, "pre"),
}
DEPTHS = (2, 4, 8, 12, 16, 24, 32, 48)
LETTERS, LENGTH = 10, 8
D_MODEL, HEADS, D_FF = 32, 2, 64
SAMPLE = 64  # sequences for one gradient
TRAINED_DEPTHS = (2, 6, 24)
STEPS, BATCH, RATE, TEST, EVERY = 120, 16, 3e-3, 500, 10


class Block(nn.Module):
    """The encoder block of `transformer_block`, with a switch for the residual and a "none" norm.

    With the residual and "post" or "pre" it is `EncoderBlock`. The norm is PyTorch's, which gives
    the same numbers in fewer steps.
    """

    def __init__(self, residual: bool, norm: str) -> None:
        """residual: whether a sublayer's input is added to its output. norm: none, post or pre."""
        super().__init__()
        self.residual, self.norm = residual, norm
        self.attention = MultiHeadAttention(D_MODEL, HEADS)
        self.feed_forward = FeedForward(D_MODEL, D_FF)
        if norm != "none":
            self.norm_1, self.norm_2 = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, D_MODEL). Returns the same shape."""
        for place, sublayer in enumerate((self.attention, self.feed_forward), start=1):
            Y = sublayer(self._norm(place, X) if self.norm == "pre" else X)
            Y = X + Y if self.residual else Y
            X = self._norm(place, Y) if self.norm == "post" else Y
        return X

    def _norm(self, place: int, X: torch.Tensor) -> torch.Tensor:
        return (self.norm_1, self.norm_2)[place - 1](X)


class Stack(nn.Module):
    """Embeddings of letters and positions, `depth` blocks, and a linear read-out at every token.

    As usual, a stack with the norm before each sublayer has another norm after its last block.
    """

    def __init__(self, design: str, depth: int, smaller: bool = False) -> None:
        """Build one of DESIGNS. Matrices are drawn by Glorot's rule, biases start at 0.

        smaller: whether the last matrix of each sublayer is divided by the square root of the
        number of sublayers.
        """
        super().__init__()
        residual, norm = DESIGNS[design]
        self.letter = nn.Embedding(LETTERS, D_MODEL)
        self.place = nn.Parameter(torch.randn(LENGTH, D_MODEL))
        self.blocks = nn.ModuleList(Block(residual, norm) for _ in range(depth))
        self.last = nn.LayerNorm(D_MODEL) if norm == "pre" else nn.Identity()
        self.read_out = nn.Linear(D_MODEL, LETTERS)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        for name, parameter in self.named_parameters():
            if smaller and name.endswith(("W_o.weight", "W_2.weight")):
                parameter.data /= math.sqrt(2 * depth)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        """Return logits (batch, LENGTH, LETTERS). letters: (batch, LENGTH)."""
        return self.read_out(self.last(self.states(letters)[-1]))

    def states(self, letters: torch.Tensor) -> list[torch.Tensor]:
        """Return the tokens before the first block and after each, (batch, LENGTH, D_MODEL)."""
        states = [self.letter(letters) + self.place]
        for block in self.blocks:
            states.append(block(states[-1]))
        return states


def sample(batch: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw sequences of letters, and return them and their reverse, (batch, LENGTH) each."""
    letters = torch.randint(LETTERS, (batch, LENGTH), generator=generator)
    return letters, letters.flip(1)


def loss_of(model: Stack, letters: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy over all positions of all sequences."""
    return F.cross_entropy(model(letters).flatten(0, 1), answers.flatten())


@dataclass(frozen=True)
class Start:
    """A stack before training, in float64, so that small numbers are not rounded to 0.

    gradients: the gradient norm of each block's parameters, in order. unlike: the `unlikeness` of
    the tokens of a sequence before the first block and after each.
    """

    gradients: list[float]
    unlike: list[float]


def at_start(design: str, depth: int, seed: int, smaller: bool = False) -> Start:
    """Measure a stack before training."""
    torch.manual_seed(seed)
    model = Stack(design, depth, smaller).double()
    letters, answers = sample(SAMPLE, torch.Generator().manual_seed(1000 + seed))
    loss_of(model, letters, answers).backward()
    with torch.no_grad():
        unlike = [unlikeness(X) for X in model.states(letters)]
    return Start([_norm_of(block) for block in model.blocks], unlike)


def unlikeness(X: torch.Tensor) -> float:
    """Return how far the tokens of a sequence are from their mean, relative to their size.

    X: (batch, n, d). It is 0 if all tokens of a sequence are equal, and 1 if their mean is 0.
    """
    apart = X - X.mean(dim=1, keepdim=True)
    return (apart.norm() / X.norm()).item()


def _norm_of(block: nn.Module) -> float:
    squares = [one.grad.square().sum() for one in block.parameters() if one.grad is not None]
    return torch.stack(squares).sum().sqrt().item()


@dataclass(frozen=True)
class Run:
    """A training run: step -> loss on the batch before it, and accuracy on new sequences."""

    losses: dict[int, float]
    accuracy: float


def train(
    design: str,
    depth: int,
    seed: int,
    steps: int = STEPS,
    rate: float = RATE,
    warm_up: int = 0,
    smaller: bool = False,
) -> Run:
    """Train a stack with Adam; all designs see the same sequences.

    The rate rises linearly over the first `warm_up` steps, and then stays constant.
    """
    torch.manual_seed(seed)
    data = torch.Generator().manual_seed(2000 + seed)
    model = Stack(design, depth, smaller)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    losses = {}
    for step in range(steps + 1):
        loss = loss_of(model, *sample(BATCH, data))
        if step % EVERY == 0:
            losses[step] = loss.item()
        if step == steps:
            break
        optimiser.zero_grad()
        loss.backward()
        optimiser.param_groups[0]["lr"] = rate * min(1, (step + 1) / max(1, warm_up))
        optimiser.step()
    letters, answers = new_sequences(seed)
    with torch.no_grad():
        right = model(letters).argmax(dim=-1) == answers
    return Run(losses, right.float().mean().item())


def new_sequences(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the test sequences and their answers."""
    return sample(TEST, torch.Generator().manual_seed(3000 + seed))


@dataclass(frozen=True)
class Comparison:
    """The results of one seed: (design, depth) -> the stack before training, and its training."""

    starts: dict[tuple[str, int], Start]
    runs: dict[tuple[str, int], Run]


def compare_designs(seed: int) -> Comparison:
    """Measure every design at all DEPTHS, and train it at TRAINED_DEPTHS."""
    starts = {(one, depth): at_start(one, depth, seed) for one in DESIGNS for depth in DEPTHS}
    runs = {(one, depth): train(one, depth, seed) for one in DESIGNS for depth in TRAINED_DEPTHS}
    return Comparison(starts, runs)
