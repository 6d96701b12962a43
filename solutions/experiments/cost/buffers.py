"""The time of a softmax and of a copy, into fresh memory and into memory that is kept."""

from __future__ import annotations

import math
import resource
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .by_length import whole_table
from .measuring import seconds

SIZES = (512, 4096, 8192)
"""The numbers of rows and columns of the tables."""


@dataclass(frozen=True)
class Entry:
    """Nanoseconds an entry of a table, into fresh memory and into a kept buffer.

    pages: how many pages of memory the system hands out for one softmax, fresh and kept.
    """

    softmax: tuple[float, float]
    copy: tuple[float, float]
    pages: tuple[int, int]


@torch.no_grad()
def compare() -> dict[int, Entry]:
    """Measure tables of each of SIZES; the calls of a size take turns."""
    found = {}
    for n in SIZES:
        scores = torch.randn(n, n, generator=torch.Generator().manual_seed(n))
        calls = _calls(scores)
        taken = seconds(calls)
        each = {name: 1e9 * one / n**2 for name, one in taken.items()}
        found[n] = Entry(
            (each["softmax, fresh"], each["softmax, kept"]),
            (each["copy, fresh"], each["copy, kept"]),
            (_pages(calls["softmax, fresh"]), _pages(calls["softmax, kept"])),
        )
    return found


def _calls(scores: Tensor) -> dict[str, Callable[[], Tensor]]:
    kept = torch.empty_like(scores)
    return {
        "softmax, fresh": lambda: torch.softmax(scores, dim=-1),
        "softmax, kept": lambda: torch.softmax(scores, dim=-1, out=kept),
        "copy, fresh": scores.clone,
        "copy, kept": lambda: kept.copy_(scores),
    }


def _pages(call: Callable[[], Tensor]) -> int:
    """Return the minor page faults of the process during a call."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@torch.no_grad()
def attention_into_kept(n: int = SIZES[-1], d_head: int = 64) -> float:
    """Return the seconds of attention with a kept table of scores, divided by those without."""
    Q, K, V = torch.randn(3, n, d_head, generator=torch.Generator().manual_seed(1))
    scores, weights = torch.empty(n, n), torch.empty(n, n)

    def kept() -> Tensor:
        torch.matmul(Q, K.mT, out=scores)
        scores.div_(math.sqrt(d_head))
        return torch.softmax(scores, dim=-1, out=weights) @ V

    taken = seconds({"fresh": lambda: whole_table(Q, K, V), "kept": kept}, times=3)
    return taken["kept"] / taken["fresh"]
