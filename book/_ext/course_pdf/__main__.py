"""Print the built site as one PDF: `make pdf`."""

import time
from pathlib import Path

from .outline import book
from .printing import print_book

BUILD = Path("_build")
TARGET = BUILD / "attention-from-the-bottleneck-up.pdf"


def main() -> None:
    """Print it, and say where it is."""
    begun = time.monotonic()
    print(
        "Printing the book: its formulas are drawn, and it is printed twice ...",
        flush=True,
    )
    pages = print_book(BUILD / "html", book(Path.cwd()), TARGET)
    print(f"{TARGET}: {pages} pages, in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
