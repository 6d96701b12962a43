"""Build the book from the terminal: `python -m book._ext.course_build`, in the project's folder.

Pages that are out of date are executed and stored; then Jupyter Book writes the site. A line shows
the progress. The output of Sphinx goes to `_build/book.log`; if Sphinx fails, the end of that log
is shown. With `--check` nothing is built, and every page that is out of date is listed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from . import CURRENT
from .book import Book
from .chapters import BookError
from .executing import execute
from .progress import Screen, span
from .settings import first_on_the_path
from .watching import run_command

OPTIONS = ("--config", "_config.yml", "--path-output", ".", "-W", "-n", "--keep-going")
LOG = Path("_build", "book.log")
ENVIRONMENT = Path("_build", ".doctrees", "environment.pickle")
WRITING = Path("_build", "book.writing")
"""A file that exists while the site is being written, and afterwards unless that succeeded.

If it exists at the start, Sphinx must read all pages: it does not repeat the warnings of a page
that it does not read again.
"""
LINES = 30
"""The number of lines of the log that are shown after a failure."""

COLOUR = re.compile(r"\x1b\[[\d;]*[mK]")
CHAIN = "The above exception was the direct cause of the following exception:"
PROBLEM = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b")


def write_site() -> int:
    """Run Jupyter Book to write the site, with its output in the log; return its exit code.

    It runs in a separate session, so that Ctrl+C only reaches this process, which then kills it.
    """
    program = Path(sys.executable).with_name("jupyter-book")
    if WRITING.exists():  # after a stop, Sphinx would believe that it had written every page
        ENVIRONMENT.unlink(missing_ok=True)
    WRITING.touch()
    process = subprocess.Popen(
        [program, "build", "book", *OPTIONS],
        env=os.environ | {CURRENT: "1", "PYTHONPATH": first_on_the_path(Path.cwd())},
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
        code = process.wait()
        if code == 0:
            WRITING.unlink()
        return code
    finally:
        process.kill()
        process.wait()


def end_of_log() -> list[str]:
    """Return the last lines of the log, preceded by earlier lines that report problems."""
    text = LOG.read_text(encoding="utf-8")
    cause, _, consequence = text.rpartition(CHAIN)
    if "jupyter_book" in consequence:  # Jupyter Book's exception only says that Sphinx failed
        text = cause
    lines = [line for line in text.splitlines() if line.strip()]
    problems = [line for line in lines[:-LINES] if PROBLEM.search(line)]
    gap = ["..."] if problems else []
    return [*problems[-LINES:], *gap, *lines[-LINES:]]


def build(screen: Screen) -> int:
    """Execute and store the pages that are out of date, and write the site; return 0 on success."""
    LOG.write_text("", encoding="utf-8")
    started = time.monotonic()
    book = Book(Path.cwd())
    executed = _execute(book, screen)
    screen.show("writing the pages")
    code = write_site()
    if code:
        failure = f"The book was not built. The full output of Sphinx is in {LOG}"
        screen.say("\n".join([*end_of_log(), failure]))
        return code
    duration = span(time.monotonic() - started)
    screen.say(f"The book was built in {duration}; chapters executed: {executed}.")
    return 0


def _execute(book: Book, screen: Screen) -> int:
    """Execute and store the pages that are out of date; return their number.

    Raises BookError at the end if pages failed.
    """
    failures, count = [], 0
    for outcome in execute(book, screen):
        if outcome.now:
            book.store(outcome.name, outcome.now)
            count += 1
        elif outcome.error:
            failures.append(outcome.error)
    if failures:
        details = [error.detail for error in failures if error.detail]
        raise BookError("\n".join([*details, "", *map(str, failures)]))
    return count


def check(screen: Screen) -> int:
    """List every page that is out of date or has damaged outputs; return 1 if there is one."""
    book = Book(Path.cwd())
    problems = book.problems()
    all_right = f"All {len(book.chapters)} pages are up to date."
    screen.say("\n".join(problems) or all_right)
    return 1 if problems else 0


def main() -> int:
    """Build or check the book; return 0 if there was no warning and no page out of date."""
    parser = argparse.ArgumentParser(
        prog="python -m book._ext.course_build",
        description="Execute the pages that are out of date, and write the site.",
    )
    parser.add_argument("--check", action="store_true", help="only list the pages out of date")
    if parser.parse_args().check:
        return run_command(check, "Stopped.")
    LOG.parent.mkdir(exist_ok=True)
    return run_command(
        build,
        "Stopped. The finished pages are stored, and the next build continues from there.",
    )


if __name__ == "__main__":
    sys.exit(main())
