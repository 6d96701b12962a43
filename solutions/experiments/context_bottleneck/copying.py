"""A machine that copies coin flips through a vector: how many flips does a vector hold?

Flips that the vector has lost cannot be guessed, as words of a language can: each flip is one bit,
independent of the others. With noise on the vector, its capacity is finite and known: a number
between -1 and 1 with normal noise of variance 1/3 carries at most one bit (Shannon 1948, "A
mathematical theory of communication").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ...translators.recurrence import gru

NOISE = 3**-0.5
"""The standard deviation of the noise: 1/2 log2(1 + 1 / NOISE ** 2) is one bit."""
NOISY, EXACT = (1, 2, 4, 8, 16, 32), (1, 4, 64)
"""Numbers in the vector between the two networks, with noise and without it."""
LONGEST = 20
"""The most flips in a sequence. All lengths are equally likely."""
D_EMBEDDING, D_STATE = 8, 64
BATCH, RATE, WARM_UP = 32, 5e-3, 100
CHECKPOINTS = (500, 2000)
"""The training steps after which the copier is measured; the last one ends the training."""
HELD = 0.9
"""A length is held if at least this share of its flips is right."""
TESTED = 400
"""The number of test sequences for each length."""


class Copier(nn.Module):
    """A GRU that reads, a vector of `width` numbers, and a GRU that writes the same sequence."""

    def __init__(self, width: int, noise: float) -> None:
        """width: of the vector between them. noise: standard deviation, added to each number."""
        super().__init__()
        self.noise = noise
        self.embedding = nn.Embedding(3, D_EMBEDDING)  # 0, 1 and [START]
        self.reader = nn.GRU(D_EMBEDDING, D_STATE)
        self.squeeze = nn.Linear(D_STATE, width)
        self.spread = nn.Linear(width, D_STATE)
        self.writer = nn.GRU(D_EMBEDDING + width, D_STATE)
        self.to_logits = nn.Linear(D_STATE, 2)

    def forward(self, flips: Tensor) -> Tensor:
        """Return logits (B, n, 2), each given the true previous flips. flips: (B, n) of 0 and 1."""
        n = flips.shape[1]
        zeros = self.squeeze.weight.new_zeros(len(flips), D_STATE)
        last = _run(self.reader, self.embedding(flips), zeros)[:, -1]
        c = self.squeeze(last).tanh()  # (B, width)
        c = c + self.noise * torch.randn_like(c)  # the writer's only input from the reader
        start = flips.new_full((len(flips), 1), 2)
        before = self.embedding(torch.cat([start, flips[:, :-1]], dim=1))
        inputs = torch.cat([before, c[:, None].expand(-1, n, -1)], dim=-1)
        states = _run(self.writer, inputs, self.spread(c).tanh())
        logits: Tensor = self.to_logits(states)
        return logits


def _run(rnn: nn.GRU, words: Tensor, start: Tensor) -> Tensor:
    """Return all states, (B, n, D_STATE). words: (B, n, d). start: (B, D_STATE)."""
    W_word, W_state, bias, state_bias = rnn.parameters()
    told = F.linear(words.transpose(0, 1), W_word, bias)
    return gru(told, start, W_state, state_bias).transpose(0, 1)


Key = tuple[int, bool, int]
"""The width, whether there is noise, and the steps of training."""


@dataclass(frozen=True)
class Copied:
    """right: `Key` -> the share of right flips for each length from 1 to LONGEST."""

    right: dict[Key, list[float]]

    def held(self, width: int, noisy: bool, steps: int = CHECKPOINTS[-1]) -> int:
        """Return the longest length that is held together with all shorter lengths, or 0."""
        return held(self.right[width, noisy, steps])


def held(shares: list[float] | np.ndarray) -> int:
    """Return the number of lengths before the first with a share below HELD."""
    return [*(share >= HELD for share in shares), False].index(False)


def measure(seed: int) -> Copied:
    """Train a copier of each width, on the same flips in the same order."""
    right: dict[Key, list[float]] = {}
    for noisy, widths in ((True, NOISY), (False, EXACT)):
        for width in widths:
            for steps, shares in _train(width, NOISE if noisy else 0.0, seed).items():
                right[width, noisy, steps] = shares
    return Copied(right)


def _train(width: int, noise: float, seed: int) -> dict[int, list[float]]:
    torch.manual_seed(seed)
    model = Copier(width, noise)
    draws = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    steps = CHECKPOINTS[-1]
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / WARM_UP) * (1 - step / steps) ** 0.5
    )
    found = {}
    for step in range(1, steps + 1):
        n = int(torch.randint(1, LONGEST + 1, (), generator=draws))
        flips = torch.randint(2, (BATCH, n), generator=draws)
        loss = F.cross_entropy(model(flips).flatten(0, 1), flips.flatten())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step in CHECKPOINTS:
            found[step] = shares_right(model)
    return found


@torch.no_grad()
def shares_right(model: Copier) -> list[float]:
    """Return the share of right flips, given the true previous ones, for lengths 1 to LONGEST."""
    draws = torch.Generator().manual_seed(10_000)
    shares = []
    for n in range(1, LONGEST + 1):
        flips = torch.randint(2, (TESTED, n), generator=draws)
        shares.append(float((model(flips).argmax(dim=-1) == flips).float().mean()))
    return shares


def most_right(width: int, length: int) -> float:
    """Return an upper bound on the share of right flips of any machine with this noise.

    If a share p of n flips is right, the vector has carried at least n (1 - H(p)) bits, where H(p)
    is the entropy of a coin with probability p (Fano's inequality). But it carries at most `width`
    bits. For the returned share, the two are equal.
    """
    low, high = 0.5, 1.0
    for _ in range(50):
        p = (low + high) / 2
        low, high = (p, high) if length * (1 - entropy(p)) <= width else (low, p)
    return low


def entropy(p: float) -> float:
    """Return the bits in one flip of a coin with probability p."""
    sides = [side for side in (p, 1 - p) if side > 0]
    return float(-sum(side * np.log2(side) for side in sides))


def most_held(width: int) -> int:
    """Return the longest length that can be held according to `most_right`."""
    return int(width / (1 - entropy(HELD)))
