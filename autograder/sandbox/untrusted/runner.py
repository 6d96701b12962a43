"""Runs inside the sandbox: the cells of one submission, then the calls of each exercise.

The supervisor reads a request from standard input and never runs the student's code itself: for
each exercise it forks a child that runs all cells and then the exercise's calls, so that no
exercise can disturb the next. What it writes back is data, which the grader outside compares, and
never believes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import select
import signal
import sys
import time
import types
from dataclasses import dataclass
from typing import Any, TypeGuard

from . import wire
from .calling import raised, refuse_memory
from .probe import is_stub, observe
from .values import Call, Raised

BEGUN = "begun"  # the first frame: all is ready, and nothing of the student's has run yet
CELL, DONE, RESULT = b"C", b"D", b"R"  # what a child says: cell begun, cells done, the result

MOST_LEFT_OUT = 3  # so many of a student's own cells may end their process before it counts


@dataclass
class Outcome:
    """What became of one child: a status, the cell in which it ended, and its result."""

    status: str
    cell: int | None
    payload: bytes


def main() -> None:
    """Answer the request on standard input: a frame that says so, then one for each exercise."""
    _leave_the_host()
    request = wire.decode(sys.stdin.buffer.read())
    if request["torch"]:
        import torch  # once for all children; no tensor is made here, since then forks may hang

        torch.set_num_threads(1)
    answers = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.dup2(1, 0)
    _send(answers, wire.encode(BEGUN))
    cells = [(source.tobytes().decode(), name) for source, name in request["cells"]]
    left_out: dict[int, str] = {}  # cells that ended their process, and how
    for exercise, calls in request["exercises"]:
        frame = _judge_one(cells, exercise, calls, request["limits"], left_out)
        _send(answers, frame)


def _send(answers: int, frame: bytes) -> None:
    with os.fdopen(os.dup(answers), "wb") as stream:
        stream.write(len(frame).to_bytes(8, "little") + frame)


def _leave_the_host() -> None:
    """Join a keyring of our own, and be the first to go when the machine runs out of memory.

    The session keyring of the kernel passes through every namespace: keys of the grader's user
    could be read in it, and submissions could leave each other notes.
    """
    call = {"x86_64": 250, "aarch64": 219}.get(platform.machine())  # keyctl(2)
    if sys.platform == "linux" and call is not None:
        join_session_keyring = 1
        kernel = ctypes.CDLL(None, use_errno=True)
        if kernel.syscall(call, join_session_keyring, None) < 0:
            missing = (errno.ENOSYS, errno.EPERM)  # no keyrings here, or none allowed to us
            if ctypes.get_errno() not in missing:
                raise OSError(ctypes.get_errno(), "no keyring of our own")
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")


def _judge_one(
    cells: list[tuple[str, str | None]],
    exercise: str,
    calls: list[Call],
    limits: dict[str, int],
    left_out: dict[int, str],
) -> bytes:
    """Run the child for one exercise, again without any cell that ends the process."""
    while True:
        own = [i for i, (_, name) in enumerate(cells) if name == exercise and i in left_out]
        if own:
            return wire.encode({"exercise": exercise, "status": left_out[own[0]]})
        outcome = _run_child(cells, exercise, calls, limits, left_out)
        if _may_leave_out(outcome.cell, cells, left_out):
            left_out[outcome.cell] = outcome.status
            continue
        answer: dict[str, Any] = {"exercise": exercise, "status": outcome.status}
        if outcome.status == "ended":
            try:
                answer["result"] = wire.decode(outcome.payload)
            except wire.WireError:
                answer["status"] = "killed"
        return wire.encode(answer)


def _may_leave_out(
    cell: int | None, cells: list[tuple[str, str | None]], left_out: dict[int, str]
) -> TypeGuard[int]:
    """True for the cell of an answer, and for the first few other cells that end the process."""
    if cell is None or cell >= len(cells) or cell in left_out:
        return False
    others = [index for index in left_out if cells[index][1] is None]
    return cells[cell][1] is not None or len(others) < MOST_LEFT_OUT


def _run_child(
    cells: list[tuple[str, str | None]],
    exercise: str,
    calls: list[Call],
    limits: dict[str, int],
    left_out: dict[int, str],
) -> Outcome:
    said_read, said_write = os.pipe()
    text_read, text_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(text_write, 1)
        os.dup2(text_write, 2)
        said_write = os.dup2(said_write, 3)
        os.closerange(4, 1024)  # above all the way back to the grader
        _limit(limits)
        report = os.fdopen(said_write, "wb", buffering=0)
        try:
            payload = _work(cells, exercise, calls, left_out, report)
            report.write(RESULT + payload)
        except MemoryError:
            os._exit(77)
        finally:
            os._exit(0)
    os.close(said_write)
    os.close(text_write)
    try:
        return _watch(child, said_read, text_read, limits)
    finally:
        os.close(said_read)
        os.close(text_read)


def _limit(limits: dict[str, int]) -> None:
    seconds = 2 * limits["seconds"]
    for name, value in (
        (resource.RLIMIT_AS, _mapped() + limits["memory"]),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["descriptors"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))


def _mapped() -> int:
    """The address space, in bytes, that this process has before it runs anything of the student."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # no Linux
        return 0


