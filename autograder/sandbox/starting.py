"""Start a supervisor as a process of this machine: in a new bubblewrap sandbox, or unprotected."""

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
from .rooms import START_SECONDS, NotStarted
from .shown import (
    ENVIRONMENT,
    LIBRARIES,
    PROBE,
    SYSTEM,
    environment,
    hidden_folders,
    prefixes,
    python,
    revealing_files,
)

_READ_ONLY_PROCESSES = ("--remount-ro", "/proc")
"""Make /proc read-only in a sandbox whose rooms can see it. Otherwise, if root runs the grader,
answers could write to root's files in /proc: settings of the kernel and of other processes."""


@dataclass
class Supervisor:
    """A running supervisor: the line to it, and a function that kills it and its children."""

    line: socket.socket
    kill: Callable[[], None]

    def end(self) -> None:
        """Kill the supervisor."""
        self.line.close()
        self.kill()


Start = Callable[[Sequence[str], Limits], Supervisor]
"""Runs Python with these arguments, waits until that supervisor is up, and returns it. Raises
NotStarted."""


def unprotected_start(run: Sequence[str], limits: Limits) -> Supervisor:
    """See Start. The supervisor uses this machine's own folders."""
    own = {k: v for k, v in ENVIRONMENT.items() if k not in ("HOME", "TMPDIR", "MPLCONFIGDIR")}
    folder = tempfile.TemporaryDirectory()  # holds only the probe, not its sibling packages
    os.symlink(PROBE, os.path.join(folder.name, PROBE.name))
    own["PYTHONPATH"] = folder.name
    own_end, child_end = socket.socketpair()
    with child_end, tempfile.TemporaryFile() as stderr:
        process = _process([sys.executable, *run], child_end, stderr, own)
        return wait_until_up(Supervisor(own_end, lambda: _remove(process, folder)), stderr)


def _remove(process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]) -> None:
    kill_and_reap(process)
    folder.cleanup()


def bubblewrap_start(program: str, packages: Sequence[str] = ()) -> Start:
    """Return a function that starts a supervisor in a sandbox of `program`, without `packages`."""

    def start(run: Sequence[str], limits: Limits) -> Supervisor:
        own_end, child_end = socket.socketpair()
        read_end, write_end = os.pipe()
        with child_end, tempfile.TemporaryFile() as stderr, os.fdopen(read_end, "rb", 0) as info:
            command = [
                program,
                "--info-fd",
                str(write_end),
                *_options(limits, packages),
                *(_READ_ONLY_PROCESSES if COLD in run else ()),
                "--",
                python(),
                *run,
            ]
            process = _process(command, child_end, stderr, ENVIRONMENT, (write_end,))
            os.close(write_end)
            supervisor = wait_until_up(Supervisor(own_end, lambda: kill_and_reap(process)), stderr)
            first = _first_process(info.read(4096))
        if first is not None:
            supervisor.kill = lambda: kill_and_reap(process, first)
            with contextlib.suppress(OSError), open(f"/proc/{first}/oom_score_adj", "w") as file:
                file.write(FIRST_TO_GO)
        return supervisor

    return start


def wait_until_up(supervisor: Supervisor, stderr: IO[bytes]) -> Supervisor:
    """Wait until `supervisor` reports that it is up. Raises NotStarted if it fails."""
    try:
        receive(supervisor.line, deadline=time.monotonic() + START_SECONDS)
    except LineError as error:
        supervisor.end()
        raise NotStarted(last_line(stderr) or str(error)) from None
    return supervisor


def last_line(stderr: IO[bytes]) -> str:
    """Return the last line of a program's standard error, which the file `stderr` holds."""
    stderr.seek(0)
    lines = stderr.read(2**16).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""


def kill_and_reap(process: subprocess.Popen[bytes], first: int | None = None) -> None:
    """Kill `process`, and `first`, the first process of its namespace, which ends the namespace."""
    if first is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGKILL)
    process.kill()
    process.wait()


def _process(
    command: Sequence[str],
    line: socket.socket,
    stderr: IO[bytes],
    environment: dict[str, str],
    files: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process with `line` as standard input; close `line` here, so that its end shows."""
    process = (
        _starter()
        .submit(
            subprocess.Popen,
            command,
            stdin=line.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=stderr,
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
    """Return a thread that lives as long as this process, to start bubblewrap from.

    With `--die-with-parent`, bubblewrap ends with the thread that started it (PR_SET_PDEATHSIG in
    prctl(2)).
    """
    return ThreadPoolExecutor(1)


def _options(limits: Limits, packages: Sequence[str]) -> list[str]:
    """Return the command-line options of bubblewrap."""
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    options += ["--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
    options += ["--cap-drop", "ALL"]
    for folder in SYSTEM:
        options += _mirror(Path(folder))
    options += ["--ro-bind-try", LIBRARIES, LIBRARIES]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for keys in ("/proc/keys", "/proc/key-users"):  # not namespaced: they list the user's own keys
        options += ["--ro-bind", "/dev/null", keys] if os.path.exists(keys) else []
    for private in PRIVATE:
        options += ["--size", str(limits.file), "--tmpfs", private]
    for prefix, place in prefixes().items():
        options += ["--ro-bind", prefix, place]
    for folder in hidden_folders(packages):
        options += ["--tmpfs", folder]
    for file in revealing_files():
        options += ["--ro-bind", "/dev/null", file]
    options += ["--ro-bind", str(PROBE), f"{JUDGE}/probe"]
    for name, value in environment().items():
        options += ["--setenv", name, value]
    for folder in ("/", "/dev"):
        options += ["--remount-ro", folder]
    return [*options, "--chdir", DESK]


def _mirror(folder: Path) -> list[str]:
    """Mount a system folder read-only; a symbolic link (/bin -> usr/bin) stays a link."""
    if folder.is_symlink():
        return ["--symlink", os.readlink(folder), str(folder)]
    return ["--ro-bind", str(folder), str(folder)] if folder.is_dir() else []


def _first_process(info: bytes) -> int | None:
    """Return the id of the first process in bubblewrap's namespace, from bubblewrap's `info`."""
    digits = info.partition(b'"child-pid":')[2].split(b",")[0].split(b"\n")[0].strip()
    return int(digits) if digits.isdigit() else None
