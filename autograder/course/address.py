"""The address of the book: where students of a course read its pages."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

SCHEMES = ("https", "http", "file")
EXAMPLE = "https://example.org/course"


class AddressError(Exception):
    """Raised for text that is not the address of a book; the message says what to write."""


def book_address(text: object) -> str | None:
    """Return the address to which the names of pages are added; None if `text` is empty.

    `text` may also be the address of a page as a browser shows it, with the name of the page and a
    fragment. Raises AddressError.
    """
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise AddressError(_not_an_address(text))
    try:
        parts = urlsplit(text.strip())
    except ValueError:  # unbalanced brackets, for instance
        raise AddressError(_not_an_address(text)) from None
    if parts.scheme not in SCHEMES or not (parts.netloc or (parts.scheme == "file" and parts.path)):
        raise AddressError(_not_an_address(text))
    folder, _, page = parts.path.rpartition("/")
    path = folder if page.endswith(".html") else parts.path.rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _not_an_address(value: object) -> str:
    return (
        f"{value!r} is not the address of a book. Write it as a browser shows it, such as "
        f"{EXAMPLE}. A course has it as `c.CoursePackage.book` in its "
        "nbgrader_config.py; without it, feedback names the sections and has no links."
    )
