"""Start a supervisor as a process of this machine: in a fresh bubblewrap, or unprotected."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from ..probe.line import LineError, receive
from ..probe.namespaces import DESK, JUDGE, PRIVATE
from ..probe.supervisor import COLD, FIRST_TO_GO
from .limits import Limits
from .rooms import START_SECONDS, NotBegun
from .shown import (
    ENVIRONMENT,
    LIBRARIES,
    PROBE,
    SYSTEM,
    environment,
    hidden,
    prefixes,
    python,
    revealing,
)

_READ_ONLY_PROCESSES = ("--remount-ro", "/proc")
"""For a sandbox whose rooms see /proc: where root grades, the files of root in there could be
written to, which are settings of the machine's kernel and of other processes."""


@dataclass
class Supervisor:
    """A running supervisor: the line to it, and how to kill it with all that runs in there."""

    line: socket.socket
    kill: Callable[[], None]

    def end(self) -> None:
        """Kill it."""
        self.line.close()
        self.kill()


Start = Callable[[Sequence[str], Limits], Supervisor]
"""Runs Python on these arguments, a supervisor, and returns it when it is up. Raises NotBegun."""


def unprotected(run: Sequence[str], limits: Limits) -> Supervisor:
    """See Start. The folders are this machine's own."""
    own = {k: v for k, v in ENVIRONMENT.items() if k not in ("HOME", "TMPDIR", "MPLCONFIGDIR")}
    folder = tempfile.TemporaryDirectory()  # with the probe alone: not what lies beside it here
    os.symlink(PROBE, os.path.join(folder.name, PROBE.name))
    own["PYTHONPATH"] = folder.name
    ours, theirs = socket.socketpair()
    with theirs, tempfile.TemporaryFile() as complaint:
        process = _process([sys.executable, *run], theirs, complaint, own)
        return up(Supervisor(ours, lambda: _gone(process, folder)), complaint)


def _gone(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    reaped(process)
    folder.cleanup()


def bubblewrapped(program: str, packages: Sequence[str] = ()) -> Start:
    """Return what starts a supervisor in a sandbox of `program`; `packages` are hidden there."""

    def start(run: Sequence[str], limits: Limits) -> Supervisor:
        ours, theirs = socket.socketpair()
        told, tell = os.pipe()
        with theirs, tempfile.TemporaryFile() as complaint, os.fdopen(told, "rb", 0) as info:
            command = [
                program,
                "--info-fd",
                str(tell),
                *_options(limits, packages),
                *(_READ_ONLY_PROCESSES if COLD in run else ()),
                "--",
                python(),
                *run,
            ]
            process = _process(command, theirs, complaint, ENVIRONMENT, (tell,))
            os.close(tell)
            supervisor = up(Supervisor(ours, lambda: reaped(process)), complaint)
            first = _first_process(info.read(4096))
        if first is not None:
            supervisor.kill = lambda: reaped(process, first)
            with contextlib.suppress(OSError), open(f"/proc/{first}/oom_score_adj", "w") as file:
                file.write(FIRST_TO_GO)
        return supervisor

    return start


def up(supervisor: Supervisor, complaint: IO[bytes]) -> Supervisor:
    """Wait until `supervisor` says that it is up. Raises NotBegun with what stands in its way."""
    try:
        receive(supervisor.line, deadline=time.monotonic() + START_SECONDS)
    except LineError as error:
        supervisor.end()
        raise NotBegun(last_line(complaint) or str(error)) from None
    return supervisor


def last_line(complaint: IO[bytes]) -> str:
    """The last line of what a program wrote into a file on standard error."""
    complaint.seek(0)
    said = complaint.read(2**16).decode("utf-8", "replace").strip().splitlines()
    return said[-1] if said else ""


def reaped(process: subprocess.Popen[bytes], first: int | None = None) -> None:
    """Kill `process`, and `first`, the first process of its namespace: all in there ends then."""
    if first is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGKILL)
    process.kill()
    process.wait()


def _process(
    command: Sequence[str],
    line: socket.socket,
    complaint: IO[bytes],
    environment: dict[str, str],
    files: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """A process with `line` as standard input. Then `line` is closed here: it ends when it does."""
    process = (
        _starter()
        .submit(
            subprocess.Popen,
            command,
            stdin=line.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=complaint,
            env=environment,
            pass_fds=files,
            start_new_session=True,
        )
        .result()
    )
    line.close()
    return process


@cache
def _starter() -> ThreadPoolExecutor:
    """A thread that lives as long as this process: bubblewrap ends with the thread that began it.

    See PR_SET_PDEATHSIG in prctl(2), which `--die-with-parent` sets.
    """
    return ThreadPoolExecutor(1)


def _options(limits: Limits, packages: Sequence[str]) -> list[str]:
    """The sandbox's own part of the command line."""
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    options += ["--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
    options += ["--cap-drop", "ALL"]
    for folder in SYSTEM:
        options += _mirror(Path(folder))
    options += ["--ro-bind-try", LIBRARIES, LIBRARIES]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for keys in ("/proc/keys", "/proc/key-users"):  # of no namespace: those of the grader's user
        options += ["--ro-bind", "/dev/null", keys] if os.path.exists(keys) else []
    for private in PRIVATE:
        options += ["--size", str(limits.file), "--tmpfs", private]
    for prefix, place in prefixes().items():
        options += ["--ro-bind", prefix, place]
    for folder in hidden(packages):
        options += ["--tmpfs", folder]
    for file in revealing():
        options += ["--ro-bind", "/dev/null", file]
    options += ["--ro-bind", str(PROBE), f"{JUDGE}/probe"]
    for name, value in environment().items():
        options += ["--setenv", name, value]
    for folder in ("/", "/dev"):
        options += ["--remount-ro", folder]
    return [*options, "--chdir", DESK]


def _mirror(folder: Path) -> list[str]:
    """Show a system folder read-only; a symbolic link (/bin -> usr/bin) stays one."""
    if folder.is_symlink():
        return ["--symlink", os.readlink(folder), str(folder)]
    return ["--ro-bind", str(folder), str(folder)] if folder.is_dir() else []


def _first_process(told: bytes) -> int | None:
    """The first process in bubblewrap's namespace, as bubblewrap tells it."""
    digits = told.partition(b'"child-pid":')[2].split(b",")[0].split(b"\n")[0].strip()
    return int(digits) if digits.isdigit() else None
