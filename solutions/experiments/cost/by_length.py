"""Operations, seconds and peak memory of five layers, each on sequences of 64 to 8192 tokens."""

import math
import multiprocessing
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from solutions.cost import online_softmax_attention
from solutions.transformer_block import FeedForward

from ...running.progress import say
from .measuring import flops, peak_bytes, seconds

D_MODEL, N_HEADS, D_FF, BLOCK = 128, 2, 512, 128
LENGTHS = tuple(2**power for power in range(6, 14))
FAR = 1024
"""The exponents are fitted to the lengths from here on."""

MALLOC_BOUND = "MALLOC_MMAP_THRESHOLD_"
"""The name by which Linux's C library is told its bound, `man 3 mallopt`."""


def whole_table(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Attention as in equation 1 of Vaswani et al. (2017): all scores stand there at once."""
    weights = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)  # (..., n_q, n_k)
    return weights @ V


def in_blocks(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """The same, BLOCK keys at a time."""
    return online_softmax_attention(Q, K, V, BLOCK)


def torchs_own(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """PyTorch's function, which works in blocks if there is an axis for the batch too."""
    return F.scaled_dot_product_attention(Q[None], K[None], V[None])[0]


class Attention(nn.Module):
    """Multi-head self-attention without biases, around any function that attends."""

    def __init__(self, attend: Callable[..., torch.Tensor]) -> None:
        """attend: makes (n_heads, n, d_head) of queries, keys and values of that shape."""
        super().__init__()
        self.attend = attend
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(4)
        )

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (n, D_MODEL). Returns the same shape."""
        Q, K, V = (
            linear(X).unflatten(-1, (N_HEADS, -1)).transpose(0, 1)  # (n_heads, n, d_head)
            for linear in (self.W_q, self.W_k, self.W_v)
        )
        return self.W_o(self.attend(Q, K, V).transpose(0, 1).flatten(1))


def layers() -> dict[str, nn.Module]:
    """The layers by name; those that attend have the same weights."""
    torch.manual_seed(0)
    table = Attention(whole_table)
    made: dict[str, nn.Module] = {"attention": table}
    for name, attend in (("in blocks", in_blocks), ("torch's own", torchs_own)):
        made[name] = Attention(attend)
        made[name].load_state_dict(table.state_dict())
    made["feed-forward"] = FeedForward(D_MODEL, D_FF)
    made["GRU"] = nn.GRU(D_MODEL, D_MODEL)
    return made


@dataclass
class Measured:
    """Of one layer, at each of LENGTHS: operations (but not of the GRU), seconds and bytes."""

    flops: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)


def measure() -> dict[str, Measured]:
    """Measure every layer at every length; at each length, the layers take turns."""
    made = layers()
    found = {name: Measured() for name in made}
    for n in LENGTHS:
        X = torch.randn(n, D_MODEL, generator=torch.Generator().manual_seed(n))
        calls = {name: partial(layer, X) for name, layer in made.items()}
        for name, call in calls.items():
            if name != "GRU":  # to watch each of its steps takes longer than all the rest
                found[name].flops.append(flops(call))
            found[name].bytes.append(peak_bytes(call))
        for name, taken in seconds(calls).items():
            found[name].seconds.append(taken)
        say(f"cost by length: {n} tokens done")
    return found


def process_bytes(name: str, n: int = LENGTHS[-1]) -> int:
    """By how much the memory of a whole process grows in a forward pass of one layer.

    It is the operating system's own account. A process remembers its largest size for ever, so each
    call needs a fresh one.
    """
    with _memory_given_back(), multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_grown, (name, n))


@contextmanager
def _memory_given_back() -> Iterator[None]:
    """Let processes that begin here give back what they free.

    Linux's C library gives back at once what is larger than a bound, which it raises as it goes.
    What is smaller it keeps, and cannot always use again: the same calls then hold 75 MB in one
    process and 125 in the next. A bound that is set stays.
    """
    before = os.environ.get(MALLOC_BOUND)
    os.environ[MALLOC_BOUND] = str(128 * 1024)
    try:
        yield
    finally:
        os.environ.pop(MALLOC_BOUND)
        if before is not None:
            os.environ[MALLOC_BOUND] = before


@torch.no_grad()
def _grown(name: str, n: int) -> int:
    layer = layers()[name]
    layer(torch.randn(BLOCK, D_MODEL))  # whatever the first call needs
    X = torch.randn(n, D_MODEL)
    before = _largest_so_far()
    layer(X)
    return _largest_so_far() - before


def _largest_so_far() -> int:
    """The most bytes that this process has held. Linux starts ru_maxrss with its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS: in bytes


def as_figure_data(measured: dict[str, Measured]) -> dict[str, Any]:
    """What the cost calculator shows beside its prediction.

    The sizes of the measured layers, their lengths, for each layer its seconds and peak bytes, and
    `speed`: operations a second of the attention layer at the longest length.
    """
    attention = measured["attention"]
    return {
        "d_model": D_MODEL,
        "n_heads": N_HEADS,
        "d_ff": D_FF,
        "block": BLOCK,
        "lengths": list(LENGTHS),
        "speed": float(f"{attention.flops[-1] / attention.seconds[-1]:.3g}"),
        "layers": {
            name: {
                "seconds": [float(f"{one:.3g}") for one in found.seconds],
                "bytes": found.bytes,
            }
            for name, found in measured.items()
        },
    }


@torch.no_grad()
def largest_difference(n: int = 2048) -> dict[str, float]:
    """The largest difference between attention by the whole table and in blocks, in float64.

    "usual": with scores of usual size; "large": with scores in the thousands.
    """
    generator = torch.Generator().manual_seed(1)
    Q, K, V = torch.randn(3, N_HEADS, n, 64, generator=generator, dtype=torch.float64)
    found = {}
    for size, factor in (("usual", 1.0), ("large", 1000.0)):
        right = whole_table(factor * Q, K, V)
        found[size] = (in_blocks(factor * Q, K, V) - right).abs().max().item()
    return found
