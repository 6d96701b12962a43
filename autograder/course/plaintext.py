"""Make text from outside safe to show: in a terminal, a log line, a comment or a CSV cell."""

from __future__ import annotations

import re
import unicodedata


def printable(value: str) -> str:
    """`value` on one line, with every character that steers instead of showing written as \\u....

    That covers escape sequences, line breaks, NUL, right-to-left overrides and lone surrogates.
    """
    return "".join(
        f"\\u{ord(char):04x}" if unicodedata.category(char) in _STEERING else char for char in value
    )


_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def markdown_escape(value: str) -> str:
    """Markdown that shows `value` as it is: no markup, no HTML, each line a paragraph."""
    lines = [_PUNCTUATION.sub(lambda m: f"&#{ord(m[0])};", line) for line in value.splitlines()]
    return "\n\n".join(lines)


_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
