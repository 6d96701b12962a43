"""Report the progress of a long computation to the terminal, never to the page."""

import os
import sys
from pathlib import Path


def say(message: str) -> None:
    """Show one line of progress.

    The build sets the environment variable COURSE_PROGRESS to a file, and prints the lines of that
    file. Without the variable, the line goes to standard error if that is a terminal; otherwise it
    is dropped.
    """
    path = os.environ.get("COURSE_PROGRESS")
    if path:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(message + "\n")
    elif sys.__stderr__ is not None and sys.__stderr__.isatty():
        print(message, file=sys.__stderr__)
