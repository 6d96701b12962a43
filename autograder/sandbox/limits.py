"""What the sandbox allows, in one place."""

from __future__ import annotations

from dataclasses import asdict, dataclass

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """Limits of the child that judges one exercise, and of the whole sandbox.

    `seconds` bounds the cells and the calls of one exercise, each; `memory` (bytes) the address
    space that they add to what the runner has mapped itself; `output` (bytes) what it prints;
    `file` (bytes) one file and the private disk; `answer` (bytes) all that comes back from one
    sandbox.
    """

    seconds: int = 10
    memory: int = 1024 * MIB
    output: int = 1 * MIB
    file: int = 64 * MIB
    processes: int = 64
    descriptors: int = 128
    answer: int = 256 * MIB

    def for_runner(self) -> dict[str, int]:
        """The part that the runner inside the sandbox applies, as plain data."""
        return {name: value for name, value in asdict(self).items() if name != "answer"}


LIMITS = Limits()
