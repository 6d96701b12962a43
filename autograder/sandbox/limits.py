"""What the sandbox allows, in one place."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """Limits of one run: a process that runs the cells of a submission and then makes calls.

    `seconds` (of a processor, or of doing nothing) bounds the calls of one exercise, at the least;
    `cell_seconds` one cell, `cells_seconds` all of them. `memory` (bytes) bounds what all processes
    of the run add to what the sandbox holds itself; `output` (bytes) what they print; `file`
    (bytes) one file and each private folder; `processes` how many they are; `answer` (bytes) the
    results of one exercise.
    """

    seconds: float = 2
    cell_seconds: float = 10
    cells_seconds: float = 30
    memory: int = 1024 * MIB
    output: int = 1 * MIB
    file: int = 64 * MIB
    processes: int = 32
    descriptors: int = 64
    answer: int = 20 * MIB


LIMITS = Limits()
