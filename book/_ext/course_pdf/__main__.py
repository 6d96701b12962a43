"""Print the built site as a PDF: `make pdf`."""

import time
from pathlib import Path

from .outline import book
from .printing import print_book

BUILD = Path("_build")
TARGET = BUILD / "attention-from-the-bottleneck-up.pdf"


def main() -> None:
    """Print the book, and tell where the PDF is."""
    started = time.monotonic()
    print("Printing the book, at least twice to get its page numbers right ...", flush=True)
    pages = print_book(BUILD / "html", book(Path.cwd()), TARGET)
    print(f"{TARGET}: {pages} pages, in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
