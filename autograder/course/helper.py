"""Ask a module that works on students' texts in a process of its own, since it may never end.

The thread that asks starts the process, writes a line of JSON to its stdin, reads one from its
stdout, and may kill it. The module limits its own memory and processor time.
"""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any


class Helper:
    """The process that runs `module`. It is started when needed, and restarted after its end.

    An answer may have `most` bytes, and take `seconds` of wall-clock time: generous, because the
    machine may be busy.
    """

    def __init__(self, module: str, most: int, seconds: float) -> None:
        """Remember what to run; nothing is started yet."""
        self._module, self._most, self._seconds = module, most, seconds
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a request, or None if the process failed or took too long."""
        process = self._process
        if process is None or process.poll() is not None:
            self.end()
            command = [sys.executable, "-m", self._module]
            process = self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            answer: dict[str, Any] | None = json.loads(self._line(process))
        except (OSError, ValueError):
            self.end()
            return None
        return answer

    def end(self) -> None:
        """Kill the process, if it was started."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None

    def _line(self, process: subprocess.Popen[bytes]) -> bytes:
        """Return the next line of output, incomplete if the process ends or exceeds a limit."""
        assert process.stdout is not None
        deadline = time.monotonic() + self._seconds
        output = bytearray()
        while not output.endswith(b"\n") and len(output) < self._most:
            remaining = deadline - time.monotonic()
            ready, _, _ = select.select([process.stdout], [], [], max(remaining, 0))
            piece = process.stdout.read1(2**20) if ready else b""  # type: ignore[attr-defined]
            if not piece:
                break
            output += piece
        return bytes(output)
