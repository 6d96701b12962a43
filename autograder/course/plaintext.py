"""Make text from outside safe to show: in a terminal, a log line, a comment or a CSV cell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MOST_NAMES = 8
"""The largest number of names that a line lists."""


def printable(value: str) -> str:
    """Return `value` on one line, with every control and format character escaped as \\u....

    That covers escape sequences, line breaks, NUL, right-to-left overrides and lone surrogates.
    """
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in _CONTROL else char for char in value
    )


def first_few(names: Sequence[str]) -> str:
    """Return the first MOST_NAMES of `names`, and how many more there are."""
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


_CONTROL = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # Unicode categories


def markdown_escape(value: str) -> str:
    """Return Markdown that shows `value` literally: no markup, no HTML, a paragraph per line."""
    lines = [_PUNCTUATION.sub(lambda m: f"&#{ord(m[0])};", line) for line in value.splitlines()]
    return "\n\n".join(lines)


_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


FORMULA = re.compile(r"""(?:^|[;,|"'])[\s']*(?=[=+@\u2212\uff1d\uff0b\uff0d\uff20-])""")
"""Matches positions where a spreadsheet may start a formula: before a sign, at the start of the
text or after a separator. Blanks in between are skipped, since some spreadsheets drop them.

The separator that a spreadsheet uses depends on the country, and need not be the CSV file's.
"""


def spreadsheet_text(value: str | None) -> str:
    """Return `value` with formulas quoted for spreadsheets; different values stay different."""
    return FORMULA.sub(lambda match: f"{match[0]}'", printable(value or ""))
