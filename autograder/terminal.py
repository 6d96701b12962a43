"""Output of the command: lines, tables, progress, and one clear line for every error."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer

from .course.plaintext import printable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.console import RenderableType
    from rich.progress import TaskID
    from rich.text import Text


def plain(value: str) -> Text:
    """Return `value` as text for a table, folded if it is too long."""
    from rich.text import Text

    return Text(printable(value), overflow="fold")


def show(table: RenderableType) -> None:
    """Print a table."""
    from rich.console import Console

    Console().print(table)


def say(line: str) -> None:
    """Print a line."""
    typer.echo(printable(line))


def print_json(document: DataclassInstance) -> None:
    """Print a dataclass as JSON, in ASCII, which every locale and every program can read."""
    import json
    from dataclasses import asdict

    typer.echo(json.dumps(asdict(document), indent=1))


def confirmed(question: str) -> bool:
    """Ask `question` and return whether the answer is yes; no answer, or Ctrl-C, means no."""
    try:
        return typer.confirm(question)
    except typer.Abort:
        typer.echo()
        return False


@contextmanager
def progress(activity: str) -> Iterator[Callable[[int, int, str], None]]:
    """Yield advance(done, total, name), which shows a bar on a terminal, or prints lines."""
    import time

    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console = Console(stderr=True)
    if console.is_terminal:
        with Progress(console=console, transient=True) as bar:
            task: TaskID = bar.add_task(activity, total=None)
            yield lambda done, total, name: bar.update(
                task,
                completed=done,
                total=total,
                description=escape(printable(f"{activity} {name}")),
            )
        return
    last = 0.0

    def line(done: int, total: int, name: str) -> None:
        nonlocal last
        if done == total or time.monotonic() - last >= 1:
            last = time.monotonic()
            typer.echo(printable(f"{activity} {done} of {total}: {name}"), err=True)

    yield line


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an error with a readable message into a line on stderr and exit code 1.

    All exception classes of this package and OSError have such messages. Any other exception is a
    bug in this package and keeps its traceback.
    """
    try:
        yield
    except BrokenPipeError:  # whoever read the output has enough, as in `autograder ... | head -1`
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)  # or Python would complain when it closes the output
        raise typer.Exit(1) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        fail(f"{place}{error.strerror or error}. {_ADVICE.get(error.errno or 0, _CHECK)}")
    except Exception as error:
        if not type(error).__module__.startswith(f"{__package__}."):
            raise
        fail(str(error))


def fail(line: str) -> NoReturn:
    """Print a line on stderr and end with exit code 1."""
    typer.echo(f"autograder: {printable(line)}", err=True)
    raise typer.Exit(1)


_CHECK = "Check the path and its permissions."
_ADVICE = {
    errno.ENOSPC: "Free some disk space, then run the same command again. Nothing is lost.",
    errno.EDQUOT: "Your quota is used up. Free some space, then run the same command again.",
    errno.EROFS: "Make the disk writable, or work on a copy of the course.",
}
"""Advice for each error of the operating system that permissions do not cause."""
