"""A PostgreSQL server for tests: in a temporary folder, on a free port of this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

PASSWORD = "a:b/c@d"
"""The password of `teacher`: it works only if the address quotes it."""


@dataclass
class Server:
    """A server with the user `teacher` and the database `grades`."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    user: dict[str, object] = field(default_factory=dict)

    def url(self, user="teacher", password="a%3Ab%2Fc%40d", database="grades", port=None):
        """Return the address as SQLAlchemy expects it; tests pass wrong parts on purpose."""
        return f"postgresql+psycopg://{user}:{password}@127.0.0.1:{port or self.port}/{database}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-p", str(self.port)]
        options += ["-c", f"unix_socket_directories={self.folder}"]
        self.process = subprocess.Popen(
            [_program("postgres"), "-D", self.folder / "data", *options],
            cwd=self.folder,
            stderr=subprocess.DEVNULL,
            **self.user,
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connect("postgres").close()
                return
            except psycopg.OperationalError:
                assert self.process.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.1)

    def stop(self) -> None:
        """Stop the server immediately, like a machine that fails."""
        if self.process is not None:
            self.process.send_signal(3)  # SIGQUIT
            self.process.wait(30)

    def connect(self, database="grades") -> psycopg.Connection:
        """Return a connection for the test itself."""
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="teacher",
            password=PASSWORD,
            dbname=database,
            autocommit=True,
        )


@contextmanager
def server() -> Iterator[Server]:
    """Yield a server that is stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    started = Server(folder, _free_port(), user=_ordinary_user(folder))
    try:
        password = folder / "password"
        password.write_text(PASSWORD)
        options = ["-U", "teacher", "--encoding=UTF8", "--locale=C", "--auth=scram-sha-256"]
        subprocess.run(
            [_program("initdb"), "-D", folder / "data", *options, f"--pwfile={password}", "-N"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            **started.user,
        )
        started.start()
        with started.connect("postgres") as connection:
            connection.execute("CREATE DATABASE grades")
        yield started
    finally:
        started.stop()
        shutil.rmtree(folder)


def _program(name: str) -> str:
    """Return the path of a program of the server: Debian keeps a folder per version, off PATH."""
    programs = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    program = programs[-1] if programs else shutil.which(name)
    assert program, f"{name} is missing. Type: sudo apt-get install postgresql"
    return str(program)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _ordinary_user(folder: Path) -> dict[str, object]:
    """Return Popen's arguments to run as an ordinary user, since PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
