"""The first process of a room: takes orders from the grader, and lets a child carry out each.

No code of the student's runs in it. Each order gets a fresh child, so that nothing of one run
reaches the next: when a child has ended, or a limit has ended it, whatever it left behind goes. An
order for several turns (`turns`) gets one child, and a copy of that for each turn.
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
from .gate import Seal, gate, no_seal, tell
from .line import LineError, receive, send
from .listening import Listener, Outcome
from .original import MOST_DESCRIPTORS
from .status import Status
from .traces import Traces
from .turns import Turns
from .usage import Watch

READY = "ready"  # the first message: the room stands, and nothing of the student's has run yet

ENDED = 224
"""So many processes may have ended that nobody waits for. The kernel counts them, too; `usage` does
not, and so ends a run whose living ones are too many."""


def serve(line: socket.socket, watch: Watch | None, traces: Traces | None, mapped: int) -> None:
    """Carry out orders until the grader closes the line.

    `watch` looks after all processes of the room; without it only the clock does. `traces` tells
    whether an order has left something for the next; without it the room is not used again.
    `mapped` is the address space, in bytes, that a run finds in use.
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
        what = Order(program, calls, order["again"], frozenset(order["left_out"]), turns > 0)
        if not turns:
            outcome = _carry_out(what, functions, order["limits"], mapped, watch)
        elif watch and traces and seccomp.supported():
            outcome = _carry_out_in_turns(
                what, functions[0], turns, order["limits"], mapped, watch, traces
            )
        else:
            outcome = Outcome(Status.SHARED)
        for file in files:
            os.close(file)
        clean = traces is not None and not turns and traces.none()
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
    """Let a child carry out `order`, and another process answer for the file of `functions`."""
    answering = [Answering(file, lambda: _limit(limits, mapped)) for file in functions]
    said_read, said_write = os.pipe()
    text_read, text_write = os.pipe()
    told, telling = socket.socketpair()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            processor = _stay_on_this_processor()
            asking = [one.line.fileno() for one in answering]
            for line in asking:
                os.write(line, processor)
            seal = tell(telling) if watch and seccomp.supported() else no_seal
            _become_child(order, said_write, text_write, asking, limits, mapped, seal)
            code = 0
        except MemoryError:
            code = 77
        finally:
            os._exit(code)
    os.close(said_write)
    os.close(text_write)
    telling.close()
    requests: Counter[int] = Counter()
    asked_at = gate(told, watch, [child, *(one.process for one in answering)])
    try:
        outcome = Listener(child, said_read, text_read, limits, watch, asked_at).outcome()
    finally:
        if asked_at:
            asked_at.close()
        os.close(said_read)
        os.close(text_read)
        for one in answering:
            requests.update(one.end())
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
    """Let a child run the cells, and a copy of it make the calls for each of the `functions`."""
    said_read, said_write = os.pipe()
    text_read, text_write = os.pipe()
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            where = replace(order, processor=_stay_on_this_processor())
            line = [theirs.fileno()]
            _become_child(where, said_write, text_write, line, limits, mapped, no_seal)
            code = 0
        finally:
            os._exit(code)
    os.close(said_write)
    os.close(text_write)
    theirs.close()

    def answering(number: int) -> Answering:
        return Answering(functions, lambda: _limit(limits, mapped), number)

    try:
        return Turns(child, ours, limits, watch, traces).outcome(
            said_read, text_read, turns, answering
        )
    finally:
        ours.close()
        os.close(said_read)
        os.close(text_read)
        _end_all(child, alone=True)


def _become_child(
    order: Order,
    said: int,
    text: int,
    asking: Sequence[int],
    limits: dict[str, Any],
    mapped: int,
    seal: Seal,
) -> None:
    """In the child: keep the way to report and what was ordered, and work within the limits."""
    os.setsid()
    files = (order.program, order.calls, said, *asking)
    program, calls, said, *_ = (os.dup2(file, 100 + at) for at, file in enumerate(files))
    # An open file of its own: others would find what a run has set of a shared one, by fcntl.
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(text, 1)
    os.dup2(text, 2)
    os.closerange(3, 100)  # above all the line to the grader
    os.closerange(100 + len(files), 1024)
    _limit(limits, mapped, MOST_DESCRIPTORS if order.turns else 0)
    with os.fdopen(said, "wb", buffering=0) as report:
        work(replace(order, program=program, calls=calls), report.write, seal)


def _stay_on_this_processor() -> bytes:
    """Keep this process where it was begun: on the idlest processor. Return that, as bytes.

    An answer runs in a thread of its own, in memory that was just forked and is copied as it is
    used; what answers for a function goes to the same processor. On several at a time, many small
    calls take twice as long.
    """
    if not hasattr(os, "sched_setaffinity"):
        return ANY_PROCESSOR
    here: int = ctypes.CDLL(None).sched_getcpu()
    os.sched_setaffinity(0, {here})
    return here.to_bytes(PROCESSOR_BYTES, "little")


def _limit(limits: dict[str, Any], mapped: int, descriptors: int = 0) -> None:
    """Limit this process and its children, which may raise none but that of `descriptors`."""
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
    """End what is left of a child: everything else in the room, if it is ours `alone`."""
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
