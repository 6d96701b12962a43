"""Start the command `autograder`, or say in one line which package it lacks."""

from __future__ import annotations

import signal
import sys

OURS = ("autograder", "solutions")
EXTRAS = {"torch": "torch", "distributed": "cluster", "psycopg": "postgresql"}


def main() -> None:
    """Run the command line. Where a package is missing, exit with the line that installs it."""
    # A shell starts what it runs in the background with SIGINT ignored, and Python leaves it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # jsonschema, which nbformat imports, offers to check a kind of address that no notebook has;
    # for that it would compile a grammar, for a second or two.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    try:
        from .cli import app

        app()
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if not name or name in OURS:
            raise  # a mistake of ours keeps its traceback
        extra = EXTRAS.get(name, "grading")
        sys.exit(
            f"autograder: the package {name} is missing. In the folder of the course, type: "
            f"pip install --constraint requirements.txt --editable '.[{extra}]'"
        )


if __name__ == "__main__":
    main()
