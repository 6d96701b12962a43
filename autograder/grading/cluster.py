"""Judge on several machines: send the same jobs to a dask.distributed scheduler."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
import warnings
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from distributed import Client, KilledWorker, Worker, WorkerPlugin
from distributed.comm.addressing import get_address_host_port

from ..submission.task import Task
from .jobs import Installed, Job, Released, installed, judge_job, versions
from .workers import Judged, LocalWorkers, WorkersLost

CONNECT_WAIT = 10.0
"""Timeout in seconds for connecting to the scheduler, and for the first worker."""

ALONE_WAIT = 60.0
"""Seconds to wait for a new worker after the last one is lost."""

AGAIN = "Every result so far is in the journal; then run the same command again."


class Cluster:
    """The workers of a dask scheduler, as a context manager.

    A worker gets jobs, one at a time, if its installation would judge as this one does; this holds
    also for workers that join later. If a worker is lost, its job goes to another worker.
    """

    died = (KilledWorker,)

    def __init__(self, address: str, trust: bool = False) -> None:
        """Connect to the scheduler at `address`, such as tcp://10.0.0.1:8786.

        Raises WorkersLost if it does not answer.
        """
        self.trust = trust
        self._address = address
        self._resource = ""  # the dask resource that marks a worker which may judge
        self._pending: dict[Judged, tuple[Job, Judged]] = {}
        self._judging: frozenset[str] = frozenset()  # addresses of the workers that may judge
        self._last_check, self._last_worker = 0.0, time.monotonic()
        for handler in logging.getLogger("distributed").handlers:
            handler.setLevel(logging.CRITICAL)  # the exceptions raised here replace its messages
        try:
            get_address_host_port(address)
        except ValueError as error:
            raise WorkersLost(
                f"{address}: not a scheduler address ({error}). `dask scheduler` prints its "
                "address, such as tcp://10.0.0.1:8786. Nothing was judged."
            ) from error
        try:
            with warnings.catch_warnings(action="ignore"):
                self._client = Client(address, timeout=CONNECT_WAIT, set_as_default=False)
        except OSError as error:
            raise WorkersLost(
                f"{address}: no scheduler answers there (waited {CONNECT_WAIT:g} s). Check that "
                "`dask scheduler` is running and prints this address. Nothing was judged."
            ) from error

    @property
    def capacity(self) -> int:
        """See Workers.capacity."""
        return 2 * max(1, len(self._judging))

    def __enter__(self) -> Cluster:
        """Return the workers."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Disconnect from the scheduler, which then drops the remaining jobs."""
        self._client.close()

    def describe(self, released: Released) -> dict[str, Task]:
        """See Workers.describe. Raises WorkersLost if a worker would judge differently."""
        with LocalWorkers(released.package, 1, trust=True) as here:  # it runs no submission
            described = here.describe(released)
        fingerprints = {name: task.fingerprint for name, task in described.items()}
        expected = Installed(versions(), fingerprints, None)
        self._wait_for_a_worker()
        reports: dict[str, Any] = self._client.run(look, released, self.trust, on_error="return")
        for worker, report in sorted(reports.items()):
            fault = _fault(report, expected)
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
        self._submit(answer, job)
        return answer

    def check(self) -> None:
        """See Workers.check."""
        now = time.monotonic()
        if now - self._last_check < 1:
            return
        before, self._last_check, self._judging = self._judging, now, self._marked_workers()
        if self._judging:
            self._last_worker = now
            # dask does not start waiting jobs on a worker that gets its resource after joining.
            if not before & self._judging:
                for answer, (job, pending) in list(self._pending.items()):
                    self._submit(answer, job)
                    pending.cancel()
        elif now - self._last_worker > ALONE_WAIT:
            raise WorkersLost(
                f"{self._address}: the scheduler has had no worker for {ALONE_WAIT:g} s. Start "
                f"some with `dask worker {self._address} --nthreads 1`. {AGAIN}"
            )

    def _submit(self, answer: Judged, job: Job) -> None:
        pending = self._executor.submit(judge_job, job)
        self._pending[answer] = (job, pending)
        pending.add_done_callback(lambda done: self._deliver(answer, done))

    def _deliver(self, answer: Judged, done: Judged) -> None:
        """Copy the outcome of a job to the caller's future, unless the job was submitted again."""
        if self._pending.get(answer, (None, None))[1] is not done:
            return
        del self._pending[answer]
        if done.cancelled():
            answer.cancel()
            answer.set_running_or_notify_cancel()
        elif (error := done.exception()) is not None:
            answer.set_exception(error)
        else:
            answer.set_result(done.result())

    def _marked_workers(self) -> frozenset[str]:
        """Return the addresses of the connected workers that may judge."""
        try:
            workers = self._client.scheduler_info()["workers"].items()
        except (OSError, RuntimeError) as error:
            raise WorkersLost(
                f"{self._address}: the scheduler has stopped. Start it again. {AGAIN}"
            ) from error
        return frozenset(name for name, info in workers if self._resource in info["resources"])

    def _wait_for_a_worker(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_WAIT)
        except TimeoutError:
            raise WorkersLost(
                f"{self._address}: the scheduler has no worker (waited {CONNECT_WAIT:g} s). Start "
                f"some with `dask worker {self._address} --nthreads 1`. Nothing was judged."
            ) from None


class Judges(WorkerPlugin):
    """Marks each worker that judges as the coordinator expects, also if it joins later."""

    def __init__(self, expected: Installed, released: Released, trust: bool) -> None:
        """See Cluster.describe."""
        self._expected, self._released, self._trust = expected, released, trust
        text = repr((sorted(expected.versions.items()), sorted(expected.fingerprints.items())))
        self.resource = f"autograder-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    async def setup(self, worker: Worker) -> None:
        """Give `worker` a unit of a resource; each job needs that unit for itself."""
        report = await look(self._released, self._trust)
        if _fault(report, self._expected) is None:
            await worker.set_resources(**{self.resource: 1})


async def look(released: Released, trust: bool) -> Installed:
    """Return what the worker that runs this has installed, without blocking its event loop."""
    return await asyncio.to_thread(installed, released, trust)


def _fault(report: Installed | BaseException, expected: Installed) -> str | None:
    """Return why a worker that reports `found` may not judge, or None if it may."""
    if isinstance(report, BaseException):
        return (
            f"this worker lacks this package or a dependency ({type(report).__name__}: {report}). "
            "Install the same packages there (requirements.txt) and start it again."
        )
    for name, version in expected.versions.items():
        if report.versions.get(name) != version:
            return (
                f"this worker has {name} {report.versions.get(name)}, but this machine has "
                f"{version}. Install the same there (requirements.txt) and start it again."
            )
    if report.fingerprints != expected.fingerprints:
        return (
            "this worker has another version of this package and would judge differently. Install "
            "the same version there and start it again."
        )
    if report.sandbox is not None:
        return f"this worker has no sandbox. {report.sandbox}"
    return None