def _work(
    cells: list[tuple[str, str | None]],
    exercise: str,
    calls: list[Call],
    left_out: dict[int, str],
    report: Any,
) -> bytes:
    """In the child: run the cells, find the function, call it; return the result as a message."""
    namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": __builtins__}
    namespace["display"] = namespace["get_ipython"] = _Quiet()
    sys.modules["autograder"] = _quiet_autograder()
    failures: dict[str | None, Raised] = {}
    for index, (source, name) in enumerate(cells):
        if index in left_out:
            continue
        report.write(CELL + index.to_bytes(4, "little"))
        try:
            exec(_compiled(source, index), namespace)
        except MemoryError:
            raise
        except BaseException as error:
            refuse_memory(error)
            failures[name] = raised(error)
    report.write(DONE)
    function = namespace.get(exercise)
    if not callable(function):
        return wire.encode(failures.get(exercise))  # what its cell raised, or None: not there
    if is_stub(function):
        return wire.encode("stub")
    return wire.encode(observe(function, calls))


class _Quiet:
    """Stands for what only a notebook has: whatever is asked of it, it does nothing."""

    def __getattr__(self, name: str) -> _Quiet:
        return self

    def __call__(self, *_: Any, **__: Any) -> _Quiet:
        return self


def _quiet_autograder() -> types.ModuleType:
    """What `from autograder import check` finds in the sandbox: a check that does nothing."""
    module = types.ModuleType("autograder")
    module.check = lambda *_, **__: None  # type: ignore[attr-defined]
    return module


def _compiled(source: str, index: int) -> types.CodeType:
    """Compile a cell; what only a notebook understands (%magic, !command, help?) does nothing."""
    name = f"<cell {index}>"
    try:
        return compile(source, name, "exec", dont_inherit=True)
    except SyntaxError:
        if not any(mark in source for mark in "%!?"):
            raise
        from IPython.core.inputtransformer2 import TransformerManager

        first, _, rest = source.lstrip().partition("\n")
        plain = f"\n{rest}" if first.startswith("%%") else source  # %%time: the rest is the cell
        return compile(TransformerManager().transform_cell(plain), name, "exec", dont_inherit=True)


def _watch(child: int, said: int, text: int, limits: dict[str, int]) -> Outcome:
    """Read what the child says until it ends or a limit does; kill what is left of it."""
    deadline = time.monotonic() + limits["seconds"]
    heard, printed = bytearray(), bytearray()
    cell: int | None = None
    working = True
    status = ""
    os.set_blocking(said, False)
    os.set_blocking(text, False)
    while not status:
        ready, _, _ = select.select([said, text], [], [], 0.02)
        ended, code = os.waitpid(child, os.WNOHANG)
        ready = [said, text] if ended else ready
        if said in ready:
            _drain(said, heard, wire.MAX_BYTES)
        if text in ready:
            _drain(text, printed, limits["output"])
        while working and heard[:1] == CELL and len(heard) >= 5:
            cell = int.from_bytes(heard[1:5], "little")
            del heard[:5]
        if working and heard[:1] == DONE:
            working, cell = False, None
            del heard[:1]
            deadline = time.monotonic() + limits["seconds"]
        if len(printed) > limits["output"] or len(heard) > wire.MAX_BYTES:
            status = "output"
        elif ended:
            status = _ending(code, heard)
        elif time.monotonic() > deadline:
            status = "timeout"
    for kill, target in ((os.killpg, child), (os.kill, child)):
        try:
            kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    if not ended:
        os.waitpid(child, 0)
    return Outcome(status, cell, bytes(heard[1:]))


def _drain(pipe: int, into: bytearray, most: int) -> None:
    """Append what `pipe` holds now, and stop once there is more than `most`."""
    while len(into) <= most:
        try:
            piece = os.read(pipe, 2**16)
        except BlockingIOError:
            return
        if not piece:
            return
        into += piece


def _ending(code: int, heard: bytearray) -> str:
    if os.WIFSIGNALED(code):
        return "timeout" if os.WTERMSIG(code) == signal.SIGXCPU else "killed"
    if os.WEXITSTATUS(code) == 77:
        return "memory"
    return "ended" if heard[:1] == RESULT else "killed"


if __name__ == "__main__":
    main()
