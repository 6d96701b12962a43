"""Test the layers of isolation on this machine by trying to break them."""

from __future__ import annotations

import textwrap
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from ..probe import wire
from ..probe.status import Status
from ..probe.values import Call, Observation
from .backends import KINDS, Sandbox, SandboxUnavailable, open_sandbox
from .limits import LIMITS
from .rooms import NotStarted

QUICK = replace(LIMITS, seconds=1.0, cell_seconds=1.0, cells_seconds=1.0, memory=128 * 2**20)


@dataclass(frozen=True)
class Layer:
    """One layer of isolation, whether it held, and what was tried.

    `held` is None for a sandbox that is not available on this machine; `detail` says why.
    """

    name: str
    held: bool | None
    detail: str


@dataclass(frozen=True)
class Attempt:
    """An attempt to break a layer: the body of a function that returns True if it succeeds.

    If a limit should end the attempt, `status` is the expected status. `forbidden` is as in a Call.
    """

    name: str
    tried: str
    source: str
    status: Status = Status.ENDED
    forbidden: tuple[str, ...] = ()


ATTEMPTS = (
    Attempt(
        "files of this machine",
        "reads /etc/passwd and /root, writes to the folders of programs",
        """\
        import os, sys
        for path in ("/etc/passwd", "/etc/shadow", "/home", "/root/.ssh"):
            if os.path.exists(path): return True
        for folder in ("/usr", sys.prefix, "/judge", "/"):
            try: open(os.path.join(folder, "mark"), "w")
            except OSError: continue
            return True
        return False
        """,
    ),
    Attempt(
        "network",
        "opens sockets for the internet, the kernel and virtual machines",
        """\
        import socket
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, 40):
            try: socket.socket(family, socket.SOCK_DGRAM)
            except OSError: continue
            return True
        return False
        """,
    ),
    Attempt(
        "other processes",
        "looks for other processes, traces and reads the first",
        """\
        import ctypes, os
        kernel = ctypes.CDLL(None, use_errno=True)
        if len([name for name in os.listdir("/proc") if name.isdigit()]) > 3: return True
        return kernel.ptrace(16, 1, 0, 0) >= 0 or kernel.process_vm_readv(1, 0, 0, 0, 0, 0) >= 0
        """,
    ),
    Attempt(
        "system calls",
        "requests keyrings, new namespaces, a mount, and memory that no process owns",
        """\
        import ctypes
        kernel = ctypes.CDLL(None, use_errno=True)
        return 0 <= max(
            kernel.syscall(250, 0, -3, 0),
            kernel.unshare(0x10000000),
            kernel.mount(b"a", b"/tmp", b"tmpfs", 0, 0),
            kernel.memfd_create(b"a", 0),
            kernel.shmget(0, 4096, 0o1600),
            kernel.syscall(425, 1, 0),
        )
        """,
    ),
    Attempt(
        "time",
        "runs an infinite loop",
        "while True: pass",
        Status.TIMEOUT,
    ),
    Attempt(
        "time of all processes together",
        "runs infinite loops in processes of other sessions",
        """\
        import os, time
        for _ in range(4):
            if os.fork() == 0:
                os.setsid()
                while True: pass
        time.sleep(60)
        """,
        Status.TIMEOUT,
    ),
    Attempt(
        "memory of all processes together",
        "holds 40 MiB in each of eight processes",
        """\
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                held = bytearray(b"x") * (40 * 2**20)
                time.sleep(60)
        time.sleep(60)
        """,
        Status.MEMORY,
    ),
    Attempt(
        "number of processes",
        "starts 200 processes",
        """\
        import os, time
        for _ in range(200):
            try: child = os.fork()
            except OSError: return False
            if child == 0: time.sleep(60)
        time.sleep(60)
        """,
        Status.PROCESSES,
    ),
    Attempt(
        "processes in forbidden exercises",
        "starts a process, which could run something forbidden",
        """\
        import os
        if os.fork() == 0: os._exit(0)
        return True
        """,
        Status.SEALED,
        ("torch.softmax",),
    ),
    Attempt(
        "private folders",
        "looks for files in these folders, and fills each one",
        """\
        import os
        for folder in ("/tmp", "/dev/shm", "/desk"):
            if os.listdir(folder): return True
            file = open(f"{folder}/full", "wb", 0)
            file.write(b"an answer may write here")
            os.remove(file.name)
            try:
                for _ in range(200): file.write(bytes(2**20))
            except OSError: file.close()
            else: return True
        return False
        """,
    ),
    Attempt(
        "number of files",
        "creates 20,000 empty files",
        """\
        import os, time
        for number in range(20_000):
            try: os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
            except OSError: return False
        time.sleep(60)
        """,
        Status.FILES,
    ),
)


def layers() -> list[Layer]:
    """Try to break every layer, in each kind of sandbox; the kind used for grading comes first."""
    results = []
    for mode in KINDS:
        try:
            sandbox = open_sandbox(limits=QUICK, mode=mode)
        except SandboxUnavailable as error:
            results.append(Layer(f"{mode}: sandbox", None, str(error)))
            continue
        results.append(Layer(f"{mode}: sandbox", True, "started two rooms"))
        results += [_try_to_break(sandbox, mode, attempt) for attempt in ATTEMPTS]
        sandbox.close()
    return results


def _try_to_break(sandbox: Sandbox, mode: str, attempt: Attempt) -> Layer:
    body = textwrap.indent(textwrap.dedent(attempt.source), "    ")
    cell = np.frombuffer(f"def trial():\n{body}".encode(), np.uint8)
    try:
        with closing(sandbox.room(wire.encode([(cell, "trial")]), torch=False)) as room:
            calls = wire.encode([("trial", [Call((), forbidden=attempt.forbidden)])])
            run = room.run(calls, seconds=QUICK.seconds, again=bool(attempt.forbidden))
    except NotStarted as error:
        return Layer(f"{mode}: {attempt.name}", False, str(error))
    held = attempt.status is not Status.ENDED and run.status in (attempt.status, Status.KILLED)
    if run.status is Status.ENDED and run.results:
        _, result = wire.decode(run.results[0])
        held = (
            isinstance(result, list)
            and isinstance(result[0], Observation)
            and result[0].value is False
        )
    detail = f"{attempt.tried}: {'held' if held else f'NOT held ({run.status})'}"
    return Layer(f"{mode}: {attempt.name}", held, detail)
