"""Measure the operations, the seconds and the peak memory of a call."""

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
    """Return the operations of a call's matrix products, counted by torch."""
    with FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())


@torch.no_grad()
def seconds(
    calls: Mapping[str, Callable[[], Any]], least: float = 0.05, times: int = 5
) -> dict[str, float]:
    """Return the median seconds of each call, after a warm-up, with one thread.

    The calls take turns, so that a disturbance of the machine affects all of them. In each of
    `times` turns, a short call is repeated for at least `least` seconds. There is only one thread,
    because the gain of several threads depends on the machine and on the layer.
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
    """Return the seconds per call."""
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - begin) / repeats


@torch.no_grad()
def peak_bytes(call: Callable[[], Any]) -> int:
    """Return the largest number of bytes in tensors that a call held, without its arguments.

    Every operator's results are counted, but not the memory that it needs internally.
    """
    with _Held() as held:
        call()
    return held.peak


class _Held(TorchDispatchMode):
    """Adds up the memory of all tensors that were created and not yet released."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        for given in _storages((*args, *(kwargs or {}).values())):
            if given.data_ptr() not in self._known:  # it existed before the call
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
    """Yield the storage of every tensor in `value`, a tensor or nested lists of tensors."""
    if isinstance(value, torch.Tensor):
        if (storage := value.untyped_storage()).nbytes():
            yield storage
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _storages(one)


def fitted_exponent(lengths: Sequence[int], costs: Sequence[float], least: int) -> float:
    """Return the exponent of a cost as a power of the length, fitted to lengths from `least` on.

    It is the slope of a line through the logarithms, by least squares.
    """
    far = np.array(lengths) >= least
    slope, _ = np.polyfit(np.log(np.array(lengths)[far]), np.log(np.array(costs)[far]), 1)
    return float(slope)
