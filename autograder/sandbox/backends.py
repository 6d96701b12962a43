"""Run the untrusted runner where it can do no harm. Knows nothing of grading."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from .limits import LIMITS, Limits
from .untrusted import wire

UNTRUSTED = Path(__file__).parent / "untrusted"
RUNNER = (sys.executable, "-s", "-P", "-m", "untrusted.runner")
DESK = "/desk"  # where the student's code runs: empty, private, and small
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/tmp",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
INSTALL = (
    "install bubblewrap (Debian and Ubuntu: `sudo apt-get install bubblewrap`), then run "
    "`autograder doctor`; to run your own files only, `--trust` does without a sandbox"
)


class SandboxUnavailable(RuntimeError):
    """This machine cannot isolate a submission; the message says what to install."""


class Sandbox(Protocol):
    """A place where the runner runs: bytes in, bytes out."""

    @property
    def isolated(self) -> bool:
        """False for `--trust`: a grade made there says so."""
        ...

    def run(self, request: bytes, seconds: float) -> bytes:
        """Return what the runner wrote within `seconds`; its faults show in the bytes only."""
        ...


@dataclass(frozen=True)
class Layer:
    """One layer of isolation, and whether this machine has it."""

    name: str
    present: bool
    detail: str


@dataclass(frozen=True)
class Bubblewrap:
    """A fresh bubblewrap sandbox for each run: no network, no home, nothing of the course."""

    program: str
    limits: Limits = LIMITS
    isolated: bool = True

    def run(self, request: bytes, seconds: float) -> bytes:
        """See Sandbox.run."""
        command = [*self.command(), *RUNNER]
        return _communicate(command, request, seconds, self.limits.answer, {}, Path("/"))[0]

    def command(self) -> list[str]:
        """The sandbox's own part of the command line."""
        options = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        options += ["--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
        options += ["--cap-drop", "ALL"]
        for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"):
            options += _mirror(Path(folder))
        options += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
        options += ["--proc", "/proc", "--dev", "/dev"]
        for folder in ("/tmp", "/dev/shm", DESK):
            options += ["--size", str(self.limits.file), "--tmpfs", folder]
        for prefix in dict.fromkeys((sys.base_prefix, sys.prefix)):
            if not prefix.startswith("/usr/") and prefix != "/usr":
                options += ["--ro-bind", prefix, prefix]
        for package in ("autograder", "solutions"):
            for folder in _installed(package):
                options += ["--tmpfs", folder]
        options += ["--ro-bind", str(UNTRUSTED), "/judge/untrusted"]
        for name, value in ENVIRONMENT.items():
            options += ["--setenv", name, value]
        options += ["--setenv", "PYTHONPATH", "/judge", "--chdir", DESK]
        options += ["--remount-ro", "/", "--remount-ro", "/dev"]
        return [self.program, *options, "--"]


@dataclass(frozen=True)
class Trusting:
    """No isolation at all: the runner as an ordinary process. For one's own files only."""

    limits: Limits = LIMITS
    isolated: bool = False

    def run(self, request: bytes, seconds: float) -> bytes:
        """See Sandbox.run."""
        environment = ENVIRONMENT | {"PYTHONPATH": str(UNTRUSTED.parent)}
        with tempfile.TemporaryDirectory() as folder:
            answer, _ = _communicate(
                RUNNER, request, seconds, self.limits.answer, environment, Path(folder)
            )
        return answer


def open_sandbox(trust: bool = False, limits: Limits = LIMITS) -> Sandbox:
    """Return a sandbox that was just tried. Raises SandboxUnavailable if this machine has none."""
    if trust:
        return Trusting(limits)
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxUnavailable(f"No sandbox on this machine: bubblewrap is missing; {INSTALL}.")
    sandbox = Bubblewrap(program, limits)
    command = [*sandbox.command(), *RUNNER]
    request = wire.encode(
        {"cells": [], "exercises": [], "limits": limits.for_runner(), "torch": False}
    )
    _, complaint = _communicate(command, request, 60, limits.answer, {}, Path("/"))
    if complaint:
        reason = complaint.strip().splitlines()[-1]
        raise SandboxUnavailable(f"bubblewrap cannot make a sandbox here ({reason}); {INSTALL}.")
    return sandbox


def layers() -> list[Layer]:
    """Which layers of isolation this machine has, for `autograder doctor`."""
    program = shutil.which("bwrap")
    found = [Layer("bubblewrap", program is not None, program or "not on PATH")]
    try:
        open_sandbox()
        works, detail = True, "namespaces, read-only system, no network, no home: tried"
    except SandboxUnavailable as error:
        works, detail = False, str(error)
    found.append(Layer("isolation", works, detail))
    found.append(
        Layer(
            "resource limits",
            works,
            "address space and CPU of each process, file size, open files, wall clock, output",
        )
    )
    as_root = os.geteuid() == 0
    detail = "does not bind a grader run by root; grade as an ordinary user" if as_root else "set"
    found.append(Layer("limit on processes", works and not as_root, detail))
    return found


def _mirror(folder: Path) -> list[str]:
    """Show a system folder read-only; a symbolic link (/bin -> usr/bin) stays one."""
    if folder.is_symlink():
        return ["--symlink", os.readlink(folder), str(folder)]
    return ["--ro-bind", str(folder), str(folder)] if folder.is_dir() else []


def _installed(package: str) -> list[str]:
    """Where `package` stands inside the environment that the sandbox shows; hidden there."""
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    shown = (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())
    return [folder for folder in folders if any(Path(folder).is_relative_to(p) for p in shown)]


def _communicate(
    command: Sequence[str],
    request: bytes,
    seconds: float,
    most: int,
    environment: dict[str, str],
    folder: Path,
) -> tuple[bytes, str]:
    """Feed `request`, read at most `most` bytes within `seconds`, kill what is left; (out, err)."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    complaint: list[bytes] = []
    threads = [
        threading.Thread(target=_feed, args=(process, request)),
        threading.Thread(target=lambda: complaint.append(_read(process.stderr, 2**16))),
    ]
    for thread in threads:
        thread.start()
    try:
        answer = _read(process.stdout, most)
    finally:
        process.kill()
        timer.cancel()
        process.wait()
        for thread in threads:
            thread.join()
    return answer, b"".join(complaint).decode("utf-8", "replace")


def _feed(process: subprocess.Popen[bytes], request: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(request)


def _read(stream: IO[bytes] | None, most: int) -> bytes:
    assert stream is not None
    with stream:
        return stream.read(most)
