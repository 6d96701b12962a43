"""Start a supervisor in a container of docker or podman, if one of them is installed.

The container mounts the same programs of this machine as the other sandboxes, so its image is empty
and need not be built or fetched. It has no network, no privileges and a separate user, and only
its private folders are writable.
"""

from __future__ import annotations

import os
import secrets
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from ..probe.namespaces import DESK, JUDGE, PRIVATE
from ..probe.supervisor import DOOR
from .limits import Limits
from .rooms import START_SECONDS, NotStarted
from .shown import (
    LIBRARIES,
    PROBE,
    SYSTEM,
    environment,
    hidden_folders,
    prefixes,
    python,
    revealing_files,
)
from .starting import Start, Supervisor, last_line, wait_until_up

ENGINES = ("docker", "podman")
IMAGE = "autograder-empty"
EMPTY_ARCHIVE = bytes(10240)  # an empty tar file

USERS = range(20_000, 60_000)
"""User ids. Each container gets a random one, since the kernel counts processes per user."""

PODMANS_OWN = ("--read-only-tmpfs=false", "--passwd=false", "--no-hosts")
"""Keep podman from creating more writable folders, and files of users and hosts."""

_POLL_SECONDS = 0.05  # between two checks whether the engine has exited


def container_start(program: str, packages: Sequence[str] = ()) -> Start:
    """Return a function that starts a supervisor in a container of the engine `program`.

    `packages` are hidden in the container.
    """

    def start(run: Sequence[str], limits: Limits) -> Supervisor:
        name = f"autograder-{secrets.token_hex(8)}"
        with (
            tempfile.TemporaryFile() as complaint,
            tempfile.TemporaryDirectory() as folder,
            socket.socket(socket.AF_UNIX) as door,
        ):
            path = Path(folder) / "line"
            door.bind(str(path))
            path.chmod(0o666)  # for the container's user; the folder itself is private
            door.listen(1)
            _make_image(program, complaint)
            command = [program, "run", "--rm", "--name", name, *_options(program, limits, packages)]
            command += [*_volume(str(path), DOOR), IMAGE, python(), *run]
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                start_new_session=True,
            )
            if (line := _accept(door, process)) is None:
                _kill(program, name, process)
                raise NotStarted(last_line(complaint) or f"{program} takes too long")
            return wait_until_up(Supervisor(line, lambda: _kill(program, name, process)), complaint)

    return start


def _make_image(program: str, complaint: IO[bytes]) -> None:
    """Create the empty image if it does not exist. Raises NotStarted if the engine does not run."""
    try:
        existing = subprocess.run(
            [program, "image", "inspect", IMAGE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_SECONDS,
        )
        if existing.returncode == 0:
            return
        imported = subprocess.run(
            [program, "import", "-", IMAGE],
            input=EMPTY_ARCHIVE,
            stdout=subprocess.DEVNULL,
            stderr=complaint,
            timeout=START_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise NotStarted(f"{program} does not answer") from None
    if imported.returncode:
        raise NotStarted(last_line(complaint))


def _accept(door: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket | None:
    """Return the connection from the container; None if it ends first or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        ready, _, _ = select.select([door], [], [], _POLL_SECONDS)
        if ready:
            line, _ = door.accept()
            return line
        if process.poll() is not None:
            return None
    return None


def _kill(program: str, name: str, process: subprocess.Popen[bytes]) -> None:
    """Kill the container `name`; then the client `process` removes it and exits."""
    try:
        subprocess.run(
            [program, "kill", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_SECONDS,
        )
        process.wait(START_SECONDS)
    except subprocess.TimeoutExpired:  # the engine hangs; the container ends with its connection
        process.kill()
        process.wait()


def _options(program: str, limits: Limits, packages: Sequence[str]) -> list[str]:
    """Return the command-line options of the container."""
    user = USERS.start + secrets.randbelow(len(USERS))
    options = ["--pull", "never", "--network", "none", "--hostname", "sandbox"]
    options += ["--user", f"{user}:{user}", "--cap-drop", "ALL", "--read-only"]
    options += ["--security-opt", "no-new-privileges", "--security-opt", "label=disable"]
    options += ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"]
    options += PODMANS_OWN if Path(program).name == "podman" else ()
    for folder in (*SYSTEM, LIBRARIES):
        options += _volume(folder, folder) if os.path.exists(folder) else []
    for prefix, place in prefixes().items():
        options += _volume(prefix, place)
    for folder in hidden_folders(packages):
        options += ["--tmpfs", f"{folder}:ro,size=4k"]
    for file in revealing_files():
        options += _volume("/dev/null", file)
    options += _volume(str(PROBE), f"{JUDGE}/probe")
    for private in PRIVATE:
        options += ["--tmpfs", f"{private}:size={limits.file},mode=1777"]
    for other in ("/dev/mqueue", "/sys"):  # mounted by the engines
        options += ["--tmpfs", f"{other}:ro,size=4k"]
    for name, value in environment().items():
        options += ["--env", f"{name}={value}"]
    return [*options, "--workdir", DESK]


def _volume(outside: str, inside: str) -> list[str]:
    return ["--volume", f"{outside}:{inside}:ro"]
