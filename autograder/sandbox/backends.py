"""Where rooms are made: in namespaces of a warm process, in a fresh bubblewrap, or unprotected."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from .limits import LIMITS, Limits
from .rooms import START_SECONDS, NotBegun, Room
from .untrusted import wire
from .untrusted.line import LineError, receive, send
from .untrusted.namespaces import DESK, PRIVATE
from .untrusted.supervisor import COLD, TRUSTING, WARM

UNTRUSTED = Path(__file__).parent / "untrusted"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": DESK,
    "TMPDIR": DESK,
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": DESK,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    # In large pages a process forks in half the time, and threads share these.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
}
OPTIMISERS = (b"optim", "torch._dynamo")
"""What a program that makes an optimiser of torch has in it, and what torch loads then: more than a
second of imports, in each of the three processes in which such an answer runs."""

INSTALL = (
    "install bubblewrap (Debian and Ubuntu: `sudo apt-get install bubblewrap`), then run "
    "`autograder doctor`; to run your own files only, `--trust` does without a sandbox"
)


class SandboxUnavailable(RuntimeError):
    """This machine cannot isolate a submission; the message says what to install."""


class Sandbox(Protocol):
    """Makes rooms, one for each submission."""

    @property
    def isolated(self) -> bool:
        """False for `--trust`: a grade made there says so."""
        ...

    def room(self, program: bytes, torch: bool) -> Room:
        """A room for `program`, a message of cells; with `torch`, that is imported already.

        Raises NotBegun if it does not stand in time: no answer's fault.
        """
        ...

    def close(self) -> None:
        """End all that runs for this sandbox."""
        ...


@dataclass
class _Supervisor:
    """A running supervisor: the process, the line to it, and what it has imported."""

    process: subprocess.Popen[bytes]
    line: socket.socket
    torch: bool
    first: int | None  # the first process of its namespace

    def end(self) -> None:
        """Kill it, with all that runs in its namespace."""
        self.line.close()
        with contextlib.suppress(ProcessLookupError):
            if self.first is not None:
                os.kill(self.first, signal.SIGKILL)
        self.process.kill()
        self.process.wait()


@dataclass
class Isolating:
    """Rooms of one kind: `mode` is one of supervisor.py's. Threads may share it."""

    mode: str
    bubblewrap: str | None
    limits: Limits = LIMITS
    _free: list[_Supervisor] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def isolated(self) -> bool:
        """See Sandbox."""
        return self.mode != TRUSTING

    def room(self, program: bytes, torch: bool) -> Room:
        """See Sandbox."""
        supervisor = self._take(torch)
        mark, module = OPTIMISERS
        order = {"modules": [module] if torch and mark in program else []}
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                send(supervisor.line, order, (theirs.fileno(),))
            except LineError as error:
                supervisor.end()
                ours.close()
                raise NotBegun(str(error)) from None
        return Room(ours, program, self.limits, lambda stuck: self._give_back(supervisor, stuck))

    def close(self) -> None:
        """See Sandbox."""
        with self._lock:
            while self._free:
                self._free.pop().end()

    def _take(self, torch: bool) -> _Supervisor:
        while True:
            with self._lock:
                found = next((one for one in self._free if one.torch == torch), None)
                if found is None:
                    break
                self._free.remove(found)
            with contextlib.suppress(LineError):  # its last room must have ended
                receive(found.line, deadline=time.monotonic() + START_SECONDS)
                return found
            found.end()
        return self._start(torch)

    def _give_back(self, supervisor: _Supervisor, stuck: bool) -> None:
        """Keep a supervisor for the next room; end one that cannot be used again."""
        if stuck or self.mode == COLD:
            supervisor.end()
            return
        with self._lock:
            self._free.append(supervisor)

    def _start(self, torch: bool) -> _Supervisor:
        """Start a supervisor and wait until it is up. Raises NotBegun."""
        ours, theirs = socket.socketpair()
        told, tell = os.pipe()
        with theirs, tempfile.TemporaryFile() as complaint:
            process = subprocess.Popen(
                self._command(torch, tell),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                env=self._environment(),
                pass_fds=(tell,),
                start_new_session=True,
            )
            os.close(tell)
            theirs.close()  # so the line ends when the process does: nobody waits for one that died
            supervisor = _Supervisor(process, ours, torch, None)
            try:
                receive(ours, deadline=time.monotonic() + START_SECONDS)
                if self.bubblewrap is not None:
                    supervisor.first = _first_process(told)
            except LineError as error:
                supervisor.end()
                complaint.seek(0)
                said = complaint.read(2**16).decode("utf-8", "replace").strip().splitlines()
                raise NotBegun(said[-1] if said else str(error)) from None
            finally:
                os.close(told)
        return supervisor

    def _environment(self) -> dict[str, str]:
        """Without a sandbox the folders are this machine's own."""
        inside = () if self.bubblewrap else ("HOME", "TMPDIR", "MPLCONFIGDIR")
        kept = {name: value for name, value in ENVIRONMENT.items() if name not in inside}
        return kept | {"PYTHONPATH": str(UNTRUSTED.parent)}

    def _command(self, torch: bool, tell: int) -> list[str]:
        modules = ["numpy", "numpy.random", *(["torch"] if torch else [])]
        run = [sys.executable, "-s", "-P", "-m", "untrusted.supervisor", self.mode]
        run += [str(self.limits.file), *modules]
        if self.bubblewrap is None:
            return run
        return [self.bubblewrap, "--info-fd", str(tell), *_options(self.limits), "--", *run]


