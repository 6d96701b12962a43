"""The stacks of chapter 8's experiment: one to 48 blocks, with or without what makes them deep.

A block has three switches: the residual; no norm, the norm after each sublayer ("post") or before
it ("pre"); and the size of the first weights. The task is to reverse a sequence: position i of the
answer is position n - 1 - i of the question. Two blocks can learn it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from ...transformer_block import FeedForward, MultiHeadAttention

LETTERS, LENGTH = 10, 8
D_MODEL, HEADS, D_FF = 32, 2, 64


@dataclass(frozen=True)
class Design:
    """The switches of a stack.

    residual: whether a sublayer's input is added to its output. norm: none, post or pre. smaller:
    those of the matrices `W_o` and `W_2`, the last of their sublayers, that are divided by the root
    of the number of sublayers before training, as in GPT-2: Radford et al. (2019), section 2.3.
    louder: whether the input is multiplied by that root before it is added, as Wang et al. (2022),
    "DeepNet", do with another factor. glorot: whether matrices are drawn by Glorot's rule; if not,
    by PyTorch's for a linear map, whose variance is a third of that for a square matrix.
    centred: whether what attention adds to all tokens alike is taken away.
    """

    residual: bool
    norm: str
    smaller: tuple[str, ...] = ()
    louder: bool = False
    glorot: bool = True
    centred: bool = False


BOTH = ("W_o", "W_2")
DESIGNS = {
    "neither": Design(False, "none"),
    "norm after, no residual": Design(False, "post"),
    "norm before, no residual": Design(False, "pre"),
    "residual alone": Design(True, "none"),
    "norm after": Design(True, "post"),
    "norm before": Design(True, "pre"),
}
SMALLER = {
    "residual alone, smaller": Design(True, "none", BOTH),
    "norm after, smaller": Design(True, "post", BOTH),
    "norm before, smaller": Design(True, "pre", BOTH),
}
LINEAR = {
    "residual alone, nn.Linear": Design(True, "none", glorot=False),
    "norm after, nn.Linear": Design(True, "post", glorot=False),
}
"""Two of the designs that Glorot's rule does not start well, with PyTorch's weights."""
CONTROLS = {
    "norm after, smaller W_o": Design(True, "post", ("W_o",)),
    "norm after, smaller W_2": Design(True, "post", ("W_2",)),
    "norm after, centred": Design(True, "post", centred=True),
    "norm after, louder stream": Design(True, "post", louder=True),
}
"""The norm after with one of the two matrices made smaller, or with neither.

In "centred", what attention adds is as large as before but for what all tokens get alike. The last
is the same function at the start as "norm after, smaller", made of weights of the usual size:
norm(c x + f(x)) = norm(x + f(x) / c).
"""


class Block(nn.Module):
    """The encoder block of `transformer_block`, with a switch for the residual and a "none" norm.

    With the residual and "post" or "pre" it is `EncoderBlock`. The norm is PyTorch's, which gives
    the same numbers in fewer steps.
    """

    def __init__(self, norm: str, stream: float, centred: bool) -> None:
        """Build a block. stream: the factor of the input in every sum. Else see `Design`."""
        super().__init__()
        self.norm, self.stream, self.centred = norm, stream, centred
        self.attention = MultiHeadAttention(D_MODEL, HEADS)
        self.feed_forward = FeedForward(D_MODEL, D_FF)
        if norm != "none":
            self.norm_1, self.norm_2 = nn.LayerNorm(D_MODEL), nn.LayerNorm(D_MODEL)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (batch, n, D_MODEL). Returns the same shape."""
        for place, sublayer in enumerate((self.attention, self.feed_forward), start=1):
            Y = sublayer(self._norm(place, X) if self.norm == "pre" else X)
            if self.centred and sublayer is self.attention:
                Y = Y - Y.mean(dim=-2, keepdim=True)  # over the tokens
            Y = self.stream * X + Y if self.stream else Y
            X = self._norm(place, Y) if self.norm == "post" else Y
        return X

    def _norm(self, place: int, X: torch.Tensor) -> torch.Tensor:
        return (self.norm_1, self.norm_2)[place - 1](X)


class Stack(nn.Module):
    """Embeddings of letters and positions, `depth` blocks, and a linear read-out at every token.

    As usual, a stack with the norm before each sublayer has another norm after its last block.
    """

    def __init__(self, design: Design, depth: int) -> None:
        """Build a stack. Matrices are drawn as `design` says, biases start at 0."""
        super().__init__()
        root = math.sqrt(2 * depth)
        stream = (root if design.louder else 1.0) if design.residual else 0.0
        self.letter = nn.Embedding(LETTERS, D_MODEL)
        self.place = nn.Parameter(torch.randn(LENGTH, D_MODEL))
        self.blocks = nn.ModuleList(
            Block(design.norm, stream, design.centred) for _ in range(depth)
        )
        self.last = nn.LayerNorm(D_MODEL) if design.norm == "pre" else nn.Identity()
        self.read_out = nn.Linear(D_MODEL, LETTERS)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                if design.glorot:
                    nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        for name, parameter in self.named_parameters():
            if name.endswith(tuple(f"{matrix}.weight" for matrix in design.smaller)):
                parameter.data /= root

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        """Return logits (batch, LENGTH, LETTERS). letters: (batch, LENGTH)."""
        return self.answers(self.states(letters)[-1])

    def states(self, letters: torch.Tensor) -> list[torch.Tensor]:
        """Return the tokens before the first block and after each, (batch, LENGTH, D_MODEL)."""
        states = [self.letter(letters) + self.place]
        for block in self.blocks:
            states.append(block(states[-1]))
        return states

    def answers(self, X: torch.Tensor) -> torch.Tensor:
        """Return the logits of the tokens after the last block."""
        logits: torch.Tensor = self.read_out(self.last(X))
        return logits


def sample(batch: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw sequences of letters, and return them and their reverse, (batch, LENGTH) each."""
    letters = torch.randint(LETTERS, (batch, LENGTH), generator=generator)
    return letters, letters.flip(1)


def loss_of(logits: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy over all positions of all sequences."""
    return F.cross_entropy(logits.flatten(0, 1), answers.flatten())
