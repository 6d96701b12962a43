"""Make text from outside safe to show: in a terminal, a log line, a comment or a CSV cell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MOST_NAMES = 8
"""How many names a line lists."""


def printable(value: str) -> str:
    """`value` on one line, with every character that steers instead of showing written as \\u....

    That covers escape sequences, line breaks, NUL, right-to-left overrides and lone surrogates.
    """
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in _STEERING else char for char in value
    )


def first_few(names: Sequence[str]) -> str:
    """The first MOST_NAMES of `names`, and how many more there are."""
    shown, more = ", ".join(names[:MOST_NAMES]), len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def markdown_escape(value: str) -> str:
    """Markdown that shows `value` as it is: no markup, no HTML, each line a paragraph."""
    lines = [_PUNCTUATION.sub(lambda m: f"&#{ord(m[0])};", line) for line in value.splitlines()]
    return "\n\n".join(lines)


_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


FORMULA = re.compile(r"""(?:^|[;,|"'])[\s']*(?=[=+@\u2212\uff1d\uff0b\uff0d\uff20-])""")
"""Where a spreadsheet may begin a formula: in front of a sign, at the start or after a separator.
Blanks between count for nothing: some spreadsheets drop them.

Which separator a spreadsheet goes by depends on the country, and it may be none of a CSV's.
"""


def spreadsheet_text(value: str | None) -> str:
    """Return `value` so that no spreadsheet takes any of it for a formula; no two become one."""
    return FORMULA.sub(lambda found: f"{found[0]}'", printable(value or ""))
