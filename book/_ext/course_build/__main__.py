"""Build the book for people: `python -m book._ext.course_build`, in the project's folder.

Pages that are out of date are executed and kept; then Jupyter Book writes the site. A line says how
far that is. What Sphinx prints goes to `_build/book.log`; where it fails, the end of that is
shown. With `--check` nothing is built: every page that is out of date is named.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from . import LOOKED
from .book import Book
from .chapters import BookError
from .executing import execute
from .progress import Screen, span
from .watching import watched

OPTIONS = ("--config", "_config.yml", "--path-output", ".", "-W", "-n", "--keep-going")
LOG = Path("_build", "book.log")
ENVIRONMENT = Path("_build", ".doctrees", "environment.pickle")
LINES = 30

COLOUR = re.compile(r"\x1b\[[\d;]*[mK]")
CHAIN = "The above exception was the direct cause of the following exception:"
PROBLEM = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b")


def write_site() -> int:
    """Let Jupyter Book write the site; return its exit code. What it prints goes to the log.

    It gets a session of its own: a Ctrl+C reaches this process alone, which then ends it.
    """
    program = Path(sys.executable).with_name("jupyter-book")
    process = subprocess.Popen(
        [program, "build", "book", *OPTIONS],
        env=os.environ | {LOOKED: "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        with LOG.open("a", encoding="utf-8") as log:
            for line in process.stdout:
                log.write(COLOUR.sub("", line))
        return process.wait()
    finally:
        process.kill()


def end_of_log() -> list[str]:
    """Return the last lines of the log, and before them the problems that they do not show."""
    text = LOG.read_text(encoding="utf-8")
    cause, _, consequence = text.rpartition(CHAIN)
    if "jupyter_book" in consequence:  # it only says that Sphinx failed
        text = cause
    lines = [line for line in text.splitlines() if line.strip()]
    problems = [line for line in lines[:-LINES] if PROBLEM.search(line)]
    gap = ["..."] if problems else []
    return [*problems[-LINES:], *gap, *lines[-LINES:]]


def build(screen: Screen) -> int:
    """Execute what is out of date, keep it, and write the site; return 0 if all went well."""
    LOG.write_text("", encoding="utf-8")
    started = time.monotonic()
    book = Book(Path.cwd())
    executed = _execute(book, screen)
    screen.show("writing the pages")
    code = write_site()
    if code:
        # Sphinx repeats no warning of a page that it does not read again: let it read all of them.
        ENVIRONMENT.unlink(missing_ok=True)
        screen.say("\n".join([*end_of_log(), f"The book was not built. All that was said: {LOG}"]))
        return code
    took = span(time.monotonic() - started)
    screen.say(f"The book is built in {took}; chapters executed: {executed}.")
    return 0


def _execute(book: Book, screen: Screen) -> int:
    """Execute and keep what is out of date; return how many pages that were.

    Raises BookError at the end if pages failed.
    """
    failures, count = [], 0
    for made in execute(book, screen):
        if made.now:
            book.keep(made.name, made.now)
            count += 1
        elif made.error:
            failures.append(made.error)
    if failures:
        details = [error.detail for error in failures if error.detail]
        raise BookError("\n".join([*details, "", *map(str, failures)]))
    return count


def check() -> int:
    """Name every page that is out of date, or whose outputs are damaged; return 1 if any is."""
    try:
        book = Book(Path.cwd())
        problems = book.problems()
    except BookError as error:
        problems = [str(error)]
    print("\n".join(problems) or f"All {len(book.chapters)} pages are as they were executed.")
    return 1 if problems else 0


def main() -> int:
    """Build the book; return 0 if it is built without a warning."""
    if sys.argv[1:] == ["--check"]:
        return check()
    LOG.parent.mkdir(exist_ok=True)
    return watched(
        build, "Stopped. The pages that were done are kept; the next build goes on from there."
    )


if __name__ == "__main__":
    sys.exit(main())
