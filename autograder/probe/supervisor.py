"""The sandbox's first process: imports the packages that submissions need, and makes rooms.

It never reads a submission or a case: the grader sends it the line of a room, which it passes to a
new process. Therefore processes that are forked from it later cannot contain any secret.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import platform
import resource
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence

from . import namespaces, operators
from .line import LineError, receive, send
from .room import serve
from .traces import Traces
from .usage import Watch

TRUSTING, COLD, WARM, CONTAINER = "trusting", "cold", "warm", "container"
"""How a room is isolated: not at all; by the sandbox around us, which holds one room and then ends;
by separate namespaces; by the container around us, which also ends after one room."""

ONE_ROOM = (COLD, CONTAINER)

FIRST_TO_GO = "1000"
"""The score of the processes that the kernel kills first if the machine runs out of memory."""

DOOR = f"{namespaces.JUDGE}/line"
"""The path in a container of the grader's socket, because a container inherits no open files."""


def main() -> None:
    """Answer the grader until it closes the line, which is standard input."""
    mode, file_bytes, *modules = sys.argv[1:]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # so that ended children are waited for, counted
    line = _line(mode)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    for name in ("observe", "torch_probe") if "torch" in modules else ("observe",):
        importlib.import_module(f"{__package__}.{name}")
    _import(modules)
    platform.platform()  # starts a process to find the processor's name, and caches the result
    if "torch" in modules:  # make no tensor here: forks of a process with threads may hang
        sys.modules["torch"].set_num_threads(1)
        if (recorder := operators.recorder()) is not None:
            recorder.take_away()
    if mode == CONTAINER:  # for other sandboxes, the grader writes the score of the first process
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(FIRST_TO_GO)
    send(line, {"status": "up"})
    with contextlib.suppress(LineError):
        while True:
            order, (room,), _ = receive(line)
            if order["modules"]:
                _import_if_there(order["modules"])
            if mode in ONE_ROOM:
                line.close()
                _be_room(socket.socket(fileno=room), mode, int(file_bytes))
                return
            code = _make_room(room, mode, int(file_bytes), (line.fileno(),))
            os.close(room)
            send(line, {"status": "closed", "code": code})


def _line(mode: str) -> socket.socket:
    if mode != CONTAINER:
        return socket.socket(fileno=os.dup(0))
    line = socket.socket(socket.AF_UNIX)
    line.connect(DOOR)
    return line


def _import(modules: Sequence[str]) -> None:
    """Import these modules for all later processes."""
    for name in modules:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # the collector need not scan the present objects again in any process


def _import_if_there(modules: Sequence[str]) -> None:
    """Import these too, but leave it to the student's import to report a missing module."""
    with contextlib.suppress(ImportError):
        _import(modules)
    if os.getcwd() == namespaces.DESK:
        for entry in os.scandir():  # files that they have written, such as matplotlib's font list
            shutil.rmtree(entry) if entry.is_dir() else os.unlink(entry)


def _make_room(room: int, mode: str, file_bytes: int, own_files: tuple[int, ...]) -> int:
    """Serve the grader on the line `room` from a new process, and return its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for file in own_files:
                os.close(file)
            _be_room(socket.socket(fileno=room), mode, file_bytes)
            code = 0
        except OSError as error:
            with contextlib.suppress(LineError):
                send(socket.socket(fileno=os.dup(room)), {"status": "failed", "why": str(error)})
        finally:
            os._exit(code)
    while True:
        ended, code = os.waitpid(-1, 0)  # also reaps orphans, which become our children
        if ended == child:
            return os.waitstatus_to_exitcode(code)


def _be_room(line: socket.socket, mode: str, file_bytes: int) -> None:
    mapped = _address_space()
    if mode == TRUSTING:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            os.chdir(folder)
            serve(line, None, None, mapped)
        return
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    if mode == WARM:
        first = namespaces.enter(file_bytes)
        if first:
            line.close()
            _, code = os.waitpid(first, 0)
            os._exit(0 if code == 0 else 1)
    watch = Watch(processes, namespaces.PRIVATE)
    namespaces.drop_privileges()
    serve(line, watch, Traces(namespaces.PRIVATE, processes), mapped)


def _address_space() -> int:
    """Return the size of this process's address space in bytes."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # not Linux
        return 0


if __name__ == "__main__":
    main()
