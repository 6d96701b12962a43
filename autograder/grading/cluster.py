"""Judge on many machines: the same jobs, through a scheduler of dask.distributed."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
import warnings
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any

from distributed import Client, KilledWorker, Worker, WorkerPlugin
from distributed.comm.addressing import get_address_host_port

from ..submission.task import Task
from .jobs import Installed, Job, Released, installed, judge_job, versions
from .workers import Judged, LocalWorkers, WorkersLost

if TYPE_CHECKING:
    pass

CONNECT_WAIT = 10.0
"""Seconds to wait for the scheduler to answer, and for a first worker."""

ALONE_WAIT = 60.0
"""Seconds to wait for another worker when the last one is gone."""

AGAIN = "Every result so far is in the journal; then run the same command again."


class Cluster:
    """The workers of a scheduler. Use it in a `with`. Raises WorkersLost if it does not answer.

    Only workers that judge as this installation does get jobs, one at a time each, and so do those
    that join later. What a lost worker was judging goes to another one.
    """

    died = (KilledWorker,)

    def __init__(self, address: str, trust: bool = False) -> None:
        """`address` is the scheduler's, such as tcp://10.0.0.1:8786."""
        self.trust = trust
        self._address = address
        self._resource = ""  # what a worker has that may judge
        self._asked: dict[Judged, tuple[Job, Judged]] = {}
        self._judging: frozenset[str] = frozenset()  # the addresses of those that may
        self._looked, self._seen = 0.0, time.monotonic()
        for handler in logging.getLogger("distributed").handlers:
            handler.setLevel(logging.CRITICAL)  # our messages say it all
        try:
            get_address_host_port(address)
        except ValueError as error:
            raise WorkersLost(
                f"{address}: this is no address of a scheduler ({error}). `dask scheduler` prints "
                "its own, such as tcp://10.0.0.1:8786. Nothing was judged."
            ) from error
        try:
            with warnings.catch_warnings(action="ignore"):
                self._client = Client(address, timeout=CONNECT_WAIT, set_as_default=False)
        except OSError as error:
            raise WorkersLost(
                f"{address}: no scheduler answers there (waited {CONNECT_WAIT:g} s). Look whether "
                "`dask scheduler` runs and prints this address. Nothing was judged."
            ) from error

    @property
    def capacity(self) -> int:
        """See Workers.capacity."""
        return 2 * max(1, len(self._judging))

    def __enter__(self) -> Cluster:
        """The workers."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Leave the scheduler, which forgets what was asked of it."""
        self._client.close()

    def describe(self, released: Released) -> dict[str, Task]:
        """See Workers.describe. Raises WorkersLost if a worker would judge otherwise."""
        with LocalWorkers(released.package, 1, trust=True) as here:  # it runs no submission
            described = here.describe(released)
        fingerprints = {name: one.fingerprint for name, one in described.items()}
        expected = Installed(versions(), fingerprints, None)
        self._wait_for_a_worker()
        there: dict[str, Any] = self._client.run(look, released, self.trust, on_error="return")
        for worker, found in sorted(there.items()):
            fault = _fault(found, expected)
            if fault is not None:
                raise WorkersLost(f"{worker}: {fault} Nothing was judged.")
        judges = Judges(expected, released, self.trust)
        self._client.register_plugin(judges, name=judges.resource)
        self._resource = judges.resource
        self._executor = self._client.get_executor(pure=False, resources={judges.resource: 1})
        self.check()
        return described

    def submit(self, job: Job) -> Judged:
        """See Workers.submit."""
        answer: Judged = Future()
        self._ask(answer, job)
        return answer

    def check(self) -> None:
        """See Workers.check."""
        now = time.monotonic()
        if now - self._looked < 1:
            return
        before, self._looked, self._judging = self._judging, now, self._marked()
        if self._judging:
            self._seen = now
            if not before & self._judging:  # a mark that comes after its worker is not looked for
                for answer, (job, asked) in list(self._asked.items()):
                    self._ask(answer, job)
                    asked.cancel()
        elif now - self._seen > ALONE_WAIT:
            raise WorkersLost(
                f"{self._address}: the scheduler has had no worker for {ALONE_WAIT:g} s. Start "
                f"some with `dask worker {self._address} --nthreads 1`. {AGAIN}"
            )

    def _ask(self, answer: Judged, job: Job) -> None:
        asked = self._executor.submit(judge_job, job)
        self._asked[answer] = (job, asked)
        asked.add_done_callback(lambda done: self._take(answer, done))

    def _take(self, answer: Judged, done: Judged) -> None:
        """Give the caller's future the outcome of a job, unless that has been asked again since."""
        if self._asked.get(answer, (None, None))[1] is not done:
            return
        del self._asked[answer]
        if done.cancelled():
            answer.cancel()
            answer.set_running_or_notify_cancel()
        elif (error := done.exception()) is not None:
            answer.set_exception(error)
        else:
            answer.set_result(done.result())

    def _marked(self) -> frozenset[str]:
        """The addresses of the workers that may judge just now."""
        try:
            workers = self._client.scheduler_info()["workers"].items()
        except (OSError, RuntimeError) as error:
            raise WorkersLost(
                f"{self._address}: the scheduler is gone. Start it again. {AGAIN}"
            ) from error
        return frozenset(name for name, one in workers if self._resource in one["resources"])

    def _wait_for_a_worker(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_WAIT)
        except TimeoutError:
            raise WorkersLost(
                f"{self._address}: the scheduler has no worker (waited {CONNECT_WAIT:g} s). Start "
                f"some with `dask worker {self._address} --nthreads 1`. Nothing was judged."
            ) from None


class Judges(WorkerPlugin):
    """Marks each worker, also one that joins later, that judges as the coordinator expects."""

    def __init__(self, expected: Installed, released: Released, trust: bool) -> None:
        """See Cluster.describe."""
        self._expected, self._released, self._trust = expected, released, trust
        text = repr((sorted(expected.versions.items()), sorted(expected.fingerprints.items())))
        self.resource = f"autograder-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    async def setup(self, worker: Worker) -> None:
        """Mark `worker` with a resource, of which each job needs all."""
        found = await look(self._released, self._trust)
        if _fault(found, self._expected) is None:
            await worker.set_resources(**{self.resource: 1})


async def look(released: Released, trust: bool) -> Installed:
    """What the worker that runs this has, found beside its other work."""
    return await asyncio.to_thread(installed, released, trust)


def _fault(found: Installed | BaseException, expected: Installed) -> str | None:
    """Why a worker with what was `found` there may not judge, or None."""
    if isinstance(found, BaseException):
        return (
            f"this worker lacks this package or what it needs ({type(found).__name__}: {found}). "
            "Install the same there as here (requirements.txt) and start it again."
        )
    for name, version in expected.versions.items():
        if found.versions.get(name) != version:
            return (
                f"this worker has {name} {found.versions.get(name)}, and here is {version}. "
                "Install the same there as here (requirements.txt) and start it again."
            )
    if found.fingerprints != expected.fingerprints:
        return (
            "this worker has another version of this package and would judge otherwise. Install "
            "the same there as here and start it again."
        )
    if found.sandbox is not None:
        return f"this worker has no sandbox. {found.sandbox}"
    return None
