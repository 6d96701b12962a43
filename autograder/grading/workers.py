"""Where submissions are judged: worker processes of this machine, outside of the coordinator's."""

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
Given = TypeVar("Given")
Result = TypeVar("Result")
Judged = Future[dict[str, Judgement]]

LOOK_AFTER = 5.0
"""How many seconds to wait for a result before looking whether there are workers."""

STARTS = 3
"""How often workers are started that end before they have judged anything."""


class WorkersLost(RuntimeError):
    """Nothing can be judged: the workers end, or cannot be reached; the message says which."""


class Workers(Protocol):
    """A number of processes that judge."""

    @property
    def trust(self) -> bool:
        """True if they judge without isolation: a grade made there says so."""
        ...

    @property
    def capacity(self) -> int:
        """How many jobs to give them at a time, so that none of them waits for the next."""
        ...

    @property
    def died(self) -> tuple[type[Exception], ...]:
        """What a job's future raises whose worker ended, perhaps by that job."""
        ...

    def describe(self, released: Released) -> dict[str, Task]:
        """The assignments as this installation judges them. Raises WorkersLost."""
        ...

    def submit(self, job: Job) -> Judged:
        """Have `job` judged."""
        ...

    def check(self) -> None:
        """Raise WorkersLost if no worker is left for what was submitted, and none will come."""
        ...


class LocalWorkers:
    """At most `jobs` worker processes of this machine, of which the first starts at once.

    They are made again when one has died. Use them in a `with`; leaving it by an exception ends
    them at once.
    """

    died = (BrokenProcessPool,)

    def __init__(self, package: str, jobs: int | None = None, trust: bool = False) -> None:
        """They judge for the course package called `package`.

        `jobs` is the number of cores that this process may use, unless it is given.
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
        """The workers."""
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
            f"The worker processes end before they judge anything ({STARTS} times). Look above for "
            "a reason, or look whether this machine has run out of memory. Nothing is lost."
        )

    def submit(self, job: Job) -> Judged:
        """See Workers.submit."""
        return self._submit(judge_job, job)

    def check(self) -> None:
        """See Workers.check: those that died are made again."""

    def _submit(self, function: Callable[[Given], Result], given: Given) -> Future[Result]:
        try:
            return self._pool.submit(function, given)
        except BrokenProcessPool:
            self._end(at_once=True)
            self._start()
            return self._pool.submit(function, given)

    def _start(self) -> None:
        self._told, self._alive = self._context.Pipe(duplex=False)
        given = (self._told, self._package, self.trust)
        self._pool = ProcessPoolExecutor(self._jobs, self._context, begin, given)

    def _end(self, at_once: bool) -> None:
        if at_once:
            self._alive.close()
        self._pool.shutdown(cancel_futures=True)
        self._alive.close()
        self._told.close()


def judge_all(
    jobs: Iterable[tuple[Key, Job]], workers: Workers
) -> Iterator[tuple[Key, dict[str, Judgement] | Exception]]:
    """Have `jobs` judged, a few at a time; yield each key with its judgements as they come.

    An exception that judging has raised is yielded in their place.
    """
    left = iter(jobs)
    running: dict[Judged, Key] = {}
    while True:
        for key, job in islice(left, max(0, workers.capacity - len(running))):
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
            "the same command again when they are back."
        ) from None
    except Exception as error:
        return error