def open_sandbox(trust: bool = False, limits: Limits = LIMITS, mode: str | None = None) -> Sandbox:
    """Return a sandbox that was just tried: the warm one, or the cold one where that is refused.

    `mode` asks for one of the two. Raises SandboxUnavailable if this machine has none.
    """
    if trust:
        return Isolating(TRUSTING, None, limits)
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxUnavailable(f"No sandbox on this machine: bubblewrap is missing; {INSTALL}.")
    reason = ""
    for kind in (mode,) if mode else (WARM, COLD):
        sandbox = Isolating(kind, program, limits)
        try:
            sandbox.room(wire.encode([]), torch=False).close()
            return sandbox
        except NotBegun as error:
            reason = str(error)
    raise SandboxUnavailable(f"bubblewrap cannot make a sandbox here ({reason}); {INSTALL}.")


def _options(limits: Limits) -> list[str]:
    """The sandbox's own part of the command line."""
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    options += ["--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
    options += ["--cap-drop", "ALL"]
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        options += _mirror(Path(folder))
    options += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for keys in ("/proc/keys", "/proc/key-users"):  # of no namespace: those of the grader's user
        options += ["--ro-bind", "/dev/null", keys] if os.path.exists(keys) else []
    for private in ("/tmp", *PRIVATE):
        options += ["--size", str(limits.file), "--tmpfs", private]
    for prefix in dict.fromkeys((sys.base_prefix, sys.prefix)):
        if not prefix.startswith("/usr/") and prefix != "/usr":
            options += ["--ro-bind", prefix, prefix]
    for package in ("autograder", "solutions"):
        for folder in _installed(package):
            options += ["--tmpfs", folder]
    options += ["--ro-bind", str(UNTRUSTED), "/judge/untrusted"]
    for name, value in (ENVIRONMENT | {"PYTHONPATH": "/judge"}).items():
        options += ["--setenv", name, value]
    for folder in ("/", "/dev", *{"/tmp"}.difference(PRIVATE)):
        options += ["--remount-ro", folder]
    return [*options, "--chdir", DESK]


def _mirror(folder: Path) -> list[str]:
    """Show a system folder read-only; a symbolic link (/bin -> usr/bin) stays one."""
    if folder.is_symlink():
        return ["--symlink", os.readlink(folder), str(folder)]
    return ["--ro-bind", str(folder), str(folder)] if folder.is_dir() else []


def _installed(package: str) -> Sequence[str]:
    """Where `package` stands inside the environment that the sandbox shows; hidden there."""
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    shown = (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())
    return [folder for folder in folders if any(Path(folder).is_relative_to(p) for p in shown)]


def _first_process(told: int) -> int | None:
    """The first process in bubblewrap's namespace, as bubblewrap tells it."""
    text = os.read(told, 4096)
    digits = text.partition(b'"child-pid":')[2].split(b",")[0].split(b"\n")[0].strip()
    return int(digits) if digits.isdigit() else None
