"""Simulate a term and print how long each command took.

python -m tests.term --students 300 --folder FOLDER
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from pathlib import Path

from exercises import COURSE

from .play import Term


def main() -> None:
    """Simulate the term with all assignments, or with the named ones."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--assignments", nargs="+", choices=list(COURSE), default=list(COURSE))
    parser.add_argument("--folder", type=Path, help="keep the course there")
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="term-"))
    started = time.monotonic()
    names = [name for name in COURSE if name in chosen.assignments]
    term = Term(folder, names, chosen.students, lambda line: print(line, flush=True))
    term.play()
    print(f"{len(names)} assignments, {chosen.students} students, {platform.platform()}")
    for name, seconds in term.course.seconds.items():
        print(f"{name}: {seconds:.0f} s in all")
    took = (time.monotonic() - started) / 60
    print(f"{term.numbers} numbers compared: 0 differences. {took:.0f} minutes, in {folder}")


if __name__ == "__main__":
    main()
