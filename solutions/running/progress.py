"""Say how far a long computation is: to the person at the terminal, never into the page."""

import os
import sys
from pathlib import Path


def say(message: str) -> None:
    """Show one line of progress.

    A build names a file in the environment variable COURSE_PROGRESS and prints what arrives there;
    without it the line goes to standard error if that is a terminal, and nowhere otherwise.
    """
    path = os.environ.get("COURSE_PROGRESS")
    if path:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(message + "\n")
    elif sys.__stderr__ is not None and sys.__stderr__.isatty():
        print(message, file=sys.__stderr__)
