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
"""The shortest length to which the exponents are fitted."""

MALLOC_BOUND = "MALLOC_MMAP_THRESHOLD_"
"""The parameter of Linux's C library for its bound; see `man 3 mallopt`."""


def whole_table(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Attention as in equation 1 of Vaswani et al. (2017), with all scores in memory at once."""
    weights = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)  # (..., n_q, n_k)
    return weights @ V


def in_blocks(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Attention with BLOCK keys at a time."""
    return online_softmax_attention(Q, K, V, BLOCK)


def torchs_own(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """Attention by PyTorch's function, which works in blocks if there is a batch axis too."""
    if Q.dim() > 3:
        return F.scaled_dot_product_attention(Q, K, V)
    return F.scaled_dot_product_attention(Q[None], K[None], V[None])[0]


class Attention(nn.Module):
    """Multi-head self-attention without biases, with any attention function."""

    def __init__(self, attend: Callable[..., torch.Tensor]) -> None:
        """attend: maps queries, keys and values (..., n_heads, n, d_head) to the same shape."""
        super().__init__()
        self.attend = attend
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(D_MODEL, D_MODEL, bias=False) for _ in range(4)
        )

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (..., n, D_MODEL). Returns the same shape."""
        Q, K, V = (
            linear(X).unflatten(-1, (N_HEADS, -1)).transpose(-3, -2)  # (..., n_heads, n, d_head)
            for linear in (self.W_q, self.W_k, self.W_v)
        )
        return self.W_o(self.attend(Q, K, V).transpose(-3, -2).flatten(-2))


def layers() -> dict[str, nn.Module]:
    """Return name -> layer; all attention layers have the same weights."""
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
    """One layer's operations (not for the GRU), seconds and bytes at each of LENGTHS."""

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
            if name != "GRU":  # watching each of its steps takes longer than all other measurements
                found[name].flops.append(flops(call))
            found[name].bytes.append(peak_bytes(call))
        for name, taken in seconds(calls).items():
            found[name].seconds.append(taken)
        say(f"cost by length: {n} tokens done")
    return found


def process_bytes(name: str, n: int = LENGTHS[-1]) -> int:
    """Return the growth of a whole process's memory in a forward pass of a layer.

    The operating system measures it. The largest size of a process never shrinks, so each call
    needs a fresh process.
    """
    with _memory_given_back(), multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_grown, (name, n))


@contextmanager
def _memory_given_back() -> Iterator[None]:
    """Make processes that start in this context return freed memory to the system.

    Linux's C library returns blocks at once if they are larger than a bound, which it raises over
    time. It keeps smaller blocks and cannot always reuse them: the same calls then hold 75 MB in
    one process and 125 MB in another. A bound that is set explicitly stays constant.
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
    layer(torch.randn(BLOCK, D_MODEL))  # allocates the memory of a first call
    X = torch.randn(n, D_MODEL)
    before = _largest_so_far()
    layer(X)
    return _largest_so_far() - before


def _largest_so_far() -> int:
    """Return this process's largest size in bytes; Linux starts ru_maxrss with the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS: in bytes


def as_figure_data(measured: dict[str, Measured]) -> dict[str, Any]:
    """Return the data that the cost calculator shows besides its prediction.

    It has the sizes of the measured layers, the lengths, the seconds and peak bytes of each layer,
    and `speed`: operations a second of the attention layer at the longest length.
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
    """Return the largest difference between attention with the whole table and in blocks (float64).

    "usual": for scores of usual size. "large": for scores in the thousands.
    """
    generator = torch.Generator().manual_seed(1)
    Q, K, V = torch.randn(3, N_HEADS, n, 64, generator=generator, dtype=torch.float64)
    found = {}
    for size, factor in (("usual", 1.0), ("large", 1000.0)):
        right = whole_table(factor * Q, K, V)
        found[size] = (in_blocks(factor * Q, K, V) - right).abs().max().item()
    return found
