"""Start the command `autograder`, or say in one line which package it lacks."""

from __future__ import annotations

import os
import sys

OURS = ("autograder", "solutions")
EXTRAS = {"torch": "torch", "distributed": "cluster", "psycopg": "postgresql"}


def main() -> None:
    """Run the command line. Where a package is missing, exit with the line that installs it."""
    import signal

    _speak_utf8()
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
        command = f"pip install --constraint requirements.txt --editable './autograder[{extra}]'"
        if extra == "torch":
            from .notebook import TORCH_INDEX

            command += f" --extra-index-url {TORCH_INDEX}"
        sys.exit(
            f"autograder: the package {name} is missing. In the folder of the course, type: "
            f"{command}"
        )


def _speak_utf8() -> None:
    """Begin again in Python's UTF-8 mode, where the locale has another encoding.

    A student's name would else be another one in each locale, and have no way to the screen.
    """
    if sys.getfilesystemencoding() != "utf-8":
        os.environ["PYTHONUTF8"] = "1"  # for the processes that this one starts
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


if __name__ == "__main__":
    if not sys.flags.safe_path:  # no file of the working folder takes the place of a module
        sys.path.append(sys.path.pop(0))
    main()
