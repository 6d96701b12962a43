"""The line between the grader and a sandbox: small JSON messages, and open files with them."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from typing import Any

MOST_BYTES = 2**16
MOST_FILES = 4


class LineError(Exception):
    """Raised if the other end is closed, or sent something that is not a valid message."""


class LateError(LineError):
    """Raised if the deadline passed first."""


def send(
    line: socket.socket, message: dict[str, Any], files: Sequence[int] = (), payload: bytes = b""
) -> None:
    """Send `message` with open `files`, and then the bytes of `payload`. Raises LineError."""
    text = json.dumps(message | {"payload": len(payload)}).encode()
    try:
        socket.send_fds(line, [len(text).to_bytes(4, "little")], files)
        line.sendall(text + payload)
    except OSError as error:
        raise LineError(f"the other end has gone: {error}") from None


def receive(
    line: socket.socket, most: int = 0, deadline: float | None = None
) -> tuple[dict[str, Any], list[int], bytes]:
    """Return the next message, its files, and its payload of at most `most` bytes.

    Raises LineError, and LateError if the whole message has not arrived at `deadline`, a time of
    `time.monotonic`.
    """
    files: list[int] = []
    try:
        _wait(line, deadline)
        head, files, _, _ = socket.recv_fds(line, 4, MOST_FILES)
        head += _read(line, 4 - len(head), deadline) if head else b""
        size = int.from_bytes(head, "little")
        if len(head) < 4 or size > MOST_BYTES:
            raise LineError("the other end has gone" if not head else "no message")
        message = json.loads(_read(line, size, deadline))
        if not isinstance(message, dict):
            raise LineError("no message")
        length = message.pop("payload", None)
        if type(length) is not int or not 0 <= length <= most:
            raise LineError("its payload has another size than was agreed on")
        return message, files, _read(line, length, deadline)
    except TimeoutError:
        raise LateError("it took too long") from None
    except (OSError, ValueError, RecursionError) as error:
        raise LineError(f"no message: {error}") from None


def _read(line: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        _wait(line, deadline)
        part = line.recv(min(size - len(parts), 2**20))
        if not part:
            raise LineError("the other end has gone")
        parts += part
    return bytes(parts)


def _wait(line: socket.socket, deadline: float | None) -> None:
    """Set the timeout of `line` so that the next read ends by the deadline."""
    if deadline is None:
        line.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise LateError("it took too long")
    line.settimeout(left)
