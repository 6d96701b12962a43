"""The interface to the worker processes that judge, and its implementation on this machine.

The coordinator starts the workers in a process pool and sends them jobs. Every worker holds an end
of a pipe and exits when the coordinator closes the other end or dies.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Protocol, TypeVar

from ..judging.verdict import Judgement
from ..submission.task import Task
from .jobs import Job, Released, begin, judge_job, prepare

Key = TypeVar("Key")
Argument = TypeVar("Argument")
Result = TypeVar("Result")
Judged = Future[dict[str, Judgement]]

LOOK_AFTER = 5.0
"""Seconds to wait for a result before checking that there are workers."""

STARTS = 3
"""How often to start workers that exit before they have judged anything."""


class WorkersLost(RuntimeError):
    """Raised if the workers exit or cannot be reached; the message says which."""


class Workers(Protocol):
    """A group of processes that judge."""

    @property
    def trust(self) -> bool:
        """Return True if the workers judge without isolation, which their grades mention."""
        ...

    @property
    def capacity(self) -> int:
        """Return how many jobs to submit at a time, so that no worker is idle."""
        ...

    @property
    def died(self) -> tuple[type[Exception], ...]:
        """Return the exceptions of a job's future if the worker died, perhaps due to the job."""
        ...

    def describe(self, released: Released) -> dict[str, Task]:
        """Return the assignments as this installation judges them. Raises WorkersLost."""
        ...

    def submit(self, job: Job) -> Judged:
        """Submit `job`, and return a future of its judgements."""
        ...

    def check(self) -> None:
        """Raise WorkersLost if no worker is left for the submitted jobs, and none will come."""
        ...


class LocalWorkers:
    """At most `jobs` worker processes on this machine, as a context manager.

    The first worker starts at once. If a worker dies, all are replaced. Leaving the context with an
    exception kills them immediately.
    """

    died = (BrokenProcessPool,)

    def __init__(self, package: str, jobs: int | None = None, trust: bool = False) -> None:
        """Start workers for the course package called `package`.

        By default, `jobs` is the number of cores that this process may use.
        """
        self.trust = trust
        self._package = package
        self._jobs = jobs or len(os.sched_getaffinity(0))
        self._context = multiprocessing.get_context("spawn")  # a fork would copy torch's threads
        self._start()
        self._pool.submit(os.getpid)

    @property
    def capacity(self) -> int:
        """See Workers.capacity."""
        return 2 * self._jobs

    def __enter__(self) -> LocalWorkers:
        """Return the workers."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """End the workers."""
        self._end(at_once=kind is not None)

    def describe(self, released: Released) -> dict[str, Task]:
        """See Workers.describe."""
        for _ in range(STARTS):
            with suppress(BrokenProcessPool):
                return self._submit(partial(prepare, trust=self.trust), released).result()
        raise WorkersLost(
            f"The worker processes exited {STARTS} times before they judged anything. See the "
            "output above for a reason, or check whether this machine ran out of memory. Nothing "
            "is lost."
        )

    def submit(self, job: Job) -> Judged:
        """See Workers.submit."""
        return self._submit(judge_job, job)

    def check(self) -> None:
        """See Workers.check. Does nothing, since dead workers are replaced."""

    def _submit(self, function: Callable[[Argument], Result], argument: Argument) -> Future[Result]:
        try:
            return self._pool.submit(function, argument)
        except BrokenProcessPool:
            self._end(at_once=True)
            self._start()
            return self._pool.submit(function, argument)

    def _start(self) -> None:
        self._worker_end, self._own_end = self._context.Pipe(duplex=False)
        arguments = (self._worker_end, self._package, self.trust)
        self._pool = ProcessPoolExecutor(self._jobs, self._context, begin, arguments)

    def _end(self, at_once: bool) -> None:
        if at_once:
            self._own_end.close()
        self._pool.shutdown(cancel_futures=True)
        self._own_end.close()
        self._worker_end.close()


def judge_all(
    jobs: Iterable[tuple[Key, Job]], workers: Workers
) -> Iterator[tuple[Key, dict[str, Judgement] | Exception]]:
    """Judge `jobs`, a few at a time; yield each key with its judgements as they are completed.

    If judging raises an exception, yield the exception instead of judgements.
    """
    remaining = iter(jobs)
    running: dict[Judged, Key] = {}
    while True:
        for key, job in islice(remaining, max(0, workers.capacity - len(running))):
            running[workers.submit(job)] = key
        if not running:
            return
        done = wait(running, LOOK_AFTER, FIRST_COMPLETED).done
        workers.check()
        for future in done:
            yield running.pop(future), _outcome(future)


def _outcome(future: Judged) -> dict[str, Judgement] | Exception:
    try:
        return future.result()
    except CancelledError:
        raise WorkersLost(
            "The connection to the workers was lost. Every result so far is in the journal; run "
            "the same command again when the workers are back."
        ) from None
    except Exception as error:
        return error
