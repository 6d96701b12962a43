"""How a run of a program ends: by itself, or by what."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Whether a run came to its end, or what ended it."""

    ENDED = "ended"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"  # it printed too much
    RESULTS = "results"  # they are too large
    KILLED = "killed"  # its process ended before it had answered
    PROCESSES = "processes"
    FILES = "files"
    MALFORMED = "malformed"  # what it sent is no result
    SEALED = "sealed"  # something forbidden ran in a process that it had left
    UNPREPARED = "unprepared"  # its process ended before anything of the student's ran
    SHARED = "shared"  # what it was to do in turns cannot be told apart from turn to turn
    UNSTEADY = "unsteady"  # the cells ran otherwise a second time
