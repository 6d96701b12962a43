"""Build the book for people: `python -m book._ext.course_build`, in the project's folder.

One line says how far the build is. What Sphinx and Jupyter print goes to `_build/book.log`; where
the build fails, the end of that is shown.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from rich.console import Console

from .events import PIPE
from .line import Progress, Screen, span

# `--all`, because Sphinx repeats no warning of a page that it does not read again.
OPTIONS = ("--config", "_config.yml", "--path-output", ".", "-W", "-n", "--keep-going", "--all")
LOG = Path("_build", "book.log")
LINES = 30
INTERRUPTED = 130

COLOUR = re.compile(r"\x1b\[[\d;]*[mK]")
CHAIN = "The above exception was the direct cause of the following exception:"
PROBLEM = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b")


def start(pipe: int) -> subprocess.Popen[str]:
    """Start Jupyter Book, which announces its progress through `pipe`.

    It gets a session of its own: a Ctrl+C reaches it once, from here, and never amid its cleaning.
    """
    program = Path(sys.executable).with_name("jupyter-book")
    return subprocess.Popen(
        [program, "build", "book", *OPTIONS],
        env=os.environ | {PIPE: str(pipe), "PYTHONUNBUFFERED": "1"},
        pass_fds=(pipe,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )


def build(screen: Screen) -> int:
    """Build the book and show how far it is; return the exit code of Jupyter Book."""
    receiver, sender = os.pipe()
    process = start(sender)
    os.close(sender)
    watcher = threading.Thread(target=watch, args=(receiver, screen), daemon=True)
    watcher.start()
    try:
        return copy(process)
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)  # it stops its kernels before it ends
        copy(process)
        raise
    finally:
        watcher.join()


def watch(receiver: int, screen: Screen) -> None:
    """Show each event until the build closes the pipe."""
    with os.fdopen(receiver, encoding="utf-8") as events:
        for line in events:
            screen.update(**json.loads(line))


def copy(process: subprocess.Popen[str]) -> int:
    """Append what the process prints to the log until it ends; return its exit code."""
    assert process.stdout is not None
    with LOG.open("a", encoding="utf-8") as log:
        for line in process.stdout:
            log.write(COLOUR.sub("", line))
    return process.wait()


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


def main() -> int:
    """Build the book; return 0 if it is built without a warning."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("", encoding="utf-8")
    started = time.monotonic()
    try:
        with Screen(Console(), Progress()) as screen:
            code = build(screen)
    except KeyboardInterrupt:
        screen.say(
            "Stopped. The chapters that were done are kept; the next build goes on from there."
        )
        return INTERRUPTED
    if code:
        screen.say("\n".join([*end_of_log(), f"The book was not built. All that was said: {LOG}"]))
    else:
        count, time_taken = screen.progress.executed, span(time.monotonic() - started)
        screen.say(f"The book is built in {time_taken}; chapters executed: {count}.")
    return code


if __name__ == "__main__":
    sys.exit(main())
