"""Start a supervisor in a container of docker or podman, where an installation has one of them.

The container shows the same programs of this machine as the other sandboxes, so there is no image
to build or to fetch: its own is empty. It has no network, no privileges, a user of its own, and
nothing that can be written to but the private folders.
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
from .rooms import START_SECONDS, NotBegun
from .shown import LIBRARIES, PROBE, SYSTEM, environment, hidden, prefixes, python, revealing
from .starting import Start, Supervisor, last_line, up

ENGINES = ("docker", "podman")
IMAGE = "autograder-empty"
EMPTY_ARCHIVE = bytes(10240)  # a tar file that holds nothing

USERS = range(20_000, 60_000)
"""Each container has one of them, by chance: the kernel counts the processes of a user."""

PODMANS_OWN = ("--read-only-tmpfs=false", "--passwd=false", "--no-hosts")
"""Podman would make further folders that can be written to, and files of users and hosts."""

_LOOK = 0.05  # seconds between two looks whether the engine has given up


def contained(program: str, packages: Sequence[str] = ()) -> Start:
    """Return what starts a supervisor in a container of the engine `program`.

    `packages` are hidden in there.
    """

    def start(run: Sequence[str], limits: Limits) -> Supervisor:
        name = f"autograder-{secrets.token_hex(8)}"
        with (
            tempfile.TemporaryFile() as complaint,
            tempfile.TemporaryDirectory() as folder,
            socket.socket(socket.AF_UNIX) as door,
        ):
            place = Path(folder) / "line"
            door.bind(str(place))
            place.chmod(0o666)  # the folder is ours alone; the user inside is another one
            door.listen(1)
            _make_image(program, complaint)
            command = [program, "run", "--rm", "--name", name, *_options(program, limits, packages)]
            command += [*_volume(str(place), DOOR), IMAGE, python(), *run]
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                start_new_session=True,
            )
            if (line := _answered(door, process)) is None:
                _killed(program, name, process)
                raise NotBegun(last_line(complaint) or f"{program} takes too long")
            return up(Supervisor(line, lambda: _killed(program, name, process)), complaint)

    return start


def _make_image(program: str, complaint: IO[bytes]) -> None:
    """Make the empty image if it is not there. Raises NotBegun where the engine does not run."""
    try:
        known = subprocess.run(
            [program, "image", "inspect", IMAGE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_SECONDS,
        )
        if known.returncode == 0:
            return
        made = subprocess.run(
            [program, "import", "-", IMAGE],
            input=EMPTY_ARCHIVE,
            stdout=subprocess.DEVNULL,
            stderr=complaint,
            timeout=START_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise NotBegun(f"{program} does not answer") from None
    if made.returncode:
        raise NotBegun(last_line(complaint))


def _answered(door: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket | None:
    """The line on which the container called; None if it ended before it did, or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        ready, _, _ = select.select([door], [], [], _LOOK)
        if ready:
            line, _ = door.accept()
            return line
        if process.poll() is not None:
            return None
    return None


def _killed(program: str, name: str, process: subprocess.Popen[bytes]) -> None:
    """Kill the container `name`; its client `process` removes it and ends."""
    try:
        subprocess.run(
            [program, "kill", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_SECONDS,
        )
        process.wait(START_SECONDS)
    except subprocess.TimeoutExpired:  # the engine hangs: the container ends when its line does
        process.kill()
        process.wait()


def _options(program: str, limits: Limits, packages: Sequence[str]) -> list[str]:
    """The container's own part of the command line."""
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
    for folder in hidden(packages):
        options += ["--tmpfs", f"{folder}:ro,size=4k"]
    for file in revealing():
        options += _volume("/dev/null", file)
    options += _volume(str(PROBE), f"{JUDGE}/probe")
    for private in PRIVATE:
        options += ["--tmpfs", f"{private}:size={limits.file},mode=1777"]
    for other in ("/dev/mqueue", "/sys"):  # what engines show besides
        options += ["--tmpfs", f"{other}:ro,size=4k"]
    for name, value in environment().items():
        options += ["--env", f"{name}={value}"]
    return [*options, "--workdir", DESK]


def _volume(outside: str, inside: str) -> list[str]:
    return ["--volume", f"{outside}:{inside}:ro"]
