"""Runs inside the sandbox from its start: imports what submissions need, once, and makes rooms.

It never reads a submission nor a case: the grader sends it the line of a room, which it hands to a
process of its own. What is forked from it later can therefore hold no secret.
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
"""How a room is kept apart: not at all; by the sandbox around us, which holds one room and then
ends; by namespaces of its own; by the container around us, which ends after one room, too."""

ONE_ROOM = (COLD, CONTAINER)

FIRST_TO_GO = "1000"
"""The score of what the kernel ends first when the machine runs out of memory."""

DOOR = f"{namespaces.JUDGE}/line"
"""Where in a container the socket stands at which the grader waits: none can be handed to it."""


def main() -> None:
    """Answer the grader until it closes the line, which is standard input."""
    mode, file_bytes, *modules = sys.argv[1:]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # who ends is waited for, and so is counted
    line = _line(mode)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    for name in ("observe", "torch_probe") if "torch" in modules else ("observe",):
        importlib.import_module(f"{__package__}.{name}")
    _import(modules)
    platform.platform()  # it asks a process for the name of the processor, and remembers it
    if "torch" in modules:  # no tensor is made here: forks of a process with threads may hang
        sys.modules["torch"].set_num_threads(1)
        if (recorder := operators.recorder()) is not None:
            recorder.take_away()
    if mode == CONTAINER:  # who starts another sandbox knows its first process, and does the same
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
    """Import these for all processes to come."""
    for name in modules:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what stands now is not looked through again, by nobody


def _import_if_there(modules: Sequence[str]) -> None:
    """The same; what is not installed is left for the student's own import to say."""
    with contextlib.suppress(ImportError):
        _import(modules)
    if os.getcwd() == namespaces.DESK:
        for entry in os.scandir():  # what they have written, such as matplotlib's list of fonts
            shutil.rmtree(entry) if entry.is_dir() else os.unlink(entry)


def _make_room(room: int, mode: str, file_bytes: int, ours: tuple[int, ...]) -> int:
    """Serve the grader on the line `room` from a new process; return its code at the end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for file in ours:
                os.close(file)
            _be_room(socket.socket(fileno=room), mode, file_bytes)
            code = 0
        except OSError as error:
            with contextlib.suppress(LineError):
                send(socket.socket(fileno=os.dup(room)), {"status": "failed", "why": str(error)})
        finally:
            os._exit(code)
    while True:
        ended, code = os.waitpid(-1, 0)  # orphans of the sandbox come to us, too
        if ended == child:
            return os.waitstatus_to_exitcode(code)


def _be_room(line: socket.socket, mode: str, file_bytes: int) -> None:
    mapped = _mapped()
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


def _mapped() -> int:
    """The address space of this process, in bytes."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # no Linux
        return 0


if __name__ == "__main__":
    main()
