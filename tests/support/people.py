"""Run commands as other users of the machine. Only root can do that, and no user is added.

The interpreter may lie in a folder that is closed to other users, such as /root. Then each command
runs in its own mount namespace, where that folder is open and contains only the interpreter.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

OPENED = """
set -e
mount --make-rprivate /
mount --bind "$1/$2" "$3"
mount -t tmpfs -o mode=755 none "$1"
mkdir "$1/$2"
mount --bind "$3" "$1/$2"
shift 3
exec "$@"
"""


@dataclass(frozen=True)
class Person:
    """A user by number, with a group of the same number and a home."""

    number: int
    groups: tuple[int, ...]
    home: Path

    def command(self, *command: object) -> list[str]:
        """Return the command line with which root runs `command` as this person."""
        groups = ",".join(map(str, self.groups)) or "--clear-groups"
        options = ["--clear-groups"] if not self.groups else ["--groups", groups]
        ids = ["setpriv", "--reuid", str(self.number), "--regid", str(self.number), *options, "--"]
        return [*_opened(), *ids, *map(str, command)]

    def environment(self) -> dict[str, str]:
        """Return the environment of this person's commands."""
        folders = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
        return {
            **os.environ,
            "HOME": str(self.home),
            "JUPYTER_CONFIG_DIR": str(self.home),
            "PYTHONPATH": os.pathsep.join(folders),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def run(self, *command: object, umask: int = 0o022) -> subprocess.CompletedProcess[str]:
        """Run `command` with the umask that most users have and return the completed process."""
        return subprocess.run(
            self.command(*command),
            cwd=self.home,
            env=self.environment(),
            umask=umask,
            capture_output=True,
            text=True,
            check=False,
        )

    def autograder(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run the command `autograder`."""
        return self.run(sys.executable, "-m", "autograder", *arguments)


def make_person(folder: Path, number: int, *groups: int) -> Person:
    """Return the user `number`, whose home is made in `folder`."""
    home = folder / f"home-{number}"
    home.mkdir(mode=0o700)
    os.chown(home, number, number)
    return Person(number, groups, home)


def open_folder() -> Path:
    """Return a new folder that every user can enter; skip the test unless it runs as root."""
    if os.geteuid() != 0:
        pytest.skip("only root can run commands as other users")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is missing (package util-linux)")
    folder = Path(tempfile.mkdtemp(prefix="people-"))
    folder.chmod(0o755)
    tried = make_person(folder, 12999).run(sys.executable, "-c", "import numpy")
    if tried.returncode != 0:
        shutil.rmtree(folder)
        pytest.skip(f"no other user can run this Python: {tried.stderr.strip()}")
    return folder


def _opened() -> list[str]:
    """Return the command that opens a closed folder above the interpreter to other users."""
    interpreter = Path(sys.executable).resolve()
    closed = [parent for parent in interpreter.parents if not parent.stat().st_mode & 0o001]
    if not closed:
        return []
    top = closed[-1]
    within = interpreter.relative_to(top).parts[0]
    return ["unshare", "--mount", "sh", "-c", OPENED, "sh", str(top), within, "/mnt"]
