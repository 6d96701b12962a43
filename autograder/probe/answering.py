"""The process that runs the functions among the arguments; it never runs the student's code."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from typing import Any

import numpy as np

from . import wire
from .asking import pack, read, unpack, write
from .calling import attempt
from .values import Raised

PROCESSOR_BYTES = 4
ANY_PROCESSOR = b"\xff" * PROCESSOR_BYTES

MOST_COUNTED = 2**15
"""At most this many different requests are counted, because a kernel pipe holds no more."""


class Answering:
    """The process, and the end of its `line` that the room gives to a child for its requests."""

    def __init__(self, functions: int, prepare: Callable[[], Any], only: int | None = None) -> None:
        """Fork the process, which first calls `prepare`.

        `functions` is an open file with a list of functions, which a request names by number. With
        `only`, the process serves just the function of that number, under the number 0.
        """
        self.line, own_line = socket.socketpair()
        self._counted, counting = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.setsid()
                self.line.close()
                prepare()
                _answer(own_line.fileno(), functions, counting, only)
            finally:
                os._exit(0)
        own_line.close()
        os.close(counting)

    def end(self) -> list[int]:
        """Kill the process; return a function's number for each different request it answered."""
        os.kill(self.process, signal.SIGKILL)
        with self.line, os.fdopen(self._counted, "rb") as counted:
            numbers: list[int] = np.frombuffer(counted.read(), "<u2").tolist()
        return numbers


def _answer(line: int, functions: int, counting: int, only: int | None) -> None:
    """Answer on `line` until its other end is closed everywhere.

    The first message is the number of the processor to run on, PROCESSOR_BYTES long, or all ones if
    that does not matter. For each request that was not made before, the number of its function is
    written to `counting`.
    """
    sources = wire.decode(os.pread(functions, os.fstat(functions).st_size, 0))
    if only is not None:
        sources = [sources[only]]
    processor = os.read(line, PROCESSOR_BYTES)
    if processor != ANY_PROCESSOR:
        os.sched_setaffinity(0, [int.from_bytes(processor, "little")])
    loaded: dict[int, Callable[..., Any]] = {}
    counted: set[int] = set()
    while (message := read(line)) is not None:
        number, arguments, keywords = unpack(message)
        if number not in loaded:
            loaded[number] = sources[number].load()
        if hash(message) not in counted and len(counted) < MOST_COUNTED:
            counted.add(hash(message))
            os.write(counting, number.to_bytes(2, "little"))
        value = attempt(loaded[number], *arguments, **keywords)
        if isinstance(value, Raised):
            write(line, pack((False, (value.type_name, value.message))))
        else:
            write(line, pack((True, value)))
