"""The ways in which a run of a program can end."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """ENDED for a run that came to its end, or the reason why it was stopped."""

    ENDED = "ended"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"  # it printed too much
    RESULTS = "results"  # its results are too large
    KILLED = "killed"  # its process ended before it had sent its results
    PROCESSES = "processes"  # it had too many processes
    FILES = "files"  # it wrote too many files
    MALFORMED = "malformed"  # it sent something that is not a valid result
    SEALED = "sealed"  # it tried to start a process after the seal
    UNPREPARED = "unprepared"  # its process ended before any of the student's code ran
    SHARED = "shared"  # its turns could not be isolated from each other
    UNSTEADY = "unsteady"  # its cells behaved differently in a second run
