"""`make bench`: time the block of chapter 8 and torch's own modules, forward and backward.

The two take turns in a single run, on one thread. The ratio is the median over all turns.
"""

from __future__ import annotations

import datetime
import platform
import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import nn

from solutions.transformer_block import EncoderBlock, MultiHeadAttention

BATCH, N, D_MODEL, N_HEADS, D_FF = 32, 128, 256, 8, 1024
TURNS = 15
MOST = 1.15


def main() -> None:
    """Measure, print a line for each module, and fail if one is slower than MOST allows."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    print(f"{datetime.date.today()}, {platform.platform()}, torch {torch.__version__}, one thread")
    attention = nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    layer = nn.TransformerEncoderLayer(D_MODEL, N_HEADS, D_FF, 0.0, batch_first=True)
    pairs: dict[str, tuple[Callable, Callable]] = {
        "MultiHeadAttention": (
            MultiHeadAttention(D_MODEL, N_HEADS),
            lambda X: attention(X, X, X, need_weights=False)[0],
        ),
        "EncoderBlock": (EncoderBlock(D_MODEL, N_HEADS, D_FF), layer),
    }
    slow = []
    for name, (ours, theirs) in pairs.items():
        turns = [(_seconds(ours), _seconds(theirs)) for _ in range(TURNS + 1)][1:]
        ratio = statistics.median(mine / right for mine, right in turns)
        mine, right = (1000 * statistics.median(times) for times in zip(*turns, strict=True))
        print(f"{name}: {mine:.0f} ms, torch's {right:.0f} ms, {ratio:.2f} times as long")
        if ratio > MOST:
            slow.append(name)
    if slow:
        sys.exit(f"more than {MOST} times as long: {', '.join(slow)}")


def _seconds(module: Callable) -> float:
    X = torch.randn(BATCH, N, D_MODEL, requires_grad=True)
    start = time.perf_counter()
    module(X).sum().backward()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
