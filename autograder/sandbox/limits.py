"""All limits of the sandbox."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """Limits of a run: a process that runs the cells of a submission and then makes calls.

    `seconds` (processor time or idle time) is the smallest time limit for the calls of an exercise;
    `cell_seconds` is the limit of a cell, `cells_seconds` of all cells. In bytes: `memory` is
    what all processes of the run may use in addition to the sandbox itself, `output` what they may
    print, `file` the size of a file and of each private folder, `answer` the results of one
    exercise. `processes` and `descriptors` are the numbers of processes and file descriptors.
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
