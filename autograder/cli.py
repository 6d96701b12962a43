"""The command `autograder`. Each command imports what it needs when it runs; `--help` is quick."""

from __future__ import annotations

import typer

from .commands.assignments import check, prove, release
from .commands.courses import doctor, init, share
from .commands.grading import collect, grade
from .commands.results import export, feedback, report
from .commands.students import erase, remove

app = typer.Typer(
    help="Release assignments, judge answers, grade a class.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)

COMMANDS = (
    init,
    release,
    prove,
    check,
    grade,
    collect,
    feedback,
    export,
    report,
    remove,
    erase,
    share,
    doctor,
)
"""In the order in which `--help` lists them."""

for command in COMMANDS:
    app.command()(command)
