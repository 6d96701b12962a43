"""The options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CourseOption = Annotated[  # readable=False: the error message of Course.open is clearer
    Path, typer.Option("--course", help="The course directory.", readable=False)
]
Assignments = Annotated[list[str] | None, typer.Argument(metavar="[ASSIGNMENT ...]")]
Assignment = Annotated[str | None, typer.Argument(metavar="[ASSIGNMENT]")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON, for programs.")]
Package = Annotated[
    str, typer.Option(metavar="NAME", help="The Python package that declares the exercises.")
]
