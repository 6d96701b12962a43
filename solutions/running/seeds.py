"""Run an experiment over several seeds in parallel, with one thread each."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

from .progress import say

Result = TypeVar("Result")

SEEDS = (0, 1, 2)
"""The seeds of every experiment in the book. The results of all seeds are reported."""


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _fresh() -> multiprocessing.context.BaseContext:
    """Return the context that starts fresh processes.

    On Linux they are forks of a process that has only imported torch, because the import takes
    seconds.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch"])
    return context


def over_seeds(
    run: Callable[[int], Result], seeds: Sequence[int] = SEEDS, workers: int | None = None
) -> list[Result]:
    """Return `[run(seed) for seed in seeds]`, computed in fresh processes, one thread each.

    `run` must be importable from a module (not defined in a notebook cell). By default, `workers`
    is the number of seeds, but at most OMP_NUM_THREADS or, if that is not set, the number of cores.
    This process is never forked, because a fork of a process that has used several torch threads
    hangs.
    """
    name = getattr(run, "__name__", getattr(getattr(run, "func", None), "__name__", "experiment"))
    allowed = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
    workers = workers or min(len(seeds), allowed)
    with ProcessPoolExecutor(workers, mp_context=_fresh(), initializer=_one_thread) as pool:
        futures = [pool.submit(run, seed) for seed in seeds]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            say(f"{name}: {done} of {len(seeds)} done")
        return [future.result() for future in futures]
