"""Start the command `autograder`, or report in one line which package is missing."""

from __future__ import annotations

import os
import sys

OWN_PACKAGES = ("autograder", "solutions")
EXTRAS = {"torch": "torch", "distributed": "cluster", "psycopg": "postgresql"}


def main() -> None:
    """Run the command line. If a package is missing, exit with the command that installs it."""
    import signal

    _use_utf8()
    # A shell starts background commands with SIGINT ignored, and Python does not change that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # nbformat imports jsonschema, which would spend a second or two on compiling a grammar for a
    # kind of address that notebooks do not contain.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    try:
        from .cli import app

        app()
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if not name or name in OWN_PACKAGES:
            raise  # a bug in this package keeps its traceback
        extra = EXTRAS.get(name, "grading")
        command = f"pip install --constraint requirements.txt --editable './autograder[{extra}]'"
        if extra == "torch":
            from .notebook import TORCH_INDEX

            command += f" --extra-index-url {TORCH_INDEX}"
        sys.exit(
            f"autograder: the package {name} is missing. In the folder of the course, type: "
            f"{command}"
        )


def _use_utf8() -> None:
    """Restart in Python's UTF-8 mode if the locale has another encoding.

    Otherwise a student's name would differ between locales and could not be printed.
    """
    if sys.getfilesystemencoding() != "utf-8":
        os.environ["PYTHONUTF8"] = "1"  # for child processes
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


if __name__ == "__main__":
    if not sys.flags.safe_path:  # a file in the working directory must not shadow a module
        sys.path.append(sys.path.pop(0))
    main()
