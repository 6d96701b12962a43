"""The first process of a room: takes orders from the grader, and has a child carry out each.

It never runs the student's code. Each order gets a new child, so that no run can affect the next:
when a child has ended, or a limit has ended it, everything that it left behind is removed. An order
for several turns (`turns`) gets a child, and a copy of that child for each turn.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from . import seccomp
from .answering import ANY_PROCESSOR, PROCESSOR_BYTES, Answering
from .child import Order, work
from .gate import Seal, gate, install, no_seal
from .line import LineError, receive, send
from .listening import Listener, Outcome
from .original import MOST_DESCRIPTORS
from .status import Status
from .traces import Traces
from .turns import Turns
from .usage import Watch

READY = "ready"  # the first message: the room is set up, and no student code has run yet

ENDED = 224
"""The number of zombie processes that a run may have in addition to its limit. The kernel's limit
counts zombies; `usage` does not, and ends a run that has too many live processes."""


def serve(line: socket.socket, watch: Watch | None, traces: Traces | None, mapped: int) -> None:
    """Carry out orders until the grader closes the line.

    `watch` measures all processes of the room; without it, only elapsed time is limited. `traces`
    tells whether an order has left traces for the next; without it, the room is not used again.
    `mapped` is the address space, in bytes, that is in use before a run.
    """
    send(line, {"status": READY})
    if traces:
        traces.wait()
    while True:
        try:
            order, files, _ = receive(line)
        except LineError:
            return
        program, calls, *functions = files
        turns: int = order["turns"]
        task = Order(program, calls, order["again"], frozenset(order["left_out"]), turns > 0)
        if not turns:
            outcome = _carry_out(task, functions, order["limits"], mapped, watch)
        elif watch and traces and seccomp.supported():
            outcome = _carry_out_in_turns(
                task, functions[0], turns, order["limits"], mapped, watch, traces
            )
        else:
            outcome = Outcome(Status.SHARED)
        for file in files:
            os.close(file)
        clean = traces is not None and not turns and traces.is_clean()
        sizes = [len(result) for result in outcome.results]
        reply = {
            "status": outcome.status,
            "cell": outcome.cell,
            "sizes": sizes,
            "requests": outcome.requests,
            "left": outcome.left,
            "clean": clean,
        }
        send(line, reply, payload=b"".join(outcome.results))


def _carry_out(
    order: Order,
    functions: Sequence[int],
    limits: dict[str, Any],
    mapped: int,
    watch: Watch | None,
) -> Outcome:
    """Have a child carry out `order`, and another process answer for the file of `functions`."""
    answering = [Answering(file, lambda: _limit(limits, mapped)) for file in functions]
    report_read, report_write = os.pipe()
    text_read, text_write = os.pipe()
    gate_line, child_line = socket.socketpair()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            processor = _pin_to_this_cpu()
            lines = [process.line.fileno() for process in answering]
            for line in lines:
                os.write(line, processor)
            seal = install(child_line) if watch and seccomp.supported() else no_seal
            _become_child(order, report_write, text_write, lines, limits, mapped, seal)
            code = 0
        except MemoryError:
            code = 77
        finally:
            os._exit(code)
    os.close(report_write)
    os.close(text_write)
    child_line.close()
    requests: Counter[int] = Counter()
    child_gate = gate(gate_line, watch, [child, *(each.process for each in answering)])
    try:
        outcome = Listener(child, report_read, text_read, limits, watch, child_gate).outcome()
    finally:
        if child_gate:
            child_gate.close()
        os.close(report_read)
        os.close(text_read)
        for process in answering:
            requests.update(process.end())
        _end_all(child, alone=watch is not None)
    return replace(outcome, requests=sorted(requests.items()))


def _carry_out_in_turns(
    order: Order,
    functions: int,
    turns: int,
    limits: dict[str, Any],
    mapped: int,
    watch: Watch,
    traces: Traces,
) -> Outcome:
    """Have a child run the cells, and a copy of it make the calls for each of the `functions`."""
    report_read, report_write = os.pipe()
    text_read, text_write = os.pipe()
    room_line, child_line = socket.socketpair()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            order = replace(order, processor=_pin_to_this_cpu())
            lines = [child_line.fileno()]
            _become_child(order, report_write, text_write, lines, limits, mapped, no_seal)
            code = 0
        finally:
            os._exit(code)
    os.close(report_write)
    os.close(text_write)
    child_line.close()

    def answering(number: int) -> Answering:
        return Answering(functions, lambda: _limit(limits, mapped), number)

    try:
        return Turns(child, room_line, limits, watch, traces).outcome(
            report_read, text_read, turns, answering
        )
    finally:
        room_line.close()
        os.close(report_read)
        os.close(text_read)
        _end_all(child, alone=True)


def _become_child(
    order: Order,
    report: int,
    text: int,
    lines: Sequence[int],
    limits: dict[str, Any],
    mapped: int,
    seal: Seal,
) -> None:
    """In the child: keep only the files of the order and the report, and work within the limits."""
    os.setsid()
    files = (order.program, order.calls, report, *lines)
    program, calls, report, *_ = (os.dup2(file, 100 + at) for at, file in enumerate(files))
    # Not a shared open file: a run could leave flags on it by fcntl, which later runs would find.
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(text, 1)
    os.dup2(text, 2)
    os.closerange(3, 100)  # most importantly the line to the grader
    os.closerange(100 + len(files), 1024)
    _limit(limits, mapped, MOST_DESCRIPTORS if order.turns else 0)
    with os.fdopen(report, "wb", buffering=0) as pipe:
        work(replace(order, program=program, calls=calls), pipe.write, seal)


def _pin_to_this_cpu() -> bytes:
    """Pin this process to the CPU on which it runs, and return the number of that CPU as bytes.

    The kernel started the process on the idlest CPU. An answer runs in a separate thread, in
    freshly forked memory that is copied as it is used, and its functions are answered by a process
    on the same CPU. On several CPUs, many small calls would take twice as long.
    """
    if not hasattr(os, "sched_setaffinity"):
        return ANY_PROCESSOR
    here: int = ctypes.CDLL(None).sched_getcpu()
    os.sched_setaffinity(0, {here})
    return here.to_bytes(PROCESSOR_BYTES, "little")


def _limit(limits: dict[str, Any], mapped: int, descriptors: int = 0) -> None:
    """Limit this process and its children; only the limit of `descriptors` may be raised again."""
    for name, value in (
        (resource.RLIMIT_AS, mapped + limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["descriptors"]),
        (resource.RLIMIT_NPROC, limits["processes"] + ENDED),
        (resource.RLIMIT_CORE, 0),
    ):
        most = max(value, descriptors) if name == resource.RLIMIT_NOFILE else value
        resource.setrlimit(name, (value, most))


def _end_all(child: int, alone: bool) -> None:
    """End the processes that a child has left; if `alone`, end all other processes in the room."""
    while True:
        try:
            if alone:
                os.kill(-1, signal.SIGKILL)
            else:
                os.killpg(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
