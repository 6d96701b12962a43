"""Measure a call: its operations, its seconds, and the most memory that it held at once."""

import math
import statistics
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


@torch.no_grad()
def flops(call: Callable[[], Any]) -> int:
    """The operations of the matrix products that a call makes, by torch's own counter."""
    with FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())


@torch.no_grad()
def seconds(
    calls: Mapping[str, Callable[[], Any]], least: float = 0.05, times: int = 5
) -> dict[str, float]:
    """The median seconds of each call, which has run before, so that it is warm, with one thread.

    The calls take turns, so that what disturbs the machine disturbs them all. In a turn, a short
    call is repeated until `least` seconds are full; `times` turns are made. One thread, since what
    several gain differs from machine to machine and from layer to layer.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        repeats = {
            name: max(1, math.ceil(least / _seconds(call, 1))) for name, call in calls.items()
        }
        turns: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(times):
            for name, call in calls.items():
                turns[name].append(_seconds(call, repeats[name]))
    finally:
        torch.set_num_threads(threads)
    return {name: statistics.median(taken) for name, taken in turns.items()}


def _seconds(call: Callable[[], Any], repeats: int) -> float:
    """The seconds of each of some calls."""
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - begin) / repeats


@torch.no_grad()
def peak_bytes(call: Callable[[], Any]) -> int:
    """The most bytes of tensors that a call held at once, what it was given not counted.

    Every operator is watched; what it needs within itself, and gives back, is not seen.
    """
    with _Held() as held:
        call()
    return held.peak


class _Held(TorchDispatchMode):
    """Adds up the memory of tensors from when they are made until nobody has them any more."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        for given in _storages((*args, *(kwargs or {}).values())):
            if given.data_ptr() not in self._known:  # it was there before the call
                self._note(given, 0)
        result = operator(*args, **(kwargs or {}))
        for made in _storages(result):
            if made.data_ptr() not in self._known:
                self._note(made, made.nbytes())
        self.peak = max(self.peak, self.now)
        return result

    def _note(self, storage: torch.UntypedStorage, size: int) -> None:
        self._known.add(storage.data_ptr())
        self.now += size
        weakref.finalize(storage, self._forget, storage.data_ptr(), size)

    def _forget(self, address: int, size: int) -> None:
        self._known.discard(address)
        self.now -= size


def _storages(value: Any) -> Iterator[torch.UntypedStorage]:
    """The memory of every tensor in `value`, a tensor or a list of lists of them, if it has any."""
    if isinstance(value, torch.Tensor):
        if (storage := value.untyped_storage()).nbytes():
            yield storage
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _storages(one)


def fitted_exponent(lengths: Sequence[int], costs: Sequence[float], least: int) -> float:
    """The power of the length that a cost is, fitted to the lengths from `least` on.

    It is the slope of a straight line through the logarithms, by least squares.
    """
    far = np.array(lengths) >= least
    slope, _ = np.polyfit(np.log(np.array(lengths)[far]), np.log(np.array(costs)[far]), 1)
    return float(slope)
