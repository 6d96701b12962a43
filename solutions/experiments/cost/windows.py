"""A sliding window in two versions: as a mask on the whole table, and without the hidden scores."""

import math
from dataclasses import dataclass
from functools import partial

import torch

from solutions.cost import sliding_window_mask

from .by_length import BLOCK, N_HEADS, whole_table
from .measuring import flops, seconds

TOKENS, RADIUS, D_HEAD = 4096, 256, 64


def masked(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Score every query on every key, then hide the scores outside the window."""
    mask = torch.from_numpy(sliding_window_mask(Q.shape[-2], RADIUS))
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])  # (..., n, n)
    return scores.masked_fill(~mask, -math.inf).softmax(dim=-1) @ V


def skipped(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Take BLOCK queries at a time, and only the keys in the window of any of them."""
    found = []
    for start in range(0, Q.shape[-2], BLOCK):
        end, first = start + BLOCK, max(0, start - RADIUS)
        queries, keys, values = Q[..., start:end, :], K[..., first:end, :], V[..., first:end, :]
        asks = torch.arange(start, start + queries.shape[-2])
        back = asks[:, None] - torch.arange(first, first + keys.shape[-2])
        scores = queries @ keys.mT / math.sqrt(Q.shape[-1])  # (..., BLOCK, RADIUS + BLOCK)
        hidden = (back < 0) | (back > RADIUS)
        found.append(scores.masked_fill(hidden, -math.inf).softmax(dim=-1) @ values)
    return torch.cat(found, dim=-2)


@dataclass(frozen=True)
class Window:
    """The operations and seconds of a version, and its largest difference from the mask."""

    flops: int
    seconds: float
    difference: float


@torch.no_grad()
def compare(n: int = TOKENS) -> dict[str, Window]:
    """Measure the whole table without a window, the mask, and the window without hidden scores."""
    generator = torch.Generator().manual_seed(2)
    Q, K, V = torch.randn(3, N_HEADS, n, D_HEAD, generator=generator)
    right = masked(Q, K, V)
    ways = {"no window": whole_table, "mask": masked, "skipped": skipped}
    calls = {name: partial(attend, Q, K, V) for name, attend in ways.items()}
    taken = seconds(calls)
    return {
        name: Window(flops(call), taken[name], (call() - right).abs().max().item())
        for name, call in calls.items()
    }
