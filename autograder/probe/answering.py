"""The process that has the functions among the arguments; no code of the student's runs in it."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from typing import Any

import numpy as np

from . import wire
from .asking import packed, read, unpacked, write
from .calling import attempt
from .values import Raised

PROCESSOR_BYTES = 4
ANY_PROCESSOR = b"\xff" * PROCESSOR_BYTES

MOST_COUNTED = 2**15
"""So many different requests are counted: what a pipe of the kernel holds."""


class Answering:
    """The process, and what the room keeps of it: `line`, on which a child may ask."""

    def __init__(self, functions: int, prepare: Callable[[], Any], only: int | None = None) -> None:
        """`functions` is an open file with a list of them; the process first does `prepare`.

        Each is asked for by its number; or there is `only` one of them, whose number is then 0.
        """
        self.line, theirs = socket.socketpair()
        self._counted, counting = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                os.setsid()
                self.line.close()
                prepare()
                _answer(theirs.fileno(), functions, counting, only)
            finally:
                os._exit(0)
        theirs.close()
        os.close(counting)

    def end(self) -> list[int]:
        """End it; the numbers of the functions asked, one for each different request."""
        os.kill(self.process, signal.SIGKILL)
        with self.line, os.fdopen(self._counted, "rb") as counted:
            numbers: list[int] = np.frombuffer(counted.read(), "<u2").tolist()
        return numbers


def _answer(line: int, functions: int, counting: int, only: int | None) -> None:
    """Answer on `line` until nobody holds its other end.

    First comes the number of the processor to run on, PROCESSOR_BYTES of it, which are all ones if
    that does not matter. For each request that has not been made before, its function's number is
    written to `counting`.
    """
    sources = wire.decode(os.pread(functions, os.fstat(functions).st_size, 0))
    if only is not None:
        sources = [sources[only]]
    processor = os.read(line, PROCESSOR_BYTES)
    if processor != ANY_PROCESSOR:
        os.sched_setaffinity(0, [int.from_bytes(processor, "little")])
    loaded: dict[int, Callable[..., Any]] = {}
    known: set[int] = set()
    while (message := read(line)) is not None:
        number, arguments, keywords = unpacked(message)
        if number not in loaded:
            loaded[number] = sources[number].load()
        if hash(message) not in known and len(known) < MOST_COUNTED:
            known.add(hash(message))
            os.write(counting, number.to_bytes(2, "little"))
        value = attempt(loaded[number], *arguments, **keywords)
        if isinstance(value, Raised):
            write(line, packed((False, (value.type_name, value.message))))
        else:
            write(line, packed((True, value)))
